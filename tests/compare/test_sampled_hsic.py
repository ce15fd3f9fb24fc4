"""HSIC by a design of pairs: what it is, what its errors and tests promise, and bad input."""

import pickle

import numpy as np
import pytest
from brute_force_statistics import SumOfProducts, attributed, hsic_statistic
from calibration import check_calibration

import pkex
from pkex.compare.sampled import hsic
from pkex.kernels import RBF, Categorical

ESTIMATORS = ["incomplete", "block"]


def dependent(seed=0, n=2400, d=3, slope=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, slope * x[:, 0] + rng.normal(size=n)


@pytest.fixture
def blocks(monkeypatch):
    """The rows of each block that is compared, data before targets."""
    seen, of_block = [], hsic._BlockHSIC.__call__

    def recorded(self, rows):
        seen.append(rows)
        return of_block(self, rows)

    monkeypatch.setattr(hsic._BlockHSIC, "__call__", recorded)
    return seen


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("attribute", "xy")
def test_values_are_means_over_blocks_of_values_by_definition(blocks, estimator, attribute):
    x, y = dependent(n=2350, slope=1.0)
    other = np.column_stack([y, x[:, 1] + 0.5 * y])
    found = pkex.hsic(
        x,
        other,
        kernel=RBF(1.5),
        target_kernel=RBF(0.8),
        estimator=estimator,
        value_function="neutral",
        attribute=attribute,
        random_state=1,
        n_jobs=1,
    )
    expected = []
    for rows in blocks:
        sides = (rows[:, :3], 1.5), (rows[:, 3:], 0.8)
        (one, scale), (two, scale_of_two) = sides if attribute == "x" else sides[::-1]
        matrices = [
            SumOfProducts(((1.0, [(j, "rbf", length) for j in range(of.shape[1])]),))
            for of, length in ((one, scale), (two, scale_of_two))
        ]
        statistic = hsic_statistic(matrices[1](two), "unbiased")
        of_block = attributed(statistic, matrices[0], one, range(one.shape[1]))
        expected.append(np.concatenate(of_block[:2]))
    got = np.concatenate([found.values, found.alone])
    np.testing.assert_allclose(got, np.mean(expected, axis=0), rtol=0, atol=1e-10)
    errors = np.std(expected, axis=0, ddof=1)[: len(found.values)] / np.sqrt(len(expected))
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-8)


@pytest.mark.parametrize("exponent", [-600, 600])
@pytest.mark.parametrize("side", ["kernel", "target_kernel"])
def test_amplitudes_may_be_tiny_or_huge(side, exponent):
    x, y = dependent(n=2400, slope=1.0)
    kernels = {"kernel": RBF(2.0), "target_kernel": RBF(2.0)}
    options = {"estimator": "block", "n_permutations": 19, "random_state": 0}
    plain = pkex.hsic(x, y, **kernels, **options)
    scaled = pkex.hsic(x, y, **{**kernels, side: 2.0**exponent * RBF(2.0)}, **options)
    for name in ("values", "standard_errors", "permuted_values"):
        expected = getattr(plain, name) * 2.0**exponent
        np.testing.assert_array_equal(getattr(scaled, name), expected)
    assert scaled.pvalue == plain.pvalue


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_permuted_values_are_those_of_exchanged_targets(monkeypatch, blocks, estimator):
    drawn = []
    permuted = hsic.TargetBlocks.draw_exchanges
    monkeypatch.setattr(
        hsic.TargetBlocks,
        "draw_exchanges",
        lambda self, number, generator: (
            drawn.append(permuted(self, number, generator)) or drawn[-1]
        ),
    )
    options = {"kernel": RBF(1.0), "target_kernel": RBF(1.0), "value_function": "neutral"}
    x, y = dependent(n=2400, slope=1.0)
    found = pkex.hsic(
        x, y, estimator=estimator, n_permutations=3, random_state=0, n_jobs=1, **options
    )
    for exchanges, values in zip(drawn[0], found.permuted_values, strict=True):
        expected = []
        for rows in blocks:
            target_blocks = hsic._target_blocks(len(rows))
            exchanged = rows[target_blocks.sources(exchanges), 3]
            of_block = pkex.hsic(rows[:, :3], exchanged, estimator="unbiased", **options)
            expected.append(of_block.values)
        np.testing.assert_allclose(values, np.mean(expected, axis=0), rtol=0, atol=1e-12)


def test_target_blocks_of_rows_stay_together_through_all_rounds(blocks):
    x = np.arange(30_000.0)[:, None]
    found = pkex.hsic(x, x[:, 0] ** 2, kernel=RBF(1e4), estimator="incomplete", n_jobs=1)
    of_target_blocks = np.concatenate([rows[:, 0].reshape(-1, 8) for rows in blocks])
    together, counts = np.unique(of_target_blocks, axis=0, return_counts=True)
    assert len(np.unique(together)) == together.size
    assert counts.min() == counts.max() > 1
    assert found.n_pairs == len(blocks) * 128 * 127 // 2
    assert len({frozenset(rows[:, 0]) for rows in blocks}) == len(blocks)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimates_are_unbiased_over_designs(estimator):
    x, y = dependent(n=2500, d=2, slope=0.5)
    options = {"kernel": RBF(1.0), "target_kernel": RBF(1.0), "value_function": "neutral"}
    exact = pkex.hsic(x, y, estimator="unbiased", **options)
    found = np.array(
        [pkex.hsic(x, y, estimator=estimator, random_state=s, **options).values for s in range(30)]
    )
    error = found.mean(axis=0) - exact.values
    assert (np.abs(error) < 3.5 * found.std(axis=0) / np.sqrt(len(found))).all()


def test_errors_hold_that_of_means_also_of_features_that_do_not_matter(monkeypatch):
    x, y = dependent(n=8000, slope=3.0)
    options = {"kernel": RBF(1.5), "target_kernel": RBF(3.0), "estimator": "incomplete"}
    options |= {"budget": 2_000_000, "random_state": 0}
    found = pkex.hsic(x, y, **options)
    # The standard deviation over data sets is 0.00015, by simulation.
    assert (np.abs(np.log(found.standard_errors[1:] / 0.00015)) < 0.4).all()
    monkeypatch.setattr(hsic, "terms_of_parts", lambda *_: [])
    without = pkex.hsic(x, y, **options)
    assert (without.values == found.values).all()
    assert (without.standard_errors < found.standard_errors).all()


SEEDS = 80


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_errors_cover_and_pvalues_are_uniform_over_data_sets(estimator):
    options = {"kernel": RBF(1.0), "target_kernel": RBF(1.0), "value_function": "neutral"}
    options |= {"estimator": estimator, "n_permutations": 19, "budget": 300_000}
    results = [
        pkex.hsic(*dependent(seed, n=5000, d=2), random_state=seed, **options)
        for seed in range(SEEDS)
    ]
    check_calibration(results)


def test_a_dependence_is_found_in_the_right_feature_of_labels_too():
    x, y = dependent(n=20_000, slope=0.3)
    for target in (y, np.where(y > 1.0, "high", "low")):
        found = pkex.hsic(x, target, estimator="incomplete", n_permutations=199, random_state=0)
        assert found.pvalue == 0.005
        assert found.alone_pvalues.argmin() == found.values.argmax() == 0
        assert found.values[0] > 5.0 * found.standard_errors[0]


def bits(result):
    names = ("values", "standard_errors", "alone", "permuted_values")
    return [getattr(result, name).tobytes() for name in names]


def test_files_and_threads_give_the_bits_of_arrays(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    x, y = dependent(n=5000)
    columns = {"age": x[:, 0], "price": y, "bmi": x[:, 1], "bp": x[:, 2]}
    pq.write_table(pa.table(columns), tmp_path / "table.parquet", row_group_size=700)
    options = {"target_kernel": RBF(1.0), "estimator": "incomplete", "n_permutations": 9}
    options |= {"random_state": 0, "groups": {"body": [1, 2]}}
    expected = pkex.hsic(x, y, n_jobs=1, **options)
    assert bits(pkex.hsic(x, y, n_jobs=2, **options)) == bits(expected)
    found = pkex.hsic(tmp_path / "table.parquet", "price", **options)
    assert bits(found) == bits(expected)
    assert found.feature_names == ["age", "body"]
    with pytest.raises(ValueError, match="y must be one of several columns of X; got 'cost'"):
        pkex.hsic(tmp_path / "table.parquet", "cost", **options)


def test_what_needs_all_pairs_is_said_not_to_be_there():
    x, y = dependent(n=2400)
    found = pkex.hsic(x, y > 0.0, estimator="block", target_kernel=Categorical(), random_state=0)
    for result in (found, pickle.loads(pickle.dumps(found))):
        for name in ("r2", "alone_r2"):
            with pytest.raises(ValueError, match=f"{name} requires all pairs of rows"):
                getattr(result, name)
    with pytest.raises(ValueError, match="'block' requires at least 2342 rows; got 500"):
        pkex.hsic(x[:500], y[:500], estimator="block")
