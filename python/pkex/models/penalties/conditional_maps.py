"""Observational Shapley values as linear maps, from all or random coalitions.

ζ = Σ_{S∌A} p(S) (𝒦_{S∪A} − 𝒦_S), where p(S) = 1 / (d C(d−1, |S|)) is the probability of S if its
size is drawn first. Column t of 𝒦_S has the values of S for row x_t under the value functions of
the k(·, x_i) (Chau, Hu, Gonzalez and Sejdinovic 2022, RKHS-SHAP, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.functions.conditional import MAX_CONDITIONED
from pkex.games.category_codes import CategoryCodes
from pkex.games.conditioning import ConditionalBackground, Weights
from pkex.games.observational import Observational
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.kernels import Kernel
from pkex.kernels.domain import Domain
from pkex.kernels.factors import expand_terms, has_mixtures
from pkex.kernels.restrictions import are_products
from pkex.models.conditional_kernel import ConditionalKernel, ConditionalRows
from pkex.typing import Float

# Coalitions, bool of shape (count, d), and their weights in the value of each feature, of shape
# (count, features).
_Coalitions: TypeAlias = tuple[NDArray[np.bool_], Float]
# A function of the weights of background rows and the present columns, which returns 𝒦_S of shape
# (points, rows).
_CoalitionMap: TypeAlias = Callable[[Weights, NDArray[np.bool_]], Float]


def conditional_background(
    settings: Observational, points: Float, shares: Float, names: Sequence[str]
) -> ConditionalBackground:
    """Return the training rows with their weights given present features.

    Raises
    ------
    ValueError
        If the kernel does not suit these rows, or there are too many rows.
    """
    levels = CategoryCodes.of(points, tuple(names))
    return ConditionalBackground(settings.resolved(points, levels), points, shares, levels)


def choose_coalitions(
    features: Sequence[int], d: int, n_coalitions: Any, random_state: Any
) -> _Coalitions:
    """Return all coalitions for up to 14 columns, or `n_coalitions` random ones per feature.

    Raises
    ------
    ValueError, TypeError
        If `n_coalitions` is required for so many columns, or is not a positive integer.
    """
    if n_coalitions is None:
        if d > MAX_CONDITIONED:
            raise ValueError(
                f"X has {d} columns, but all 2^{d} coalitions are used for at most "
                f"{MAX_CONDITIONED} columns. Pass n_coalitions, the number of random coalitions "
                "per feature, such as 200, or value_function='interventional'"
            )
        return _all_coalitions(features, d)
    requirement = "a positive integer, or None for all coalitions"
    count = as_integer("n_coalitions", n_coalitions, requirement, least=1)
    return _draw_coalitions(features, d, count, as_generator(random_state))


def _all_coalitions(features: Sequence[int], d: int) -> _Coalitions:
    present = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)
    shares = np.array([1.0 / (d * comb(d - 1, size)) for size in range(d)])
    sizes = present.sum(axis=1)[:, None] - present[:, list(features)]
    return present, np.where(present[:, list(features)], 1.0, -1.0) * shares[sizes]


def _draw_coalitions(
    features: Sequence[int], d: int, count: int, random: np.random.Generator
) -> _Coalitions:
    """Return random S with and without each feature; its value is their mean difference."""
    weights: dict[bytes, Float] = {}
    for place, feature in enumerate(features):
        other_columns = np.delete(np.arange(d), feature)
        for _ in range(count):
            present = np.zeros(d, dtype=bool)
            present[random.permutation(other_columns)[: random.integers(d)]] = True
            for is_with in (False, True):
                present[feature] = is_with
                counts = weights.setdefault(present.tobytes(), np.zeros(len(features)))
                counts[place] += (1.0 if is_with else -1.0) / count
    members = np.frombuffer(b"".join(weights), dtype=bool).reshape(-1, d)
    return members, np.stack(list(weights.values()))


def maps_by_coalitions(
    points: Float, kernel: Kernel, conditioning: ConditionalBackground, coalitions: _Coalitions
) -> Float:
    """Return ζ of each feature.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        The training rows, which are points, explained rows and background.
    kernel : Kernel
    conditioning : ConditionalBackground
    coalitions : tuple
        The result of `choose_coalitions`.

    Returns
    -------
    ndarray of shape (features, n points, n rows)
    """
    members, counts = coalitions
    if conditioning.settings.embedding == "rows":
        coalition_map: _CoalitionMap = ConditionalRows(kernel, points, points, points)
    else:
        coalition_map = _coalition_map(points, kernel)
    maps = np.zeros((counts.shape[1], len(points), len(points)))
    weights = conditioning.weights(points, list(members))
    for present, of_features, of_rows in zip(members, counts, weights, strict=True):
        values = coalition_map(of_rows, present)
        for zeta, times in zip(maps, of_features, strict=True):
            zeta += times * values
    return maps


def _coalition_map(points: Float, kernel: Kernel) -> _CoalitionMap:
    """Return the fastest function that computes 𝒦_S for a kernel."""
    terms = kernel.terms(points.shape[1])
    if has_mixtures(terms):
        # The kernel is evaluated at combinations of the points' values.
        terms = expand_terms(terms, Domain.of(points))
    if are_products(terms):
        return ConditionalKernel(terms, points, points, points)
    return partial(_by_rows, points, kernel)


def _by_rows(points: Float, kernel: Kernel, weights: Weights, present: NDArray[np.bool_]) -> Float:
    """Return 𝒦_S for any kernel, evaluated at rows combined with background rows."""
    combinations = (np.where(present, row, points) for row in points)
    means = [
        shares @ kernel(rows, points)
        for shares, rows in zip(weights.whole(), combinations, strict=True)
    ]
    return np.stack(means, axis=1)
