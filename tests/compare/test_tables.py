"""Tables with text, categories, truth values, dates and missing entries, as they are."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from brute_force_statistics import (
    CenteredProduct,
    SumOfProducts,
    attributed,
    hsic_statistic,
    mmd_statistic,
)

import pkex
from pkex.kernels import RBF, Categorical, Laplacian

NAMES = ["size", "count", "city", "kind", "member", "day"]


def table(rng, n):
    """Columns of every kind, with a missing text and, in every seventh row, a missing number."""
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "count": rng.integers(0, 9, n),
            "city": rng.choice(["Rome", "Oslo", "Lima"], n).astype(object),
            "kind": pd.Categorical(rng.choice(["a", "b"], n)),
            "member": rng.random(n) < 0.4,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        }
    )
    frame.loc[2, "city"] = None
    frame.loc[::7, "size"] = np.nan
    return frame


@pytest.fixture
def mixed(rng):
    return table(rng, 21), table(rng, 17)


def coded(*frames):
    """Rows of all frames as numbers: an encoder of its own. Presence comes last."""
    whole = pd.concat(frames, ignore_index=True)
    found = whole[["count"]].astype(float)
    found["size"] = whole["size"].fillna(whole["size"].median())
    for name in ("city", "kind", "member"):
        found[name] = pd.factorize(whole[name].astype(object).fillna("none"))[0].astype(float)
    found["day"] = (whole["day"] - whole["day"].min()) / pd.Timedelta(days=1)
    found["presence"] = whole["size"].isna().astype(float)
    return found[[*NAMES, "presence"]].to_numpy()


NUMBERS, LABELS, PLAYERS = [0, 1, 5], [2, 3, 4, 6], [0, 1, 2, 3, 4, 5, 0]


DEFAULT = CenteredProduct(tuple(NUMBERS), tuple(LABELS))


@pytest.mark.parametrize("convention", ["marginal", "neutral"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_mmd_of_a_mixed_table_equals_brute_force(mixed, estimator, convention):
    rows = coded(*mixed)
    values, alone, statistic = attributed(
        mmd_statistic(21, estimator),
        DEFAULT,
        rows,
        PLAYERS,
    )
    options = {"estimator": estimator, "value_function": convention, "missing": "indicator"}
    found = pkex.mmd(*mixed, **options)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-13)
    assert found.statistic == pytest.approx(statistic, abs=1e-13)
    assert found.feature_names == NAMES


@pytest.mark.parametrize("attribute", ["x", "y"])
def test_hsic_of_mixed_tables_equals_brute_force(mixed, attribute):
    x, other = mixed[0], mixed[0].drop(columns=["count", "kind", "member"])
    rows = coded(x)
    kept = [0, 2, 5, 6]  # size, city, day, presence
    spread = rows[:, [0, 5]].std(axis=0)
    scaled = rows[:, [0, 5]] / spread
    median = np.median(
        np.sqrt(((scaled[:, None] - scaled) ** 2).sum(axis=2))[np.triu_indices(len(rows), 1)]
    )
    target = SumOfProducts(
        (
            (
                1.0,
                [
                    (0, "rbf", median * spread[0]),
                    (1, "delta", 0.0),
                    (2, "rbf", median * spread[1]),
                    (3, "delta", 0.0),
                ],
            ),
        )
    )
    sides = [(DEFAULT, rows, PLAYERS), (target, rows[:, kept], [0, 1, 2, 0])]
    (own, own_rows, players), (fixed, fixed_rows, _) = sides if attribute == "x" else sides[::-1]
    values, alone, statistic = attributed(
        hsic_statistic(fixed(fixed_rows)), own, own_rows, players, marginal=attribute == "y"
    )
    options = {"attribute": attribute, "missing": "indicator", "estimator": "biased"}
    found = pkex.hsic(x, other, **options)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-13)
    assert found.statistic == pytest.approx(statistic, abs=1e-13)
    assert found.feature_names == (NAMES if attribute == "x" else ["size", "city", "day"])


KINDS = {
    "nullable": lambda frame: frame.convert_dtypes(),
    "backed by pyarrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "objects": lambda frame: frame.astype(object),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_all_kinds_of_data_frames_give_equal_bits(mixed, kind):
    options = {"missing": "indicator", "n_permutations": 19, "random_state": 0}
    expected = pkex.mmd(*mixed, **options)
    x, y = map(kind, mixed)
    found = pkex.mmd(x, y, **options)
    drift = pkex.MMDDrift(x, missing="indicator").predict(mixed[1])
    witness = pkex.witness(x, y, missing="indicator")
    assert found.kernel == expected.kernel
    assert found.feature_names == drift.feature_names == NAMES
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.feature_pvalues, expected.feature_pvalues)
    same = pkex.MMDDrift(mixed[0], missing="indicator")
    for batch in (mixed[1], y):
        np.testing.assert_array_equal(same.predict(batch).values, drift.values)
    np.testing.assert_array_equal(witness.predict(y), witness.predict(mixed[1]))
    targets = pkex.hsic(mixed[0].drop(columns="size"), x, missing="indicator")
    of_pandas = pkex.hsic(mixed[0].drop(columns="size"), mixed[0], missing="indicator")
    np.testing.assert_array_equal(targets.values, of_pandas.values)


def test_columns_say_what_was_done_with_each(mixed):
    result = pkex.mmd(*mixed, missing="indicator", categorical=["count"])
    found = {column.name: column for column in result.columns}
    assert [column.compared for column in result.columns] == [
        "numbers", "labels", "labels", "labels", "labels", "days",
    ]  # fmt: skip
    assert [column.type for column in result.columns] == [
        "number", "integer", "text", "category", "boolean", "date",
    ]  # fmt: skip
    assert found["city"].levels == ("Lima", "Oslo", "Rome", None)
    assert found["member"].levels == (False, True)
    assert set(found["count"].levels) <= set(range(9))
    assert found["size"].imputed == pd.concat(mixed)["size"].median()
    assert found["day"].since == str(pd.concat(mixed)["day"].min().date())
    shown = repr(result).splitlines()[-1]
    assert shown.startswith(
        "columns: 1 of numbers; labels: count (9 levels), city (3 levels, missi"
    )
    assert json.loads(json.dumps(result.to_dict()))["columns"][3]["levels"] == ["a", "b"]
    plain = pkex.mmd(np.eye(4), np.eye(4)[::-1] + 1.0)
    assert [column.compared for column in plain.columns] == ["numbers"] * 4
    assert "columns:" not in repr(plain)


def test_tables_of_numbers_give_the_bits_that_arrays_give(rng):
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) + 0.2
    expected = pkex.mmd(x, y, n_permutations=19, random_state=0)
    names = list("abc")
    for read in (
        lambda rows: pd.DataFrame(rows, columns=names),
        lambda rows: pl.DataFrame(rows, names),
        lambda rows: pa.table(dict(zip(names, rows.T, strict=True))),
    ):
        for more in ({}, {"categorical": []}, {"missing": "indicator"}):
            found = pkex.mmd(read(x), read(y), n_permutations=19, random_state=0, **more)
            assert found.kernel == expected.kernel
            np.testing.assert_array_equal(found.values, expected.values)
            np.testing.assert_array_equal(found.permuted_values, expected.permuted_values)


def test_two_levels_count_as_the_numbers_0_and_1(rng):
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(50, 3))
    x[:, 1], y[:, 1] = rng.random(60) < 0.2, rng.random(50) < 0.5
    of_numbers = pkex.mmd(x, y)
    of_labels = pkex.mmd(x, y, categorical=[1])
    np.testing.assert_allclose(of_labels.values, of_numbers.values, rtol=1e-9)
    assert of_labels.columns[1].levels == (0, 1)


def test_many_columns_of_labels_leave_the_kernel_its_contrast(rng):
    x, y = ({f"c{j}": rng.choice(list("abcd"), 80) for j in range(30)} for _ in range(2))
    # Warnings are errors.
    result = pkex.mmd(pd.DataFrame(x), pd.DataFrame(y))
    codes = np.array([[*map("abcd".index, column)] for column in x.values()], dtype=float).T
    values = result.kernel(codes)[np.triu_indices(80, 1)]
    low, high = np.quantile(values, [0.05, 0.95])
    assert high > 3.0 * low > 0.0
    with pytest.warns(UserWarning, match="nearly 0 between different rows"):
        pkex.mmd(pd.DataFrame(x), pd.DataFrame(y), kernel=Categorical())


def test_the_default_kernel_does_not_depend_on_which_rows_are_in_which_sample(mixed, rng):
    whole = pd.concat(mixed, ignore_index=True)
    for _ in range(3):
        turned = whole.iloc[rng.permutation(len(whole))]
        kernel = pkex.mmd(turned[:15], turned[15:], missing="indicator").kernel
        assert kernel == pkex.mmd(*mixed, missing="indicator").kernel


def changed(rng, what):
    n = 1000 if what == "dependence" else 400
    x, y = table(rng, n), table(rng, n)
    if what == "city":  # a level's frequency
        y.loc[rng.random(n) < 0.3, "city"] = "Rome"
    elif what == "count":  # a mean
        y["count"] += 2
    elif what == "size":  # missingness
        y.loc[rng.random(n) < 0.2, "size"] = np.nan
    elif what == "dependence":
        y["member"] = y["kind"] == "a"
        y["member"] ^= rng.random(n) < 0.05
        x["member"] = rng.permutation(y["member"].to_numpy())
    return x, y


@pytest.mark.parametrize("what", ["city", "count", "size", "dependence"])
def test_a_known_change_is_found_and_named(rng, what):
    result = pkex.mmd(*changed(rng, what), missing="indicator", n_permutations=199, random_state=0)
    assert result.pvalue <= 0.01
    found, alone = (
        set(np.array(NAMES)[pvalues <= 0.01])
        for pvalues in (result.familywise_pvalues, result.alone_familywise_pvalues)
    )
    if what == "dependence":
        assert found == {"kind", "member"}
        assert not alone
    else:
        assert found == alone == {what}


def test_groups_weights_and_user_kernels_go_together_with_tables(mixed):
    rows = coded(*mixed)
    # A given kernel works on the columns as they are numbered.
    kernel = RBF(2.0).on([0, 1]) * Categorical(0.3).on([2, 3, 4]) * Laplacian(40.0).on([5])
    factors = [
        *((j, "rbf", 2.0) for j in (0, 1)),
        *((j, "delta", 0.3) for j in (2, 3, 4)),
        (5, "laplacian", 40.0),
        (6, "delta", np.exp(-0.5)),
    ]
    weights = np.linspace(1.0, 2.0, 21), np.linspace(2.0, 1.0, 17)
    values, _, _statistic = attributed(
        mmd_statistic(21, weights=weights),
        SumOfProducts(((1.0, factors),)),
        rows,
        [0, 1, 0, 2, 3, 4, 0],
        marginal=True,
    )
    options = {"kernel": kernel, "missing": "indicator"}
    found = pkex.mmd(*mixed, groups={"where": ["size", "city"]}, weights=weights, **options)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
    assert found.feature_names == ["where", "count", "kind", "member", "day"]
    with pytest.raises(ValueError, match=r"X and Y hold labels \(columns \['city', 'kind', 'memb"):
        pkex.mmd(*mixed, kernel=RBF(2.0), missing="indicator")
    with pytest.raises(ValueError, match=r"X holds labels \(column 'kind'\).*Categorical"):
        pkex.hsic(mixed[0][["kind"]], range(21), kernel=RBF(2.0))


def test_a_witness_and_its_explainer_take_the_same_tables(mixed):
    x, y = mixed
    witness = pickle.loads(pickle.dumps(pkex.witness(x, y, missing="indicator")))
    matrix = DEFAULT(coded(x, y))
    expected = matrix[:, :21].mean(axis=1) - matrix[:, 21:].mean(axis=1)
    np.testing.assert_allclose(witness.predict(x), expected[:21], rtol=0, atol=1e-14)
    assert list(witness.feature_names) == NAMES
    explainer = pkex.Explainer(witness, value_function="neutral")
    biased = pkex.mmd(x, y, missing="indicator", estimator="biased", value_function="neutral")
    difference = explainer(x).values.mean(axis=0) - explainer(y).values.mean(axis=0)
    np.testing.assert_allclose(difference, biased.values, rtol=0, atol=1e-15)
    grouped = pkex.Explainer(witness, background=x, groups={"where": ["size", "city"]})
    for rows in (y, pl.from_pandas(y)):
        explained = grouped(rows)
        total = explained.values.sum(axis=1) + explained.base_values
        np.testing.assert_allclose(total, expected[21:], rtol=0, atol=1e-14)
    pairs = pkex.Explainer(witness).interactions(y, order=2, index="SII")
    assert pairs.feature_names == NAMES
    with pytest.raises(ValueError, match="X has its columns in another order than X and Y"):
        witness.predict(x[NAMES[::-1]])
    with pytest.raises(
        TypeError, match=r"column .kind. of X holds numbers, but categories \(text\) in X and Y"
    ):
        witness.predict(x.assign(kind=1.0))


def test_levels_that_a_detector_has_not_seen_are_unequal_to_all_others(mixed):
    x, y = (frame.drop(columns="size") for frame in mixed)
    drift = pkex.MMDDrift(x)
    new = y.assign(city=["Bern"] * 8 + ["Kyiv"] * 9)
    # Equal to each other where they are: as in a comparison that knows all levels.
    found = drift.predict(new)
    numbers = [j for j, column in enumerate(found.columns) if not column.is_label]
    labels = [j for j, column in enumerate(found.columns) if column.is_label]
    kernel = CenteredProduct(tuple(numbers), tuple(labels), len(x))
    rows = np.concatenate([found.rows.reference, found.rows.batch])
    expected = attributed(mmd_statistic(len(x)), kernel, rows, list(range(5)))
    np.testing.assert_allclose(found.values, expected[0], rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match=r"whose codes it cannot compare\. Omit kernel"):
        pkex.mmd(x, new, kernel=drift.kernel)
    assert drift.predict(new).values[1] > drift.predict(y).values[1] + 0.005


def test_a_detector_sees_entries_go_missing_that_the_reference_has(rng):
    x, y = (table(rng, 300).assign(size=rng.normal(size=300)) for _ in range(2))
    drift = pkex.MMDDrift(x, missing="indicator")
    before = drift.predict(y)
    y.loc[rng.random(300) < 0.2, "size"] = np.nan
    after = drift.predict(y)
    assert after.feature_names[int(after.values.argmax())] == "size"
    assert after.values[0] > before.values[0] + 5.0 * before.standard_errors[0]
    # All of them: a column of nothing is one of the reference's kind.
    assert drift.predict(y.assign(size=np.nan)).values[0] > after.values[0]
    gone = drift.predict(y.assign(city=np.nan))
    assert gone.feature_names[int(gone.values.argmax())] == "city"


def test_a_label_that_all_rows_of_a_reference_have_is_told_from_others(rng):
    kernel = pkex.MMDDrift(rng.normal(size=(50, 1)), missing="indicator").kernel
    same, other = kernel([[0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])[0]
    assert same == other
    # k̃ is q + q′ − 0 − 0 with q = 1 and q′ = 51/5.
    ((_, both),) = kernel([[0.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]])
    assert both / same == pytest.approx(1.0 + 1.0 + 51 / 5, rel=1e-9)


def test_kernels_of_mixtures_take_new_levels_and_missing_entries(rng):
    x, y = table(rng, 60), table(rng, 30).assign(kind="c")
    x["size"] = rng.normal(size=60)
    kernel = pkex.kernels.Matern(3.0).on([0, 1, 5]) * Categorical(0.5).on([2, 3, 4])
    drift = pkex.MMDDrift(x, kernel=kernel, missing="indicator", value_function="neutral")
    expected = pkex.mmd(x, y, kernel=kernel, missing="indicator", value_function="neutral")
    imputed = drift.predict(y).columns[0].imputed, expected.columns[0].imputed
    assert imputed[0] != imputed[1]
    # But for the median, which is the reference's, both compare alike.
    np.testing.assert_allclose(drift.predict(y).values[2:], expected.values[2:], rtol=0.02)
    with pytest.raises(
        ValueError, match="column 'size' of X has values that are thousands of times"
    ):
        drift.predict(y.assign(size=1e9))


def test_dates_are_days_whatever_their_unit_and_origin(rng):
    days = rng.integers(0, 90, 60).astype(float)
    other = rng.normal(size=60)
    expected = pkex.mmd(np.c_[days[:30], other[:30]], np.c_[days[30:], other[30:]])
    for start in ("1750-01-01", "2024-01-01"):
        dates = np.datetime64(start) + days.astype("timedelta64[D]")
        for when in (
            dates,
            dates.astype("datetime64[s]"),
            dates.astype(object),
            days * pd.Timedelta("1D"),
        ):
            frame = pd.DataFrame({"when": when, "other": other})
            found = pkex.mmd(frame[:30], frame[30:])
            np.testing.assert_allclose(found.values, expected.values, rtol=1e-9)
            assert found.columns[0].compared == "days"
    y = pkex.hsic(other[:, None], pd.Series(dates))
    np.testing.assert_allclose(y.values, pkex.hsic(other[:, None], days).values, rtol=1e-9)


GOOD = pd.DataFrame({"a": np.arange(12.0) / 2.0, "b": list("uvw") * 4})
ZONE = pd.date_range("2024-01-01", periods=12, tz="UTC")


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (
            {"b": ["u", 1] * 6},
            TypeError,
            r"'b' of Y has values of several kinds, .*'u' .text. and",
        ),
        ({"b": [["u"]] * 12}, TypeError, r"column 'b' of Y has a value \['u'\] \(list\)"),
        ({"a": ["u"] * 12}, TypeError, r"column 'a' of Y holds text, but numbers in X\. Make"),
        ({"b": np.arange(12)}, TypeError, "column 'b' of Y holds numbers, but text in X"),
        ({"a": pd.Categorical([1, 2] * 6)}, TypeError, r"categories.*give categorical=\['a'\]"),
        ({"a": ZONE}, TypeError, r"column 'a' of Y has dates with a time zone\. .*tz_localize"),
        ({"a": [*ZONE]}, TypeError, "column 'a' of Y has dates with a time zone"),
        (
            {"a": [np.inf] + [1.0] * 11},
            ValueError,
            "Y has an infinite value.* in row 0, column 'a'",
        ),
        (
            {"a": [np.nan] + [1.0] * 11},
            ValueError,
            r"Y has missing values in column 'a', the first in row 0.*missing='indicator'",
        ),
        ({"c": 1.0}, ValueError, r"Y has other columns than X: not expected \['c'\]"),
    ],
)
def test_a_bad_column_is_named_with_what_to_do(columns, error, message):
    bad = GOOD.assign(**columns)
    with pytest.raises(error, match=message):
        pkex.mmd(GOOD, bad)
    with pytest.raises(
        error,
        match=message.replace("Y", "X")
        .replace("in X", "in X_reference")
        .replace("than X:", "than X_reference:"),
    ):
        pkex.MMDDrift(GOOD).predict(bad)


def test_columns_of_nothing_are_refused():
    empty = GOOD.assign(a=np.nan)
    with pytest.raises(
        ValueError, match=r"'a' of X and Y has only missing values\. Drop column 'a'"
    ):
        pkex.mmd(empty, empty, missing="indicator")
    with pytest.raises(ValueError, match="column 'b' of X has only missing values"):
        pkex.hsic(GOOD.assign(b=None), range(12))
    # In one of the samples that is a difference.
    assert pkex.mmd(GOOD, empty, missing="indicator").values[0] > 0.05


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"categorical": "a"}, TypeError, "categorical must be a list of columns, .*; got 'a'"),
        ({"categorical": ["c"]}, ValueError, r"has 'c', which is no column.*\['a', 'b'\]"),
        ({"categorical": [2]}, ValueError, "categorical has 2, which is no column. .* from 0 to 1"),
        ({"missing": "drop"}, ValueError, "missing must be one of 'error', 'indicator'; got"),
    ],
)
def test_options_of_tables_are_checked(options, error, message):
    for call in (
        lambda: pkex.mmd(GOOD, GOOD, **options),
        lambda: pkex.hsic(GOOD, range(12), **options),
        lambda: pkex.witness(GOOD, GOOD, **options),
        lambda: pkex.MMDDrift(GOOD, **options),
    ):
        with pytest.raises(error, match=message):
            call()


def test_identifiers_are_warned_of(rng):
    frame = pd.DataFrame({"id": [f"u{k}" for k in range(40)], "size": rng.normal(size=40)})
    with pytest.warns(
        UserWarning, match="column 'id' of X and Y has 40 different labels in 40 rows"
    ):
        pkex.mmd(frame[:20], frame[20:])


def test_missing_labels_of_a_target_are_a_level_if_asked_for(rng):
    x = rng.normal(size=(30, 2))
    y = np.where(x[:, 0] > 0.0, "high", "low").astype(object)
    y[::5] = None
    with pytest.raises(ValueError, match=r"y has a missing label in row 0. .*missing='indicator'"):
        pkex.hsic(x, y)
    filled = pd.Series(y).fillna("none")
    np.testing.assert_array_equal(
        pkex.hsic(x, y, missing="indicator").values, pkex.hsic(x, filled).values
    )
