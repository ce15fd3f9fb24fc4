"""Cox's model of lifelines, by brute force through its own predictions."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained

import pkex

lifelines = pytest.importorskip("lifelines")
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries that lifelines uses

RNG = np.random.default_rng(0)
COLUMNS = ["age", "dose", "sex"]
X = RNG.normal(size=(80, 3)) * [10.0, 2.0, 1.0] + [60.0, 5.0, 0.0]
TABLE = pd.DataFrame(X, columns=COLUMNS).assign(
    weeks=RNG.exponential(np.exp(0.05 * (60.0 - X[:, 0]) + 0.3 * X[:, 2])),
    died=RNG.random(80) < 0.7,
    ward=RNG.integers(0, 2, 80),
)
ROWS, BACKGROUND = X[7:9], X[:6]


def fitted(**options):
    table = TABLE.drop(columns="ward")
    return lifelines.CoxPHFitter(**options).fit(table, "weeks", "died")


def test_both_scales_of_the_hazard_equal_brute_force():
    model = fitted()
    log_hazards = pkex.Explainer(model, BACKGROUND)
    assert repr(log_hazards).startswith("Explainer(log partial hazard of CoxPHFitter")
    rows = pd.DataFrame(ROWS, columns=COLUMNS)
    of_method = pkex.Explainer(model.predict_log_partial_hazard, BACKGROUND)
    for explainer in (log_hazards, of_method):
        assert_explained(explainer, model.predict_log_partial_hazard, rows, BACKGROUND)
    hazards = pkex.Explainer(model, BACKGROUND, target="hazard-ratio")
    assert_explained(hazards, model.predict_partial_hazard, rows, BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="pass the model with target='hazard-rat"):
        pkex.Explainer(model.predict_partial_hazard, BACKGROUND)


def test_neutral_hazards_are_ratios_to_a_subject_at_the_means():
    model = fitted()
    explainer = pkex.Explainer(model, value_function="neutral", target="hazard-ratio")
    assert explainer.expected_value == 1.0
    assert_means = pkex.Explainer(
        model, TABLE[COLUMNS].mean().to_numpy()[None], target="hazard-ratio"
    )
    np.testing.assert_allclose(
        explainer.shap_values(ROWS), assert_means.shap_values(ROWS), rtol=1e-9
    )


def time_varying():
    table = TABLE.drop(columns="ward").assign(start=0.0, subject=range(80))
    fitter = lifelines.CoxTimeVaryingFitter()
    return fitter.fit(
        table, id_col="subject", event_col="died", start_col="start", stop_col="weeks"
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: lifelines.CoxPHFitter().fit(TABLE, "weeks", "died", strata="ward"),
            "CoxPHFitter with strata='ward' is not supported: hazards of different strata",
        ),
        (
            lambda: lifelines.CoxPHFitter().fit(TABLE, "weeks", "died", formula="age * sex"),
            r"CoxPHFitter with formula='age \* sex' is not supported: fit it without a formula",
        ),
        (
            lambda: fitted(baseline_estimation_method="spline", n_baseline_knots=2),
            "with baseline_estimation_method='spline' is not supported: fit it with basel",
        ),
        (time_varying, "CoxTimeVaryingFitter is not supported: its covariates change over time"),
        (lifelines.CoxPHFitter, "CoxPHFitter is not fitted. Call fit first"),
        (lifelines.WeibullAFTFitter, "WeibullAFTFitter of lifelines is not supported"),
    ],
)
def test_other_models_are_named_with_the_reason(build, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(build(), BACKGROUND)
