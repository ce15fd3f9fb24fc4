"""The kernels of GPyTorch in terms of those of pkex.

A kernel takes its `active_dims` of the columns where it is called. ScaleKernel and MultitaskKernel
do not call the kernel inside, but its `forward`: its own active_dims do not count there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from gpytorch import kernels

from pkex.adapters.registry import unsupported
from pkex.adapters.torch.tensors import of_output
from pkex.errors import UnsupportedModelError
from pkex.kernels import RBF, Kernel, Linear, Matern, Periodic, Polynomial, RationalQuadratic
from pkex.kernels.algebra import ONE, Columns, KernelPolynomial
from pkex.typing import Float


@dataclass(frozen=True)
class KernelReader:
    """Reads the kernels of one output of a model.

    Parameters
    ----------
    model_name : str
        What messages call the model.
    n_features : int
    batch_shape : tuple of int
        Of all outputs.
    output : int
        Its number, in the flattened batch.
    only : int, optional
        The place of the single column, among those that kernels are given, that one factor or
        summand of a ProductStructureKernel or AdditiveStructureKernel is of.
    """

    model_name: str
    n_features: int
    batch_shape: tuple[int, ...] = ()
    output: int = 0
    only: int | None = None

    def read(self, kernel: Any) -> Kernel:
        """Return a kernel that is called with all columns.

        Raises
        ------
        UnsupportedModelError
            Naming the part that is unknown, or has parameters that it may not have.
        """
        return self.read_within(kernel, active_columns(kernel, tuple(range(self.n_features))))

    def read_within(self, kernel: Any, columns: Columns) -> Kernel:
        """Return a kernel of which `forward` is called with some columns; see `read`."""
        with self._naming(kernel):
            return self.within(kernel, columns).kernel(self.n_features)

    def called(self, kernel: Any, columns: Columns) -> KernelPolynomial:
        """Return the polynomial of a kernel that is called with some columns."""
        return self.within(kernel, active_columns(kernel, columns))

    def within(self, kernel: Any, columns: Columns) -> KernelPolynomial:
        """Return the polynomial of a kernel of which `forward` is called with some columns."""
        # By exact type: subclasses are other functions.
        reader = READERS.get(type(kernel))
        if reader is None:
            raise self.refused(kernel)
        with self._naming(kernel):
            return reader(self, kernel, columns)

    @contextmanager
    def _naming(self, kernel: Any) -> Iterator[None]:
        """Turn errors of parameters into errors that name the kernel."""
        try:
            yield
        except UnsupportedModelError:
            raise
        except (ValueError, RuntimeError) as error:
            what = (
                f"{self.model_name} with {type(kernel).__name__} of such parameters in its kernel"
            )
            raise unsupported(what, f" ({error})") from None

    def refused(self, kernel: Any) -> UnsupportedModelError:
        """Return the error that a kernel is unknown."""
        name = type(kernel).__name__
        known = ", ".join(kind.__name__ for kind in READERS)
        why = _REASONS.get(name, "")
        return unsupported(
            f"{self.model_name} with {name} in its kernel",
            f"{why and ': '}{why}; known are {known}, and MultitaskKernel and LCMKernel of these",
        )

    def number(self, parameter: Any, n_own: int = 0) -> float:
        """Return a parameter of a single number, which has `n_own` axes behind those of batches."""
        return float(self._of_output(parameter, n_own).item())

    def numbers(self, parameter: Any, columns: Columns) -> float | Float:
        """Return a parameter as one number for all columns or one for each."""
        values = np.broadcast_to(self._of_output(parameter, 2)[0], len(columns))
        values = values if self.only is None else values[[self.only]]
        return float(values[0]) if np.all(values == values[0]) else values

    def vector(self, parameter: Any) -> Float:
        """Return a parameter in a column of one number for each feature."""
        return np.broadcast_to(self._of_output(parameter, 2)[:, 0], self.n_features)

    def on(self, kernel: Kernel, columns: Columns) -> KernelPolynomial:
        """Return a kernel of the columns that it is to be of."""
        own = columns if self.only is None else (columns[self.only],)
        return KernelPolynomial.of(kernel, own)

    def _of_output(self, parameter: Any, n_own: int) -> Float:
        own = tuple(parameter.shape[parameter.ndim - n_own :])
        return of_output(parameter, own, self.batch_shape, self.output)


def active_columns(kernel: Any, columns: Columns) -> Columns:
    """Return those columns that a kernel takes of what it is called with."""
    active = kernel.active_dims
    return columns if active is None else tuple(columns[place] for place in active.tolist())


def _rbf(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    scale = reader.numbers(kernel.lengthscale, columns)
    return reader.on(RBF(scale), columns)


def _matern(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    scale = reader.numbers(kernel.lengthscale, columns)
    return reader.on(Matern(scale, nu=float(kernel.nu)), columns)


def _rational_quadratic(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    scale = reader.numbers(kernel.lengthscale, columns)
    return reader.on(RationalQuadratic(scale, alpha=reader.number(kernel.alpha, 1)), columns)


def _periodic(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    # ∏_j exp(−2 sin²(π r_j/p_j) / λ_j), with λ = ℓ²
    scale = np.sqrt(reader.numbers(kernel.lengthscale, columns))
    period = reader.numbers(kernel.period_length, columns)
    return reader.on(Periodic(scale, period), columns)


def _linear(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reader.on(Linear(reader.numbers(kernel.variance, columns)), columns)


def _polynomial(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    offset = reader.number(kernel.offset, 1)
    return reader.on(Polynomial(int(kernel.power), gamma=1.0, coef0=offset), columns)


def _constant(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reader.number(kernel.constant, 1) * ONE


def _scaled(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reader.number(kernel.outputscale) * reader.within(kernel.base_kernel, columns)


def _product(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reduce(mul, [reader.called(part, columns) for part in kernel.kernels])


def _sum(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reduce(add, [reader.called(part, columns) for part in kernel.kernels])


def _by_column(reader: KernelReader, kernel: Any, columns: Columns) -> list[KernelPolynomial]:
    base = kernel.base_kernel
    own = active_columns(base, columns)
    return [replace(reader, only=place).within(base, own) for place in range(len(own))]


def _product_of_columns(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reduce(mul, _by_column(reader, kernel, columns))


def _sum_of_columns(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    return reduce(add, _by_column(reader, kernel, columns))


# By class; the adapter of BoTorch adds its own.
READERS: dict[type, Callable[[KernelReader, Any, Columns], KernelPolynomial]] = {
    kernels.ScaleKernel: _scaled,
    kernels.RBFKernel: _rbf,
    kernels.MaternKernel: _matern,
    kernels.RQKernel: _rational_quadratic,
    kernels.PeriodicKernel: _periodic,
    kernels.LinearKernel: _linear,
    kernels.PolynomialKernel: _polynomial,
    kernels.ConstantKernel: _constant,
    kernels.ProductKernel: _product,
    kernels.AdditiveKernel: _sum,
    kernels.ProductStructureKernel: _product_of_columns,
    kernels.AdditiveStructureKernel: _sum_of_columns,
}

_APPROXIMATION = "it stands for another kernel, which it approximates; fit an ApproximateGP with a "
_COLUMN_OF_TASKS = (
    "tasks that are a column are not known; take a MultitaskKernel, of BoTorch a "
    "KroneckerMultiTaskGP, or a model for each task"
)
_REASONS = {
    "CosineKernel": "a cosine of the distance of rows is no sum of products of what pkex knows",
    "SpectralMixtureKernel": "its cosines are no products of what pkex knows",
    "InducingPointKernel": _APPROXIMATION + "VariationalStrategy of the same points",
    "GridInterpolationKernel": _APPROXIMATION + "VariationalStrategy",
    "RFFKernel": _APPROXIMATION + "VariationalStrategy",
    "IndexKernel": _COLUMN_OF_TASKS,
    "PositiveIndexKernel": _COLUMN_OF_TASKS,
    "MultitaskKernel": "within other kernels it is known in sums only",
    "LCMKernel": "within other kernels it is known in sums only",
}
