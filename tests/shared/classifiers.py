"""Classifiers with probabilities, fitted to a few rows."""

import functools
import warnings

import numpy as np
from sklearn import calibration
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

D = 4
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, D))
LATENT = X[:, 0] + np.sin(2.0 * X[:, 1]) * X[:, 2] + 0.3 * RNG.normal(size=60)
TWO = np.where(LATENT > 0.0, "yes", "no")
THREE = np.digitize(LATENT, [-0.5, 0.5])
LABELS = np.column_stack([LATENT > 0.0, X[:, 3] > 0.5, X[:, 1] > X[:, 2]]).astype(int)
ROWS, Z = RNG.normal(size=(2, D)), RNG.normal(size=(5, D))


def platt(**options):
    return SVC(probability=True, random_state=0, **options)


def process(**options):
    kernel = 3.0 * RBF(1.5) + ConstantKernel(0.2) + WhiteKernel(0.1)
    return GaussianProcessClassifier(kernel, optimizer=None, **options)


def nystroem():
    return Nystroem(gamma=0.3, n_components=20, random_state=0)


# name: unfitted model, target
CLASSIFIERS = {
    "SVC": (platt(), TWO),
    "SVC of three": (platt(), THREE),
    "SVC of dot products": (platt(kernel="poly", degree=2, coef0=1.0), THREE),
    "NuSVC": (NuSVC(nu=0.3, probability=True, random_state=0), TWO),
    "sigmoid": (CalibratedClassifierCV(SVC(), ensemble=False, cv=2), TWO),
    "sigmoids": (CalibratedClassifierCV(SVC(), cv=2), TWO),
    "sigmoids of three": (CalibratedClassifierCV(SVC(), cv=2), THREE),
    "sigmoids of pairs": (
        CalibratedClassifierCV(OneVsRestClassifier(SVC()), ensemble=False, cv=2),
        THREE,
    ),
    "sigmoids of features": (
        make_pipeline(nystroem(), CalibratedClassifierCV(LinearSVC(), cv=2)),
        THREE,
    ),
    "sigmoid of features": (
        make_pipeline(
            StandardScaler(),
            nystroem(),
            CalibratedClassifierCV(SVC(kernel="linear"), ensemble=False, cv=2),
        ),
        TWO,
    ),
    "isotonic": (CalibratedClassifierCV(SVC(), method="isotonic", cv=2), TWO),
    "isotonic of three": (CalibratedClassifierCV(SVC(), method="isotonic", cv=2), THREE),
    "one against the rest": (OneVsRestClassifier(platt()), THREE),
    "one against the other": (OneVsRestClassifier(platt()), TWO),
    "several labels": (OneVsRestClassifier(platt()), LABELS),
    "GaussianProcessClassifier": (process(), TWO),
    "GaussianProcessClassifier of three": (process(), THREE),
    "GaussianProcessClassifier of a mixture": (
        GaussianProcessClassifier(2.0 * Matern(1.5, nu=2.5), optimizer=None),
        TWO,
    ),
    "GaussianNB": (GaussianNB(), TWO),
    "GaussianNB of three": (GaussianNB(), THREE),
    "LogisticRegression": (LogisticRegression(), TWO),
    "LogisticRegression of three": (LogisticRegression(), THREE),
    "SGDClassifier of three": (SGDClassifier(loss="log_loss", random_state=0), THREE),
    "LinearDiscriminantAnalysis": (LinearDiscriminantAnalysis(), THREE),
    "Nystroem": (make_pipeline(StandardScaler(), nystroem(), LogisticRegression()), TWO),
    "Nystroem of three": (make_pipeline(nystroem(), LogisticRegression()), THREE),
    "Pipeline": (make_pipeline(StandardScaler(), platt()), THREE),
    "GridSearchCV": (GridSearchCV(platt(), {"C": [1.0, 2.0]}, cv=2), TWO),
}
# Of two classes, with log-odds that are a sum.
AFFINE = [
    *("SVC", "NuSVC", "sigmoid", "sigmoid of features", "one against the other"),
    *("GaussianNB", "LogisticRegression", "Nystroem", "GridSearchCV"),
]
if hasattr(calibration, "_TemperatureScaling"):  # of scikit-learn 1.8
    one = {"method": "temperature", "ensemble": False, "cv": 2}
    CLASSIFIERS |= {
        "temperature": (CalibratedClassifierCV(SVC(), **one), TWO),
        "temperature of votes": (CalibratedClassifierCV(SVC(), **one), THREE),
        "temperatures": (
            CalibratedClassifierCV(LogisticRegression(), method="temperature", cv=2),
            THREE,
        ),
    }
    AFFINE.append("temperature")


@functools.cache
def fitted(name):
    model, target = CLASSIFIERS[name]
    with warnings.catch_warnings(action="ignore"):  # probability=True is on its way out
        return model.fit(X, target)


def probabilities(model):
    """The model's own probabilities, without what it says of itself."""

    def output(rows):
        with warnings.catch_warnings(action="ignore"):
            return model.predict_proba(rows)

    return output
