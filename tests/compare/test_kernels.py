"""The default kernel of samples: in no unit, and the same for the same rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

import pkex
from pkex.kernels import RBF, Categorical, Laplacian, median_heuristic


@pytest.mark.parametrize(("n", "m"), [(7, 8), (8, 8), (300, 500)])
def test_it_has_the_median_distance_of_rows_scaled_by_pooled_standard_deviations(rng, n, m):
    x, y = rng.normal(size=(n, 4)) * [1.0, 20.0, 1e-5, 2.0], rng.normal(size=(m, 4))
    rows = np.concatenate([x, y])
    expected = rows.std(axis=0) * np.median(pdist(rows / rows.std(axis=0)))
    np.testing.assert_allclose(median_heuristic(x, y).length_scale, expected, rtol=1e-13)
    assert pkex.hsic(x, x).target_kernel == median_heuristic(x)


@pytest.mark.parametrize("n", [15, 300])
def test_the_papers_has_one_length_scale(rng, n):
    rows = rng.normal(size=(n, 4)) * [1.0, 2.0, 3.0, 0.5]
    found = median_heuristic(rows[:5], rows[5:], standardize=False)
    assert found.length_scale == pytest.approx(np.median(pdist(rows)), rel=1e-14)


def test_samples_of_one_dimension_are_one_column(rng):
    y = rng.normal(size=60)
    assert (
        median_heuristic(y)
        == median_heuristic(y[:, None])
        == pkex.hsic(y[:, None], y).target_kernel
    )
    assert median_heuristic(y).length_scale == pytest.approx(np.median(pdist(y[:, None])))


@pytest.mark.parametrize("standardize", [True, False])
def test_beyond_two_thousand_rows_the_median_is_that_of_a_subsample(rng, standardize):
    x = rng.normal(size=(3000, 2))
    found = median_heuristic(x, standardize=standardize)
    np.testing.assert_allclose(found.length_scale, np.sqrt(4 * np.log(2)), rtol=0.03)
    # It does not depend on the order of rows, nor on their units.
    again = median_heuristic(x[::-2], x[::2], standardize=standardize)
    assert again == found
    if standardize:
        scaled = median_heuristic(x * [1000.0, 1.0] + [0.0, 7.0])
        np.testing.assert_allclose(
            scaled.length_scale, np.multiply(found.length_scale, [1000.0, 1.0]), rtol=1e-12
        )


@pytest.mark.parametrize("n", [1500, 2500])
@pytest.mark.parametrize("standardize", [True, False])
def test_columns_may_be_in_another_order_and_of_another_sign(rng, n, standardize):
    x = rng.lognormal(size=(n, 4))
    x[:, 3] = x[:, 3] > 2.0
    found = median_heuristic(x, standardize=standardize).length_scale
    order, signs = [2, 0, 3, 1], np.array([1.0, -1.0, -1.0, 1.0])
    again = median_heuristic(signs * x[:, order], standardize=standardize).length_scale
    expected = np.take(found, order) if standardize else found
    np.testing.assert_allclose(again, expected, rtol=1e-13)
    if standardize:
        in_units = median_heuristic(x * [-1.8, 1e5, 0.3, 1.0] + [32.0, 0.0, 7.0, 0.0]).length_scale
        np.testing.assert_allclose(in_units, np.multiply(found, [1.8, 1e5, 0.3, 1.0]), rtol=1e-11)


def test_the_mean_positive_distance_stands_in_for_a_median_of_zero():
    x, y = np.zeros((10, 2)), np.zeros((10, 2))
    y[0] = 3.0, 4.0
    assert median_heuristic(x, y, standardize=False) == RBF(5.0)
    kernel = median_heuristic(x, y)
    np.testing.assert_allclose(kernel.length_scale, np.sqrt(2.0) * np.array([3.0, 4.0]))


# --- units ---

CHANGES = {
    "× 1000": lambda rows: rows * [1.0, 1000.0, 1.0],
    "× 2⁵⁰⁰": lambda rows: rows * [1.0, 2.0**500, 2.0**-500],
    "× 10³⁰⁷": lambda rows: rows * [1.0, 1e307, 1e-300],
    "+ 273.15": lambda rows: rows * [1.0, 1.8, 1.0] + [0.0, 32.0, 273.15],
}
CALLS = {
    "mmd": lambda x, y: pkex.mmd(x, y, n_permutations=19, random_state=0).values,
    "neutral mmd": lambda x, y: pkex.mmd(x, y, value_function="neutral").alone,
    "mmd's errors": lambda x, y: pkex.mmd(x, y, estimator="biased").standard_errors,
    "hsic": lambda x, y: pkex.hsic(x, x[:, 0] > 0, n_permutations=19).values,
    "hsic of columns": lambda x, y: pkex.hsic(x, y).values,
    "hsic for columns": lambda x, y: pkex.hsic(x, y, attribute="y").values,
    "witness": lambda x, y: pkex.witness(x, y).predict(x),
    "drift": lambda x, y: pkex.MMDDrift(x).predict(y).values,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", CALLS)
def test_the_unit_of_a_column_does_not_matter(rng, call, change):
    x, y = rng.normal(size=(2, 60, 3))
    y[:, 1] += 0.7
    before, after = CALLS[call](x, y), CALLS[call](CHANGES[change](x), CHANGES[change](y))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-11 * np.abs(before).max())


def test_a_column_a_thousand_times_larger_hides_nothing(rng):
    a = rng.normal(size=(120, 4)) * [1.0, 1000.0, 1.0, 1.0]
    result = pkex.hsic(a, a[:, 0], n_permutations=99, random_state=0)
    assert result.pvalue == result.familywise_pvalues[0] == result.alone_pvalues[0] == 0.01
    assert result.values.argmax() == 0
    assert result.values[1:].max() < 0.1 * result.values[0]


def test_constant_columns_have_some_length_scale(rng):
    x, y = rng.normal(size=(2, 30, 3))
    x[:, 1] = y[:, 1] = 4.0
    with pytest.warns(UserWarning, match="'x1'.*is constant"):
        result = pkex.mmd(x, y)
    assert result.values[1] == 0.0


@pytest.mark.parametrize("other", [0.1 + 0.2 - 0.2, np.float32(0.1)], ids=["float64", "float32"])
def test_rounding_of_constant_columns_is_no_difference(rng, other):
    x, y = rng.normal(size=(2, 30, 3))
    x[:15, 1] = 0.1
    x[15:, 1] = y[:, 1] = other
    message = r"column '[xy]1' of {} varies by no more than rounding to float32 .* subtract"
    options = {"n_permutations": 19, "random_state": 0}
    for call, what in (
        (lambda: pkex.mmd(x, y, **options), "X and Y"),
        (lambda: pkex.mmd(x, y, weights=(None, None)), "X and Y"),
        (lambda: pkex.hsic(x, y[:, 0], **options), "X"),
        (lambda: pkex.hsic(y[:, ::2], x, attribute="y", **options), "y"),
        (lambda: pkex.MMDDrift(x).predict(y), "X_reference"),
    ):
        with pytest.warns(UserWarning, match=message.format(what)):
            result = call()
        assert abs(result.values[1]) < 1e-15
        assert result.alone_pvalues is None or result.alone_pvalues[1] == 1.0
        if what == "X and Y":
            assert result.kernel.columns[1] is None
    # What is left of it counts if the constant is subtracted.
    left = pkex.mmd(x - [0.0, 0.1, 0.0], y - [0.0, 0.1, 0.0])
    assert left.values[1] > 0.1
    # A given kernel is taken at its word.
    pkex.mmd(x, y, kernel=RBF([1.0, 1e-9, 1.0]))


def test_rows_that_differ_by_rounding_are_not_said_to_be_equal(rng):
    x, y = rng.normal(size=(2, 30, 3)) + 1e9
    message = "rows of {} differ by no more than rounding .* Subtract an offset .* give kernel"
    with pytest.raises(ValueError, match=message.format("X and Y")):
        pkex.mmd(x, y)
    with pytest.raises(ValueError, match=message.format("X")):
        pkex.hsic(x, y[:, 0] - 1e9)


# --- outliers ---


@pytest.mark.parametrize("outliers", ["one row", "missing"])
def test_outliers_hide_no_column_and_are_warned_of_in_targets(rng, outliers):
    x, y = rng.normal(size=(2, 300, 3))
    y[:, 2] += 3.0
    if outliers == "one row":
        x[0, 2] = 1e6
    else:
        x[:9, 2] = y[:9, 2] = -999.0
    with pytest.warns(UserWarning, match=r"column 'y' of y .* or pass target_kernel="):
        pkex.hsic(y[:, :2], x[:, 2])
    for result in (pkex.mmd(x, y), pkex.MMDDrift(x).predict(y)):
        assert result.values.argmax() == 2
        assert result.values[2] > 0.15


def test_skewed_and_rare_entries_are_no_outliers(rng):
    rows = np.column_stack(
        [
            rng.lognormal(sigma=1.5, size=600),
            rng.standard_t(2.0, size=600),
            rng.random(600) < 0.01,
            rng.poisson(0.3, 600),
            rng.exponential(size=600),
            np.where(rng.random(600) < 0.9, 0.0, rng.lognormal(sigma=2.0, size=600)),
        ]
    )
    pkex.mmd(rows[:300], rows[300:])
    pkex.hsic(rows, rows[:, 0])


# --- kernels that are given ---


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (RBF(2.0), "x1"),
        (Laplacian(2.0).on([1, 2]), "x1"),
        (RBF([1.0, 1000.0, 0.05]), "x2"),
        (RBF(1.0).on([0]) * RBF(1.0).on([1]), "x1"),
        (RBF(1.0) + RBF(3.0), "x1"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:kernel is nearly 0")
def test_one_column_that_makes_up_nearly_all_distances_is_warned_of(rng, kernel, name):
    x, y = rng.normal(size=(2, 40, 3)) * [1.0, 1000.0, 1.0]
    message = (
        rf"'{name}' of .* makes up .* % .* hides other columns\. pkex.kernels.median_heuristic"
    )
    for call in (
        lambda: pkex.mmd(x, y, kernel=kernel),
        lambda: pkex.hsic(x, x[:, 0], kernel=kernel),
        lambda: pkex.witness(x, y, kernel=kernel),
        lambda: pkex.MMDDrift(x, kernel=kernel),
    ):
        with pytest.warns(UserWarning, match=message):
            call()


def test_columns_of_about_the_same_weight_and_single_ones_are_not_warned_of(rng):
    x, y = rng.normal(size=(2, 40, 3)) * [1.0, 1000.0, 1.0]
    for kernel in (
        RBF([1.0, 1000.0, 1.0]),
        RBF(700.0).on([1]),
        RBF(700.0).on([1]) * Categorical(0.5).on([0, 2]),
        median_heuristic(x, y),
    ):
        pkex.mmd(x, y, kernel=kernel)
    pkex.mmd(x / [1.0, 100.0, 1.0], y / [1.0, 100.0, 1.0], kernel=RBF(3.0).on([0, 2]))


def test_columns_of_targets_are_looked_at_too(rng):
    x = rng.normal(size=(40, 2))
    with pytest.warns(UserWarning, match="column 'y1' of y makes up .* in units of target_kernel"):
        pkex.hsic(x, x * [1.0, 300.0], target_kernel=RBF(300.0))


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ((), "requires one or more samples; got none"),
        (([[1.0, 2.0], [1.0, np.nan]],), "NaN"),
        (([[1.0, 2.0], [3.0, 4.0]], [[1.0], [2.0]]), "sample 1"),
        (([[1.0, 2.0], [1.0, 2.0]],), "all rows of the samples are equal"),
        (
            [pd.DataFrame({a: [1.0, 2.0], b: [3.0, 5.0]}) for a, b in ("uv", "vu")],
            "sample 1 has its columns in another order than sample 0",
        ),
    ],
)
def test_bad_samples_are_named(samples, message):
    with pytest.raises((ValueError, TypeError), match=message):
        median_heuristic(*samples)
