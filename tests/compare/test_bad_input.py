"""Bad input to MMD and HSIC: errors and warnings that name the argument, the place, the remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pkex
from pkex import _core
from pkex.compare.kernel import terms as kernel_terms
from pkex.kernels import RBF, Categorical, Linear

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 3)), RNG.normal(size=(15, 3))
TARGET = RNG.normal(size=20)
NAMES = ["age", "bmi", "bp"]


class Index:
    """An integer of no common type."""

    def __init__(self, number):
        self._number = number

    def __index__(self):
        return self._number


def with_entry(rows, value):
    rows = rows.copy()
    rows[2, 1] = value
    return rows


# --- samples ---


def test_samples_must_have_the_same_columns():
    with pytest.raises(ValueError, match="Y has the wrong number of columns: expected 3, got 2"):
        pkex.mmd(X, Y[:, :2])
    x = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ValueError, match=r"Y has other columns than X: missing \['bp'\]"):
        pkex.mmd(x, pd.DataFrame(Y, columns=["age", "bmi", "s1"]))
    with pytest.raises(ValueError, match="Y has its columns in another order than X"):
        pkex.witness(x, pd.DataFrame(Y, columns=NAMES[::-1]))


@pytest.mark.parametrize("labels", [[0, 1, 2], [(0, "a"), (0, "b"), (1, "a")], [1.5, 2, -3]])
def test_columns_of_data_frames_are_compared_whatever_their_labels(labels):
    x, y = (pd.DataFrame(rows, columns=pd.Index(labels, tupleize_cols=False)) for rows in (X, Y))
    turned = y.iloc[:, ::-1]
    message = "{} has its columns in another order than {}"
    for call in (pkex.mmd, pkex.witness):
        call(x, y)
        with pytest.raises(ValueError, match=message.format("Y", "X")):
            call(x, turned)
    drift = pkex.MMDDrift(x)
    drift.predict(y)
    with pytest.raises(ValueError, match=message.format("X", "X_reference")):
        drift.predict(turned)
    # A table without labels is compared by position.
    drift.predict(turned.to_numpy())
    # So is one of names beside one of numbers.
    pkex.mmd(x, pd.DataFrame(Y, columns=NAMES))
    with pytest.raises(TypeError, match="named by strings and by others"):
        pkex.mmd(pd.DataFrame(X, columns=["u", 1, 2]), Y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_place_of_a_missing_entry_is_named(value):
    place = "in row 2, column 1"
    with pytest.raises(ValueError, match=f"X has .* {place}"):
        pkex.mmd(with_entry(X, value), Y)
    with pytest.raises(ValueError, match=r"Y has .* in row 2, column 'bmi'"):
        pkex.mmd(pd.DataFrame(X, columns=NAMES), with_entry(Y, value))
    with pytest.raises(ValueError, match=f"X has .* {place}"):
        pkex.hsic(with_entry(X, value), TARGET)
    with pytest.raises(ValueError, match=r"y has .* in row 3"):
        pkex.hsic(X, np.where(np.arange(20) == 3, value, TARGET))
    frame = pd.DataFrame({"a": TARGET, "b": np.where(np.arange(20) == 3, value, TARGET)})
    with pytest.raises(ValueError, match=r"y has .* in row 3, column 'b'"):
        pkex.hsic(X, frame)


@pytest.mark.parametrize("rows", [0, 1])
def test_a_sample_has_at_least_two_rows(rows):
    message = "at least 2 rows; got 1 row" if rows else "is empty"
    for samples in ((X[:rows], Y), (Y, X[:rows])):
        with pytest.raises(ValueError, match=message):
            pkex.mmd(*samples)
    with pytest.raises(ValueError, match=message):
        pkex.hsic(X[:rows], TARGET[:rows], target_kernel=RBF(), estimator="biased")


def test_unbiased_hsic_needs_four_rows():
    with pytest.raises(ValueError, match="4 rows for the unbiased estimator; got 3 rows"):
        pkex.hsic(X[:3], TARGET[:3])
    assert np.isnan(pkex.hsic(X[:3], TARGET[:3], estimator="biased").standard_errors).all()
    assert np.isfinite(pkex.hsic(X[:4], TARGET[:4], estimator="unbiased").standard_errors).all()


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 20), (3, 3), (20, 3)])
def test_standard_errors_need_four_rows_in_each_sample(n, m):
    result = pkex.mmd(X[:n], Y[:m] if m < 15 else X)
    assert np.isnan(result.standard_errors).all()
    assert np.isfinite(result.values).all()


def test_text_in_a_column_beyond_those_of_the_other_sample_has_its_place():
    wide = np.array([[0.0, 1.0, "u"], [1.0, 0.0, "v"]], dtype=object)
    with pytest.raises(TypeError, match=r"got 'u' .str. in row 0, column 2"):
        pkex.mmd(wide, pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}))


def test_lengths_must_agree():
    for y in (TARGET[:19], np.full(19, np.nan), ["a"] * 19, np.ones((19, 3))):
        with pytest.raises(ValueError, match=r"as many rows as X; got 19, expected 20$"):
            pkex.hsic(X, y)
    with pytest.raises(ValueError, match=r"got 1, expected 20\. Pass .* y\[0\]"):
        pkex.hsic(X, TARGET[None])


def test_text_is_refused():
    with pytest.raises(TypeError, match="X must hold real numbers"):
        pkex.mmd(X.astype(str), Y)
    with pytest.raises(TypeError, match="Y must hold real numbers"):
        pkex.mmd(X, Y.astype(str))


def test_arrays_of_text_and_dates_are_refused_with_what_to_do():
    days = pd.date_range("2020-01-01", periods=20)
    text = np.array([[1.0, "a"]] * 20, dtype=object)
    for table, remedy in (
        (text, "give a DataFrame, whose columns of text are compared as labels"),
        (np.stack([days, days], axis=1), "give a DataFrame, whose dates become days"),
    ):
        for call in (
            lambda table=table: pkex.mmd(table, table),
            lambda table=table: pkex.hsic(table, TARGET),
            lambda table=table: pkex.MMDDrift(X[:, :2]).predict(table),
        ):
            with pytest.raises(TypeError, match=f"must hold real numbers; .*{remedy[1:]}"):
                call()


# --- degenerate samples ---


def test_constant_columns_are_named_and_worth_nothing():
    x, y = X.copy(), Y.copy()
    x[:, [0, 2]] = y[:, [0, 2]] = 4.0
    with pytest.warns(UserWarning, match=r"columns \['x0', 'x2'\] of X and Y are constant"):
        result = pkex.mmd(x, y)
    assert result.values[0] == result.values[2] == result.alone[0] == 0.0
    # Constant in each sample, but not the same: it is what differs.
    y[:, 0] = 5.0
    with pytest.warns(UserWarning, match=r"column 'x2' of X and Y is constant"):
        assert pkex.mmd(x, y).values[0] > 0.1


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pkex.mmd(np.insert(X, 0, 1.0, axis=1), np.insert(Y, 0, 1.0, axis=1))
        pkex.hsic(np.insert(X, 0, 1.0, axis=1), TARGET)
        pkex.MMDDrift(np.insert(X, 0, 1.0, axis=1))
    assert [warning.filename for warning in caught] == [__file__] * 3


def test_values_too_large_for_the_kernel_are_named():
    kernel, message = Linear(), "{} has values too large for Linear.* Divide the columns by"
    with pytest.raises(OverflowError, match=message.format("y")):
        pkex.hsic(X, 1e300 * X[:, 0], target_kernel=kernel, attribute="y")
    with pytest.raises(OverflowError, match=message.format("X")):
        pkex.hsic(1e300 * X, X[:, 0], kernel=kernel)
    with pytest.raises(OverflowError, match=message.format("X and Y")):
        pkex.mmd(1e300 * X, Y, kernel=kernel)
    with pytest.raises(OverflowError, match=message.format("X_reference")):
        pkex.MMDDrift(1e300 * X, kernel=kernel)


def test_equal_rows_have_no_median_distance():
    same = np.ones((5, 2))
    with (
        pytest.warns(UserWarning, match="constant"),
        pytest.raises(ValueError, match=r"all rows of X and Y are equal.*give kernel.*RBF\(1.0\)"),
    ):
        pkex.mmd(same, same)
    with (
        pytest.warns(UserWarning, match="constant"),
        pytest.raises(ValueError, match=r"all rows of X are equal"),
    ):
        pkex.hsic(same, TARGET[:5])
    with pytest.warns(UserWarning, match="constant"):
        assert pkex.mmd(same, same, kernel=RBF()).statistic == 0.0


@pytest.mark.parametrize(
    ("length_scale", "word"), [(1e-3, "0 between different"), (1e3, "1 between almost")]
)
def test_a_kernel_without_contrast_is_warned_of(length_scale, word):
    kernel = RBF(length_scale)
    for call in (
        lambda: pkex.mmd(X, Y, kernel=kernel),
        lambda: pkex.hsic(X, TARGET, kernel=kernel),
        lambda: pkex.MMDDrift(X, kernel=kernel),
        lambda: pkex.witness(X, Y, kernel=kernel),
    ):
        with pytest.warns(UserWarning, match=f"^kernel is nearly {word}"):
            call()
    with pytest.warns(UserWarning, match=f"^target_kernel is nearly {word}"):
        pkex.hsic(X, TARGET, target_kernel=kernel)


@pytest.mark.parametrize(("length_scale", "word"), [(1e-3, "0 between different"), (1e3, "1 betw")])
def test_numbers_beside_classes_are_looked_at_too(length_scale, word):
    y = pd.DataFrame({"class": [f"{k // 2}" for k in range(20)], "size": TARGET})
    kernel = RBF(length_scale).on([1]) * Categorical().on([0])
    with pytest.warns(UserWarning, match=f"^target_kernel is nearly {word}"):
        pkex.hsic(X, y, target_kernel=kernel)
    pkex.hsic(X, y, target_kernel=RBF().on([1]) * Categorical().on([0]))
    pkex.hsic(X, y)


def test_the_default_kernel_of_targets_is_looked_at_too():
    # One row far away, not among those looked at: all others are alike beside it.
    rows = np.zeros((200, 1))
    rows[6] = 1e6
    with pytest.warns(UserWarning, match="^target_kernel is nearly 1 between almost all rows"):
        pkex.hsic(RNG.normal(size=(200, 2)), rows[:, 0])


def test_many_classes_are_nothing_to_warn_of():
    pkex.hsic(X, [f"class {k % 10}" for k in range(20)])


# --- options ---

CALLS = {
    "mmd": lambda **options: pkex.mmd(X, Y, **options),
    "hsic": lambda **options: pkex.hsic(X, TARGET, **options),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"estimator": "U"},
            ValueError,
            "estimator must be one of 'unbiased', 'biased', 'incomplete', 'block'; got 'U'",
        ),
        ({"summation": "kahan"}, ValueError, "summation must be one of"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
        (
            {"n_permutations": -1},
            ValueError,
            r"n_permutations must be an integer, 0 .* or positive",
        ),
        ({"n_permutations": 9.5}, TypeError, "n_permutations must be an integer, .*; got 9.5"),
        ({"n_permutations": True}, TypeError, "n_permutations must be an integer, .*; got True"),
        ({"random_state": "one"}, TypeError, "random_state must be None, a non-negative integer"),
        ({"random_state": 1.0}, TypeError, "random_state must be .*RandomState; got 1.0"),
        ({"random_state": True}, TypeError, "random_state must be .*RandomState; got True"),
        ({"random_state": [1, 2]}, TypeError, "random_state must be None, a non-negative integer"),
        ({"random_state": -1}, ValueError, "random_state must be None, a non-negative integer"),
        ({"random_state": Index(-1)}, ValueError, "random_state must be None, a non-negative"),
        ({"kernel": "rbf"}, TypeError, "kernel must be a kernel of pkex.kernels.*got 'rbf'"),
        ({"kernel": RBF([1.0, 2.0])}, ValueError, "^kernel: length_scale .* 2 values; expected 3"),
        (
            {"kernel": RBF().on([3])},
            ValueError,
            "^kernel: .* refers to column 3, but the data has 3 columns",
        ),
        ({"progress": "yes"}, TypeError, "progress must be True, False or a function"),
        ({"kernel": "rbf"}, TypeError, r"RBF\(length_scale=1.0\), which has gamma = 1/\(2·length_"),
        (
            {"gamma": 1.0},
            TypeError,
            r"no argument 'gamma'.*; .* kernel=pkex.kernels.RBF.* gamma = 1",
        ),
        ({"seed": 1}, TypeError, r"has no argument 'seed' \(did you mean 'random_state'\?\)"),
    ],
)
def test_options_that_do_not_exist_are_answered_with_those_that_do(call, options, error, message):
    with pytest.raises(error, match=message):
        call(**options)


def test_options_of_one_function_only():
    with pytest.raises(ValueError, match="value_function must be one of 'marginal', 'neutral'"):
        pkex.mmd(X, Y, value_function="interventional")
    with pytest.raises(ValueError, match="attribute must be one of 'x', 'y'; got 'X'"):
        pkex.hsic(X, TARGET, attribute="X")
    with pytest.raises(TypeError, match="target_kernel must be a kernel"):
        pkex.hsic(X, TARGET, target_kernel="delta")
    with pytest.raises(ValueError, match=r"^target_kernel: length_scale of RBF has 2 values; exp"):
        pkex.hsic(X, TARGET, target_kernel=RBF([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"^target_kernel: .* refers to column 1"):
        pkex.hsic(X, TARGET, target_kernel=RBF().on([1]))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([["x0", "x1"]], TypeError, "groups must be a dict of names to columns"),
        ({1: ["x0"]}, TypeError, "groups: names must be strings; got 1"),
        (
            {"a": ["x0", "x7"]},
            ValueError,
            r"'a' has 'x7', which is not a column.*\['x0', 'x1', 'x2'",
        ),
        ({"a": [3]}, ValueError, "'a' has 3, which is not a column. Pass a number from 0 to 2"),
        ({"a": [-1]}, ValueError, "'a' has -1, which is not a column"),
        ({"a": [True]}, ValueError, "'a' has True, which is not a column"),
        ({"a": []}, ValueError, "'a' has no columns"),
        ({"a": ["x0", 0]}, ValueError, "'a' has a column twice"),
        ({"a": [0, 1], "b": [1, 2]}, ValueError, "column 'x1' is in both 'a' and 'b'"),
        ({"x2": [0, 1]}, ValueError, "'x2' is the name of a group and of a column"),
    ],
)
def test_groups_must_be_disjoint_sets_of_columns(call, groups, error, message):
    with pytest.raises(error, match=message):
        call(groups=groups)


def test_a_group_may_be_a_single_column_and_have_its_name():
    assert pkex.mmd(X, Y, groups={"a": 1}).feature_names == ["x0", "a", "x2"]
    assert pkex.mmd(X, Y, groups={"x1": "x1"}).feature_names == ["x0", "x1", "x2"]
    assert pkex.mmd(X, Y, groups={}).feature_names == ["x0", "x1", "x2"]


# --- weights ---


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (np.ones(20), ValueError, "weights must be a tuple of two"),
        (3.0, ValueError, "weights must be a tuple of two"),
        ((np.ones(15), None), ValueError, r"weights\[0\] must have shape \(20,\), one value"),
        ((None, np.ones((15, 2))), ValueError, r"weights\[1\] must have shape \(15,\), one value"),
        ((None, np.arange(15) - 2.0), ValueError, r"weights\[1\] must not be .* -2.0 in row 0"),
        ((np.zeros(20), None), ValueError, r"weights\[0\] must not all be zero"),
        ((np.eye(20)[0], None), ValueError, r"weights\[0\] must be positive for at least two rows"),
        ((np.full(20, np.nan), None), ValueError, r"weights\[0\] has a missing value"),
        ((["a"] * 20, None), TypeError, r"weights\[0\] must hold real numbers"),
    ],
)
def test_weights_must_be_non_negative_one_for_each_row(weights, error, message):
    with pytest.raises(error, match=message):
        pkex.mmd(X, Y, weights=weights)


def test_weights_of_one_row_alone_leave_no_pairs():
    weights = np.full(15, 1e-300)
    weights[3] = 1.0
    with pytest.raises(ValueError, match=r"weights\[1\] must not be concentrated on one row of Y"):
        pkex.mmd(X, Y, weights=(None, weights))
    assert np.isfinite(pkex.mmd(X, Y, weights=(None, weights), estimator="biased").values).all()
    weights[3] = 1e300
    with pytest.raises(ValueError, match=r"weights\[1\] must be positive for at least two rows"):
        pkex.mmd(X, Y, weights=(None, weights))


def test_weighted_rows_are_not_permuted():
    with pytest.raises(ValueError, match="n_permutations cannot be combined with weights"):
        pkex.mmd(X, Y, weights=(None, np.ones(15)), n_permutations=10)


# --- permutations ---


def test_more_permutations_than_permutations_are_warned_of_with_the_least_pvalue():
    with pytest.warns(
        UserWarning, match=r"n_permutations=99, but .* below 0.1 are not expected, however"
    ):
        pkex.mmd(X[:3], Y[:2], n_permutations=99)
    # Exchanged samples differ as much.
    with pytest.warns(UserWarning, match=r"below 0.1 are not expected"):
        pkex.mmd(X[:3], Y[:3], n_permutations=99)
    with pytest.warns(UserWarning, match=r"below 0.0417 are not expected"):
        pkex.hsic(X[:4], TARGET[:4], n_permutations=99)
    pkex.hsic(X[:4], TARGET[:4], n_permutations=23)


@pytest.mark.parametrize(
    ("x", "y", "least"),
    [
        ([0] * 6, [0] * 5 + [1], "1"),
        ([0] * 6, [0] * 4 + [1], "0.455"),
        ([0] * 6, [0] * 4 + [1] * 2, "0.455"),
        ([0] * 3 + [1] * 3, [0] * 3 + [1] * 3, "0.433"),
    ],
)
def test_equal_rows_are_counted_in_the_least_pvalue(x, y, least):
    x, y = (np.array(rows, dtype=float)[:, None] for rows in (x, y))
    with pytest.warns(UserWarning, match=f"below {least} are not expected"):
        result = pkex.mmd(
            x, y, kernel=RBF(), estimator="biased", n_permutations=4999, random_state=0
        )
    tied = np.abs(result.permuted_values[:, 0] - result.values[0]) < 1e-12
    assert tied.mean() == pytest.approx(float(least), abs=0.03)


def test_more_permutations_than_fit_into_memory_are_refused():
    for call in CALLS.values():
        with pytest.raises(ValueError, match=r"too large: .* 3 features. Pass at most 33333333"):
            call(n_permutations=10**9)


# --- targets ---


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (5.0, ValueError, r"y must have shape \(n,\) or \(n, n_columns\); got shape \(\)"),
        (np.ones((20, 1, 1)), ValueError, r"y must have shape .* got shape \(20, 1, 1\)"),
        ([], ValueError, "y is empty"),
        ([[1.0], [2.0, 3.0]] * 10, ValueError, "y must have rows of equal length"),
        ([["a"], ["b", 3.0]] * 10, ValueError, "y must have rows of equal length"),
        (["a"] * 19 + [np.nan], ValueError, "y has a missing label in row 19"),
        (pd.DataFrame(index=range(20)), ValueError, "y is empty"),
        (["a"] * 19 + [None], ValueError, "y has a missing label in row 19"),
        (pd.Series(["a", None] * 10, dtype="category"), ValueError, "missing label in row 1"),
        (pd.Series([True, None] * 10, dtype="boolean"), ValueError, "missing label in row 1"),
        (np.full(20, 1j), TypeError, "y must hold real numbers; got .* complex"),
    ],
)
def test_targets_are_numbers_or_labels_without_gaps(y, error, message):
    with pytest.raises(error, match=message):
        pkex.hsic(X, y)


@pytest.mark.parametrize("y", [TARGET, np.repeat(["a", "b"], 10), np.repeat([True, False], 10)])
def test_masked_targets_are_refused_with_their_row(y):
    masked = np.ma.masked_array(y, mask=np.arange(20) == 3)
    with pytest.raises(ValueError, match=r"y has a masked value in row 3\. Fill or remove it"):
        pkex.hsic(X, masked)
    columns = np.ma.masked_array(np.stack([y, y], 1), mask=np.eye(20, 2, k=-3))
    with pytest.raises(ValueError, match="y has a masked value in row 3, column 0"):
        pkex.hsic(X, columns)
    whole = pkex.hsic(X, np.ma.masked_array(y, mask=False))
    np.testing.assert_array_equal(whole.values, pkex.hsic(X, y).values)


def test_labels_cannot_be_subtracted():
    y = pd.DataFrame({"size": TARGET, "class": ["a", "b"] * 10})
    with pytest.raises(ValueError, match=r"y holds labels \(column 'class'\), but .*RBF.*Categ"):
        pkex.hsic(X, y, target_kernel=RBF())
    pkex.hsic(X, y, target_kernel=RBF().on([0]) * Categorical().on([1]))


@pytest.mark.parametrize("similarity", [-0.1, 1.0, np.nan, "0", None])
def test_categories_are_less_similar_than_equals(similarity):
    with pytest.raises(ValueError, match="similarity must be a number from 0 to below 1"):
        Categorical(similarity)


SAMPLES = np.random.default_rng(0).normal(size=(2, 2400, 2))
PREPARATIONS = {
    "mmd": lambda **options: pkex.mmd(*SAMPLES, **options),
    "hsic": lambda **options: pkex.hsic(SAMPLES[0], SAMPLES[1, :, 0], **options),
    "sampled mmd": lambda **options: pkex.mmd(*SAMPLES, estimator="block", **options),
    "sampled hsic": lambda **options: PREPARATIONS["hsic"](estimator="block", **options),
    "detector": lambda **options: pkex.MMDDrift(SAMPLES[0], **options),
}


@pytest.mark.parametrize("call", PREPARATIONS.values(), ids=PREPARATIONS)
def test_permutations_that_do_not_fit_into_memory_are_refused_before_the_work(monkeypatch, call):
    def computed(*_, **__):
        raise AssertionError("a pass over rows has begun")

    for name in ("pair_sums", "mean_factors"):
        monkeypatch.setattr(_core, name, computed)
    with pytest.raises(ValueError, match="the result holds the permuted values of 2 features"):
        call(n_permutations=10**9, kernel=RBF(1.0))


@pytest.mark.parametrize("call", PREPARATIONS.values(), ids=PREPARATIONS)
def test_a_kernel_is_expanded_into_products_once(monkeypatch, call):
    expansions = []
    expand_terms = kernel_terms.expand_terms
    monkeypatch.setattr(
        kernel_terms,
        "expand_terms",
        lambda terms, domain: (expansions.append(terms), expand_terms(terms, domain))[1],
    )
    call(kernel=RBF(1.0), n_jobs=1)
    given = [terms for terms in expansions if terms[0].factors[0].columns.tolist() == [0, 1]]
    assert len(given) == 1
