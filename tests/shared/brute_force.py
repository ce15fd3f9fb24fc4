"""Shapley values by brute force over all coalitions: slow, obvious, independent of pkex."""

from dataclasses import dataclass
from math import factorial

import numpy as np


def coalitions(d):
    """All subsets of 0..d-1 as lists; the number of a subset has a bit for each member."""
    return [[j for j in range(d) if number >> j & 1] for number in range(2**d)]


def shapley_weights(d):
    """The matrix W (d, 2^d) with φ = W v for a game v in the order of `coalitions`."""
    weights = np.zeros((d, 2**d))
    for number, members in enumerate(coalitions(d)):
        for j in range(d):
            s = len(members) - (j in members)
            weight = factorial(s) * factorial(d - s - 1) / factorial(d)
            weights[j, number] = weight if j in members else -weight
    return weights


def banzhaf_weights(d):
    """The matrix W (d, 2^d) with β = W v."""
    weights = np.full((d, 2**d), -1.0)
    for number, members in enumerate(coalitions(d)):
        weights[members, number] = 1.0
    return weights / 2 ** (d - 1)


@dataclass(frozen=True)
class Reference:
    """Values (d,) or (d, outputs), and the scale that their errors are measured on."""

    values: np.ndarray
    scale: np.ndarray

    def assert_close(self, values, tolerance=1e-10):
        assert values.shape == self.values.shape
        error = np.abs(values - self.values)
        assert np.all(error <= tolerance * self.scale), np.max(error / self.scale)


def weighted_games(games, weights, index_weights):
    """Values of Σ_p weights_p · games_p, where games is (2^d, p)."""
    single = index_weights @ games
    # Rounding in the brute force itself, where the values of a game nearly vanish.
    floor = 1e-5 * np.abs(games).max(axis=0) if games.size else np.zeros(0)
    return Reference(single @ weights, np.maximum(np.abs(single), floor) @ np.abs(weights))


def neutral(kernel, x, points, coefficients):
    """Neutral game of Σ_i coefficients_i · kernel(x, points_i), for `kernel` of sets of columns.

    The value of a coalition is the kernel on its columns alone; on none it is 1.
    """
    d = len(x)
    games = np.ones((2**d, len(points)))
    for number, members in enumerate(coalitions(d)):
        if members:
            games[number] = kernel(x[None, members], points[:, members])[0]
    return weighted_games(games, coefficients, shapley_weights(d))


def product_games(present, absent, weights, index_weights):
    """Values of Σ_p w_p ∏_{j∈S} a_pj ∏_{j∉S} b_pj."""
    p, d = present.shape
    games = np.empty((2**d, p))
    for number, members in enumerate(coalitions(d)):
        factors = absent.copy()
        factors[:, members] = present[:, members]
        games[number] = factors.prod(axis=1)
    return weighted_games(games, weights, index_weights)


def imputed(output, x, background, weights, members):
    """The mean of `output` over background rows that have the entries of x in some columns."""
    rows = background.copy()
    rows[:, members] = x[members]
    return np.tensordot(weights, output(rows), axes=1)


def interventional(output, x, background, weights=None, groups=None):
    """Interventional game of a model, through its own output; `groups` lists players' columns."""
    if weights is None:
        weights = np.full(len(background), 1.0 / len(background))
    groups = [[j] for j in range(len(x))] if groups is None else groups
    games = np.stack(
        [
            imputed(output, x, background, weights, [j for p in players for j in groups[p]])
            for players in coalitions(len(groups))
        ]
    )
    values = np.tensordot(shapley_weights(len(groups)), games, axes=1)
    return Reference(values, np.abs(games).max(axis=0) * np.ones_like(values)), games[0]


def assert_explained(explainer, output, rows, background, tolerance=1e-10, **options):
    """Interventional values and base values of rows equal brute force through a model's output.

    Rows may be of a table; `options` are the weights and the groups of `interventional`.
    """
    for row, found in zip(np.asarray(rows), explainer(rows), strict=True):
        reference, base = interventional(
            lambda some: np.asarray(output(some)), row, np.asarray(background), **options
        )
        reference.assert_close(found.values, tolerance)
        # A base value is a mean of outputs, which has smaller errors than differences of them.
        error = np.abs(found.base_values - base)
        assert np.all(error <= 0.01 * tolerance * reference.scale.max(axis=0))


def conditional_weights(x, background, weights, kernel, regularization, members, *, normalize=True):
    """Weights of background rows beside x in some columns, by a kernel function of two tables."""
    if not members:
        return weights
    own, others = x[None, members], background[:, members]
    matrix = kernel(others, others, members) + regularization * np.diag(1.0 / weights)
    found = np.linalg.solve(matrix, kernel(others, own, members)[:, 0])
    return found + (1.0 - found.sum()) * weights if normalize else found


def observational(
    output,
    x,
    background,
    kernel,
    regularization=1e-3,
    weights=None,
    groups=None,
    *,
    normalize=True,
    embedding="absent",
):
    """Observational game of a model, through its own output and weights solved for here."""
    if weights is None:
        weights = np.full(len(background), 1.0 / len(background))
    groups = [[j] for j in range(len(x))] if groups is None else groups
    worths = []
    for players in coalitions(len(groups)):
        members = [j for player in players for j in groups[player]]
        share = conditional_weights(
            x, background, weights, kernel, regularization, members, normalize=normalize
        )
        if len(members) == len(x):
            worths.append(output(x[None])[0])
        else:
            replaced = members if embedding == "absent" else []
            worths.append(imputed(output, x, background, share, replaced))
    return shapley_weights(len(groups)) @ np.array(worths)


def marginal(output, x, background, weights=None, groups=None):
    """The game with players independent of each other, by all combinations of background rows."""
    n, d = len(background), len(x)
    groups = [[j] for j in range(d)] if groups is None else groups
    weights = np.full(n, 1.0 / n) if weights is None else weights
    chosen = np.indices((n,) * len(groups)).reshape(len(groups), -1)
    rows = np.empty((chosen.shape[1], d))
    for number, columns in zip(chosen, groups, strict=True):
        rows[:, columns] = background[number][:, columns]
    return interventional(output, x, rows, weights[chosen].prod(axis=0), groups)
