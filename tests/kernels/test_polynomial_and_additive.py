"""Linear, polynomial and additive kernels: their formulas, limits, exactness and refusals."""

from fractions import Fraction
from itertools import combinations
from math import factorial

import numpy as np
import pytest
from brute_force import coalitions
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel

import pkex
from pkex.kernels import (
    ANOVA,
    RBF,
    Additive,
    Chi2,
    Constant,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
)

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(6, 4)), RNG.normal(size=(9, 4))
SCALES = [0.5, 1.0, 2.0, 4.0]


def values(kernel, value_function="neutral", x=X):
    expansion = pkex.KernelExpansion(Y, np.cos(np.arange(9.0)), kernel)
    background = None if value_function == "neutral" else X[:3]
    return pkex.Explainer(expansion, background, value_function=value_function).shap_values(x)


def symmetric(kernels, order):
    """The sum over all sets of `order` of some matrices of their products."""
    return sum(np.prod(chosen, axis=0) for chosen in combinations(kernels, order))


# --- formulas and limits ---


def test_linear_and_polynomial_are_scikit_learns():
    np.testing.assert_allclose(Linear()(X, Y), linear_kernel(X, Y), rtol=1e-13, atol=1e-14)
    weighted = linear_kernel(X * SCALES, Y) + 0.3
    np.testing.assert_allclose(Linear(SCALES, 0.3)(X, Y), weighted, rtol=1e-13, atol=1e-14)
    for degree in (1, 2, 3, 7):
        expected = polynomial_kernel(X, Y, degree, 0.2, 1.5)
        found = Polynomial(degree, 0.2, 1.5)(X, Y)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_additive_is_the_sum_over_sets_of_columns():
    single = [np.exp(-0.5 * ((X[:, None, j] - Y[:, j]) / SCALES[j]) ** 2) for j in range(4)]
    expected = 0.5 * symmetric(single, 1) + 2.0 * symmetric(single, 3)
    found = Additive(RBF(SCALES), 3, [0.5, 0.0, 2.0])(X, Y)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    of_dots = [np.multiply.outer(X[:, j], Y[:, j]) for j in range(4)]
    np.testing.assert_allclose(
        Additive(Linear(), 2)(X, Y), symmetric(of_dots, 1) + symmetric(of_dots, 2), atol=1e-13
    )
    whole = np.prod([1.0 + 0.7 * kernel for kernel in single], axis=0)
    np.testing.assert_allclose(ANOVA(RBF(SCALES), variance=0.7)(X, Y), whole, rtol=1e-13)
    np.testing.assert_allclose(
        ANOVA(RBF(SCALES), 2, 0.7)(X, Y),
        1.0 + 0.7 * symmetric(single, 1) + 0.49 * symmetric(single, 2),
        rtol=1e-13,
    )


def test_sets_have_no_more_columns_than_there_are():
    many = Additive(RBF(), order=9, variances=2.0)
    np.testing.assert_allclose(many(X, Y), 2.0 * Additive(RBF(), order=4)(X, Y), rtol=1e-13)
    some = Additive(RBF().on([2, 0]), order=128)
    np.testing.assert_allclose(some(X, Y), Additive(RBF(), 2).on([0, 2])(X, Y), rtol=1e-13)


@pytest.mark.parametrize("value_function", ["neutral", "interventional", "marginal"])
def test_polynomials_of_degree_1_are_linear(value_function):
    found = values(Polynomial(1, gamma=0.5, coef0=2.0), value_function)
    np.testing.assert_allclose(found, values(Linear(0.5, 2.0), value_function), atol=1e-14)
    apart = values(Linear(0.5) + 2.0 * Constant(), value_function)
    np.testing.assert_allclose(found, apart, atol=1e-14)


@pytest.mark.parametrize("value_function", ["neutral", "interventional", "marginal"])
def test_orders_of_additive_kernels_add_up(value_function):
    together = values(Additive(RBF(SCALES), 4, [1.0, 0.5, 2.0, 3.0]), value_function)
    alone = [np.eye(4)[q] * v for q, v in enumerate([1.0, 0.5, 2.0, 3.0])]
    by_order = sum(values(Additive(RBF(SCALES), 4, v), value_function) for v in alone)
    np.testing.assert_allclose(together, by_order, atol=1e-13)
    # Of order 1 each column is a function of its own, of all orders the kernel is a product.
    lonely = values(Additive(RBF(SCALES), 1), value_function)
    for j in range(4):
        of_column = values(RBF([SCALES[j]]).on([j]), value_function)
        shift = np.cos(np.arange(9.0)).sum() if value_function == "neutral" else 0.0
        np.testing.assert_allclose(lonely[:, j], of_column[:, j] + shift, atol=1e-13)
    if value_function != "neutral":
        product = values(Additive(RBF(SCALES), 4, [0.0, 0.0, 0.0, 1.0]), value_function)
        np.testing.assert_allclose(product, values(RBF(SCALES), value_function), atol=1e-13)


def test_a_linear_functions_values_are_its_summands():
    alphas = np.cos(np.arange(9.0))
    slopes = alphas @ Y
    np.testing.assert_allclose(values(Linear()), X * slopes, atol=1e-13)
    centred = (X - X[:3].mean(axis=0)) * slopes
    np.testing.assert_allclose(values(Linear(), "interventional"), centred, atol=1e-13)
    np.testing.assert_allclose(values(Linear(), "marginal"), centred, atol=1e-13)


def test_products_of_polynomials_in_one_dot_product_are_polynomials():
    product = 3.0 * Linear(0.5, 1.0) * RBF() * Polynomial(3, 2.0, 0.1)
    expected = 3.0 * Linear(0.5, 1.0)(X, Y) * RBF()(X, Y) * Polynomial(3, 2.0, 0.1)(X, Y)
    np.testing.assert_allclose(product(X, Y), expected, rtol=1e-12, atol=1e-12)
    assert len(product.terms(4)) == 1
    columns = Linear([1.0, 2.0]).on([0, 1]) * Linear([2.0, 4.0]).on([0, 1])
    np.testing.assert_allclose(columns(X, Y), 2.0 * Linear([1.0, 2.0]).on([0, 1])(X, Y) ** 2)


# --- exactness ---


def exact_values(x, z, degree, coef0, is_neutral):
    """Shapley values of (x·y + c)^p for each of the points, absent columns 0 or z's; as fractions.

    Also the scale of errors, the sum of their sizes.
    """
    d = len(x)
    alphas = [Fraction(a) for a in np.cos(np.arange(len(EXACT)))]
    total, scale = [Fraction(0)] * d, [Fraction(0)] * d
    for alpha, point in zip(alphas, EXACT, strict=True):
        worths = []
        for members in coalitions(d):
            dot = Fraction(coef0)
            for j in range(d):
                if j in members or not is_neutral:
                    dot += Fraction(x[j] if j in members else z[j]) * Fraction(point[j])
            worths.append(alpha * dot**degree)
        for j in range(d):
            value = Fraction(0)
            for number, members in enumerate(coalitions(d)):
                if j not in members:
                    s = len(members)
                    share = Fraction(factorial(s) * factorial(d - s - 1), factorial(d))
                    value += share * (worths[number | 1 << j] - worths[number])
            total[j] += value
            scale[j] += abs(value)
    return np.array(total, dtype=float), np.array(scale, dtype=float)


EXACT = RNG.normal(size=(7, 4))


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (2, 1.0), (3, 1.0), (5, -0.5)])
def test_values_are_exact_however_far_from_0_the_columns_are(offset, degree, coef0):
    x = offset + RNG.normal(size=4)
    z = offset + RNG.normal(size=4)
    z[1] = x[1]
    expansion = pkex.KernelExpansion(
        EXACT, np.cos(np.arange(len(EXACT))), Polynomial(degree, coef0=coef0)
    )
    for background, function in ((None, "neutral"), (z[None], None), (z[None], "marginal")):
        found = pkex.Explainer(expansion, background, value_function=function).shap_values(x[None])
        expected, scale = exact_values(x, z, degree, coef0, function == "neutral")
        np.testing.assert_array_less(np.abs(found[0] - expected), 3e-12 * scale + 1e-300)


def test_marginal_values_are_exact_where_entries_hardly_differ():
    background = 1e6 + 1e-3 * RNG.normal(size=(3, 4))
    x = 1e6 + 1e-3 * RNG.normal(size=4)
    expansion = pkex.KernelExpansion(EXACT, np.cos(np.arange(7.0)), Linear() * Linear(offset=1.0))
    found = pkex.Explainer(expansion, background, value_function="marginal").shap_values(x[None])[0]
    chosen = np.indices((3,) * 4).reshape(4, -1).T
    rows = background[chosen, np.arange(4)]
    total, scale = np.zeros(4), np.zeros(4)
    for row in rows:
        # u² + u = (u + ½)² − ¼ of the dot product u.
        value, size = exact_values(x, row, 2, 0.5, is_neutral=False)
        total, scale = total + value / len(rows), scale + size / len(rows)
    np.testing.assert_array_less(np.abs(found - total), 1e-10 * scale)


def test_anova_kernels_of_all_orders_are_product_games():
    rng = np.random.default_rng(8)
    points, x, z = rng.normal(size=(25, 40)), rng.normal(size=(1, 40)), rng.normal(size=(1, 40))
    alphas = np.cos(np.arange(25.0))
    expansion = pkex.KernelExpansion(points, alphas, ANOVA(RBF(2.0), variance=0.6) * RBF(3.0))

    def factors(row):
        wide = np.exp(-((row - points) ** 2) / 18.0)
        return wide * (1.0 + 0.6 * np.exp(-((row - points) ** 2) / 8.0))

    for background, absent in ((None, np.ones((25, 40))), (z, factors(z))):
        expected = pkex.product_game(factors(x), absent, alphas)
        function = "neutral" if background is None else "interventional"
        explainer = pkex.Explainer(expansion, background, value_function=function)
        scale = np.abs(pkex.product_game(factors(x), absent, np.diag(alphas))).sum(axis=1)
        error = np.abs(explainer.shap_values(x)[0] - expected)
        np.testing.assert_array_less(error, 1e-12 * scale)


def test_values_out_of_range_are_an_overflow():
    expansion = pkex.KernelExpansion(1e200 * Y, np.ones(9), Polynomial(2))
    with pytest.raises(OverflowError, match="overflows"):
        pkex.Explainer(expansion, value_function="neutral").shap_values(X)


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(4), ANOVA(RBF(), 5), Polynomial(2) * RBF()]
)
def test_many_columns_add_up(kernel):
    wide = np.random.default_rng(0).normal(size=(30, 300)) / 10.0
    expansion = pkex.KernelExpansion(wide, np.cos(np.arange(30.0)), kernel)
    for background in (None, wide[:4] + 0.1):
        explainer = pkex.Explainer(expansion, background)
        rows = wide[:2] * 0.9
        total = explainer.shap_values(rows).sum(axis=1) + explainer.expected_value
        scale = np.abs(kernel(rows, wide)).sum(axis=1)
        np.testing.assert_array_less(
            np.abs(total - kernel(rows, wide) @ expansion.coefficients), 1e-12 * scale
        )


# --- bad input ---


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Linear(variance=0.0), ValueError, "variance must be positive"),
        (lambda: Linear(variance=[1.0, -1.0]), ValueError, "variance .* for feature 1"),
        (lambda: Linear(offset=-1.0), ValueError, "offset must be at least 0"),
        (lambda: Linear(offset=np.nan), ValueError, "offset must be a finite number; got nan"),
        (lambda: Linear(offset="a"), ValueError, "offset must be a finite number"),
        (lambda: Linear([1.0, 2.0])(X), ValueError, "variance of Linear has 2 values; expected 4"),
        (lambda: Polynomial(0), ValueError, "degree must be a positive integer; got 0"),
        (lambda: Polynomial(2.5), TypeError, "degree must be a positive integer; got 2.5"),
        (lambda: Polynomial(200), ValueError, "degree must be at most 128; got 200"),
        (lambda: Polynomial(2, gamma=0.0), ValueError, "gamma must be a positive"),
        (lambda: Polynomial(2, gamma="scale"), ValueError, 'gamma="scale" is 1/'),
        (lambda: Polynomial(2, coef0=np.inf), ValueError, "coef0 must be a finite number"),
        (lambda: Polynomial(100, coef0=1e9)(X), ValueError, "coefficients .* out of the range"),
        (lambda: (Polynomial(100) * Polynomial(100))(X), ValueError, "degree 200; at most 128"),
        (lambda: (Linear() * Linear(SCALES))(X), ValueError, "supported only for polynomials in"),
        (lambda: (Linear() * Additive(RBF()))(X), ValueError, "one dot product"),
        (lambda: Additive("rbf"), TypeError, "kernel of Additive must be from pkex.kernels"),
        (lambda: Additive(RBF(), 0), ValueError, "order must be an integer from 1 to 128; got 0"),
        (lambda: Additive(RBF(), 129), ValueError, "order must be an integer from 1 to 128"),
        (lambda: Additive(RBF(), 2, [1.0]), ValueError, "variances has 1 numbers, but order is 2"),
        (lambda: Additive(RBF(), 1, [-1.0]), ValueError, "variances must be finite and at least 0"),
        (lambda: Additive(RBF(), 1, ["a"]), TypeError, "variances must be numbers"),
        (lambda: Additive(2.0 * RBF())(X), ValueError, "Additive requires a product .* amplitude"),
        (lambda: Additive(RBF() + Chi2())(X), ValueError, "add kernels to Additive instead of"),
        (lambda: ANOVA(Matern())(X), ValueError, "ANOVA requires a product"),
        (lambda: ANOVA(Linear(offset=1.0))(X), ValueError, "Linear without offset"),
        (lambda: ANOVA(Additive(RBF()))(X), ValueError, "requires a product .* got Additive"),
        (lambda: ANOVA(RBF())(np.ones((2, 200))), ValueError, "200 features requires an order"),
        (
            lambda: ANOVA(RBF(), variance=np.inf),
            ValueError,
            "variance must be finite and at least 0",
        ),
        (lambda: ANOVA(RBF(), variance=1e100)(X), ValueError, "variance=1e.100 to the power of 4"),
        (lambda: Additive(Chi2())(-np.ones((2, 2))), ValueError, "Chi2 kernel requires"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_kernels_say_what_they_are_and_are_compared_by_it():
    assert repr(Linear()) == "Linear(variance=1.0, offset=0.0)"
    assert repr(Polynomial(2, coef0=0)) == "Polynomial(degree=2, gamma=1.0, coef0=0.0)"
    additive = Additive(Periodic() * ProductMatern(), 2, 0.5)
    assert additive == Additive(Periodic() * ProductMatern(), 2, (0.5, 0.5))
    assert repr(additive).startswith("Additive(kernel=Periodic(")
    assert repr(ANOVA(RBF())) == "ANOVA(kernel=RBF(length_scale=1.0), order=None, variance=1.0)"
