"""Marginal likelihoods of the two regressions, and the parameters that maximize them.

The embedding regresses the features φ(y_i) of mediators on causes, and the target process regresses
targets on mediators. Both have an amplitude that maximizes the likelihood in closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from pkex.kernels import RBF, Kernel
from pkex.typing import Float

# Start and range of the regularization, and of the noise relative to the amplitude.
_REGULARIZATION, _NOISE = (1e-1, 1e-6, 1e2), (1e-1, 1e-6, 1e3)
# The same for a noise that was passed, with the variance of the targets as the amplitude.
_OF_AMPLITUDE, _MIN_RATIO, _MIN_NOISE = (1e-4, 1e6), 1e-11, 1e-8
# Length-scales start at these multiples of the spreads of columns, and stay within this factor.
_STARTS, _RANGE = (1.0, 0.3, 0.08), 300.0
# The noise is at least this share of the variance of the targets, if they are equal up to rounding.
_TINY = 1e-300


def spread_scales(columns: Float) -> Float:
    """Return the standard deviation of each column times the root of their number."""
    deviations = columns.std(axis=0)
    scales: Float = np.where(deviations > 0.0, deviations, 1.0) * columns.shape[1] ** 0.5
    return scales


class EmbeddingLikelihood:
    """The likelihood of features φ(y_i) of n rows, given causes.

    Each coordinate of the features is a Gaussian process with covariance s (A + λ 1), where A is
    the product of the kernels of causes; s is profiled out. In Chau 2023, equation 4.13, the
    coordinates are divided by their prior standard deviations (R⁻¹). Directions that cannot be
    predicted then have the same weight as others, and the likelihood is often largest for causes
    without any influence.

    Parameters
    ----------
    features : ndarray of shape (n, rank)
    causes : sequence of tuple of ndarray and Kernel or None
        Columns, and their kernel; if None, a Gaussian kernel with free length-scales.
    regularization : float, optional
        λ; free if None.
    """

    def __init__(
        self,
        features: Float,
        causes: Sequence[tuple[Float, Kernel | None]],
        regularization: float | None,
    ) -> None:
        n = len(features)
        self._features, self._causes = features, causes
        self._fixed = np.ones((n, n))
        for columns, kernel in causes:
            if kernel is not None:
                self._fixed *= kernel(columns)
        free_columns = [columns for columns, kernel in causes if kernel is None]
        self._columns = np.concatenate([np.empty((n, 0)), *free_columns], axis=1)
        # Their mean does not matter; products of centered columns have smaller rounding errors.
        self._columns -= self._columns.mean(axis=0)
        self._scales = np.concatenate([np.empty(0), *map(spread_scales, free_columns)])
        self._regularization = regularization

    def maximize(self) -> tuple[list[Kernel], float]:
        """Return the kernel of each group of causes, and the regularization."""
        start, low, high = np.log(_REGULARIZATION)
        if self._regularization is not None:
            start = low = high = np.log(self._regularization)
        ranges = np.log(_RANGE)
        scales = np.log(self._scales)
        bounds = [*((scale - ranges, scale + ranges) for scale in scales), (low, high)]
        if not len(scales) and low == high:
            return self._of(np.array([start]))
        starts = [np.append(scales + np.log(times), start) for times in _STARTS]
        return self._of(_best(self, starts if len(scales) else starts[:1], bounds, jac=True))

    def __call__(self, parameters: Float) -> tuple[float, Float]:
        """Return the negative logarithm of the likelihood, and its gradient."""
        rates = np.exp(-2.0 * parameters[:-1])
        regularization = np.exp(parameters[-1])
        n, rank = self._features.shape
        matrix = self._fixed * self._gaussian(rates)
        factor = cho_factor(matrix + regularization * np.eye(n), lower=True)
        solution = cho_solve(factor, self._features)
        size = float((self._features * solution).sum())
        value = 0.5 * rank * (2.0 * np.log(np.diag(factor[0])).sum() + n * np.log(size))
        # The derivative by the entries of the matrix.
        weights = cho_solve(factor, np.eye(n)) - (n / size) * (solution @ solution.T)
        weights *= 0.5 * rank
        of_pairs = weights * matrix
        # Σ_ij p_ij (x_i − x_j)² = 2 Σ_i x_i² p_i − 2 xᵀ P x for symmetric P with row sums p.
        columns = self._columns
        squares = 2.0 * (columns**2).T @ of_pairs.sum(axis=1)
        products = 2.0 * (columns * (of_pairs @ columns)).sum(axis=0)
        of_regularization = regularization * np.trace(weights)
        return float(value), np.append(rates * (squares - products), of_regularization)

    def _gaussian(self, rates: Float) -> Float:
        columns = self._columns * np.sqrt(rates)
        halves = 0.5 * np.square(columns).sum(axis=1)
        exponents = columns @ columns.T - halves[:, None] - halves
        kernel: Float = np.exp(np.minimum(exponents, 0.0))
        return kernel

    def _of(self, parameters: Float) -> tuple[list[Kernel], float]:
        scales = iter(np.exp(parameters[:-1]).tolist())
        kernels = [
            RBF([next(scales) for _ in range(columns.shape[1])]) if kernel is None else kernel
            for columns, kernel in self._causes
        ]
        return kernels, float(np.exp(parameters[-1]))


@dataclass(frozen=True, eq=False)
class TargetLikelihood:
    """The likelihood of targets, given mediators.

    They have mean 0 and covariance a · (K + ρ 1); the amplitude a is profiled out if the noise a ρ
    is free.

    Parameters
    ----------
    mediators : ndarray of shape (M, p)
    targets : ndarray of shape (M,)
    kernel : Kernel, optional
        The kernel of mediators; Gaussian with free length-scales if None.
    covariance : callable
        From the kernel of mediators to K.
    noise : float, optional
    """

    mediators: Float
    targets: Float
    kernel: Kernel | None
    covariance: Callable[[Kernel], Float]
    noise: float | None

    def maximize(self) -> tuple[Kernel, float, float]:
        """Return the kernel of mediators, the amplitude, and the noise."""
        scales = np.log(spread_scales(self.mediators)) if self.kernel is None else np.empty(0)
        start, low, high = np.log(self._ratios())
        ranges = np.log(_RANGE)
        bounds = [*((scale - ranges, scale + ranges) for scale in scales), (low, high)]
        starts = [np.append(scales + np.log(times), start) for times in _STARTS]
        parameters = _best(self, starts if len(scales) else starts[:1], bounds, jac=None)
        kernel, ratio = self._of(parameters)
        amplitude = self._amplitude(self._form(kernel, ratio)[0], ratio)
        return kernel, amplitude, amplitude * ratio

    def _ratios(self) -> tuple[float, float, float]:
        """Return the start of ρ, the least and the largest."""
        if self.noise is None:
            return _NOISE
        variance = float(np.mean(self.targets**2))
        if self.noise < _MIN_NOISE * variance:
            raise ValueError(
                f"noise={self.noise!r} is below {_MIN_NOISE:.0e} of the variance of y, "
                f"{variance:.3g}: rounding errors may be larger. Pass a larger noise"
            )
        ratio = self.noise / variance
        low, high = _OF_AMPLITUDE
        return ratio, max(_MIN_RATIO, ratio * low), ratio * high

    def __call__(self, parameters: Float) -> float:
        """Return the negative logarithm of the likelihood."""
        kernel, ratio = self._of(parameters)
        form, logarithm = self._form(kernel, ratio)
        amplitude = self._amplitude(form, ratio)
        n = len(self.targets)
        return float(0.5 * (n * np.log(amplitude) + logarithm + form / amplitude))

    def _form(self, kernel: Kernel, ratio: float) -> tuple[float, float]:
        """Return tᵀ (K + ρ 1)⁻¹ t and log |K + ρ 1|."""
        matrix = self.covariance(kernel) + ratio * np.eye(len(self.targets))
        factor = cho_factor(matrix, lower=True)
        form = float(self.targets @ cho_solve(factor, self.targets))
        return form, float(2.0 * np.log(np.diag(factor[0])).sum())

    def _amplitude(self, form: float, ratio: float) -> float:
        return self.noise / ratio if self.noise is not None else form / len(self.targets) + _TINY

    def _of(self, parameters: Float) -> tuple[Kernel, float]:
        kernel = RBF(np.exp(parameters[:-1])) if self.kernel is None else self.kernel
        return kernel, float(np.exp(parameters[-1]))


def _best(
    function: Callable[[Float], object],
    starts: Sequence[Float],
    bounds: Sequence[tuple[float, float]],
    *,
    jac: bool | None,
) -> Float:
    results = [
        minimize(function, start, jac=jac, method="L-BFGS-B", bounds=bounds) for start in starts
    ]
    best: Float = min(results, key=lambda result: float(result.fun)).x
    return best
