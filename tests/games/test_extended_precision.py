"""Errors at 1500 to 10,000 players, against references of fifty digits or long doubles.

Errors are relative to Σ_p |w_p c_pj Ω_pj|. Below 1e-10 is promised; every test asks for what the
engine reaches.
"""

from fractions import Fraction
from functools import partial
from itertools import product, starmap

import numpy as np
import pytest
from brute_force import product_games, shapley_weights
from extended_precision import (
    DIGITS,
    Integers,
    LongDoubles,
    game,
    kernel_game,
    omegas,
    shapley_values,
)
from mpmath import mp

import pkex
from pkex.kernels import RBF, Cauchy, Laplacian

slow = partial(pytest.param, marks=pytest.mark.slow)
THOUSANDS = [slow(4000), slow(10_000)]
KERNELS = {"rbf": RBF, "laplacian": Laplacian, "cauchy": Cauchy}


def arithmetic(d, bits=192):
    """The fastest that is precise enough, or for products down to 2^−bits."""
    if LongDoubles.available:
        return LongDoubles()
    if d > 1500:
        pytest.skip("long doubles have no more digits than doubles here, and integers take minutes")
    return Integers(bits)


def some_players(d):
    return [0, 1, d // 2, d - 1]


def random_expansion(rng, d, n=2):
    """A row, points that agree with it in every seventh column, and coefficients of both signs."""
    row, points = rng.normal(size=d), rng.normal(size=(n, d))
    points[:, ::7] = row[::7]
    points[:, 0] = row[0] + 1e-9
    return row, points, np.resize([1.3, -0.7], n)


def explain(expansion, row, **options):
    explainer = pkex.Explainer(expansion, **{"value_function": "neutral", **options})
    return explainer.shap_values(row[None])[0]


def error_of_games(
    present, absent=None, difference=None, *, weights=None, games=None, bits=192, **options
):
    """The largest error of some of the players, of games that are given by their doubles."""
    p, d = present.shape
    weights = np.ones(p) if weights is None else weights
    games = games or [game(a, None if absent is None else absent[i]) for i, a in enumerate(present)]
    expected = shapley_values(games, weights, some_players(d), arithmetic(d, bits))
    found = pkex.product_game(present, absent, weights, difference=difference, **options)
    return expected.error(found[some_players(d)])


# --- the references themselves ---


def test_the_reference_equals_brute_force(rng):
    present, absent = rng.normal(size=(2, 3, 6))
    weights = rng.normal(size=3)
    expected = product_games(present, absent, weights, shapley_weights(6))
    games = [game(a, b) for a, b in zip(present, absent, strict=True)]
    for numbers in (Integers(), LongDoubles()):
        found = shapley_values(games, weights, range(6), numbers)
        expected.assert_close(np.array(found.values, dtype=float), 1e-13)
        assert found.error(expected.values) < 1e-13


@pytest.mark.skipif(not LongDoubles.available, reason="long doubles have no more digits here")
def test_long_doubles_agree_with_integers_to_seventeen_digits(rng):
    row, points, _ = random_expansion(rng, 1500)
    one = kernel_game("rbf", row, points[0], np.full(1500, 20.0))
    precise, fast = (
        omegas(one, some_players(1500), numbers) for numbers in (Integers(), LongDoubles())
    )
    with mp.workdps(DIGITS):
        assert max(abs(x / y - 1) for x, y in zip(fast, precise, strict=True)) < 1e-17


# --- expansions: length-scales from tiny to huge ---


def expected_of(family, row, points, coefficients, length_scales):
    """The values of some features in the neutral game of an expansion."""
    d = len(row)
    length_scales = np.broadcast_to(length_scales, d)
    games = [kernel_game(family, row, point, length_scales) for point in points]
    return shapley_values(games, coefficients, some_players(d), arithmetic(d))


@pytest.mark.parametrize(
    ("d", "family", "length_scale"),
    [
        *product([1500], KERNELS, [1e-3, 1.0, 30.0, 1e3, 1e6]),
        *starmap(slow, product([4000], KERNELS, [1e-3, 30.0, 1e6])),
        *starmap(slow, product([10_000], ["rbf"], [1e-3, 100.0, 1e6])),
        *starmap(slow, product([10_000], ["laplacian", "cauchy"], [100.0])),
    ],
)
def test_length_scales_from_tiny_to_huge(rng, d, family, length_scale):
    row, points, coefficients = random_expansion(rng, d, n=1 if d == 10_000 else 2)
    expected = expected_of(family, row, points, coefficients, length_scale)
    expansion = pkex.KernelExpansion(points, coefficients, KERNELS[family](length_scale))
    # Where nearly all factors are 0, nearly all F are 1 − t, and share the rounding of 1 − t.
    limit = d * 3e-17 if length_scale == 1e-3 else 1e-14
    assert expected.error(explain(expansion, row)[some_players(d)]) < limit
    if d == 1500:
        found = explain(expansion, row, method="recursion")
        assert expected.error(found[some_players(d)]) < 1e-14


@pytest.mark.parametrize("family", KERNELS)
def test_length_scales_of_all_sizes_in_one_kernel(rng, family):
    row, points, coefficients = random_expansion(rng, 1500)
    length_scales = 10.0 ** rng.uniform(-3.0, 6.0, size=1500)
    expected = expected_of(family, row, points, coefficients, length_scales)
    expansion = pkex.KernelExpansion(points, coefficients, KERNELS[family](length_scales))
    for method in ("quadrature", "recursion"):
        assert expected.error(explain(expansion, row, method=method)[some_players(1500)]) < 1e-14


@pytest.mark.parametrize("length_scale", [30.0, 1e6])
def test_products_of_kernels(rng, length_scale):
    row, points, coefficients = random_expansion(rng, 1500)
    games = []
    for point in points:
        of_families = [
            kernel_game(family, row, point, np.full(1500, length_scale)) for family in KERNELS
        ]
        with mp.workdps(DIGITS):
            present = [a * b * c for (a, *_), (b, *_), (c, *_) in zip(*of_families, strict=True)]
            games.append([(a, mp.one, a - 1) for a in present])
    expected = shapley_values(games, coefficients, some_players(1500), arithmetic(1500))
    kernel = RBF(length_scale) * Laplacian(length_scale) * Cauchy(length_scale)
    found = explain(pkex.KernelExpansion(points, coefficients, kernel), row)
    assert expected.error(found[some_players(1500)]) < 1e-14


# --- expansions: points that repeat, and points out of reach ---


def test_repeated_points_count_as_often_as_they_occur(rng):
    row, points, _ = random_expansion(rng, 1500)
    repeated, coefficients = np.tile(points, (500, 1)), rng.normal(size=1000)
    expected = expected_of("rbf", row, points, coefficients.reshape(500, 2).sum(axis=0), 30.0)
    found = explain(pkex.KernelExpansion(repeated, coefficients, RBF(30.0)), row)
    assert expected.error(found[some_players(1500)]) < 1e-14


def test_a_point_that_the_row_repeats_contributes_nothing(rng):
    row, points, coefficients = random_expansion(rng, 1500)
    with_row = pkex.KernelExpansion([*points, row], [*coefficients, 1e8], RBF(30.0))
    without = pkex.KernelExpansion(points, coefficients, RBF(30.0))
    np.testing.assert_array_equal(explain(with_row, row), explain(without, row))


@pytest.mark.parametrize(
    ("kernel", "distance"), [(RBF(), 40.0), (Laplacian(), 800.0), (Cauchy(), 1e200)], ids=repr
)
@pytest.mark.parametrize("d", [1500, *THOUSANDS])
def test_where_all_factors_underflow_all_features_share_equally(kernel, distance, d):
    points = np.zeros((3, d))
    points[1] = 2.0 * distance
    expansion = pkex.KernelExpansion(points, [1.0, -0.25, 2.0], kernel)
    found = explain(expansion, np.full(d, -distance))
    np.testing.assert_allclose(found, -2.75 / d, rtol=d * 3e-17)


@pytest.mark.slow
def test_a_product_that_underflows_leaves_the_values_exact(rng):
    # exp(−0.2)^10,000 = exp(−2000): beyond the range, while the values are of the order 1/2000.
    row = np.zeros(10_000)
    expansion = pkex.KernelExpansion(np.full((1, 10_000), 0.2), [1.0], Laplacian())
    assert expansion.predict(row[None]) < 1e-300
    found = explain(expansion, row)
    expected = expected_of("laplacian", row, expansion.points, [1.0], 1.0)
    assert expected.error(found[some_players(10_000)]) < 10_000 * 3e-17


# --- games given as arrays ---


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("spread", [0.05, 0.3])
def test_factors_above_one(rng, method, spread):
    present = np.exp(spread * rng.normal(size=(2, 1500)))
    assert error_of_games(present, method=method) < 1e-14


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
def test_factors_above_one_of_present_and_of_absent_players(rng, method):
    present, absent = np.exp(0.1 * rng.normal(size=(2, 2, 1500)))
    assert error_of_games(present, absent, method=method) < 1e-14


@pytest.mark.parametrize("d", THOUSANDS)
def test_factors_above_one_of_thousands_of_players(rng, d):
    present, absent = np.exp(0.05 * rng.normal(size=(2, 1, d)))
    assert error_of_games(present, absent) < 1e-14


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
def test_products_that_leave_the_range_on_the_way(rng, method):
    # 10^−1000 after 200 players, 1 again after 400.
    present = np.repeat([1e-5, 1e5, 1.0], [200, 200, 600])[None] * np.exp(
        0.01 * rng.normal(size=(2, 1000))
    )
    absent = present * np.exp(0.1 * rng.normal(size=(2, 1000)))
    assert error_of_games(present, absent, bits=4096, method=method) < 1e-14


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
def test_values_far_below_the_product_of_the_sizes_are_refused(rng, method):
    # ∏ max(a, 1) = 2^2000, but no coalition average is above 10^193: their digits underflow.
    with pytest.raises(OverflowError, match="intermediate product"):
        pkex.product_game(np.resize([4.0, 0.25], (1, 2000)), method=method)
    with pytest.raises(OverflowError, match="intermediate product"):
        pkex.product_game(np.exp(0.3 * rng.normal(size=(1, 10_000))), method=method)


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("lowest", [-1.0, -0.5, 0.0])
def test_negative_factors(rng, method, lowest):
    present = rng.uniform(lowest, 1.0, size=(2, 1500))
    assert error_of_games(present, method=method) < 1e-14


@pytest.mark.parametrize("d", [1500, *THOUSANDS])
def test_a_few_negative_factors_among_factors_about_one(rng, d):
    present, absent = 1.0 + 0.03 * rng.normal(size=(2, 1, d))
    present[:, :: d // 3] *= -1.0
    assert error_of_games(present, absent) < 1e-14


@pytest.mark.parametrize(
    ("d", "length_scale"),
    [(1500, 5.0), (1500, 40.0), (1500, 1e6), slow(4000, 60.0), slow(10_000, 100.0)],
)
def test_a_background_makes_differences_of_both_signs(rng, d, length_scale):
    row, other, point = rng.normal(size=(3, d))
    other[::5] = row[::5]
    length_scales = np.full(d, length_scale)
    ofs = [kernel_game("rbf", of, point, length_scales) for of in (row, other)]
    with mp.workdps(DIGITS):
        one = [(a, b, c - c_b) for (a, _, c), (b, _, c_b) in zip(*ofs, strict=True)]
    present, absent, difference = np.array(one, dtype=float).T[:, None]
    assert (difference < 0.0).any()
    assert (difference > 0.0).any()
    assert error_of_games(present, absent, difference, weights=[-1.3], games=[one]) < 1e-14


@pytest.mark.parametrize("family", KERNELS)
@pytest.mark.parametrize("distance", [0.5, 4.0, 9.0])
@pytest.mark.parametrize("spread", [1e-12, 1e-9, 1e-4, 0.1])
def test_marginal_games_near_and_far_from_the_points(rng, family, distance, spread):
    # A row and a background about it, that far from the points, in a column each of three players.
    point = np.zeros(3)
    row = distance + 0.1 * rng.normal(size=3)
    background = row + spread * rng.normal(size=(20, 3))
    ofs = [kernel_game(family, of, point, np.ones(3)) for of in (row, *background)]
    with mp.workdps(DIGITS):
        means = [mp.fsum(of[j][0] for of in ofs[1:]) / 20 for j in range(3)]
        one = [(a, mean, a - mean) for (a, _, _), mean in zip(ofs[0], means, strict=True)]
    expected = shapley_values([one], [1.3], range(3), Integers(bits=600))
    expansion = pkex.KernelExpansion([point], [1.3], KERNELS[family]())
    found = explain(expansion, row, background=background, value_function="marginal")
    assert expected.error(found) < 3e-11


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
@pytest.mark.parametrize("family", ["rbf", "laplacian"])
@pytest.mark.parametrize("spread", [1e-9, 1e-5, 1e-2, 1.0])
@pytest.mark.parametrize("d", [2, 10])
def test_narrow_kernels_against_a_background(rng, value_function, family, spread, d):
    # Exponents of up to 600 in all, with a rounding of as many units in the last place of factors.
    length_scales = 10.0 ** rng.uniform(-3.0, -1.0, size=d)
    points = rng.normal(size=(3, d))
    exponents = rng.uniform(200.0, 600.0, size=d) / d
    distances = np.sqrt(2.0 * exponents) if family == "rbf" else exponents
    row = points[0] + length_scales * distances
    points[1:] = points[0] + length_scales * rng.normal(size=(2, d))
    background = row + spread * length_scales * rng.normal(size=(4, d))
    games = []
    for point in points:
        own, *others = (kernel_game(family, of, point, length_scales) for of in (row, *background))
        with mp.workdps(DIGITS):
            factors = [[other[j][0] for other in others] for j in range(d)]
            if value_function == "marginal":
                factors = [[mp.fsum(column) / 4] for column in factors]
            games += [
                [(a, b, a - b) for (a, _, _), b in zip(own, absent, strict=True)]
                for absent in zip(*factors, strict=True)
            ]
    weights = np.full(len(games), len(points) / len(games))
    expected = shapley_values(games, weights, range(d), Integers(bits=20_000))
    expansion = pkex.KernelExpansion(points, np.ones(3), KERNELS[family](length_scales))
    found = explain(expansion, row, background=background, value_function=value_function)
    assert expected.error(found) < (2e-12 if value_function == "interventional" else 1e-11)


@pytest.mark.parametrize("family", KERNELS)
@pytest.mark.parametrize("distance", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("spread", [1e-4, 1e-6, 1e-8])
def test_a_mean_over_a_background_on_both_sides_of_the_row(family, distance, spread):
    # Differences from the two background rows cancel but for terms of the order spread².
    background = np.array([[distance - spread], [distance + spread]])
    present, *factors = (
        kernel_game(family, row, [0.0], [0.7])[0] for row in ([distance], *background)
    )
    with mp.workdps(DIGITS):
        expected = present[0] - (factors[0][0] + factors[1][0]) / 2
    expansion = pkex.KernelExpansion([[0.0]], [1.0], KERNELS[family](0.7))
    explainer = pkex.Explainer(expansion, background, value_function="marginal")
    (value,) = explainer.shap_values([[distance]])[0]
    with mp.workdps(DIGITS):
        assert abs(value / expected - 1) < 1e-12


@pytest.mark.parametrize("d", [1500, *THOUSANDS])
def test_a_given_difference_keeps_the_digits_that_subtracting_loses(rng, d):
    absent = np.exp(0.02 * rng.normal(size=(1, d)))
    difference = 1e-12 * absent * rng.normal(size=(1, d))
    one = game(absent=absent[0], difference=difference[0])
    present = np.array([[a for a, _, _ in one]], dtype=float)
    assert error_of_games(present, absent, difference, games=[one]) < 5e-14
    assert error_of_games(present, absent, games=[one]) > 1e-6


# --- sums over many evaluations ---


@pytest.mark.parametrize("p", [1000, 20_000, slow(200_000)])
def test_compensated_sums_are_exact_to_their_last_digit_whatever_their_length(rng, p):
    # With one player the values are w (a − 1), where a − 1 is exact: only the sum can err.
    present = np.tile(rng.uniform(0.5, 1.0, size=p // 2), 2)
    weights = 1e8 * rng.normal(size=p // 2)
    weights = np.concatenate([weights, -weights * (1.0 + 1e-9 * rng.normal(size=p // 2))])
    terms = [Fraction(w) * Fraction(a - 1.0) for w, a in zip(weights, present, strict=True)]
    exact, scale = sum(terms), sum(map(abs, terms))

    def error(summation):
        found = pkex.product_game(present[:, None], weights=weights, summation=summation)[0]
        return float(abs(Fraction(found) - exact) / scale)

    assert abs(exact) < 1e-10 * scale
    assert error("compensated") < 1e-27
    assert error("plain") > 1e-19


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["next to each other", "far apart"])
def test_compensated_sums_of_large_alternating_coefficients_are_the_better_ones(rng, layout):
    # Of several rows: how the rounding of 1,000 evaluations adds up in one is a matter of chance.
    rows, half = rng.normal(size=(8, 8)), rng.normal(size=(500, 8))
    points = np.concatenate([half, half + 1e-9 * rng.normal(size=half.shape)])
    coefficients = np.repeat([1e8, -1e8], 500)
    if layout == "next to each other":
        order = np.arange(1000).reshape(2, 500).T.ravel()
        points, coefficients = points[order], coefficients[order]
    expansion = pkex.KernelExpansion(points, coefficients, RBF(3.0))
    errors = []
    for row in rows:
        games = [kernel_game("rbf", row, point, np.full(8, 3.0)) for point in points]
        expected = shapley_values(games, coefficients, range(8), Integers())
        assert max(map(abs, expected.values)) < 1e-9 * min(expected.scale)
        found = (
            explain(expansion, row, summation=computation)
            for computation in ("compensated", "plain")
        )
        errors.append([expected.error(values) for values in found])
    compensated, plain = np.sqrt(np.mean(np.square(errors), axis=0))
    assert compensated < 3e-17
    assert plain < 1e-15
    assert compensated < plain / 2


def test_large_alternating_coefficients_at_1500_features(rng):
    row, half = rng.normal(size=1500), rng.normal(size=(2, 1500))
    points = np.repeat(half, 2, axis=0)
    points[1::2] += 1e-9 * rng.normal(size=half.shape)
    coefficients = np.resize([1e8, -1e8], 4)
    expected = expected_of("rbf", row, points, coefficients, 40.0)
    expansion = pkex.KernelExpansion(points, coefficients, RBF(40.0))
    assert expected.error(explain(expansion, row)[some_players(1500)]) < 1e-14
