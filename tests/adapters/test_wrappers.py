"""Models made of other models: searches, ensembles and the like, against brute force."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.model_selection
from brute_force import Reference, interventional, neutral
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR

import pkex
from pkex.functions.column_maps import Selection
from pkex.functions.combination import Combination
from pkex.functions.stack import Stack
from pkex.functions.transformed import Transformed
from pkex.games.value_functions import NEUTRAL

RNG = np.random.default_rng(0)
D = 5
# Scales from 1e-6 to 1e6, offsets and repeated rows.
BASE = RNG.normal(size=(70, D))
Y = BASE[:, 1] + np.sin(2.0 * BASE[:, 4]) + 0.5 * BASE[:, 0] * BASE[:, 2]
X = BASE * [1e-6, 1.0, 1e6, 100.0, 10.0] + [0.0, 5.0, -1e6, 1e4, 0.0]
X[10:15], Y[10:15] = X[0], Y[0]
TARGETS = np.column_stack([Y, 1e6 * Y**2 + 1e7, 1e-6 * np.cos(Y)])
TWO = np.where(Y > 0.0, "yes", "no")
THREE = np.array(["b", "c", "a"])[np.digitize(Y, [-0.5, 0.5])]
LABELS = np.column_stack([Y > 0.0, BASE[:, 0] > 0.3, BASE[:, 2] < 0.0]).astype(int)
ROWS = X[[0, 7, 21, 33]]
# Has support vectors for targets of any size.
PRECISE = SVR(C=3.0, epsilon=1e-9, tol=1e-9)


def scaled(model=None):
    return make_pipeline(StandardScaler(), SVR(C=3.0) if model is None else model)


def brute_force(pipeline, rows, columns=None):
    """The neutral game of a scaler and a support vector machine, over all or some columns."""
    scaler, model = pipeline
    columns = np.arange(D) if columns is None else columns
    points, spread = np.zeros((len(model.support_vectors_), D)), np.zeros((len(rows), D))
    points[:, columns] = model.support_vectors_
    spread[:, columns] = scaler.transform(rows[:, columns])

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=model._gamma)

    return [neutral(kernel, row, points, model.dual_coef_[0]) for row in spread]


def combined(weights, parts):
    """Σ_p weights_p · parts_p of references, for each row; weights may have an output axis."""
    weights = np.asarray(weights, dtype=float)
    rows = []
    for references in zip(*parts, strict=True):
        values = np.stack([reference.values for reference in references], axis=-1)
        scale = np.stack([reference.scale for reference in references], axis=-1)
        rows.append(Reference(values @ weights, scale @ np.abs(weights)))
    return rows


def assert_values(model, expected, **options):
    values = pkex.Explainer(model, value_function="neutral", **options).shap_values(ROWS)
    for reference, found in zip(expected, values, strict=True):
        reference.assert_close(found)


def assert_adds_up(model, output, relative=1e-13):
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total.shape == output.shape
    tolerance = relative * max(1.0, np.abs(explanation.values).max(), np.abs(output).max())
    np.testing.assert_allclose(total, output, rtol=0, atol=100 * tolerance)
    return explanation


# --- searches ---

GRID = {"svr__C": [0.1, 5.0], "svr__gamma": [0.05, 0.5]}
SEARCHES = [
    GridSearchCV(scaled(), GRID, cv=3),
    RandomizedSearchCV(scaled(), GRID, n_iter=2, cv=3, random_state=0),
    HalvingGridSearchCV(scaled(), GRID, cv=3, random_state=0),
    HalvingRandomSearchCV(scaled(), GRID, cv=3, random_state=0, min_resources=30),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_is_explained_as_its_best_estimator(search):
    search.fit(X, Y)
    assert_values(search, brute_force(search.best_estimator_, ROWS))
    assert_adds_up(search, search.predict(X))
    np.testing.assert_array_equal(
        pkex.Explainer(search.predict, value_function="neutral").shap_values(ROWS),
        pkex.Explainer(search, value_function="neutral").shap_values(ROWS),
    )


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_without_refit_says_what_to_do(search):
    unfitted = sklearn.base.clone(search).set_params(refit=False)
    with pytest.raises(pkex.UnsupportedModelError, match=r"refit=False.*refit=True.*best_params_"):
        pkex.Explainer(unfitted.fit(X, Y))
    with pytest.raises(NotFittedError):
        pkex.Explainer(sklearn.base.clone(search))


def test_a_search_inside_a_pipeline_is_explained_in_terms_of_the_input():
    pipeline = make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1, 10]}, cv=3))
    pipeline.fit(X, THREE)
    alone = Pipeline([("s", pipeline[0]), ("m", pipeline[-1].best_estimator_)])
    explanation = pkex.Explainer(pipeline)(X)
    np.testing.assert_array_equal(explanation.values, pkex.Explainer(alone).shap_values(X))
    assert explanation.output_names == ["a vs b", "a vs c", "b vs c"]


def test_the_names_of_a_search_fitted_on_a_frame_are_kept():
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(scaled(), {"svr__C": [1, 2]}, cv=3).fit(frame, Y)
    assert pkex.Explainer(search)(X).feature_names == list("abcde")


def test_the_labels_and_probabilities_of_a_search_are_refused_with_what_to_pass():
    search = GridSearchCV(scaled(SVC()), {"svc__C": [1, 2]}, cv=3).fit(X, TWO)
    assert_adds_up(search.decision_function, search.decision_function(X))
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"GridSearchCV.predict cannot.*its decision_function"
    ):
        pkex.Explainer(search.predict)


# --- frozen models, thresholds, calibration ---


def test_a_frozen_model_is_explained_as_itself():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator(scaled().fit(X, Y))
    assert_values(frozen, brute_force(frozen.estimator, ROWS))
    assert_adds_up(frozen, frozen.predict(X))
    assert pkex.Explainer(frozen.predict, value_function="neutral")


def test_frozen_models_and_steps_that_compute_something_else_are_refused():
    class Other(pytest.importorskip("sklearn.frozen").FrozenEstimator):
        def predict(self, X):
            return np.zeros(len(X))

        def transform(self, X):
            return np.clip(self.estimator.transform(X), -50.0, 50.0)

    scaler, machine = scaled().fit(X, Y)
    for model in (Other(machine), make_pipeline(Other(scaler), machine)):
        message = "Other, a subclass of FrozenEstimator, is not supported"
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(model)


def test_frozen_steps_of_a_pipeline_are_read():
    FrozenEstimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    plain = scaled().fit(X, Y)
    frozen = make_pipeline(FrozenEstimator(plain[0]), FrozenEstimator(plain[1])).fit(X, Y)
    np.testing.assert_array_equal(
        pkex.Explainer(frozen).shap_values(X), pkex.Explainer(plain).shap_values(X)
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [("FixedThresholdClassifier", {"threshold": 0.3}), ("TunedThresholdClassifierCV", {"cv": 3})],
)
def test_a_threshold_classifier_is_explained_by_the_decision_function_beneath(name, options):
    threshold_class = getattr(sklearn.model_selection, name, None)
    if threshold_class is None:
        pytest.skip("newer than this scikit-learn")
    model = threshold_class(scaled(SVC()), **options).fit(X, TWO)
    assert_values(model, brute_force(model.estimator_, ROWS))
    assert_adds_up(model, model.decision_function(X))
    message = f"{name}.predict cannot be explained: the threshold.*or its decision_function"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.predict, value_function="neutral")
    with pytest.raises(NotFittedError):
        pkex.Explainer(threshold_class(SVC()), value_function="neutral")


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
def test_a_calibrated_classifier_is_explained_before_calibration(target):
    model = CalibratedClassifierCV(scaled(SVC()), ensemble=False, cv=3).fit(X, target)
    beneath = model.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(
        pkex.Explainer(model).shap_values(X), pkex.Explainer(beneath).shap_values(X)
    )
    if target is TWO:
        assert_adds_up(model, beneath.decision_function(X))
    message = r"predict_proba cannot be explained: the calibration.*whose decision_function before"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.predict_proba)


def test_a_calibrated_frozen_classifier_is_explained_before_calibration():
    FrozenEstimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    beneath = scaled(SVC()).fit(X, TWO)
    model = CalibratedClassifierCV(FrozenEstimator(beneath), method="isotonic").fit(X, TWO)
    assert_values(model, brute_force(beneath, ROWS))


def test_several_calibrated_classifiers_are_refused_with_the_remedy():
    model = CalibratedClassifierCV(scaled(SVC()), cv=3, ensemble=True).fit(X, TWO)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"of 3 classifiers is not.*probabilities.*ensemble=False"
    ):
        pkex.Explainer(model)


# --- targets ---


TARGET_TRANSFORMERS = {
    "StandardScaler": StandardScaler(),
    "StandardScaler, no mean": StandardScaler(with_mean=False),
    "StandardScaler, no deviation": StandardScaler(with_std=False),
    "MinMaxScaler": MinMaxScaler((-2.0, 3.0)),
    "MaxAbsScaler": MaxAbsScaler(),
    "RobustScaler": RobustScaler(),
    "RobustScaler, no centring": RobustScaler(with_centering=False),
    "RobustScaler, no scaling": RobustScaler(with_scaling=False),
    "identity": FunctionTransformer(),
    "none": None,
}


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", TARGET_TRANSFORMERS)
def test_a_transformed_target_is_explained_in_its_own_units(name, scale):
    target = scale * (Y + 3.0)
    transformer = TARGET_TRANSFORMERS[name]
    model = TransformedTargetRegressor(scaled(PRECISE), transformer=transformer).fit(X, target)
    inverse = model.transformer_.inverse_transform
    slope = (inverse(np.array([[1e3]])) - inverse(np.array([[0.0]])))[0, 0] / 1e3
    assert_values(model, combined([slope], [brute_force(model.regressor_, ROWS)]))
    explanation = pkex.Explainer(model.predict, value_function="neutral")(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(X), rtol=1e-11)


@pytest.mark.parametrize("target", [TARGETS, TARGETS[:, :1]], ids=["three", "a column"])
def test_several_transformed_targets_are_explained_in_their_own_units(target):
    for transformer in (StandardScaler(), MinMaxScaler(), RobustScaler(), None):
        regressor = scaled(KernelRidge(kernel="rbf"))
        model = TransformedTargetRegressor(regressor, transformer=transformer).fit(X, target)
        explanation = pkex.Explainer(model)(X)
        total = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(total, model.predict(X), rtol=1e-10)
        alone = pkex.Explainer(model.regressor_)(X)
        inverse = model.transformer_.inverse_transform
        zero = np.zeros((1, target.shape[1]))
        slope = inverse(zero + 1.0) - inverse(zero)
        expected = alone.values.reshape(explanation.values.shape) * slope
        np.testing.assert_allclose(explanation.values, expected, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed:UserWarning")
def test_a_target_that_is_a_column_has_an_output_axis_as_predict_has():
    model = TransformedTargetRegressor(scaled(), transformer=StandardScaler()).fit(X, Y[:, None])
    assert model.predict(X).shape == (len(X), 1)
    assert_adds_up(model, model.predict(X))


@pytest.mark.parametrize(
    ("named", "options"),
    [
        ("func and inverse_func", {"func": np.log1p, "inverse_func": np.expm1}),
        (
            "the transformer QuantileTransformer",
            {"transformer": QuantileTransformer(n_quantiles=9)},
        ),
        ("the transformer MinMaxScaler.clip=True", {"transformer": MinMaxScaler(clip=True)}),
    ],
)
def test_target_transformers_that_are_not_affine_are_refused_by_name(named, options):
    model = TransformedTargetRegressor(scaled(), **options).fit(X, np.exp(Y))
    message = f"TransformedTargetRegressor with {named}.*affine.*regressor_"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)
    assert pkex.Explainer(model.regressor_)


class Odd(StandardScaler):
    def inverse_transform(self, X, copy=None):
        return 2.0 * super().inverse_transform(X)


def test_target_transformers_that_compute_something_else_are_refused():
    model = TransformedTargetRegressor(scaled(), transformer=Odd(), check_inverse=False).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="Odd replaces scikit-learn's inverse"):
        pkex.Explainer(model)


class Mine(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def inverse_transform(self, X):
        return X


def test_target_transformers_of_others_are_refused():
    model = TransformedTargetRegressor(scaled(), transformer=Mine()).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="Mine"):
        pkex.Explainer(model)


def test_several_outputs_are_stacked():
    model = MultiOutputRegressor(scaled(PRECISE)).fit(X, TARGETS)
    parts = [brute_force(part, ROWS) for part in model.estimators_]
    assert_values(model, combined(np.eye(3), parts))
    explanation = assert_adds_up(model, model.predict(X))
    assert explanation.output_names == ["y0", "y1", "y2"]
    one = pkex.Explainer(model, outputs="y1")
    np.testing.assert_array_equal(one.shap_values(X), explanation.values[..., 1])
    assert one.expected_value == explanation.base_values[0, 1]
    two = pkex.Explainer(model, outputs=[2, 0])(X)
    np.testing.assert_array_equal(two.values, explanation.values[..., [2, 0]])


# --- several classes ---


def test_one_vs_rest_has_an_output_for_each_class():
    model = OneVsRestClassifier(scaled(SVC())).fit(X, THREE)
    parts = [brute_force(part, ROWS) for part in model.estimators_]
    assert_values(model, combined(np.eye(3), parts))
    explanation = assert_adds_up(model, model.decision_function(X))
    assert explanation.output_names == ["a", "b", "c"]
    assert pkex.Explainer(model.decision_function, value_function="neutral")
    with pytest.raises(pkex.UnsupportedModelError, match="predict cannot"):
        pkex.Explainer(model.predict, value_function="neutral")


def test_one_vs_rest_of_two_classes_has_one_output_positive_for_the_second():
    model = OneVsRestClassifier(scaled(SVC())).fit(X, TWO)
    explanation = assert_adds_up(model, model.decision_function(X))
    assert explanation.output_names is None
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_array_equal(total > 0, model.predict(X) == "yes")


def test_one_vs_rest_of_labels_has_an_output_for_each_label():
    model = OneVsRestClassifier(scaled(SVC())).fit(X, LABELS)
    explanation = assert_adds_up(model, model.decision_function(X))
    assert explanation.output_names == ["0", "1", "2"]


def test_one_vs_one_has_an_output_for_each_pair_signed_and_named_as_those_of_svc():
    model = OneVsOneClassifier(scaled(SVC(gamma=0.2))).fit(X, THREE)
    parts = [brute_force(part, ROWS) for part in model.estimators_]
    assert_values(model, combined(-np.eye(3), parts))
    pairs = -np.column_stack([part.decision_function(X) for part in model.estimators_])
    explanation = assert_adds_up(model, pairs)
    alone = pkex.Explainer(
        SVC(gamma=0.2).fit(StandardScaler().fit_transform(X), THREE), value_function="neutral"
    )
    assert explanation.output_names == alone(X).output_names == ["a vs b", "a vs c", "b vs c"]
    for name, (a, b) in zip(
        explanation.output_names, itertools.combinations("abc", 2), strict=True
    ):
        part = explanation[..., name]
        sure = np.abs(part.values.sum(axis=1) + part.base_values) > 1.0
        total = (part.values.sum(axis=1) + part.base_values)[sure]
        of_pair = np.isin(THREE[sure], [a, b])
        np.testing.assert_array_equal(total[of_pair] > 0, THREE[sure][of_pair] == a)


def test_one_vs_one_of_two_classes_is_positive_for_the_second():
    model = OneVsOneClassifier(scaled(SVC())).fit(X, TWO)
    explanation = assert_adds_up(model, model.estimators_[0].decision_function(X))
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_array_equal(total > 0, model.predict(X) == "yes")
    assert explanation.output_names is None


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "wrap",
    [lambda model: model, lambda model: GridSearchCV(model, {}, cv=2), scaled],
    ids=["alone", "in a search", "in a pipeline"],
)
def test_the_votes_of_one_vs_one_are_refused_with_what_is_explained(wrap, target):
    model = wrap(OneVsOneClassifier(scaled(SVC(gamma=0.2)))).fit(X, target)
    for method in (model.predict, model.decision_function):
        with pytest.raises(
            pkex.UnsupportedModelError, match=r"'a vs b'; votes and class.*Pass the model"
        ):
            pkex.Explainer(method)
    explainer = pkex.Explainer(model)
    assert "decision value of" in repr(explainer)
    total = explainer.shap_values(X).sum(axis=1) + explainer.expected_value
    sign = -1.0 if target is THREE else 1.0
    np.testing.assert_array_equal(
        np.sign(total).reshape(len(X), -1), sign * values_of_pairs(model, X)
    )


def values_of_pairs(model, rows):
    """The signs of the machines' values, seen from outside."""
    while not hasattr(model, "estimators_"):
        if isinstance(model, Pipeline):
            rows, model = model[:-1].transform(rows), model[-1]
        else:
            model = model.best_estimator_
    return np.sign(np.column_stack([part.decision_function(rows) for part in model.estimators_]))


def test_one_vs_one_within_a_model_that_reads_its_votes_is_refused():
    model = OneVsRestClassifier(OneVsOneClassifier(scaled(SVC()))).fit(X, THREE)
    with pytest.raises(pkex.UnsupportedModelError, match="OneVsRestClassifier of OneVsOne"):
        pkex.Explainer(model)


# --- averages ---


@pytest.mark.parametrize(
    "options",
    [{}, {"max_features": 3}, {"max_features": 0.5, "bootstrap": False, "max_samples": 40}],
    ids=str,
)
def test_bagging_is_explained_as_the_average(options):
    model = BaggingRegressor(scaled(), n_estimators=7, random_state=0, **options).fit(X, Y)
    chosen = model.estimators_features_
    parts = [
        brute_force(part, ROWS, columns)
        for part, columns in zip(model.estimators_, chosen, strict=True)
    ]
    assert_values(model, combined(np.full(7, 1 / 7), parts))
    explanation = assert_adds_up(model, model.predict(X))
    unused = np.setdiff1d(np.arange(D), np.concatenate(chosen))
    assert np.all(explanation.values[:, unused] == 0.0)


def test_bagging_of_several_targets_is_explained_as_the_average():
    targets = TARGETS / np.abs(TARGETS).max(axis=0)
    regressor = scaled(KernelRidge(kernel="laplacian"))
    model = BaggingRegressor(regressor, n_estimators=3, max_features=4, random_state=0)
    model.fit(X, targets)
    explanation = assert_adds_up(model, model.predict(X))
    parts = [
        pkex.Explainer(part).shap_values(X[:, columns])
        for part, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    expected = np.zeros((len(X), D, 3))
    for part, columns in zip(parts, model.estimators_features_, strict=True):
        expected[:, columns] += part / 3
    np.testing.assert_allclose(explanation.values, expected, atol=1e-13)


@pytest.mark.parametrize("is_searched", [False, True])
def test_bagging_in_parallel_starts_no_workers_for_the_check(is_searched, monkeypatch):
    model = BaggingRegressor(scaled(), n_estimators=4, random_state=0)
    model = GridSearchCV(model, {}, cv=2).fit(X, Y) if is_searched else model.fit(X, Y)
    bagging = model.best_estimator_ if is_searched else model
    bagging.n_jobs = 2

    def parallel(*args, n_jobs=None, **kwargs):
        assert n_jobs in (None, 1)
        return original(*args, n_jobs=n_jobs, **kwargs)

    original = sklearn.ensemble._bagging.Parallel
    monkeypatch.setattr(sklearn.ensemble._bagging, "Parallel", parallel)
    assert pkex.Explainer(model)
    assert bagging.n_jobs == 2


def test_bagging_may_give_a_model_a_column_twice():
    model = BaggingRegressor(scaled(), bootstrap_features=True, random_state=0).fit(X, Y)
    assert any(len(set(columns)) < len(columns) for columns in model.estimators_features_)
    values = pkex.Explainer(model, X[:5]).shap_values(ROWS)
    for row, found in zip(ROWS, values, strict=True):
        expected, _ = interventional(model.predict, row, X[:5])
        expected.assert_close(found)


@pytest.mark.parametrize("weights", [None, [1, 5, 0.5]])
def test_voting_is_explained_as_the_weighted_average(weights):
    members = [("a", scaled()), ("b", "drop"), ("c", scaled(SVR(gamma=0.7)))]
    model = VotingRegressor(members, weights=weights).fit(X, Y)
    parts = [brute_force(part, ROWS) for part in model.estimators_]
    share = np.array([0.5, 0.5] if weights is None else [1 / 1.5, 0.5 / 1.5])
    assert_values(model, combined(share, parts))
    assert_adds_up(model, model.predict(X))


def test_models_of_different_kernels_and_steps_are_averaged():
    members = [
        ("svr", make_pipeline(RobustScaler(), SVR())),
        ("ridge", make_pipeline(QuantileTransformer(n_quantiles=20), KernelRidge(kernel="rbf"))),
        ("laplacian", scaled(KernelRidge(kernel="laplacian"))),
        ("search", GridSearchCV(scaled(), {"svr__C": [1, 2]}, cv=2)),
        ("bag", BaggingRegressor(scaled(), n_estimators=3, max_features=2, random_state=0)),
        ("target", TransformedTargetRegressor(scaled(), transformer=StandardScaler())),
    ]
    model = VotingRegressor(members).fit(X, Y)
    explanation = assert_adds_up(model, model.predict(X))
    parts = [pkex.Explainer(part).shap_values(X) for part in model.estimators_]
    np.testing.assert_allclose(explanation.values, np.mean(parts, axis=0), atol=1e-13)


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor([("a", SVR()), ("b", Ridge())]),
        BaggingRegressor(Ridge(), n_estimators=2),
        TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
        GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2),
        RegressorChain(Ridge()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_unsupported_model_inside_is_named(model):
    target = TARGETS if isinstance(model, RegressorChain) else Y
    name = "RegressorChain" if isinstance(model, RegressorChain) else "Ridge"
    with pytest.raises(pkex.UnsupportedModelError, match=f"^{name} is not supported"):
        pkex.Explainer(model.fit(X / np.abs(X).max(axis=0), target))


# name: (unfitted model, target, its method)
MADE_OF_OTHERS = {
    "MultiOutputRegressor": (MultiOutputRegressor(scaled()), TARGETS, "predict"),
    "OneVsRestClassifier": (OneVsRestClassifier(scaled(SVC())), THREE, "decision_function"),
    "OneVsOneClassifier": (OneVsOneClassifier(scaled(SVC())), THREE, "decision_function"),
    "BaggingRegressor": (BaggingRegressor(scaled(), n_estimators=2), Y, "predict"),
    "VotingRegressor": (VotingRegressor([("a", scaled())]), Y, "predict"),
    "TransformedTargetRegressor": (TransformedTargetRegressor(scaled()), Y, "predict"),
    "GridSearchCV": (GridSearchCV(scaled(), {}, cv=2), Y, "predict"),
}


@pytest.fixture(params=MADE_OF_OTHERS)
def made(request):
    model, target, method = MADE_OF_OTHERS[request.param]
    return sklearn.base.clone(model).fit(X, target), method


def test_a_pickle_explains_to_equal_bits(made):
    explainer = pkex.Explainer(made[0])
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again(X).values, explainer(X).values)
    assert repr(again) == repr(explainer)


def test_explaining_row_by_row_gives_equal_bits(made):
    explainer = pkex.Explainer(made[0])
    values = explainer.shap_values(ROWS)
    for row, expected in zip(ROWS, values, strict=True):
        np.testing.assert_array_equal(explainer.shap_values(row[None])[0], expected)
    for n_jobs in (1, 2):
        again = pkex.Explainer(made[0], n_jobs=n_jobs).shap_values(ROWS)
        np.testing.assert_array_equal(again, values)


def test_methods_and_summations_agree(made):
    values = pkex.Explainer(made[0]).shap_values(ROWS)
    for options in ({"method": "recursion"}, {"summation": "plain"}):
        other = pkex.Explainer(made[0], **options).shap_values(ROWS)
        np.testing.assert_allclose(other, values, rtol=0, atol=1e-12 * np.abs(values).max())


def test_unfitted_models_are_reported_as_such(made):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(sklearn.base.clone(made[0]))


def test_an_explainer_of_one_job_is_made_by_one_thread(made, monkeypatch):
    def count(n_jobs):
        assert n_jobs == 1
        return 1

    for module in ("expansion", "explainer", "functions"):
        monkeypatch.setattr(f"pkex.{module}.thread_count", count)
    for value_function in ("interventional", "marginal"):
        explainer = pkex.Explainer(made[0], X[:3], value_function=value_function, n_jobs=1)
        assert explainer(ROWS).values.shape[0] == len(ROWS)


CODED = np.column_stack([np.arange(70) % 3, np.arange(70) % 4 + 10, BASE[:, 1:3]])


def coded(column, model=None):
    encode = ColumnTransformer([("code", OneHotEncoder(), [column])], remainder="passthrough")
    return make_pipeline(encode, SVR() if model is None else model)


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor([("a", coded(0)), ("b", SVR())]),
        VotingRegressor([("a", SVR()), ("b", coded(0)), ("c", coded(1))]),
        VotingRegressor([("a", coded(0)), ("b", VotingRegressor([("a", SVR())]))]),
        VotingRegressor([("a", make_pipeline("passthrough", coded(1))), ("b", scaled())]),
        BaggingRegressor(coded(1), n_estimators=3, random_state=0),
    ],
    ids=["one encodes", "each another", "nested", "chained", "all encode"],
)
def test_models_of_which_some_encode_a_column_are_explained(model, monkeypatch):
    model.fit(CODED, Y)
    values = pkex.Explainer(model, CODED[:5]).shap_values(CODED[20:22])
    for row, found in zip(CODED[20:22], values, strict=True):
        expected, _ = interventional(model.predict, row, CODED[:5])
        expected.assert_close(found)
    own = type(model).predict
    monkeypatch.setattr(type(model), "predict", lambda self, rows: own(self, rows) + 1e-6)
    with pytest.raises(pkex.UnsupportedModelError, match="for a row for which"):
        pkex.Explainer(model)


def test_missing_and_infinite_entries_are_refused(made):
    explainer = pkex.Explainer(made[0])
    for value, message in ((np.nan, "missing entry"), (np.inf, "infinite entry")):
        rows = ROWS.copy()
        rows[2, 3] = value
        with pytest.raises(ValueError, match=rf"X has .*{message}.*in row 2, column 3"):
            explainer(rows)


def test_models_fitted_on_frames_keep_their_names(made):
    model, method = made
    frame = pd.DataFrame(X, columns=list("abcde"))
    target = next(t for m, t, _ in MADE_OF_OTHERS.values() if type(m) is type(model))
    again = sklearn.base.clone(model).fit(frame, target)
    if isinstance(model, OneVsOneClassifier):
        assert pkex.Explainer(again)(frame).feature_names == list("abcde")
    else:
        explainer = pkex.Explainer(getattr(again, method))
        assert explainer(frame).feature_names == list("abcde")
        total = explainer(frame).values.sum(axis=1) + explainer.expected_value
        np.testing.assert_allclose(total, getattr(again, method)(frame), rtol=1e-10)


def test_models_that_compute_something_else_are_refused(made):
    model, method = made

    class Other(type(model)):
        pass

    setattr(Other, method, lambda self, X: np.zeros(len(X)))
    model.__class__ = Other
    with pytest.raises(pkex.UnsupportedModelError, match=f"Other replaces scikit-learn's {method}"):
        pkex.Explainer(model)


def test_models_changed_after_fitting_are_refused(made):
    model, _ = made
    inner = model
    for name in ("best_estimator_", "regressor_", "estimators_"):
        inner = getattr(inner, name, inner)
    pipelines = inner if isinstance(inner, list | tuple) else [inner]
    pipelines[-1][-1].intercept_ = pipelines[-1][-1].intercept_ + 1.0
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting"):
        pkex.Explainer(model)


# --- the functions themselves ---

WIDE = pkex.KernelExpansion(BASE, Y, pkex.kernels.RBF(2.0), 1.0)
NARROW = pkex.KernelExpansion(BASE[:40], Y[:40], pkex.kernels.Laplacian(0.5), -2.0)


def test_functions_of_other_features_or_outputs_cannot_be_combined():
    of_two = pkex.KernelExpansion(BASE[:, :2], Y, pkex.kernels.RBF())
    of_column = pkex.KernelExpansion(BASE, Y[:, None], pkex.kernels.RBF())
    for other in (of_two, of_column):
        with pytest.raises(ValueError, match="same features and outputs"):
            Combination([WIDE, other])
    with pytest.raises(ValueError, match="one or more"):
        Stack([])
    with pytest.raises(ValueError, match="without an output axis"):
        Stack([of_column])
    with pytest.raises(ValueError, match="makes 3 columns"):
        Transformed(Selection(5, [0, 1, 2]), of_two)


def test_the_sum_over_parts_is_compensated():
    parts = [WIDE, NARROW] * 50
    weights = np.where(np.arange(100) % 2, 1e16, -1e16)
    cancelling = Combination([*[WIDE] * 100, NARROW], [*weights, 1.0])
    explain = {"method": "quadrature", "summation": "compensated", "n_threads": 1}
    np.testing.assert_array_equal(
        cancelling.explain(BASE[:3], **explain), NARROW.explain(BASE[:3], **explain)
    )
    assert Combination(parts).base(NEUTRAL) == pytest.approx(
        50 * (WIDE.base(NEUTRAL) + NARROW.base(NEUTRAL)), rel=1e-15
    )


def test_values_too_large_for_a_float_are_reported_with_their_row():
    huge = Combination([WIDE, WIDE], [1e308, 1e308])
    with pytest.raises(OverflowError, match="row 0"):
        huge.explain(BASE, method="quadrature", summation="compensated", n_threads=1)


def test_progress_of_many_parts_is_that_of_the_whole():
    reports = []
    stack = Stack([Combination([WIDE, NARROW]), NARROW])
    rows = np.tile(BASE, (2000, 1))
    stack.explain(
        rows,
        method="quadrature",
        summation="plain",
        n_threads=1,
        progress=lambda *report: reports.append(report),
    )
    assert len(reports) > 2
    assert reports == sorted(reports)
    (total,) = {total for _, total in reports}
    assert reports[0][0] < reports[-1][0] <= total
