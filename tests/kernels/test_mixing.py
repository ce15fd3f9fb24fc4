"""Kernel values of rows that are mixed from a row and background rows."""

import numpy as np
import pytest

from pkex.games.coalitions import all_coalitions
from pkex.kernels import (
    RBF,
    Laplacian,
    Matern,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
    Tanimoto,
)
from pkex.kernels.mixing import mixed_rows

KERNELS = {
    "product": ProductMatern([0.5, 1.0, 2.0, 3.0]),
    "radial": Matern([0.5, 1.0, 2.0, 3.0], nu=2.5),
    "any smoothness": Matern(2.0, nu=0.9),
    "radial of some columns": RationalQuadratic(alpha=0.7).on([2, 0]) * Laplacian(1.5),
    "sum": 2.0 * RBF(1.0) + 0.5 * Matern(3.0, nu=1.5).on([1]),
    "series": Polynomial(degree=3, gamma=0.5, coef0=1.0) * RBF(2.0),
    "reciprocal": Tanimoto(),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("players", [(0, 1, 2, 3), (1, 0, 1, 0)])
def test_values_of_coalitions_are_those_of_the_mixed_rows(name, players):
    rng = np.random.default_rng(0)
    row, background, points = (rng.random(shape) for shape in (4, (3, 4), (5, 4)))
    # Also coalitions in any order, one of them twice in turn.
    for order in (slice(None), [2, 0, 0, 3, 1]):
        members = all_coalitions(np.array(players))[order]
        mixed = mixed_rows(row, background, members)
        assert (mixed[:3][:, members[0]] == row[members[0]]).all()
        for term in KERNELS[name].terms(4):
            found = term.mixing(row, background, points)(members)
            expected = term.evaluated(mixed, points).reshape(len(members), 3, 5)
            np.testing.assert_allclose(found, expected, rtol=1e-13)
