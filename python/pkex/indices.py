"""Interaction indices as integrals of product games, and how they are put together from these.

Of a product game with factors F_l(t) = b_l + t·c_l, the coefficient of a coalition T is, for every
index here, c_T ∫ ∏_{l∉T} F_l dμ with a measure μ on [0, 1] that depends on the index, the size of T
and, for some, the order k: docs/mathematics.md. Of k-SII and FBII it is a sum of such coefficients
over coalitions around T.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pkex.coalitions import coalitions, ranks

__all__ = ["INDICES", "SHAPLEY", "Quantity", "added_up", "quantities"]

_Float = NDArray[np.float64]

INDICES = ("k-SII", "SII", "STII", "FSII", "BII", "FBII", "Moebius", "Co-Moebius", "CHII")


@dataclass(frozen=True)
class Quantity:
    """The coefficients c_T ∫ ∏_{l∉T} F_l dμ of all coalitions T of a size.

    Parameters
    ----------
    size : int
        The number of players of T; 0 for the empty coalition.
    measure : float or tuple of float
        A float t for all mass at t. For a density its coefficients b_0, …, b_g in
        Σ_i b_i t^i (1−t)^{g−i}, so (1.0,) for the uniform one.
    """

    size: int
    measure: float | tuple[float, ...]


SHAPLEY = Quantity(1, (1.0,))


def quantities(index: str, order: int) -> list[Quantity]:
    """Return what is to be computed for an index: the coefficients of sizes 1, …, order.

    Before them those of size 0, where the empty coalition's is not its worth.
    """
    smallest = 0 if _has_own_base(index, order) else 1
    return [Quantity(size, _measure(index, size, order)) for size in range(smallest, order + 1)]


def _has_own_base(index: str, order: int) -> bool:
    return index in ("BII", "FBII") or (index == "SII" and order > 1)


def _measure(index: str, size: int, order: int) -> float | tuple[float, ...]:
    # Grabisch and Roubens (1999): SII, BII, CHII; Fujimoto et al. (2006) as measures on t.
    if index in ("SII", "k-SII"):
        return (1.0,)
    if index in ("BII", "FBII"):
        return 0.5
    if index == "Co-Moebius":
        return 1.0
    if index == "CHII":
        return (0.0,) * (size - 1) + (float(size),)
    if index == "STII" and size == order:
        # Sundararajan, Dhamdhere, Agarwal (2020): k(1−t)^{k−1}.
        return (float(order),) + (0.0,) * (order - 1)
    if index == "FSII":
        return _faithful_density(size, order)
    return 0.0


def _faithful_density(size: int, order: int) -> tuple[float, ...]:
    """Return the density of FSII for coalitions of `size` = τ among those up to `order` = k.

    (k+τ−1)!/((τ−1)!(k−τ)!(k−1)!) · t^{−1}(d/dt)^{k−τ}[t^k(1−t)^{k−1}] (Tsai, Yeh, Ravikumar 2023,
    as an integral), the derivative by Leibniz' rule.
    """
    k, m, degree = order, order - size, order + size - 2
    scale = math.factorial(k + size - 1) // (math.factorial(size - 1) * math.factorial(m))
    density = [0.0] * (degree + 1)
    for i in range(m + 1):
        # i derivatives of t^k and m − i of (1−t)^{k−1}.
        of_powers = math.perm(k, i) * math.perm(k - 1, m - i) * (-1) ** (m - i)
        density[k - 1 - i] = scale * math.comb(m, i) * of_powers / math.factorial(k - 1)
    return tuple(density)


def added_up(index: str, parts: Sequence[_Float], sizes: Sequence[int], n_players: int) -> None:
    """Turn the coefficients of SII or BII, in place, into those of k-SII or FBII.

    Parameters
    ----------
    index : str
    parts : sequence of ndarray of shape (n, coalitions, outputs)
        Of each size, in the order of `sizes`. Unchanged for other indices.

    Notes
    -----
    k-SII_T = Σ_R B_r·SII_{T∪R} with Bernoulli's numbers (Bordt and von Luxburg 2023), FBII_T =
    Σ_R (−½)^r·BII_{T∪R} (Tsai, Yeh, Ravikumar 2023), over R outside T with at most k − |T| members.
    """
    if index not in ("k-SII", "FBII"):
        return
    largest = sizes[-1]
    weights = _bernoulli(largest) if index == "k-SII" else [(-0.5) ** r for r in range(largest + 1)]
    # From the smallest size on: those that are added are never changed before.
    for part, size in zip(parts, sizes, strict=True):
        for other, larger in zip(parts, sizes, strict=True):
            if larger <= size:
                continue
            members = coalitions(n_players, larger)
            for kept in combinations(range(larger), size):
                places = ranks(members[:, kept], n_players)
                weighted = weights[larger - size] * other
                np.add.at(part.swapaxes(0, 1), places, weighted.swapaxes(0, 1))


def _bernoulli(most: int) -> list[float]:
    """Return Bernoulli's numbers B_0, …, B_most, with B_1 = −½."""
    numbers = [1.0]
    for n in range(1, most + 1):
        numbers.append(-sum(math.comb(n + 1, r) * b for r, b in enumerate(numbers)) / (n + 1))
    return numbers
