"""Detectors in files, and many batches one after the other."""

import json
import os

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from explainable_functions import KERNELS, POINTS, UNITS

import pkex
from pkex.kernels import RBF, Kernel
from pkex.kernels.kernel_dicts import kernel_from_dict, kernel_to_dict

mpl.use("Agg")
SAME = ("values", "alone", "standard_errors", "permuted_values", "feature_pvalues")


def mixed(rng, n):
    city = rng.choice(["Rome", "Oslo", "Lima"], n).astype(object)
    city[::9] = None
    day = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    return pd.DataFrame({"size": size, "city": city, "member": rng.random(n) < 0.5, "day": day})


# --- files ---


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_kernel_is_the_same_after_it_was_written_down(kernel):
    again = kernel_from_dict(json.loads(json.dumps(kernel_to_dict(kernel))))
    assert again == kernel
    assert repr(again) == repr(kernel)


def test_kernels_of_others_are_not_written_nor_read():
    class Own(Kernel):
        def terms(self, n_features):
            return RBF().terms(n_features)

    with pytest.raises(
        TypeError, match=r"is not an instance of a class of pkex\.kernels.*Save it with pickle"
    ):
        kernel_to_dict(Own())
    for plain in ({"class": "Own", "parameters": {}}, {"class": "RBF", "parameters": {"a": 1}}, 3):
        with pytest.raises(ValueError, match="there is no kernel"):
            kernel_from_dict(plain)


DETECTORS = {
    "plain": lambda x: pkex.MMDDrift(x),
    "tested": lambda x: pkex.MMDDrift(x, n_permutations=39, random_state=0, groups={"g": [0, 1]}),
    "threshold": lambda x: pkex.MMDDrift(
        x, n_permutations=39, batch_size=40, random_state=0, estimator="biased", alpha=0.1, n_jobs=1
    ),
    "neutral": lambda x: pkex.MMDDrift(x, value_function="neutral", kernel=3.0 * RBF(2.0)),
    "mixtures": lambda x: pkex.MMDDrift(x, kernel=pkex.kernels.Matern(2.0, nu=2.5)),
}


@pytest.mark.parametrize("make", DETECTORS.values(), ids=DETECTORS)
def test_a_loaded_detector_gives_the_same_bits(rng, tmp_path, make):
    x, y = rng.normal(size=(120, 4)), rng.normal(size=(40, 4))
    drift = make(x)
    kept = drift.predict(y)
    drift.save(tmp_path / "reference.npz")
    again = pkex.MMDDrift.load(str(tmp_path / "reference.npz"))
    assert [file.name for file in tmp_path.iterdir()] == ["reference.npz"]
    assert repr(again) == repr(drift)
    assert (again.threshold, again.kernel) == (drift.threshold, drift.kernel)
    assert repr(again.predict(y)) == repr(kept)
    for name in SAME:
        np.testing.assert_array_equal(getattr(again.predict(y), name), getattr(kept, name))
    with pytest.raises(ValueError, match="read-only"):
        again._detector.reference.rows[0] = 0.0
    # What was summed is not summed again.
    assert (
        again._detector.reference.block_sums.keys() == drift._detector.reference.block_sums.keys()
    )


def test_a_detector_of_a_mixed_table_is_kept_with_its_levels(rng, tmp_path):
    x, y = mixed(rng, 100), mixed(rng, 40).assign(city="Bern")
    drift = pkex.MMDDrift(x, missing="indicator", n_permutations=39, random_state=0)
    drift.save(tmp_path / "file")
    again = pkex.MMDDrift.load(tmp_path / "file")
    result, expected = again.predict(y), drift.predict(y)
    assert result.columns == expected.columns
    assert result.to_dict() == expected.to_dict()
    assert result.rows.new_levels == {"city": ("Bern",)}
    with pytest.raises(ValueError, match="another order than X_reference"):
        again.predict(y[["day", "member", "city", "size"]])


@pytest.mark.parametrize("labels", [[0, 1], [("a", 1), ("b", 2.5)], ["u", "v"]])
def test_labels_of_columns_are_compared_after_loading_too(rng, tmp_path, labels):
    rows = pd.DataFrame(rng.normal(size=(30, 2)), columns=pd.Index(labels, tupleize_cols=False))
    pkex.MMDDrift(rows).save(tmp_path / "file")
    drift = pkex.MMDDrift.load(tmp_path / "file")
    drift.predict(rows)
    with pytest.raises(ValueError, match="another order"):
        drift.predict(rows.iloc[:, ::-1])
    odd = rows.set_axis([pd.Timestamp("2024"), pd.Timestamp("2025")], axis=1)
    with pytest.raises(TypeError, match=r"label Timestamp.*Use strings as column names"):
        pkex.MMDDrift(odd).save(tmp_path / "file")
    pkex.MMDDrift.load(tmp_path / "file")


def test_other_files_are_refused(rng, tmp_path):
    rows = rng.normal(size=(30, 2))
    text, arrays, objects = (tmp_path / name for name in ("text", "arrays.npz", "objects.npy"))
    text.write_text("a,b\n1,2\n", encoding="utf-8")
    np.savez(arrays, a=rows)
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    for path in (text, arrays, objects):
        with pytest.raises(ValueError, match=r"was not written by pkex.MMDDrift.save"):
            pkex.MMDDrift.load(path)
    with pytest.raises(FileNotFoundError):
        pkex.MMDDrift.load(tmp_path / "none")


class _Folder:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["header", "rows", "block_sums 1 1", "other"])
def test_a_file_of_a_detector_runs_no_code(rng, tmp_path, name):
    path, marker = tmp_path / "file.npz", tmp_path / "code-has-run"
    pkex.MMDDrift(rng.normal(size=(30, 2))).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, name: np.array([_Folder(marker)], dtype=object)})
    with pytest.raises(ValueError, match=r"was not written by pkex.MMDDrift.save"):
        pkex.MMDDrift.load(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"version": 2},
            "has format 2 of a newer version of pkex, but this version reads formats up to 1",
        ),
        ({"format": "other"}, "was not written by pkex.MMDDrift.save"),
        ({"kernel": {"class": "os.system", "parameters": {}}}, "is damaged .*there is no kernel"),
        ({"players": None}, "is damaged"),
    ],
)
def test_newer_and_damaged_files_are_told_from_good_ones(rng, tmp_path, change, message):
    path = tmp_path / "file.npz"
    pkex.MMDDrift(rng.normal(size=(30, 2))).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header"))) | change
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    with pytest.raises(ValueError, match=message):
        pkex.MMDDrift.load(path)


def test_a_file_cut_off_or_with_sums_of_other_rows_is_refused(rng, tmp_path):
    path = tmp_path / "file.npz"
    pkex.MMDDrift(rng.normal(size=(30, 2))).save(path)
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "row_sums": arrays["row_sums"][:-1]})
    with pytest.raises(ValueError, match=r"is damaged .*expected \(30, 2\)"):
        pkex.MMDDrift.load(path)
    path.write_bytes(whole.replace(b"row_sums", b"row_sumz"))
    with pytest.raises(ValueError, match="damaged"):
        pkex.MMDDrift.load(path)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="was not written by"):
        pkex.MMDDrift.load(path)


def changed(path, change):
    """Write a file again with its header or an array changed."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    change(header, arrays)
    np.savez(path, **{**arrays, "header": np.array(json.dumps(header))})


def of_first_column(header):
    """The parameters of the default kernel's first column."""
    return header["kernel"]["parameters"]["columns"][0]["parameters"]


CHANGES = {
    "version text": lambda h, a: h.update(version="2"),
    "no version": lambda h, a: h.pop("version"),
    "alpha": lambda h, a: h["test"].update(alpha=2.0),
    "estimator": lambda h, a: h["conventions"].update(estimator="block"),
    "few permutations": lambda h, a: h["test"].update(n_permutations=3),
    "many permutations": lambda h, a: h["test"].update(n_permutations=10**13),
    "batch size": lambda h, a: h["test"].update(batch_size=10**4),
    "seed": lambda h, a: h["test"].update(seed="abc"),
    "threshold": lambda h, a: h.update(threshold="x"),
    "names": lambda h, a: h.update(names=["size"]),
    "labels": lambda h, a: h.update(labels=["size"]),
    "levels": lambda h, a: h["columns"][1].update(levels=["Rome"]),
    "type": lambda h, a: h["columns"][1].update(type="other"),
    "imputed": lambda h, a: h["columns"][0].update(imputed="x"),
    "no median": lambda h, a: h["columns"][0].update(imputed=None),
    "since": lambda h, a: h["columns"][3].update(since="x"),
    "fewer columns": lambda h, a: h.update(columns=h["columns"][:2]),
    "players": lambda h, a: h["players"].update(of_column=[0, 0, 0, 0]),
    "constants": lambda h, a: h.update(constants={"columns": [99], "values": [1.0]}),
    "kernel": lambda h, a: h.update(kernel={"class": "RBF", "parameters": {"length_scale": 1.0}}),
    "rows": lambda h, a: a["rows"].__setitem__((0, 0), np.nan),
    "row sums": lambda h, a: a["row_sums"].__setitem__((0, 0), np.inf),
    "squares": lambda h, a: a.update(squares=a["squares"][:1]),
    "absent": lambda h, a: a.update(absent=np.ones((50, 50))),
    "moments": lambda h, a: of_first_column(h)["moments"].pop(),
    "mean of the kernel": lambda h, a: of_first_column(h).update(mean=2.0),
    "blocks": lambda h, a: a.update({k: v[:10] for k, v in a.items() if k.startswith("block")}),
    "block names": lambda h, a: a.update({"block_sums x y": np.ones((1, 1))}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_files_that_contradict_themselves_are_damaged(rng, tmp_path, change):
    path = tmp_path / "file.npz"
    drift = pkex.MMDDrift(mixed(rng, 60), missing="indicator", n_permutations=19, batch_size=9)
    drift.save(path)
    changed(path, lambda h, a: None)
    pkex.MMDDrift.load(path)
    changed(path, change)
    with pytest.raises(ValueError, match=r"is damaged \(.*Save it again"):
        pkex.MMDDrift.load(path)


def test_columns_without_names_cannot_be_written_down(rng, tmp_path):
    rows = pd.DataFrame(rng.normal(size=(30, 2)), columns=[0, None])
    with pytest.raises(TypeError, match="Use strings as column names"):
        pkex.MMDDrift(rows).save(tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_another_that_is_being_written_does_not_stand_in_the_way(rng, tmp_path):
    (tmp_path / "file.part").mkdir()
    pkex.MMDDrift(rng.normal(size=(30, 2))).save(tmp_path / "file")
    pkex.MMDDrift.load(tmp_path / "file")
    assert {item.name for item in tmp_path.iterdir()} == {"file", "file.part"}


# --- timelines ---


@pytest.fixture
def drift(rng):
    return pkex.MMDDrift(rng.normal(size=(200, 3)), n_permutations=199, random_state=0)


def test_a_timeline_compares_each_batch_as_predict_does(rng, drift):
    batches = {f"week {k}": rng.normal([0.0, 0.4 * k, 0.0], size=(40, 3)) for k in range(4)}
    line = drift.timeline(batches)
    assert line.batch_names == tuple(batches)
    assert len(line) == 4
    for result, batch in zip(line, batches.values(), strict=True):
        np.testing.assert_array_equal(result.values, drift.predict(batch).values)
        assert result.pvalue == drift.predict(batch).pvalue
    np.testing.assert_array_equal(line.values[3], line[3].values)
    assert line.is_drift.tolist()[3]
    assert line.feature_names[line.values[3].argmax()] == "x1"
    frame = line.to_frame()
    assert list(frame.columns) == ["drift", "p (adjusted)", "MMD²", "p", "x0", "x1", "x2"]
    assert list(frame.index) == list(batches)
    assert json.loads(json.dumps(line.to_dict()))["is_drift"] == line.is_drift.tolist()
    assert repr(line).splitlines()[5].split()[2::4] == ["yes", "x1"]
    # The largest value of a batch without drift is noise.
    assert repr(line).splitlines()[2].split()[2::4] == ["no", "–"]
    unnamed = drift.timeline(iter(batches.values()))
    assert unnamed.batch_names == ("0", "1", "2", "3")


def test_corrected_pvalues_are_those_of_holm(rng, drift):
    line = drift.timeline([rng.normal(0.12 * k, size=(40, 3)) for k in range(6)])
    order = np.argsort(line.pvalues)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, (6 - rank) * line.pvalues[place])
        assert line.corrected_pvalues[place] == min(1.0, largest)
    np.testing.assert_array_equal(line.is_drift, line.corrected_pvalues <= 0.05)


def test_a_timeline_draws_features_over_batches(rng, drift):
    line = drift.timeline([rng.normal([0.0, 0.5 * k, 0.0], size=(40, 3)) for k in range(4)])
    ax = line.plot(max_features=2)
    assert ax.get_yticklabels()[0].get_text() == "x1"
    assert "1 smaller feature is not shown" in ax.get_title()
    image = ax.get_images()[0]
    np.testing.assert_array_equal(image.get_array()[0], line.values[:, 1])
    assert image.get_clim() == (-np.abs(line.values).max(), np.abs(line.values).max())
    (marks,) = ax.collections
    np.testing.assert_array_equal(marks.get_offsets()[:, 0], np.flatnonzero(line.is_drift))


def test_a_timeline_without_a_test_decides_nothing(rng):
    line = pkex.MMDDrift(rng.normal(size=(50, 2))).timeline([rng.normal(size=(20, 2))] * 25)
    assert line.pvalues is line.corrected_pvalues is line.is_drift is None
    assert list(line.to_frame().columns) == ["MMD²", "x0", "x1"]
    assert repr(line).splitlines()[-1] == "(5 more)"
    assert not line.plot().collections


def test_a_bad_batch_is_named_and_progress_is_of_all(rng, drift):
    good = rng.normal(size=(20, 3))
    with pytest.raises(ValueError, match="batch 'may': X must have at least 2 rows"):
        drift.timeline({"april": good, "may": good[:1]})
    with pytest.raises(ValueError, match="batches is empty"):
        drift.timeline([])
    for table in (good, pd.DataFrame(good)):
        with pytest.raises(TypeError, match=r"batches must be a list of tables, .* got one table"):
            drift.timeline(table)
    seen = []
    drift.timeline([good] * 3, progress=lambda done, total: seen.append(done / total))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("name", ["Chi2", "Tanimoto", "Periodic"])
def test_a_detector_with_other_kernels_is_kept_too(tmp_path, name):
    rows = POINTS * UNITS.get(name, 1.0)
    drift = pkex.MMDDrift(rows, kernel=KERNELS[name])
    drift.save(tmp_path / "file")
    again = pkex.MMDDrift.load(tmp_path / "file").predict(rows[:8])
    np.testing.assert_array_equal(again.values, drift.predict(rows[:8]).values)
