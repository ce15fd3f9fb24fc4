"""Warnings of rows, unusual in many columns at once, that decide a comparison."""

import numpy as np
import pytest

import pkex
from pkex.kernels import RBF


def binary(seed, n, d=300):
    return (np.random.default_rng(seed).random((n, d)) < 0.05).astype(float)


def heavy_tailed(rng, n, d):
    return rng.standard_t(3, size=(n, 1)) * rng.normal(size=(n, d))


@pytest.fixture
def tables():
    X, Y = binary(0, 100), binary(1, 80)
    X[[3, 17]] = 1.0
    Y[5] = 1.0
    return X, Y


def test_two_equal_rows_that_outweigh_all_others_are_named(tables):
    with pytest.warns(UserWarning, match=r"^rows 3, 17 of X; row 5 of Y: unusual in so many"):
        result = pkex.mmd(*tables, n_permutations=19, random_state=0)
    assert abs(result.statistic) > 1e6
    # Without them it is what it says it is.
    rest = np.delete(tables[0], [3, 17], axis=0), np.delete(tables[1], 5, axis=0)
    assert abs(pkex.mmd(*rest).statistic) < 10.0


def test_the_advice_of_the_message_helps(tables):
    with pytest.warns(UserWarning, match=r"kernel=pkex.kernels.median_heuristic\(X, Y\)"):
        pkex.mmd(*tables)
    assert abs(pkex.mmd(*tables, kernel=pkex.kernels.median_heuristic(*tables)).statistic) < 1.0


def test_univariate_results_are_not_affected(tables):
    with pytest.warns(UserWarning, match="univariate results are not affected"):
        alone = pkex.mmd(*tables).alone
    assert np.abs(alone).max() < 1.0


def test_kernels_whose_squares_overflow_are_an_error_that_names_the_rows():
    X, Y = binary(0, 100, 900), binary(1, 80, 900)
    X[[3, 17]] = 1.0
    with pytest.raises(OverflowError, match=r"^rows 3, 17 of X: .* Check these rows, or pass"):
        pkex.mmd(X, Y, n_permutations=19, random_state=0)
    bounded = pkex.kernels.median_heuristic(X, Y)
    assert np.isfinite(pkex.mmd(X, Y, kernel=bounded).standard_errors).all()


def test_many_rows_are_named_in_part(rng):
    X = heavy_tailed(rng, 200, 50)
    with pytest.warns(UserWarning, match=r"^rows \d+, \d+, \d+ and \d+ more of X: .* HSIC and"):
        pkex.hsic(X, np.tanh(X[:, 0]))


def test_a_single_row_decides_biased_estimates_only(rng):
    X = rng.normal(size=(100, 40))
    X[7] *= 50.0
    with pytest.warns(UserWarning, match=r"^row 7 of X: .* with itself dominate the biased HSIC"):
        pkex.hsic(X, X[:, 0], kernel=pkex.kernels.OrthogonalANOVA.fit(X))
    pkex.hsic(X, X[:, 0])


@pytest.mark.parametrize("d", [2, 10, 40])
@pytest.mark.parametrize("n", [20, 200])
def test_rows_of_one_distribution_are_not_warned_of(rng, n, d):
    X = np.column_stack([rng.normal(size=(n, d)), rng.exponential(size=(n, d))])
    pkex.hsic(X, X[:, 0])
    pkex.mmd(X, rng.normal(size=(n, 2 * d)))


def test_a_kernel_that_was_given_is_not_looked_at(tables):
    pkex.mmd(*tables, kernel=RBF(20.0))


def test_batches_of_a_detector_are_looked_at(tables, rng):
    detector = pkex.MMDDrift(binary(2, 200), n_permutations=0)
    batch = binary(3, 50)
    detector.predict(batch)
    batch[[0, 9]] = 1.0
    with pytest.warns(UserWarning, match=r"^rows 0, 9 of X: .* dominate MMD²"):
        detector.predict(batch)
