"""scikit-learn's Gaussian processes: kernels, units and base values, by brute force."""

import numpy as np
import pytest
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    WIDER,
    D,
    X,
    Y,
    Z,
    brute_force,
    fitted,
    total,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    ExpSineSquared,
    Matern,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge

import pkex
from pkex.adapters import adapt
from pkex.adapters.sklearn import covariances

TARGETS = np.column_stack([1e6 * Y + 1e7, 1e-6 * Y**2, 3.0 - Y])


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_with_the_models_own_kernel_and_alpha(name, method):
    model = fitted(KERNELS[name], alpha=1e-3)
    explanation = pkex.Explainer(model, method=method, value_function="neutral")(ROWS)
    for row, values, base in zip(ROWS, explanation.values, explanation.base_values, strict=True):
        reference, empty = brute_force(model.kernel_, row, model.X_train_, model.alpha_)
        reference.assert_close(values)
        assert abs(base - empty) <= 1e-10 * (abs(empty) + np.abs(model.alpha_).sum())


# Units and shapes of the target have nothing to do with the kernel.
UNITS = [1e6 * Y + 1e7, 1e-6 * Y - 1e-5, Y[:, None], TARGETS]


@pytest.mark.parametrize(
    ("name", "target", "normalize_y"),
    [
        *((name, UNITS[place % 4], place % 8 < 4) for place, name in enumerate(KERNELS)),
        *(("sum", target, normalize_y) for target in UNITS for normalize_y in (False, True)),
    ],
)
def test_values_and_base_add_up_to_the_prediction(name, target, normalize_y):
    model = fitted(KERNELS[name], target, alpha=1e-3, normalize_y=normalize_y)
    for rows in (X, ROWS):
        explanation = pkex.Explainer(model)(rows)
        own = model.predict(rows)
        assert explanation.base_values.shape == own.shape
        np.testing.assert_allclose(
            total(explanation), own, rtol=0, atol=1e-9 * np.abs(target).max()
        )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("length_scale", [1.5, [1.5]])
def test_isotropic_kernels_at_any_scale_equal_brute_force(scale, length_scale):
    kernel = ConstantKernel(3.0) * RBF(scale * np.array(length_scale)) + NOISE
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(scale * Z, Y)
    rows = scale * (Z[:2] + 0.3)
    explanation = pkex.Explainer(model, value_function="neutral")(rows)
    np.testing.assert_allclose(total(explanation), model.predict(rows), rtol=0, atol=1e-10)
    for row, values in zip(rows, explanation.values, strict=True):
        brute_force(model.kernel_, row, model.X_train_, model.alpha_)[0].assert_close(values)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tuned_models_and_the_default_kernel_are_explained():
    tuned = ConstantKernel() * RBF(np.ones(D)) + WhiteKernel()
    for kernel in (None, tuned):
        model = GaussianProcessRegressor(kernel, normalize_y=True, alpha=1e-6).fit(Z, Y)
        explanation = pkex.Explainer(model)(Z)
        np.testing.assert_allclose(total(explanation), model.predict(Z), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_rough_materns_are_explained_though_equal_rows_are_not_so_to_scikit_learn():
    kernel = ConstantKernel(2.0) * Matern(ARD, nu=0.25)
    gap = 2.0 - kernel(X[:1], X[:1])[0, 0]
    assert gap > 1e-10
    model = fitted(kernel, alpha=1e-3)
    largest = 2.0 * gap * np.abs(model.alpha_).sum()
    np.testing.assert_allclose(
        total(pkex.Explainer(model)(X)), model.predict(X), rtol=0, atol=largest
    )


def test_a_new_row_equal_to_a_training_row_has_no_noise_in_common_with_it():
    model = fitted(RBF(ARD) + WhiteKernel(100.0))
    base = pkex.Explainer(model, value_function="neutral").expected_value
    assert base == pytest.approx(model.alpha_.sum())
    np.testing.assert_allclose(
        total(pkex.Explainer(model, value_function="neutral")(X)),
        RBF(ARD)(X, X) @ model.alpha_,
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("kernel", [NOISE, ConstantKernel(2.0) + NOISE])
def test_without_a_kernel_of_the_features_all_is_in_the_base(kernel):
    model = fitted(kernel, TARGETS, normalize_y=True)
    explanation = pkex.Explainer(model)(ROWS)
    assert explanation.values.shape == (3, D, 3)
    assert np.all(explanation.values == 0.0)
    np.testing.assert_allclose(explanation.base_values, model.predict(ROWS), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "terms"),
    [
        (ConstantKernel(2.0) * RBF(ARD) + NOISE, 1),
        ((RBF(ARD) + NOISE) * (RBF(WIDER) + NOISE), 1),
        (RBF(ARD) + ConstantKernel(3.0) * RBF(ARD), 1),
        (RBF(ARD) * RBF(WIDER) + RBF(WIDER) * RBF(ARD), 1),
        ((RBF(ARD) + RBF(WIDER) + NOISE) ** 4, 5),
        ((RBF(ARD) + ConstantKernel(1.0)) ** 2 * (RBF(ARD) + NOISE), 3),
        (ConstantKernel(1.0) + ConstantKernel(2.0) ** 2 + RBF(ARD), 2),
    ],
    ids=str,
)
def test_equal_products_are_merged(kernel, terms):
    found = adapt(fitted(kernel, alpha=1.0)).function.kernel.terms(D)
    assert len(found) == terms
    assert all(len(term.factors) <= 1 for term in found)


def test_length_scales_are_taken_over_to_the_last_bit():
    model = fitted(ConstantKernel(2.0) * RBF(ARD) + NOISE)
    own = model.kernel_.k1.k2.length_scale
    assert pkex.Explainer(model)
    assert adapt(model).function.kernel.kernel == pkex.kernels.RBF(own)


def test_products_of_extreme_length_scales_neither_overflow_nor_vanish():
    kernel = RBF(1e-160 * ARD) * RBF(1e160 * ARD) + RBF(ARD) + NOISE
    read = covariances.CovarianceReader("the model", D).read(kernel)
    scales = {term.factors[0].parameters[0, 0] for term in read.terms(D)}
    assert scales == {1e-160 * ARD[0], ARD[0]}


# --- kernel ridge regression with the same kernels ---


@pytest.mark.parametrize("name", ["ard", "sum", "noise in a product", "constant", "noise"])
@pytest.mark.parametrize("target", [Y, TARGETS], ids=["one", "three"])
def test_kernel_ridge_with_a_gaussian_process_kernel_equals_brute_force(name, target):
    model = KernelRidge(kernel=KERNELS[name], alpha=0.1).fit(X, target)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    np.testing.assert_allclose(
        total(explanation), model.predict(ROWS), rtol=0, atol=1e-10 * np.abs(target).max()
    )
    for row, found in zip(ROWS, explanation.values, strict=True):
        brute_force(KERNELS[name], row, model.X_fit_, model.dual_coef_)[0].assert_close(found)


def test_kernel_ridge_with_a_gaussian_process_kernel_unknown_is_refused():
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"^KernelRidge with ExpSineSquared\(.*RBF, Matern, ",
    ):
        pkex.Explainer(KernelRidge(kernel=RBF(ARD) + ExpSineSquared(), alpha=10.0).fit(X, Y))
