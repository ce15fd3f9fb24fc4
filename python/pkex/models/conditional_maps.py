"""Shapley values as linear maps in the observational game: by coalitions, all or drawn ones.

ζ = Σ_{S∌A} p(S) (𝒦_{S∪A} − 𝒦_S), where p(S) = 1 / (d C(d−1, |S|)) is the probability of S where its
size is drawn first, and column t of 𝒦_S has the worths of S for row x_t in the games of the
k(·, x_i) (Chau, Hu, Gonzalez and Sejdinovic 2022, RKHS-SHAP, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.conditional import MOST_CONDITIONED
from pkex.games.conditioning import Conditioning
from pkex.games.levels import Levels
from pkex.games.observational import Observational
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.kernels import Kernel
from pkex.kernels.restrictions import Restrictions, are_products
from pkex.typing import Float

__all__ = ["chosen_coalitions", "conditioned", "maps_by_coalitions"]

# Coalitions, bool of shape (count, d), and what their worths count in the value of each feature,
# of shape (count, features).
_Chosen: TypeAlias = tuple[NDArray[np.bool_], Float]


def conditioned(
    settings: Observational, points: Float, shares: Float, names: Sequence[str]
) -> Conditioning:
    """Return how training rows count beside each other.

    Raises
    ------
    ValueError
        If weights would be made on some of the rows, or a column is constant.
    """
    if settings.n_landmarks is not None:
        raise ValueError(
            "value_function: n_landmarks is for explanations; the values that are penalised are of "
            "weights on all training rows: leave it out, or fit to a sample of these"
        )
    levels = Levels.of(points, tuple(names))
    return Conditioning(settings.resolved(points, levels), points, shares, levels)


def chosen_coalitions(
    features: Sequence[int], d: int, n_coalitions: Any, random_state: Any
) -> _Chosen:
    """Return all coalitions of up to 14 columns, or as many drawn ones for each feature.

    Raises
    ------
    ValueError, TypeError
        If there are more columns and no number is given, or it is no positive integer.
    """
    if n_coalitions is None:
        if d > MOST_CONDITIONED:
            raise ValueError(
                f"X has {d} columns, of which there are 2^{d} coalitions, and all of them are "
                f"taken up to {MOST_CONDITIONED} columns: give n_coalitions, the number drawn for "
                "each feature, such as 200, or value_function='interventional'"
            )
        return _all_coalitions(features, d)
    what = "a positive integer, or None for all coalitions"
    count = as_integer("n_coalitions", n_coalitions, what, least=1)
    return _drawn_coalitions(features, d, count, as_generator(random_state))


def _all_coalitions(features: Sequence[int], d: int) -> _Chosen:
    present = (np.arange(2**d)[:, None] >> np.arange(d) & 1).astype(bool)
    shares = np.array([1.0 / (d * comb(d - 1, size)) for size in range(d)])
    others = present.sum(axis=1)[:, None] - present[:, list(features)]
    return present, np.where(present[:, list(features)], 1.0, -1.0) * shares[others]


def _drawn_coalitions(
    features: Sequence[int], d: int, count: int, random: np.random.Generator
) -> _Chosen:
    """Return S with and without each feature, the mean of whose differences estimates its value."""
    found: dict[bytes, Float] = {}
    for place, feature in enumerate(features):
        others = np.delete(np.arange(d), feature)
        for _ in range(count):
            present = np.zeros(d, dtype=bool)
            present[random.permutation(others)[: random.integers(d)]] = True
            for is_with in (False, True):
                present[feature] = is_with
                counts = found.setdefault(present.tobytes(), np.zeros(len(features)))
                counts[place] += (1.0 if is_with else -1.0) / count
    members = np.frombuffer(b"".join(found), dtype=bool).reshape(-1, d)
    return members, np.stack(list(found.values()))


def maps_by_coalitions(
    points: Float, kernel: Kernel, conditioning: Conditioning, chosen: _Chosen
) -> Float:
    """Return ζ of each feature, of a kernel that is a product or a sum of products.

    𝒦_S = K_S ⊙ (K_{S^c} W_S), as a product splits at S: W_S has the weights of background rows,
    which are the points, beside each row.

    Returns
    -------
    ndarray of shape (features, n points, n rows)

    Raises
    ------
    UnsupportedModelError
        If the kernel is no such.
    """
    terms = kernel.terms(points.shape[1])
    if not are_products(terms):
        raise UnsupportedModelError(
            "value_function='observational' penalises values of kernels that are products over "
            f"columns, or sums of such, as RBF and ProductMatern are; {kernel!r} is none: take "
            "another, or value_function='interventional'"
        )
    members, counts = chosen
    alone = [Restrictions([replace(term, coefficient=1.0)], points, points) for term in terms]
    maps = np.zeros((counts.shape[1], len(points), len(points)))
    weights = conditioning.weights(points, list(members))
    for present, of_features, of_rows in zip(members, counts, weights, strict=True):
        whole = of_rows.whole().T
        worths = np.zeros((len(points), len(points)))
        for term, restrictions in zip(terms, alone, strict=True):
            known, rest = restrictions.of(present), restrictions.of(~present)
            worths += term.coefficient * known * (rest @ whole)
        for zeta, times in zip(maps, of_features, strict=True):
            zeta += times * worths
    return maps
