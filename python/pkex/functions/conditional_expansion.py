"""Kernel expansions in the observational game: faster than one mixed row after the other.

A product kernel splits at a coalition, k(x_S z_{l,S^c}, x_i) = k_S(x, x_i) k_{S^c}(z_l, x_i), and
v(S) = Σ_i α_i k_S(x, x_i) Σ_l w_l(x_S) k_{S^c}(z_l, x_i) (RKHS-SHAP: Chau et al. 2022, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.functions.base import Function
from pkex.functions.kernel_sum import KernelSum
from pkex.games.conditioning import Weights
from pkex.games.landmarks import Features
from pkex.kernels.factors import Term, has_mixtures, has_series
from pkex.kernels.restrictions import MOST_KEPT, Restrictions
from pkex.typing import Float

__all__ = ["WorthsGiven", "worths_given"]

# From weights of background rows and the columns that are present, shape (d,), to the worths of
# rows, shape (n, outputs).
WorthsGiven: TypeAlias = Callable[[Weights, NDArray[np.bool_]], Float]

# Kernel values that are there at a time, between points and rows.
_MOST_NUMBERS = 1 << 22
# Pairs of points and background rows, of which kernel values are taken as they are.
_MOST_PAIRS = 1 << 24


@singledispatch
def worths_given(
    function: Function, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
) -> WorthsGiven | None:
    """Return what gives the worths of rows faster than the function at mixed rows; None if nothing.

    Classes of functions that have such register how.

    Parameters
    ----------
    function : Function
    X : ndarray of shape (n, d)
    rows : ndarray of shape (m, d)
        The background.
    landmarks : ndarray of intp, optional
        The numbers of the rows that weights are made on, if it is not all of them.
    """
    return None


@worths_given.register
def _(
    function: KernelSum, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
) -> WorthsGiven | None:
    if type(function) is not KernelSum:
        return None
    terms = function.kernel.terms(function.n_features)
    if has_series(terms):
        return None
    if has_mixtures(terms):
        return _at_mixed(function, terms, X, rows)
    sums = [_Sums(function, term, X, rows, landmarks) for term in terms]
    intercept = np.ravel(function.intercept)

    def worths(weights: Weights, present: NDArray[np.bool_]) -> Float:
        total: Float = sum(of_term(weights, present) for of_term in sums) + intercept
        return total

    return worths


def _at_mixed(expansion: KernelSum, terms: Sequence[Term], X: Float, rows: Float) -> WorthsGiven:
    """Return the same of mixtures, which are no products: by their plain values at mixed rows.

    That takes a function of a distance, where the engine takes a sum of tens of Gaussians.
    """
    points = expansion.points
    coefficients = expansion.coefficients.reshape(len(points), -1)
    tile = max(1, _MOST_NUMBERS // len(rows))
    of_mixed = max(1, len(points), expansion.n_outputs)
    step = max(1, _MOST_NUMBERS // (len(rows) * of_mixed))

    def outputs(mixed: Float) -> Float:
        total = np.tile(np.ravel(expansion.intercept), (len(mixed), 1))
        for start in range(0, len(points), tile):
            some = slice(start, start + tile)
            for term in terms:
                total += term.evaluated(mixed, points[some]) @ coefficients[some]
        return total

    def worths(weights: Weights, present: NDArray[np.bool_]) -> Float:
        whole, means = weights.whole(), np.empty((len(X), expansion.n_outputs))
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            mixed = np.where(present, X[block, None], rows)
            values = outputs(mixed.reshape(-1, X.shape[1])).reshape(*mixed.shape[:2], -1)
            means[block] = np.einsum("nl,nlo->no", whole[block], values)
        return means

    return worths


class _Sums:
    """The worths of rows by one term of the kernel, point by point.

    Weights add up to 1, and so leave the intercept as it is. With landmarks, k_{S^c} between many
    background rows and points is Nyström's approximation on them.
    """

    def __init__(
        self,
        expansion: KernelSum,
        term: Term,
        X: Float,
        rows: Float,
        landmarks: NDArray[np.intp] | None,
    ) -> None:
        points = expansion.points
        self._coefficients = expansion.coefficients.reshape(len(points), -1)
        self._shape = len(X), expansion.n_outputs
        chosen = landmarks if len(points) * len(rows) > _MOST_PAIRS else None
        centres = rows if chosen is None else rows[chosen]
        step = max(1, _MOST_NUMBERS // max(len(centres), len(X), 1))
        most_kept = MOST_KEPT // max(1, -(-len(points) // step))
        self._tiles = []
        alone = [replace(term, coefficient=1.0)]
        for start in range(0, len(points), step):
            tile = slice(start, start + step)
            near = Restrictions([term], X, points[tile], most_kept)
            far = Restrictions(alone, centres, points[tile], most_kept)
            self._tiles.append((tile, near, far))
        self._landmarks = None
        if chosen is not None:
            self._landmarks = (
                Restrictions(alone, centres, centres),
                Restrictions(alone, centres, rows),
            )

    def __call__(self, weights: Weights, present: NDArray[np.bool_]) -> Float:
        sums = np.zeros(self._shape)
        if self._landmarks is not None:
            among, to_rows = (restrictions.of(~present) for restrictions in self._landmarks)
            features = Features(among)
            sides = features.from_values(weights.times(features.of(to_rows).T))
            weights = Weights(sides)
        for tile, near, far in self._tiles:
            means = weights.times(far.of(~present))
            sums += (near.of(present) * means) @ self._coefficients[tile]
        return sums
