"""``Explanation``: shapes, slicing by number and by name, tables, pickling, and its errors."""

from __future__ import annotations

import itertools
import pickle
import sys
from importlib.metadata import metadata
from typing import Any

import numpy as np
import pytest

import pkex

FEATURES = ["age", "bmi", "pulse", "height"]
OUTPUTS = ["a vs b", "a vs c", "b vs c"]
ROWS = 6


@pytest.fixture
def single() -> pkex.Explanation:
    rng = np.random.default_rng(1)
    shape = (ROWS, len(FEATURES))
    return pkex.Explanation(
        rng.normal(size=shape), rng.normal(size=ROWS), rng.normal(size=shape), FEATURES
    )


@pytest.fixture
def several() -> pkex.Explanation:
    rng = np.random.default_rng(2)
    shape = (ROWS, len(FEATURES))
    return pkex.Explanation(
        rng.normal(size=(*shape, len(OUTPUTS))),
        rng.normal(size=(ROWS, len(OUTPUTS))),
        rng.normal(size=shape),
        FEATURES,
        OUTPUTS,
    )


# Every kind of index of an axis, with the NumPy index that it stands for.
ROW_INDICES: list[tuple[Any, Any]] = [
    (slice(None), slice(None)),
    (2, 2),
    (np.int64(-1), -1),
    (slice(1, None, 2), slice(1, None, 2)),
    ([4, 0, 0], [4, 0, 0]),
    (np.array([5, 1]), [5, 1]),
    ([], []),
    (np.array([True, False, True, False, False, True]), [0, 2, 5]),
    ([True] + [False] * (ROWS - 1), [0]),
]
FEATURE_INDICES: list[tuple[Any, Any]] = [
    (slice(None), slice(None)),
    (1, 1),
    ("pulse", 2),
    (["height", "age"], [3, 0]),
    (["bmi", -1], [1, 3]),
    (("bmi",), [1]),
    (np.array(["bmi", "pulse"]), [1, 2]),
    (slice(0, 2), slice(0, 2)),
]
OUTPUT_INDICES: list[tuple[Any, Any]] = [
    (slice(None), slice(None)),
    (0, 0),
    ("b vs c", 2),
    (["b vs c", "a vs b"], [2, 0]),
    (slice(1, 3), slice(1, 3)),
]


def _block(array: np.ndarray, *indices: Any) -> np.ndarray:
    """Index one axis after the other, by NumPy."""
    removed = 0
    for axis, index in enumerate(indices):
        array = array[(slice(None),) * (axis - removed) + (index,)]
        removed += isinstance(index, int)
    return array


@pytest.mark.parametrize(
    ("row", "feature", "output"),
    list(itertools.product(ROW_INDICES, FEATURE_INDICES, OUTPUT_INDICES)),
)
def test_every_mix_of_indices_selects_the_block_that_numpy_does(several, row, feature, output):
    part = several[row[0], feature[0], output[0]]
    np.testing.assert_array_equal(
        part.values, _block(several.values, row[1], feature[1], output[1])
    )
    np.testing.assert_array_equal(part.base_values, _block(several.base_values, row[1], output[1]))
    np.testing.assert_array_equal(part.data, _block(several.data, row[1], feature[1]))
    names = np.array(FEATURES)[feature[1]]
    assert part.feature_names == np.atleast_1d(names).tolist()
    outputs = np.array(OUTPUTS)[output[1]]
    if isinstance(output[1], int):
        assert (part.output_names, part.output_name) == (None, outputs)
    else:
        assert (part.output_names, part.output_name) == (outputs.tolist(), None)


@pytest.mark.parametrize(("row", "feature"), list(itertools.product(ROW_INDICES, FEATURE_INDICES)))
def test_every_mix_of_indices_of_a_single_output(single, row, feature):
    part = single[row[0], feature[0]]
    np.testing.assert_array_equal(part.values, _block(single.values, row[1], feature[1]))
    np.testing.assert_array_equal(part.base_values, _block(single.base_values, row[1]))
    np.testing.assert_array_equal(part.data, _block(single.data, row[1], feature[1]))
    assert part.output_names is None
    assert part.output_name is None


def test_ellipsis_and_left_out_axes_are_whole(single, several):
    for part, whole in [
        (several[..., "a vs c"], several[:, :, "a vs c"]),
        (several[1:, ..., "a vs c"], several[1:, :, "a vs c"]),
        (several[2, ...], several[2, :, :]),
        (several[2], several[2, :, :]),
        (several[...], several[:, :, :]),
        (several[1, "bmi", ..., 0], several[1, "bmi", 0]),
        (single[..., "bmi"], single[:, "bmi"]),
        (single[3][["bmi", "age"]], single[3, ["bmi", "age"]]),
    ]:
        np.testing.assert_array_equal(part.values, whole.values)
        np.testing.assert_array_equal(part.base_values, whole.base_values)
        np.testing.assert_array_equal(part.data, whole.data)
        assert repr(part) == repr(whole)


def test_slicing_in_steps_is_slicing_at_once(several):
    steps = several[[4, 1]][..., "b vs c"][:, "pulse"][1]
    assert steps.values == several.values[1, 2, 2]
    assert steps.base_values == several.base_values[1, 2]
    assert steps.data == several.data[1, 2]


def test_pandas_masks_and_indexes_select(several):
    pd = pytest.importorskip("pandas")
    mask = pd.Series([False, True, True, False, False, False], index=list("uvwxyz"))
    part = several[mask, pd.Index(["bmi", "age"])]
    np.testing.assert_array_equal(part.values, several.values[1:3][:, [1, 0]])


def test_the_label_of_a_row_is_answered_with_its_number():
    labels = ["mol-1", "mol-2", "mol-3"]
    labeled = pkex.Explanation(
        np.ones((3, 2)), np.zeros(3), np.zeros((3, 2)), ["a", "b"], row_index=labels
    )
    for key in ("mol-3", ["mol-3", 0], ("mol-3", "a")):
        with pytest.raises(KeyError, match="selected by number; 'mol-3' is the label of row 2"):
            labeled[key]
    with pytest.raises(KeyError, match="'mol-3' is the label of row 1"):
        labeled[1:]["mol-3"]


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ((slice(None), "bmo"), KeyError, ["'bmo'", "did you mean 'bmi'", "'height'"]),
        ((slice(None), ["age", "x"]), KeyError, ["no feature is named 'x'", "'pulse'"]),
        ((slice(None), "a vs b"), KeyError, ["no feature", "an output is"]),
        ((..., "a vs d"), KeyError, ["no output", "did you mean 'a vs "]),
        ((..., "bmi"), KeyError, ["no output", "a feature is", "'b vs c'"]),
        ("bmi", KeyError, ["rows have no names", "[:, 'bmi']"]),
        ("a vs b", KeyError, ["rows have no names", "[..., 'a vs b']"]),
        ("mol-3", KeyError, ["rows are selected by number", "'mol-3'"]),
        (6, IndexError, ["row 6", "6 rows"]),
        (-7, IndexError, ["row -7"]),
        ([0, 9], IndexError, ["row 9"]),
        ((0, 4), IndexError, ["feature 4", "4 features"]),
        ((0, 0, 3), IndexError, ["output 3", "3 outputs"]),
        ((0, 0, 0, 0), IndexError, ["4 indices", "rows, features, outputs"]),
        ((..., ...), IndexError, ["only once"]),
        ([True, False], IndexError, ["length 2, but there are 6 rows"]),
        (np.zeros((2, 2), dtype=int), IndexError, ["2-d"]),
        (1.0, TypeError, ["1.0", "float"]),
        ([0, 1.5], TypeError, ["1.5", "float"]),
        (None, TypeError, ["None"]),
        (True, TypeError, ["True", "bool"]),
        ([1, True], TypeError, ["True", "bool"]),
        ((slice(None), slice("age", "bmi")), TypeError, ["'age'", "a list of feature names"]),
        ((slice(None), {"age": 1}), TypeError, ["dict", "a number or a name"]),
    ],
)
def test_a_wrong_index_is_an_error_that_says_what_is_there(several, key, error, words):
    with pytest.raises(error) as caught:
        several[key]
    for word in words:
        assert word in str(caught.value)


def test_an_output_index_without_output_axis_says_so(single):
    with pytest.raises(IndexError, match="single output"):
        single[:, :, 0]


def test_a_name_shared_by_two_features_must_be_chosen_by_number():
    twice = pkex.Explanation([[1.0, 2.0]], [0.0], [[3.0, 4.0]], ["x", "x"])
    with pytest.raises(KeyError, match="2 features are named 'x'"):
        twice[:, "x"]
    assert twice[0, 1].values == 2.0


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"values": np.zeros((6, 4))}, ValueError, ["values", "(6, 4)", "output_names"]),
        ({"output_names": None}, ValueError, ["values", "(6, 4, 3)", "output_names"]),
        ({"base_values": np.zeros(6)}, ValueError, ["base_values", "(6,)", "(6, 3)"]),
        ({"base_values": 0.0}, ValueError, ["base_values", "()", "(6, 3)"]),
        ({"data": np.zeros((6, 5))}, ValueError, ["data", "(6, 5)", "(6, 4)"]),
        ({"data": np.zeros((5, 4))}, ValueError, ["(5, 4)", "(6, 4)"]),
        ({"feature_names": ["a"]}, ValueError, ["feature_names", "1", "4 features"]),
        ({"output_names": ["a"]}, ValueError, ["output_names", "1", "3 outputs"]),
        ({"feature_names": [0, 1, 2, 3]}, TypeError, ["feature_names[0]", "int"]),
        ({"feature_names": "abcd"}, TypeError, ["feature_names", "'abcd'"]),
        ({"output_names": [b"a", "b", "c"]}, TypeError, ["output_names[0]", "bytes"]),
    ],
)
def test_arguments_that_do_not_fit_are_named(several, changes, error, words):
    arguments = {
        "values": several.values,
        "base_values": several.base_values,
        "data": several.data,
        "feature_names": FEATURES,
        "output_names": OUTPUTS,
    }
    with pytest.raises(error) as caught:
        pkex.Explanation(**(arguments | changes))
    for word in words:
        assert word in str(caught.value)


def test_a_single_row_may_be_given_without_the_row_axis(several):
    row = pkex.Explanation(
        several.values[0], several.base_values[0], several.data[0], FEATURES, OUTPUTS
    )
    assert row.shape == (4, 3)
    assert repr(row) == repr(several[0])
    np.testing.assert_array_equal(row[:, "a vs c"].values, several[0, :, 1].values)


def test_length_and_iteration_go_over_rows(several):
    assert len(several) == ROWS
    rows = list(several)
    assert len(rows) == ROWS
    for number, row in enumerate(rows):
        np.testing.assert_array_equal(row.values, several.values[number])
    with pytest.raises(TypeError, match="no length"):
        len(several[0, 0, 0])


def test_frame_has_a_line_per_row_and_a_column_per_feature(single):
    frame = single.to_frame()
    assert frame.shape == (ROWS, 4)
    assert list(frame.columns) == FEATURES
    np.testing.assert_array_equal(frame["pulse"], single[:, "pulse"].values)
    np.testing.assert_array_equal(single[3].to_frame(), single.values[3:4])
    np.testing.assert_array_equal(single[:, "bmi"].to_frame(), single.values[:, 1:2])


def test_frame_of_several_outputs_has_a_table_per_output(several):
    frame = several.to_frame()
    assert frame.columns.names == ["output", "feature"]
    for number, name in enumerate(OUTPUTS):
        assert list(frame[name].columns) == FEATURES
        np.testing.assert_array_equal(frame[name], several.values[:, :, number])
        np.testing.assert_array_equal(several[..., name].to_frame(), frame[name])
    np.testing.assert_array_equal(several[1, "age"].to_frame().iloc[0], several.values[1, 0])


def test_a_frame_may_be_changed(single):
    before = single.values.copy()
    frame = single.to_frame()
    frame.iloc[0, 0] = 99.0
    assert frame.iloc[0, 0] == 99.0
    np.testing.assert_array_equal(single.values, before)


@pytest.mark.parametrize("n_outputs", [None, 3])
def test_a_frame_has_the_index_of_the_frame_that_was_explained(n_outputs):
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2020-02-27", periods=ROWS, name="day")
    rows = pd.DataFrame(np.ones((ROWS, 2)), index=index)
    shape = (3,) if n_outputs is None else (3, n_outputs)
    expansion = pkex.KernelExpansion(np.eye(3, 2), np.ones(shape), pkex.kernels.RBF())
    explanation = pkex.Explainer(expansion)(rows)
    pd.testing.assert_index_equal(explanation.to_frame().index, index)
    pd.testing.assert_index_equal(explanation[2:4].to_frame().index, index[2:4])
    pd.testing.assert_index_equal(explanation[[4, 0], "0"].to_frame().index, index[[4, 0]])
    pd.testing.assert_index_equal(explanation[index.day == 1].to_frame().index, index[[3]])
    one = pickle.loads(pickle.dumps(explanation[-1, "1"]))
    pd.testing.assert_index_equal(one.to_frame().index, index[[-1]])
    rows.index.name = "changed"
    assert explanation.row_index.name == "day"


def test_rows_that_are_no_frame_of_pandas_are_numbered(single):
    assert single.row_index is None
    assert list(single[2:].to_frame().index) == [0, 1, 2, 3]


def test_an_index_of_another_length_is_refused(single):
    parts = (single.values, single.base_values, single.data, FEATURES)
    with pytest.raises(ValueError, match="row_index has length 5, but values has 6 rows"):
        pkex.Explanation(*parts, row_index=list(range(5)))


def test_labels_of_rows_may_be_any_sequence(single):
    pytest.importorskip("pandas")
    parts = (single.values, single.base_values, single.data, FEATURES)
    explanation = pkex.Explanation(*parts, row_index=list("uvwxyz"))
    assert list(explanation[[1, 0]].row_index) == ["v", "u"]
    assert list(explanation[5].row_index) == ["z"]
    assert list(pkex.Explanation.from_dict(explanation.to_dict()).row_index) == list("uvwxyz")
    for wrong in ("uvwxyz", 6, np.zeros((6, 1))):
        with pytest.raises(TypeError, match="row_index must be a pandas"):
            pkex.Explanation(*parts, row_index=wrong)


# --- NumPy, and what users of shap expect ---


def test_to_numpy_an_explanation_is_its_values(single):
    assert np.asarray(single) is single.values
    np.testing.assert_array_equal(np.abs(single).max(axis=0), np.abs(single.values).max(axis=0))
    assert np.asarray(single, dtype=np.float32).dtype == np.float32
    assert np.array(single).flags.writeable
    assert np.asarray(single[0, "age"]) == single.values[0, 0]


def test_what_only_shap_has_is_answered_with_where_it_is(single):
    for name in ("abs", "mean", "sum"):
        with pytest.raises(
            AttributeError, match=rf"has no attribute '{name}'; .*to_shap\(\).{name}$"
        ):
            getattr(single, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'vals'$"):
        _ = single.vals


def test_the_attributes_that_errors_refer_to_shap_for_are_there():
    shap = pytest.importorskip("shap")
    theirs = shap.Explanation(np.ones((2, 2)), np.ones(2), np.ones((2, 2)))
    for name in pkex.results.explanation._SHAP_ATTRIBUTES:
        assert hasattr(theirs, name)


def test_a_single_output_may_have_a_name(single):
    parts = (single.values, single.base_values, single.data, FEATURES)
    named = pkex.Explanation(*parts, output_name="b vs a")
    assert (named.output_names, named.output_name) == (None, "b vs a")
    assert repr(named[0]).startswith("Explanation(4 features, output 'b vs a', base value ")
    assert named.values.shape == single.values.shape
    with pytest.raises(ValueError, match="output_name and output_names were both given"):
        pkex.Explanation(*parts, ["a"], output_name="a")


INDICES = [
    ...,
    0,
    (slice(None), "bmi"),
    (..., "b vs c"),
    (0, "bmi", 0),
    (0, slice(None), ["b vs c"]),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_shap_gets_the_same_numbers_and_names(several, index):
    pytest.importorskip("shap")
    ours = several[index]
    theirs = ours.to_shap()
    np.testing.assert_array_equal(theirs.values, ours.values)
    np.testing.assert_array_equal(theirs.base_values, ours.base_values)
    np.testing.assert_array_equal(theirs.data, ours.data)
    assert np.atleast_1d(theirs.feature_names).tolist() == ours.feature_names
    if ours.output_names is None:
        assert theirs.output_names == ours.output_name
    else:
        assert list(theirs.output_names) == ours.output_names


def test_shap_gets_copies(single):
    pytest.importorskip("shap")
    before = single.values.copy()
    theirs = single.to_shap()
    theirs.values[:] = 0.0
    theirs.data[:] = 0.0
    np.testing.assert_array_equal(single.values, before)
    assert np.all(single.data != 0.0)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_pickling_keeps_everything(several, index):
    part = several[index]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(part, protocol))
        for name in ("values", "base_values", "data"):
            np.testing.assert_array_equal(getattr(again, name), getattr(part, name))
            assert not getattr(again, name).flags.writeable
        assert again.feature_names == part.feature_names
        assert again.output_names == part.output_names
        assert again.output_name == part.output_name
        assert repr(again) == repr(part)


def test_nothing_changes_an_explanation(several):
    for part in (several, several[1:], several[[0, 1]], several[..., "a vs b"]):
        for array in (part.values, part.base_values, part.data):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0
    for name in ("values", "base_values", "data", "feature_names", "output_names"):
        with pytest.raises(AttributeError):
            setattr(several, name, None)
    several.feature_names.append("more")
    assert several.feature_names == FEATURES


def test_later_changes_to_the_arguments_do_not_reach_an_explanation():
    values, base, data = np.ones((2, 2)), np.ones(2), np.ones((2, 2))
    hidden = data.view()
    hidden.setflags(write=False)  # a read-only view of memory that can still be written
    explanation = pkex.Explanation(values, base, hidden, ["a", "b"])
    values[:], base[:], data[:] = 0.0, 0.0, 0.0
    assert explanation.values.all()
    assert explanation.base_values.all()
    assert explanation.data.all()
    assert values.flags.writeable


@pytest.mark.parametrize(("method", "library"), [("to_frame", "pandas"), ("to_shap", "shap")])
def test_a_missing_library_names_an_extra_that_exists(single, monkeypatch, method, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"pip install {library} .*pkex\[{library}\]"):
        getattr(single, method)()
    assert library in (metadata("pkex").get_all("Provides-Extra") or [])


def test_importance_by_name_has_the_largest_first(single, several):
    frame = single.importance_frame()
    assert frame.index.name == "feature"
    assert frame["importance"].is_monotonic_decreasing
    assert dict(frame["importance"]) == dict(zip(FEATURES, single.importance(), strict=True))
    outputs = several.importance_frame()
    assert list(outputs.columns) == OUTPUTS
    assert outputs.max(axis=1).is_monotonic_decreasing
    np.testing.assert_array_equal(outputs.loc[FEATURES], several.importance())
    one = several[2, "bmi"].importance_frame()
    np.testing.assert_array_equal(one.loc["bmi"], np.abs(several[2, "bmi"].values))
