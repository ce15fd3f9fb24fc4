"""MMD and HSIC with kernels that are power series, for which k(x, x) differs from row to row."""

import warnings

import numpy as np
import pytest
from brute_force_statistics import attributed, hsic_statistic, mmd_statistic, series_product

import pkex
from pkex.kernels import RBF, Additive, Linear, Polynomial

N, M = 14, 9
RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(N, 3)), 0.5 + RNG.normal(size=(M, 3))
POOLED = np.concatenate([X, Y])


class Square:
    """0.5 (x·y + 1)² + exp(−|x − y|²/2), by the coefficients of exp(s xⱼyⱼ)."""

    kernel = 0.5 * Polynomial(2) + RBF()

    def factors(self, rows, players):
        dots = np.zeros((max(players) + 1, len(rows), len(rows)))
        gaussians = np.ones_like(dots)
        for j, player in enumerate(players):
            dots[player] += np.multiply.outer(rows[:, j], rows[:, j])
            gaussians[player] *= np.exp(-0.5 * np.subtract.outer(rows[:, j], rows[:, j]) ** 2)
        yield [0.5, 1.0, 1.0], np.stack([np.ones_like(dots), dots, dots**2 / 2.0], axis=1)
        yield 1.0, gaussians

    def __call__(self, rows):
        squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
        return 0.5 * (rows @ rows.T + 1.0) ** 2 + np.exp(-0.5 * squares)


class Sets:
    """Σ k_j + 2 Σ k_i k_j of the columns' Gaussian kernels, by the coefficients of 1 + s k_j."""

    kernel = Additive(RBF(), 2, [1.0, 2.0])

    def factors(self, rows, players):
        found = [[1.0, 0.0, 0.0] for _ in range(max(players) + 1)]
        for j, player in enumerate(players):
            own = np.exp(-0.5 * np.subtract.outer(rows[:, j], rows[:, j]) ** 2)
            found[player] = series_product(found[player], [1.0, own, 0.0])
        shape = (len(rows), len(rows))
        factors = [[np.broadcast_to(c, shape) for c in factor] for factor in found]
        yield [0.0, 1.0, 2.0], np.array(factors)


KERNELS = {"polynomial": Square(), "additive": Sets()}
GROUPS = {"single": (None, [0, 1, 2]), "grouped": ({"a": ["x0", "x2"]}, [0, 1, 0])}


def assert_attributed(result, expected):
    values, alone, statistic = expected
    scale = max(np.abs(values).max(), 0.1)
    np.testing.assert_allclose(result.values, values, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(result.alone, alone, rtol=0, atol=1e-11 * scale)
    assert result.statistic == pytest.approx(statistic, rel=0, abs=1e-11 * scale)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("convention", ["marginal", "neutral"])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("name", KERNELS)
def test_mmd_equals_brute_force_weighted_or_not(name, estimator, convention, groups):
    reference, (given, players) = KERNELS[name], GROUPS[groups]
    options = {"kernel": reference.kernel, "estimator": estimator, "groups": given}
    options |= {"value_function": convention}
    computation = {"marginal": convention == "marginal"}
    statistic = mmd_statistic(N, estimator)
    expected = attributed(statistic, reference, POOLED, players, **computation)
    assert_attributed(pkex.mmd(X, Y, **options), expected)
    with_test = pkex.mmd(X, Y, n_permutations=9, random_state=0, **options)
    assert_attributed(with_test, expected)
    weights = np.linspace(0.2, 2.0, N), np.linspace(1.0, 0.3, M)
    statistic = mmd_statistic(N, estimator, weights)
    expected = attributed(statistic, reference, POOLED, players, **computation)
    assert_attributed(pkex.mmd(X, Y, weights=weights, **options), expected)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("name", KERNELS)
def test_permuted_statistics_are_those_of_permuted_rows(name, estimator):
    kernel = KERNELS[name].kernel
    # Few rows of unequal samples: each permutation is one of ten.
    x, y = POOLED[:2], POOLED[2:5]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = pkex.mmd(
            x, y, kernel=kernel, estimator=estimator, n_permutations=40, random_state=0
        )
    matrix = kernel(POOLED[:5])
    possible = []
    for first in ([i, j] for i in range(5) for j in range(i)):
        order = [*first, *(k for k in range(5) if k not in first)]
        possible.append(mmd_statistic(2, estimator)(matrix[np.ix_(order, order)]))
    drawn = result.permuted_values.sum(axis=1)
    distances = np.abs(drawn[:, None] - np.array(possible)).min(axis=1)
    assert distances.max() < 1e-12 * max(1.0, np.abs(possible).max())
    assert len(np.unique(drawn.round(9))) > 5


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("convention", ["marginal", "neutral"])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("name", KERNELS)
def test_hsic_equals_brute_force_with_a_series_on_both_sides(name, estimator, convention, groups):
    reference, (given, players) = KERNELS[name], GROUPS[groups]
    targets = np.column_stack([POOLED[:, 0] ** 2, POOLED[:, 1] + POOLED[:, 2]])
    options = {"kernel": reference.kernel, "target_kernel": Linear([1.0, 2.0], 0.5)}
    options |= {"estimator": estimator, "groups": given, "value_function": convention}
    statistic = hsic_statistic((targets * [1.0, 2.0]) @ targets.T, estimator)
    computation = {"marginal": convention == "marginal"}
    expected = attributed(statistic, reference, POOLED, players, **computation)
    assert_attributed(pkex.hsic(POOLED, targets, **options), expected)
    tested = pkex.hsic(POOLED, targets, n_permutations=5, random_state=0, **options)
    assert_attributed(tested, expected)


def test_permuted_values_of_hsic_are_those_of_permuted_targets():
    rng = np.random.default_rng(0)
    targets = POOLED[:, [0]] + rng.normal(size=(N + M, 1))
    result = pkex.hsic(
        POOLED,
        targets,
        kernel=Polynomial(2),
        target_kernel=Linear(),
        n_permutations=4,
        random_state=np.random.default_rng(3),
    )
    generator = np.random.default_rng(3)
    orders = generator.permuted(np.tile(np.arange(N + M), (4, 1)), axis=1)
    matrix = Polynomial(2)(POOLED)
    for order, found in zip(orders, result.permuted_values, strict=True):
        expected = hsic_statistic(Linear()(targets[order]))(matrix)
        assert found.sum() == pytest.approx(expected, abs=1e-11)


def test_permutations_in_blocks_keep_the_values():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(700, 3))
    y = x[:, 0] ** 2 + 0.1 * rng.normal(size=700)
    options = {"kernel": Polynomial(2, 0.3), "target_kernel": Linear()}
    plain = pkex.hsic(x, y, **options)
    tested = pkex.hsic(x, y, n_permutations=19, random_state=0, **options)
    np.testing.assert_allclose(tested.values, plain.values, rtol=1e-11)
    np.testing.assert_allclose(tested.alone, plain.alone, rtol=1e-11)
    assert tested.pvalue == 0.05
    # Normalised, it is the RV coefficient of the features (Escoufier 1973).
    matrix, target = Polynomial(2, 0.3)(x), np.multiply.outer(y, y)
    statistic = hsic_statistic(target)
    own = statistic(target) * hsic_statistic(matrix)(matrix)
    assert plain.r2 == pytest.approx(statistic(matrix) / np.sqrt(own), rel=1e-9)


def test_standard_errors_do_not_depend_on_constants_and_scales_of_the_kernel():
    y = X[:, 0] ** 2
    for estimator in ("biased", "unbiased"):
        one = pkex.hsic(X, y, kernel=Linear(), target_kernel=Linear(), estimator=estimator)
        other = pkex.hsic(
            X, y, kernel=2.0 * Linear(offset=3.0), target_kernel=Linear(0.5), estimator=estimator
        )
        np.testing.assert_allclose(other.values, one.values, rtol=1e-10)
        np.testing.assert_allclose(other.standard_errors, one.standard_errors, rtol=1e-9)


def test_the_detector_and_the_witness_take_them():
    for kernel in (Polynomial(2), Additive(RBF(), 2)):
        for options in ({}, {"value_function": "neutral", "estimator": "biased"}):
            detector = pkex.MMDDrift(X, kernel=kernel, **options)
            found = detector.predict(Y)
            if options:
                expected = pkex.mmd(X, Y, kernel=kernel, **options)
                np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
            assert found.statistic == pytest.approx(
                pkex.mmd(X, Y, kernel=kernel, **options).statistic, abs=1e-12
            )
        witness = pkex.witness(X, Y, kernel=kernel)
        expected = kernel(X, X).mean(axis=1) - kernel(X, Y).mean(axis=1)
        np.testing.assert_allclose(witness.predict(X), expected, atol=1e-12)


def test_threads_give_equal_bits():
    results = [
        pkex.mmd(np.tile(X, (20, 1)), Y, kernel=Polynomial(3) * RBF(), n_jobs=n).values
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("kernel", [Polynomial(2), Additive(RBF(), 2)], ids=str)
def test_a_constant_column_that_contributes_is_not_warned_of(kernel):
    first, second = np.random.default_rng(0).normal(size=(2, 20, 3))
    second += 1.0
    first[:, 1] = second[:, 1] = 3.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = pkex.mmd(first, second, kernel=kernel, value_function="neutral")
    assert abs(found.values[1]) > 1e-3
    assert not any("constant" in str(warning.message) for warning in said)
