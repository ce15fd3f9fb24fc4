"""Documents of results, by `to_dict` and `from_dict`: equal bits, through JSON, and every check."""

from __future__ import annotations

import copy
import json
import math
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC, SVR

import pkex
from pkex.compare.drift.compared_rows import ComparedRows
from pkex.inputs.plain_data import plain_entries, read_entries

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = X[:, 0] + np.sin(X[:, 1])
TABLE = pd.DataFrame(X, columns=["age", "b & <i>", "µ"], index=[f"row {i}" for i in range(24)])
MACHINE = SVR().fit(X, Y)
THREE = SVC().fit(X, np.digitize(Y, [-0.5, 0.5]))
PROCESS = GaussianProcessRegressor(alpha=0.1).fit(X, Y)
MIXED = pd.DataFrame(
    {
        "x": [0.5, None, 1.0, 2.0] * 6,
        "city": ["a", "b", "b", "c"] * 6,
        "day": [k % 7 for k in range(24)],
    }
)


def _explanation(data, row_index=None):
    values, base = np.full(np.shape(data), 0.1), np.zeros(len(data))
    names = [f"x{j}" for j in range(np.shape(data)[1])]
    return pkex.Explanation(values, base, data, names, row_index=row_index)


def _known(result):
    """Ask for what is computed when it is asked for."""
    assert result.r2 > 0.0
    assert len(result.alone_r2) == len(result.values)
    return result


def _drift(**options):
    return pkex.MMDDrift(MIXED, missing="indicator", random_state=0, **options)


def _batch():
    return MIXED.assign(city=["a", "new"] * 12)


EXPLAINED = {
    "exact": lambda: pkex.Explainer(MACHINE)(TABLE),
    "neutral": lambda: pkex.Explainer(MACHINE, value_function="neutral")(X),
    "centered": lambda: pkex.Explainer(MACHINE)(X).centered(),
    "outputs": lambda: pkex.Explainer(THREE)(X),
    "one output": lambda: pkex.Explainer(THREE)(X)[:, :, 1],
    "no rows": lambda: pkex.Explainer(THREE)(X)[:0],
    "one row": lambda: pkex.Explainer(THREE)(TABLE)[3],
    "one feature": lambda: pkex.Explainer(THREE)(TABLE)[:, "age"],
    "one value": lambda: pkex.Explainer(THREE)(TABLE)[3, "age", 0],
    "uncertain": lambda: pkex.Explainer(PROCESS, X[:5])(X[:4], uncertainty=True),
    "uncertain row": lambda: pkex.Explainer(PROCESS, X[:5])(X[:4], uncertainty=True)[1],
    "estimate": lambda: pkex.Explainer(MACHINE, X[:5]).estimate(X[:4], n_permutations=20),
    "extreme": lambda: _explanation(1e300 * X).__class__(
        [[5e-324, -0.0, 1.7e308]], [0.1 + 0.2], [[1 / 3, math.pi, -1e-300]], ["a", "b", "c"]
    ),
}
OTHERS = {
    "interactions": lambda: pkex.Explainer(MACHINE).interactions(TABLE),
    "interactions of outputs": lambda: pkex.Explainer(THREE).interactions(X[:2], index="SII"),
    "interactions of one output": lambda: pkex.Explainer(SVC().fit(X, Y > 0)).interactions(X[:2]),
    "mmd": lambda: pkex.mmd(X, X + 0.5, n_permutations=9, random_state=0),
    "mmd without a test": lambda: pkex.mmd(X, X + 0.5, kernel=pkex.kernels.Matern(2.0)),
    "mmd with weights": lambda: pkex.mmd(X, X + 0.5, weights=(np.ones(24), None)),
    "mmd of some pairs": lambda: pkex.mmd(
        *RNG.normal(size=(2, 1200, 2)), estimator="incomplete", random_state=0
    ),
    "mmd of three rows": lambda: pkex.mmd(X[:3], X[3:6] + 0.5),
    "hsic": lambda: pkex.hsic(X, Y, n_permutations=9, random_state=0),
    "hsic with r2": lambda: _known(pkex.hsic(TABLE, Y > 0.0)),
    "drift": lambda: _drift(n_permutations=19).predict(_batch()),
    "drift without a test": lambda: _drift().predict(_batch()),
    "timeline": lambda: _drift(n_permutations=79).timeline({"1": MIXED[:12], "2": _batch()[12:]}),
    "sensitivity": lambda: pkex.sensitivity(MACHINE, X, order=2),
    "sensitivity of outputs": lambda: pkex.sensitivity(
        pkex.KernelExpansion(X[:3], RNG.normal(size=(3, 2)), pkex.kernels.RBF()), X
    ),
    "sensitivity of draws": lambda: pkex.sensitivity(
        PROCESS, X, order=2, uncertainty=20, random_state=0
    ),
}
RESULTS = EXPLAINED | OTHERS


def _through_json(result):
    text = json.dumps(result.to_dict(), allow_nan=False)
    return type(result).from_dict(json.loads(text))


def _check_same(one, other, name=""):
    """Check that two objects are made of the same, to the bit."""
    assert type(one) is type(other), name
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        assert one.shape == other.shape, name
        assert other.flags.writeable <= one.flags.writeable, name
        if one.dtype == object:
            assert [*map(repr, one.ravel())] == [*map(repr, other.ravel())], name
        else:
            is_nan = np.isnan(one) if one.dtype.kind == "f" else np.zeros(one.shape, bool)
            np.testing.assert_array_equal(np.isnan(other), is_nan) if is_nan.any() else None
            assert one[~is_nan].tobytes() == other[~is_nan].tobytes(), name
    elif isinstance(one, pd.Index):
        pd.testing.assert_index_equal(one, other)
    elif isinstance(one, tuple):
        for place, pair in enumerate(zip(one, other, strict=True)):
            _check_same(*pair, f"{name}[{place}]")
    elif isinstance(one, ComparedRows):
        assert one.new_levels == other.new_levels
    elif isinstance(one, pkex.Explanation | pkex.Estimate | pkex.Interactions):
        _check_same(one._rows, other._rows, name)
    elif hasattr(one, "__dict__"):
        parts, others = vars(one), vars(other)
        for own in (parts.keys() | others.keys()) - {
            "_dependence",
            "draws",
            "places",
            "normaliser",
        }:
            _check_same(parts[own], others[own], f"{name}.{own}")
    else:
        assert repr(one) == repr(other), name


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_comes_back_from_json_to_the_bit(name):
    result = RESULTS[name]()
    again = _through_json(result)
    _check_same(result, again, name)
    assert again.to_dict() == result.to_dict()
    assert repr(again) == repr(result)
    for attribute in ("standard_deviations", "statistic"):
        if hasattr(result, attribute):
            np.testing.assert_array_equal(getattr(again, attribute), getattr(result, attribute))
    if name not in ("no rows", "mmd") and hasattr(result, "to_html"):
        # Reports of drift show the rows, and those of tests may name pairs of columns.
        is_whole = not name.startswith("drift")
        assert (again.to_html() == result.to_html()) is is_whole


OBJECTS = [
    None, True, 3, 2**70, 0.1, math.nan, -math.inf, "text", "nan",
    datetime(2026, 3, 1, 12, 30, 15, 250),
    datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1))),
    date(2026, 3, 1), timedelta(days=-3, seconds=7, microseconds=1),
]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        np.array([OBJECTS], dtype=object),
        np.array([[1, 2**60]]),
        np.array([[0, 255]], dtype=np.uint8),
        np.array([[0.1, np.nan, np.inf, -np.inf]], dtype=np.float32),
        np.array([[True, False]]),
        np.array([["é", "longer"]]),
        np.array([["2026-03-01T12:30:00.000000001", "NaT"]], dtype="datetime64[ns]"),
        np.array([[5, -7, "NaT"]], dtype="timedelta64[ms]"),
        np.zeros((0, 2)),
    ],
    ids=lambda data: str(data.dtype),
)
def test_data_of_any_type_comes_back(data):
    _check_same(_explanation(data), _through_json(_explanation(data)))


def test_objects_of_libraries_come_back_as_those_of_python():
    data = np.empty((1, 5), dtype=object)
    data[0] = [pd.NA, pd.NaT, np.float64(0.5), pd.Timestamp("2026-03-01 12:00"), np.bool_(True)]
    again = _through_json(_explanation(data)).data
    assert again.tolist() == [[None, None, 0.5, datetime(2026, 3, 1, 12), True]]


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["a", "b"], name="id"),
        pd.Index([3, 7]),
        pd.date_range("2026-03-01", periods=2, freq="D", name="day", unit="ns").to_series().index,
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]),
        # From winter time to summer time.
        pd.date_range("2026-03-29", periods=2, tz="Europe/Berlin", name="day"),
        pd.DatetimeIndex(["2026-03-01T12:30:00.000000001", None]).tz_localize("UTC"),
        pd.date_range("2026-03-29", periods=2, tz=timezone(timedelta(hours=-3))),
        pd.MultiIndex.from_arrays(
            [pd.date_range("2026-03-29", periods=2, tz="Europe/Berlin"), [1, 2]]
        ),
    ],
)
def test_labels_of_rows_come_back(index):
    again = _through_json(_explanation(np.zeros((2, 1)), index)).row_index
    pd.testing.assert_index_equal(again, index, check_freq=False)


def test_a_time_zone_that_has_no_common_name_is_an_error():
    zone = timezone(timedelta(hours=1), "office")
    explanation = _explanation(np.zeros((2, 1)), pd.date_range("2026-03-29", periods=2, tz=zone))
    with pytest.raises(TypeError, match=r"row_index has the time zone .*'office'"):
        explanation.to_dict()


@pytest.mark.parametrize(
    ("entry", "said"),
    [(complex(1, 2), "complex"), (pd.Timestamp(1), "Timestamp"), (object, "type"), ([1], "list")],
)
def test_what_json_does_not_hold_is_an_error(entry, said):
    data = np.empty((1, 1), dtype=object)
    data[0, 0] = entry
    with pytest.raises(TypeError, match=rf"data has the entry .* \({said}\)"):
        _explanation(data).to_dict()
    with pytest.raises(TypeError, match="data has dtype complex128"):
        _explanation(np.ones((1, 1), dtype=complex)).to_dict()


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="values has an infinite value"):
        pkex.Explanation([[np.inf]], [0.0], [[1.0]], ["a"]).to_dict()


EXPLANATION = RESULTS["exact"]().to_dict()
_IN_NO_ZONE = {
    "names": {"type": "object", "entries": [None]},
    "levels": [{"type": "datetime64[s]", "entries": ["2026-03-01T00:00:00"] * 24}],
    "zones": ["Nowhere"],
}
WRONG = {
    "values": [[[0.0]], "one", [["1"]], [[True]], [[1.0], [1.0, 2.0]], [[1.0, 2.0]], {}, None],
    "base_values": [[0.0], 0.0, None, [None] * 24],
    "data": [[[1.0]], {"type": "float64", "entries": [[1.0]]}, {"type": "V8", "entries": []}],
    "feature_names": [["a"], "abc", [1, 2, 3], None],
    "output_names": [["a"], "a", 3],
    "value_function": ["other", 3],
    "axes": [["row"], 3, []],
    "is_centered": [None, 0, "true"],
    "standard_errors": [[[1.0]], 0.5],
    "row_index": [[], {"names": {}, "levels": []}, 3, _IN_NO_ZONE],
    "type": ["Estimate", None],
    "format": [2, "1", True, None],
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_is_an_error_that_names_it(field):
    for wrong in WRONG[field]:
        # Names and axes say what shape others must have.
        said = (
            "values|feature_names" if field in ("output_names", "axes", "feature_names") else field
        )
        with pytest.raises(ValueError, match=f"^invalid Explanation document: .*({said}|{field})"):
            pkex.Explanation.from_dict({**EXPLANATION, field: wrong})


def _error_of(kind, document):
    """Return the error of reading a document; "" if it can be read and printed."""
    try:
        repr(kind.from_dict(document))
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", ["exact", "interactions", "hsic", "drift", "sensitivity of draws"])
def test_any_damage_is_an_error_of_the_document(name):
    result = RESULTS[name]()
    document = json.loads(json.dumps(result.to_dict()))
    for field in document:
        for wrong in (None, "x", -1, math.nan, [], [[]], {}, [None], ["x"], {"x": 1}, [[[1.0]]]):
            error = _error_of(type(result), {**document, field: wrong})
            assert not error or error.startswith(f"invalid {type(result).__name__}")
        without = copy.copy(document)
        del without[field]
        error = _error_of(type(result), without)
        assert not error or f"{field!r}" in error


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("permuted_values",), []),
        (("pvalue",), 1.5),
        (("alone_pvalues", 0), 0.0),
        (("alpha",), 2.0),
        (("columns", 1, "levels", 0), math.nan),
        (("column_changes", 0, "above", "n_rows"), "many"),
        (("column_changes", 0, "above", "limit"), 10**400),
        (("column_changes", 0, "above", "extreme"), [1.0]),
        (("column_changes", 1, "new_levels", 0, 0), math.inf),
        (("column_changes", 1, "missing"), ["x", 0.0]),
        (("kernel_parameters", "parameters", "columns", 1, "parameters", "codes", 0), math.nan),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_wrong_entry_of_a_drift_result_is_an_error(path, wrong):
    rows = pd.DataFrame({"a": np.arange(40.0) ** 2, "b": list("uv") * 20})
    drift = pkex.MMDDrift(rows, n_permutations=19, random_state=0)
    document = drift.predict(rows.assign(a=9000.0 + rows["a"], b="new")).to_dict()
    pkex.DriftResult.from_dict(document)
    entry = document
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = wrong
    with pytest.raises(ValueError, match=f"^invalid DriftResult document: .*{path[0]}"):
        pkex.DriftResult.from_dict(document)


def test_a_document_of_a_newer_version_says_so():
    with pytest.raises(ValueError, match=r"format 2, and .* reads 1: update pkex \(pkex 9"):
        pkex.Explanation.from_dict({**EXPLANATION, "format": 2, "pkex": "9"})
    with pytest.raises(ValueError, match="its type is 'Explanation'"):
        pkex.MMDResult.from_dict(EXPLANATION)
    with pytest.raises(TypeError, match=r"read by json\.loads first"):
        pkex.Explanation.from_dict(json.dumps(EXPLANATION))


def test_what_a_document_does_not_hold_is_an_error_where_it_is_asked_for():
    again = _through_json(RESULTS["hsic"]())
    with pytest.raises(ValueError, match="r2 is not in the document"):
        _known(again)
    with pytest.raises(ValueError, match="does not contain the rows"):
        _through_json(RESULTS["drift"]()).rows.entries("x")
    with pytest.raises(ValueError, match="Explain the rows again"):
        _through_json(RESULTS["uncertain"]()).importance(samples=2)


def test_types_are_not_read_beyond_those_that_are_written():
    for kind in ("f8,i4", "V8", "<U99999999", "complex128", "datetime64", "object_", "float128"):
        with pytest.raises(ValueError, match="there is no type"):
            read_entries({"type": kind, "entries": [1.0]}, 1)
    assert read_entries(plain_entries("x", ["a"]), 1).dtype == "<U1"
