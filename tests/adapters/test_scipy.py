"""SciPy's RBFInterpolator: kernels, constants and refusals, by brute force."""

import numpy as np
import pytest
from brute_force import coalitions, interventional, shapley_weights, weighted_games
from scipy.interpolate import LinearNDInterpolator, RBFInterpolator
from small_regression import ROWS, X, Y

import pkex

TARGETS = np.column_stack([Y, 1e3 * Y**2 - 7.0])
# name: kernel of x and y by their distance times ε
KERNELS = {
    "gaussian": lambda r: np.exp(-(r**2)),
    "inverse_multiquadric": lambda r: (1.0 + r**2) ** -0.5,
    "inverse_quadratic": lambda r: 1.0 / (1.0 + r**2),
    "linear": lambda r: -r,
    "multiquadric": lambda r: -np.sqrt(1.0 + r**2),
    "thin_plate_spline": lambda r: r**2 * np.log(np.maximum(r, 1e-300)),
    "cubic": lambda r: r**3,
}
# The least degree that SciPy takes without a warning, if it is not the constant's.
LEAST = {"thin_plate_spline": 1, "cubic": 1}


def distances(rows, points):
    return np.sqrt(((rows[:, None] - points) ** 2).sum(axis=-1))


def interpolator(kernel="gaussian", d=Y, **options):
    return RBFInterpolator(X, d, **{"kernel": kernel, "epsilon": 0.4, "smoothing": 0.01, **options})


@pytest.mark.parametrize("degree", [-1, 0, 1, 2])
@pytest.mark.parametrize("epsilon", [0.4, 1.7])
@pytest.mark.parametrize("kernel", KERNELS)
def test_values_equal_brute_force_through_the_call(kernel, epsilon, degree):
    degree = max(degree, LEAST.get(kernel, -1))
    model = interpolator(kernel, TARGETS, epsilon=epsilon, degree=degree)
    explainer = pkex.Explainer(model, X[:7])
    # The size of what is added up, which cancels where the function grows with the distance.
    largest = np.abs(KERNELS[kernel](epsilon * distances(X, X))).max()
    size = largest * np.abs(model._coeffs[:40]).sum(axis=0)
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, base = interventional(model, row, X[:7])
        assert np.all(np.abs(values - reference.values) <= 1e-11 * size)
        assert np.all(np.abs(explainer.expected_value - base) <= 1e-11 * size)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
def test_neutral_values_equal_brute_force_by_the_formula(kernel, degree):
    model = interpolator(kernel, degree=degree)
    explainer = pkex.Explainer(model, value_function="neutral")
    coefficients, polynomial = model._coeffs[:40, 0], model._coeffs[40:, 0]
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        games = np.stack(
            [
                KERNELS[kernel](0.4 * distances(row[None, members], X[:, members]))[0]
                for members in coalitions(4)
            ]
        )
        reference = weighted_games(games, coefficients, shapley_weights(4))
        # Absent columns contribute nothing to the polynomial: they are at its centre.
        scaled = (row - model._shift) / model._scale
        present = np.array([np.isin(np.arange(4), members) for members in coalitions(4)])
        monomials = np.prod((present * scaled)[:, None] ** model.powers, axis=-1)
        reference.assert_close(values - shapley_weights(4) @ (monomials @ polynomial))


def test_a_linear_part_starts_from_the_points():
    model = interpolator(d=TARGETS, degree=1)
    explainer = pkex.Explainer(model)
    np.testing.assert_array_equal(explainer.background, X)
    kernel_alone = pkex.KernelExpansion(
        X, model._coeffs[:40], pkex.kernels.RBF(0.5**0.5 / 0.4), np.zeros(2)
    )
    slopes = model._coeffs[41:] / model._scale[:, None]
    expected = pkex.Explainer(kernel_alone).shap_values(ROWS)
    expected += (ROWS - X.mean(axis=0))[..., None] * slopes
    np.testing.assert_allclose(explainer.shap_values(ROWS), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "thin_plate_spline"])
def test_a_quadratic_part_starts_from_the_points(kernel):
    model = interpolator(kernel, d=TARGETS, degree=2)
    explainer = pkex.Explainer(model)
    np.testing.assert_array_equal(explainer.background, X)
    expected = pkex.Explainer(model, X, value_function="marginal").shap_values(ROWS)
    np.testing.assert_allclose(explainer.shap_values(ROWS), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("d", "n_outputs"), [(Y, None), (Y[:, None], 1), (TARGETS, 2)])
def test_there_is_an_output_axis_exactly_where_the_call_has_one(d, n_outputs):
    model = interpolator(d=d)
    explanation = pkex.Explainer(model)(ROWS)
    assert explanation.values.shape == (5, 4) if n_outputs is None else (5, 4, n_outputs)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model(ROWS), rtol=1e-11)


def test_rows_far_from_the_origin_are_explained():
    model = RBFInterpolator(X + 1e6, Y, kernel="gaussian", epsilon=1.0, smoothing=0.01)
    explanation = pkex.Explainer(model)(ROWS + 1e6)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model(ROWS + 1e6), rtol=0, atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "multiquadric", "thin_plate_spline", "cubic"])
def test_functions_that_grow_take_columns_that_hardly_vary(kernel):
    rows = X * [1.0, 1.0, 1e-6, 1e-6]
    model = RBFInterpolator(rows, Y, kernel=kernel, epsilon=1.0, smoothing=0.1)
    explanation = pkex.Explainer(model)(rows)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model(rows), rtol=0, atol=1e-8)


def test_the_bound_call_is_the_model():
    model = interpolator()
    values = pkex.Explainer(model.__call__).shap_values(ROWS)
    np.testing.assert_array_equal(values, pkex.Explainer(model).shap_values(ROWS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kernel": "quintic", "degree": 2},
            r"kernel 'quintic' is not supported; supported are 'ga",
        ),
        ({"neighbors": 5}, "neighbors=5 is not supported: it is another function"),
        ({"degree": 3}, "degree=3 is not supported: its polynomial multiplies three or more"),
        ({"d": 1j * Y}, "of complex values or of matrices is not supported"),
        ({"d": np.ones((40, 2, 2))}, "of complex values or of matrices is not supported"),
    ],
)
def test_other_options_are_refused_by_name(options, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(interpolator(**options))


def test_an_epsilon_of_0_is_refused():
    model = interpolator()
    model.epsilon = 0.0
    with pytest.raises(pkex.UnsupportedModelError, match="unusable epsilon"):
        pkex.Explainer(model)


def test_other_interpolators_are_refused_with_what_is_supported():
    with pytest.raises(
        pkex.UnsupportedModelError, match="interpolator of SciPy is RBFInterpolator"
    ):
        pkex.Explainer(LinearNDInterpolator(X[:, :2], Y))


def test_subclasses_are_refused():
    class Clipped(RBFInterpolator):
        def __call__(self, x):
            return np.clip(super().__call__(x), 0.0, None)

    with pytest.raises(pkex.UnsupportedModelError, match=r"^Clipped, a subclass of RBFInterp"):
        pkex.Explainer(Clipped(X, Y, kernel="gaussian", epsilon=1.0))
