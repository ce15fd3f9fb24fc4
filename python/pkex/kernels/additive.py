"""Additive and ANOVA kernels: sums over sets of columns of products of one-column kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from pkex.inputs.integers import as_integer
from pkex.kernels.base import Kernel
from pkex.kernels.factors import MixtureFactor, Term
from pkex.kernels.series import MAX_ORDERS, Series, powers
from pkex.typing import Float

_ORDER = f"an integer from 1 to {MAX_ORDERS}"


@dataclass(frozen=True, init=False)
class Additive(Kernel):
    """Additive kernel: Σ_q v_q Σ ∏_{j∈S} k_j(x_j, y_j), the inner sum over all sets S of q columns.

    The k_j are the factors of a product kernel (Duvenaud, Nickisch and Rasmussen 2011, Additive
    Gaussian processes, eq. (6)). Absent columns are in no set.

    Parameters
    ----------
    kernel : Kernel
        A product of kernels of single columns, such as ``RBF(length_scale)``. ``Linear()`` is also
        supported: its k_j is x_j y_j.
    order : int, default 2
        The largest number of columns in a set, from 1 to 128.
    variances : float or sequence of float, default 1.0
        v, one for all orders or one for each order 1, …, `order`.

    Raises
    ------
    TypeError, ValueError
        If `kernel` is not a kernel, or `order` or `variances` are out of range.

    Examples
    --------
    >>> from pkex.kernels import RBF
    >>> Additive(RBF(), order=2, variances=[1.0, 0.5])([[0.0, 1.0, 2.0]])
    array([[4.5]])
    """

    kernel: Kernel
    order: int
    variances: tuple[float, ...]

    def __init__(
        self, kernel: Kernel, order: int = 2, variances: float | Iterable[float] = 1.0
    ) -> None:
        object.__setattr__(self, "kernel", _checked_kernel(kernel, "Additive"))
        object.__setattr__(self, "order", _checked_order(order))
        object.__setattr__(self, "variances", _checked_variances(variances, self.order))

    def terms(self, n_features: int) -> list[Term]:
        """Return the kernel as one term, a power series without a constant."""
        weights = np.array([0.0, *self.variances])
        return [_series_term(self, self.kernel, n_features, weights)]


@dataclass(frozen=True, init=False)
class ANOVA(Kernel):
    """ANOVA kernel: ∏_j (1 + v k_j(x_j, y_j)), truncated to sets of at most `order` columns.

    The kernel is Σ_q v^q Σ ∏_{j∈S} k_j(x_j, y_j), the inner sum over all sets S of q columns, with
    q from 0 to `order`. Absent columns are in no set. The ANOVA kernel of Stitson et al. (1999,
    Support vector regression with ANOVA decomposition kernels) has sets of one order only: it is
    `Additive` with the variances 0, …, 0, 1.

    Parameters
    ----------
    kernel : Kernel
        A product of kernels of single columns, such as ``RBF(length_scale)``. ``Linear()`` is also
        supported: its k_j is x_j y_j.
    order : int, optional
        The largest number of columns in a set, at most 128. By default the number of columns.
    variance : float, default 1.0
        v.

    Raises
    ------
    TypeError, ValueError
        If `kernel` is not a kernel, or `order` or `variance` are out of range.

    Examples
    --------
    >>> from pkex.kernels import RBF
    >>> ANOVA(RBF(), variance=0.5)([[0.0, 1.0]])
    array([[2.25]])
    """

    kernel: Kernel
    order: int | None
    variance: float

    def __init__(self, kernel: Kernel, order: int | None = None, variance: float = 1.0) -> None:
        object.__setattr__(self, "kernel", _checked_kernel(kernel, "ANOVA"))
        object.__setattr__(self, "order", None if order is None else _checked_order(order))
        object.__setattr__(self, "variance", _checked_variance(variance, "variance"))

    def terms(self, n_features: int) -> list[Term]:
        """Return the kernel as one term, a power series.

        Raises
        ------
        ValueError
            If there are more than 128 features and `order` is None, or a coefficient overflows.
        """
        if self.order is None and n_features > MAX_ORDERS:
            raise ValueError(
                f"ANOVA over {n_features} features requires an order of at most {MAX_ORDERS}. "
                "Pass one, such as order=3"
            )
        order = min(n_features, self.order or n_features)
        with np.errstate(over="ignore"):
            weights = powers(self.variance, order + 1)
        if not np.isfinite(weights).all():
            raise ValueError(
                f"variance={self.variance:g} to the power of {order} is too large for a float. "
                "Use a lower order, or multiply the kernel"
            )
        return [_series_term(self, self.kernel, n_features, weights)]


def _series_term(owner: Kernel, kernel: Kernel, n_features: int, weights: Float) -> Term:
    """Return Σ_q w_q [s^q] ∏_j (1 + s k_j) as a term, for the factors k_j of a kernel."""
    columns, rates = np.empty(0, dtype=np.int64), np.empty(0)
    terms = kernel.terms(n_features)
    term, series = terms[0], terms[0].series
    is_product = len(terms) == 1 and term.coefficient == 1.0
    if series is not None:
        is_dot_product = series.form == "exponential" and series.weights.tolist() == [0.0, 1.0]
        is_product = is_product and is_dot_product and not series.factors
        columns, rates = series.columns, series.rates
    if not is_product or any(isinstance(factor, MixtureFactor) for factor in term.factors):
        raise ValueError(
            f"{type(owner).__name__} requires a product of kernels of single columns, such as "
            f"RBF, ProductMatern and Periodic, or Linear without offset; got {kernel!r}. Use its "
            f"variance argument instead of an amplitude, and add kernels to {type(owner).__name__} "
            "instead of inside it"
        )
    all_columns = {
        *columns.tolist(),
        *(j for factor in term.factors for j in factor.columns.tolist()),
    }
    # No set has more columns than the kernel.
    weights = weights[: len(all_columns) + 1]
    return Term(1.0, (), Series(weights, "linear", columns, rates, term.factors))


def _checked_kernel(kernel: object, name: str) -> Kernel:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"the kernel of {name} must be from pkex.kernels, such as RBF(length_scale=1.0); "
            f"got {kernel!r} ({type(kernel).__name__})"
        )
    return kernel


def _checked_order(order: object) -> int:
    number = as_integer("order", order, _ORDER, least=1)
    if number > MAX_ORDERS:
        raise ValueError(f"order must be {_ORDER}; got {number}")
    return number


def _checked_variance(variance: object, name: str) -> float:
    if isinstance(variance, bool) or not isinstance(variance, Real):
        raise TypeError(f"{name} must be numbers; got {variance!r}")
    if not 0.0 <= float(variance) < math.inf:
        raise ValueError(f"{name} must be finite and at least 0; got {variance!r}")
    return float(variance)


def _checked_variances(variances: float | Iterable[float], order: int) -> tuple[float, ...]:
    if not isinstance(variances, Iterable):
        return (_checked_variance(variances, "variances"),) * order
    numbers = list(variances)
    if len(numbers) != order:
        raise ValueError(
            f"variances has {len(numbers)} numbers, but order is {order}. Pass one number for each "
            "order from 1, or a single number for all"
        )
    return tuple(_checked_variance(variance, "variances") for variance in numbers)
