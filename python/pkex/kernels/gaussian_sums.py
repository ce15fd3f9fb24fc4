"""Approximation of functions of a distance by few Gaussians, between the distances that occur.

Each Gaussian is a product over columns, so the function becomes a sum of products. The fewest of
many candidate rates are selected: an orthogonalization with pivoting orders them, least squares
weights the first ones, and their number increases until the errors are small enough at four times
as many distances as were fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.mixtures import FLAT, Mixture
from pkex.typing import Float


def gaussian_sum(mixture: Mixture, low: float, high: float, error: float) -> tuple[Float, Float]:
    """Return rates v and weights w with f(s) = f(0) + Σ w (e^(−vs) − 1) for 0 ≤ s ≤ high.

    Parameters
    ----------
    mixture : Mixture
        f.
    low, high : float
        The squared distance from which the decay f(0) − f has many digits, and the largest squared
        distance.
    error : float
        The largest error relative to the mixture's unit and, for s ≥ low, a hundredth of the
        largest error relative to the decay. The sum is the same between two powers of 4.

    Returns
    -------
    rates, weights : ndarray of shape (terms,)
        Ascending rates. f(0) minus the sum of the weights is the weight of the rate 0.
    """
    bounds = 4.0 ** math.floor(_log4(low)), 4.0 ** math.ceil(_log4(high))
    return _rule(_Selection(mixture, *bounds, error))


def _log4(number: float) -> float:
    return math.log2(min(max(number, 1e-280), 1e280)) / 2.0


@dataclass(frozen=True)
class _Selection:
    """A selection of rates for some distances and an error."""

    mixture: Mixture
    low: float
    high: float
    error: float

    def tolerance(self, squares: Float) -> Float:
        """Return the largest errors at squared distances."""
        sizes = 100.0 * self.mixture.size(np.maximum(squares, self.low), self.high)
        bound: Float = self.error * np.minimum(self.mixture.unit(self.high), sizes)
        return bound

    def squares(self, per_octave: int, n_at_end: int) -> Float:
        """Return distances from where no error is possible to the largest, dense at the end."""
        lowest = self.low
        (bound,) = self.tolerance(np.zeros(1))
        while lowest > 1e-290 and self.mixture.size(np.array([lowest]), self.high)[0] > bound / 4.0:
            lowest /= 4.0
        octaves = math.log2(self.high / lowest)
        angles = np.linspace(0.0, math.pi, n_at_end)[1:]
        return np.unique(
            np.concatenate(
                [
                    np.geomspace(lowest, self.high, int(octaves * per_octave) + 2),
                    0.5 * self.high * (1.0 - np.cos(angles)),
                ]
            )
        )


@lru_cache(maxsize=256)
def _rule(selection: _Selection) -> tuple[Float, Float]:
    """Add rates until the errors at many distances are below the tolerance."""
    squares, check_squares = selection.squares(4, 97), selection.squares(7, 401)
    mixture = selection.mixture
    rates, weights = mixture.candidates(float(squares[0]), selection.high)
    # The others are flat, or have decayed, at all distances.
    mask = (rates * selection.high > 1e-6 * selection.error) & (rates * squares[0] < 2.0 * FLAT)
    rates, weights = rates[mask], weights[mask]
    decay, check_decay = (mixture.decay(distances) for distances in (squares, check_squares))
    unit, check_tolerance = selection.tolerance(squares), selection.tolerance(check_squares)
    basis, check_basis = (
        -np.expm1(-np.outer(distances, rates)) for distances in (squares, check_squares)
    )

    def excess(columns: slice | NDArray[np.intp], weights: Float) -> float:
        sums = np.einsum("ij,j->i", check_basis[:, columns], weights)
        return float((np.abs(sums - check_decay) / check_tolerance).max())

    # With rounding errors, the weights of the candidates can be the most accurate.
    best = excess(slice(None), weights), rates, weights
    order = pivots(basis * weights / unit[:, None], decay / unit)
    for count in _counts(order.count, len(order.columns)):
        columns = np.sort(order.columns[:count])
        solution = least_squares(basis[:, columns] / unit[:, None], decay / unit)
        ratio = excess(columns, solution)
        if ratio <= 1.0:
            return rates[columns], solution
        if ratio < best[0]:
            best = ratio, rates[columns], solution
    return best[1:]


def _counts(start: int, limit: int) -> Iterator[int]:
    """Yield increasing counts from `start` up to `limit`, then decreasing ones."""
    count = start
    while count <= limit:
        yield count
        count += max(1, count // 16)
    while start > 1:
        start -= max(1, start // 16)
        yield start


@dataclass(frozen=True, eq=False)
class Order:
    """Columns in the order in which they span the others, and the number that spans a target."""

    columns: NDArray[np.intp]
    count: int


def pivots(matrix: Float, target: Float) -> Order:
    """Order columns by Gram–Schmidt orthogonalization with pivoting."""
    remainders, residual = matrix.copy(), target.copy()
    directions = np.empty((min(matrix.shape), len(matrix)))
    columns: list[int] = []
    errors: list[float] = []
    while len(columns) < len(directions):
        sizes = np.einsum("ij,ij->j", remainders, remainders)
        sizes[columns] = -1.0
        largest = int(sizes.argmax())
        basis = directions[: len(columns)]
        projections = np.einsum("ki,i->k", basis, remainders[:, largest])
        direction = remainders[:, largest] - np.einsum("ki,k->i", basis, projections)
        length = math.sqrt(np.einsum("i,i->", direction, direction))
        if not length > 0.0:
            break
        direction /= length
        directions[len(columns)] = direction
        columns.append(largest)
        remainders -= np.outer(direction, np.einsum("i,ij->j", direction, remainders))
        residual -= direction * np.einsum("i,i->", direction, residual)
        errors.append(float(np.abs(residual).max()))
    # With rounding errors, the number that comes nearest.
    count = next((number for number, error in enumerate(errors) if error < 1.0), np.argmin(errors))
    return Order(np.array(columns), int(count) + 1)


def least_squares(matrix: Float, target: Float) -> Float:
    """Return the coefficients of columns, by the modified Gram–Schmidt method.

    The columns are scaled to the same length first; those that depend on the ones before them get
    0. Not by LAPACK, whose bits depend on the number of its threads.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    remainders, residual = np.ascontiguousarray((matrix / lengths).T), target.copy()
    count = len(remainders)
    triangle, projections = np.zeros((count, count)), np.zeros(count)
    for k, column in enumerate(remainders):
        triangle[k, k] = math.sqrt(np.einsum("i,i->", column, column))
        if triangle[k, k] == 0.0:
            continue
        column /= triangle[k, k]
        triangle[k, k + 1 :] = np.einsum("ji,i->j", remainders[k + 1 :], column)
        remainders[k + 1 :] -= np.outer(triangle[k, k + 1 :], column)
        projections[k] = np.einsum("i,i->", residual, column)
        residual -= projections[k] * column
    coefficients: Float = np.zeros(count)
    for k in np.flatnonzero(triangle.diagonal())[::-1]:
        later_sum = np.einsum("i,i->", triangle[k, k + 1 :], coefficients[k + 1 :])
        coefficients[k] = (projections[k] - later_sum) / triangle[k, k]
    coefficients /= lengths
    return coefficients
