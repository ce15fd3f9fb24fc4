"""Values of the features of items; each feature is present in both items or absent from both.

The value function is (Hu, Chau, Ferrando Huertas and Sejdinovic 2022, Explaining preferences with
Shapley values, NeurIPS)

    v(S) = E f((a_S, X_{S^c}), (b_S, X'_{S^c})) = E h(a_S X, b_S X') − E h(b_S X', a_S X)

with independent items X, X'. So v(∅) is 0, and values change sign if a and b are swapped. For a
utility, f(a, b) = u(a) − u(b), values are the differences of those of u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.games.coalitions import all_coalitions
from pkex.games.conditioning import ConditionalBackground
from pkex.games.indices import SHAPLEY, quantity_from_values
from pkex.kernels import Kernel
from pkex.kernels.domain import Domain
from pkex.kernels.factors import expand_terms, has_mixtures
from pkex.kernels.restrictions import are_products
from pkex.models.conditional_kernel import ConditionalKernel, ConditionalRows
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.marginal_values import marginal_values
from pkex.models.preferences.preferential import Preferential
from pkex.typing import Float

# The number of kernel values, and of values of coalitions, in memory at a time.
_MAX_NUMBERS = 1 << 24
# The number of duels of items against all in memory at a time.
_MAX_DUELS = 1 << 16


def item_values(f: Preferential, duels: Duels, absent: Absent, computation: Computation) -> Float:
    """Return the values of players, features of items, shape (n, p)."""
    if absent.is_conditional and f.is_of_both:
        players = absent.players.of_column
        return _by_coalitions(f, duels, absent.conditioning(), players, computation)
    terms = f.kernel.terms(f.n_features)
    if f.is_of_both and absent.value_function == "marginal" and are_products(terms):
        return marginal_values(f, terms, duels, absent, computation)
    return _by_engine(f, duels, absent, computation)


def _by_engine(f: Preferential, duels: Duels, absent: Absent, computation: Computation) -> Float:
    """Return differences of the values of the function `one_way`."""
    game, players = absent.game_of(f), absent.players.of_column
    conditioning = absent.conditioning() if absent.is_conditional else None
    values = np.empty((len(duels.left), len(absent.players)))
    for number, part in computation.over(np.unique(duels.numbers)):
        mask = duels.numbers == number
        left, right = duels.left[mask], duels.right[mask]
        one_way: Function = f.one_way(duels.coefficients[:, number], players)
        if conditioning is not None:
            one_way = Conditional(one_way, conditioning)
        rows = np.concatenate(f.rows_of(left, right))
        one_way_values = one_way.explain(rows, game=game, computation=part)[..., 0]
        values[mask] = one_way_values[: len(left)] - one_way_values[len(left) :]
    return values


def _by_coalitions(
    f: Preferential,
    duels: Duels,
    conditioning: ConditionalBackground,
    players: NDArray[np.int64],
    computation: Computation,
) -> Float:
    """Return values from the values of all coalitions, in blocks of duels.

    `players` are the numbers of each column's player.
    """
    n, members = len(duels.left), all_coalitions(players)
    values = []
    for block, part in computation.over(blocks_of(n, _MAX_NUMBERS // len(members))):
        coalition_values = _coalition_values(f, duels[block], conditioning, members, part)
        values.append(quantity_from_values(coalition_values, SHAPLEY))
    conditioning.warn_of_matching_rows(np.concatenate([duels.left, duels.right]), players)
    return np.concatenate(values)


def _coalition_values(
    f: Preferential,
    duels: Duels,
    conditioning: ConditionalBackground,
    members: NDArray[np.bool_],
    computation: Computation,
) -> Float:
    """Return the values of all coalitions in each duel, shape (n, 2^p).

    `members` are the columns of each coalition, as booleans of shape (2^p, d).
    """
    items, a, b = duels.distinct_items()
    points = np.concatenate([f.left, f.right])
    kernel = _conditional_kernel(f.kernel, points, items, conditioning)
    # v(∅) is 0, and the value of all features is f.
    coalition_values = np.zeros((len(duels.left), len(members)))
    coalition_values[:, -1] = _differences(duels, f.kernel(points, items), a, b)
    partial = members[1:-1]
    weights = conditioning.weights(items, list(partial))
    for number, (present, of_items) in enumerate(zip(partial, weights, strict=True), start=1):
        coalition_values[:, number] = _differences(duels, kernel(of_items, present), a, b)
        computation.report(number, len(partial))
    return coalition_values


def _conditional_kernel(
    kernel: Kernel, points: Float, items: Float, conditioning: ConditionalBackground
) -> ConditionalKernel | ConditionalRows:
    """Return the conditional expectations of the kernel between points and items."""
    background = np.asarray(conditioning.rows)
    if conditioning.settings.embedding == "rows":
        return ConditionalRows(kernel, points, items, background)
    terms = kernel.terms(items.shape[1])
    if has_mixtures(terms):
        terms = expand_terms(terms, Domain.of(np.concatenate([points, items, background])))
    return ConditionalKernel(terms, points, items, background)


def _differences(duels: Duels, means: Float, a: NDArray[np.intp], b: NDArray[np.intp]) -> Float:
    """Return Σ_i α_i [Γ(l_i, a) Γ(r_i, b) − Γ(l_i, b) Γ(r_i, a)] for duels, shape (n,).

    Parameters
    ----------
    duels : Duels
    means : ndarray of shape (2 p, items)
        Γ, the rows of the left items before the rows of the right ones.
    a, b : ndarray of int, shape (n,)
        The numbers of the items of each duel.
    """
    left, right = np.split(means, 2)
    differences = [np.empty(0)]
    for block in blocks_of(len(a), _MAX_NUMBERS // len(left)):
        direct = left[:, a[block]] * right[:, b[block]]
        crossed = left[:, b[block]] * right[:, a[block]]
        alpha = duels.coefficients[:, duels.numbers[block]]
        differences.append(np.einsum("pn,pn->n", alpha, direct - crossed))
    return np.concatenate(differences)


def item_values_against_all(
    f: Preferential, duels: Duels, absent: Absent, computation: Computation
) -> Float:
    """Return the mean values of duels with all rows of `absent` as right items, shape (n, p).

    Parameters
    ----------
    f : Preferential
    duels : Duels
        Right items are ignored.
    """
    n, m = len(duels.left), len(absent.rows)
    means = []
    for block, part in computation.over(blocks_of(n, _MAX_DUELS // m)):
        left = duels.left[block]
        block_duels = Duels(
            np.repeat(left, m, axis=0),
            np.tile(absent.rows, (len(left), 1)),
            duels.coefficients,
            np.repeat(duels.numbers[block], m),
        )
        values = item_values(f, block_duels, absent, part)
        means.append(values.reshape(len(left), m, -1).mean(axis=1))
    return np.concatenate(means)
