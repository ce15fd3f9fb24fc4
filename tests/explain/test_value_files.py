"""Values of Parquet files, written to a Parquet file chunk by chunk."""

import tracemalloc

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC, SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.explain import value_files

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NAMES = [f"column {j}" for j in range(X.shape[1])]
FRAME = pd.DataFrame(np.concatenate([ROWS] * 3), columns=NAMES)


@pytest.fixture
def rows(tmp_path):
    """Return a directory of two files with another column, and columns in another order."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, half in enumerate((FRAME.iloc[:11], FRAME.iloc[11:])):
        of_file = half[NAMES[::-1]].assign(other="text")
        of_file.to_parquet(folder / f"part {number}.parquet")
    return folder


def explainer_of(model, **options):
    return pkex.Explainer(model.fit(pd.DataFrame(X, columns=NAMES), options.pop("y", Y)), **options)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(value_files, "_ROWS", 4)


def test_chunks_have_the_values_of_all_rows(rows, small_chunks, tmp_path):
    explainer, seen = explainer_of(SVR()), []
    explainer.write_parquet(rows, tmp_path / "values.parquet", progress=lambda *at: seen.append(at))
    found = pd.read_parquet(tmp_path / "values.parquet")
    expected = explainer(FRAME)
    assert list(found) == ["row", "base_value", *NAMES]
    np.testing.assert_array_equal(found[NAMES], expected.values)
    np.testing.assert_array_equal(found["base_value"], expected.base_values)
    np.testing.assert_array_equal(found["row"], np.arange(1, len(FRAME) + 1))
    done, total = zip(*seen, strict=True)
    assert set(total) == {len(FRAME)}
    assert {4, 8, 11, 15, len(FRAME)} <= set(done)
    assert list(done) == sorted(done)


def test_each_output_of_a_row_has_a_line(rows, small_chunks, tmp_path):
    y = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    explainer = explainer_of(SVC(decision_function_shape="ovo"), y=y)
    explainer.write_parquet(rows, tmp_path / "values.parquet")
    found, expected = pd.read_parquet(tmp_path / "values.parquet"), explainer(FRAME)
    for place, name in enumerate(expected.output_names):
        of_output = found[found["output"] == name]
        np.testing.assert_array_equal(of_output[NAMES], expected.values[..., place])
        np.testing.assert_array_equal(of_output["base_value"], expected.base_values[:, place])


def test_standard_deviations_are_written_on_request(rows, small_chunks, tmp_path):
    explainer = explainer_of(GaussianProcessRegressor(alpha=0.1, optimizer=None))
    explainer.write_parquet(rows, tmp_path / "values.parquet", uncertainty=True)
    found = pd.read_parquet(tmp_path / "values.parquet")
    expected = explainer(FRAME, uncertainty=True).standard_deviations
    deviations = found[[f"{name} standard deviation" for name in NAMES]]
    np.testing.assert_allclose(deviations, expected, rtol=1e-12)


def test_an_interrupted_call_leaves_the_files_as_they_were(rows, small_chunks, tmp_path):
    path = tmp_path / "values.parquet"
    path.write_bytes(b"of the last call")
    before = sorted(tmp_path.iterdir())

    def interrupt(done, total):
        if done > total / 2:
            assert len(list(tmp_path.iterdir())) == len(before) + 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explainer_of(SVR()).write_parquet(rows, path, progress=interrupt)
    assert sorted(tmp_path.iterdir()) == before
    assert path.read_bytes() == b"of the last call"


def test_memory_does_not_grow_with_the_number_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(value_files, "_ROWS", 1000)
    explainer = pkex.Explainer(
        pkex.KernelExpansion(np.eye(20)[:2], [1.0, 2.0], pkex.kernels.RBF(1.0))
    )
    peaks = []
    for n_rows in (2000, 20_000):
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(n_rows, 20)))
        frame.rename(columns=str).to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
        tracemalloc.start()
        explainer.write_parquet(tmp_path / "rows.parquet", tmp_path / "values.parquet")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert 1.2 * peaks[0] < 20_000 * 20 * 8
    assert peaks[1] < 1.2 * peaks[0]


def test_errors_name_the_row_of_all_rows_and_the_file(rows, small_chunks, tmp_path):
    explainer, path = explainer_of(SVR()), tmp_path / "values.parquet"
    last = FRAME.iloc[11:].copy()
    last.iloc[3, 1] = np.nan
    last.to_parquet(rows / "part 1.parquet")
    FRAME.iloc[:11].to_parquet(rows / "part 0.parquet")
    with pytest.raises(ValueError, match=r"missing value .* row 14, column 'column 1'"):
        explainer.write_parquet(rows, path)
    assert not path.exists()
    with pytest.raises(ValueError, match=r"part 0.parquet' would replace the file that is read"):
        explainer.write_parquet(rows, rows / "part 0.parquet")
    with pytest.raises(ValueError, match="is not a regular file"):
        explainer.write_parquet(rows, tmp_path)
    with pytest.raises(ValueError, match="is in a directory that does not exist"):
        explainer.write_parquet(rows, tmp_path / "nowhere" / "values.parquet")
    with pytest.raises(ValueError, match="is in the directory that is read"):
        explainer.write_parquet(rows, rows / "values.parquet")
    with pytest.raises(TypeError, match="path must be the path of a file to write; got None"):
        explainer.write_parquet(rows, None)
    with pytest.raises(TypeError, match=r"X must be the path .* DataFrame"):
        explainer.write_parquet(FRAME, path)
    dated = FRAME.assign(**{NAMES[1]: pd.Timestamp(2026, 1, 1)})
    dated.to_parquet(tmp_path / "dated.parquet")
    with pytest.raises(TypeError, match="column 'column 1' of X must hold real numbers; got dates"):
        explainer.write_parquet(tmp_path / "dated.parquet", path)
    FRAME.iloc[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="X is empty"):
        explainer.write_parquet(tmp_path / "none.parquet", path)


def test_files_that_cannot_be_read_are_named(rows, tmp_path):
    explainer, path = explainer_of(SVR()), tmp_path / "values.parquet"
    # Other programs write such files for themselves.
    (rows / "_metadata.parquet").write_bytes(b"PAR1")
    (rows / ".part.parquet").write_bytes(b"")
    explainer.write_parquet(rows, path)
    assert len(pd.read_parquet(path)) == len(FRAME)
    broken = bytearray((rows / "part 1.parquet").read_bytes())
    # The header of the first page, which is read with the rows.
    broken[4:8] = bytes(byte ^ 0xFF for byte in broken[4:8])
    (rows / "part 1.parquet").write_bytes(broken)
    with pytest.raises(ValueError, match=r"X in 'part 1.parquet' cannot be read as Parquet: "):
        explainer.write_parquet(rows, path)
    with pytest.raises(ValueError, match="X cannot be read as Parquet: "):
        explainer.write_parquet(rows / "part 1.parquet", path)


def test_too_large_values_are_found_among_all_rows(tmp_path, small_chunks):
    # The kernels at row 6 add up to more than a float holds.
    expansion = pkex.KernelExpansion([[0.0], [0.0]], [1e308, 1e308], pkex.kernels.RBF(1.0))
    far = np.full(9, 1e9)
    far[6] = 0.0
    pd.DataFrame({"a": far}).to_parquet(tmp_path / "rows.parquet")
    explainer = pkex.Explainer(expansion, np.array([[1e9]]))
    with pytest.raises(OverflowError, match="rows 4 to 7 is too large"):
        explainer.write_parquet(tmp_path / "rows.parquet", tmp_path / "values.parquet")
