"""scikit-learn's linear models, alone and in models made of others: against brute force.

That all of their classes keep the contract of what is explained is tested there.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
from brute_force import Reference, assert_explained, coalitions, shapley_weights
from linear_models import LINEAR_MODELS, TARGETS, THREE, TWO, D, X, Y, fit_quietly
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.cross_decomposition import CCA, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    RANSACRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import pkex

RNG = np.random.default_rng(1)
ROWS, BACKGROUND = RNG.normal(size=(3, D)), X[:6]


def assert_interventional(model, output, rows=ROWS, background=BACKGROUND):
    """Compare with brute force through the model's own output."""
    explainer = pkex.Explainer(model, background)
    assert_explained(explainer, output, rows, background)
    return explainer


# --- alone ---


@pytest.mark.parametrize("name", LINEAR_MODELS)
def test_neutral_values_are_those_of_rows_whose_absent_entries_are_0(name):
    model, target, method = LINEAR_MODELS[name]
    model = fit_quietly(model, X, target)
    output = getattr(model, method)
    explainer = pkex.Explainer(model, value_function="neutral")
    for row, found in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        masked = np.zeros((2**D, D))
        for number, members in enumerate(coalitions(D)):
            masked[number, members] = row[members]
        worths = output(masked)
        values = np.tensordot(shapley_weights(D), worths, axes=1)
        Reference(values, np.abs(worths).max() * np.ones_like(values)).assert_close(found)


@pytest.mark.parametrize("name", LINEAR_MODELS)
def test_the_method_itself_may_be_passed_and_others_are_refused(name):
    model, target, method = LINEAR_MODELS[name]
    model = fit_quietly(model, X, target)
    assert pkex.Explainer(getattr(model, method), X)
    if method == "decision_function":
        message = f"predict cannot be explained: only the decision .*or its {method}"
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(model.predict, X)


def test_labels_are_refused_with_what_to_pass():
    model = LogisticRegression().fit(X, TWO)
    with pytest.raises(pkex.UnsupportedModelError, match=r"log-odds.*or its decision_function"):
        pkex.Explainer(model.predict, X)


CLASSIFIERS = [LogisticRegression(), LinearSVC(), RidgeClassifier(), SGDClassifier(random_state=0)]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_two_classes_have_one_output_that_is_positive_for_the_second(model):
    model.fit(X, np.where(TWO, "yes", "no"))
    explainer = pkex.Explainer(model, X)
    assert explainer.output_names is None
    assert explainer.output_name == "yes vs no"
    explanation = explainer(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_array_equal(total > 0.0, model.predict(X) == "yes")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_more_classes_have_an_output_each_named_after_it(model):
    model.fit(X, np.array(["b", "c", "a"])[THREE])
    explainer = pkex.Explainer(model, X)
    assert explainer.output_names == ["a", "b", "c"]
    explanation = explainer(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_array_equal(model.classes_[total.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize(
    ("model", "target", "shape"),
    [
        (LinearRegression(), Y[:, None], (3, D, 1)),
        (LinearRegression(fit_intercept=False), TARGETS, (3, D, 2)),
        (Lasso(0.01), Y[:, None], (3, D)),
        (PLSRegression(1), Y[:, None], (3, D, 1)),
        (PLSRegression(2, scale=False), TARGETS, (3, D, 2)),
        (RidgeClassifier(), TARGETS > 0.5, (3, D, 2)),
        (LogisticRegression(fit_intercept=False), TWO, (3, D)),
        (TweedieRegressor(power=1.5, link="identity"), Y - Y.min() + 1.0, (3, D)),
    ],
    ids=str,
)
def test_outputs_have_the_shape_that_the_model_returns(model, target, shape):
    model.fit(X, target)
    output = model.decision_function if hasattr(model, "decision_function") else model.predict
    assert assert_interventional(model, output).shap_values(ROWS).shape == shape


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (SGDRegressor(random_state=0), Y),
        (SGDClassifier(random_state=0), TWO),
        (SGDClassifier(random_state=0), THREE),
        (SGDOneClassSVM(random_state=0), None),
        (LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=10_000, C=0.1), TWO)
        if hasattr(LogisticRegression(), "l1_ratio")
        else (LinearSVC(), TWO),
    ],
    ids=str,
)
def test_sparse_coefficients_are_read(model, target):
    model = fit_quietly(model, X, target)
    expected = pkex.Explainer(model, X).shap_values(ROWS)
    model.sparsify()
    np.testing.assert_array_equal(pkex.Explainer(model, X).shap_values(ROWS), expected)


@pytest.mark.parametrize("name", LINEAR_MODELS)
def test_models_fitted_on_single_precision_or_frames_are_read(name):
    model, target, method = LINEAR_MODELS[name]
    names = [f"column {j}" for j in range(D)]
    frame = pd.DataFrame(X.astype(np.float32), columns=names)
    model = fit_quietly(model, frame, target)
    output, explainer = getattr(model, method), pkex.Explainer(model, frame)
    explanation = explainer(frame)
    assert explanation.feature_names == names
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, output(frame), rtol=0, atol=1e-4 * np.abs(total).max())
    with pytest.raises(ValueError, match="X has other columns"):
        explainer(frame.rename(columns={"column 0": "other"}))


@pytest.mark.parametrize("model", [PLSRegression(2), CCA(1), LinearRegression()], ids=repr)
def test_columns_far_from_0_are_no_reason_to_refuse(model):
    far = 1e7 + X * [1e-3, 1.0, 1e3, 10.0, 1e-2]
    model.fit(far, TARGETS)
    explanation = pkex.Explainer(model, far)(far)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(far), rtol=0, atol=1e-4)


def test_that_a_class_is_on_its_way_out_is_said_when_it_is_made_and_not_again(recwarn):
    name = "PassiveAggressiveRegressor"
    if hasattr(sklearn.linear_model, name):
        model = fit_quietly(LINEAR_MODELS[name][0], X, Y)
        recwarn.clear()
        assert pkex.Explainer(model, X)(ROWS)
        assert not recwarn.list


# --- behind a logarithm as link ---


@pytest.mark.parametrize(
    "model",
    [
        PoissonRegressor(alpha=1e-3),
        GammaRegressor(),
        TweedieRegressor(power=1.5, alpha=1e-3),
        TweedieRegressor(link="log"),
    ],
    ids=str,
)
def test_log_links_are_explained_on_the_scale_of_the_response(model):
    model.fit(X, np.exp(0.3 * Y))
    assert_interventional(model, model.predict)
    explainer = pkex.Explainer(model, BACKGROUND, target="log-mean")
    linear = (ROWS - BACKGROUND.mean(axis=0)) * model.coef_
    np.testing.assert_allclose(explainer.shap_values(ROWS), linear, atol=1e-14)
    explanation = explainer(ROWS)
    assert "output 'logarithm of predict'" in repr(explanation)
    assert (
        "<h1>Explanation of the model&#x27;s output logarithm of predict<" in explanation.to_html()
    )
    with pytest.raises(ValueError, match=r"target='log-mean' needs a model; got its method"):
        pkex.Explainer(model.predict, BACKGROUND, target="log-mean")


@pytest.mark.parametrize("regressor", [Ridge(), SVR()], ids=str)
@pytest.mark.parametrize("functions", [(np.log, np.exp), (np.log1p, np.expm1)], ids=["log", "1+"])
def test_logarithms_of_targets_are_explained_in_units_of_the_target(regressor, functions):
    model = TransformedTargetRegressor(regressor, func=functions[0], inverse_func=functions[1])
    assert_interventional(model.fit(X, np.exp(0.3 * Y)), model.predict)
    if functions[1] is np.exp:
        log_mean = pkex.Explainer(model, BACKGROUND, target="log-mean").shap_values(ROWS)
        expected = pkex.Explainer(model.regressor_, BACKGROUND).shap_values(ROWS)
        np.testing.assert_array_equal(log_mean, expected)


@pytest.mark.parametrize("model", [Ridge(), TweedieRegressor(power=0)], ids=str)
def test_other_models_have_no_log_mean(model):
    message = "target='log-mean' needs a model that predicts the exponential of a sum"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.fit(X, Y), BACKGROUND, target="log-mean")
    with pytest.raises(pkex.UnsupportedModelError, match=f"this {type(model).__name__} does not"):
        pkex.Explainer(make_pipeline(model).fit(X, Y), BACKGROUND, target="log-mean")


def test_sparse_rows_behind_a_log_link_have_the_values_of_dense_ones():
    rows = sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    model = PoissonRegressor().fit(rows, np.exp(0.3 * Y))
    found = pkex.Explainer(model, rows[:6])(rows[6:9]).values
    expected = pkex.Explainer(model, rows[:6].toarray())(rows[6:9].toarray()).values
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-16)


def test_many_features_behind_a_log_link_are_exact():
    # Of d features with equal terms u against a single row, each has a share of exp(d u) − 1.
    model = PoissonRegressor(alpha=0.0).fit(np.ones((3, 300)), np.ones(3))
    model.coef_, model.intercept_ = np.full(300, 0.01), -2.0
    values = pkex.Explainer(model, np.zeros((1, 300))).shap_values(np.ones((1, 300)))
    np.testing.assert_allclose(values, np.exp(-2.0) * np.expm1(3.0) / 300.0, rtol=1e-13)


@pytest.mark.parametrize("model", [LogisticRegression(), LinearDiscriminantAnalysis()], ids=str)
def test_odds_are_explained_as_products(model):
    model.fit(X, TWO)

    def odds(rows):
        probabilities = model.predict_proba(rows)
        return probabilities[:, 1] / probabilities[:, 0]

    explainer = pkex.Explainer(model, BACKGROUND, target="odds")
    assert repr(explainer).startswith("Explainer(odds of ")
    assert_explained(explainer, odds, ROWS, BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="target='odds' needs a classifier of two"):
        pkex.Explainer(model.fit(X, THREE), BACKGROUND, target="odds")


# --- what is refused ---


def test_a_subclass_that_computes_something_else_is_refused():
    class Clipped(Ridge):
        def predict(self, X):
            return np.clip(super().predict(X), 0.0, 1.0)

    with pytest.raises(pkex.UnsupportedModelError, match="Clipped replaces scikit-learn's predict"):
        pkex.Explainer(Clipped().fit(X, Y), X)


def test_attributes_that_cannot_be_used_are_named():
    model = Ridge().fit(X, Y)
    model.coef_ = model.coef_[:3]
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"Ridge.coef_ has 3 .* n_features_in_ is 5"
    ):
        pkex.Explainer(model, X)
    model.coef_ = np.full(D, np.nan)
    with pytest.raises(pkex.UnsupportedModelError, match=r"unusable fitted attributes.*missing"):
        pkex.Explainer(model, X)


def test_a_background_is_asked_for_where_a_linear_model_is_inside():
    inside = VotingRegressor([("a", SVR()), ("b", make_pipeline(StandardScaler(), Ridge()))])
    for model in (Ridge(), inside, BaggingRegressor(Ridge())):
        with pytest.raises(ValueError, match=r"background is required.*X_train.*linear model"):
            pkex.Explainer(model.fit(X, Y))
        with pytest.raises(ValueError, match="background is required"):
            pkex.Explainer(model, value_function="marginal")
        assert pkex.Explainer(model, value_function="neutral")


# --- in pipelines ---


def test_a_scaled_linear_model_is_explained_in_the_units_of_its_input():
    rows = X * [1e-6, 1.0, 1e6, 100.0, 10.0] + [0.0, 5.0, -1e6, 1e4, 0.0]
    model = make_pipeline(StandardScaler(), Ridge()).fit(rows, Y)
    assert_interventional(model, model.predict, rows[:3], rows[10:16])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two", "three"])
def test_categories_before_a_logistic_regression_are_one_feature_each(classes, is_sparse):
    coded = np.column_stack([np.arange(50) % 3, X[:, 0], np.arange(50) % 4 + 10, X[:, 1]])
    encode = ColumnTransformer(
        [
            ("codes", OneHotEncoder(sparse_output=is_sparse, handle_unknown="ignore"), [0, 2]),
            ("numbers", StandardScaler(), [1, 3]),
        ]
    )
    model = make_pipeline(encode, LogisticRegression()).fit(coded, classes)
    assert_interventional(model, model.decision_function, coded[20:23], coded[:7])


def test_skewed_columns_before_a_linear_model_are_explained_without_a_warning():
    rows = np.abs(X)
    model = make_pipeline(PowerTransformer(), Ridge(1e3)).fit(rows, Y)
    assert_interventional(model, model.predict, rows[:3], rows[10:16])


def test_strings_have_the_values_of_their_codes():
    numbers = pd.DataFrame({"city": np.arange(50) % 3, "age": X[:, 0], "bmi": X[:, 1]})
    strings = numbers.assign(city=np.array(["Rome", "Oslo", "Bern"])[np.arange(50) % 3])
    strings.loc[4, "age"] = numbers.loc[4, "age"] = np.nan

    def explained(table):
        steps = make_column_transformer(
            (OneHotEncoder(), ["city"]),
            (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "bmi"]),
        )
        model = make_pipeline(steps, LogisticRegression(tol=1e-12)).fit(table, TWO)
        return pkex.Explainer(model, table)(table), model.decision_function(table)

    explanation, output = explained(strings)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, output, rtol=0, atol=1e-12)
    assert explanation.feature_names == ["city", "age", "bmi"]
    # The same categories in another order.
    np.testing.assert_allclose(explanation.values, explained(numbers)[0].values, atol=1e-6)


# --- in models made of others ---

MEMBERS = [("svr", SVR()), ("ridge", make_pipeline(StandardScaler(), Ridge()))]

# name: (unfitted model, target, method)
MADE_OF_LINEAR = {
    "VotingRegressor": (VotingRegressor(MEMBERS, weights=[1.0, 3.0]), Y, "predict"),
    "of all kinds": (
        VotingRegressor(
            [
                *MEMBERS,
                ("kernel ridge", KernelRidge(kernel="laplacian")),
                ("lasso", TransformedTargetRegressor(Lasso(0.1), transformer=StandardScaler())),
                ("search", GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)),
                ("consensus", RANSACRegressor(SVR(), min_samples=20, random_state=0)),
            ]
        ),
        Y,
        "predict",
    ),
    "BaggingRegressor": (
        BaggingRegressor(Ridge(), n_estimators=5, max_features=0.6, random_state=0),
        TARGETS,
        "predict",
    ),
    "MultiOutputRegressor": (MultiOutputRegressor(Ridge()), TARGETS, "predict"),
    "TransformedTargetRegressor": (
        TransformedTargetRegressor(transformer=StandardScaler()),
        100.0 * Y,
        "predict",
    ),
    "RANSACRegressor of a column": (RANSACRegressor(random_state=0), Y[:, None], "predict"),
    "OneVsRestClassifier": (OneVsRestClassifier(LogisticRegression()), THREE, "decision_function"),
    "OneVsRestClassifier of two": (OneVsRestClassifier(LinearSVC()), TWO, "decision_function"),
}


@pytest.mark.parametrize("name", MADE_OF_LINEAR)
def test_models_that_hold_linear_ones_are_explained_whole(name):
    model, target, method = MADE_OF_LINEAR[name]
    model = clone(model).fit(X, target)
    assert_interventional(model, getattr(model, method))


def test_the_pairs_of_linear_machines_are_explained():
    model = OneVsOneClassifier(LinearSVC()).fit(X, THREE)
    explainer = pkex.Explainer(model, BACKGROUND)
    assert explainer.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    for machine, values in zip(
        model.estimators_, np.moveaxis(explainer.shap_values(ROWS), 2, 0), strict=True
    ):
        own = pkex.Explainer(machine, BACKGROUND).shap_values(ROWS)
        np.testing.assert_array_equal(values, -own)


def test_a_calibrated_linear_machine_is_explained_before_calibration():
    model = CalibratedClassifierCV(LinearSVC(), ensemble=False).fit(X, TWO)
    own = model.calibrated_classifiers_[0].estimator
    assert_interventional(model, own.decision_function)


def test_an_ensemble_of_changed_linear_models_is_refused():
    model = VotingRegressor([("a", SVR()), ("b", Ridge())]).fit(X, Y)
    original = model.estimators_[1].coef_.copy()
    for column in range(D):
        model.estimators_[1].coef_ = original.copy()
        adapted = pkex.adapters.adapt(model)
        model.estimators_[1].coef_[column] *= 1.0 + 1e-9
        with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting"):
            pkex.adapters.verify(adapted, model)


def test_svc_and_logistic_regression_do_not_confuse_their_signs():
    linear, kernel = LogisticRegression().fit(X, TWO), SVC().fit(X, TWO)
    for model in (linear, kernel):
        values = pkex.Explainer(model, X).shap_values(X)
        assert np.corrcoef(values[:, 0], X[:, 0])[0, 1] > 0.9
