"""Regressions of statsmodels, by brute force through their own predictions."""

import re

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from sklearn.linear_model import LogisticRegression

import pkex

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(150, 3)), columns=["a", "b", "c"])
DESIGN = sm.add_constant(FRAME)
X = DESIGN.to_numpy()
ROWS, BACKGROUND = X[7:9], X[:6]
COUNTS = RNG.poisson(np.exp(0.4 * FRAME["a"] - 0.5 * FRAME["b"] + 0.2))
POISSON, GAMMA = sm.families.Poisson(), sm.families.Gamma(sm.families.links.Log())

# name: fit to a design matrix
MODELS = {
    "Poisson": lambda x: sm.GLM(COUNTS, x, family=POISSON).fit(),
    "exposure": lambda x: sm.GLM(
        COUNTS, x, family=POISSON, exposure=np.exp(FRAME["c"].to_numpy())
    ).fit(),
    "gamma": lambda x: sm.GLM(COUNTS + 0.5, x, family=GAMMA).fit(),
    "Gaussian": lambda x: sm.GLM(COUNTS, x).fit(),
    "regularized": lambda x: sm.GLM(COUNTS, x, family=POISSON).fit_regularized(alpha=0.01),
    "least squares": lambda x: sm.OLS(COUNTS, x).fit(),
    "weighted": lambda x: sm.WLS(COUNTS, x, weights=np.arange(1.0, 151.0)).fit(),
    "quantiles": lambda x: sm.QuantReg(COUNTS, x).fit(),
    "counts": lambda x: sm.Poisson(COUNTS, x).fit(disp=0),
    "overdispersed counts": lambda x: sm.NegativeBinomial(COUNTS, x).fit(disp=0),
}


@pytest.mark.filterwarnings("ignore")  # of optimizers
@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_predict(name):
    results = MODELS[name](X)
    explainer = pkex.Explainer(results, BACKGROUND)
    assert_explained(explainer, results.predict, ROWS, BACKGROUND)
    by_method = pkex.Explainer(results.predict, BACKGROUND)
    np.testing.assert_array_equal(by_method.shap_values(ROWS), explainer.shap_values(ROWS))


def test_columns_of_a_frame_keep_their_names_and_the_constant_has_no_value():
    results = MODELS["Poisson"](DESIGN)
    explanation = pkex.Explainer(results, DESIGN[:6])(DESIGN[6:9])
    assert explanation.feature_names == ["const", "a", "b", "c"]
    assert not explanation.values[:, 0].any()
    log_means = pkex.Explainer(results, DESIGN[:6], target="log-mean")
    assert_explained(log_means, lambda rows: np.log(results.predict(rows)), ROWS, BACKGROUND)


def test_formulas_of_columns_are_explained_in_these():
    results = smf.glm("y ~ b + a", FRAME.assign(y=COUNTS), family=POISSON).fit()
    explainer = pkex.Explainer(results, FRAME[["b", "a"]][:6])
    assert explainer.feature_names == ["b", "a"]
    rows = FRAME[["b", "a"]].to_numpy()

    def output(rows):
        return results.predict(pd.DataFrame(rows, columns=["b", "a"]))

    assert_explained(explainer, output, rows[7:9], rows[:6])
    message = r"the term 'np.exp\(b\)' of a formula is not supported: only columns of numbers"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(smf.ols("y ~ np.exp(b)", FRAME.assign(y=COUNTS)).fit(), FRAME)


@pytest.mark.parametrize(
    ("fit", "link"),
    [
        (lambda y: sm.GLM(y, X, family=sm.families.Binomial()).fit(), "Logit"),
        (lambda y: sm.Probit(y, X).fit(disp=0), "Probit"),
    ],
)
def test_other_links_are_named_with_what_explains_the_prediction(fit, link):
    model = fit(COUNTS > 1)
    with pytest.raises(pkex.UnsupportedModelError, match=f"with the link {link} is not") as raised:
        pkex.Explainer(model, BACKGROUND)
    names = {"pkex": pkex, "model": model, "background": BACKGROUND}
    names["linear"] = eval(re.search(r"linear = (pkex.*?\(\)\))", str(raised.value))[1], names)
    explainer = eval(re.search(r"pkex\.Explainer\(.*?\)", str(raised.value))[0], names)
    assert_explained(explainer, model.predict, ROWS, BACKGROUND)


@pytest.mark.filterwarnings("ignore")  # of few iterations
def test_other_models_are_named():
    with pytest.raises(pkex.UnsupportedModelError, match="of ZeroInflatedPoisson is not supported"):
        pkex.Explainer(sm.ZeroInflatedPoisson(COUNTS, X).fit(disp=0, maxiter=5), BACKGROUND)


def test_models_of_several_classes_name_an_estimator_with_the_same_probabilities():
    classes = COUNTS.clip(0, 2)
    model = sm.MNLogit(classes, X).fit(disp=0)
    with pytest.raises(pkex.UnsupportedModelError, match="LogisticRegression"):
        pkex.Explainer(model, BACKGROUND)
    same = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X[:, 1:], classes)
    np.testing.assert_allclose(same.predict_proba(X[:, 1:]), model.predict(X), atol=1e-6)
