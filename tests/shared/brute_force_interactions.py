"""Interaction indices from the worths of all coalitions, by their definitions."""

import warnings
from itertools import combinations
from math import comb

import numpy as np
from brute_force import coalitions, imputed
from shapiq.game_theory.exact import ExactComputer


def moebius(worths):
    """Möbius coefficients from the worths of all coalitions, in the order of `coalitions`."""
    coefficients = np.array(worths, dtype=float)
    for player in range(int(np.log2(len(worths)))):
        with_player = np.flatnonzero(np.arange(len(worths)) >> player & 1)
        coefficients[with_player] -= coefficients[with_player - 2**player]
    return coefficients


def faithful_shapley(worths, order):
    """FSII by the Möbius coefficients (Tsai, Yeh, Ravikumar 2023, theorem 19)."""
    d = int(np.log2(len(worths)))
    coefficients = {
        tuple(members): value for members, value in zip(coalitions(d), moebius(worths), strict=True)
    }
    values = {}
    for size in range(1, order + 1):
        for members in combinations(range(d), size):
            scale = (-1) ** (order - size) * size / (order + size) * comb(order, size)
            others = sum(
                comb(len(larger) - 1, order) / comb(len(larger) + order - 1, order + size) * value
                for larger, value in coefficients.items()
                if len(larger) > order and set(members) <= set(larger)
            )
            values[members] = coefficients[members] + scale * others
    return values


def exact(worths, index, order):
    """The index as a dictionary by coalitions, the empty one among them."""
    d = int(np.log2(len(worths)))
    if index == "FSII":  # shapiq's is a least-squares fit, off by 1e-9
        return {(): worths[0]} | faithful_shapley(worths, order)

    def worth(rows):
        return worths[np.asarray(rows, dtype=int) @ (1 << np.arange(d))]

    # Its chaining index has no coefficient of the empty coalition, and warns of it.
    with warnings.catch_warnings(action="ignore"):
        found = ExactComputer(n_players=d, game=worth)(index, order)
    expected = {m: found[m] for m in found.interaction_lookup if len(m) <= order}
    return expected | {(): worths[0]} if index == "CHII" else expected


def neutral_worths(kernel, x, points, coefficients, intercept, groups):
    """Worths of a model's fitted coefficients times its kernel on the columns of coalitions."""
    worths = []
    for players in coalitions(len(groups)):
        columns = [column for player in players for column in groups[player]]
        ones = np.ones(len(points))
        values = kernel(x[None, columns], points[:, columns])[0] if columns else ones
        worths.append(values @ coefficients + intercept)
    return np.array(worths)


def interventional_worths(output, x, background, groups):
    """Worths through the model's own output."""
    weights = np.full(len(background), 1 / len(background))
    return np.array(
        [
            imputed(output, x, background, weights, [j for p in players for j in groups[p]])
            for players in coalitions(len(groups))
        ]
    )


def marginal_worths(output, x, background, groups):
    """Worths with players independent of each other, by all combinations of background rows."""
    chosen = np.indices((len(background),) * len(groups)).reshape(len(groups), -1)
    rows = np.empty((chosen.shape[1], len(x)))
    for numbers, columns in zip(chosen, groups, strict=True):
        rows[:, columns] = background[numbers][:, columns]
    return interventional_worths(output, x, rows, groups)
