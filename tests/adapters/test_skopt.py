"""scikit-optimize: its regressor, and its searches in their own parameters, by brute force."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, interventional, shapley_weights
from scipy.optimize import OptimizeResult
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVR
from small_regression import ROWS, X, Y

import pkex

skopt = pytest.importorskip("skopt")
kernels = pytest.importorskip("skopt.learning.gaussian_process.kernels")
space = pytest.importorskip("skopt.space")

ARD = [0.5, 1.0, 2.0, 4.0]
KERNELS = {
    "the usual": 2.0 * kernels.RBF(ARD),
    "isotropic": kernels.ConstantKernel(3.0) * kernels.RBF(1.5) + kernels.WhiteKernel(0.1),
    "sum and power": (kernels.RBF(ARD) + kernels.ConstantKernel(0.3)) ** 2,
}


def regressor(kernel, **options):
    return skopt.learning.GaussianProcessRegressor(kernel, optimizer=None, **options)


# --- the regressor ---


@pytest.mark.parametrize("noise", [None, 0.2, "gaussian"])
@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_through_predict(name, normalize_y, noise):
    options = {"alpha": 1e-3, "noise": noise, "normalize_y": normalize_y}
    model = regressor(KERNELS[name], **options).fit(X, 1e4 * Y + 1e5)
    explainer = pkex.Explainer(model, X[:6])
    assert_explained(explainer, model.predict, ROWS, X[:6])


def test_values_are_those_of_scikit_learns_regressor():
    model = regressor(KERNELS["the usual"], noise=0.2, normalize_y=True).fit(X, Y)
    from_scikit_learn = GaussianProcessRegressor(
        model.kernel, optimizer=None, normalize_y=True
    ).fit(X, Y)
    np.testing.assert_allclose(model.alpha_, from_scikit_learn.alpha_)
    explained = pkex.Explainer(model, value_function="neutral").shap_values(ROWS)
    gamma = model.alpha_ * Y.std()
    scale = np.array(ARD)
    for row, values in zip(ROWS, explained, strict=True):
        factors = np.exp(-(((row - X) / scale) ** 2) / 2.0)
        worths = [
            2.0 * factors[:, [j for j in range(4) if number >> j & 1]].prod(axis=1) @ gamma
            for number in range(16)
        ]
        np.testing.assert_allclose(values, shapley_weights(4) @ worths, rtol=0, atol=1e-10)


def test_a_table_names_the_columns():
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    model = regressor(KERNELS["the usual"], noise=0.2).fit(frame, Y)
    assert pkex.Explainer(model).feature_names == names


# A power of such a kernel, and its product with others, are such a kernel again.
OF_CATEGORIES = {
    "one rate": kernels.HammingKernel(0.7),
    "one per column": 2.0 * kernels.HammingKernel([0.3, 1.0, 3.0, 0.3]),
    "power": kernels.HammingKernel([0.3, 1.0, 3.0, 0.3]) ** 2 * kernels.HammingKernel(0.1),
    "product": kernels.HammingKernel(0.5) * kernels.RBF(ARD),
}


@pytest.mark.parametrize("name", OF_CATEGORIES)
def test_values_with_kernels_of_categories_equal_brute_force(name):
    rows = np.round(X)
    model = regressor(OF_CATEGORIES[name], alpha=0.1).fit(rows, Y)
    assert_explained(pkex.Explainer(model, rows[:6]), model.predict, rows[6:9], rows[:6])


def test_other_kernels_are_refused_by_name():
    model = regressor(kernels.ExpSineSquared(), alpha=10.0).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match=r"^GaussianProcessRegressor with ExpSine"):
        pkex.Explainer(model)
    model = regressor(kernels.HammingKernel(np.ones(4)), alpha=0.1).fit(X, Y)
    model.kernel_.length_scale = -np.ones(4)
    with pytest.raises(pkex.UnsupportedModelError, match="length_scale must be positive"):
        pkex.Explainer(model)


def test_unfitted_regressors_and_subclasses_are_refused():
    with pytest.raises(NotFittedError):
        pkex.Explainer(regressor(KERNELS["the usual"]))

    class Shifted(skopt.learning.GaussianProcessRegressor):
        """Predicts as its parent."""

    model = Shifted(KERNELS["the usual"], optimizer=None, noise=0.2).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match=r"^Shifted, a subclass of skopt's"):
        pkex.Explainer(model)


# --- searches ---

DIMENSIONS = {
    "rate": space.Real(1e-4, 1.0, prior="log-uniform"),
    "depth": space.Integer(1, 20),
    "activation": space.Categorical(["relu", "tanh", "identity"]),
    "batch": space.Categorical([16, 32, 64]),
    "momentum": space.Real(-0.5, 1.0),
    "bias": space.Categorical([True, False]),
    "width": space.Integer(8, 512, prior="log-uniform"),
}
WIDTH = 11  # columns of the model: each choice of three makes three, that of two one


def cost(point):
    rate, depth, activation, batch, momentum, bias, width = point
    extra = {"relu": 0.0, "tanh": 1.0, "identity": 3.0}[activation]
    fit = np.log10(rate * width) ** 2 + 0.1 * abs(depth - 7.0) + momentum**2
    return 100.0 * (fit + extra + 0.3 * bias + batch / 64.0)


def tried(names=True, n=30, **options):
    """An optimizer that was told the cost of random points."""
    dimensions = list(DIMENSIONS.values())
    for name, dimension in DIMENSIONS.items():
        dimension.name = name if names else None
    optimizer = skopt.Optimizer(
        dimensions,
        base_estimator=regressor(1.0 * kernels.RBF(np.ones(WIDTH)), noise=0.1, normalize_y=True),
        acq_optimizer="sampling",
        acq_optimizer_kwargs={"n_points": 5},
        random_state=0,
        **options,
    )
    points = optimizer.space.rvs(n, random_state=0)
    optimizer.tell(points, [cost(point) for point in points])
    return optimizer


def output(optimizer):
    return lambda rows: optimizer.models[-1].predict(optimizer.space.transform(rows.tolist()))


def table(optimizer):
    return pd.DataFrame(optimizer.Xi, columns=list(DIMENSIONS))


def test_values_of_a_search_equal_brute_force_in_its_own_parameters():
    optimizer = tried()
    frame = table(optimizer)
    explainer = pkex.Explainer(optimizer, frame.iloc[:4])
    assert explainer.feature_names == list(DIMENSIONS)
    assert_explained(explainer, output(optimizer), frame.iloc[4:7], frame.iloc[:4])


def test_a_result_is_explained_as_its_optimizer():
    optimizer = tried()
    explanation = pkex.Explainer(optimizer)(table(optimizer))
    result = optimizer.get_result()
    again = pkex.Explainer(result)(table(optimizer))
    np.testing.assert_array_equal(again.values, explanation.values)
    total = explanation.values.sum(axis=1) + explanation.base_values
    expected = output(optimizer)(table(optimizer).to_numpy(dtype=object))
    np.testing.assert_allclose(total, expected, rtol=1e-10)


def test_the_variance_of_a_search_equals_brute_force_in_its_own_parameters():
    optimizer = tried()
    frame, process = table(optimizer), optimizer.models[-1]
    rows = np.array(frame.to_numpy(dtype=object))

    def latent(rows):
        return process.predict(optimizer.space.transform(rows.tolist()), return_std=True)[1] ** 2

    assert repr(pkex.Explainer(optimizer, target="mean")) == repr(pkex.Explainer(optimizer))
    explainer = pkex.Explainer(optimizer, frame.iloc[:2], target="variance")
    assert explainer.feature_names == list(DIMENSIONS)
    interventional(latent, rows[5], rows[:2])[0].assert_close(explainer(frame.iloc[[5]]).values[0])
    predictive = pkex.Explainer(optimizer, frame.iloc[:2], target="predictive_variance")
    noise = predictive.expected_value - explainer.expected_value
    assert noise == pytest.approx(process.noise_ * process.y_train_std_**2)
    # Of the difference of two rows the process knows a covariance, too.
    own = pkex.Explainer(optimizer, frame.iloc[:1])(frame.iloc[[5]], uncertainty=True)
    made = np.array(optimizer.space.transform(rows[[0, 5]].tolist()))
    covariance = process.predict(made, return_cov=True)[1]
    expected = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
    assert own.covariance(0).sum() == pytest.approx(expected, rel=1e-8)


def test_gp_minimize_returns_what_can_be_explained():
    dimensions = [(0.0, 1.0), (-3.0, 3.0)]
    model = regressor(1.0 * kernels.RBF([1.0, 1.0]), noise=0.01, normalize_y=True)
    result = skopt.gp_minimize(
        lambda point: (point[0] - 0.3) ** 2 + np.sin(point[1]),
        dimensions,
        base_estimator=model,
        n_calls=8,
        n_initial_points=5,
        acq_optimizer="sampling",
        random_state=0,
    )
    explanation = pkex.Explainer(result)(result.x_iters)
    assert explanation.feature_names == ["x0", "x1"]
    total = explanation.values.sum(axis=1) + explanation.base_values
    own = result.models[-1].predict(result.space.transform(result.x_iters))
    np.testing.assert_allclose(total, own, rtol=1e-9)
    in_columns = pkex.Explainer(result.models[-1])(result.space.transform(result.x_iters))
    np.testing.assert_allclose(in_columns.values, explanation.values, rtol=0, atol=1e-10)


def test_a_search_of_categories_alone_is_explained_with_its_own_kernel():
    result = skopt.gp_minimize(
        lambda point: len(point[0]) + 2.0 * (point[1] == "y") * point[2],
        [["a", "bb", "ccc"], ["x", "y"], [1, 5, 7]],
        n_calls=12,
        n_initial_points=8,
        random_state=0,
    )
    assert "HammingKernel" in str(result.models[-1].kernel_)
    rows = np.array(result.x_iters, dtype=object)
    assert_explained(pkex.Explainer(result, rows[:4]), output(result), rows[4:7], rows[:4])


def test_an_explainer_of_a_search_is_pickled_and_keeps_its_own_space():
    optimizer = tried()
    frame = table(optimizer)
    explainer = pkex.Explainer(optimizer)
    values = explainer.shap_values(frame)
    again = pickle.loads(pickle.dumps(explainer))
    for dimension in optimizer.space.dimensions:
        kind = "onehot" if isinstance(dimension, space.Categorical) else "identity"
        dimension.set_transformer(kind)
    np.testing.assert_array_equal(explainer.shap_values(frame), values)
    np.testing.assert_array_equal(again.shap_values(frame), values)


def test_unnamed_dimensions_take_the_names_of_the_rows():
    optimizer = tried(names=False)
    explainer = pkex.Explainer(optimizer)
    assert explainer.feature_names == [f"x{j}" for j in range(7)]
    assert explainer(table(optimizer)).feature_names == list(DIMENSIONS)


@pytest.mark.parametrize(
    ("name", "entry", "message"),
    [
        ("activation", "selu", r"column 'activation': it is not one of the categories 'relu'"),
        ("batch", 48, r"column 'batch': it is not one of the categories 16, 32, 64$"),
        ("momentum", 1.5, r"column 'momentum': its dimension goes from -0\.5 to 1$"),
        ("depth", 21, r"column 'depth': its dimension goes from 1 to 20$"),
        ("rate", np.nan, r"X has a missing value \(NaN\) in row 1, column 'rate'"),
    ],
)
def test_entries_outside_of_the_space_are_refused(name, entry, message):
    optimizer = tried()
    rows = table(optimizer).iloc[:3].astype(object)
    rows.iloc[1, rows.columns.get_loc(name)] = entry
    with pytest.raises(ValueError, match=message):
        pkex.Explainer(optimizer)(rows)


def test_numbers_that_became_strings_are_named():
    optimizer = tried()
    rows = np.array([[str(entry) for entry in row] for row in optimizer.Xi[:3]])
    with pytest.raises(TypeError, match=r"row 0, column 'rate'\. .*with dtype=object"):
        pkex.Explainer(optimizer)(rows)


def test_a_search_without_a_model_is_refused():
    optimizer = tried(n=3, n_initial_points=10)
    for search in (optimizer, optimizer.get_result()):
        with pytest.raises(NotFittedError, match="has no model yet"):
            pkex.Explainer(search)


def test_a_model_of_other_rows_than_those_tried_is_refused():
    optimizer = tried()
    optimizer.tell(optimizer.Xi[0], 1.0, fit=False)
    with pytest.raises(pkex.UnsupportedModelError, match="called with fit=False"):
        pkex.Explainer(optimizer)
    result = tried().get_result()
    # What happens where the dimensions are used in another search.
    result.space.set_transformer_by_type("identity", space.Real)
    with pytest.raises(pkex.UnsupportedModelError, match="or the dimensions were changed"):
        pkex.Explainer(result)


def test_a_cross_validated_search_is_explained_as_its_best_estimator():
    search = skopt.BayesSearchCV(
        SVR(), {"C": (0.1, 10.0, "log-uniform")}, n_iter=2, cv=2, random_state=0
    ).fit(X, Y)
    values = pkex.Explainer(search).shap_values(ROWS)
    np.testing.assert_array_equal(values, pkex.Explainer(search.best_estimator_).shap_values(ROWS))


def test_other_models_and_results_are_refused_by_name():
    result = skopt.forest_minimize(
        lambda point: point[0], [(0.0, 1.0)], n_calls=4, n_initial_points=3, random_state=0
    )
    with pytest.raises(pkex.UnsupportedModelError, match=r"^ExtraTreesRegressor is not supported"):
        pkex.Explainer(result)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"^OptimizeResult is not supported unless"
    ):
        pkex.Explainer(OptimizeResult(x=[0.0], fun=1.0))
