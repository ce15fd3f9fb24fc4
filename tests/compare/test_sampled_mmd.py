"""MMD² by a design of pairs: what it is, what its errors and tests promise, and bad input."""

from datetime import timedelta

import numpy as np
import pytest
from brute_force_statistics import SumOfProducts, attributed, mmd_statistic
from calibration import check_calibration

import pkex
from pkex.compare.permutation import two_sample_test
from pkex.compare.sampled import budget, mmd, sample
from pkex.compare.sampled.design import Design
from pkex.kernels import RBF, Laplacian, Matern
from pkex.tables import stream

ESTIMATORS = ["incomplete", "block"]
# Blocks of 32 rows of each sample, and so many of these.
PAIRS, BLOCKS = 64 * 63 // 2, 32

TWO_TERMS = RBF(1.5).on([0, 1, 2]) + 0.5 * Laplacian(2.0).on([0, 1]) * RBF(1.0).on([2])
BY_DEFINITION = SumOfProducts(
    (
        (1.0, [(j, "rbf", 1.5) for j in range(3)]),
        (0.5, [(0, "laplacian", 2.0), (1, "laplacian", 2.0), (2, "rbf", 1.0)]),
    )
)


def two_samples(seed=0, n=2400, m=2400, d=3, shift=0.0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    y[:, 0] += shift
    return x, y


@pytest.fixture
def blocks(monkeypatch):
    """The rows of both samples in each block that is compared."""
    seen, of_block = [], mmd._BlockMMD.__call__

    def recorded(self, x, y):
        seen.append((x, y))
        return of_block(self, x, y)

    monkeypatch.setattr(mmd._BlockMMD, "__call__", recorded)
    return seen


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("value_function", ["neutral", "marginal"])
def test_values_are_means_over_blocks_of_values_by_definition(
    monkeypatch, blocks, estimator, value_function
):
    means = []
    with_means = mmd.Comparison.with_means
    monkeypatch.setattr(
        mmd.Comparison,
        "with_means",
        lambda self, rows, *others: (means.append(rows), with_means(self, rows, *others))[1],
    )
    x, y = two_samples(n=1200, m=1200, shift=1.0)
    found = pkex.mmd(
        x,
        y,
        kernel=TWO_TERMS,
        groups={"both": ["x0", "x1"]},
        estimator=estimator,
        value_function=value_function,
        budget=BLOCKS * PAIRS,
        n_permutations=9,
        random_state=1,
        n_jobs=1,
    )
    reference, marginal = means[0], value_function == "marginal"
    of_blocks = blocks[:BLOCKS]
    expected = [by_definition(rows, reference, marginal) for rows in of_blocks]
    assert found.n_pairs == BLOCKS * PAIRS
    got = np.concatenate([found.values, found.alone])
    np.testing.assert_allclose(got, np.mean(expected, axis=0), rtol=0, atol=1e-10)
    variances = np.var(expected, axis=0, ddof=1) / BLOCKS
    if marginal:
        # And what the means add, by means of nine parts of the reference.
        with_others = [
            np.mean([by_definition(rows, reference[part::9], True) for rows in of_blocks], axis=0)
            for part in range(9)
        ]
        variances += np.var(with_others, axis=0, ddof=1) / 9
    np.testing.assert_allclose(found.standard_errors, np.sqrt(variances)[:2], rtol=1e-8)


def by_definition(rows, reference, marginal):
    """Values and those alone of a block, with means over the reference."""
    k, statistic = len(reference), mmd_statistic(len(rows[0]))
    of_block = attributed(
        lambda matrix: statistic(matrix[k:, k:]),
        BY_DEFINITION,
        np.concatenate([reference, *rows]),
        [0, 0, 1],
        marginal=slice(0, k) if marginal else False,
    )
    return np.concatenate(of_block[:2])


def test_errors_cover_features_that_do_not_differ_beside_one_that_does():
    found = []
    for seed in range(14):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 8000, 3))
        y[:, 1] += 2.0
        options = {"kernel": RBF(1.5), "estimator": "incomplete", "random_state": seed}
        found.append(pkex.mmd(x, y, budget=4_000_000, **options))
    of_equal = [0, 2]
    values = np.array([r.values[of_equal] for r in found])
    errors = np.array([r.standard_errors[of_equal] for r in found])
    ratio = np.mean(errors**2) / np.mean(values**2)
    assert 0.6 < ratio < 1.7


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_permuted_values_equal_the_values_of_exchanged_rows(monkeypatch, blocks, estimator):
    labels = []
    permuted = two_sample_test.permuted_values
    monkeypatch.setattr(
        two_sample_test,
        "permuted_values",
        lambda groups, of, *others: (labels.append(of), permuted(groups, of, *others))[1],
    )
    options = {"kernel": RBF(1.0), "value_function": "neutral", "n_jobs": 1}
    x, y = two_samples(n=1300, m=2600, shift=0.5)
    found = pkex.mmd(x, y, estimator=estimator, n_permutations=3, random_state=0, **options)
    for of_slots, values in zip(labels[0][1:], found.permuted_values, strict=True):
        expected = []
        for rows in blocks[: found.n_pairs // pairs_of(blocks[0])]:
            pooled = np.concatenate(rows)
            is_first = np.repeat(of_slots, len(pooled) // len(of_slots))
            halves = pooled[is_first], pooled[~is_first]
            expected.append(pkex.mmd(*halves, **options).values)
        np.testing.assert_allclose(values, np.mean(expected, axis=0), rtol=0, atol=1e-12)


def pairs_of(rows):
    n = sum(map(len, rows))
    return n * (n - 1) // 2


def test_rounds_bring_rows_together_that_were_apart_and_use_each_equally(blocks):
    # Rows that are all different, and no counter.
    x = 0.25 + np.arange(10_000.0)[:, None]
    found = pkex.mmd(x, x + 0.5, kernel=RBF(3e3), estimator="incomplete", n_jobs=1, random_state=0)
    design = Design.of("incomplete", (10_000, 10_000), (32, 32), None)
    assert design.n_rounds > 1
    assert found.n_pairs == design.n_pairs == len(blocks) * pairs_of(blocks[0])
    rows, counts = np.unique(np.concatenate([a for a, _ in blocks]), return_counts=True)
    assert (counts == design.n_rounds).all()
    partners = {frozenset(a[:, 0]) for a, _ in blocks}
    assert len(partners) == len(blocks)
    assert len(rows) > 8_000


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("m", [1500, 9000])
def test_estimates_are_unbiased_over_designs(estimator, m):
    x, y = two_samples(n=1500, m=m, d=2, shift=0.3)
    options = {"kernel": RBF(1.0), "value_function": "neutral"}
    exact = pkex.mmd(x, y, **options)
    found = np.array(
        [
            np.concatenate(
                [
                    (r := pkex.mmd(x, y, estimator=estimator, random_state=seed, **options)).values,
                    r.alone,
                ]
            )
            for seed in range(30)
        ]
    )
    error = found.mean(axis=0) - np.concatenate([exact.values, exact.alone])
    assert (np.abs(error) < 3.5 * found.std(axis=0) / np.sqrt(len(found))).all()


SEEDS = 80
SIMULATED = {
    "incomplete": {"estimator": "incomplete", "n": 4800, "m": 4800, "budget": 10**6},
    "block": {"estimator": "block", "n": 1200, "m": 1200},
    "one larger": {"estimator": "block", "n": 1200, "m": 1800},
}


@pytest.mark.parametrize("design", SIMULATED)
def test_errors_cover_and_pvalues_are_uniform_over_data_sets(design):
    options = dict(SIMULATED[design])
    sizes = {name: options.pop(name) for name in "nm"}
    options |= {"kernel": RBF(1.0), "value_function": "neutral", "n_permutations": 19}
    results = [
        pkex.mmd(*two_samples(seed, d=2, **sizes), random_state=seed, **options)
        for seed in range(SEEDS)
    ]
    check_calibration(results)


def test_a_shift_is_found_in_the_right_feature():
    x, y = two_samples(n=20_000, m=20_000, shift=0.2)
    found = pkex.mmd(x, y, estimator="incomplete", n_permutations=199, random_state=0)
    assert found.pvalue == 0.005
    assert found.alone_pvalues.argmin() == found.values.argmax() == 0
    assert found.values[0] > 5.0 * found.standard_errors[0]


def bits(result):
    return [
        getattr(result, name).tobytes()
        for name in ("values", "standard_errors", "alone", "permuted_values")
    ]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_results_have_equal_bits_for_any_threads_and_shelves(monkeypatch, estimator):
    x, y = two_samples(n=5000, m=4000)
    options = {"estimator": estimator, "n_permutations": 9, "random_state": 3}
    expected = pkex.mmd(x, y, n_jobs=1, **options)
    assert bits(pkex.mmd(x, y, n_jobs=2, **options)) == bits(expected)
    # Some parts at a time, or one.
    for held in (50_000, 1):
        monkeypatch.setattr(sample, "_MAX_BYTES", held)
        assert bits(pkex.mmd(x, y, n_jobs=2, **options)) == bits(expected)


@pytest.fixture
def written(tmp_path):
    """Samples of 1500 rows in Parquet files: one in one, one in two."""
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    x, y = two_samples(n=1500, m=1500)

    def write(path, rows):
        path.parent.mkdir(exist_ok=True)
        columns = [pa.array(column) for column in rows.T]
        pq.write_table(pa.table(columns, names=["age", "bmi", "bp"]), path, row_group_size=100)

    write(tmp_path / "x.parquet", x)
    write(tmp_path / "y" / "part-0.parquet", y[:700])
    write(tmp_path / "y" / "part-1.parquet", y[700:])
    return (x, y), (tmp_path / "x.parquet", tmp_path / "y")


def test_parquet_files_give_the_bits_of_arrays(written):
    arrays, paths = written
    options = {"estimator": "incomplete", "n_permutations": 9, "random_state": 0}
    found = pkex.mmd(str(paths[0]), paths[1], **options)
    assert bits(found) == bits(pkex.mmd(*arrays, **options))
    assert found.feature_names == ["age", "bmi", "bp"]


def test_memory_mapped_rows_give_the_bits_of_arrays(tmp_path):
    x, y = (rows.astype(np.float32) for rows in two_samples(n=1500, m=1500))
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    options = {"estimator": "block", "n_permutations": 9, "random_state": 0}
    expected = pkex.mmd(x.astype(float), y.astype(float), **options)
    assert bits(pkex.mmd(mapped, y, **options)) == bits(expected)


def test_collections_of_dask_give_the_bits_of_arrays_partition_by_partition():
    pd = pytest.importorskip("pandas")
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    x, y = two_samples(n=1500, m=1500)
    options = {"estimator": "incomplete", "n_permutations": 9, "random_state": 0}
    table = dd.from_pandas(pd.DataFrame(y, columns=["age", "bmi", "bp"]), npartitions=4)
    empty = table[table["age"] > 1e9]
    found = pkex.mmd(da.from_array(x, chunks=(400, 2)), dd.concat([empty, table]), **options)
    assert bits(found) == bits(pkex.mmd(x, y, **options))
    assert found.feature_names == ["age", "bmi", "bp"]


def test_mixtures_of_products_are_expanded_for_all_rows():
    x, y = two_samples(n=1300, m=1300, d=2)
    # Too far away to be likely among the rows that the kernel is looked at with.
    x[0] = 40.0
    found = pkex.mmd(x, y, kernel=Matern(1.0, nu=2.5), estimator="block", random_state=0)
    assert np.isfinite(found.values).all()


def test_a_budget_is_a_number_of_pairs_or_a_time():
    x, y = two_samples(n=20_000, m=20_000, d=2)
    options = {"estimator": "incomplete", "kernel": RBF(1.0), "random_state": 0}
    few, more = (pkex.mmd(x, y, budget=number, **options) for number in (200_000, 10**7))
    assert 100_000 < few.n_pairs <= 200_000
    assert 5 * 10**6 < more.n_pairs <= 10**7
    assert (few.standard_errors > 2.0 * more.standard_errors).all()
    timed = pkex.mmd(x, y, budget=timedelta(seconds=0.2), **options)
    assert timed.n_pairs > 64_000


@pytest.mark.parametrize("n_rows", [(28_324, 3_629), (2_574, 5_544_682), (114_390, 658_919)])
def test_the_number_of_pairs_of_blocks_is_a_budget_for_the_same_design(n_rows):
    unit = mmd._slots(*n_rows)
    for pairs in (None, 10**5, 3 * 10**7, 418_064_005):
        design = Design.of("block", n_rows, unit, pairs)
        assert Design.of("block", n_rows, unit, design.n_pairs) == design


def test_blocks_use_the_budget_where_sizes_are_unlike():
    design = Design.of("block", (20_000, 600_000), (8, 56), 3 * 10**7)
    assert 2.4e7 < design.n_pairs <= 3e7
    assert design.n_parts >= 32


def test_a_budget_of_time_is_measured_however_few_rows_one_sample_has():
    x, y = two_samples(n=60_000, m=300, d=1)
    options = {"estimator": "block", "kernel": RBF(1.0), "n_permutations": 9}
    found = pkex.mmd(x, y, budget=timedelta(seconds=0.1), **options)
    assert found.n_pairs >= BLOCKS * PAIRS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 10**6}, "compares all pairs of rows, and does not support a budget"),
        ({"estimator": "block", "budget": 100}, "budget=100 is too small"),
        ({"estimator": "block", "budget": "60s"}, "datetime.timedelta, or None; got '60s'"),
        ({"estimator": "block", "budget": timedelta(0)}, "must be a positive time"),
        ({"estimator": "linear"}, "'unbiased', 'biased', 'incomplete', 'block'; got 'linear'"),
        ({"estimator": "block", "weights": (None, np.ones(2400))}, "does not support weights"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pkex.mmd(*two_samples(), **options)


def test_bad_samples_are_refused(written, tmp_path):
    (x, y), (path, _) = written
    with pytest.raises(ValueError, match="at least 1172 and 1172 rows; got 1000 and 1000"):
        pkex.mmd(x[:1000], y[:1000], estimator="incomplete")
    with pytest.raises(ValueError, match="got 2, expected 3"):
        pkex.mmd(x, y[:, :2], estimator="block")
    with pytest.raises(ValueError, match=r"the path of a file, .* for estimator='incomplete'"):
        pkex.mmd(path, y)
    with pytest.raises(FileNotFoundError, match="Y: there is no Parquet file at"):
        pkex.mmd(path, tmp_path / "none", estimator="block")
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="X cannot be read as Parquet: "):
        pkex.mmd(tmp_path / "text", path, estimator="block")


def test_a_missing_entry_is_named_by_its_row_of_all():
    x = np.ones((70_000, 2))
    x[66_000, 1] = np.nan
    with pytest.raises(ValueError, match=r"X has a missing value .* row 66000, column 1"):
        pkex.mmd(x, np.ones((2000, 2)), estimator="block", kernel=RBF(1.0))


def test_a_file_that_changes_while_it_is_read_is_refused(written, monkeypatch):
    (x, _), (path, _) = written
    monkeypatch.setattr(sample, "_MAX_BYTES", 1)
    chunks = stream._Parquet.chunks
    reads = []

    def shrinking(self):
        reads.append(self)
        for chunk in chunks(self):
            yield chunk[: 90 if len(reads) > 3 else None]

    monkeypatch.setattr(stream._Parquet, "chunks", shrinking)
    with pytest.raises(ValueError, match="changed while it was read: it had 1500 rows"):
        pkex.mmd(path, x, estimator="block", random_state=0)


def test_bad_entries_in_files_are_refused_by_column(written, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (x, _), (path, _) = written
    columns = {"age": x[:, 0], "bmi": x[:, 1], "bp": pa.array([1, None] * 750)}
    pq.write_table(pa.table(columns), tmp_path / "missing.parquet")
    with pytest.raises(ValueError, match=r"Y.*NaN.*'bp'"):
        pkex.mmd(path, tmp_path / "missing.parquet", estimator="block")
    columns["bp"] = ["high", "low"] * 750
    pq.write_table(pa.table(columns), tmp_path / "text.parquet")
    with pytest.raises(TypeError, match=r"columns \['bp'\] of '.*text.parquet' do not"):
        pkex.mmd(path, tmp_path / "text.parquet", estimator="block")


def test_all_pairs_that_take_long_are_warned_of_at_once(monkeypatch):
    monkeypatch.setattr(budget, "_FEW_PAIRS", 0)
    monkeypatch.setattr(budget, "_LONG_CALL", 0.0)
    with pytest.warns(UserWarning, match="will take about .*estimator='incomplete'"):
        pkex.mmd(*two_samples(n=50, m=50))


def test_tables_are_taken_as_they_are():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    tables = []
    for share in (0.5, 0.3):
        table = pd.DataFrame({"age": rng.normal(size=3000), "sex": rng.random(3000) < share})
        table["sex"] = np.where(table["sex"], "female", "male")
        table.loc[rng.random(3000) < 0.1, "age"] = np.nan
        tables.append(table)
    options = {"missing": "indicator", "value_function": "neutral"}
    exact = pkex.mmd(*tables, **options)
    options |= {"estimator": "incomplete", "n_permutations": 99, "random_state": 0}
    found = pkex.mmd(*tables, **options)
    assert [column.compared for column in found.columns] == ["numbers", "labels"]
    # The kernel is that of a part of the rows.
    assert (np.abs(found.values - exact.values) < 4.0 * found.standard_errors).all()
    assert found.alone_pvalues[1] == 0.01
    with pytest.raises(ValueError, match="are read as numbers, with neither"):
        pkex.mmd("x.parquet", "y.parquet", estimator="incomplete", missing="indicator")
