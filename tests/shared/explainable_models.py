"""Models that are explained, one of every kind: unfitted, with a target and what they return."""

import functools
import importlib.util

import numpy as np
import other_libraries
import sklearn.model_selection
from explainable_functions import (
    TARGETS,
    THREE,
    TWO,
    X,
    Y,
)
from linear_models import LINEAR_MODELS, fit_quietly
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    RANSACRegressor,
    Ridge,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from pkex.kernels import (
    Laplacian,
)
from pkex.models import (
    RWReLU,
    RWSign,
    RWStumps,
    ShapleyRegularizedClassifier,
    ShapleyRegularizedRidge,
)

# Models that are sums of functions of columns, of which nothing is known but their values.
OF_TERMS = {
    *("RWSign", "RWReLU", "RWStumps", "products", "GaussianNB", "CategoricalNB of three"),
    *other_libraries.OF_TERMS,
}

# Functions and models that are linear or such sums, or have a part that is.
WITHOUT_POINTS = {
    *OF_TERMS,
    # They have them in other columns than those of x, of which whole rows are drawn.
    *("transformed linked", "linked of transformed"),
    *("LinearFunction", "LinearFunction of two", "combination with linear"),
    *("Exponential", "Exponential of transformed", "ProductSum", "ProductSum of two"),
    *("RANSACRegressor", "StackingRegressor", "VotingRegressor with Ridge", "RegressorChain"),
    *LINEAR_MODELS,
    *other_libraries.OF_LINEAR,
    *other_libraries.OF_PRODUCTS,
    *("BernoulliNB of three", "ComplementNB of three", "MultinomialNB", "splines"),
    *("splines behind a log link", "PoissonRegressor", "GammaRegressor"),
}

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


def likelihoods(model):
    *steps, last = model
    return lambda rows: last.predict_joint_log_proba(
        functools.reduce(lambda made, step: step.transform(made), steps, rows)
    )


def likelihood_ratio(model):
    joint = likelihoods(model if hasattr(model, "steps") else [model])
    return lambda rows: joint(rows) @ [-1.0, 1.0]


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
    "splines": (make_pipeline(SplineTransformer(3), Ridge()), Y, PREDICT),
    "PoissonRegressor": (PoissonRegressor(), np.exp(0.5 * Y), PREDICT),
    "splines behind a log link": (
        make_pipeline(SplineTransformer(3), PoissonRegressor()),
        np.exp(0.5 * Y),
        PREDICT,
    ),
    "GammaRegressor": (GammaRegressor(), np.exp(0.5 * Y), PREDICT),
    "products": (make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()), Y, PREDICT),
    "GridSearchCV": (GridSearchCV(SVR(), {"C": [1.0, 2.0]}, cv=2), Y, PREDICT),
    "BaggingRegressor": (
        BaggingRegressor(SVR(), n_estimators=3, max_features=0.6, random_state=0),
        Y,
        PREDICT,
    ),
    "BaggingClassifier": (
        BaggingClassifier(SVC(), n_estimators=3, max_features=0.6, random_state=0),
        TWO,
        DECIDE,
    ),
    "RegressorChain": (RegressorChain(Ridge(), order=[1, 0]), TARGETS, PREDICT),
    "VotingRegressor": (
        VotingRegressor(
            [("a", SVR()), ("b", make_pipeline(StandardScaler(), SVR()))], weights=[1.0, 2.0]
        ),
        Y,
        PREDICT,
    ),
    "VotingRegressor with Ridge": (
        VotingRegressor([("a", SVR()), ("b", make_pipeline(StandardScaler(), Ridge()))]),
        Y,
        PREDICT,
    ),
    "RANSACRegressor": (RANSACRegressor(random_state=0), Y, PREDICT),
    "StackingRegressor": (
        StackingRegressor([("a", SVR()), ("b", Ridge())], passthrough=True, cv=2),
        Y,
        PREDICT,
    ),
    "StackingClassifier": (
        StackingClassifier(
            [("a", SVC()), ("b", SVC(gamma=1.0))],
            LogisticRegression(),
            stack_method="decision_function",
            cv=2,
        ),
        TWO,
        DECIDE,
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
    "ShapleyRegularizedRidge": (
        ShapleyRegularizedRidge([1], penalty=9.0, value_function="observational"),
        Y,
        PREDICT,
    ),
    "ShapleyRegularizedClassifier": (ShapleyRegularizedClassifier([1, 3]), TWO, DECIDE),
    "ShapleyRegularizedClassifier of three": (
        ShapleyRegularizedClassifier([1], kernel=Laplacian(2.0), value_function="marginal"),
        THREE,
        DECIDE,
    ),
    "GaussianNB": (GaussianNB(), TWO, likelihood_ratio),
    "BernoulliNB of three": (BernoulliNB(), THREE, method("predict_joint_log_proba")),
    "MultinomialNB": (make_pipeline(MinMaxScaler(), MultinomialNB()), TWO, likelihood_ratio),
    "ComplementNB of three": (make_pipeline(MinMaxScaler(), ComplementNB()), THREE, likelihoods),
    "CategoricalNB of three": (
        make_pipeline(
            KBinsDiscretizer(4, encode="ordinal", strategy="uniform"),
            CategoricalNB(min_categories=4),
        ),
        THREE,
        likelihoods,
    ),
    "RWSign": (RWSign(30, star=2, random_state=0), Y, PREDICT),
    "RWReLU": (RWReLU(30, star=[1, 3], random_state=0), Y, PREDICT),
    "RWStumps": (RWStumps(30, random_state=0), Y, PREDICT),
}
for name, (model, target, explained) in LINEAR_MODELS.items():
    MODELS[name] = (model, target, method(explained))
for name, options in {
    "FixedThresholdClassifier": {},
    "TunedThresholdClassifierCV": {"cv": 2},
}.items():
    if hasattr(sklearn.model_selection, name):  # newer than the oldest scikit-learn
        MODELS[name] = (getattr(sklearn.model_selection, name)(SVC(), **options), TWO, DECIDE)
if importlib.util.find_spec("sklearn.frozen"):
    frozen = importlib.import_module("sklearn.frozen").FrozenEstimator(SVR().fit(X, Y))
    MODELS["FrozenEstimator"] = (frozen, Y, PREDICT)
MODELS |= other_libraries.models(Y, TARGETS)


@functools.cache
def fitted(name):
    model, target, explained = MODELS[name]
    if isinstance(model, other_libraries.Builder):
        model = model.fit(X, target)
    else:
        model = fit_quietly(model, X, target)
    return model, explained(model)
