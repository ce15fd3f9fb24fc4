"""Means of columns keep the digits of deviations from them."""

from fractions import Fraction

import numpy as np
import pytest

from pkex.games.means import added, blocks, column_means

RNG = np.random.default_rng(0)


def exact_deviation(entry, column, weights):
    """The entry's distance from the weighted mean, and the scale on which it is to be accurate."""
    parts = [
        Fraction(float(weight)) * (Fraction(float(entry)) - Fraction(float(other)))
        for weight, other in zip(weights, column, strict=True)
    ]
    return float(sum(parts)), float(sum(map(abs, parts)))


@pytest.mark.parametrize("n_rows", [1, 2, 7, 1000])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e9, -1e15])
def test_deviations_from_means_are_accurate_however_far_the_column_is(n_rows, offset):
    column = offset + RNG.normal(size=n_rows) * max(1e-6, 1e-12 * abs(offset))
    weights = RNG.uniform(size=n_rows)
    weights /= weights.sum()
    near, missing = column_means(column[:, None], weights)
    for entry in (column[0], column[-1], offset, offset + 1.0):
        expected, scale = exact_deviation(entry, column, weights)
        assert abs((entry - near[0]) - missing[0] - expected) <= 1e-14 * scale


def test_a_first_row_far_off_costs_no_digits():
    column = np.array([1e9, *RNG.normal(size=500)])
    weights = np.array([1e-18, *np.full(500, 1 / 500)])
    near, missing = column_means(column[:, None], weights)
    expected, scale = exact_deviation(0.5, column, weights)
    assert abs((0.5 - near[0]) - missing[0] - expected) <= 1e-14 * scale


@pytest.mark.parametrize("entry", [0.1, 1e300, -3e-310])
def test_the_deviation_from_equal_entries_is_exactly_0(entry):
    near, missing = column_means(np.full((77, 3), entry), np.full(77, 1 / 77))
    np.testing.assert_array_equal((entry - near) - missing, 0.0)


def test_sums_are_those_of_pairs():
    terms = RNG.integers(-99, 99, size=(13, 4)).astype(float)
    for n in range(1, 14):
        np.testing.assert_array_equal(added(terms[:n]), terms[:n].sum(axis=0))
    tenths = np.full((1 << 14, 1), 0.1)
    assert added(tenths)[0] == (1 << 14) * 0.1  # doubling is exact


def test_blocks_are_all_rows_one_after_the_other():
    for n_rows, n_columns in ((1, 1), (100_000, 7), (3, 10**6), (0, 2)):
        taken = [np.arange(n_rows)[block] for block in blocks(n_rows, n_columns)]
        np.testing.assert_array_equal(np.concatenate([*taken, []]), np.arange(n_rows))
