"""Quadrature rules of distributions: as exact as sums over samples, whatever the density."""

import itertools
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from brute_force_sensitivity import Grid
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVR

import pkex
from pkex.kernels import RBF, Laplacian, Matern
from pkex.sensitivity.distributions import distribution_of

NOTHING = np.empty(0)
CONTINUOUS = {
    "uniform": stats.uniform(2.0, 3.0),
    "far from 0": stats.norm(1e8, 1.0),
    "huge": stats.norm(0.0, 1e150),
    "poles": stats.beta(0.5, 0.5),
    "pole": stats.gamma(0.3),
    "kink": stats.triang(0.3),
    "heavy tails": stats.t(3.0),
    "heavy tail": stats.lognorm(1.5),
    "six decades": stats.loguniform(1e-3, 1e3),
    "truncated": stats.truncnorm(-1.0, 3.0),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_rules_have_the_moments_of_their_distributions(name):
    frozen = CONTINUOUS[name]
    for level in (0, 1):
        entries, weights = distribution_of(frozen, "x").rule(level, NOTHING)
        assert math.isclose(weights.sum(), 1.0, rel_tol=1e-14)
        rounding = 1e-11 + 4.0 * np.spacing(abs(frozen.mean())) / frozen.std()
        assert abs(weights @ entries - frozen.mean()) < rounding * frozen.std()
        squares = ((entries - frozen.mean()) / frozen.std()) ** 2
        assert abs(weights @ squares - 1.0) < rounding
        # P(X < m) has a jump in a panel: it is as near as a node's weight.
        assert abs(weights[entries < frozen.median()].sum() - 0.5) < 2.0 * weights.max()


@pytest.mark.parametrize("frozen", [stats.truncnorm(5.0, np.inf), stats.exponweib(2.0, 1.5)])
def test_rules_are_more_exact_than_variances_that_scipy_integrates(frozen):
    entries, weights = distribution_of(frozen, "x").rule()
    low = frozen.support()[0]
    nodes, shares = gauss(200, low, low + 12.0, frozen.pdf)
    mean = nodes @ shares
    variance = shares @ (nodes - mean) ** 2
    assert abs(weights @ (entries - weights @ entries) ** 2 / variance - 1.0) < 1e-12


@pytest.mark.parametrize(
    ("frozen", "n_values"),
    [
        (stats.randint(-1, 4), 5),
        (stats.bernoulli(0.3), 2),
        (stats.poisson(2.0), None),
        (stats.geom(0.3), None),
        (stats.rv_discrete(values=([1.5, 2.0, 4.0], [0.2, 0.3, 0.5]))(loc=2.0), 3),
    ],
)
def test_discrete_distributions_are_their_values(frozen, n_values):
    entries, weights = distribution_of(frozen, "x").rule(0, NOTHING)
    assert n_values is None or len(entries) == n_values
    assert math.isclose(weights @ entries, frozen.mean(), rel_tol=1e-12)
    assert math.isclose(weights @ (entries - frozen.mean()) ** 2, frozen.var(), rel_tol=1e-12)


POINTS = np.array([[0.2, -1.0], [0.7, 1.5], [-0.4, 0.3]])
ALPHAS = np.array([1.0, -2.0, 0.7])


def gauss(n_panels, low, high, density):
    """A fine composite rule, written independently."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(low, high, n_panels + 1)
    half = np.diff(edges)[:, None] / 2.0
    entries = edges[:-1, None] + half * (nodes + 1.0)
    return entries.ravel(), (half * weights * density(entries)).ravel()


@pytest.mark.parametrize("kernel", [RBF([0.3, 2.0]), Laplacian([0.5, 1.0])])
def test_indices_are_those_of_fine_grids(kernel):
    f = pkex.KernelExpansion(POINTS, ALPHAS, kernel)
    frozen = [stats.beta(2.0, 3.0, -1.0, 3.0), stats.norm(0.5, 0.8)]
    result = pkex.sensitivity(f, frozen, order=2)
    # Kinks at the points are edges of panels.
    first = [gauss(4, a, b, frozen[0].pdf) for a, b in itertools.pairwise([-1, -0.4, 0.2, 0.7, 2])]
    second = [gauss(4, a, b, frozen[1].pdf) for a, b in itertools.pairwise([-7, -1, 0.3, 1.5, 8])]
    rules = [[np.concatenate(part) for part in zip(*own, strict=True)] for own in (first, second)]
    (u, w), (v, x) = rules
    Grid(f.predict, [u, v], [w / w.sum(), x / x.sum()]).assert_close(result)


def test_distributions_are_given_by_name_or_in_order():
    f = pkex.KernelExpansion(POINTS, ALPHAS, RBF(), feature_names=["width", "height"])
    frozen = {"height": stats.norm(0.5, 0.8), "width": stats.randint(0, 3)}
    by_name = pkex.sensitivity(f, frozen)
    in_order = pkex.sensitivity(f, [frozen["width"], frozen["height"]])
    assert by_name.feature_names == ["width", "height"]
    assert np.array_equal(by_name.shapley_effects, in_order.shapley_effects)
    assert by_name.notes == ()


def test_names_of_columns_may_be_numbers():
    frozen = [stats.norm(0.5, 0.8), stats.randint(0, 3)]
    of_parts = partial(pkex.KernelExpansion, POINTS, ALPHAS, RBF([0.3, 2.0]))
    expected = pkex.sensitivity(of_parts(), frozen).shapley_effects
    for names, numbers in [(None, (0, 1)), (["0", "1"], (0, 1)), (["1", "0"], (1, 0))]:
        model = of_parts(feature_names=names)
        result = pkex.sensitivity(model, dict(zip(numbers, frozen, strict=True)))
        assert np.array_equal(result.shapley_effects, expected)


@pytest.mark.parametrize("container", [tuple, pd.Series, lambda own: np.array(own, dtype=object)])
def test_distributions_are_given_in_any_list(container):
    frozen = [stats.norm(0.5, 0.8), stats.randint(0, 3)]
    f = pkex.KernelExpansion(POINTS, ALPHAS, RBF([0.3, 2.0]))
    result = pkex.sensitivity(f, container(frozen))
    assert np.array_equal(result.total, pkex.sensitivity(f, frozen).total)
    assert "inputs: 2 independent distributions\n" in repr(result)


def test_columns_of_entries_stand_beside_distributions():
    f = pkex.KernelExpansion(POINTS, ALPHAS, RBF([0.3, 2.0]))
    entries = np.array([0.5, -1.0, 0.5, 2.0])
    discrete = stats.rv_discrete(values=([-1.0, 0.5, 2.0], [0.25, 0.5, 0.25]))()
    expected = pkex.sensitivity(f, [stats.norm(), discrete])
    for given in (entries, pd.Series(entries)):
        for inputs in ([stats.norm(), given], {"x0": stats.norm(), "x1": given}):
            result = pkex.sensitivity(f, inputs)
            np.testing.assert_allclose(result.total, expected.total, rtol=1e-13)


def test_columns_of_strings_stand_beside_distributions():
    frame = pd.DataFrame({"soil": ["clay", "sand", "silt"] * 4, "depth": np.arange(12.0)})
    encoder = ColumnTransformer([("soil", OneHotEncoder(), ["soil"])], remainder="passthrough")
    model = make_pipeline(encoder, SVR()).fit(frame, np.sin(np.arange(12.0)))
    soil = np.array(["clay", "sand", "sand"])
    result = pkex.sensitivity(model, {"soil": soil, "depth": stats.randint(0, 5)})

    def predict(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns).astype({"depth": float}))

    entries = [np.array(["clay", "sand"], dtype=object), np.arange(5.0)]
    Grid(predict, entries, [np.array([1.0, 2.0]) / 3.0, np.full(5, 0.2)]).assert_close(result)


def test_kernels_with_labels_take_discrete_distributions():
    kernel = pkex.kernels.Categorical(0.2).on([0]) * RBF().on([1])
    f = pkex.KernelExpansion([[0.0, 0.0], [2.0, 1.0]], [1.0, 3.0], kernel)
    frozen = [stats.rv_discrete(values=([0, 1, 2], [0.5, 0.2, 0.3]))(), stats.randint(0, 4)]
    result = pkex.sensitivity(f, frozen, order=2)
    weights = [np.array([0.5, 0.2, 0.3]), np.full(4, 0.25)]
    Grid(f.predict, [np.arange(3.0), np.arange(4.0)], weights).assert_close(result)


def test_kernels_of_kinks_are_integrated_near_their_points():
    points = np.array([[0.2, 0.9], [0.6, 0.3]])
    model = pkex.KernelExpansion(points, [1.0, -2.0], Matern(0.5, nu=1.5))
    rules = []
    for column in points.T:
        # Panels that are halved towards the points.
        steps = np.concatenate([2.0 ** -np.arange(10), [0.0]])
        edges = np.unique(np.clip(column[:, None, None] + steps * [[1.0], [-1.0]], 0.0, 1.0))
        nodes, weights = np.polynomial.legendre.leggauss(6)
        widths = np.diff(edges)[:, None]
        entries = edges[:-1, None] + widths * (nodes + 1.0) / 2.0
        rules.append((entries.ravel(), (widths * weights / 2.0).ravel()))
    (u, w), (v, x) = rules
    rows = np.stack(np.meshgrid(u, v, indexing="ij"), axis=-1).reshape(-1, 2)
    outputs = model.predict(rows).reshape(len(u), len(v))
    outputs -= w @ outputs @ x
    found = pkex.sensitivity(model, [stats.uniform(0.0, 1.0)] * 2)
    variance = w @ outputs**2 @ x
    assert math.isclose(found.variance, variance, rel_tol=1e-10)
    assert math.isclose(found.first_order[0] * variance, w @ (outputs @ x) ** 2, rel_tol=1e-10)


@pytest.mark.parametrize(
    "frozen",
    [stats.t(3.0), stats.lognorm(2.0), stats.norm(0.0, 1e4), stats.expon(scale=1e4)],
    ids=["t", "lognorm", "normal", "exponential"],
)
def test_tails_and_widths_of_thousands_of_length_scales_are_integrated(frozen):
    model = pkex.KernelExpansion([[0.4, 0.2]], [1.0], RBF([0.05, 1.0]))
    columns = [(frozen, 0.4, 0.05), (stats.uniform(0.0, 1.0), 0.2, 1.0)]
    result = pkex.sensitivity(model, [column for column, _, _ in columns])
    # Of a product of functions of single columns; where each is not 0.
    ratios = []
    for column, point, scale in columns:
        low, high = np.clip([point - 9.0 * scale, point + 9.0 * scale], *column.support())
        first, second = (
            column.expect(
                lambda x, k=k, p=point, s=scale: np.exp(-0.5 * k * ((x - p) / s) ** 2),
                lb=low,
                ub=high,
                epsabs=0.0,
                epsrel=1e-12,
            )
            for k in (1.0, 2.0)
        )
        ratios.append(second / first**2 - 1.0)
    shares = np.array(ratios) / (np.prod(1.0 + np.array(ratios)) - 1.0)
    np.testing.assert_allclose(result.first_order, shares, rtol=1e-8)
