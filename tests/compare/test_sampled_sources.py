"""What large samples are read from: files of pandas, collections of Dask's, and bad entries."""

import numpy as np
import pytest

import pkex
from pkex.compare.sampled import estimate_over_design
from pkex.kernels import RBF, Categorical, Chi2

BLOCK = {"estimator": "block", "random_state": 0}


def table(n=1500, seed=0):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 2)), columns=["age", "bmi"])


@pytest.mark.parametrize("index", [None, "number"])
def test_the_index_of_a_table_of_pandas_is_no_column(tmp_path, index):
    pytest.importorskip("pyarrow")
    x, y = table(), table(seed=1)
    for frame, name in ((x, "x"), (y, "y")):
        shuffled = frame.set_index(np.arange(1500)[::-1].copy()).rename_axis(index)
        shuffled.to_parquet(tmp_path / f"{name}.parquet")
    found = pkex.mmd(tmp_path / "x.parquet", tmp_path / "y.parquet", **BLOCK)
    assert found.feature_names == ["age", "bmi"]
    assert (found.values == pkex.mmd(x, y, **BLOCK).values).all()


def test_truth_values_and_integers_of_a_file_are_targets_as_in_a_table(tmp_path):
    pytest.importorskip("pyarrow")
    x = table(2400)
    x["ill"], x["class"] = x["age"] > 0.0, np.arange(2400) % 3
    x.to_parquet(tmp_path / "x.parquet")
    options = {"kernel": RBF(1.0), **BLOCK}
    found = pkex.hsic(tmp_path / "x.parquet", "ill", **options)
    assert found.target_kernel == Categorical()
    with pytest.warns(UserWarning, match="integers of only 3 different values"):
        pkex.hsic(tmp_path / "x.parquet", "class", **options)


def test_rows_are_counted_from_the_first_of_all():
    rows = np.ones((70_000, 2))
    rows[66_000, 1] = -1.0
    with pytest.raises(ValueError, match="row 66000"):
        pkex.mmd(rows, rows, kernel=Chi2(1.0), **BLOCK)


def test_missing_entries_and_texts_of_dask_are_refused_with_what_can_be_done():
    dd = pytest.importorskip("dask.dataframe")
    x = table()
    x.loc[1300, "bmi"] = np.nan
    with pytest.raises(ValueError, match=r"X has a missing value .* row 1300") as caught:
        pkex.mmd(dd.from_pandas(x, npartitions=3), table(), **BLOCK)
    assert "indicator" not in str(caught.value)
    x["bmi"] = "high"
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        pkex.mmd(dd.from_pandas(x, npartitions=3), table(), **BLOCK)


def test_empty_samples_are_said_to_be_empty(tmp_path):
    pytest.importorskip("pyarrow")
    x = np.random.default_rng(0).normal(size=(1500, 2))
    with pytest.raises(ValueError, match="X is empty"):
        pkex.mmd(x[:0], x[:0], **BLOCK)
    table().iloc[:0].to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="X is empty"):
        pkex.mmd(tmp_path / "x.parquet", x, **BLOCK)
    table()[[]].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="Y is empty"):
        pkex.mmd(x, tmp_path / "none.parquet", **BLOCK)


def test_results_say_how_many_pairs_were_compared():
    x = np.random.default_rng(0).normal(size=(2, 1500, 2))
    found = pkex.mmd(*x, **BLOCK)
    assert found.to_dict()["n_pairs"] == found.n_pairs
    assert f"(block, {found.n_pairs:,} pairs, marginal values)" in repr(found)
    assert "n_pairs" not in pkex.mmd(*x[:, :50]).to_dict()


def test_a_budget_of_time_is_for_as_many_workers_as_there_are(monkeypatch):
    joblib = pytest.importorskip("joblib")
    seen = []
    pairs = estimate_over_design.pairs_of_budget
    monkeypatch.setattr(
        estimate_over_design,
        "pairs_of_budget",
        lambda *given: (seen.append(given[-1]), pairs(*given))[1],
    )
    x = np.random.default_rng(0).normal(size=(2, 1500, 2))
    with joblib.parallel_config("multiprocessing", n_jobs=3):
        pkex.mmd(*x, budget=100_000, n_jobs=-1, **BLOCK)
    assert seen == [3]


def test_a_column_that_varies_outside_the_reference_alone_has_a_scale(recwarn):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 1500, 2))
    x[:, 1], y[:, 1] = 5.0, 5.0
    y[7, 1] = 8.0
    found = pkex.mmd(x, y, **BLOCK)
    (warning,) = recwarn
    assert "['x1'] of the 374 rows" in str(warning.message)
    assert found.kernel.columns[1].length_scale == 6.0
    recwarn.clear()
    found = pkex.hsic(np.concatenate([y, x]), rng.normal(size=3000), **BLOCK)
    assert found.kernel.columns[1].length_scale == 6.0


def test_few_rows_against_many_are_no_case_for_all_pairs():
    with pytest.raises(ValueError, match="a random subset of the larger"):
        pkex.mmd(np.zeros((200, 1)), np.zeros((30_000, 1)), **BLOCK)
