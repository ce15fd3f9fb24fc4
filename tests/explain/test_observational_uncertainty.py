"""How sure values of the observational game are: by brute force through the model's covariances."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from brute_force import coalitions, conditional_weights, shapley_weights
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pkex

D = 3
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(25, D))
X[:, 1] = X[:, 0] + 0.4 * X[:, 1]
Y = X[:, 0] * X[:, 2] + np.sin(X[:, 1])
Z, ROWS = X[5:13], X[:3] + 0.3
SHARES = np.arange(1.0, 9.0) / 36.0
LENGTH_SCALES = np.array([0.8, 0.9, 1.1])
GAME = pkex.Observational(pkex.kernels.RBF(LENGTH_SCALES), regularization=0.01)
KERNELS = {
    "rbf": ConstantKernel(2.0) * RBF([1.0, 2.0, 0.7]),
    "sum": RBF([1.0, 2.0, 0.7]) + ConstantKernel(0.5) * RBF([3.0, 0.6, 2.0]),
    "matern": Matern([1.0, 2.0, 1.5], nu=2.5),
}


def gaussian(left, right, columns):
    difference = (left[:, None] - right) / LENGTH_SCALES[columns]
    return np.exp(-0.5 * np.square(difference).sum(axis=2))


def fitted(name, targets=Y, **options):
    model = GaussianProcessRegressor(KERNELS[name], alpha=0.05, optimizer=None, **options)
    return model.fit(X, targets)


def functional(
    row, groups=None, background=Z, weights=SHARES, *, normalize=True, embedding="absent"
):
    """Rows that combine entries, and the map (players, rows) from outputs there to values."""
    groups = [[j] for j in range(D)] if groups is None else groups
    of_coalitions = shapley_weights(len(groups))
    rows, maps = [], []
    for number, players in enumerate(coalitions(len(groups))):
        columns = [j for player in players for j in groups[player]]
        mixed = background.copy()
        own = conditional_weights(
            row, background, weights, gaussian, 0.01, columns, normalize=normalize
        )
        if embedding == "absent":
            mixed[:, columns] = row[columns]
        if len(columns) == D:
            mixed, own = np.tile(row, (len(background), 1)), weights
        rows.append(mixed)
        maps.append(of_coalitions[:, [number]] * own)
    return np.concatenate(rows), np.concatenate(maps, axis=1)


def by_brute_force(model, row, groups=None, **options):
    rows, values = functional(row, groups, **options)
    covariance = model.predict(rows, return_cov=True)[1]
    covariance = covariance.reshape(len(rows), len(rows), -1)[..., -1]
    return values @ covariance @ values.T


def explained(model, uncertainty=True, **options):
    explainer = pkex.Explainer(model, Z, background_weights=SHARES, value_function=GAME, **options)
    return explainer(ROWS, uncertainty=uncertainty)


@pytest.mark.parametrize("name", KERNELS)
def test_covariances_between_rows_equal_brute_force_through_predict(name):
    model = fitted(name)
    explanation = explained(model, "joint")
    parts = [functional(row) for row in ROWS]
    rows = np.concatenate([part for part, _ in parts])
    covariance = model.predict(rows, return_cov=True)[1]
    expected = np.zeros((len(ROWS) * D, len(rows)))
    for i, (_, values) in enumerate(parts):
        expected[i * D : (i + 1) * D, i * values.shape[1] : (i + 1) * values.shape[1]] = values
    expected = (expected @ covariance @ expected.T).reshape(len(ROWS), D, len(ROWS), D)
    for i, k in np.ndindex(len(ROWS), len(ROWS)):
        np.testing.assert_allclose(explanation.covariance(i, k), expected[i, :, k], atol=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_covariances_equal_brute_force_through_predict(name):
    model = fitted(name)
    explanation = explained(model)
    for number, row in enumerate(ROWS):
        expected = by_brute_force(model, row)
        np.testing.assert_allclose(explanation.covariance(number), expected, rtol=0, atol=1e-10)
    plain = pkex.Explainer(model, Z, background_weights=SHARES, value_function=GAME)
    np.testing.assert_array_equal(explanation.values, plain.shap_values(ROWS))


VARIANTS = [
    {"normalize": False},
    {"embedding": "rows"},
    {"embedding": "rows", "normalize": False},
]
# A constant is random, and has values if weights do not add up to 1.
CONSTANT = RBF([1.0, 2.0, 0.7]) + ConstantKernel(0.5)


@pytest.mark.filterwarnings("ignore:draws of the posterior miss")
@pytest.mark.parametrize("kernel", [KERNELS["matern"], CONSTANT, DotProduct() + RBF()], ids=str)
@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_variants_have_the_covariances_of_brute_force(kernel, options):
    game = pkex.Observational(GAME.kernel, 0.01, **options)
    process = GaussianProcessRegressor(kernel, alpha=0.05, optimizer=None, normalize_y=True)
    model = make_pipeline(make_column_transformer(("passthrough", [2, 0, 1])), process).fit(X, Y)
    explainer = pkex.Explainer(model, Z, background_weights=SHARES, value_function=game)
    if "DotProduct" in str(kernel) and "embedding" not in options:
        with pytest.raises(pkex.UnsupportedModelError, match="dot products"):
            explainer(ROWS, uncertainty=True)
        return
    explanation = explainer(ROWS, uncertainty=True)
    for number, row in enumerate(ROWS):
        expected = by_brute_force(model, row, **options)
        np.testing.assert_allclose(explanation.covariance(number), expected, rtol=0, atol=1e-9)
    joint = explainer(ROWS, uncertainty="joint")
    (rows, maps), (others, other_maps) = (functional(row, **options) for row in ROWS[:2])
    own = model.predict(np.concatenate([rows, others]), return_cov=True)[1]
    between = maps @ own[: len(rows), len(rows) :] @ other_maps.T
    np.testing.assert_allclose(joint.covariance(0, 1), between, rtol=0, atol=1e-9)
    exact = explanation.importance(samples=4000, random_state=0)
    own = np.abs(explanation.sample(4000, random_state=1)).mean(axis=1)
    np.testing.assert_allclose(exact.mean(axis=0), own.mean(axis=0), rtol=0.1)
    estimate = explainer.estimate(ROWS, n_coalitions=400, uncertainty=True, random_state=0)
    np.testing.assert_allclose(
        estimate.standard_deviations, explanation.standard_deviations, rtol=0.15
    )


def test_draws_from_the_posterior_that_are_explained_one_by_one_spread_as_said():
    model, n_draws = fitted("rbf"), 20_000
    explanation = explained(model)
    rows, values = functional(ROWS[0])
    covariance = model.predict(rows, return_cov=True)[1] + 1e-9 * np.eye(len(rows))
    normal = np.random.default_rng(0).standard_normal((len(rows), n_draws))
    drawn = values @ (np.linalg.cholesky(covariance) @ normal + model.predict(rows)[:, None])
    deviations = explanation.standard_deviations[0]
    errors = np.abs(drawn.mean(axis=1) - explanation.values[0]) / deviations
    assert errors.max() < 4.0 / np.sqrt(n_draws)
    np.testing.assert_allclose(drawn.std(axis=1), deviations, rtol=4.0 / np.sqrt(2 * n_draws))


def test_groups_are_features():
    model = fitted("rbf")
    explanation = explained(model, groups={"a": [0, 2]})
    expected = by_brute_force(model, ROWS[1], [[0, 2], [1]])
    np.testing.assert_allclose(explanation.covariance(1), expected, rtol=0, atol=1e-10)


def test_outputs_are_in_their_units_and_pipelines_have_values_of_their_columns():
    # A step that puts columns into another order.
    steps = make_column_transformer(("passthrough", [2]), ("passthrough", [0, 1]))
    process = GaussianProcessRegressor(KERNELS["rbf"], alpha=0.05, optimizer=None, normalize_y=True)
    model = make_pipeline(steps, process).fit(X, np.column_stack([Y, 10.0 * Y]))
    explanation = explained(model)
    expected = by_brute_force(model, ROWS[2])
    np.testing.assert_allclose(explanation.covariance(2)[..., 1], expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(100.0 * explanation.covariance(2)[..., 0], expected, atol=1e-8)


def test_importance_is_drawn_in_all_rows():
    explanation = explained(fitted("rbf"))
    drawn = explanation.importance(samples=2000, random_state=0)
    alone = explanation[0].importance(samples=2000, random_state=0)
    own = np.abs(explanation[0].sample(20_000, random_state=1))
    assert drawn.shape == (2000, D)
    np.testing.assert_allclose(alone.mean(axis=0), own.mean(axis=0), rtol=0.1)
    np.testing.assert_allclose(alone.std(axis=0), own.std(axis=0), rtol=0.1)


def test_what_is_known_is_sure():
    sure = GaussianProcessRegressor(RBF(1.0), alpha=1e-8, optimizer=None)
    # All mixed rows are training rows.
    grid = np.stack(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]), axis=-1).reshape(-1, D)
    sure.fit(grid, grid.sum(axis=1))
    explainer = pkex.Explainer(sure, grid, value_function=GAME)
    assert explainer(grid, uncertainty=True).standard_deviations.max() < 1e-3


def test_rows_have_the_same_covariances_together_and_alone(monkeypatch):
    together = explained(fitted("rbf"))
    monkeypatch.setattr("pkex.explain.posterior._MAX_WEIGHTS", 1)
    monkeypatch.setattr("pkex.functions.gaussian_process.covariances._MAX_TABLE_NUMBERS", 50)
    alone = explained(fitted("rbf"))
    np.testing.assert_allclose(alone.covariance(2), together.covariance(2), rtol=0, atol=1e-14)


def test_a_single_feature_has_the_variance_of_the_difference_to_the_base():
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X[:, :1], Y)
    explainer = pkex.Explainer(model, Z[:, :1], value_function="observational")
    explanation = explainer(ROWS[:, :1], uncertainty=True)
    rows = np.concatenate([ROWS[:1, :1], Z[:, :1]])
    difference = np.array([1.0, *[-1.0 / 8.0] * 8])
    expected = difference @ model.predict(rows, return_cov=True)[1] @ difference
    assert explanation.covariance(0)[0, 0] == pytest.approx(expected, rel=1e-9)


def test_what_has_no_covariances_is_refused():
    dots = GaussianProcessRegressor(DotProduct() + RBF(), alpha=0.1, optimizer=None).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="dot products"):
        explained(dots)
    with pytest.raises(pkex.UnsupportedModelError, match="Gaussian process"):
        explained(LinearRegression().fit(X, Y))
    dropping = make_pipeline(SelectKBest(k=2), GaussianProcessRegressor(alpha=0.1)).fit(X, Y > 0)
    with pytest.raises(pkex.UnsupportedModelError, match="a model that uses every column"):
        explained(dropping)
    wide = RANDOM.normal(size=(20, 15))
    model = GaussianProcessRegressor(alpha=0.1, optimizer=None).fit(wide, wide[:, 0])
    explainer = pkex.Explainer(model, wide, value_function="observational")
    with pytest.raises(ValueError, match="up to 14 features"):
        explainer(wide[:1], uncertainty=True)
    few = GaussianProcessRegressor(alpha=0.1, optimizer=None).fit(wide[:, :14], wide[:, 0])
    many = RANDOM.normal(size=(600, 14))
    explainer = pkex.Explainer(few, many, value_function="observational")
    with pytest.raises(ValueError, match=r"1e.12 for 600 background rows and 14 features"):
        explainer(wide[:1, :14], uncertainty=True)


def test_estimates_have_the_posterior_beside_their_standard_errors():
    targets = np.column_stack([Y, 10.0 * Y])
    model = fitted("rbf", targets, normalize_y=True)
    explainer = pkex.Explainer(model, Z, background_weights=SHARES, value_function=GAME)
    exact = explainer(ROWS, uncertainty=True)
    plain = explainer.estimate(ROWS, n_coalitions=400, random_state=0)
    estimate = explainer.estimate(ROWS, n_coalitions=400, uncertainty=True, random_state=0)
    np.testing.assert_array_equal(estimate.values, plain.values)
    np.testing.assert_array_equal(estimate.standard_errors, plain.standard_errors)
    np.testing.assert_allclose(estimate.standard_deviations, exact.standard_deviations, rtol=0.1)
    scale = exact.covariance(1).max(axis=(0, 1))
    assert np.abs((estimate.covariance(1) - exact.covariance(1)) / scale).max() < 0.15
    assert "standard errors up to" in repr(estimate)
    assert "standard deviations up to" in repr(estimate)
    assert plain.standard_deviations is None
    part = estimate[0, :, 1]
    margin = part.to_shap().upper_bounds - part.values
    both = np.hypot(part.standard_errors, part.standard_deviations)
    np.testing.assert_allclose(margin, 1.959964 * both)
    part.plot()


def test_importance_of_estimates_is_drawn_without_their_sampling_errors():
    explainer = pkex.Explainer(fitted("rbf"), Z, background_weights=SHARES, value_function=GAME)
    exact = explainer(ROWS, uncertainty=True).importance(samples=4000, random_state=0)
    spread = exact.std(axis=0)
    for number in (20, 400):
        estimate = explainer.estimate(ROWS, n_coalitions=number, uncertainty=True, random_state=0)
        drawn = estimate.importance(samples=4000, random_state=0)
        np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.1)
        off = np.abs(drawn.mean(axis=0) - exact.mean(axis=0))
        assert np.all(off < 0.1 * spread + 3.0 * estimate.standard_errors.mean(axis=0))
    part = estimate[:, 1:].importance(samples=20, random_state=0)
    whole = estimate.importance(samples=20, random_state=0)
    np.testing.assert_allclose(part, whole[:, 1:], rtol=1e-12)
    plain = explainer.estimate(ROWS, n_coalitions=20, random_state=0)
    with pytest.raises(ValueError, match=r"by explainer.estimate\(X, .*uncertainty=True\)"):
        plain.importance(samples=10)


def test_estimates_of_many_features_have_the_posterior():
    wide, given = np.split(RANDOM.normal(size=(32, 16)), [30])
    kernel = ConstantKernel(1.0) * RBF(12.0)
    model = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None).fit(wide, wide[:, 0])
    explainer = pkex.Explainer(model, wide, value_function="observational")
    estimate = explainer.estimate(given, n_coalitions=100, uncertainty=True, random_state=0)
    rows = np.concatenate([given[:1], wide])
    difference = np.array([1.0, *[-1.0 / 30.0] * 30])
    expected = difference @ model.predict(rows, return_cov=True)[1] @ difference
    # Values add up, and so is their sum as sure as the prediction less the base.
    assert estimate.covariance(0).sum() == pytest.approx(expected, rel=0.15)
    assert estimate.importance(samples=10, random_state=0).shape == (10, 16)
    other = pkex.Explainer(model, wide, transform=np.tanh)
    with pytest.raises(pkex.UnsupportedModelError, match="is for value_function='observational'"):
        other.estimate(wide[:1], n_coalitions=100, uncertainty=True)


def test_models_of_labels_are_as_sure_as_brute_force_says():
    table = pd.DataFrame(X, columns=list("abc"))
    table["a"] = np.where(X[:, 0] + X[:, 2] > 0.0, "yes", "no")
    steps = make_column_transformer((StandardScaler(), ["b", "c"]), (OneHotEncoder(), ["a"]))
    model = make_pipeline(steps, GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None))
    model.fit(table, Y)
    explainer = pkex.Explainer(model, table[:8], value_function="observational")
    explanation = explainer(table[8:9], uncertainty=True)
    # The sum of values is the prediction less the mean over the background.
    rows = steps.transform(pd.concat([table[8:9], table[:8]]))
    difference = np.array([1.0, *[-1.0 / 8.0] * 8])
    expected = difference @ model[-1].predict(rows, return_cov=True)[1] @ difference
    assert explanation.covariance(0).sum() == pytest.approx(expected, rel=1e-9)
    assert np.all(explanation.standard_deviations > 0.01)
    assert explanation.importance(samples=20, random_state=0).shape == (20, 3)
    drawn = explanation.importance(samples=4000, random_state=0)
    own = np.abs(explanation.sample(4000, random_state=0))[:, 0]
    np.testing.assert_allclose(drawn.mean(axis=0), own.mean(axis=0), rtol=0.1)
    np.testing.assert_allclose(drawn.std(axis=0), own.std(axis=0), rtol=0.1)


def test_draws_of_whole_rows_are_approximated_at_whole_rows():
    game = replace(GAME, embedding="rows")
    explainer = pkex.Explainer(fitted("rbf"), Z, background_weights=SHARES, value_function=game)
    explanation = explainer(ROWS, uncertainty=True)
    drawn = explanation[0].importance(samples=2000, random_state=0)
    own = np.abs(explanation[0].sample(20_000, random_state=1))
    np.testing.assert_allclose(drawn.mean(axis=0), own.mean(axis=0), rtol=0.1)
    rows = explanation._rows.uncertainty.draws._mixed_rows(np.random.default_rng(0))
    distances = np.abs(rows[:, None] - np.concatenate([ROWS, Z])).sum(axis=2)
    assert distances.min(axis=1).max() == 0.0
