"""Permuted rows of pkex.mmd, and the p-values that come of them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import pkex
from pkex.compare.permutation.blocks import two_sample_blocks
from pkex.kernels import RBF


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("convention", ["neutral", "marginal"])
def test_permuted_values_are_those_of_permuted_rows(rng, estimator, convention):
    x, y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)) + 1.0
    pooled = np.concatenate([x, y])
    options = {"kernel": RBF(), "estimator": estimator, "value_function": convention}
    possible = []
    for chosen in itertools.combinations(range(7), 3):
        others = [row for row in range(7) if row not in chosen]
        possible.append(pkex.mmd(pooled[list(chosen)], pooled[others], **options).values)
    result = pkex.mmd(x, y, n_permutations=30, random_state=0, **options)
    distances = np.abs(result.permuted_values[:, None] - np.array(possible)).max(axis=2)
    assert distances.min(axis=1).max() < 1e-15
    assert len(set(distances.argmin(axis=1))) > 10  # and not always the same few


@pytest.mark.parametrize(("n", "m"), [(300, 300), (700, 90), (1000, 40), (5, 400)])
def test_permuted_blocks_are_permuted_rows(n, m):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    result = pkex.mmd(x, y, n_permutations=3, random_state=7)
    # The same draws.
    generator = np.random.default_rng(7)
    blocks = two_sample_blocks(n, m, 3, 3, generator)
    labels = blocks.draw_labels(3, generator)
    arranged = np.concatenate([x, y])[blocks.order]
    for drawn, values in zip(labels, result.permuted_values, strict=True):
        is_first = drawn[blocks.groups] == 1.0
        again = pkex.mmd(arranged[is_first], arranged[~is_first], kernel=result.kernel)
        np.testing.assert_allclose(values, again.values, rtol=0, atol=1e-14)
        assert (len(x), len(y)) == again.n_rows


@pytest.mark.parametrize(
    ("n", "m"), [(2, 2), (64, 64), (65, 64), (2000, 2000), (10_000, 50), (3, 5000), (100_000, 17)]
)
def test_rows_are_arranged_in_few_blocks_of_equal_size(rng, n, m):
    blocks = two_sample_blocks(n, m, 20, 99, rng)
    assert sorted(blocks.order) == list(range(n + m))
    assert set(blocks.order[:n]) == set(range(n))
    sizes = np.bincount(blocks.groups)
    assert len(sizes) == len(blocks.in_first) <= 130
    assert len(set(sizes[np.concatenate(blocks.movable)])) == 1
    assert np.all(np.diff(blocks.groups) >= 0)
    assert np.all(blocks.in_first[blocks.groups] == (np.arange(n + m) < n))
    assert all(len(movable) >= min(16, n, m) for movable in blocks.movable)


@pytest.mark.parametrize(("n", "m"), [(60, 60), (64, 65), (100, 30), (2000, 2000), (3000, 40)])
@pytest.mark.parametrize("n_players", [20, 300, 1000, 5000, 100_000])
@pytest.mark.parametrize("n_permutations", [999, 100_000])
def test_rows_move_however_many_features_and_permutations(rng, n, m, n_players, n_permutations):
    blocks = two_sample_blocks(n, m, n_players, n_permutations, rng)
    movable = np.isin(blocks.groups, np.concatenate(blocks.movable))
    # All of the smaller sample do but for what is no whole block, and of the other as well unless
    # it is much the larger.
    size = np.count_nonzero(blocks.groups == blocks.movable[0][0])
    left = [n - np.count_nonzero(movable[:n]), m - np.count_nonzero(movable[n:])]
    assert left[int(m < n)] < size
    if max(n, m) < 3 * min(n, m):
        assert max(left) < size
    first, second = map(len, blocks.movable)
    assert math.comb(first + second, first) > 10 * n_permutations
    # Memory and time stay bounded.
    n_blocks = len(blocks.in_first)
    assert n_blocks <= 34 or n_blocks**2 * n_players < 1.2 * (1 << 22)


@pytest.mark.parametrize("n", [35, 42, 50, 60])
def test_the_share_of_permutations_that_change_nothing_is_exact(n):
    # Two levels, each as often in one sample as in the other.
    zeros, ones = n - n // 2, n // 2
    rows = np.tile(np.arange(n) < ones, 2)[:, None].astype(float)
    blocks = two_sample_blocks(n, n, 1, 19, np.random.default_rng(0))
    same = math.comb(2 * ones, ones) * math.comb(2 * zeros, zeros)
    assert blocks.unchanged_share(rows[blocks.order]) == Fraction(same, math.comb(2 * n, n))


@pytest.mark.parametrize("n", [40, 50])
def test_samples_of_few_levels_are_tested(rng, n):
    x, y = rng.integers(0, 5, size=(2, n, 1)).astype(float)
    assert 0.0 < pkex.mmd(x, y, n_permutations=19, random_state=0).pvalue <= 1.0


def test_pvalues_count_ties(rng):
    # Two rows each: of the six permutations two give the observed value.
    x, y = np.array([[0.0], [0.1]]), np.array([[5.0], [5.2]])
    with pytest.warns(UserWarning, match=r"p-values below 0.333 are not expected"):
        result = pkex.mmd(x, y, n_permutations=5000, random_state=0)
    assert result.pvalue == pytest.approx(1 / 3, abs=0.03)
    b = np.sum(result.permuted_values[:, 0] >= result.values[0] - 1e-12)
    assert result.pvalue == result.feature_pvalues[0] == (b + 1) / 5001


def test_all_pvalues_are_one_where_nothing_varies():
    x = np.tile([0.0, 1.0], (10, 1))
    with (
        pytest.warns(UserWarning, match="constant"),
        pytest.warns(UserWarning, match="below 1 are not expected"),
    ):
        result = pkex.mmd(x, x, kernel=RBF(), n_permutations=19, random_state=0)
    assert result.pvalue == 1.0
    assert np.all(result.feature_pvalues == 1.0)
    assert np.all(result.familywise_pvalues == 1.0)


@pytest.mark.parametrize("n", [20, 200])
def test_equal_seeds_give_equal_bits(rng, n):
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    results = [
        pkex.mmd(x, y, n_permutations=50, random_state=seed)
        for seed in (3, np.random.default_rng(3), 4)
    ]
    np.testing.assert_array_equal(results[0].permuted_values, results[1].permuted_values)
    np.testing.assert_array_equal(results[0].values, results[1].values)
    assert np.any(results[0].permuted_values != results[2].permuted_values)


def test_random_states_may_be_of_the_older_kind(samples):
    def drawn(state):
        return pkex.mmd(*samples, n_permutations=20, random_state=state).permuted_values

    state = np.random.RandomState(3)
    first = drawn(state)
    assert np.any(drawn(state) != first)  # it goes on
    np.testing.assert_array_equal(drawn(np.random.RandomState(3)), first)
    np.testing.assert_array_equal(drawn(np.int64(3)), drawn(3))


def test_familywise_pvalues_are_at_least_those_of_single_features(rng):
    x, y = rng.normal(size=(50, 6)), rng.normal(size=(50, 6)) + 0.3
    result = pkex.mmd(x, y, n_permutations=200, random_state=0)
    assert np.all(result.familywise_pvalues >= result.feature_pvalues)


def test_a_user_kernel_needs_no_length_scale(samples):
    result = pkex.mmd(*samples, kernel=RBF(3.0))
    assert result.kernel == RBF(3.0)
    assert result.bandwidth is None
