"""scikit-learn's linear models, one of every class, on a small problem."""

import warnings

import numpy as np
import sklearn.linear_model
from sklearn.base import clone
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    Perceptron,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.svm import LinearSVC, LinearSVR

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, D))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
TWO = Y > 0.0
THREE = np.digitize(Y, [-0.5, 0.5])
TARGETS = np.column_stack([Y, Y**2])


def deprecated(name, **options):
    """A model of a class that is on its way out, None if it has gone."""
    found = getattr(sklearn.linear_model, name, None)
    with warnings.catch_warnings(action="ignore"):
        return found and found(**options)


# Regressors: name: (unfitted model, target).
REGRESSORS = {
    "ARDRegression": (ARDRegression(), Y),
    "BayesianRidge": (BayesianRidge(), Y),
    "CCA": (CCA(2), TARGETS),
    "ElasticNet": (ElasticNet(0.01), Y),
    "ElasticNetCV": (ElasticNetCV(cv=2), Y),
    "HuberRegressor": (HuberRegressor(), Y),
    "Lars": (Lars(), TARGETS),
    "LarsCV": (LarsCV(cv=2), Y),
    "Lasso": (Lasso(0.1), Y),
    "LassoCV": (LassoCV(cv=2), Y),
    "LassoLars": (LassoLars(0.01), Y),
    "LassoLarsCV": (LassoLarsCV(cv=2), Y),
    "LassoLarsIC": (LassoLarsIC(), Y),
    "LinearRegression": (LinearRegression(), TARGETS),
    "LinearSVR": (LinearSVR(random_state=0), Y),
    "MultiTaskElasticNet": (MultiTaskElasticNet(0.01), TARGETS),
    "MultiTaskElasticNetCV": (MultiTaskElasticNetCV(cv=2), TARGETS),
    "MultiTaskLasso": (MultiTaskLasso(0.01), TARGETS),
    "MultiTaskLassoCV": (MultiTaskLassoCV(cv=2), TARGETS),
    "OrthogonalMatchingPursuit": (OrthogonalMatchingPursuit(), Y),
    "OrthogonalMatchingPursuitCV": (OrthogonalMatchingPursuitCV(cv=2), Y),
    "PLSCanonical": (PLSCanonical(2), TARGETS),
    "PLSRegression": (PLSRegression(2), Y),
    "PassiveAggressiveRegressor": (deprecated("PassiveAggressiveRegressor", random_state=0), Y),
    "QuantileRegressor": (QuantileRegressor(alpha=0.01), Y),
    "Ridge": (Ridge(), Y),
    "RidgeCV": (RidgeCV(), TARGETS),
    "SGDRegressor": (SGDRegressor(random_state=0), Y),
    "TheilSenRegressor": (TheilSenRegressor(random_state=0), Y),
    "TweedieRegressor": (TweedieRegressor(power=0), Y),
}
# Those with a decision function: name: (unfitted model, target).
CLASSIFIERS = {
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), THREE),
    "LinearSVC": (LinearSVC(random_state=0), THREE),
    "LogisticRegression": (LogisticRegression(), TWO),
    "LogisticRegressionCV": (sklearn.linear_model.LogisticRegressionCV(Cs=2, cv=2), THREE),
    "PassiveAggressiveClassifier": (
        deprecated("PassiveAggressiveClassifier", random_state=0),
        THREE,
    ),
    "Perceptron": (Perceptron(), TWO),
    "RidgeClassifier": (RidgeClassifier(), TWO),
    "RidgeClassifierCV": (RidgeClassifierCV(), THREE),
    "SGDClassifier": (SGDClassifier(random_state=0), THREE),
    "SGDOneClassSVM": (SGDOneClassSVM(random_state=0), None),
}

# name: (unfitted model, target, the method that is explained)
LINEAR_MODELS = {
    name: (model, target, method)
    for models, method in ((REGRESSORS, "predict"), (CLASSIFIERS, "decision_function"))
    for name, (model, target) in models.items()
    if model is not None
}


def fit_quietly(model, X, y=None):
    """Fit a copy of a model whose class may be on its way out, in steps that may be too few."""
    with warnings.catch_warnings(action="ignore"):
        return clone(model).fit(X) if y is None else clone(model).fit(X, y)
