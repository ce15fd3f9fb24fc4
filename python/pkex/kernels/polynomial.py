"""Polynomials in the dot product of two rows: the linear and the polynomial kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from pkex.inputs.integers import as_integer
from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.length_scales import checked_scale, for_features
from pkex.kernels.series import MAX_ORDERS, Series, powers
from pkex.typing import Float


@dataclass(frozen=True, init=False)
class Linear(Kernel):
    """Linear kernel: offset + Σ_j v_j x_j y_j.

    An absent column adds nothing to the sum.

    Parameters
    ----------
    variance : float or array-like of shape (n_features,), default 1.0
        v, one for all columns or one for each; scikit-learn's ``DotProduct`` has 1.
    offset : float, default 0.0
        Added to the sum; σ₀² in ``DotProduct(sigma_0)``.

    Raises
    ------
    ValueError
        If `variance` is not positive and finite, or `offset` negative.

    Examples
    --------
    >>> Linear(offset=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[12.]])
    """

    variance: float | tuple[float, ...] = 1.0
    offset: float = 0.0

    def __init__(self, variance: ArrayLike = 1.0, offset: float = 0.0) -> None:
        object.__setattr__(self, "variance", checked_scale(variance, "variance"))
        object.__setattr__(self, "offset", _checked_number(offset, "offset", least=0.0))

    def terms(self, n_features: int) -> list[Term]:
        """Return the one term, a power series of order 1."""
        rates = for_features(self, n_features, "variance", self.variance)
        return [of_dot_product(np.array([self.offset, 1.0]), rates)]


@dataclass(frozen=True, init=False)
class Polynomial(Kernel):
    """Polynomial kernel: (gamma Σ_j x_j y_j + coef0)^degree.

    An absent column adds nothing to the sum.

    Parameters
    ----------
    degree : int, default 3
    gamma : float, default 1.0
        scikit-learn's ``polynomial_kernel`` has 1/n_features by default.
    coef0 : float, default 1.0
        If it is negative, the kernel is not positive semi-definite; support vector machines can
        still be fitted.

    Raises
    ------
    TypeError, ValueError
        If `degree` is not a positive integer, `gamma` not positive and finite, or `coef0` not
        finite.

    Examples
    --------
    >>> Polynomial(degree=2, gamma=0.5)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[42.25]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        degree = as_integer("degree", degree, "a positive integer", least=1)
        if degree > MAX_ORDERS:
            raise ValueError(
                f"degree must be at most {MAX_ORDERS}; got {degree}. A kernel of such a high "
                "degree is close to an exponential of x·y: use RBF on rows scaled to length 1"
            )
        object.__setattr__(self, "degree", degree)
        object.__setattr__(self, "gamma", _checked_gamma(gamma))
        object.__setattr__(self, "coef0", _checked_number(coef0, "coef0", least=-math.inf))

    def terms(self, n_features: int) -> list[Term]:
        """Return the one term, a power series of order `degree`.

        (u + c)^p = Σ_q C(p, q) c^(p−q) u^q, where [s^q] of exp(s u) is u^q/q!.
        """
        p = self.degree
        counts = np.array([math.perm(p, q) for q in range(p + 1)], dtype=np.float64)
        with np.errstate(over="ignore"):
            weights = counts * powers(self.coef0, p + 1)[::-1]
        return [of_dot_product(weights, np.full(n_features, self.gamma))]


def of_dot_product(weights: Float, rates: Float) -> Term:
    """Return Σ_q w_q/q! (Σ_j rates_j x_j y_j)^q as a term.

    Raises
    ------
    ValueError
        If a weight is out of the range of floats.
    """
    if not np.isfinite(weights).all():
        raise ValueError(
            "the coefficients of a polynomial kernel are out of the range of floats; use a lower "
            "degree, or scale the columns so that coef0 can be closer to 1"
        )
    columns = np.arange(len(rates), dtype=np.int64)
    return Term(1.0, (), Series(weights, "exponential", columns, rates))


def _checked_number(value: object, name: str, *, least: float) -> float:
    """Return a number that must be finite and not too small."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number; got {value!r}")
    if float(value) < least:
        raise ValueError(
            f"{name} must be at least {least:g}, for the kernel to be positive semi-definite; "
            f"got {value!r}"
        )
    return float(value)


def _checked_gamma(gamma: object) -> float:
    """Return a number that must be positive and finite."""
    if isinstance(gamma, bool) or not isinstance(gamma, Real) or not 0.0 < float(gamma) < math.inf:
        raise ValueError(
            f"gamma must be a positive and finite number; got {gamma!r}. scikit-learn's "
            'gamma="scale" is 1/(n_features · the variance of all entries), its "auto" 1/n_features'
        )
    return float(gamma)
