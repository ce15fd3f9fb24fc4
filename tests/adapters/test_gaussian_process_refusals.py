"""Gaussian processes that are misread or unknown in part are noticed and refused."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    THREE,
    TWO,
    WIDER,
    D,
    X,
    Y,
    Z,
    classifier,
    fitted,
    total,
)
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

import pkex
from pkex.adapters import adapt, verify
from pkex.adapters.sklearn.covariances import READERS
from pkex.kernels.algebra import ONE

# --- the check at construction ---


@pytest.fixture(scope="module")
def noise_free():
    """A smooth function without noise: coefficients of 1e7 that cancel to outputs of 1."""
    rows = np.random.default_rng(1).uniform(-1.0, 1.0, size=(300, 4))
    target = 100.0 + 30.0 * np.sin(3.0 * rows).sum(axis=1)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.5, 2.0, 2.5]) + WhiteKernel(1e-10)
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
    model.fit(rows, target)
    assert np.abs(model.alpha_).sum() > 1e7
    assert np.linalg.cond(model.kernel_(rows)) > 1e10
    return model


def test_an_ill_conditioned_process_without_noise_passes(noise_free):
    rows = np.random.default_rng(2).uniform(-1.0, 1.0, size=(50, 4))
    explanation = pkex.Explainer(noise_free)(rows)
    np.testing.assert_allclose(total(explanation), noise_free.predict(rows), rtol=0, atol=1e-4)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_data_far_from_the_origin_are_no_reason_to_refuse(offset):
    kernel = ConstantKernel(2.0) * RBF(np.ones(D)) + WhiteKernel(1e-3)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(Z + offset, Y)
    assert pkex.Explainer(model)


def wider_by_one_percent(reader, kernel):
    first, *others = reader.length_scales(kernel)
    return reader.on_features(pkex.kernels.RBF([1.01 * first, *others]))


def noise_as_constant(reader, kernel):
    return kernel.noise_level * ONE


def amplitude_forgotten(reader, kernel, original=READERS[ConstantKernel]):
    return 1.0001 * original(reader, kernel)


@pytest.mark.parametrize(
    ("part", "misread"),
    [
        (RBF, wider_by_one_percent),
        (WhiteKernel, noise_as_constant),
        (ConstantKernel, amplitude_forgotten),
    ],
)
def test_a_misread_kernel_is_noticed_however_ill_conditioned(
    noise_free, part, misread, monkeypatch
):
    if part is WhiteKernel:  # a noise that can be seen
        noise_free = fitted(KERNELS["the usual"])
    monkeypatch.setitem(READERS, part, misread)
    with pytest.raises(pkex.UnsupportedModelError, match="kernel has other values than its parts"):
        pkex.Explainer(noise_free)


@pytest.mark.parametrize("part", ["deviation", "mean", "coefficients", "length-scale"])
def test_a_misread_model_is_noticed_however_ill_conditioned(noise_free, part):
    adapted = adapt(noise_free)
    right = adapted.function
    verify(adapted, noise_free)
    deviation, mean = noise_free._y_train_std, noise_free._y_train_mean
    wrong = {
        "deviation": (right.coefficients / deviation, right.kernel, mean),
        "mean": (right.coefficients, right.kernel, 0.0),
        "coefficients": (right.coefficients[::-1], right.kernel, mean),
        "length-scale": (right.coefficients, pkex.kernels.RBF([1.01, 1.5, 2.0, 2.5]), mean),
    }[part]
    misread = pkex.KernelExpansion(right.points, *wrong)
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict returns .* attributes say"):
        verify(dataclasses.replace(adapted, expansion=misread), noise_free)


def test_a_kernel_changed_after_fitting_is_explained_as_the_model_uses_it(noise_free):
    model = pickle.loads(pickle.dumps(noise_free))
    model.kernel_ = ConstantKernel(1.0) * RBF([1.01, 1.5, 2.0, 2.5])
    rows = np.random.default_rng(2).uniform(-1.0, 1.0, size=(5, 4))
    own = model.predict(rows)
    assert np.abs(own - noise_free.predict(rows)).max() > 1.0
    np.testing.assert_allclose(total(pkex.Explainer(model)(rows)), own, rtol=0, atol=1e-3)


# --- what is refused ---


class MyRBF(RBF):
    def __call__(self, X, Y=None, eval_gradient=False):
        return 0.5 * super().__call__(X, Y, eval_gradient)


@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (
            Matern(nu=0.1),
            r"Matern\(length_scale=1, nu=0.1\) in its kernel is not .*at least 0.2; got 0.1",
        ),
        (RBF(ARD) + RationalQuadratic(alpha=1e8), r".*alpha must be a number, at .*got 100000000"),
        (
            RBF(ARD) * Matern() ** 0.5,
            r".* of a Matern or dot-product kernel must be an integer",
        ),
        (RBF() * DotProduct() ** 0.5, r".* of a Matern or dot-product kernel must be an"),
        (DotProduct() ** 200, r".*degree must be at most 128; got"),
        ((RBF(ARD) + ExpSineSquared()) ** 2, r"ExpSineSquared\("),
        (PairwiseKernel(metric="sigmoid"), r"PairwiseKernel\("),
        (MyRBF(ARD), r"MyRBF\("),
        (CompoundKernel([RBF(ARD)]), r"CompoundKernel|<sklearn"),
        (RBF(ARD) ** -1.0, r".* the exponent of a kernel must be finite and at least 0"),
        ((RBF(ARD) + RBF(WIDER)) ** 0.5, r".* the exponent of a sum of kernels must be an integer"),
        (RBF(ARD) + ConstantKernel(-1.0), r".* the constant must not be negative"),
        ((RBF(ARD) + RBF(WIDER) + RBF() + RBF(2.0) + RBF(3.0)) ** 12, r".*more than 1000 products"),
    ],
)
def test_unknown_parts_of_a_kernel_are_named_with_what_is_known(kernel, named):
    # Not fitted with it: some are no positive definite kernels.
    model = fitted(RBF(ARD))
    model.kernel_ = kernel
    message = f"^GaussianProcessRegressor with .*{named}"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)


def test_a_kernel_of_too_many_gaussians_is_refused_with_what_to_do():
    kernel = Matern(np.ones(D)) * Matern(ARD) * Matern(ARD[::-1])
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"expands into more than 5000 products.*Use RBF"
    ):
        pkex.Explainer(fitted(kernel))


def test_unknown_parts_of_a_classifiers_kernel_are_named():
    model = classifier(RBF(ARD) + ExpSineSquared()).fit(X, TWO)
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"^GaussianProcessClassifier with ExpSine.*RBF, Matern, ",
    ):
        pkex.Explainer(model)


@pytest.mark.parametrize("length_scale", [[1.0, 2.0], 0.0, -1.0, np.nan])
def test_length_scales_that_do_not_fit_are_refused(length_scale):
    model = fitted(RBF(ARD))
    model.kernel_ = RBF(length_scale)
    with pytest.raises(pkex.UnsupportedModelError, match="length_scale must be positive, one numb"):
        pkex.Explainer(model)


@pytest.mark.parametrize("model", [GaussianProcessRegressor(), GaussianProcessClassifier()])
def test_the_prior_of_an_unfitted_process_is_reported_as_not_fitted(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(model)


class Clipped(GaussianProcessRegressor):
    def predict(self, X, return_std=False, return_cov=False):
        return np.maximum(super().predict(X, return_std, return_cov), -1e9)


def test_subclasses_that_compute_something_else_are_refused():
    with pytest.raises(pkex.UnsupportedModelError, match="Clipped replaces"):
        pkex.Explainer(Clipped(RBF(ARD), optimizer=None, alpha=0.1).fit(X, Y))


def test_processes_of_other_things_than_numbers_are_refused():
    kernel = ConstantKernel(1.0) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(["a", "b", "c"], [1.0, 2.0, 3.0])
    with pytest.raises(pkex.UnsupportedModelError, match="not a numeric array"):
        pkex.Explainer(model)


# --- the rest of the contract ---


def test_methods_are_unwrapped_and_models_left_as_they_are():
    model = fitted(KERNELS["the usual"])
    before = pickle.dumps(model)
    values = pkex.Explainer(model.predict).shap_values(ROWS)
    np.testing.assert_array_equal(values, pkex.Explainer(model).shap_values(ROWS))
    assert pickle.dumps(model) == before
    with pytest.raises(pkex.UnsupportedModelError, match=r"sample_y cannot.*its predict"):
        pkex.Explainer(model.sample_y)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_models_fitted_on_other_dtypes_are_explained(dtype):
    rows = (10.0 * (Z - 20.0)).astype(dtype)
    for model in (
        GaussianProcessRegressor(ConstantKernel() * RBF(10.0) + NOISE, optimizer=None),
        GaussianProcessClassifier(ConstantKernel() * RBF(10.0), optimizer=None),
    ):
        model.fit(rows, THREE)
        explanation = pkex.Explainer(model)(rows)
        assert np.isfinite(total(explanation)).all()


def test_names_are_those_of_the_data_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    for model in (GaussianProcessRegressor(alpha=1.0, optimizer=None), classifier()):
        explanation = pkex.Explainer(model.fit(frame, THREE))(frame[:3])
        assert explanation.feature_names == ["a", "b", "c", "d", "e"]
        with pytest.raises(ValueError, match="another order"):
            pkex.Explainer(model)(frame[["b", "a", "c", "d", "e"]])
