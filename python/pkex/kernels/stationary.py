"""Products over features of one function of the scaled difference: RBF, Laplacian, Cauchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import checked_length_scale, converting_gamma, over_features

__all__ = ["RBF", "Cauchy", "Laplacian"]


@dataclass(frozen=True)
class _Stationary(Kernel):
    """A product over features of one function of (x_j − y_j) / length-scale."""

    length_scale: float | tuple[float, ...] = 1.0

    family: ClassVar[str]
    # The length-scale that scikit-learn's gamma stands for.
    _of_gamma: ClassVar[str] = ""

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))

    def terms(self, n_features: int) -> list[Term]:
        return [over_features(self, self.family, n_features, length_scale=self.length_scale)]


@dataclass(frozen=True, init=False)
class RBF(_Stationary):
    """Gaussian kernel: ∏_j exp(−((x_j − y_j) / ℓ_j)² / 2).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / (2 ℓ²).

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> RBF(length_scale=[0.5, 2.0])
    RBF(length_scale=(0.5, 2.0))
    """

    family = add_family(
        Family("rbf", lambda x, y, scale: np.exp(-0.5 * ((x - y) / scale) ** 2), reach=9.0)
    )
    _of_gamma = "(2 * gamma) ** -0.5, since gamma = 1 / (2 * length_scale**2)"


@dataclass(frozen=True, init=False)
class Laplacian(_Stationary):
    """Laplace kernel: ∏_j exp(−|x_j − y_j| / ℓ_j).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / ℓ.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Laplacian()([[0.0]], [[1.0]])
    array([[0.36787944]])
    """

    family = add_family(
        Family("laplacian", lambda x, y, scale: np.exp(-np.abs((x - y) / scale)), has_kinks=True)
    )
    _of_gamma = "1 / gamma"


@dataclass(frozen=True, init=False)
class Cauchy(_Stationary):
    """Cauchy kernel: ∏_j 1 / (1 + ((x_j − y_j) / ℓ_j)²).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Cauchy(length_scale=2.0)([[0.0]], [[2.0]])
    array([[0.5]])
    """

    family = add_family(Family("cauchy", lambda x, y, scale: 1.0 / (1.0 + ((x - y) / scale) ** 2)))
