"""Linear survival models of scikit-survival, by brute force through their own predictions."""

import numpy as np
import pytest
from brute_force import assert_explained
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pkex

linear_model = pytest.importorskip("sksurv.linear_model")
datasets = pytest.importorskip("sksurv.datasets")

X, Y = datasets.load_whas500()
X = X.astype(float)[["age", "bmi", "chf", "diasbp", "hr"]]
ROWS, BACKGROUND = X.to_numpy()[40:42], X.to_numpy()[:6]

MODELS = {
    "Cox": linear_model.CoxPHSurvivalAnalysis(alpha=0.1),
    "Coxnet": linear_model.CoxnetSurvivalAnalysis(l1_ratio=0.5),
    "normalized": linear_model.CoxnetSurvivalAnalysis(normalize=True),
    "pipeline": make_pipeline(StandardScaler(), linear_model.CoxPHSurvivalAnalysis()),
}


@pytest.mark.parametrize("name", MODELS)
def test_risk_scores_and_hazard_ratios_equal_brute_force(name):
    model = MODELS[name].fit(X.to_numpy(), Y)
    assert_explained(pkex.Explainer(model, BACKGROUND), model.predict, ROWS, BACKGROUND)
    explainer = pkex.Explainer(model, BACKGROUND, target="hazard-ratio")
    assert repr(explainer).startswith("Explainer(hazard ratio of ")
    assert_explained(explainer, lambda rows: np.exp(model.predict(rows)), ROWS, BACKGROUND)


def test_without_a_background_absent_features_have_the_values_of_the_subject_compared_with():
    for name in ("Cox", "Coxnet"):
        model = MODELS[name].fit(X.to_numpy(), Y)
        explainer = pkex.Explainer(model, target="hazard-ratio", value_function="neutral")
        at_zero = np.exp(model.predict(np.zeros((1, X.shape[1]))))
        np.testing.assert_allclose(explainer(ROWS).base_values, at_zero[[0, 0]], rtol=1e-12)


def test_survival_times_are_exponentials():
    model = linear_model.IPCRidge().fit(X.to_numpy(), Y)
    assert_explained(pkex.Explainer(model, BACKGROUND), model.predict, ROWS, BACKGROUND)
    explainer = pkex.Explainer(model, BACKGROUND, target="log-mean")
    assert_explained(explainer, lambda rows: np.log(model.predict(rows)), ROWS, BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="needs a proportional hazards model"):
        pkex.Explainer(model, BACKGROUND, target="hazard-ratio")


def test_survival_functions_are_not_explained():
    model = linear_model.CoxPHSurvivalAnalysis().fit(X.to_numpy(), Y)
    with pytest.raises(pkex.UnsupportedModelError, match="survival functions and cumulative haz"):
        pkex.Explainer(model.predict_survival_function, BACKGROUND)


def test_names_are_those_of_the_frame():
    model = linear_model.CoxPHSurvivalAnalysis().fit(X, Y)
    explainer = pkex.Explainer(model, X[:6], target="hazard-ratio")
    assert explainer.feature_names == list(X)
    assert explainer(X[:3]).values.shape == (3, 5)


class Doubled(linear_model.CoxPHSurvivalAnalysis):
    def predict(self, X):
        return 2.0 * super().predict(X)


def test_what_is_not_understood_is_named():
    with pytest.raises(pkex.UnsupportedModelError, match="Doubled, a subclass of scikit-survival"):
        pkex.Explainer(Doubled().fit(X, Y), BACKGROUND)
    with pytest.raises(NotFittedError):
        pkex.Explainer(linear_model.CoxPHSurvivalAnalysis(), BACKGROUND)
