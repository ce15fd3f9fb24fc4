"""An Explainer never changes, whatever is done to the model and its arrays after it was made."""

import copy
import types

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, RANSACRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import BallTree, KDTree, KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR, OneClassSVM

import pkex

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(60, 4)))
X[:, 3] = RNG.integers(0, 3, size=60)
ROWS = X[:4].copy()
Y = X[:, 0] + np.sin(X[:, 1]) + X[:, 3]
TWO = np.median(Y) < Y
PAIR = np.column_stack([Y, -Y])
THREE = np.digitize(Y, [1.5, 3.0])

STEPS = [
    StandardScaler(),
    MinMaxScaler(),
    MaxAbsScaler(),
    RobustScaler(),
    QuantileTransformer(n_quantiles=20),
    PowerTransformer(),
    KBinsDiscretizer(encode="ordinal", strategy="uniform"),
    Binarizer(threshold=0.5),
    SimpleImputer(),
    FunctionTransformer(np.log1p),
    SelectKBest(f_regression, k=2),
    SelectFromModel(Ridge(), threshold="median"),
    VarianceThreshold(0.1),
    ColumnTransformer([("code", OneHotEncoder(), [3])], remainder=StandardScaler()),
    ColumnTransformer([("code", OrdinalEncoder(), [3])], remainder="passthrough"),
    ColumnTransformer(
        [("code", TargetEncoder(target_type="continuous"), [3])], remainder="passthrough"
    ),
]
MODELS = [
    (SVR(), Y),
    (SVC(), TWO),
    (SVC(), THREE),
    (OneClassSVM(), None),
    (KernelRidge(kernel="rbf"), Y),
    (KernelRidge(kernel=RBF([1.0, 2.0, 3.0, 4.0])), Y),
    (GaussianProcessRegressor(1.0 * RBF([1.0, 2.0, 3.0, 4.0]), alpha=0.1, optimizer=None), Y),
    (GaussianProcessClassifier(1.0 * RBF(), optimizer=None), THREE),
    (KernelPCA(2, kernel="rbf"), None),
    (KernelDensity(), None),
    (make_pipeline(Nystroem(n_components=9), Ridge()), Y),
    (GridSearchCV(make_pipeline(StandardScaler(), SVR()), {}, cv=2), Y),
    (TransformedTargetRegressor(SVR(), transformer=StandardScaler()), Y),
    (TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=MinMaxScaler()), PAIR),
    (MultiOutputRegressor(SVR()), PAIR),
    (OneVsOneClassifier(SVC()), THREE),
    (BaggingRegressor(SVR(), n_estimators=3, max_features=2), Y),
    (VotingRegressor([("a", SVR()), ("b", SVR(C=2.0))], weights=[1.0, 2.0]), Y),
]

LINEAR = [
    (Ridge(), Y),
    (LinearRegression(), PAIR),
    (LogisticRegression(), THREE),
    (PLSRegression(2), PAIR),
    (RANSACRegressor(random_state=0), Y),
    (StackingRegressor([("a", SVR()), ("b", Ridge())], cv=2, passthrough=True), Y),
]


def vandalise(thing, seen):
    """Overwrite all arrays and numbers that can be reached from a thing; return how many arrays."""
    if id(thing) in seen or isinstance(thing, type | types.FunctionType | np.ufunc | str):
        return 0
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        if thing.dtype == object:
            return sum(vandalise(entry, seen) for entry in thing.ravel())
        return overwrite(thing) if thing.dtype.kind in "fiub" and thing.size else 0
    if isinstance(thing, dict):
        return sum(vandalise(value, seen) for value in thing.values())
    if isinstance(thing, list | tuple):
        return sum(vandalise(value, seen) for value in thing)
    if isinstance(thing, KDTree | BallTree):
        points, *_ = thing.get_arrays()
        return vandalise(points, seen)
    count = 0
    if isinstance(thing, BaseEstimator) or hasattr(thing, "get_params"):
        for name, value in list(vars(thing).items()):
            count += vandalise(value, seen)
            if isinstance(value, float | int) and not isinstance(value, bool):
                setattr(thing, name, value + 1)
                assert getattr(thing, name) != value or np.isinf(value)
    return count


def overwrite(array):
    """Put other numbers into an array, and see that they are there."""
    before = array.copy()
    if array.flags.owndata:
        array.setflags(write=True)
    array[...] = ~array if array.dtype == bool else array.ravel()[::-1].reshape(array.shape) + 1
    assert not np.array_equal(array, before)
    return 1


def assert_unchanging(model, value_function="marginal"):
    background = X[:5].copy()
    explainers = [
        pkex.Explainer(model, value_function=value_function),
        pkex.Explainer(model, background),
    ]
    before = [(e.shap_values(ROWS), copy.deepcopy(e.expected_value)) for e in explainers]
    overwritten = vandalise([model, background], {})
    assert overwritten > 1, "nothing of the model but the background"
    for explainer, (values, expected) in zip(explainers, before, strict=True):
        np.testing.assert_array_equal(explainer.shap_values(ROWS), values)
        np.testing.assert_array_equal(explainer.expected_value, expected)


@pytest.mark.parametrize(("model", "target"), MODELS, ids=range(len(MODELS)))
def test_what_is_done_to_a_model_changes_no_explainer(model, target):
    assert_unchanging(model.fit(X.copy(), None if target is None else target.copy()))


@pytest.mark.parametrize(("model", "target"), LINEAR, ids=range(len(LINEAR)))
def test_what_is_done_to_a_model_with_linear_parts_changes_no_explainer(model, target):
    assert_unchanging(model.fit(X.copy(), target.copy()), value_function="neutral")


@pytest.mark.parametrize("step", STEPS, ids=range(len(STEPS)))
def test_what_is_done_to_the_steps_of_a_pipeline_changes_no_explainer(step):
    assert_unchanging(make_pipeline(step, SVR()).fit(X.copy(), Y.copy()))


def test_what_is_done_to_the_arrays_of_an_expansion_changes_no_explainer():
    points, coefficients, intercept = X[:9].copy(), Y[:9, None].copy(), Y[:1].copy()
    length_scale = np.ones(4)
    kernel = pkex.kernels.RBF(length_scale)
    expansion = pkex.KernelExpansion(points, coefficients, kernel, intercept)
    explainer = pkex.Explainer(expansion)
    before = explainer.shap_values(X), expansion.predict(X)
    for array in (points, coefficients, intercept, length_scale):
        array[...] = 7.0
    np.testing.assert_array_equal(explainer.shap_values(X), before[0])
    np.testing.assert_array_equal(expansion.predict(X), before[1])
