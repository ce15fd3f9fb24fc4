"""GPy's regressions: kernels, units and refusals, by brute force."""

import numpy as np
import pytest
from brute_force import interventional

import pkex
from pkex.adapters import adapt
from pkex.kernels import Constant
from pkex.kernels.base import amplitude_and_kernel

GPy = pytest.importorskip("GPy")
kern = pytest.importorskip("GPy.kern")

D = 4
RNG = np.random.default_rng(0)
X = RNG.uniform(0.0, 2.0, size=(30, D))
Y = 5.0 + 3.0 * np.sin(X.sum(axis=1, keepdims=True)) + X[:, :1]
ROWS, BACKGROUND = RNG.uniform(0.0, 2.0, size=(2, D)), X[:5]
SCALES = [0.5, 1.0, 1.5, 2.0]


def ard(kind, **options):
    return kind(D, variance=2.0, lengthscale=SCALES, ARD=True, **options)


KERNELS = {
    "RBF": lambda: ard(kern.RBF),
    "RBF of one length-scale": lambda: kern.RBF(D, lengthscale=0.7),
    "ExpQuad": lambda: ard(kern.ExpQuad),
    "Exponential": lambda: ard(kern.Exponential),
    "Matern32": lambda: ard(kern.Matern32),
    "Matern52": lambda: ard(kern.Matern52),
    "RatQuad": lambda: ard(kern.RatQuad, power=0.7),
    "StdPeriodic": lambda: kern.StdPeriodic(
        D, variance=2.0, lengthscale=SCALES, period=[1.0, 2.0, 3.0, 4.0], ARD1=True, ARD2=True
    ),
    "Linear": lambda: kern.Linear(D, variances=SCALES, ARD=True),
    "Poly": lambda: kern.Poly(D, variance=0.5, scale=0.3, bias=1.5, order=3),
    "sum": lambda: kern.RBF(2, active_dims=[0, 2]) + kern.Linear(1, active_dims=[3]) + kern.Bias(D),
    "product": lambda: kern.RBF(2, active_dims=[1, 2]) * kern.StdPeriodic(1, active_dims=[3]),
    "product of columns": lambda: (
        kern.RBF(2, active_dims=[1, 2]) * kern.Matern52(1, active_dims=[2])
    ),
    "noise": lambda: ard(kern.RBF) + kern.White(D) + kern.White(D) * kern.Linear(D),
}
# Where distances are the roots of differences with rounding errors.
TOLERANCES = {"Exponential": 1e-7}


def fitted(kernel=None, y=Y, model=None, **options):
    return (model or GPy.models.GPRegression)(X, y, kernel or ard(kern.RBF), **options)


def check(model, tolerance=1e-10):
    explainer = pkex.Explainer(model, BACKGROUND)

    def own(rows):
        mean = model.predict(rows)[0]
        return mean if mean.shape[1] > 1 else mean[:, 0]

    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, base = interventional(own, row, BACKGROUND)
        scale = np.abs(own(X)).max() * tolerance
        np.testing.assert_allclose(values, reference.values, rtol=0, atol=scale)
        np.testing.assert_allclose(explainer.expected_value, base, rtol=0, atol=scale)


@pytest.mark.filterwarnings("ignore:Your kernel has a different input dimension")
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_through_predict(name):
    check(fitted(KERNELS[name]()), TOLERANCES.get(name, 1e-10))


def test_products_of_a_family_and_constants_are_merged():
    # Two Gaussians of overlapping columns and constants: 6 RBF + 3.
    kernel = kern.RBF(2, active_dims=[0, 2]) * kern.RBF(D, lengthscale=2.0) * kern.Bias(D, 6.0)
    model = fitted(kernel + kern.Bias(D, 1.0) + kern.Bias(D, 2.0) + kern.White(D))
    scales = np.sqrt([0.8, 4.0, 0.8, 4.0])
    amplitude, gaussian = amplitude_and_kernel(adapt(model).function.kernel.kernels[0])
    assert adapt(model).function.kernel.kernels[1:] == (3.0 * Constant(),)
    assert amplitude == 6.0
    np.testing.assert_allclose(gaussian.length_scale, scales, rtol=1e-15)
    check(model)


def test_values_of_normalised_targets_equal_brute_force():
    check(fitted(normalizer=True))


def test_values_of_several_targets_equal_brute_force():
    check(fitted(y=np.column_stack([Y, 7.0 - Y, Y**2]), normalizer=True))


def test_values_of_a_fitted_model_equal_brute_force():
    model = fitted(y=Y + 0.1 * RNG.normal(size=Y.shape))
    model.optimize(max_iters=20)
    check(model)


def test_values_of_a_sparse_model_equal_brute_force_and_its_points_are_the_inducing_inputs():
    model = fitted(model=GPy.models.SparseGPRegression, Z=X[:10].copy())
    check(model)
    explanation = pkex.Explainer(model)(ROWS)
    expected = pkex.Explainer(model, X[:10], value_function="marginal")(ROWS)
    np.testing.assert_allclose(explanation.values, expected.values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: fitted(ard(kern.RBF) + kern.Cosine(D)),
            "^GPRegression with Cosine in its",
        ),
        (
            lambda: fitted(ard(kern.RBF) + kern.MLP(D)),
            "^GPRegression with MLP in its kernel",
        ),
        (lambda: fitted(kern.White(D)), "^GPRegression with a kernel of noise alone is not supp"),
        (
            lambda: fitted(kern.Poly(D, order=2.5)),
            r"with Poly in its kernel is.*order 2\.5 is not an",
        ),
        (
            lambda: fitted(mean_function=GPy.mappings.Linear(D, 1)),
            "^GPRegression with a mean_function is not supported: subtract it from the targets",
        ),
        (
            lambda: GPy.models.GPClassification(X, (Y > 5.0).astype(float)),
            "^GPClassification is not supported: the supported models of GPy are GPRegr",
        ),
    ],
)
def test_what_is_not_known_is_refused_by_name(build, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(build())


# --- the variance, and how sure values are ---


def check_variance(model, tolerance=1e-9, noise_in_kernel=0.0):
    """Both variances of each output, the latent one without the noise of a White kernel."""
    scale = 1.0 if model.normalizer is None else np.square(model.normalizer.std)

    def latent(rows):
        return model.predict_noiseless(rows)[1] - noise_in_kernel * scale

    def predictive(rows):
        return model.predict(rows)[1]

    for target, own in (("variance", latent), ("predictive_variance", predictive)):
        explainer = pkex.Explainer(model, BACKGROUND, target=target)
        for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
            reference, base = interventional(own, row, BACKGROUND)
            expected = np.broadcast_to(reference.values, (D, model.output_dim))
            atol = tolerance * np.abs(own(ROWS)).max()
            np.testing.assert_allclose(values.reshape(expected.shape), expected, rtol=0, atol=atol)
            np.testing.assert_allclose(explainer.expected_value, np.squeeze(base), rtol=1e-8)


@pytest.mark.filterwarnings("ignore:Your kernel has a different input dimension")
@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"noise"}))
def test_variances_equal_brute_force_through_predict(name):
    check_variance(fitted(KERNELS[name]()), TOLERANCES.get(name, 1e-9))


def test_white_noise_is_no_part_of_the_latent_variance():
    check_variance(fitted(ard(kern.RBF) + kern.White(D, variance=0.3)), noise_in_kernel=0.3)


def test_variances_are_in_squared_units_of_each_target():
    targets = np.column_stack([Y, 7.0 - Y, 1e3 * Y])
    check_variance(fitted(y=targets, normalizer=True))


def test_variances_of_a_sparse_model_equal_brute_force():
    check_variance(fitted(model=GPy.models.SparseGPRegression, Z=X[:10].copy(), normalizer=True))


@pytest.mark.parametrize("kind", ["GPRegression", "SparseGPRegression"])
def test_values_are_as_sure_as_the_covariance_of_the_function_says(kind):
    model = fitted(model=getattr(GPy.models, kind), normalizer=True)
    explainer = pkex.Explainer(model, BACKGROUND[:1])
    explanation = explainer(ROWS, uncertainty=True)
    for number, row in enumerate(ROWS):
        covariance = model.predict_noiseless(np.stack([row, BACKGROUND[0]]), full_cov=True)[1]
        covariance = covariance.reshape(2, 2)
        expected = covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1]
        assert explanation.covariance(number).sum() == pytest.approx(expected, rel=1e-7)
