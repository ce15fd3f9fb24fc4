"""Kernels of other libraries: how they are read, and how the result is checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pkex.adapters.registry import unsupported_model
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Kernel
from pkex.kernels.algebra import KernelPolynomial
from pkex.kernels.family import Factor
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.radial import Radial
from pkex.typing import Float, Rows

# The distance from 1 to the next float.
EPSILON = float(np.finfo(np.float64).eps)
# A sum of 32 rounding errors of one operation.
_ROUNDINGS = 32.0
_CHECKED_POINTS = 50


# --- reading ---


@dataclass(frozen=True)
class KernelReader:
    """Reads kernels of a library as polynomials of pkex's kernels.

    A subclass has the readers of its library.

    Parameters
    ----------
    model_name : str
        Name of the model in messages.
    n_features : int
    """

    model_name: str
    n_features: int

    # By exact class, since a subclass may be another function: from a reader and a kernel.
    readers: ClassVar[dict[type, Callable[[Any, Any], KernelPolynomial]]] = {}

    def read(self, kernel: Any) -> Kernel | None:
        """Return a kernel of all features, between new rows and training points.

        Returns
        -------
        Kernel or None
            None if the kernel is 0, as a kernel of white noise is.

        Raises
        ------
        UnsupportedModelError
            If a part of the kernel is unknown, or has unsupported parameters. The message names it.
        """
        polynomial = self.polynomial(kernel)
        with self._kernel_errors(kernel):
            return polynomial.kernel(self.n_features) if polynomial else None

    def polynomial(self, kernel: Any) -> KernelPolynomial:
        """Return a kernel, or a part of one, as a polynomial; see `read`."""
        reader = self.readers.get(type(kernel))
        if reader is None:
            raise self.unsupported_kernel(kernel, self.reason(kernel))
        with self._kernel_errors(kernel):
            return reader(self, kernel)

    def unsupported_kernel(self, kernel: Any, reason: str) -> UnsupportedModelError:
        """Return the error that names a part of the kernel, and says why it is unsupported."""
        return unsupported_model(
            f"{self.model_name} with {self.text(kernel)} in its kernel", reason
        )

    def text(self, kernel: Any) -> str:
        """Return the text for a kernel in messages."""
        return type(kernel).__name__

    def reason(self, kernel: Any) -> str:
        """Return why a kernel without a reader is unsupported."""
        return f"; supported are {', '.join(kind.__name__ for kind in self.readers)}"

    @contextmanager
    def _kernel_errors(self, kernel: Any) -> Iterator[None]:
        """Turn errors about parameters into errors that name the kernel."""
        try:
            yield
        except UnsupportedModelError:
            raise
        except (ValueError, RuntimeError) as error:
            raise self.unsupported_kernel(kernel, f": {error}") from None


# --- rounding errors of libraries' own kernel values, which are larger than pkex's ---

# Families of factors whose rows a library may divide before it subtracts them, or whose distances
# it may divide by a period.
_SCALED_FAMILIES = {"rbf", "laplacian", "periodic", "matern32", "matern52"}


def scaling_rounding(kernel: Kernel, points: Float, resolution: float = EPSILON) -> float:
    """Bound the relative error of a kernel that divides rows by ℓ before it subtracts them.

    Far from the origin, in units of ℓ, the difference of the quotients keeps few digits. The same
    holds for distances of many periods. `resolution` is the distance from 1 to the next float.
    """
    largest = np.abs(points).max(axis=0, initial=0.0)
    with np.errstate(over="ignore"):
        distances = [
            float(np.max(largest[factor.columns] / _resolved_scales(factor)))
            for factor in _factors(kernel, points)
            if factor.family in _SCALED_FAMILIES
        ]
    # A new row may be as far from the origin in each feature.
    distance = math.sqrt(points.shape[1]) * max(distances, default=0.0)
    return _ROUNDINGS * resolution * distance


def _factors(kernel: Kernel, points: Float) -> Iterator[Factor]:
    return (factor for term in kernel.terms(points.shape[1]) for factor in term.factors)


def _resolved_scales(factor: Factor) -> Float:
    """Return the distances within which factors change, by which rows are divided."""
    scales: Float = factor.parameters[:, 0]
    if factor.family == "periodic":
        # The exponent 2 sin²(πr/p)/ℓ² changes by at most 2π/(p ℓ²).
        scales = factor.parameters[:, 1] * np.minimum(scales, 1.0) ** 2 / (2.0 * math.pi)
    return scales


def square_rounding(points: Rows, gamma: float) -> float:
    """Bound the relative error of exp(−γ‖x − y‖²) computed from ‖x‖² − 2x·y + ‖y‖².

    Far from the origin the terms cancel.
    """
    largest = float((points * points).sum(axis=1).max(initial=0.0))
    return _ROUNDINGS * EPSILON * gamma * largest


def distance_rounding(kernel: Kernel, points: Float, resolution: float = EPSILON) -> float:
    """Bound the relative error of a kernel of distances computed as in `square_rounding`."""
    largest_values = np.abs(points).max(axis=0, initial=0.0)
    largest_square, root_square = 1.0, 0.0
    for factor in _factors(kernel, points):
        if factor.family == "categorical":
            continue
        units = largest_values[factor.columns] / _resolved_scales(factor)
        square = float(units @ units)
        largest_square = max(largest_square, square)
        # exp(−r) has a cusp at 0, where the root of the error counts.
        is_cusp = isinstance(factor, Radial) and factor.mixture == MaternMixture(0.5)
        if is_cusp or factor.family == "laplacian":
            root_square = max(root_square, square)
    rounding = _ROUNDINGS * resolution
    return rounding * largest_square + math.sqrt(rounding * root_square)


# --- the check ---

# Between sums of kernel values, all of one sign.
_RELATIVE_TOLERANCE = 1e-10
_MAX_ROUNDING = 1e-4
_MIXTURE_TOLERANCE = 2e-12


@dataclass(frozen=True)
class LibraryKernel:
    """A model's own kernel, as its library evaluates it.

    Parameters
    ----------
    values : callable
        From rows and points to their kernel matrix, or to its sums over the points as a column.
    text : str
        Text for the kernel in messages.
    """

    values: Callable[[Float, Float], Any]
    text: str


def check_kernel(
    kernel: Kernel, library_kernel: LibraryKernel, points: Float, rounding: float, model_name: str
) -> None:
    """Compare a kernel with the model's own, summed over some training points at a few rows.

    The coefficients of a Gaussian process with little noise are huge and cancel. Its output has
    lost the digits that would reveal a wrong kernel. Sums of kernel values do not cancel.

    Parameters
    ----------
    kernel : Kernel
    library_kernel : LibraryKernel
    points : ndarray of shape (n, d)
    rounding : float
        Relative rounding error of the model's own values.
    model_name : str
        Name of the model in messages.

    Raises
    ------
    UnsupportedModelError
        If the kernels differ by more than rounding errors.
    """
    points = points[even_indices(len(points))]
    expansion = KernelSum(points, np.ones(len(points)), kernel)
    rows = expansion.probing_rows()
    sums = expansion.evaluate(rows, n_threads=1)
    library_sums = np.sum(library_kernel.values(rows, points), axis=1)
    magnitude = expansion.magnitude(rows, n_threads=1)
    has_signs = any(term.series is not None for term in kernel.terms(points.shape[1]))
    relative_tolerance = _RELATIVE_TOLERANCE + min(rounding, _MAX_ROUNDING)
    tolerance = relative_tolerance * (magnitude if has_signs else sums)
    # The absolute error of a mixture is the same far from all points, where its value is small.
    tolerance += _MIXTURE_TOLERANCE * magnitude
    # Not "greater": NaN must fail as well.
    if not np.all(np.abs(sums - library_sums) <= tolerance):
        raise UnsupportedModelError(
            f"{model_name} with the kernel {library_kernel.text} is not supported: the kernel has "
            "other values than its parts and parameters say"
        )


def even_indices(length: int) -> NDArray[np.intp]:
    """Return up to 50 of the numbers below `length` at even distances, with the first and last."""
    places = np.linspace(0, length - 1, min(length, _CHECKED_POINTS))
    return np.unique(places.astype(np.intp))
