"""One fitted model of every kind that is explained, and the function that is explained of it."""

import functools

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, D))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
TWO = Y > 0.0
THREE = np.digitize(Y, [-0.5, 0.5])
TARGETS = np.column_stack([Y, Y**2])
ROWS = RNG.normal(size=(3, D))
Z = RNG.normal(size=(7, D))
WEIGHTS = np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1e-9, 4.0])

GP_KERNEL = 2.0 * GPRBF([0.5, 1.0, 2.0, 4.0, 8.0]) + ConstantKernel(0.3) + WhiteKernel(0.1)


def method(name):
    return lambda model: getattr(model, name)


def decisions_of_pairs(model):
    return model.set_params(decision_function_shape="ovo").decision_function


def latent_mean(model):
    machine = model.base_estimator_
    return lambda rows: machine.kernel_(rows, machine.X_train_) @ (machine.y_train_ - machine.pi_)


def density(model):
    return lambda rows: np.exp(model.score_samples(rows))


def of_machines(model):
    return lambda rows: -np.stack([m.decision_function(rows) for m in model.estimators_], axis=-1)


def of_classifier(model):
    return model.calibrated_classifiers_[0].estimator.decision_function


PREDICT, DECIDE = method("predict"), method("decision_function")

# name: (unfitted model, target, function that gives its explained function)
MODELS = {
    "SVR": (SVR(), Y, PREDICT),
    "NuSVR": (NuSVR(gamma=1.0), Y, PREDICT),
    "SVC": (SVC(C=5.0), TWO, DECIDE),
    "SVC of three": (SVC(), THREE, decisions_of_pairs),
    "NuSVC": (NuSVC(nu=0.3), TWO, DECIDE),
    "OneClassSVM": (OneClassSVM(nu=0.2), None, DECIDE),
    "KernelRidge": (KernelRidge(kernel="rbf", gamma=0.4), Y, PREDICT),
    "KernelRidge laplacian": (KernelRidge(kernel="laplacian"), TARGETS, PREDICT),
    "GaussianProcessRegressor": (
        GaussianProcessRegressor(GP_KERNEL, normalize_y=True, optimizer=None),
        100.0 * Y + 500.0,
        PREDICT,
    ),
    "GaussianProcessRegressor of two": (
        GaussianProcessRegressor(GP_KERNEL, optimizer=None),
        TARGETS,
        PREDICT,
    ),
    "GaussianProcessClassifier": (
        GaussianProcessClassifier(4.0 * GPRBF(1.5), optimizer=None),
        TWO,
        latent_mean,
    ),
    "KernelPCA": (KernelPCA(3, kernel="rbf", gamma=0.3), None, method("transform")),
    "KernelDensity": (KernelDensity(bandwidth=0.8), None, density),
    "Nystroem": (
        make_pipeline(Nystroem(n_components=20, random_state=0), LogisticRegression()),
        TWO,
        DECIDE,
    ),
    "Pipeline": (
        make_pipeline(StandardScaler(), PowerTransformer(), SelectKBest(k=3), SVC()),
        TWO,
        DECIDE,
    ),
    "ColumnTransformer": (
        make_pipeline(
            make_column_transformer(
                (QuantileTransformer(n_quantiles=9), [3, 0]),
                (StandardScaler(), [1]),
                remainder="passthrough",
            ),
            KernelRidge(kernel="rbf"),
        ),
        Y,
        PREDICT,
    ),
    "GridSearchCV": (GridSearchCV(SVR(), {"C": [1.0, 2.0]}, cv=2), Y, PREDICT),
    "BaggingRegressor": (
        BaggingRegressor(SVR(), n_estimators=3, max_features=0.6, random_state=0),
        Y,
        PREDICT,
    ),
    "VotingRegressor": (
        VotingRegressor(
            [("a", SVR()), ("b", make_pipeline(StandardScaler(), SVR()))], weights=[1.0, 2.0]
        ),
        Y,
        PREDICT,
    ),
    "MultiOutputRegressor": (MultiOutputRegressor(SVR()), TARGETS, PREDICT),
    "OneVsRestClassifier": (OneVsRestClassifier(SVC()), THREE, DECIDE),
    "OneVsOneClassifier": (OneVsOneClassifier(SVC()), THREE, of_machines),
    "TransformedTargetRegressor": (
        TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        100.0 * Y,
        PREDICT,
    ),
    "CalibratedClassifierCV": (CalibratedClassifierCV(SVC(), ensemble=False), TWO, of_classifier),
}


@functools.cache
def fitted(name):
    model, target, explained = MODELS[name]
    model = model.fit(X) if target is None else model.fit(X, target)
    return model, explained(model)
