"""Chains of regressors: against brute force, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from linear_models import TARGETS, D, X
from sklearn.linear_model import LogisticRegression, Ridge, TweedieRegressor
from sklearn.multioutput import RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR

import pkex

RNG = np.random.default_rng(1)
ROWS, BACKGROUND = RNG.normal(size=(3, D)), X[:6]
# The last is nearly made of the others, so that their coefficients cancel.
THREE = np.column_stack([TARGETS[:, :2], TARGETS[:, 0] - TARGETS[:, 1] + 1e-3 * X[:, 0]])


@pytest.mark.parametrize("options", [{}, {"order": [2, 0, 1]}, {"cv": 3}], ids=str)
@pytest.mark.parametrize("estimator", [Ridge(1e-6), LinearSVR(random_state=0)], ids=str)
def test_chains_of_linear_models_equal_brute_force(estimator, options):
    model = RegressorChain(estimator, **options).fit(X, THREE)
    assert_explained(pkex.Explainer(model, BACKGROUND), model.predict, ROWS, BACKGROUND)


def test_names_are_those_of_the_frame():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = RegressorChain(Ridge()).fit(frame, THREE)
    assert pkex.Explainer(model, frame)(frame).feature_names == list("abcde")


@pytest.mark.parametrize(
    ("estimator", "target", "message"),
    [
        (SVR(), THREE, "RegressorChain of SVR is not supported.*MultiOutputRegressor"),
        (make_pipeline(StandardScaler(), Ridge()), THREE, "RegressorChain of Pipeline is not"),
        (
            LogisticRegression(),
            np.column_stack([X[:, 0] > 0.0, X[:, 1] > 0.0]).astype(int),
            "it uses their predict, and pkex explains the decision_function of LogisticRegression",
        ),
        (TweedieRegressor(power=1), np.exp(X[:, :2]), "TweedieRegressor with the link 'log'"),
    ],
    ids=["kernel", "pipeline", "classifier", "log link"],
)
def test_other_chains_are_refused_by_what_is_in_the_way(estimator, target, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(RegressorChain(estimator).fit(X, target), X)
