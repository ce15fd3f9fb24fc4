"""ProductMatern and Periodic: factors in extended precision, limits, and bad input."""

import mpmath
import numpy as np
import pytest
from brute_force import assert_explained, neutral
from sklearn.gaussian_process.kernels import ExpSineSquared, Matern

import pkex
from pkex.kernels import RBF, Laplacian, Periodic, ProductMatern

D = 4
POINTS, ALPHAS = (
    np.random.default_rng(1).normal(size=(15, D)),
    np.cos(np.arange(15.0)),
)
ROWS, BACKGROUND = POINTS[:3] + 0.4, POINTS[9:] - 0.3
SCALES, PERIODS = [0.5, 1.0, 2.0, 3.0], [0.7, 2.0, 5.0, 1.3]


def exact_factor(kernel, x, y):
    """The factor of one feature at these doubles, to the digits of mpmath."""
    r, scale = mpmath.mpf(x) - mpmath.mpf(y), mpmath.mpf(kernel.length_scale)
    if isinstance(kernel, Periodic):
        sine = mpmath.sin(mpmath.pi * r / mpmath.mpf(kernel.period))
        return mpmath.exp(-2 * (sine / scale) ** 2)
    z = mpmath.sqrt(2 * mpmath.mpf(kernel.nu)) * abs(r) / scale
    polynomial = {0.5: 1, 1.5: 1 + z, 2.5: 1 + z + z * z / 3}[kernel.nu]
    return polynomial * mpmath.exp(-z)


KERNELS = {
    "1/2": ProductMatern(0.7, 0.5),
    "3/2": ProductMatern(0.7, 1.5),
    "5/2": ProductMatern(0.7, 2.5),
    "5/2, narrow": ProductMatern(1e-6, 2.5),
    "5/2, wide": ProductMatern(1e6, 2.5),
    "periodic": Periodic(0.7, 1.3),
    "periodic, narrow": Periodic(1e-6, 1.3),
    "periodic, wide": Periodic(1e6, 1.3),
    "short period": Periodic(0.7, 1e-3),
}
each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def unit(kernel):
    """A distance over which the kernel changes."""
    return (
        min(kernel.length_scale, 1.0) * kernel.period
        if isinstance(kernel, Periodic)
        else kernel.length_scale
    )


@each_kernel
def test_factors_and_those_near_1_keep_their_digits(kernel):
    for y in (0.0, 0.3, -20.0):
        expansion = pkex.KernelExpansion([[y]], [1.0], kernel)
        explainer = pkex.Explainer(expansion, value_function="neutral")
        for steps in (1e-9, 1e-5, 0.01, 0.1, 0.19, 0.2, 0.21, 0.5, 1.0, 3.0, 30.0, 1e4):
            x = y + steps * unit(kernel)
            with mpmath.workdps(60):
                expected = exact_factor(kernel, x, y)
                less_one = float(expected - 1)
            assert float(expansion.predict([[x]])[0]) == pytest.approx(float(expected), abs=1e-15)
            assert kernel([[x]], [[y]])[0, 0] == pytest.approx(float(expected), abs=1e-14)
            value = float(explainer.shap_values([[x]])[0, 0])
            assert value == pytest.approx(less_one, rel=2e-14, abs=1e-320)


@each_kernel
@pytest.mark.parametrize("place", [0.0, 1e-6, 0.15, 0.4, 2.0, 40.0, -0.3])
@pytest.mark.parametrize("step", [1e-10, -1e-7, 1e-3, 0.5, 5.0, 300.0])
def test_one_factor_against_another_keeps_its_digits(kernel, place, step):
    x = place * unit(kernel)
    z = x + step * unit(kernel)
    with mpmath.workdps(400):
        expected = float(exact_factor(kernel, x, 0.0) - exact_factor(kernel, z, 0.0))
    expansion = pkex.KernelExpansion([[0.0]], [1.0], kernel)
    value = float(pkex.Explainer(expansion, [[z]]).shap_values([[x]])[0, 0])
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-290)


def test_columns_that_rise_and_fall_together_err_little_beside_their_product():
    for one, other in [(ProductMatern(0.7, 2.5), ProductMatern(0.7)), (Periodic(2.0, 9.0),) * 2]:
        expansion = pkex.KernelExpansion([[0.0, 0.0]], [1.0], one.on([0]) * other.on([1]))
        x, z = (0.9, 0.2), (0.2 + 1e-7, 0.9)
        with mpmath.workdps(60):
            at_x, at_z = (
                exact_factor(one, row[0], 0.0) * exact_factor(other, row[1], 0.0) for row in (x, z)
            )
        explainer = pkex.Explainer(expansion, [z], groups={"both": [0, 1]})
        value = float(explainer.shap_values([x])[0, 0])
        assert value == pytest.approx(float(at_x - at_z), rel=1e-12, abs=5e-16 * float(at_x))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_of_one_column_they_are_scikit_learns(nu):
    X, Y = POINTS[:, :1], 3.0 * POINTS[3:, 1:2]
    np.testing.assert_allclose(
        ProductMatern(0.6, nu)(X, Y), Matern(0.6, nu=nu)(X, Y), rtol=1e-13, atol=1e-300
    )
    own = ExpSineSquared(nu, periodicity=0.9)(X, Y)
    np.testing.assert_allclose(Periodic(nu, 0.9)(X, Y), own, rtol=1e-12)
    expansion = pkex.KernelExpansion(Y, np.ones(len(Y)), Periodic(nu, 0.9))
    np.testing.assert_allclose(expansion.predict(X), own.sum(axis=1), rtol=1e-12)


def product_of(make):
    """The product over columns of scikit-learn's kernels of one column each."""

    def evaluated(A, B):
        columns = range(A.shape[1])
        return np.prod([make(j)(A[:, [j]], B[:, [j]]) for j in columns], axis=0)

    return evaluated


PRODUCTS = {
    "1/2": (ProductMatern(SCALES, 0.5), lambda j: Matern(SCALES[j], nu=0.5)),
    "3/2": (ProductMatern(SCALES), lambda j: Matern(SCALES[j], nu=1.5)),
    "5/2": (ProductMatern(SCALES, 2.5), lambda j: Matern(SCALES[j], nu=2.5)),
    "periodic": (Periodic(SCALES, PERIODS), lambda j: ExpSineSquared(SCALES[j], PERIODS[j])),
}


@pytest.mark.parametrize(("kernel", "make"), PRODUCTS.values(), ids=PRODUCTS)
def test_values_equal_brute_force_with_scikit_learns_kernels(kernel, make):
    expansion = pkex.KernelExpansion(POINTS, ALPHAS, kernel)
    own = product_of(make)

    def output(rows):
        return own(rows, POINTS) @ ALPHAS

    assert_explained(pkex.Explainer(expansion, BACKGROUND), output, ROWS, BACKGROUND)


# --- limits ---


def test_nu_of_one_half_has_the_bits_of_laplacian():
    values = [
        pkex.Explainer(pkex.KernelExpansion(POINTS, ALPHAS, kernel), BACKGROUND).shap_values(ROWS)
        for kernel in (ProductMatern(SCALES, 0.5), Laplacian(SCALES))
    ]
    np.testing.assert_array_equal(*values)


def test_a_long_period_is_nearly_rbf():
    scales, period = np.array(SCALES), 1e6
    long = Periodic(2.0 * np.pi * scales / period, period)
    values = [
        pkex.Explainer(pkex.KernelExpansion(POINTS, ALPHAS, kernel), BACKGROUND).shap_values(ROWS)
        for kernel in (long, RBF(SCALES))
    ]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("period", [0.25, 3.0, 7.0, 2.0**-30, 2.0**60])
def test_distances_of_whole_periods_have_the_factor_1(period):
    rows = period * np.array([[0.0], [1.0], [5.0], [1024.0], [2.0**45]])
    expansion = pkex.KernelExpansion([[0.0]], [1.0], Periodic(0.01, period))
    np.testing.assert_array_equal(expansion.predict(rows), 1.0)
    np.testing.assert_array_equal(Periodic(0.01, period)(rows, [[0.0]]), 1.0)
    explainer = pkex.Explainer(expansion, [[period]])
    np.testing.assert_array_equal(explainer.shap_values(rows), 0.0)


def test_entries_of_any_size_have_factors():
    rows = np.array([[0.0], [1e-308], [1e20], [1.7e308], [-1.7e308]])
    for kernel in KERNELS.values():
        own = kernel(rows)
        assert ((own >= 0.0) & (own <= 1.0)).all()
        for point, factors in zip(rows, own, strict=True):
            expansion = pkex.KernelExpansion([point], [1.0], kernel)
            np.testing.assert_allclose(expansion.predict(rows), factors, atol=1e-12)


def test_several_on_one_column_multiply():
    kernel = ProductMatern(2.0) * Periodic(1.5, 0.8) * ProductMatern(1.0, 2.5) * Periodic(2.0, 3.0)
    kernel *= RBF(2.0) * Laplacian(3.0)
    expansion = pkex.KernelExpansion(POINTS, ALPHAS, kernel)
    np.testing.assert_allclose(expansion.predict(ROWS), kernel(ROWS, POINTS) @ ALPHAS, rtol=1e-12)
    found = pkex.Explainer(expansion, value_function="neutral").shap_values(ROWS)
    for row, values in zip(ROWS, found, strict=True):
        neutral(kernel, row, POINTS, ALPHAS).assert_close(values)


def test_statistics_take_them():
    for kernel in (ProductMatern(SCALES, 2.5), Periodic(SCALES, PERIODS)):
        result = pkex.mmd(POINTS, BACKGROUND, kernel=kernel, estimator="biased")
        pairs = ((POINTS, POINTS), (POINTS, BACKGROUND), (BACKGROUND, BACKGROUND))
        means = [kernel(A, B).mean() for A, B in pairs]
        assert result.statistic == pytest.approx(means[0] - 2.0 * means[1] + means[2], rel=1e-11)
        assert result.values.sum() == pytest.approx(result.statistic, rel=1e-11)


# --- bad input ---


@pytest.mark.parametrize("nu", [0.0, -1.0, 1.0, 2.0, 3.5, np.inf, np.nan, "1.5", None, [1.5]])
def test_nu_must_be_one_of_three(nu):
    with pytest.raises(ValueError, match=r"nu must be 0.5, 1.5 or 2.5; got "):
        ProductMatern(nu=nu)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, "1", None, [1.0, -2.0], [[1.0]]])
def test_length_scales_and_periods_must_be_positive(wrong):
    with pytest.raises(ValueError, match=r"^length_scale must be"):
        ProductMatern(wrong)
    with pytest.raises(ValueError, match=r"^length_scale must be"):
        Periodic(wrong)
    with pytest.raises(ValueError, match=r"^period must be"):
        Periodic(1.0, wrong)


def test_periods_far_beyond_any_data_are_refused():
    for period in (1e-300, 1e300):
        with pytest.raises(ValueError, match=r"^period must be from 1e-290 to 1e290; got "):
            Periodic(period=period)


def test_as_many_numbers_as_features_are_needed():
    for kernel, name in [
        (ProductMatern([1.0, 2.0]), "length_scale of ProductMatern"),
        (Periodic([1.0, 2.0]), "length_scale of Periodic"),
        (Periodic(1.0, [1.0, 2.0]), "period of Periodic"),
    ]:
        with pytest.raises(ValueError, match=f"^{name} has 2 values; expected 4"):
            kernel(POINTS)
