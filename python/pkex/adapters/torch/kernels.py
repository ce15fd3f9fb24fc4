"""The kernels of GPyTorch in terms of those of pkex.

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
from pkex.adapters.torch.tensors import of_output
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
    selected : tuple of int, optional
        Columns that the kernel's `forward` is called with; by default all features.
    only : int, optional
        Place of one of these columns. A factor or summand of a ProductStructureKernel or
        AdditiveStructureKernel is a kernel of this column.
    """

    batch_shape: tuple[int, ...] = ()
    output: int = 0
    selected: Columns | None = None
    only: int | None = None

    @property
    def columns(self) -> Columns:
        """The columns that the kernel's `forward` is called with."""
        return tuple(range(self.n_features)) if self.selected is None else self.selected

    def in_columns_of(self, kernel: Any) -> TorchKernelReader:
        """Return a reader of the columns that a kernel selects when it is called."""
        active = kernel.active_dims
        if active is None:
            return self
        return replace(self, selected=tuple(self.columns[place] for place in active.tolist()))

    def read(self, kernel: Any) -> Kernel:
        """Return a kernel of which `forward` is called with the columns."""
        found = super().read(kernel)
        assert found is not None, "no kernel of GPyTorch is 0"
        return found

    def read_call(self, kernel: Any) -> Kernel:
        """Return a kernel that is called with the columns."""
        return self.in_columns_of(kernel).read(kernel)

    def call(self, kernel: Any) -> KernelPolynomial:
        """Return a kernel that is called with the columns, as a polynomial."""
        return self.in_columns_of(kernel).polynomial(kernel)

    def by_column(self, kernel: Any) -> Iterator[KernelPolynomial]:
        """Yield a kernel that is called with each of the columns."""
        own = self.in_columns_of(kernel)
        for place in range(len(own.columns)):
            yield replace(own, only=place).polynomial(kernel)

    def reason(self, kernel: Any) -> str:
        """Return why a kernel without a reader is unsupported."""
        why = _REASONS.get(type(kernel).__name__, "")
        others = ", and MultitaskKernel and LCMKernel of these"
        return f"{why and ': '}{why}{super().reason(kernel)}{others}"

    def number(self, parameter: Any, n_own: int = 0) -> float:
        """Return a parameter of a single number, with `n_own` axes after those of the batch."""
        return float(self._of_output(parameter, n_own).item())

    def numbers(self, parameter: Any) -> float | Float:
        """Return a parameter as one number for all columns or one for each."""
        values = np.broadcast_to(self._of_output(parameter, 2)[0], len(self.columns))
        values = values if self.only is None else values[[self.only]]
        return float(values[0]) if np.all(values == values[0]) else values

    def vector(self, parameter: Any) -> Float:
        """Return a parameter that is a column of one number for each feature."""
        return np.broadcast_to(self._of_output(parameter, 2)[:, 0], self.n_features)

    def on_columns(self, kernel: Kernel) -> KernelPolynomial:
        """Return a kernel of the columns, or of one of them."""
        own = self.columns if self.only is None else (self.columns[self.only],)
        return KernelPolynomial.of(kernel, own)

    def _of_output(self, parameter: Any, n_own: int) -> Float:
        own = tuple(parameter.shape[parameter.ndim - n_own :])
        return of_output(parameter, own, self.batch_shape, self.output)


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


def _scaled(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    return reader.number(kernel.outputscale) * reader.polynomial(kernel.base_kernel)


# BoTorch's adapter adds its own.
READERS = TorchKernelReader.readers = {
    kernels.ScaleKernel: _scaled,
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
