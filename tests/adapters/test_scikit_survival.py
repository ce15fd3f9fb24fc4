"""scikit-survival's support vector machines, by brute force through their own `predict`."""

import functools

import numpy as np
import pytest
from brute_force import assert_explained, neutral
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pkex

svm = pytest.importorskip("sksurv.svm")
load_whas500 = pytest.importorskip("sksurv.datasets").load_whas500
pytestmark = pytest.mark.filterwarnings("ignore:Optimization did not converge")

COLUMNS = ["age", "bmi", "chf", "gender", "hr", "sysbp"]
TABLE, Y = load_whas500()
TABLE, Y = TABLE[COLUMNS].astype(float).iloc[:80], Y[:80]
X = ((TABLE - TABLE.mean()) / TABLE.std()).to_numpy()
BACKGROUND, ROWS = X[:6], X[6:9]

TIMES = {"rank_ratio": 0.3, "fit_intercept": True}
MODELS = {
    "rbf": svm.FastKernelSurvivalSVM(),
    "rbf of a width": svm.FastKernelSurvivalSVM(gamma=0.3, optimizer="avltree"),
    "linear kernel": svm.FastKernelSurvivalSVM(kernel="linear"),
    "poly": svm.FastKernelSurvivalSVM(kernel="poly", degree=2, coef0=0.5),
    "polynomial": svm.FastKernelSurvivalSVM(kernel="polynomial", gamma=0.2),
    "laplacian": svm.FastKernelSurvivalSVM(kernel="laplacian"),
    "times by rbf": svm.FastKernelSurvivalSVM(**TIMES),
    "times by rbf, regression only": svm.FastKernelSurvivalSVM(rank_ratio=0.0),
    "linear": svm.FastSurvivalSVM(),
    "linear, large coefficients": svm.FastSurvivalSVM(alpha=1000.0, optimizer="PRSVM"),
    "times, linear": svm.FastSurvivalSVM(**TIMES),
    "hinge loss": svm.HingeLossSurvivalSVM(kernel="rbf", pairs="nearest"),
    "hinge loss, linear": svm.HingeLossSurvivalSVM(pairs="nearest"),
    "minimal Lipschitz": svm.MinlipSurvivalAnalysis(kernel="poly", degree=2),
    "naive": svm.NaiveSurvivalSVM(random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_predict(name):
    model = clone(MODELS[name]).fit(X, Y)
    explainer = pkex.Explainer(model, BACKGROUND)
    assert repr(explainer).startswith(f"Explainer(predict of {type(model).__name__}, 6 features")
    assert_explained(explainer, model.predict, ROWS, BACKGROUND)
    by_method = pkex.Explainer(model.predict, BACKGROUND)
    np.testing.assert_array_equal(by_method.shap_values(ROWS), explainer.shap_values(ROWS))


def test_a_high_risk_and_a_long_survival_have_positive_values():
    risks, times = svm.FastSurvivalSVM().fit(X, Y), svm.FastSurvivalSVM(**TIMES).fit(X, Y)
    oldest = X[[np.argmax(X[:, 0])]]
    assert pkex.Explainer(risks, X).shap_values(oldest)[0, 0] > 0.0
    assert pkex.Explainer(times, X).shap_values(oldest)[0, 0] < 0.0


def test_neutral_values_equal_brute_force_through_the_kernel_of_the_library():
    model = svm.FastKernelSurvivalSVM(gamma=0.3).fit(X, Y)
    found = pkex.Explainer(model, value_function="neutral").shap_values(ROWS)
    for row, values in zip(ROWS, found, strict=True):
        kernel = functools.partial(rbf_kernel, gamma=0.3)
        neutral(kernel, row, X, -model.coef_).assert_close(values)


def test_without_a_background_features_are_drawn_from_the_training_rows():
    risks = pkex.Explainer(svm.FastKernelSurvivalSVM().fit(X, Y))
    assert risks.value_function == "marginal"
    times = svm.FastKernelSurvivalSVM(**TIMES).fit(X, Y)
    explainer = pkex.Explainer(times)
    assert explainer.value_function == "interventional"
    np.testing.assert_allclose(explainer.expected_value, times.predict(X).mean(), rtol=1e-11)


def test_they_are_explained_in_pipelines_and_searches_of_tables():
    pipeline = make_pipeline(StandardScaler(), svm.FastKernelSurvivalSVM())
    search = GridSearchCV(pipeline, {"fastkernelsurvivalsvm__alpha": [1.0, 2.0]}, cv=2)
    search.fit(TABLE, Y)
    explainer = pkex.Explainer(search, TABLE)
    assert explainer.feature_names == COLUMNS
    explanation = explainer(TABLE[:3])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, search.predict(TABLE[:3]), rtol=1e-10)


def test_more_than_20_features_are_exact_except_for_survival_times_of_kernels():
    wide = np.hstack([X, X**2, X**3, np.sin(X)])
    linear, kernel = svm.FastSurvivalSVM(**TIMES), svm.FastKernelSurvivalSVM(**TIMES)
    for model, options in (
        (svm.FastKernelSurvivalSVM(), {}),
        (linear, {}),
        (linear, {"target": "log-mean"}),
        (kernel, {"target": "log-mean"}),
    ):
        explanation = pkex.Explainer(model.fit(wide, Y), wide[:5], **options)(wide[:2])
        own = model.predict(wide[:2])
        expected = np.log(own) if options else own
        total = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(total, expected, rtol=1e-10)
    explainer = pkex.Explainer(kernel, wide[:5])
    with pytest.raises(ValueError, match="all 2\\^24 coalitions"):
        explainer(wide)
    estimate = explainer.estimate(wide[:2], n_permutations=20, random_state=0)
    total = estimate.values.sum(axis=1) + estimate.base_values
    np.testing.assert_allclose(total, kernel.predict(wide[:2]), rtol=1e-10)


def test_the_logarithm_of_a_survival_time_equals_brute_force():
    model = svm.FastKernelSurvivalSVM(**TIMES).fit(X, Y)
    explainer = pkex.Explainer(model, BACKGROUND, target="log-mean")
    assert_explained(explainer, lambda rows: np.log(model.predict(rows)), ROWS, BACKGROUND)


def test_encoders_of_the_library_are_answered_with_those_of_scikit_learn():
    encoder = pytest.importorskip("sksurv.preprocessing").OneHotEncoder()
    table = TABLE.assign(gender=TABLE["gender"].astype("category"))
    model = make_pipeline(encoder, svm.FastSurvivalSVM()).fit(table, Y)
    with pytest.raises(pkex.UnsupportedModelError, match=r"of sksurv .* only scikit-learn's own"):
        pkex.Explainer(model, table)


class Doubled(svm.FastSurvivalSVM):
    def predict(self, X):
        return 2.0 * super().predict(X)


def dot(a, b):
    return float(a @ b)


def test_other_machines_and_kernels_are_errors_that_name_them():
    for model, message in (
        (svm.FastSurvivalSVM(), "FastSurvivalSVM is not fitted. Call fit first"),
        (svm.HingeLossSurvivalSVM(), "HingeLossSurvivalSVM is not fitted"),
        (Doubled().fit(X, Y), "Doubled, a subclass of scikit-survival's machines"),
        (
            svm.FastKernelSurvivalSVM(kernel="cosine").fit(X, Y),
            "FastKernelSurvivalSVM with kernel 'cosine'",
        ),
        (
            svm.FastKernelSurvivalSVM(kernel="precomputed").fit(rbf_kernel(X), Y),
            "fit it on rows of features, with kernel='rbf'",
        ),
        (svm.FastKernelSurvivalSVM(kernel=dot).fit(X, Y), "with the kernel dot is not supported"),
    ):
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(model, X)
    model = svm.FastSurvivalSVM().fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match=r"score cannot .* its predict, which is"):
        pkex.Explainer(model.score, X)
    model.rank_ratio = 0.5  # which decides about the sign and the exponential
    assert pkex.Explainer(model, X).expected_value > 0.0
