"""Permuted targets of pkex.hsic: row by row and in target_blocks, exactness, validity and power."""

import itertools
from functools import partial

import numpy as np
import pytest

import pkex
from pkex.compare.permutation import hsic_test
from pkex.compare.permutation.target_blocks import BLOCK_SIZE, TargetBlocks
from pkex.kernels import RBF, Categorical, Laplacian

# --- row by row ---


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_few_rows_are_permuted_one_by_one(rng, estimator):
    x, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    options = {"kernel": RBF(), "target_kernel": RBF(), "estimator": estimator}
    possible = np.array(
        [
            pkex.hsic(x, y[list(order)], **options).values
            for order in itertools.permutations(range(5))
        ]
    )
    result = pkex.hsic(x, y, n_permutations=100, random_state=0, **options)
    distances = np.abs(result.permuted_values[:, None] - possible).max(axis=2)
    assert distances.min(axis=1).max() < 1e-15
    assert len(set(distances.argmin(axis=1))) > 50


@pytest.mark.parametrize("n", [16, 70, 400])
def test_permuted_values_are_those_of_permuted_targets(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    result = pkex.hsic(x, y, n_permutations=5, random_state=7)
    orders = np.tile(np.arange(n), (5, 1))
    np.random.default_rng(7).permuted(orders, axis=1, out=orders)  # the same draws
    options = {name: getattr(result, name) for name in ("kernel", "target_kernel", "estimator")}
    again = np.array([pkex.hsic(x, y[order], **options).values for order in orders])
    np.testing.assert_allclose(result.permuted_values, again, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("n", "n_players", "n_permutations", "can"),
    [
        (512, 20, 999, True),
        (513, 1, 99, False),
        # Pairs that take too much memory, products that take too long, and very few rows.
        (512, 33, 99, False),
        (512, 20, 3276, True),
        (512, 20, 3277, False),
        # Exchanges of few rows lose power: these are permuted however long it takes.
        (128, 512, 99_999, True),
        (128, 513, 99, False),
        (100, 650, 999, True),
        (64, 10_000, 9999, True),
    ],
)
def test_rows_are_permuted_one_by_one_where_that_is_affordable(n, n_players, n_permutations, can):
    assert hsic_test.can_permute_rows(n, n_players, n_permutations) == can


@pytest.mark.parametrize(
    ("y", "least"),
    [
        (["a"] + ["b"] * 5, "0.167"),
        # Of 20 orders two tell the same classes apart.
        (["a"] * 3 + ["b"] * 3, "0.1"),
        ([0.0] * 3 + [1.0] * 3, "0.1"),
        # Of 90 six.
        (["a", "a", "b", "b", "c", "c"], "0.0667"),
        ([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], "0.0111"),
    ],
)
def test_the_least_pvalue_is_the_share_of_orders_that_compare_targets_alike(rng, y, least):
    x = rng.normal(size=(6, 2))
    with pytest.warns(UserWarning, match=f"p-values below {least} are not expected"):
        result = pkex.hsic(x, y, estimator="biased", n_permutations=4999, random_state=0)
    tied = np.abs(result.permuted_values.sum(axis=1) - result.statistic) < 1e-12
    assert tied.mean() == pytest.approx(float(least), abs=0.02)


def test_equal_rows_have_few_permutations_whatever_the_targets(rng):
    x = np.array([[0.0]] * 5 + [[1.0]])
    with pytest.warns(UserWarning, match=r"below 0.167 are not expected"):
        pkex.hsic(x, rng.normal(size=6), kernel=RBF(), n_permutations=99, random_state=0)


@pytest.mark.parametrize("n", [40, 600])
def test_a_result_holds_the_permuted_values_and_no_more(rng, n):
    x = rng.normal(size=(n, 3))
    result = pkex.hsic(x, x[:, 0], n_permutations=19, random_state=0)
    permuted = result.permuted_values
    assert permuted.shape == (19, 3)
    assert permuted.base is None


# --- in blocks ---

N = 524  # 65 target_blocks, and four rows
X = np.random.default_rng(0).normal(size=(N, 3))
Y = X[:, :1] + np.random.default_rng(1).normal(size=(N, 2))
LABELS = np.digitize(Y[:, 0], [-2.0, 0.5]).astype(str)
PROBLEMS = {
    "numbers": {"y": Y},
    "labels": {"y": LABELS},
    "neutral": {"y": Y, "value_function": "neutral"},
    "biased": {"y": Y, "estimator": "biased"},
    "unbiased labels": {"y": LABELS, "estimator": "unbiased", "value_function": "neutral"},
    "groups": {"y": Y, "groups": {"both": [0, 2]}},
    "columns of y": {"y": Y, "attribute": "y", "estimator": "unbiased"},
    "sum of kernels": {"y": Y, "kernel": RBF(2.0) + 0.5 * Laplacian(1.0).on([0, 2])},
    "kernel of labels": {"y": np.floor(Y[:, 0]), "target_kernel": Categorical()},
}


@pytest.mark.parametrize("n", [520, N])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_permuted_values_are_those_of_targets_that_were_exchanged(problem, n):
    options = dict(PROBLEMS[problem])
    y, number, n_players = options.pop("y")[:n], 19, len(X[0])
    result = pkex.hsic(X[:n], y, n_permutations=number, random_state=7, **options)
    generator = np.random.default_rng(7)  # the same draws
    arranged = TargetBlocks.draw(n, 2 * n_players, generator)
    exchanges = arranged.draw_exchanges(number, generator)
    options |= {name: getattr(result, name) for name in ("kernel", "target_kernel", "estimator")}
    again = []
    for of_groups in exchanges:
        order = arranged.order
        moved = order[arranged.sources(of_groups)]
        rows = (X[order], y[moved]) if options.get("attribute") != "y" else (X[moved], y[order])
        again.append(pkex.hsic(*rows, **options))
    found, size = np.array([r.values for r in again]), np.abs(result.values).sum()
    np.testing.assert_allclose(result.permuted_values, found, rtol=0, atol=1e-12 * size)
    # What features are worth alone is permuted alike.
    at_least = np.sum([r.alone >= result.alone for r in again], axis=0)
    np.testing.assert_allclose(result.alone_pvalues, (at_least + 1) / (number + 1))


@pytest.mark.parametrize("n", [8, 66, 130, 513, 5001])
def test_rows_are_arranged_in_groups_of_target_blocks(rng, n):
    arranged = TargetBlocks.draw(n, 40, rng)
    assert sorted(arranged.order) == list(range(n))
    assert np.all(np.isin(np.diff(arranged.groups), [0, 1]))
    assert arranged.n_movable == min(32, n // BLOCK_SIZE)
    sizes = np.bincount(arranged.groups)
    # What is left over does not move.
    assert len(sizes) == arranged.n_groups == arranged.n_movable + (n % BLOCK_SIZE > 0)
    assert np.all(sizes[arranged.n_movable :] == n % BLOCK_SIZE)
    assert np.ptp(sizes[: arranged.n_movable]) in (0, BLOCK_SIZE)
    exchanges = arranged.draw_exchanges(50, rng)
    for of_groups in exchanges:
        sources = arranged.sources(of_groups)
        assert sorted(sources) == list(range(n))
        np.testing.assert_array_equal(arranged.groups[sources], arranged.groups)
        np.testing.assert_array_equal(sources == np.arange(n), (of_groups == 0)[arranged.groups])
    assert set(np.unique(exchanges)) == set(range(BLOCK_SIZE))


@pytest.mark.parametrize(("n_players", "n_groups"), [(20, 32), (60, 32), (500, 11), (5000, 6)])
def test_sums_of_many_features_are_those_of_fewer_groups(rng, n_players, n_groups):
    arranged = TargetBlocks.draw(1000, 2 * n_players, rng)
    assert arranged.n_groups == n_groups
    if n_groups > 6:
        assert n_groups * (n_groups + 1) / 2 * 64 * 2 * n_players * 8 <= 40e6


def test_the_share_of_permutations_that_change_nothing_is_that_of_all_of_them(rng):
    arranged = TargetBlocks(np.arange(28), np.arange(28) // BLOCK_SIZE, 3)
    exchanges = np.array(list(itertools.product(range(BLOCK_SIZE), repeat=3)))
    exchanges = np.column_stack([exchanges, np.zeros_like(exchanges[:, 0])])
    different, classes = np.arange(28.0)[:, None], np.zeros((28, 1))
    classes[[1, 17, 19]] = 1.0

    def pairs(x, y):
        return sorted(zip(x[:, 0], y[:, 0], strict=True))

    for x, y in [(different, classes), (classes, different), (classes, np.roll(classes, 2))]:
        same = [pairs(x, y[arranged.sources(e)]) == pairs(x, y) for e in exchanges]
        if x is classes and y is not different:
            # Some that exchange rows anew are not seen.
            assert 1 / len(same) < float(arranged.unchanged_share(x, y)) < np.mean(same)
        else:
            assert float(arranged.unchanged_share(x, y)) == np.mean(same)


def test_target_blocks_of_equal_targets_have_nothing_to_exchange(rng):
    # Of 600 rows one is of another class, and takes one of eight places.
    y = np.repeat(["rare", "usual"], [1, 599])
    x = rng.normal(size=(600, 2))
    with pytest.warns(UserWarning, match=r"below 0.125 are not expected"):
        result = pkex.hsic(x, y, estimator="biased", n_permutations=99, random_state=0)
    assert len(np.unique(result.permuted_values.round(12), axis=0)) == 8


@pytest.mark.parametrize("n", [30, 300, 600])
def test_equal_seeds_give_equal_bits_for_any_threads(rng, n):
    x, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    results = [
        pkex.hsic(x, y, n_permutations=30, random_state=seed, n_jobs=n_jobs)
        for seed, n_jobs in ((3, 1), (3, 3), (4, 1))
    ]
    for name in ("values", "standard_errors", "permuted_values", "alone_familywise_pvalues"):
        np.testing.assert_array_equal(getattr(results[0], name), getattr(results[1], name))
    assert np.any(results[0].permuted_values != results[2].permuted_values)


# --- power ---


def of_numbers(rng, n, effect):
    x = rng.normal(size=(n, 2))
    return x, effect * x[:, 0] + rng.normal(size=n)


def of_labels(rng, n, effect, share):
    x, y = rng.normal(size=(n, 2)), rng.permutation(n) < share * n
    x[y, 0] += effect
    return x, y


POWER = {
    "numbers": partial(of_numbers, effect=0.22),
    "labels, 10 %": partial(of_labels, effect=0.65, share=0.1),
    "labels, 3 %": partial(of_labels, effect=1.2, share=0.03),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", POWER)
def test_exchanges_have_the_power_of_all_permutations(monkeypatch, design):
    found = []
    for most_rows in (64, 512):
        monkeypatch.setattr(hsic_test, "_MAX_ROWS", most_rows)
        results = []
        for seed in range(120):
            rng = np.random.default_rng(seed)
            data = POWER[design](rng, 203)
            # By the unbiased estimator power is the same, within 0.01 of 500 data sets.
            results.append(
                pkex.hsic(*data, estimator="biased", n_permutations=99, random_state=rng)
            )
        pvalues = np.array([[r.pvalue, r.alone_pvalues[0]] for r in results])
        found.append(np.mean(pvalues <= 0.05))
    in_blocks, rows = found
    assert 0.5 < rows < 0.9
    # The difference is known to some 0.03 only; docs/benchmarks.md has that of many more data sets.
    # What is excluded is the loss of 0.15 to 0.3 that exchanges in pairs have here.
    assert in_blocks > rows - 0.07
