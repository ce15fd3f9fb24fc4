"""Transformed targets, several outputs and several classes, against brute force."""

import itertools
import re

import numpy as np
import pytest
from brute_force import assert_explained
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from wrapped_models import (
    BASE,
    ROWS,
    TARGETS,
    THREE,
    TWO,
    X,
    Y,
    assert_adds_up,
    assert_values,
    brute_force,
    combined,
    scaled,
)

import pkex

LABELS = np.column_stack([Y > 0.0, BASE[:, 0] > 0.3, BASE[:, 2] < 0.0]).astype(int)
# Has support vectors for targets of any size.
PRECISE = SVR(C=3.0, epsilon=1e-9, tol=1e-9)


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
        ("func and inverse_func", {"func": np.arcsinh, "inverse_func": np.sinh}),
        (
            "the transformer QuantileTransformer",
            {"transformer": QuantileTransformer(n_quantiles=9)},
        ),
        ("the transformer MinMaxScaler.clip=True", {"transformer": MinMaxScaler(clip=True)}),
    ],
)
def test_target_transformers_that_are_not_affine_are_refused_by_name(named, options):
    model = TransformedTargetRegressor(scaled(), **options).fit(X, np.exp(Y))
    message = f"TransformedTargetRegressor with {named}.*regressor_.*affine"
    with pytest.raises(pkex.UnsupportedModelError, match=message) as raised:
        pkex.Explainer(model)
    assert pkex.Explainer(model.regressor_)
    explainer = advised(raised, model=model, background=X[:5])
    assert_explained(explainer, model.predict, X[:2], X[:5])


@pytest.mark.filterwarnings("ignore:The provided functions.*:UserWarning")
def test_several_targets_that_are_not_affine_are_explained_by_the_advice():
    targets = np.column_stack([np.exp(Y), np.exp(-Y)])
    model = TransformedTargetRegressor(
        scaled(KernelRidge(kernel="rbf")), transformer=PowerTransformer()
    )
    with pytest.raises(pkex.UnsupportedModelError) as raised:
        pkex.Explainer(model.fit(X, targets))
    explainer = advised(raised, model=model, background=X[:5])
    assert_explained(explainer, model.predict, X[:2], X[:5])


def advised(raised, **names):
    """The explainer that a message says how to make."""
    call = re.search(r"pkex\.Explainer\(model.*?\) (?=explains)", str(raised.value))[0]
    return eval(call, {"pkex": pkex, "np": np} | names)


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
