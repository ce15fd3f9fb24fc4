"""The variance of scikit-learn's Gaussian processes, by brute force through their own predict."""

import numpy as np
import pytest
from brute_force import interventional, marginal
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    SCALES,
    THREE,
    TWO,
    WIDER,
    D,
    X,
    Y,
    classifier,
    fitted,
    total,
)
from sklearn.compose import TransformedTargetRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex

BACKGROUND = X[10:15] + 0.1 * SCALES
TARGETS = np.column_stack([1e6 * Y + 1e7, 1e-6 * Y**2, 3.0 - Y])
# Sums of more products than pairs of these can be of.
TOO_MANY = {"product of materns", "power of a matern"}
SUPPORTED = [name for name in KERNELS if name not in TOO_MANY]


def own_variance(model):
    """What scikit-learn says, with the noise of WhiteKernel."""
    return lambda rows: model.predict(rows, return_std=True)[1] ** 2


def latent_variance(model):
    """The same, less what the kernel of a row with itself has more than with an equal row."""
    noise = model.kernel_.diag(ROWS)[0] - model.kernel_(ROWS, ROWS.copy())[0, 0]
    return lambda rows: own_variance(model)(rows) - noise * model._y_train_std**2


@pytest.mark.parametrize("name", SUPPORTED)
def test_interventional_values_equal_brute_force_through_predict(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    for target, output in (
        ("variance", latent_variance(model)),
        ("predictive_variance", own_variance(model)),
    ):
        explainer = pkex.Explainer(model, BACKGROUND, target=target)
        for row, found in zip(ROWS, explainer(ROWS), strict=True):
            reference, base = interventional(output, row, BACKGROUND)
            reference.assert_close(found.values, 1e-9)
            np.testing.assert_allclose(found.base_values, base, rtol=1e-9)


@pytest.mark.parametrize("name", ["the usual", "sum", "power of a sum", "noise in a product"])
def test_marginal_values_equal_brute_force_over_all_rows_that_combine_entries(name):
    model, few = fitted(KERNELS[name], alpha=1e-3), BACKGROUND[:3]
    explainer = pkex.Explainer(model, few, target="variance", value_function="marginal")
    for row, found in zip(ROWS, explainer(ROWS), strict=True):
        reference, base = marginal(latent_variance(model), row, few)
        reference.assert_close(found.values, 1e-9)
        np.testing.assert_allclose(found.base_values, base, rtol=1e-9)


@pytest.mark.parametrize("name", SUPPORTED)
def test_values_and_base_add_up_to_the_models_own_variance(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    own = latent_variance(model)(ROWS)
    for game in ({"background": BACKGROUND}, {"value_function": "neutral"}):
        found = total(pkex.Explainer(model, target="variance", **game)(ROWS))
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-9 * np.abs(own).max())


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("target", [1e6 * Y + 1e7, Y[:, None], TARGETS])
def test_variances_are_in_squared_units_of_y(target, normalize_y):
    model = fitted(KERNELS["the usual"], target, normalize_y=normalize_y)
    found = total(pkex.Explainer(model, target="predictive_variance")(ROWS))
    own = np.squeeze(own_variance(model)(ROWS))
    assert found.shape == model.predict(ROWS).shape
    np.testing.assert_allclose(found, own, rtol=1e-9)


def test_the_noise_is_in_the_base_value_alone():
    model = fitted(KERNELS["the usual"], normalize_y=True)
    latent, predictive = (
        pkex.Explainer(model, BACKGROUND, target=target)
        for target in ("variance", "predictive_variance")
    )
    np.testing.assert_array_equal(latent.shap_values(ROWS), predictive.shap_values(ROWS))
    noise = predictive.expected_value - latent.expected_value
    assert noise == pytest.approx(0.1 * model._y_train_std**2)


def test_a_column_that_the_kernel_hardly_sees_has_hardly_a_value():
    scales = SCALES * np.array([1.0, 1.0, 1e9, 1.0, 1.0])
    model = fitted(ConstantKernel(2.0) * RBF(scales) + NOISE)
    values = pkex.Explainer(model, target="variance").shap_values(ROWS)
    assert np.abs(values[:, 2]).max() < 1e-12 < 1e-3 < np.abs(values[:, 3]).max()


def test_interactions_and_groups_add_up_to_the_variance():
    model = fitted(KERNELS["the usual"])
    own = latent_variance(model)(ROWS)
    explainer = pkex.Explainer(model, BACKGROUND, target="variance", groups={"two": [0, 3]})
    found = explainer.interactions(ROWS, order=2)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, own, rtol=1e-9)
    assert explainer.feature_names == ["two", "x1", "x2", "x4"]


def test_a_pipeline_is_explained_in_its_own_columns():
    model = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE)).fit(X, Y)
    search = GridSearchCV(model, {}, cv=2).fit(X, Y)
    for fit in (model, search):
        last = model[-1] if fit is model else search.best_estimator_[-1]
        before = model[:-1] if fit is model else search.best_estimator_[:-1]
        output = latent_variance_of(last, before)
        explainer = pkex.Explainer(fit, BACKGROUND, target="variance")
        for row, found in zip(ROWS, explainer(ROWS), strict=True):
            reference, _ = interventional(output, row, BACKGROUND)
            reference.assert_close(found.values, 1e-9)


def latent_variance_of(last, before):
    noise = last.kernel_.k2.noise_level
    return lambda rows: own_variance(last)(before.transform(rows)) - noise


# --- classifiers ---


def latent_variance_of_machine(machine):
    """Rasmussen & Williams, algorithm 3.2, by the inverse of K + W⁻¹."""
    kernel = machine.kernel_(machine.X_train_) + np.diag(machine.W_sr_**-2.0)
    # Noise is of a training row only.
    noise = machine.kernel_.k2.noise_level

    def variance(rows):
        cross = machine.kernel_(rows, machine.X_train_)
        explained = np.sum(cross * np.linalg.solve(kernel, cross.T).T, axis=1)
        return machine.kernel_.diag(rows) - noise - explained

    return variance


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_latent_variances_of_classifiers_equal_brute_force(target, multi_class):
    model = classifier(multi_class=multi_class).fit(X, target)
    base = model.base_estimator_
    machines = getattr(base, "estimators_", [base])
    explainer = pkex.Explainer(model, BACKGROUND, target="variance")
    values = explainer.shap_values(ROWS).reshape(len(ROWS), D, len(machines))
    assert explainer.output_names == pkex.Explainer(model, BACKGROUND).output_names
    for output, machine in enumerate(machines):
        for row, found in zip(ROWS, values[..., output], strict=True):
            reference, _ = interventional(latent_variance_of_machine(machine), row, BACKGROUND)
            reference.assert_close(found, 1e-9)


# --- degenerate and refused ---


def test_a_process_of_one_row_is_explained():
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.5, optimizer=None).fit([[0.0, 1.0]], [1.0])
    rows = np.array([[0.3, 0.0], [0.0, 1.0]])
    explanation = pkex.Explainer(model, [[2.0, 2.0]], target="variance")(rows)
    np.testing.assert_allclose(total(explanation), own_variance(model)(rows), rtol=1e-12)


def test_a_column_of_one_entry_has_values_of_exactly_zero():
    rows = X.copy()
    rows[:, 2] = 20.0
    kernel = ConstantKernel(2.0) * RBF(ARD) + NOISE
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(rows, Y)
    for game in ({"background": rows[:5]}, {}):
        values = pkex.Explainer(model, target="variance", **game).shap_values(rows[:3])
        assert np.all(values[:, 2] == 0.0)
        assert np.all(values[:, 3] != 0.0)


def test_a_standard_deviation_is_refused_with_the_reason_and_a_remedy():
    with pytest.raises(ValueError, match=r"square root of one; explain its square"):
        pkex.Explainer(fitted(KERNELS["ard"]), target="std")


def test_an_unknown_target_is_refused_by_name():
    with pytest.raises(ValueError, match="target must be one of 'mean', 'variance'"):
        pkex.Explainer(fitted(KERNELS["ard"], alpha=0.1), target="entropy")


def test_the_mean_is_what_is_explained_without_a_target():
    model = fitted(KERNELS["the usual"])
    by_default, named = pkex.Explainer(model), pkex.Explainer(model, target="mean")
    np.testing.assert_array_equal(by_default.shap_values(ROWS), named.shap_values(ROWS))
    assert repr(by_default) == repr(named)


@pytest.mark.parametrize(
    "model",
    [
        SVR(),
        TransformedTargetRegressor(GaussianProcessRegressor(), transformer=StandardScaler()),
        # The pipeline's output is that of its last step, which is a sum of others.
        make_pipeline(
            StandardScaler(), TransformedTargetRegressor(GaussianProcessRegressor(alpha=0.1))
        ),
    ],
    ids=["svr", "scaled target", "pipeline of one"],
)
def test_models_of_which_no_variance_is_known_are_refused(model):
    rows = X / SCALES
    for target in ("variance", "predictive_variance", "mean"):
        with pytest.raises(pkex.UnsupportedModelError, match="no variance is known"):
            pkex.Explainer(model.fit(rows, Y), rows[:3], target=target)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (DotProduct() + NOISE, "the variance under .* is not supported: its prior"),
        (DotProduct() * NOISE + RBF(ARD), "differs from row to row"),
        (KERNELS["product of materns"], "sum over pairs of 60 points times"),
    ],
    ids=["dot product", "noise that varies", "too many products"],
)
def test_variances_that_are_no_sum_are_refused(kernel, message):
    model = fitted(kernel, alpha=1.0)
    pkex.Explainer(model)
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model, target="variance")


def test_classes_have_no_noise_to_predict():
    model = classifier().fit(X, TWO)
    with pytest.raises(pkex.UnsupportedModelError, match="a class has no noise"):
        pkex.Explainer(model, target="predictive_variance")


def test_sums_that_cancel_too_far_are_refused_with_numbers():
    rows = np.linspace(0.0, 1.0, 40)[:, None]
    model = GaussianProcessRegressor(RBF(1.0), optimizer=None).fit(rows, rows[:, 0])
    with pytest.raises(pkex.UnsupportedModelError, match=r"1e\+\d+ times the prior variance"):
        pkex.Explainer(model, target="variance")
    noisy = GaussianProcessRegressor(RBF(1.0), alpha=1e-3, optimizer=None).fit(rows, rows[:, 0])
    explanation = pkex.Explainer(noisy, target="variance")(rows)
    np.testing.assert_allclose(total(explanation), own_variance(noisy)(rows), atol=1e-9)


def test_a_factor_changed_after_fitting_is_noticed():
    model = fitted(ConstantKernel(2.0) * RBF(WIDER) + WhiteKernel(0.5))
    model.L_ = 1.01 * model.L_
    model.alpha_ = model.alpha_ / 1.01**2
    with pytest.raises(pkex.UnsupportedModelError):
        pkex.Explainer(model, target="variance")


def test_materns_are_sums_of_gaussians_in_variances_too():
    model = fitted(Matern(WIDER, nu=1.5) + NOISE)
    explainer = pkex.Explainer(model, BACKGROUND[:2], target="variance")
    reference, _ = interventional(latent_variance(model), ROWS[0], BACKGROUND[:2])
    reference.assert_close(explainer.shap_values(ROWS[:1])[0], 1e-10)
