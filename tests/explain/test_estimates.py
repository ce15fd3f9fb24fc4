"""Estimates: unbiased, with standard errors that hold, and no explanations."""

import pickle

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex

D = 6
RNG = np.random.default_rng(6)
X = RNG.normal(size=(60, D))
Y = X[:, 0] + np.sin(2.0 * X[:, 1]) * X[:, 2]
ROWS, Z = X[:2], X[40:45]
EXPLAINER = pkex.Explainer(SVR().fit(X, Y), Z, transform=np.tanh)
EXACT = EXPLAINER(ROWS)
SEEDS = 200
# As much of each as takes about as many outputs.
DRAWS = [{"n_permutations": 40}, {"n_coalitions": 200}]
OF_DRAWS = pytest.mark.parametrize("draws", DRAWS, ids=["orders", "coalitions"])


@pytest.fixture(scope="module", params=DRAWS, ids=["orders", "coalitions"])
def estimates(request):
    """Estimates by different seeds, of few draws."""
    return [EXPLAINER.estimate(ROWS, **request.param, random_state=s) for s in range(SEEDS)]


def test_estimates_are_unbiased(estimates):
    errors = np.stack([estimate.values - EXACT.values for estimate in estimates])
    bias = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(SEEDS))
    assert np.abs(bias).max() < 3.0


def test_two_standard_errors_cover_the_exact_value_as_often_as_they_say(estimates):
    errors = np.stack([estimate.values - EXACT.values for estimate in estimates])
    sizes = np.stack([estimate.standard_errors for estimate in estimates])
    coverage = (np.abs(errors) <= 2.0 * sizes).mean()
    assert 0.90 < coverage < 0.98


@OF_DRAWS
def test_estimates_add_up_exactly(draws):
    estimate = EXPLAINER.estimate(ROWS, **draws, random_state=0)
    total = estimate.values.sum(axis=1) + estimate.base_values
    expected = EXACT.values.sum(axis=1) + EXACT.base_values
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-13)


@OF_DRAWS
def test_of_two_features_all_draws_give_the_exact_values(draws):
    explainer = pkex.Explainer(SVR().fit(X[:, :2], Y), X[:5, :2], transform=np.tanh)
    # An order and its reverse are all there are, a coalition and its complement likewise.
    estimate = explainer.estimate(X[:3, :2], **draws, random_state=0)
    exact = explainer.shap_values(X[:3, :2])
    np.testing.assert_allclose(estimate.values, exact, rtol=0, atol=1e-13)
    np.testing.assert_allclose(estimate.standard_errors, 0.0, rtol=0, atol=1e-13)


@OF_DRAWS
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_single_feature_is_estimated_exactly(kernel, draws):
    model = SVR(kernel=kernel).fit(X[:, :1], Y)
    explainer = pkex.Explainer(model, Z[:, :1], transform=np.tanh)
    estimate = explainer.estimate(X[:3, :1], **draws)
    np.testing.assert_allclose(estimate.standard_errors, 0.0, rtol=0, atol=1e-15)
    exact = explainer.shap_values(X[:3, :1])
    np.testing.assert_allclose(estimate.values, exact, rtol=0, atol=1e-15)


@pytest.mark.parametrize("draws", [{"n_permutations": 100}, {"n_coalitions": 1000}])
def test_more_features_than_can_be_enumerated_are_estimated(draws):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 30))
    model = SVC().fit(wide, wide[:, 0] * wide[:, 1] > 0.0)
    # Of a sum, exact values are known of any number of features.
    explainer = pkex.Explainer(model, wide[:4])
    exact = explainer.shap_values(wide[:2])
    estimate = explainer.estimate(wide[:2], **draws, random_state=1)
    assert np.all(np.abs(estimate.values - exact) <= 5.0 * estimate.standard_errors + 1e-12)
    with pytest.raises(ValueError, match="Its values are exact for any number of features"):
        pkex.Explainer(model).estimate(wide[:2], **draws)


@pytest.mark.parametrize("name", ["n_permutations", "n_coalitions"])
def test_errors_fall_as_the_root_of_the_number_of_draws(name):
    few, many = (
        EXPLAINER.estimate(ROWS, **{name: n}, random_state=0).standard_errors for n in (200, 3200)
    )
    assert np.median(few / many) == pytest.approx(4.0, rel=0.3)


@OF_DRAWS
def test_probabilities_of_a_pipeline_and_neutral_games_are_estimated(draws):
    target = np.digitize(Y, [-0.5, 0.5])
    model = make_pipeline(StandardScaler(), SVC()).fit(X, target)
    for options in ({"background": Z, "link": "logit"}, {"value_function": "neutral"}):
        explainer = pkex.Explainer(
            model, transform=lambda v: 1.0 / (1.0 + np.exp(-v)), outputs=[2, 0], **options
        )
        exact = explainer(ROWS)
        estimate = explainer.estimate(ROWS, **draws, random_state=0)
        assert estimate.output_names == exact.output_names
        error = np.abs(estimate.values - exact.values)
        assert np.all(error <= 5.0 * estimate.standard_errors + 1e-12)
        np.testing.assert_allclose(estimate.base_values, exact.base_values, rtol=0, atol=1e-13)


def test_an_estimate_is_no_explanation_but_is_read_as_one():
    estimate = EXPLAINER.estimate(ROWS, n_permutations=40, random_state=0)
    assert isinstance(estimate, pkex.Estimate)
    assert not isinstance(estimate, pkex.Explanation)
    assert repr(estimate).startswith("Estimate(2 rows × 6 features, interventional, standard err")
    part = estimate[1, ["x0", "x2"]]
    np.testing.assert_array_equal(part.standard_errors, estimate.standard_errors[1, [0, 2]])
    assert not part.standard_errors.flags.writeable
    assert estimate.to_frame().shape == (2, 6)
    assert estimate.importance().shape == (6,)
    again = pickle.loads(pickle.dumps(estimate))
    np.testing.assert_array_equal(again.standard_errors, estimate.standard_errors)
    centered = estimate.centered()
    assert centered.standard_errors is None
    with pytest.raises(TypeError, match=r"reference must be an Estimate, as explainer.estimate"):
        estimate.centered(EXACT)


def test_an_estimate_is_drawn_and_converted_with_its_bounds():
    pytest.importorskip("matplotlib").use("Agg")
    shap = pytest.importorskip("shap")
    estimate = EXPLAINER.estimate(ROWS, n_permutations=40, random_state=0)
    for part in (estimate, estimate[0]):
        assert "the 95 % interval contains 0" in part.plot().get_title()
    converted = estimate.to_shap()
    assert isinstance(converted, shap.Explanation)
    margin = converted.upper_bounds - estimate.values
    np.testing.assert_allclose(margin, 1.959964 * estimate.standard_errors)


@OF_DRAWS
def test_estimates_do_not_depend_on_threads_or_on_the_rows_beside(draws):
    options = {**draws, "random_state": 3}
    whole = EXPLAINER.estimate(ROWS, **options)
    single = pkex.Explainer(SVR().fit(X, Y), Z, transform=np.tanh, n_jobs=1)
    np.testing.assert_array_equal(single.estimate(ROWS[1:], **options).values, whole.values[1:])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_permutations": 18}, ValueError, "an even integer of at least 20"),
        ({"n_permutations": 21}, ValueError, "an even integer of at least 20.*got 21"),
        ({}, TypeError, r"Explainer\.estimate\(\) needs .*n_permutations=1000"),
        ({**DRAWS[0], **DRAWS[1]}, ValueError, "n_permutations and n_coalitions .* one of them"),
        (
            {"n_coalitions": 22},
            ValueError,
            "n_coalitions must be an even integer of at least 24.*got 22",
        ),
        ({"n_coalitions": 101}, ValueError, "an even integer of at least 24.*got 101"),
        ({"n_coalitions": 10**12}, ValueError, "n_coalitions must be at most 22,369,620 for 6 f"),
        ({"n_permutations": 10**12}, ValueError, r"got 1,000,000,000,000. Average est"),
        ({"n_coalitions": True}, TypeError, "n_coalitions must be an even integer"),
        ({"n_permutations": 1.5}, TypeError, "n_permutations must be"),
        ({"n_permutations": 20, "random_state": "x"}, TypeError, "random_state must be"),
        ({"n_samples": 4}, TypeError, "no argument 'n_samples'"),
    ],
)
def test_what_is_no_number_of_draws_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        EXPLAINER.estimate(ROWS, **options)


def test_an_estimate_whose_errors_do_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"standard_errors has shape \(2,\), but \(1, 2\)"):
        pkex.Estimate([[1.0, 2.0]], [0.0], [[0.0, 0.0]], ["a", "b"], standard_errors=[0.1, 0.1])


@pytest.mark.parametrize("d", [3, D])
@pytest.mark.parametrize(("name", "said"), [("n_permutations", 0.8), ("n_coalitions", 0.85)])
def test_two_standard_errors_of_the_fewest_draws_cover_what_is_said(d, name, said):
    number = 20 if name == "n_permutations" else max(20, 4 * d)
    explainer = pkex.Explainer(SVR().fit(X[:, :d], Y), Z[:, :d], transform=np.tanh)
    exact = explainer.shap_values(ROWS[:, :d])
    estimates = [
        explainer.estimate(ROWS[:, :d], **{name: number}, random_state=seed) for seed in range(100)
    ]
    errors = np.stack([np.abs(estimate.values - exact) for estimate in estimates])
    sizes = np.stack([estimate.standard_errors for estimate in estimates])
    assert (errors <= 2.0 * sizes).mean() > said


def test_groups_are_estimated_from_coalitions_as_features():
    groups = {"a": [0, 3], "b": [2, 4]}
    explainer = pkex.Explainer(SVR().fit(X, Y), Z, transform=np.tanh, groups=groups)
    exact, estimate = explainer(ROWS), explainer.estimate(ROWS, n_coalitions=400, random_state=0)
    assert estimate.feature_names == exact.feature_names
    assert np.all(np.abs(estimate.values - exact.values) <= 4.0 * estimate.standard_errors)


GIVEN = pkex.Explainer(SVR().fit(X, Y), X[20:], value_function="observational")


def test_the_observational_game_is_estimated_from_coalitions_without_bias():
    exact = GIVEN(ROWS)
    estimates = [GIVEN.estimate(ROWS, n_coalitions=60, random_state=seed) for seed in range(100)]
    errors = np.stack([estimate.values - exact.values for estimate in estimates])
    bias = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(len(errors)))
    assert np.abs(bias).max() < 3.0
    sizes = np.stack([estimate.standard_errors for estimate in estimates])
    assert 0.88 < (np.abs(errors) <= 2.0 * sizes).mean() < 0.98
    total = estimates[0].values.sum(axis=1) + estimates[0].base_values
    np.testing.assert_allclose(total, exact.values.sum(axis=1) + exact.base_values, atol=1e-12)


def test_the_observational_game_of_many_features_is_estimated_row_by_row_alike():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(60, 20))
    model = SVR().fit(wide, np.sin(wide[:, :3]).sum(axis=1))
    explainer = pkex.Explainer(model, wide[3:], value_function="observational")
    with pytest.raises(ValueError, match="n_coalitions=1000"):
        explainer(wide[:2])
    together = explainer.estimate(wide[:3], n_coalitions=200, random_state=0)
    alone = explainer.estimate(wide[1:2], n_coalitions=200, random_state=0)
    np.testing.assert_allclose(together.values[1:2], alone.values, rtol=0, atol=1e-12)
    assert together.values.shape == (3, 20)
    with pytest.raises(TypeError, match=r"n_coalitions=1000$"):
        explainer.estimate(wide[:3])
    with pytest.raises(ValueError, match=r"n_coalitions=1000$"):
        explainer.estimate(wide[:3], n_permutations=20)


def test_orders_of_the_observational_game_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"Take n_coalitions.*or exact values: explainer"):
        GIVEN.estimate(ROWS, n_permutations=20)
