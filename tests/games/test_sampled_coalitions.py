"""Estimates from sampled coalitions, of games whose values are known by brute force."""

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights

from pkex.games.coalitions import coalition_numbers
from pkex.games.sampled_coalitions import SampledCoalitions

D = 5
RNG = np.random.default_rng(8)
# Worths without any structure: all players act together.
WORTHS = RNG.normal(size=(2**D, 2))
EXACT = shapley_weights(D) @ WORTHS


def drawn(d, n_coalitions, seed):
    return SampledCoalitions.draw(d, n_coalitions, np.random.default_rng(seed))


def estimated(worths, n_coalitions, seed):
    d = worths.shape[-2].bit_length() - 1
    sampled = drawn(d, n_coalitions, seed)
    return sampled.estimates(worths[..., coalition_numbers(sampled.members), :])


@pytest.fixture(scope="module")
def many():
    """Estimates and standard errors by different seeds, shape (2, seeds, players, outputs)."""
    return np.moveaxis([estimated(WORTHS, 60, seed) for seed in range(1500)], 1, 0)


def test_estimates_are_unbiased_however_players_act_together(many):
    errors = many[0] - EXACT
    bias = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(len(errors)))
    assert np.abs(bias).max() < 3.5


def test_standard_errors_are_those_of_estimates(many):
    spread = many[0].std(axis=0, ddof=1)
    np.testing.assert_allclose(np.sqrt((many[1] ** 2).mean(axis=0)), spread, rtol=0.1)
    coverage = (np.abs(many[0] - EXACT) <= 2.0 * many[1]).mean()
    assert 0.92 < coverage < 0.97


def test_estimates_add_up_exactly(many):
    total = np.tile(WORTHS[-1] - WORTHS[0], (many.shape[1], 1))
    np.testing.assert_allclose(many[0].sum(axis=1), total, rtol=0, atol=1e-13)


def test_standard_errors_fall_as_the_root_of_the_number():
    few, many = (estimated(WORTHS, n, 0)[1] for n in (400, 40_000))
    np.testing.assert_allclose(few / many, 10.0, rtol=0.15)


def one_by_one(worths, n_coalitions, seed):
    """The terms θ + c x (y − xᵀθ) of pairs, each with the fit to the other folds, of one output."""
    d = worths.shape[0].bit_length() - 1
    sampled = drawn(d, n_coalitions, seed)
    z = sampled.members[sampled.pairs].astype(float)
    known = worths[coalition_numbers(sampled.members)][sampled.pairs]
    total, scale = worths[-1] - worths[0], 2.0 * sum(1.0 / k for k in range(1, d))
    folds = np.array_split(np.arange(n_coalitions // 2), 10)
    terms = []
    for fold in folds:
        others = np.setdiff1d(np.arange(n_coalitions // 2), fold)
        # KernelSHAP: β with the sum v(D) − v(∅), by eliminating the last player.
        rows = np.concatenate([z[0, others], z[1, others]])
        outputs = known[:, others].ravel() - worths[0] - rows[:, -1] * total
        free = np.linalg.lstsq(rows[:, :-1] - rows[:, -1:], outputs, rcond=None)[0]
        beta = np.append(free, total - free.sum())
        for pair in fold:
            rest = (known[0, pair] - known[1, pair] - (z[0, pair] - z[1, pair]) @ beta) / 2.0
            terms.append(beta + scale * (z[0, pair] - z[0, pair].mean()) * rest)
    return np.array(terms)


def test_estimates_are_means_of_terms_around_the_regression_on_other_folds():
    for d, n in ((3, 20), (D, 66)):
        worths = WORTHS[: 2**d, :1]
        values, errors = estimated(worths, n, 4)
        terms = one_by_one(worths[:, 0], n, 4)
        np.testing.assert_allclose(values[:, 0], terms.mean(axis=0), rtol=0, atol=1e-12)
        expected = terms.std(axis=0, ddof=1) / np.sqrt(n // 2)
        np.testing.assert_allclose(errors[:, 0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2])
def test_one_and_two_players_are_exact(d):
    worths = WORTHS[: 2**d]
    values, errors = estimated(worths, 20, 0)
    np.testing.assert_allclose(values, shapley_weights(d) @ worths, rtol=0, atol=1e-14)
    np.testing.assert_allclose(errors, 0.0, rtol=0, atol=1e-14)


def test_sums_over_players_are_exact():
    shares = RNG.normal(size=(12, 1))
    sampled = drawn(12, 60, 1)
    values, errors = sampled.estimates(3.0 + sampled.members @ shares)
    np.testing.assert_allclose(values, shares, rtol=0, atol=1e-12)
    np.testing.assert_allclose(errors, 0.0, rtol=0, atol=1e-12)


def test_many_games_have_the_estimates_that_each_has_alone():
    games = np.stack([WORTHS, 2.0 * WORTHS[::-1], WORTHS**2])
    values, errors = estimated(games, 60, 3)
    for number, game in enumerate(games):
        own = estimated(game, 60, 3)
        np.testing.assert_allclose([values[number], errors[number]], own, rtol=0, atol=1e-13)


def test_every_coalition_is_there_once_and_so_are_its_complement_and_both_ends():
    sampled = drawn(D, 400, 0)
    numbers = coalition_numbers(sampled.members)
    # Of 30 proper coalitions, 200 draws leave none out.
    assert sorted(numbers.tolist()) == list(range(2**D))
    assert numbers[sampled.ends].tolist() == [0, 2**D - 1]
    np.testing.assert_array_equal(numbers[sampled.pairs].sum(axis=0), 2**D - 1)


def test_coalitions_are_drawn_by_the_weights_of_the_regression():
    n = 40_000
    sampled = drawn(D, 2 * n, 0)
    counts = np.bincount(coalition_numbers(sampled.members[sampled.pairs[0]]), minlength=2**D)
    sizes = np.array([len(members) for members in coalitions(D)])[1:-1]
    by_size = np.array([4.0 / (s * (5 - s)) for s in range(1, 5)])
    weights = np.array([by_size[s - 1] / [5, 10, 10, 5][s - 1] for s in sizes])
    expected = n * weights / weights.sum()
    assert counts[[0, -1]].tolist() == [0, 0]
    assert np.abs((counts[1:-1] - expected) / np.sqrt(expected)).max() < 4.0


def test_seeds_reproduce_and_differ():
    one, same, other = (estimated(WORTHS, 40, seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.all(one != other)
