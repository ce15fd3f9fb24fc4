"""Closed forms of random predictors, averaged under a weight function.

A weight function α = Σ_t a_t 𝒦(w_t, ·) weighs predictors ϕ(w, ·) with random parameters w ~ p:

    Λα(x) = E[α(w) ϕ(w, x)] = Σ_t a_t Φ_t(x),   Φ_t(x) = E[𝒦(w_t, w) ϕ(w, x)]

(Dubé and Marchand 2025, equation 19). Here p is N(0, σ²I) of k columns and 𝒦(u, w) the Gaussian
exp(−‖u − w‖²/2γ²), whose product with the density of p is M(u) times that of N(u', ζ²I), where

    1/ζ² = 1/γ² + 1/σ²,   u' = u / (1 + γ²/σ²),
    M(u) = (1 + σ²/γ²)^(−k/2) exp(−‖u‖² / (2σ² + 2γ²)).

So Φ_t(x) is M(w_t) times the mean of ϕ(w, x) under N(w_t', ζ²I). If parameters are weights of
columns, ⟨w, x⟩ is normal with mean ‖x‖r and standard deviation ‖x‖ζ, where r = ⟨w_t', x⟩/‖x‖.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import erf, ndtr

from pkex.typing import Float

# Up to this number of columns, products are added column by column, so that the result of a row
# does not depend on the other rows; for more columns, BLAS adds them.
_FEW = 14


def gamma_of(concentration: float, sigma: float, k: int) -> float:
    """Return the γ for which predictions of `RWSign` in k columns are at most c ‖α‖.

    c² = (1 + 2σ²/γ²)^(−k/2) implies γ² = 2σ² / (c^(−4/k) − 1) (Dubé and Marchand 2025, equation 65,
    which prints the inverse fraction).
    """
    return sigma * math.sqrt(2.0 / math.expm1(-4.0 / k * math.log(concentration)))


@dataclass(frozen=True)
class Weighting(ABC):
    """Predictors ϕ, averaged under Gaussians.

    Parameters
    ----------
    sigma : float
        σ, the standard deviation of parameters.
    gamma : float
        γ, the width of the kernel on them.
    """

    sigma: float
    gamma: float

    def outputs(self, rows: Float, centers: Float) -> Float:
        """Return Φ_t at rows, shape (n, count).

        Parameters
        ----------
        rows : ndarray of shape (n, k)
        centers : ndarray of shape (count, k)
            The w_t.
        """
        variance, width = self.sigma**2, self.gamma**2
        scale = -0.5 * centers.shape[1] * math.log1p(variance / width)
        exponents = scale - (centers**2).sum(axis=1) / (2.0 * (variance + width))
        # Callers check for overflows.
        with np.errstate(over="ignore", invalid="ignore"):
            means = self._means(rows, centers / (1.0 + width / variance))
            means *= np.exp(exponents)
        return means

    def gram(self, one: Float, other: Float) -> Float:
        """Return the kernel 𝒦 between centers, shape (count of one, count of other)."""
        matrix = cdist(one, other, "sqeuclidean")
        matrix *= -0.5 / self.gamma**2
        kernel: Float = np.exp(matrix, out=matrix)
        return kernel

    @property
    def _zeta(self) -> float:
        return 1.0 / math.hypot(1.0 / self.gamma, 1.0 / self.sigma)

    @abstractmethod
    def _means(self, rows: Float, middles: Float) -> Float:
        """Return a new array of the means of ϕ(w, x) for w ~ N(u', ζ²I), shape (n, count)."""


class SignWeighting(Weighting):
    """ϕ(w, x) = sign⟨w, x⟩: the mean sign of a normal number is erf(r / (√2 ζ))."""

    def _means(self, rows: Float, middles: Float) -> Float:
        cosines, _ = _along(rows, middles)
        cosines /= math.sqrt(2.0) * self._zeta
        means: Float = erf(cosines, out=cosines)
        return means


class ReLUWeighting(Weighting):
    """ϕ(w, x) = max(0, ⟨w, x⟩): its mean for a normal number is ‖x‖ (ζ φ(r/ζ) + r Φ(r/ζ)).

    φ and Φ are the standard normal density and distribution. (Theorem 4.1 of Dubé and Marchand
    2025 lacks ‖x‖, which its proof contains.)
    """

    def _means(self, rows: Float, middles: Float) -> Float:
        cosines, lengths = _along(rows, middles)
        cosines /= self._zeta
        means = np.exp(-0.5 * cosines**2)
        means /= math.sqrt(2.0 * math.pi)
        means += cosines * ndtr(cosines)
        means *= self._zeta * lengths[:, None]
        return means


class StumpWeighting(Weighting):
    """ϕ(τ, x) = sign(x − τ) in one column, with the threshold τ as parameter."""

    def _means(self, rows: Float, middles: Float) -> Float:
        distances = rows - middles.T
        distances /= math.sqrt(2.0) * self._zeta
        means: Float = erf(distances, out=distances)
        return means


def _along(rows: Float, middles: Float) -> tuple[Float, Float]:
    """Return r, shape (n, count), and the lengths of rows; r is 0 for rows of zeros."""
    lengths = np.sqrt((rows**2).sum(axis=1))
    if rows.shape[1] > _FEW:
        products = rows @ middles.T
    else:
        products = np.zeros((len(rows), len(middles)))
        for column, weights in zip(rows.T, middles.T, strict=True):
            products += np.multiply.outer(column, weights)
    products /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return products, lengths
