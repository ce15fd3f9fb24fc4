"""Expansions whose kernels are mixtures: rows near and far, each as if it were explained alone."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights, weighted_games

import pkex
from pkex.functions.packing import Packing
from pkex.kernels import RBF, Matern, RationalQuadratic

D = 4
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(30, D))
POINTS[:, 3] = 5.0  # constant
COEFFICIENTS = RNG.normal(size=30)
DISTANCES = np.array([0.0, 1.0, 3.0, 10.0, 1e3, 1e6])
ROWS = RNG.normal(size=(6, D)) * (1.0 + DISTANCES[:, None])
KERNELS = {
    "matern": Matern(2.0, 2.5),
    "rational quadratic": RationalQuadratic([1.0, 2.0, 3.0, 1e3], 0.3),
    "sum": Matern(1.0) + 0.5 * RBF(2.0) * RationalQuadratic(2.0, 5.0).on([0, 3]),
}


@pytest.fixture(params=KERNELS)
def expansion(request):
    return pkex.KernelExpansion(POINTS, COEFFICIENTS, KERNELS[request.param], 0.5)


def neutral_games(kernel, row, points):
    games = np.empty((2**D, len(points)))
    for number, members in enumerate(coalitions(D)):
        rows = points.copy()
        rows[:, members] = row[members]
        games[number] = np.diag(kernel(rows, points))
    return games


def interventional(expansion, row, background):
    """Through the kernel itself: the mean output where features outside are the background's."""
    games = np.empty((2**D, 1))
    for number, members in enumerate(coalitions(D)):
        rows = background.copy()
        rows[:, members] = row[members]
        games[number] = (expansion.kernel(rows, expansion.points) @ expansion.coefficients).mean()
    return weighted_games(games, np.ones(1), shapley_weights(D)).values


def test_rows_at_any_distance_equal_brute_force(expansion):
    found = pkex.Explainer(expansion, value_function="neutral").shap_values(ROWS)
    for row, values in zip(ROWS, found, strict=True):
        games = neutral_games(expansion.kernel, row, POINTS)
        reference = weighted_games(games, COEFFICIENTS, shapley_weights(D))
        np.testing.assert_allclose(
            values, reference.values, rtol=0, atol=3e-12 * np.abs(COEFFICIENTS).sum()
        )
    np.testing.assert_allclose(
        expansion.predict(ROWS),
        expansion.kernel(ROWS, POINTS) @ COEFFICIENTS + 0.5,
        rtol=0,
        atol=3e-12 * np.abs(COEFFICIENTS).sum(),
    )


@pytest.mark.parametrize("distance", [0.0, 100.0])
def test_backgrounds_at_any_distance_equal_brute_force(expansion, distance):
    background = RNG.normal(size=(5, D)) + distance
    explanation = pkex.Explainer(expansion, background)(ROWS)
    scale = 3e-12 * np.abs(COEFFICIENTS).sum()
    for row, values in zip(ROWS, explanation.values, strict=True):
        np.testing.assert_allclose(
            values, interventional(expansion, row, background), rtol=0, atol=scale
        )
    np.testing.assert_allclose(
        explanation.base_values, expansion.predict(background).mean(), rtol=0, atol=scale
    )


@pytest.mark.parametrize("options", [{}, {"background": POINTS[:4]}, {"value_function": "neutral"}])
def test_bits_do_not_depend_on_which_rows_are_explained_together(expansion, options):
    explainer = pkex.Explainer(expansion, **options)
    together = explainer(ROWS)
    alone = [explainer(row[None]) for row in ROWS]
    np.testing.assert_array_equal(together.values, np.concatenate([e.values for e in alone]))
    pairs = explainer.interactions(ROWS, index="SII")
    pair_alone = [explainer.interactions(row[None], index="SII").values for row in ROWS]
    np.testing.assert_array_equal(pairs.values, np.concatenate(pair_alone))
    np.testing.assert_array_equal(
        expansion.predict(ROWS), np.concatenate([expansion.predict(row[None]) for row in ROWS])
    )


def test_pickled_and_grouped_expansions_explain_alike(expansion):
    explainer = pkex.Explainer(expansion, groups={"a": [0, 2]})
    restored = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(restored.shap_values(ROWS), explainer.shap_values(ROWS))
    total = explainer(ROWS).values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, expansion.predict(ROWS), rtol=0, atol=1e-10)


def test_reaches_are_of_the_farthest_point_in_units_of_the_range():
    points = np.array([[0.0, 7.0], [1.0, 7.0]])
    packing = Packing(points, np.ones((2, 1)), Matern())
    rows = [[0.5, 7.0], [2.0, 7.0], [2.1, 7.0], [-3.0, 7.0], [-3.1, 7.0], [0.5, 21.0], [0.5, 22.0]]
    assert packing.reaches(np.array(rows)).tolist() == [0, 0, 1, 1, 2, 0, 1]


def test_coefficients_that_cancel_get_smaller_errors():
    X = np.linspace(0.0, 1.0, 30)[:, None] * np.ones(2)
    kernel = Matern(1.0, 2.5)
    smooth = np.linalg.solve(kernel(X) + 1e-9 * np.eye(30), np.sin(3.0 * X[:, 0]))
    assert np.abs(smooth).sum() > 500.0
    f = pkex.KernelExpansion(X, smooth, kernel)
    rows = X + 0.01
    error = np.abs(f.predict(rows) - kernel(rows, X) @ smooth)
    assert error.max() < 1e-13 * np.abs(smooth).sum()


def test_progress_of_rows_of_several_reaches_is_one(expansion):
    reports = []
    pkex.Explainer(expansion, value_function="neutral")(
        np.tile(ROWS, (50, 1)), progress=lambda done, total: reports.append(done / total)
    )
    assert reports == sorted(reports)
    assert reports[-1] == 1.0


DIGEST = """
import hashlib, numpy as np, pkex
from pkex.kernels import Matern, RationalQuadratic, Tanimoto
X = np.random.default_rng(0).normal(size=(60, 6))
found = hashlib.sha256()
for kernel in (Matern(1.3, 2.5), Matern(1.3, 0.7), RationalQuadratic(1.0, 0.3), Tanimoto()):
    rows = np.round(np.abs(X)) if kernel == Tanimoto() else X
    f = pkex.KernelExpansion(rows, X[:, 0], kernel)
    found.update(pkex.Explainer(f).shap_values(rows[:5]).tobytes())
print(found.hexdigest())
"""


def test_bits_do_not_depend_on_the_threads_of_linear_algebra():
    names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | dict.fromkeys(names, count),
            check=True,
            capture_output=True,
        ).stdout
        for count in ("1", "4")
    }
    assert len(found) == 1


def test_expansions_without_points_are_constant():
    f = pkex.KernelExpansion(np.empty((0, 2)), [], Matern(), 3.0)
    assert f.predict([[1.0, 2.0]]).tolist() == [3.0]
    assert pkex.Explainer(f, value_function="neutral").shap_values([[1.0, 2.0]]).tolist() == [
        [0, 0]
    ]
