"""The kernels of GPyTorch in terms of pkex's kernels.

A kernel selects its `active_dims` among the columns when it is called. ScaleKernel and
MultitaskKernel call `forward` of the kernel inside, which ignores its active_dims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from gpytorch import kernels

from pkex.adapters.kernels import KernelReader
from pkex.adapters.torch.tensors import parameter_of_output
from pkex.kernels import (
    RBF,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)
from pkex.kernels.algebra import ONE, Columns, KernelPolynomial
from pkex.typing import Float


@dataclass(frozen=True)
class TorchKernelReader(KernelReader):
    """Reads the kernels of one output of a model.

    Parameters
    ----------
    batch_shape : tuple of int
        Of all outputs.
    output : int
        Number of the output in the flattened batch.
    forward_columns : tuple of int, optional
        Columns that the kernel's `forward` is called with; by default all features.
    place : int, optional
        Place of one of these columns. A factor or summand of a ProductStructureKernel or
        AdditiveStructureKernel is a kernel of this column.
    """

    batch_shape: tuple[int, ...] = ()
    output: int = 0
    forward_columns: Columns | None = None
    place: int | None = None

    @property
    def columns(self) -> Columns:
        """The columns that the kernel's `forward` is called with."""
        return (
            tuple(range(self.n_features)) if self.forward_columns is None else self.forward_columns
        )

    def in_columns_of(self, kernel: Any) -> TorchKernelReader:
        """Return a reader of the columns that a kernel selects when it is called."""
        active_dims = kernel.active_dims
        if active_dims is None:
            return self
        return replace(
            self, forward_columns=tuple(self.columns[place] for place in active_dims.tolist())
        )

    def read(self, kernel: Any) -> Kernel:
        """Return a kernel whose `forward` is called with the columns."""
        result = super().read(kernel)
        assert result is not None, "no kernel of GPyTorch is 0"
        return result

    def read_call(self, kernel: Any) -> Kernel:
        """Return a kernel that is called with the columns."""
        return self.in_columns_of(kernel).read(kernel)

    def call(self, kernel: Any) -> KernelPolynomial:
        """Return a kernel that is called with the columns, as a polynomial."""
        return self.in_columns_of(kernel).polynomial(kernel)

    def by_column(self, kernel: Any) -> Iterator[KernelPolynomial]:
        """Yield a kernel that is called with each of the columns."""
        reader = self.in_columns_of(kernel)
        for place in range(len(reader.columns)):
            yield replace(reader, place=place).polynomial(kernel)

    def reason(self, kernel: Any) -> str:
        """Return why a kernel without a reader is unsupported."""
        reason = _REASONS.get(type(kernel).__name__, "")
        suffix = ", and MultitaskKernel and LCMKernel of these"
        return f"{reason and ': '}{reason}{super().reason(kernel)}{suffix}"

    def number(self, parameter: Any, n_axes: int = 0) -> float:
        """Return a parameter of a single number, with `n_axes` axes after those of the batch."""
        return float(self._parameter_of_output(parameter, n_axes).item())

    def numbers(self, parameter: Any) -> float | Float:
        """Return a parameter as one number for all columns or one for each."""
        values = np.broadcast_to(self._parameter_of_output(parameter, 2)[0], len(self.columns))
        values = values if self.place is None else values[[self.place]]
        return float(values[0]) if np.all(values == values[0]) else values

    def vector(self, parameter: Any) -> Float:
        """Return a parameter that is a column of one number for each feature."""
        return np.broadcast_to(self._parameter_of_output(parameter, 2)[:, 0], self.n_features)

    def on_columns(self, kernel: Kernel) -> KernelPolynomial:
        """Return a kernel of the columns, or of one of them."""
        columns = self.columns if self.place is None else (self.columns[self.place],)
        return KernelPolynomial.of(kernel, columns)

    def _parameter_of_output(self, parameter: Any, n_axes: int) -> Float:
        shape = tuple(parameter.shape[parameter.ndim - n_axes :])
        return parameter_of_output(parameter, shape, self.batch_shape, self.output)


def _rbf(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    return reader.on_columns(RBF(reader.numbers(kernel.lengthscale)))


def _matern(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    return reader.on_columns(Matern(reader.numbers(kernel.lengthscale), nu=float(kernel.nu)))


def _rational_quadratic(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    scale, alpha = reader.numbers(kernel.lengthscale), reader.number(kernel.alpha, 1)
    return reader.on_columns(RationalQuadratic(scale, alpha=alpha))


def _periodic(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    # ∏_j exp(−2 sin²(π r_j/p_j) / λ_j), with λ = ℓ²
    scale = np.sqrt(reader.numbers(kernel.lengthscale))
    return reader.on_columns(Periodic(scale, reader.numbers(kernel.period_length)))


def _linear(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    return reader.on_columns(Linear(reader.numbers(kernel.variance)))


def _polynomial(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    offset = reader.number(kernel.offset, 1)
    return reader.on_columns(Polynomial(int(kernel.power), gamma=1.0, coef0=offset))


def _scale(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    return reader.number(kernel.outputscale) * reader.polynomial(kernel.base_kernel)


# BoTorch's adapter adds its own.
READERS = TorchKernelReader.readers = {
    kernels.ScaleKernel: _scale,
    kernels.RBFKernel: _rbf,
    kernels.MaternKernel: _matern,
    kernels.RQKernel: _rational_quadratic,
    kernels.PeriodicKernel: _periodic,
    kernels.LinearKernel: _linear,
    kernels.PolynomialKernel: _polynomial,
    kernels.ConstantKernel: lambda reader, kernel: reader.number(kernel.constant, 1) * ONE,
    kernels.ProductKernel: lambda reader, kernel: reduce(mul, map(reader.call, kernel.kernels)),
    kernels.AdditiveKernel: lambda reader, kernel: reduce(add, map(reader.call, kernel.kernels)),
    kernels.ProductStructureKernel: lambda reader, kernel: reduce(
        mul, reader.by_column(kernel.base_kernel)
    ),
    kernels.AdditiveStructureKernel: lambda reader, kernel: reduce(
        add, reader.by_column(kernel.base_kernel)
    ),
}

_APPROXIMATION = "it approximates another kernel. Fit an ApproximateGP with a "
_COLUMN_OF_TASKS = (
    "a column of tasks is not supported; use a MultitaskKernel, BoTorch's KroneckerMultiTaskGP, or "
    "one model per task"
)
_REASONS = {
    "CosineKernel": "a cosine of the distance of rows is not a sum of products over features",
    "SpectralMixtureKernel": "its cosines are not products over features",
    "InducingPointKernel": _APPROXIMATION + "VariationalStrategy of the same points",
    "GridInterpolationKernel": _APPROXIMATION + "VariationalStrategy",
    "RFFKernel": _APPROXIMATION + "VariationalStrategy",
    "IndexKernel": _COLUMN_OF_TASKS,
    "PositiveIndexKernel": _COLUMN_OF_TASKS,
    "MultitaskKernel": "it is supported alone and in sums only",
    "LCMKernel": "it is supported alone and in sums only",
}
