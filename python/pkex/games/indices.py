"""Interaction indices as integrals of product games.

For a product game with factors F_l(t) = b_l + t·c_l, every index here has the coefficient
c_T ∫ ∏_{l∉T} F_l dμ of a coalition T. The measure μ on [0, 1] depends on the index, the size of T
and, for some indices, the order k (docs/mathematics.md). For k-SII and FBII, the coefficient is a
sum of such integrals over supersets of T.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Literal, TypeAlias, get_args

import numpy as np

from pkex import _core
from pkex.execution.progress import parts_of
from pkex.games.coalitions import all_coalitions, coalitions
from pkex.inputs.arrays import read_only
from pkex.typing import Float

# The supported indices, for type checkers and for checks of arguments.
Index: TypeAlias = Literal[
    "k-SII", "SII", "STII", "FSII", "BII", "FBII", "Moebius", "Co-Moebius", "CHII"
]
INDICES: tuple[Index, ...] = get_args(Index)


@dataclass(frozen=True)
class Quantity:
    """Description of the coefficients c_T ∫ ∏_{l∉T} F_l dμ of all coalitions T of a size.

    Parameters
    ----------
    size : int
        The number of players of T; 0 for the empty coalition.
    measure : float or tuple of float and three int
        A float t for all mass at t. (s, i, j, m) for the density s·t^i (1−t)^j P_m(1−2t) with
        Jacobi's polynomial of degree m and parameters j+1 and i; (1.0, 0, 0, 0) is the uniform one.
    """

    size: int
    measure: float | tuple[float, int, int, int]


_UNIFORM = (1.0, 0, 0, 0)
SHAPLEY, PAIRS = Quantity(1, _UNIFORM), Quantity(2, _UNIFORM)


def quantities(index: Index, order: int) -> list[Quantity]:
    """Return the quantities to compute for an index: the coefficients of sizes 1, …, order.

    Size 0 precedes them if the coefficient of the empty coalition differs from its value v(∅).
    """
    smallest = 0 if _has_own_base(index, order) else 1
    return [Quantity(size, _measure(index, size, order)) for size in range(smallest, order + 1)]


def _has_own_base(index: Index, order: int) -> bool:
    return index in ("BII", "FBII") or (index == "SII" and order > 1)


def _measure(index: Index, size: int, order: int) -> float | tuple[float, int, int, int]:
    # Grabisch and Roubens (1999): SII, BII, CHII; Fujimoto et al. (2006) as measures on t.
    if index in ("SII", "k-SII"):
        return _UNIFORM
    if index in ("BII", "FBII"):
        return 0.5
    if index == "Co-Moebius":
        return 1.0
    if index == "CHII":
        return float(size), size - 1, 0, 0
    if index == "STII" and size == order:
        # Sundararajan, Dhamdhere, Agarwal (2020): k(1−t)^{k−1}.
        return float(order), 0, order - 1, 0
    if index == "FSII":
        # Tsai, Yeh, Ravikumar (2023), as an integral: (k+τ−1)!/((τ−1)!(k−τ)!(k−1)!) ·
        # t^{−1}(d/dt)^{k−τ}[t^k(1−t)^{k−1}], by Rodrigues' formula for Jacobi's polynomials.
        scale = math.perm(order + size - 1, size) / math.factorial(size - 1)
        return scale, size - 1, size - 1, order - size
    return 0.0


def add_supersets(
    index: Index,
    parts: Sequence[Float],
    sizes: Sequence[int],
    n_players: int,
    n_threads: int,
    report: Callable[[int, int], None] | None = None,
) -> None:
    """Convert coefficients of SII or BII in place into coefficients of k-SII or FBII.

    Parameters
    ----------
    index : str
    parts : sequence of ndarray of shape (n, coalitions, outputs)
        The coefficients of each size, in the order of `sizes`; unchanged for other indices.

    Notes
    -----
    k-SII_T = Σ_R B_r·SII_{T∪R} with Bernoulli's numbers (Bordt and von Luxburg 2023), FBII_T =
    Σ_R (−½)^r·BII_{T∪R} (Tsai, Yeh, Ravikumar 2023), over R outside T with at most k − |T| members.
    """
    if index not in ("k-SII", "FBII"):
        return
    largest = sizes[-1]
    weights = _bernoulli(largest) if index == "k-SII" else [(-0.5) ** r for r in range(largest + 1)]
    pairs = [
        (small, large)
        for small, large in combinations(range(len(sizes)), 2)
        if weights[sizes[large] - sizes[small]] != 0.0
    ]
    reports = parts_of(report, *[float(parts[large].size) for _, large in pairs])
    # In ascending order of sizes, so that coefficients are added before they are changed.
    for (small, large), pair_report in zip(pairs, reports, strict=True):
        sums = _core.superset_sums(
            parts[large],
            n_players,
            sizes[large],
            sizes[small],
            n_threads=n_threads,
            progress=pair_report,
        )
        parts[small][...] += weights[sizes[large] - sizes[small]] * sums


def _bernoulli(largest: int) -> list[float]:
    """Return the Bernoulli numbers B_0, …, B_most, with B_1 = −½."""
    numbers = [1.0]
    for n in range(1, largest + 1):
        numbers.append(-sum(math.comb(n + 1, r) * b for r, b in enumerate(numbers)) / (n + 1))
    return numbers


def quantity_from_values(values: Float, quantity: Quantity) -> Float:
    """Return the coefficients of a quantity, given the values of all coalitions of few players.

    The coefficient of T is Σ_S w_|S| Δ_T v(S) over the coalitions S outside T. It is Δ_T of the
    multilinear extension, integrated over the measure μ, so w_s = ∫ t^s (1−t)^(p−|T|−s) dμ(t).

    Parameters
    ----------
    values : ndarray of shape (n, 2^p) or (n, 2^p, outputs)
        The values of all coalitions, by number.
    quantity : Quantity

    Returns
    -------
    ndarray of shape (n, coalitions) or (n, coalitions, outputs)
    """
    if values.ndim == 3:
        by_output = map(np.ascontiguousarray, np.moveaxis(values, 2, 0))
        return np.stack([quantity_from_values(games, quantity) for games in by_output], axis=-1)
    n_games = len(values)
    n_players = values.shape[1].bit_length() - 1
    weights = _weights(quantity, n_players - quantity.size)
    coefficients = []
    for members in coalitions(n_players, quantity.size):
        change = values
        for n_removed, player in enumerate(members.tolist()):
            # The coalitions without the player, and with it; smaller members are removed already.
            halves = change.reshape(n_games, -1, 2, 2 ** (player - n_removed))
            change = (halves[:, :, 1] - halves[:, :, 0]).reshape(n_games, -1)
        coefficients.append(np.einsum("ns,s->n", change, weights))
    return np.stack(coefficients, axis=1)


@lru_cache(maxsize=64)
def _weights(quantity: Quantity, n_others: int) -> Float:
    """Return the weights w_|S| of all coalitions S of other players, by number."""
    sizes = np.zeros(1, dtype=np.intp)
    for _ in range(n_others):
        sizes = np.concatenate([sizes, sizes + 1])
    moments = np.array([_moment(quantity, s, n_others - s) for s in range(n_others + 1)])
    return read_only(moments[sizes])


def shapley_matrix(n_players: int) -> Float:
    """Return the matrix that maps values of all coalitions to Shapley values, shape (p, 2^p)."""
    members = all_coalitions(np.arange(n_players)).T
    sizes = members.sum(axis=0)
    moments = np.array([_moment(SHAPLEY, s, n_players - 1 - s) for s in range(n_players)])
    # The weights of coalitions with and without the player.
    weights_with, weights_without = np.append(0.0, moments)[sizes], np.append(moments, 0.0)[sizes]
    matrix: Float = np.where(members, weights_with, -weights_without)
    return matrix


def _moment(quantity: Quantity, s: int, n_absent: int) -> float:
    """Return ∫ t^s (1−t)^n_absent dμ(t)."""
    if isinstance(quantity.measure, float):
        t = quantity.measure
        return float(t**s * (1.0 - t) ** n_absent)
    # The Jacobi polynomial P_m(1−2t) is Σ_k C(m+j+1, m−k) C(m+i, k) (−t)^k (1−t)^(m−k)
    # (Szegő, 4.3.2), and ∫ t^a (1−t)^b dt = a! b! / (a+b+1)!.
    scale, i, j, m = quantity.measure
    total = Fraction(0)
    for k in range(m + 1):
        a, b = i + s + k, j + n_absent + m - k
        beta = Fraction(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))
        total += (-1) ** k * math.comb(m + j + 1, m - k) * math.comb(m + i, k) * beta
    return scale * float(total)
