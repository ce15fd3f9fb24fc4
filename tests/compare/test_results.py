"""What results of mmd and hsic say: tests of features alone, notes, tables, pictures, selectors."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFdr, SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pkex
from pkex.compare.results.summary import COLUMNS
from pkex.kernels import RBF, Categorical, median_heuristic

CONVENTIONS = ["marginal", "neutral"]


@pytest.fixture
def samples(rng):
    x, y = rng.normal(size=(2, 60, 4))
    y[:, 1] += 1.0
    return x, y


def test_names_of_features_are_a_list_and_a_tuple(samples):
    x, y = samples
    for result in (pkex.mmd(x, y), pkex.hsic(x, y[:, 0]), pkex.MMDDrift(x).predict(y)):
        assert result.feature_names == ["x0", "x1", "x2", "x3"]
        assert result.feature_names == ["x0", "x1", "x2", "x3"]


# --- the test of a feature by itself ---


@pytest.mark.parametrize("groups", [None, {"pair": ["x0", "x3"]}], ids=["single", "grouped"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("n", [20, 90])
def test_mmd_alone_is_tested_as_the_mmd_of_that_column(rng, n, convention, estimator, groups):
    x, y = rng.normal(size=(n, 4)), rng.normal(size=(n + 3, 4))
    y[:, 1] += 0.5
    options = {"estimator": estimator, "n_permutations": 99, "random_state": 5}
    found = pkex.mmd(
        x, y, kernel=RBF(2.0), value_function=convention, groups=groups, **options
    ).alone_pvalues
    players = [[0], [1], [2], [3]] if groups is None else [[0, 3], [1], [2]]
    for pvalue, columns in zip(found, players, strict=True):
        # The same permutations, for the design depends on few features only in number.
        of_column = pkex.mmd(x[:, columns], y[:, columns], kernel=RBF(2.0), **options)
        assert pvalue == of_column.statistic_pvalue


@pytest.mark.parametrize("attribute", ["x", "y"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("n", [20, 700])
def test_hsic_alone_is_tested_as_the_hsic_of_that_column(rng, n, convention, estimator, attribute):
    x, y = rng.normal(size=(2, n, 3))
    y[:, 0] += 0.3 * x[:, 1]
    kernels = {"kernel": RBF(1.5), "target_kernel": RBF(2.0)}
    options = {"estimator": estimator, "n_permutations": 49, "random_state": 5, **kernels}
    found = pkex.hsic(x, y, value_function=convention, attribute=attribute, **options)
    for j, pvalue in enumerate(found.alone_pvalues):
        of_x, of_y = (x[:, [j]], y) if attribute == "x" else (x, y[:, [j]])
        of_column = pkex.hsic(of_x, of_y, attribute=attribute, **options)
        assert pvalue == of_column.statistic_pvalue


def test_the_test_alone_does_not_depend_on_the_convention(samples):
    options = {"n_permutations": 99, "random_state": 0}
    for call in (pkex.mmd, pkex.hsic):
        one, other = (call(*samples, value_function=v, **options) for v in CONVENTIONS)
        np.testing.assert_array_equal(one.alone_pvalues, other.alone_pvalues)
        np.testing.assert_array_equal(one.alone_familywise_pvalues, other.alone_familywise_pvalues)
        assert np.all(one.alone_familywise_pvalues >= one.alone_pvalues)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-9)


def test_without_permutations_there_are_no_pvalues(samples):
    for result in (pkex.mmd(*samples), pkex.hsic(*samples)):
        assert result.alone_pvalues is result.alone_familywise_pvalues is None
        assert result.notes == ()


# --- the cases that were misleading ---


def test_marginal_values_find_a_small_shift_beside_a_large_one():
    others = []
    for seed in range(30):
        x, y = np.random.default_rng(seed).normal(size=(2, 500, 5))
        y[:, 0] += 1.5
        y[:, 1] += 0.25
        result = pkex.mmd(x, y, n_permutations=99, random_state=0)
        assert result.alone_pvalues[1] <= 0.05
        assert result.feature_pvalues[1] <= 0.05
        assert result.values[1] > result.values[2:].max()
        others.append(result.values[2:])
    # Of no difference, in the mean.
    assert abs(np.mean(others)) < 3.0 * np.std(others) / np.sqrt(np.size(others))


@pytest.mark.parametrize(("n", "kernel"), [(1000, None), (500, RBF(1.0))], ids=str)
def test_the_most_important_input_of_ishigami_has_small_pvalues(n, kernel):
    names = ("feature_pvalues", "alone_pvalues")
    options = {"kernel": kernel, "n_permutations": 199, "random_state": 0}
    found, of_paper = [], []
    for seed in range(5):
        x = np.random.default_rng(seed).uniform(-np.pi, np.pi, size=(n, 3))
        y = np.sin(x[:, 0]) + 7.0 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0])
        result = pkex.hsic(x, y, **options)
        found.append([getattr(result, name)[1] for name in names])
        of_paper.append(pkex.hsic(x, y, value_function="neutral", **options).feature_pvalues[1])
    assert np.median(found, axis=0).max() <= 0.05
    # In the paper's convention and one Gaussian the first input takes all.
    assert kernel is None or np.median(of_paper) > 0.5


# --- notes ---


def test_a_feature_that_shares_what_it_shows_is_pointed_out(rng):
    x, y = rng.normal(size=(2, 300, 4))
    y[:, 0] += 2.0
    y[:, 1] += 0.4
    kernel = median_heuristic(x, y)
    options = {"kernel": kernel, "n_permutations": 199, "random_state": 0}
    result = pkex.mmd(x, y, value_function="neutral", **options)
    assert result.feature_pvalues[1] > 0.05
    (note,) = result.notes
    assert note.startswith(
        "x1: small univariate p-value, but large p-value of the Shapley value: differs individually"
    )
    assert f"note: {note}" in repr(result)


@pytest.mark.parametrize("compare", [pkex.mmd, pkex.hsic])
def test_results_without_pvalues_say_how_to_get_them(rng, compare):
    X, Y = rng.normal(size=(2, 30, 2))
    fix = f"pass n_permutations to pkex.{compare.__name__}, such as n_permutations=199"
    untested = compare(X, Y)
    assert f"\np-values: {fix}\n" in repr(untested).replace("    ", "")
    assert f"none: {fix}" in untested.to_html()
    assert fix not in repr(compare(X, Y, n_permutations=9))


def test_results_of_weighted_rows_do_not_promise_pvalues(rng):
    weighted = pkex.mmd(*rng.normal(size=(2, 30, 2)), weights=(rng.random(30), None))
    assert "n_permutations" not in repr(weighted) + weighted.to_html()
    assert "none: rows have weights" in weighted.to_html()


def test_features_that_differ_only_together_are_pointed_out(rng):
    x, y = rng.normal(size=(2, 300, 3))
    y[:, 1] = 0.95 * y[:, 0] + 0.3 * y[:, 1]
    result = pkex.mmd(x, y, kernel=RBF(1.0), n_permutations=199, random_state=0)
    (note,) = result.notes
    expected = "x0, x1: small p-value of the Shapley value, but large univariate p-value: may count"
    assert note.startswith(expected)
    result = pkex.hsic(x, x[:, 0] * x[:, 1] > 0, n_permutations=199, random_state=0)
    (note,) = result.notes
    assert note.startswith(expected)


def test_notes_do_not_take_a_large_pvalue_alone_for_no_difference():
    # Of columns that are nearly one, each is shifted, and the test of one by itself misses it.
    rng = np.random.default_rng(31)
    x, y = rng.normal(size=(2, 60, 3))
    for rows in (x, y):
        rows[:] = np.sqrt(0.9) * rng.normal(size=(60, 1)) + np.sqrt(0.1) * rows
    (note,) = pkex.mmd(x, y + 0.2, n_permutations=99, random_state=0).notes
    assert note.startswith("x1: small p-value of the Shapley value, but large univariate p-value")
    assert note.endswith(": may count through the dependence on other features")


def test_notes_and_legends_name_the_hypothesis_and_the_other_side(rng):
    x, y = rng.normal(size=(2, 200, 3))
    y[:, 0] += x[:, 1]
    options = {"value_function": "neutral", "n_permutations": 99, "random_state": 0}
    for attribute, other in (("x", "y"), ("y", "X")):
        result = pkex.hsic(x, y, attribute=attribute, **options)
        own = "X" if attribute == "x" else "y"
        assert result.hypothesis == f"{own} and {other} are independent"
        assert result.finding == f"is associated with {other}"
        assert (
            f"\np: hypothesis that {result.hypothesis}; adjusted: for the number of features\n"
            f"univariate p: hypothesis that this feature and {other} are independent\n"
        ) in repr(result)
    result = pkex.mmd(x, y, **options)
    assert f"\np: hypothesis that {result.hypothesis}; adjusted" in repr(result)
    assert "hypothesis" not in repr(pkex.mmd(x, y))


def test_long_lists_of_features_are_shortened_in_notes(rng):
    x, y = rng.normal(size=(2, 200, 9))
    y[:, 1:8] = y[:, :1] + 0.1 * y[:, 1:8]
    names = [f"a rather long name of a feature of a table, number {j}" for j in range(9)]
    frames = [pd.DataFrame(rows, columns=names) for rows in (x, y)]
    result = pkex.mmd(*frames, n_permutations=99, random_state=0)
    assert "and 3 more: small p-value of the Shapley value" in result.notes[0]
    assert "…" in result.notes[0]
    assert "(1 smaller feature not shown)" in repr(result)


# --- tables ---


def test_the_repr_is_a_small_table_of_five_digits(samples):
    result = pkex.mmd(*samples, kernel=RBF(2.0), n_permutations=9, random_state=0)
    table, _, _ = repr(result).partition("\ncolumn changes")
    first, head, *rows, _, _, kernel = table.splitlines()
    assert first == (
        f"MMDResult: MMD² = {result.statistic:.5g}, p-value {result.pvalue:.5g} (all features "
        f"together {result.statistic_pvalue:.5g}, strongest single feature "
        f"{result.univariate_pvalue:.5g}) (unbiased, marginal values)"
    )
    assert head.split() == ["feature", *" ".join(COLUMNS.values()).split()]
    assert len(rows) == 4
    cells = rows[0].split()
    assert cells[0] == "x1"
    expected = (result.values, result.alone_familywise_pvalues, result.standard_errors)
    assert cells[1:4] == [f"{numbers[1]:.5g}" for numbers in expected]
    assert kernel == "kernel: RBF(length_scale=2.0)"
    with pytest.warns(UserWarning, match=r"^rows .* of X; rows .* of Y: unusual in so many"):
        wide = pkex.mmd(*(np.tile(sample, 30) for sample in samples))
    # Of which six are of columns that leave their range.
    assert len(repr(wide).splitlines()) == 19
    assert max(map(len, repr(wide).splitlines())) < 140


def test_the_frame_lists_the_largest_value_first_and_what_to_act_on_in_front(samples):
    result = pkex.mmd(*samples, n_permutations=9, random_state=0)
    frame = result.to_frame()
    assert list(frame["value"]) == sorted(result.values, reverse=True)
    titles = list(COLUMNS.values())
    assert list(frame.columns) == titles
    assert list(result.to_frame(errors=False)) == [t for t in titles if t != "std err"]
    assert titles[:2] == ["value", "univariate p (adjusted)"]
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        assert all(title in repr(frame) for title in titles[:2])
    without = pkex.mmd(*samples, weights=(None, None))
    assert list(without.to_frame()) == ["value", "univariate value"]
    with pytest.raises(ValueError, match="no standard errors"):
        without.to_frame(errors=True)


@pytest.mark.parametrize("call", [pkex.mmd, pkex.hsic])
def test_the_dict_is_what_json_knows(samples, call):
    result = call(*samples, n_permutations=9, random_state=0)
    found = json.loads(json.dumps(result.to_dict()))
    names = ("values", "alone", "feature_pvalues", "alone_pvalues", "alone_familywise_pvalues")
    for name in names:
        assert found[name] == getattr(result, name).tolist()
    for name in ("statistic", "pvalue", "feature_names", "value_function", "estimator"):
        assert found[name] == getattr(result, name)
    assert found["kernel"] == repr(result.kernel)
    assert call(*samples).to_dict()["alone_pvalues"] is None


def test_filled_circles_of_the_picture_are_features_that_differ_by_themselves(samples):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    for permutations in (99, 0):
        result = pkex.mmd(*samples, n_permutations=permutations, random_state=0)
        ax = result.plot()
        (circles,) = ax.collections[-1:]
        filled = {
            label.get_text()
            for label, colour in zip(ax.get_yticklabels(), circles.get_facecolors(), strict=False)
            if colour[3] > 0.0
        }
        assert filled == ({"x1"} if permutations else set())
        plt.close(ax.figure)


@pytest.mark.parametrize("permutations", [0, 19])
def test_the_legend_of_the_picture_covers_nothing(samples, permutations):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    for features in (1, 4):
        parts = (sample[:, :features] for sample in samples)
        ax = pkex.mmd(*parts, n_permutations=permutations, random_state=0).plot()
        figure = ax.figure
        figure.canvas.draw()
        legend = ax.get_legend().get_window_extent()
        for other in (ax.get_window_extent(), ax.xaxis.label.get_window_extent()):
            assert not legend.overlaps(other)
        assert figure.bbox.containsx(legend.x0)
        assert figure.bbox.containsx(legend.x1)
        assert figure.bbox.containsy(legend.y0)
        plt.close(figure)


# --- the conventions ---

CALLS = {
    "mmd": partial(pkex.mmd, n_permutations=199, random_state=0),
    "hsic": partial(pkex.hsic, n_permutations=199, random_state=0),
}


@pytest.mark.parametrize("call", CALLS)
def test_tests_of_features_alone_depend_on_the_convention_in_sums_of_kernels_only(rng, call):
    x, y = rng.normal(size=(2, 60, 3))
    y[:, 0] += 0.3 + 0.2 * x[:, 0]
    product, narrow = RBF(2.0), 4.0 * RBF(0.2)

    def of(kernel, convention):
        return CALLS[call](x, y, kernel=kernel, value_function=convention)

    marginal, neutral = (of(product, convention) for convention in ("marginal", "neutral"))
    np.testing.assert_array_equal(marginal.alone_pvalues, neutral.alone_pvalues)
    # Absent features weigh the terms of a sum by their mean factors, or not.
    marginal, neutral = (of(product + narrow, c) for c in ("marginal", "neutral"))
    for found, convention in ((marginal, "marginal"), (neutral, "neutral")):
        terms = [of(kernel, convention).alone for kernel in (product, narrow)]
        np.testing.assert_allclose(found.alone, np.sum(terms, axis=0), rtol=1e-10)
    assert np.all(marginal.alone_pvalues != neutral.alone_pvalues)


# --- scikit-learn's selectors ---


def test_a_result_is_an_array_of_its_values(samples):
    result = pkex.hsic(*samples)
    np.testing.assert_array_equal(np.asarray(result), result.values)
    array = np.array(result, dtype=np.float32)
    array[0] = 7.0
    assert result.values[0] != 7.0


def test_without_a_copy_an_array_is_the_values_or_none(samples):
    result = pkex.hsic(*samples)
    assert result.__array__(copy=False) is result.values
    with pytest.raises(ValueError, match="without a copy"):
        result.__array__(np.float32, copy=False)


def test_hsic_scores_features_for_selectors(rng):
    x = rng.normal(size=(300, 6))
    y = np.abs(x[:, 2]) + x[:, 4]
    selector = SelectKBest(pkex.hsic, k=2).fit(x, y)
    np.testing.assert_array_equal(selector.get_support(indices=True), [2, 4])
    np.testing.assert_array_equal(selector.scores_, pkex.hsic(x, y).values)
    labels = np.digitize(y, [0.0, 1.0])
    of_labels = SelectKBest(partial(pkex.hsic, target_kernel=Categorical()), k=2)
    assert make_pipeline(StandardScaler(), of_labels).fit_transform(x, labels).shape == (300, 2)

    def score(X, y):
        result = pkex.hsic(X, y, n_permutations=199, random_state=0)
        return result.values, result.alone_pvalues

    np.testing.assert_array_equal(SelectFdr(score).fit(x, y).get_support(indices=True), [2, 4])
