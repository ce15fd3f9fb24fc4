"""Matérn's and the rational quadratic kernel: mixtures, against mpmath and in their limits."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp

import pkex
from pkex.kernels import RBF, Laplacian, Matern, RationalQuadratic
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.factors import MAX_TERMS, expand_terms
from pkex.kernels.gaussian_sums import gaussian_sum
from pkex.kernels.mixtures import (
    MaternMixture,
    ProductMixture,
    RationalQuadraticMixture,
    product_of,
)

MIXTURES = [MaternMixture(nu) for nu in (0.3, 0.5, 1.5, 2.5, 7.0, 60.0)]
MIXTURES += [RationalQuadraticMixture(alpha) for alpha in (1e-5, 0.05, 0.5, 1.0, 30.0, 1e5, 1e7)]
PRODUCTS = [
    product_of(MaternMixture(2.5), MaternMixture(2.5), 1.0),
    product_of(MaternMixture(0.5), RationalQuadraticMixture(0.05), 0.01),
    product_of(MaternMixture(0.5), MaternMixture(2.5), 1e-12),
    product_of(RationalQuadraticMixture(1e7), RationalQuadraticMixture(1.0), 1e-6),
    product_of(product_of(MaternMixture(1.5), MaternMixture(7.0), 0.3), MaternMixture(1.5), 1.0),
]
RULES = [(1e-2, 1.0), (1.0, 1e3), (1e-12, 1e-10), (1e-10, 100.0), (1.0, 1e12)]


def exact(mixture, square):
    """f(s) by its formula, to fifty digits."""
    if isinstance(mixture, ProductMixture):
        return mp.fprod(exact(part, mp.mpf(ratio) * square) for part, ratio in mixture.parts)
    s, shape = mp.mpf(square), mp.mpf(mixture.shape)
    if isinstance(mixture, RationalQuadraticMixture):
        return (1 + s / (2 * shape)) ** -shape
    z = mp.sqrt(2 * shape * s)
    return 2 ** (1 - shape) / mp.gamma(shape) * z**shape * mp.besselk(shape, z) if s else mp.one


@pytest.mark.parametrize("mixture", MIXTURES + PRODUCTS, ids=str)
def test_values_and_decays_are_those_of_the_formula(mixture):
    squares = np.array([0.0, 1e-20, 1e-9, 1e-4, 0.1, 0.7, 1.0, 3.0, 30.0, 400.0, 1e5])
    with mp.workdps(50):
        expected = [exact(mixture, square) for square in squares]
        decays = [1 - value for value in expected]
    np.testing.assert_allclose(mixture.value(squares), np.array(expected, float), atol=5e-15)
    np.testing.assert_allclose(
        mixture.decay(squares), np.array(decays, float), rtol=1e-12, atol=1e-20
    )


SLOW = [MIXTURES[0], *PRODUCTS[1:3]]


@pytest.mark.parametrize(
    "mixture",
    [
        pytest.param(mixture, marks=[pytest.mark.slow] if mixture in SLOW else [])
        for mixture in MIXTURES + PRODUCTS
    ],
    ids=str,
)
def test_sums_of_gaussians_keep_their_error_and_that_of_the_decay(mixture):
    for place, (low, high) in enumerate(RULES):
        squares = np.unique(np.concatenate([np.geomspace(low / 1e3, high, 17), [0.9 * high]]))
        with mp.workdps(60):
            decays = np.array([1 - exact(mixture, square) for square in squares])
            least = float(1 - exact(mixture, low))
            # The widest rule with all errors, the others with one of them each.
            errors = ERRORS if high == RULES[-1][1] else ERRORS[place % 3 :][:1]
            for error in errors:
                rates, weights = gaussian_sum(mixture, low, high, error)
                assert np.abs(weights).sum() < 4.0
                found = -np.expm1(-np.outer(squares, rates)) @ weights
                wrong = np.abs((found - decays).astype(float))
                relative = np.minimum(1.0, 100.0 * np.maximum(decays.astype(float), least))
                allowed = 1.05 * error * relative + 4e-15 * decays.astype(float)
                assert (wrong <= allowed).all()


@pytest.mark.parametrize(
    ("kernel", "few"),
    [
        (Matern(nu=2.5), 45),
        (Matern(nu=1.5), 65),
        (Matern(nu=0.5), 170),
        (RationalQuadratic(), 40),
        (RationalQuadratic(alpha=100.0), 14),
        # Those of one Matérn kernel, nearly.
        (Matern(nu=2.5) ** 2, 60),
        (Matern([1.0] * 20, 2.5) * RationalQuadratic(3.0), 60),
        (Matern(nu=2.5).on([1, 0]) * Matern([5.0, 5.0], 1.5).on([0, 1]) * RBF(), 70),
    ],
    ids=str,
)
def test_terms_are_few(kernel, few):
    assert len(expand_terms(kernel.terms(20), Domain.of(np.outer([0.0, 6.0], np.ones(20))))) <= few


# --- Shapley values, of two kinds of columns ---


def of_two_kinds(mixture, squares, counts):
    """The neutral values of one column of each kind, and the size of the game.

    Columns of a kind have the same squared distance from the point; the worth of p and q of them
    is f(p s + q t), and of each size coalitions are weighed alike.
    """
    values, (d_first, d_second) = [], counts
    worth = {
        (p, q): exact(mixture, p * mp.mpf(squares[0]) + q * mp.mpf(squares[1]))
        for p, q in itertools.product(range(d_first + 1), range(d_second + 1))
    }
    for kind in (0, 1):
        others = (d_first - (kind == 0), d_second - (kind == 1))
        total = mp.zero
        for p, q in itertools.product(range(others[0] + 1), range(others[1] + 1)):
            ways = math.comb(others[0], p) * math.comb(others[1], q)
            after = worth[p + (kind == 0), q + (kind == 1)]
            total += mp.mpf(ways) / math.comb(sum(others), p + q) * (after - worth[p, q])
        values.append(total / (sum(others) + 1))
    return values


def kernel_of(mixture, scale):
    if isinstance(mixture, ProductMixture):
        return math.prod(kernel_of(part, scale / ratio**0.5) for part, ratio in mixture.parts)
    is_matern = isinstance(mixture, MaternMixture)
    return (Matern if is_matern else RationalQuadratic)(scale, mixture.shape)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize(
    ("mixture", "d_first", "d_second"),
    [
        *(
            (mixture, 1, d_second)
            for mixture in MIXTURES[:4] + MIXTURES[7:11]
            for d_second in (1, 6)
        ),
        pytest.param(MaternMixture(2.5), 3, 997, marks=pytest.mark.slow),
        (RationalQuadraticMixture(1.0), 3, 997),
        *((mixture, 1, 6) for mixture in PRODUCTS),
    ],
    ids=str,
)
def test_values_equal_extended_precision_at_any_length_scale(mixture, d_first, d_second, scale):
    row = np.concatenate([np.full(d_first, 1e-4), np.full(d_second, 0.7)])
    d = len(row)
    kernel = kernel_of(mixture, scale)
    f = pkex.KernelExpansion(np.array([np.zeros(d), row]), [1.0, 0.0], kernel)
    found = pkex.Explainer(f, value_function="neutral").shap_values(row[None])[0]
    with mp.workdps(50):
        squares = [(mp.mpf(number) / mp.mpf(scale)) ** 2 for number in (1e-4, 0.7)]
        expected = of_two_kinds(mixture, squares, (d_first, d_second))
        errors = [
            abs(float((found[place] - value) / value))
            for place, value in zip((0, d_first), expected, strict=True)
        ]
    assert errors[1] < 1e-10
    # Of the weak column beside the strong ones as well.
    assert errors[0] < 1e-9


def test_a_row_far_away_in_one_column_leaves_weak_columns_their_digits():
    scales = np.array([1e-3, 1.0, 1e3, 1.0])
    f = pkex.KernelExpansion(np.zeros((1, 4)), [1.0], Matern(scales, 1.5))
    row = np.array([1e4, 0.3, 0.9, -0.7])
    found = pkex.Explainer(f, value_function="neutral").shap_values(row[None])[0]
    with mp.workdps(50):
        squares = [(mp.mpf(x) / mp.mpf(s)) ** 2 for x, s in zip(row, scales, strict=True)]
        expected = mp.zero
        for size in range(4):
            for others in itertools.combinations([0, 1, 3], size):
                before = mp.fsum(squares[j] for j in others)
                gain = exact(MaternMixture(1.5), before + squares[2])
                gain -= exact(MaternMixture(1.5), before)
                expected += gain / (4 * math.comb(3, size))
    assert abs(float(found[2] / expected) - 1.0) < 1e-9


def test_products_over_other_columns_or_with_other_relations_of_scales_stay_apart():
    for other in (Matern([1.0, 2.0]), Matern().on([0])):
        assert len((Matern(2.0, 2.5) * other).terms(2)[0].factors) == 2
    assert len((Matern(1e120) * Matern(1e-120)).terms(2)[0].factors) == 2


# --- limits ---

X = np.random.default_rng(0).normal(size=(12, 4))


def test_matern_of_infinite_order_is_the_gaussian_kernel():
    np.testing.assert_array_equal(Matern([1.0, 2.0, 0.5, 3.0], np.inf)(X), RBF([1, 2, 0.5, 3])(X))


def test_smooth_and_narrow_mixtures_approach_the_gaussian_kernel():
    np.testing.assert_allclose(Matern(2.0, 1e5)(X), RBF(2.0)(X), atol=1e-5)
    np.testing.assert_allclose(RationalQuadratic(2.0, 1e7)(X), RBF(2.0)(X), atol=1e-7)


def test_matern_of_one_column_is_a_product():
    np.testing.assert_array_equal(Matern(2.0, 0.5)(X[:, :1]), Laplacian(2.0)(X[:, :1]))
    np.testing.assert_array_equal(Matern(2.0, 0.5).on([2])(X), Laplacian(2.0).on([2])(X))
    np.testing.assert_allclose(
        Matern(2.0, 3.5)(X[:, :1]), Matern(2.0, 3.5)(np.pad(X[:, :1], [(0, 0), (0, 3)])), atol=1e-14
    )


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.3])
def test_distances_of_zero_and_out_of_range_are_one_and_zero(nu):
    rows = np.array([[0.0, 1e-160], [0.0, -1e-160], [1e200, 1.0]])
    np.testing.assert_allclose(
        Matern(nu=nu)(rows), [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], atol=1e-15
    )


# --- what is refused ---


@pytest.mark.parametrize("nu", [0.0, -1.0, 0.1, np.nan, "1.5", None, True])
def test_matern_names_an_order_that_is_too_small(nu):
    with pytest.raises(ValueError, match=r"^nu must be a number, at least 0\.2; got "):
        Matern(nu=nu)


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1e8, np.inf, np.nan, "1", True])
def test_rational_quadratic_names_a_mixture_out_of_range(alpha):
    with pytest.raises(ValueError, match=r"^alpha must be a number, at least 1e-05 and") as raised:
        RationalQuadratic(alpha=alpha)
    assert ("Use RBF instead" in str(raised.value)) == (alpha in (1e8, np.inf))


@pytest.mark.parametrize("kernel", [Matern, RationalQuadratic])
def test_gammas_and_wrong_numbers_of_length_scales_are_named(kernel):
    with pytest.raises(TypeError, match="has a length_scale instead of gamma"):
        kernel(gamma=0.1)
    with pytest.raises(ValueError, match=r"^length_scale of \w+ has 2 values; expected 4"):
        pkex.KernelExpansion(X, np.ones(12), kernel([1.0, 2.0]))


def test_products_of_too_many_terms_say_what_to_do():
    kernel = Matern(1.0) * Matern([1.0, 2.0, 1.0, 1.0]) * Matern([1.0, 1.0, 1.0, 3.0], 2.5)
    message = rf"into more than {MAX_TERMS} products.*into \d+ · \d+ · \d+\. .*except one"
    with pytest.raises(ValueError, match=message):
        pkex.KernelExpansion(X, np.ones(12), kernel)
    with pytest.raises(ValueError, match=f"expands into more than {MAX_TERMS} products"):
        pkex.mmd(X, X + 1.0, kernel=kernel)
