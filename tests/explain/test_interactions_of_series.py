"""Interactions of kernels that are power series equal their definitions."""

import numpy as np
import pytest
from brute_force import coalitions
from brute_force_interactions import exact, interventional_worths, marginal_worths

import pkex
from pkex.games.indices import INDICES
from pkex.kernels import RBF, Additive, Polynomial

RNG = np.random.default_rng(3)
POINTS, ROWS, BACKGROUND = (RNG.normal(size=(n, 5)) for n in (12, 2, 3))
ALPHAS = np.cos(np.arange(12.0))
GROUPS, OF_GROUPS = {"pair": [0, 3]}, [[0, 3], [1], [2], [4]]
SINGLE = [[0], [1], [2], [3], [4]]


def polynomial(x, y):
    return (0.3 * x @ y.T + 0.8) ** 3


def gaussian(x, y):
    return np.exp(-0.125 * ((x[:, None] - y) ** 2).sum(axis=2))


def additive(x, y):
    """Orders 1 to 3 by the recursion over columns."""
    sums = np.zeros((4, len(x), len(y)))
    sums[0] = 1.0
    for j in range(x.shape[1]):
        own = gaussian(x[:, [j]], y[:, [j]])
        sums[1:] += own * sums[:-1]
    return sums[1] + 0.5 * sums[2] + 2.0 * sums[3]


# name: kernel, and the same of as many columns as there are
KERNELS = {
    "polynomial": (Polynomial(3, 0.3, 0.8), polynomial),
    "times a Gaussian": (
        Polynomial(3, 0.3, 0.8) * RBF(2.0),
        lambda x, y: polynomial(x, y) * gaussian(x, y),
    ),
    "additive": (Additive(RBF(2.0), 3, [1.0, 0.5, 2.0]), additive),
}


def worths_of(formula, row, game, groups):
    if game == "neutral":
        members = [[j for p in players for j in groups[p]] for players in coalitions(len(groups))]
        worths = [formula(row[None, S], POINTS[:, S])[0] @ ALPHAS for S in members]
        return np.array(worths)
    worths = interventional_worths if game == "interventional" else marginal_worths
    return worths(lambda rows: formula(rows, POINTS) @ ALPHAS, row, BACKGROUND, groups)


@pytest.mark.parametrize("is_grouped", [False, True], ids=["single", "grouped"])
@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal"])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name", KERNELS)
def test_interactions_equal_their_definitions(name, index, game, is_grouped):
    kernel, formula = KERNELS[name]
    expansion = pkex.KernelExpansion(POINTS, ALPHAS, kernel)
    background = None if game == "neutral" else BACKGROUND
    explainer = pkex.Explainer(
        expansion, background, value_function=game, groups=GROUPS if is_grouped else None
    )
    worths = worths_of(formula, ROWS[1], game, OF_GROUPS if is_grouped else SINGLE)
    for order in (2, 3):
        expected = exact(worths, index, order)
        found = explainer.interactions(ROWS, index=index, order=order).to_shapiq()[1]
        assert set(expected) <= {(), *found.interaction_lookup}
        for members, value in expected.items():
            assert abs(found[members] - value) <= 1e-11 * np.abs(worths).max(), members
