"""Importance with uncertainty: of functions drawn from the posterior, in all rows together."""

import pickle

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights
from gaussian_processes import KERNELS, NOISE, ROWS, SCALES, WIDER, D, X, Y, fitted
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex
from pkex.explain import joint_draws

Z = X[10:13] + 0.1 * SCALES
N = 4000


def by_brute_force(model, rows, background, groups=None):
    """Draws of importance, through the model's own covariance at all mixed rows at once."""
    groups = [[j] for j in range(D)] if groups is None else groups
    weights = shapley_weights(len(groups))
    places = np.empty((len(rows), weights.shape[1], *background.shape))
    for number, row in enumerate(rows):
        for coalition, players in enumerate(coalitions(len(groups))):
            columns = [j for player in players for j in groups[player]]
            places[number, coalition] = background
            places[number, coalition][:, columns] = row[columns]
    places = places.reshape(-1, D)
    of_row = np.repeat(weights, len(background), axis=1) / len(background)
    flat = np.kron(np.eye(len(rows)), of_row)
    noise = model.kernel_.diag(ROWS)[0] - model.kernel_(ROWS, ROWS.copy())[0, 0]
    mean, covariance = model.predict(places, return_cov=True)
    covariance -= noise * np.eye(len(places))
    drawn = np.random.default_rng(1).multivariate_normal(
        flat @ mean, flat @ covariance @ flat.T, size=20_000, check_valid="ignore"
    )
    return np.abs(drawn.reshape(-1, len(rows), len(groups))).mean(axis=1)


def assert_alike(found, expected):
    """Draws of the same distribution: five standard errors of means, and of deviations."""
    spread = expected.std(axis=0)
    off = np.abs(found.mean(axis=0) - expected.mean(axis=0)) / spread
    assert off.max() < 5.0 / np.sqrt(len(found))
    np.testing.assert_allclose(found.std(axis=0), spread, rtol=5.0 / np.sqrt(2 * len(found)))


@pytest.fixture(scope="module")
def model():
    return fitted(KERNELS["the usual"])


@pytest.fixture(scope="module")
def explanation(model):
    return pkex.Explainer(model, Z)(ROWS, uncertainty=True)


@pytest.fixture(scope="module")
def drawn(explanation):
    return explanation.importance(samples=N, random_state=0)


def test_draws_are_those_of_functions_explained_in_all_rows(model, drawn):
    assert drawn.shape == (N, D)
    assert_alike(drawn, by_brute_force(model, ROWS, Z))


def test_rows_are_not_drawn_each_on_its_own(model):
    rows = ROWS[0] + 0.01 * SCALES * np.arange(10)[:, None]
    explanation = pkex.Explainer(model, Z)(rows, uncertainty=True)
    drawn = explanation.importance(samples=N, random_state=0)
    alone = np.abs(explanation.sample(N, random_state=0)).mean(axis=1)
    # Rows that are much the same have much the same values, and their mean is as unsure.
    assert np.all(drawn.std(axis=0) > 2.5 * alone.std(axis=0))


def test_groups_are_features(model):
    groups = [[0, 3], [1], [2, 4]]
    explainer = pkex.Explainer(model, Z, groups={"a": [0, 3], "b": [2, 4]})
    found = explainer(ROWS, uncertainty=True).importance(samples=N, random_state=0)
    assert_alike(found, by_brute_force(model, ROWS, Z, groups))


def test_slices_have_their_part_of_the_draws(explanation, drawn):
    part = explanation[:, [3, 0]].importance(samples=N, random_state=0)
    np.testing.assert_allclose(part, drawn[:, [3, 0]], rtol=1e-12)
    each = [explanation[row].importance(samples=20, random_state=0) for row in range(len(ROWS))]
    whole = explanation.importance(samples=20, random_state=0)
    np.testing.assert_allclose(np.mean(each, axis=0), whole, rtol=1e-12)
    assert explanation[0, 2].importance(samples=20, random_state=0).shape == (20,)
    np.testing.assert_array_equal(explanation.importance(), np.abs(explanation.values).mean(axis=0))


def test_outputs_are_drawn_in_their_units():
    model = fitted(KERNELS["the usual"], np.column_stack([Y, 1e3 * Y]), normalize_y=True)
    explanation = pkex.Explainer(model, Z)(ROWS, uncertainty=True)
    drawn = explanation.importance(samples=N, random_state=0)
    assert drawn.shape == (N, D, 2)
    assert_alike(drawn[..., 1] / 1e3, drawn[..., 0])
    one = explanation[..., 1].importance(samples=N, random_state=0)
    np.testing.assert_allclose(one, drawn[..., 1], rtol=1e-12)


def test_without_a_background_rows_are_drawn_from_the_training_rows():
    model = GaussianProcessRegressor(RBF(WIDER), alpha=0.1, optimizer=None).fit(X, Y)
    by_itself = pkex.Explainer(model)(ROWS, uncertainty=True)
    given = pkex.Explainer(model, X, value_function="marginal")(ROWS, uncertainty=True)
    options = {"samples": 50, "random_state": 0}
    np.testing.assert_allclose(
        by_itself.importance(**options), given.importance(**options), rtol=1e-9
    )


def test_a_pipeline_has_the_draws_of_its_last_step():
    pipeline = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE)).fit(X, Y)
    own = pkex.Explainer(pipeline[-1], pipeline[0].transform(Z))
    options = {"samples": 50, "random_state": 0}
    found = pkex.Explainer(pipeline, Z)(ROWS, uncertainty=True).importance(**options)
    expected = own(pipeline[0].transform(ROWS), uncertainty=True).importance(**options)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(pkex.UnsupportedModelError, match="pass a background"):
        pkex.Explainer(pipeline)(ROWS, uncertainty=True).importance(samples=10)


def test_draws_do_not_depend_on_how_many_are_there_at_a_time(explanation, monkeypatch):
    whole = explanation.importance(samples=30, random_state=0)
    monkeypatch.setattr(joint_draws, "_MAX_NUMBERS", 7 * ROWS.size)
    parts = explanation.importance(samples=30, random_state=0)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


def test_what_changes_too_fast_to_be_drawn_is_refused():
    short = GaussianProcessRegressor(RBF(0.05 * SCALES), alpha=0.1, optimizer=None).fit(X, Y)
    explanation = pkex.Explainer(short, X)(X, uncertainty=True)
    with pytest.raises(ValueError, match="distances too short for a few hundred"):
        explanation.importance(samples=10, random_state=0)


def test_what_has_no_draws_says_why(explanation):
    plain = pkex.Explainer(SVR().fit(X, Y), Z)(ROWS)
    with pytest.raises(ValueError, match="uncertainty=True"):
        plain.importance(samples=10)
    with pytest.raises(ValueError, match="centered values have none"):
        explanation.centered().importance(samples=10)
    restored = pickle.loads(pickle.dumps(explanation))
    assert len(pickle.dumps(restored)) < 10_000
    with pytest.raises(ValueError, match="Explain the rows again"):
        restored.importance(samples=10)
    with pytest.raises(ValueError, match="no rows to average over"):
        explanation[:0].importance(samples=10)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"samples": 0}, ValueError, "samples must be a positive integer"),
        ({"samples": 1.5}, TypeError, "samples must be"),
        ({"samples": 5, "random_state": "x"}, TypeError, "random_state must be"),
        ({"n": 5}, TypeError, "no argument 'n'"),
    ],
)
def test_what_is_no_number_of_samples_is_refused(explanation, options, error, message):
    with pytest.raises(error, match=message):
        explanation.importance(**options)
