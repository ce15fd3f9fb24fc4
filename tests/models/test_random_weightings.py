"""Random weightings as estimators of scikit-learn; how they are explained; what they refuse."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pkex
from pkex.models import RWReLU, RWSign, RWStumps

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 4)) * [1.0, 100.0, 0.01, 1.0] + [0.0, 7.0, 0.0, 1e4]
Y = X[:, 0] + X[:, 1] * X[:, 2] + 50.0
FRAME = pd.DataFrame(X, columns=["age", "sex", "bmi", "bp"])
MODELS = {
    "signs": RWSign(40, star=2, random_state=0),
    "ramps": RWReLU(40, star=[1, 3], random_state=0),
    "ramps of runs": RWReLU(40, star=("sequence", 2), random_state=0),
    "ramps of all columns": RWReLU(40, random_state=0),
    "stumps": RWStumps(40, random_state=0),
}


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def model(request):
    return clone(request.param)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [RWSign(60, alpha=1e-4), RWReLU(60, alpha=1e-4), RWReLU(60, star=1), RWStumps(60)]
)
def test_they_are_estimators_of_scikit_learn(estimator, check):
    check(estimator)


def test_units_of_columns_do_not_matter(model):
    scaled = (X - 3.0) / [1e3, 1e-3, 5.0, 1e-200]
    first, second = model.fit(X, Y).predict(X), clone(model).fit(scaled, Y).predict(scaled)
    np.testing.assert_allclose(second, first, atol=1e-6 * np.ptp(Y))
    as_they_are = clone(model).set_params(standardize=False)
    by_hand = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(as_they_are.fit(by_hand, Y).predict(by_hand), first, atol=1e-6)


def test_the_same_seed_and_any_number_of_threads_give_the_same_model(model):
    first = model.fit(X, Y).predict(X)
    for n_jobs in (1, 3):
        again = clone(model).set_params(n_jobs=n_jobs).fit(X, Y)
        np.testing.assert_allclose(again.predict(X), first, rtol=1e-9)
        np.testing.assert_array_equal(again.predict(X[7:9]), again.predict(X)[7:9])
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert np.abs(other.predict(X) - first).max() > 1e-6


def test_they_work_with_names_in_pipelines_searches_and_pickles(model):
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    name = type(model).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__alpha": [1e-5, 1e-3]}, cv=2).fit(FRAME, Y)
    explainer = pkex.Explainer(search, FRAME[:9])
    explanation = explainer(FRAME)
    assert explanation.feature_names == ["age", "sex", "bmi", "bp"]
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, search.predict(FRAME), atol=1e-9)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again(FRAME).values, explanation.values)
    fitted = clone(model).fit(FRAME, Y)
    np.testing.assert_array_equal(
        pkex.Explainer(fitted.predict, FRAME[:9]).shap_values(FRAME),
        pkex.Explainer(fitted.term_expansion_, FRAME[:9]).shap_values(FRAME),
    )


def test_skops_saves_what_is_fitted(model):
    skops = pytest.importorskip("skops.io")
    saved = skops.dumps(model.fit(FRAME, Y))
    trusted = skops.get_untrusted_types(data=saved)
    assert all(name.startswith("pkex.") for name in trusted)
    loaded = skops.loads(saved, trusted=trusted)
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    values = pkex.Explainer(loaded, FRAME[:5]).shap_values(FRAME[:5])
    np.testing.assert_array_equal(values, pkex.Explainer(model, FRAME[:5]).shap_values(FRAME[:5]))


@pytest.mark.parametrize("kind", [RWSign, RWReLU])
def test_of_few_columns_one_term_of_all_is_explained_exactly(kind):
    model = kind(40, random_state=0).fit(X, Y)
    assert_explained(pkex.Explainer(model, X[:5]), model.predict, X[5:8], X[:5])
    with pytest.raises(ValueError, match="background is required"):
        pkex.Explainer(model)


@pytest.mark.parametrize("kind", [RWSign, RWReLU])
def test_terms_of_many_columns_are_estimated_and_an_exact_call_says_so(kind):
    rows = np.random.default_rng(0).normal(size=(50, 15))
    model = kind(60, random_state=0).fit(rows, rows[:, 0] * rows[:, 1])
    explainer = pkex.Explainer(model, rows[:4])
    with pytest.raises(ValueError, match=r"all 2\^15 coalitions .* explainer\.estimate\(X, n_coal"):
        explainer(rows[:2])
    estimate = explainer.estimate(rows[:1], n_coalitions=400, random_state=0)
    total = estimate.values.sum(axis=1) + estimate.base_values
    np.testing.assert_allclose(total, model.predict(rows[:1]), atol=1e-12)
    pairs = {f"x{j} and x{j + 1}": [j, j + 1] for j in range(0, 14, 2)}
    exact = pkex.Explainer(model, rows[:4], groups=pairs)
    estimate = exact.estimate(rows[:1], n_coalitions=400, random_state=0)
    off = np.abs(estimate.values - exact(rows[:1]).values)
    assert (off <= 5.0 * estimate.standard_errors).all()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_centers": 0}, ValueError, "n_centers must be a positive integer; got 0"),
        ({"n_centers": 2.5}, TypeError, "n_centers must be a positive integer; got 2.5"),
        (
            {"concentration": 1.0},
            ValueError,
            "concentration must be at least 1e-6 and less than 1, .* got 1.0",
        ),
        ({"concentration": 0}, ValueError, "concentration must be a finite number above 0"),
        (
            {"sigma": -1.0},
            ValueError,
            r"sigma must be .* above 0, or None \(the default\); got -1.0",
        ),
        ({"gamma": 0.0}, ValueError, r"gamma must be .* above 0, or None \(the default\); got 0.0"),
        ({"sigma": 1e-200}, ValueError, "sigma must be from 1e-150 to 1e150; got 1e-200"),
        ({"sigma": 1e200}, ValueError, "sigma must be from 1e-150 to 1e150; got 1e.200"),
        ({"gamma": 1e-200}, ValueError, "gamma must be from 1e-150 to 1e150; got 1e-200"),
        ({"gamma": 1e200}, ValueError, "gamma must be from 1e-150 to 1e150; got 1e.200"),
        (
            {"sigma": 1e150, "gamma": 1e-150},
            ValueError,
            "gamma=1e-150 is so small compared with sigma",
        ),
        ({"gamma": 1e-110}, ValueError, "gamma=1e-110 is so small compared with sigma=.* vanish"),
        (
            {"concentration": 1e-300},
            ValueError,
            "must be at least 1e-6 and less than 1, .* got 1e-300",
        ),
        (
            {"alpha": -1e-9},
            ValueError,
            r"alpha must be .* 0 or above, or None \(the default\); got -1e-09",
        ),
        ({"alpha": "1"}, TypeError, "alpha must be a finite number, 0 or above"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
        ({"random_state": -1}, ValueError, "random_state must be"),
        ({"standardize": "no"}, TypeError, "standardize must be True or False; got 'no'"),
    ],
)
def test_parameters_out_of_range_are_refused(model, options, error, message):
    with pytest.raises(error, match=message):
        model.set_params(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("star", "error", "message"),
    [
        (5, ValueError, "star=5 exceeds the 4 columns of X"),
        ([1, 7], ValueError, "star=7 exceeds the 4 columns"),
        (("sequence", 5), ValueError, "star=5 exceeds the 4 columns"),
        (0, ValueError, "star must be None .all columns., a number of columns, .* got 0"),
        (1.5, TypeError, r"star must be None .* got 1.5 \(float\)"),
        (True, TypeError, r"star must be None .* got True \(bool\)"),
        ([], ValueError, r"star must be distinct numbers of columns; got \[\]"),
        ([2, 2], ValueError, r"star must be distinct numbers of columns; got \[2, 2\]"),
        ("runs", ValueError, "star must be None .* got 'runs'"),
        (("sequence", 1, 2), ValueError, "star must be None"),
    ],
)
@pytest.mark.parametrize("kind", [RWSign, RWReLU])
def test_terms_that_there_are_not_are_refused(kind, star, error, message):
    with pytest.raises(error, match=message):
        kind(30, star=star).fit(X, Y)


def test_bad_rows_and_weights_are_refused(model):
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(np.where(np.arange(4) == 1, np.nan, X), Y)
    for weights, message in (
        (np.zeros(60), "sample_weight must not all be zero"),
        (np.full(60, -1.0), "sample_weight must not be negative"),
        (np.ones(59), "sample_weight must have"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, weights)
    with pytest.raises(ValueError, match=r"the squares of X overflow\. Scale X down"):
        RWReLU(30, standardize=False).fit(np.full((5, 2), 1e200), np.arange(5.0))
    with pytest.raises(ValueError, match="sums of y or its products with X overflow"):
        RWReLU(30, standardize=False).fit(1e9 * X, 1e301 * Y)
    with pytest.raises(ValueError, match="sums of y or its products with X overflow"):
        model.fit(X, np.full(60, 1.7e308))
    rows = FRAME.assign(sex=np.where(np.arange(60) == 3, -1.7e308, 1.7e308))
    with pytest.raises(
        ValueError, match=r"X has columns \['sex'\] whose mean or standard deviation overflows"
    ):
        model.fit(rows, Y)


def test_parameters_at_the_ends_of_what_is_allowed_are_no_error(model):
    for options in ({"sigma": 1e150}, {"sigma": 1e-150}, {"gamma": 1e150}):
        model.set_params(**{"sigma": None, "gamma": None} | options).fit(X, Y)
        assert np.isfinite(model.predict(X)).all()


def test_a_constant_column_has_no_value(model):
    rows = X.copy()
    rows[:, 1] = 1e6 / 3.0
    model.fit(rows, Y)
    assert np.isfinite(model.predict(rows)).all()
    values = pkex.Explainer(model, rows[:5]).shap_values(rows[5:9])
    np.testing.assert_allclose(values[:, 1], 0.0, atol=1e-12)
