"""Conditional means of kernel expansions, faster than by evaluating rows mixed with the background.

A product kernel splits at a coalition, k(x_S z_{l,S^c}, x_i) = k_S(x, x_i) k_{S^c}(z_l, x_i), so
v(S) = Σ_i α_i k_S(x, x_i) Σ_l w_l(x_S) k_{S^c}(z_l, x_i) (RKHS-SHAP: Chau et al. 2022, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.games.conditioning import Weights
from pkex.games.landmarks import Features
from pkex.kernels.factors import Term, evaluate_terms, has_mixtures, has_series
from pkex.kernels.restrictions import MAX_KEPT, Restrictions
from pkex.typing import Float

_Means = Callable[[Weights, NDArray[np.bool_]], Float]

# Kernel values between points and rows held in memory at a time.
_MAX_NUMBERS = 1 << 22
# The largest number of pairs of points and background rows without an approximation by landmarks.
_MAX_PAIRS = 1 << 24


def expansion_means(
    points: Float,
    coefficients: Float,
    terms: Sequence[Term],
    intercept: Float,
    rows: tuple[Float, Float, NDArray[np.intp] | None],
) -> _Means | None:
    """Return the conditional means of an expansion, see `Function.conditional_means`.

    Parameters
    ----------
    points : ndarray of shape (p, d)
    coefficients : ndarray of shape (p, outputs)
    terms : sequence of Term
        The terms of the kernel.
    intercept : ndarray of shape (outputs,)
    rows : tuple of ndarray of shape (n, d), ndarray of shape (m, d), and ndarray of intp or None
        The explained rows, the background rows, and the landmarks among these.
    """
    if has_series(terms):
        return None
    if has_mixtures(terms):
        return _means_of_mixtures(points, coefficients, terms, intercept, rows)
    all_term_means = [_TermMeans(points, coefficients, term, rows) for term in terms]

    def means(weights: Weights, present: NDArray[np.bool_]) -> Float:
        total = weights.totals * intercept
        for term_means in all_term_means:
            total = total + term_means(weights, present)
        return total

    return means


def _means_of_mixtures(
    points: Float,
    coefficients: Float,
    terms: Sequence[Term],
    intercept: Float,
    rows: tuple[Float, Float, NDArray[np.intp] | None],
) -> _Means:
    """Return the means for mixtures, which are not products, by their values at mixed rows.

    A value takes one function of a distance, where the engine takes a sum of tens of Gaussians.
    """
    X, background, _ = rows
    tiles = blocks_of(len(points), _MAX_NUMBERS // len(background))
    most_rows = _MAX_NUMBERS // max(1, len(points), coefficients.shape[1])

    def outputs(combinations: Float) -> Float:
        total = np.tile(intercept, (len(combinations), 1))
        for tile in tiles:
            total += evaluate_terms(terms, combinations, points[tile]) @ coefficients[tile]
        return total

    return partial(mixed_means, outputs, X, background, most_rows)


def mixed_means(
    outputs: Callable[[Float], Float],
    X: Float,
    background: Float,
    most_rows: int,
    weights: Weights,
    present: NDArray[np.bool_],
) -> Float:
    """Return the weighted means of outputs at rows mixed with background rows, (n, outputs).

    Parameters
    ----------
    outputs : callable
        Maps rows to outputs, of shape (k,) or (k, outputs).
    X : ndarray of shape (n, d)
    background : ndarray of shape (m, d)
        The background rows.
    most_rows : int
        The number of mixed rows to evaluate together.
    weights : Weights
    present : ndarray of bool, shape (d,)
    """
    weight_matrix, means = weights.whole(), []
    for block in blocks_of(len(X), most_rows // len(background)):
        combinations = np.where(present, X[block, None], background)
        values = outputs(combinations.reshape(-1, X.shape[1])).reshape(*combinations.shape[:2], -1)
        means.append(np.einsum("nl,nlo->no", weight_matrix[block], values))
    return np.concatenate(means)


class _TermMeans:
    """The means for one term of the kernel, point by point, without the intercept.

    With landmarks, k_{S^c} between many background rows and points is approximated by the Nyström
    method.
    """

    def __init__(
        self,
        points: Float,
        coefficients: Float,
        term: Term,
        rows: tuple[Float, Float, NDArray[np.intp] | None],
    ) -> None:
        X, background, landmarks = rows
        self._coefficients = coefficients
        self._shape = len(X), coefficients.shape[1]
        places = landmarks if len(points) * len(background) > _MAX_PAIRS else None
        centers = background if places is None else background[places]
        tiles = blocks_of(len(points), _MAX_NUMBERS // max(len(centers), len(X), 1))
        most_kept = MAX_KEPT // max(1, len(tiles))
        self._tiles = []
        unit_terms = [replace(term, coefficient=1.0)]
        for tile in tiles:
            to_rows = Restrictions([term], X, points[tile], most_kept)
            to_centers = Restrictions(unit_terms, centers, points[tile], most_kept)
            self._tiles.append((tile, to_rows, to_centers))
        self._landmarks = None
        if places is not None:
            self._landmarks = (
                Restrictions(unit_terms, centers, centers),
                Restrictions(unit_terms, centers, background),
            )

    def __call__(self, weights: Weights, present: NDArray[np.bool_]) -> Float:
        sums = np.zeros(self._shape)
        if self._landmarks is not None:
            among, to_background = (restrictions.of(~present) for restrictions in self._landmarks)
            features = Features(among)
            sides = features.from_values(weights.times(features.of(to_background).T))
            weights = Weights(sides)
        for tile, to_rows, to_centers in self._tiles:
            means = weights.times(to_centers.of(~present))
            sums += (to_rows.of(present) * means) @ self._coefficients[tile]
        return sums
