"""Kernel matrices as functions of parameters, with gradients: Gaussian kernels, or fixed ones.

Parameters are logarithms. A gradient takes the derivatives of a number by the entries of a matrix,
and returns those by the parameters.
"""

from __future__ import annotations

import numpy as np

from pkex.kernels import RBF, Kernel
from pkex.models.downscaling.bags import Bags
from pkex.typing import Float

# Length-scales and amplitudes are within these factors of their start. Means over bags, which have
# variance 1, vary less than single rows.
_RANGE, _RANGE_OF_AMPLITUDE, _AMPLITUDE = 100.0, 1000.0, 10.0

# The difference between the quartiles of the standard normal distribution.
_QUARTILES = 1.349

_NOTHING = np.zeros(0)


class FixedGram:
    """The matrix of a kernel without parameters."""

    starts = ranges = _NOTHING

    def __init__(self, bags: Bags, kernel: Kernel) -> None:
        self._kernel, self._gram = kernel, bags.gram(kernel)

    def gram(self, parameters: Float) -> Float:
        """Return the mean of the kernel over pairs of rows of two bags."""
        return self._gram

    def gradient(self, weights: Float) -> Float:
        """Return derivatives, given those by the entries of `gram`."""
        return _NOTHING

    def kernel(self, parameters: Float) -> Kernel:
        """Return the kernel."""
        return self._kernel


class GaussianGram:
    """The matrix of a · exp(−½ Σ_j (x_j − y_j)² / l_j²); the parameters are ln l and ln a.

    Length-scales start at the spreads of columns times √d.
    """

    def __init__(self, bags: Bags) -> None:
        self._bags, self._columns = bags, bags.rows - np.median(bags.rows, axis=0)
        self.starts, self.ranges = (
            np.append(_scales(bags.rows), np.log(_AMPLITUDE)),
            _ranges(bags.rows, 1),
        )
        self._rates, self._matrix = _NOTHING, _NOTHING

    def gram(self, parameters: Float) -> Float:
        """Return the mean of the kernel over pairs of rows of two bags."""
        self._rates = np.exp(-2.0 * parameters[:-1])
        # The product takes a fraction of the time of differences between columns. It has rounding
        # errors of distant rows only, since columns have their medians subtracted.
        columns = self._columns * np.sqrt(self._rates)
        halves = 0.5 * np.square(columns).sum(axis=1)
        exponents = columns @ columns.T
        exponents -= halves[:, None]
        exponents -= halves
        np.minimum(exponents, 0.0, out=exponents)
        exponents += parameters[-1]
        self._matrix = np.exp(exponents, out=exponents)
        return self._bags.means(self._bags.means(self._matrix).T)

    def gradient(self, weights: Float) -> Float:
        """Return derivatives, given those by the entries of `gram`."""
        of_pairs = self._bags.spread(self._bags.spread(weights).T) * self._matrix
        # Σ_ij p_ij (x_i − x_j)² = 2 Σ_i x_i² p_i − 2 xᵀ P x for symmetric P with row sums p.
        sums = of_pairs.sum(axis=1)
        columns = self._columns
        squares = 2.0 * (columns**2).T @ sums
        products = 2.0 * (columns * (of_pairs @ columns)).sum(axis=0)
        return np.append(self._rates * (squares - products), sums.sum())

    def kernel(self, parameters: Float) -> Kernel:
        """Return the kernel."""
        return float(np.exp(parameters[-1])) * RBF(np.exp(parameters[:-1]))


class FixedMediators:
    """The matrices of a kernel without parameters."""

    starts = ranges = _NOTHING

    def __init__(self, mediators: Float, target_mediators: Float, kernel: Kernel) -> None:
        self._kernel, self.n_bags = kernel, len(mediators)
        self._matrices = kernel(mediators), kernel(mediators, target_mediators)

    def matrices(self, parameters: Float) -> tuple[Float, Float]:
        """Return the kernel between mediators of bags, and between these and those of targets."""
        return self._matrices

    def gradient(self, gram_weights: Float, cross_weights: Float) -> Float:
        """Return derivatives, given those by the entries of both matrices."""
        return _NOTHING

    def kernel(self, parameters: Float) -> Kernel:
        """Return the kernel."""
        return self._kernel


class GaussianMediators:
    """The matrices of exp(−½ Σ_j (y_j − z_j)² / l_j²); the parameters are ln l.

    Length-scales start at half the spreads of columns times √p.
    """

    def __init__(self, mediators: Float, target_mediators: Float) -> None:
        self._mediators, self._target_mediators = mediators, target_mediators
        self.n_bags = len(mediators)
        all_mediators = np.concatenate([mediators, target_mediators])
        self.starts, self.ranges = _scales(all_mediators) - np.log(2.0), _ranges(all_mediators, 0)
        self._rates, self._matrices = _NOTHING, (_NOTHING, _NOTHING)

    def matrices(self, parameters: Float) -> tuple[Float, Float]:
        """Return the kernel between mediators of bags, and between these and those of targets."""
        self._rates = np.exp(-2.0 * parameters)
        kernel = self.kernel(parameters)
        self._matrices = kernel(self._mediators), kernel(self._mediators, self._target_mediators)
        return self._matrices

    def gradient(self, gram_weights: Float, cross_weights: Float) -> Float:
        """Return derivatives, given those by the entries of both matrices."""
        gram, cross = self._matrices
        gradient = np.zeros(len(self._rates))
        for of_pairs, mediators in (
            (gram_weights * gram, self._mediators),
            (cross_weights * cross, self._target_mediators),
        ):
            for j, rate in enumerate(self._rates):
                squares = np.subtract.outer(self._mediators[:, j], mediators[:, j]) ** 2
                gradient[j] += rate * (of_pairs * squares).sum()
        return gradient

    def kernel(self, parameters: Float) -> Kernel:
        """Return the kernel."""
        return RBF(np.exp(parameters))


def _scales(rows: Float) -> Float:
    """Return logarithms of the spreads of columns times the root of their number.

    The spread is the standard deviation, or that of the normal distribution with the same quartiles
    if this is smaller: a few distant values do not determine the length-scale of all others.
    """
    deviations = rows.std(axis=0)
    quartile_spreads = np.subtract(*np.percentile(rows, [75.0, 25.0], axis=0)) / _QUARTILES
    spreads = np.where(quartile_spreads > 0.0, np.minimum(deviations, quartile_spreads), deviations)
    scales: Float = np.log(np.where(spreads > 0.0, spreads, 1.0) * rows.shape[1] ** 0.5)
    return scales


def _ranges(rows: Float, n_amplitudes: int) -> Float:
    """Return how far logarithms may be from their start; constant columns have no scale."""
    varies = np.ptp(rows, axis=0) > 0.0
    ranges = np.where(varies, np.log(_RANGE), 0.0)
    return np.append(ranges, np.full(n_amplitudes, np.log(_RANGE_OF_AMPLITUDE)))
