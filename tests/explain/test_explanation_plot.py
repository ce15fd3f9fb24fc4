"""``Explanation.plot``: what is drawn, and with which words."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest

import pkex
from pkex.results.palette import BLUE, GRAY, ORANGE, SKY_BLUE, STYLE, VERMILION
from pkex.results.plots import datum, short_numbers

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

NAMES = ["age", "bmi", "pulse", "height"]
ROWS = 40


@pytest.fixture(autouse=True)
def _no_pictures_left() -> Iterator[None]:
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()  # what cannot be drawn is an error, too
    plt.close("all")


def _explanation(data=None, names=NAMES, **options) -> pkex.Explanation:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, len(names))) * np.arange(1, len(names) + 1) + 3.0
    data = rng.normal(size=values.shape) if data is None else data
    return pkex.Explanation(values, np.full(ROWS, 10.0), data, names, **options)


def _labels(ax) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def _widths(ax) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


# --- one row ---


@pytest.mark.parametrize("index", [2, slice(2, 3), (slice(2, 3), slice(None))])
def test_bars_of_a_row_are_its_values_largest_on_top_with_its_data(index):
    explanation = _explanation(value_function="marginal")
    ax = explanation[index].plot()
    order = np.argsort(-np.abs(explanation.values[2]))
    assert _widths(ax) == list(explanation.values[2, order])
    assert _labels(ax) == [f"{NAMES[j]} = {explanation.data[2, j]:.3g}" for j in order]
    largest, *_ = values = explanation.values[2, order]
    decimals = 2 - int(np.floor(np.log10(abs(largest))))
    shown = [f"{v:+.{decimals}f}".replace("-", "−") for v in values]
    assert [text.get_text() for text in ax.texts] == shown
    low, high = ax.get_ylim()
    assert low > high  # the first bar is on top
    total = 10.0 + explanation.values[2].sum()
    assert ax.get_title() == f"base value {10:.{decimals}f} + values = {total:.{decimals}f}"
    assert ax.get_xlabel() == "Shapley value (marginal)"


def test_a_bar_has_the_colour_of_its_sign():
    row = pkex.Explanation([3.0, -2.0, 1.0], 0.0, [0.0, 0.0, 0.0], NAMES[:3])
    colours = [bar.get_facecolor() for bar in row.plot().patches]
    assert colours[0] == colours[2] != colours[1]


def test_the_smaller_values_of_a_row_are_one_grey_bar():
    row = _explanation()[0]
    ax = row.plot(max_features=2)
    order = np.argsort(-np.abs(row.values))
    assert _widths(ax) == pytest.approx([*row.values[order[:2]], row.values[order[2:]].sum()])
    assert _labels(ax)[2] == "2 other features"
    red, green, blue, _ = ax.patches[2].get_facecolor()
    assert red == green == blue
    assert sum(_widths(ax)) == pytest.approx(row.values.sum())


@pytest.mark.parametrize("index", [(0, "bmi"), (slice(1), ["bmi"])])
def test_a_single_feature_is_a_single_bar(index):
    part = _explanation()[index]
    assert _widths(part.plot()) == list(np.ravel(part.values))


# --- many rows ---


def test_many_rows_are_points_over_bars_of_the_importance():
    explanation = _explanation(value_function="interventional")
    ax = explanation.plot()
    order = np.argsort(-explanation.importance())
    assert _labels(ax) == [NAMES[j] for j in order]
    assert _widths(ax) == list(explanation.importance()[order])
    for place, points in enumerate(ax.collections):
        offsets = points.get_offsets()
        np.testing.assert_array_equal(offsets[:, 0], explanation.values[:, order[place]])
        assert np.abs(offsets[:, 1] - place).max() < 0.4  # none in another feature's line
    assert len(ax.collections) == 4
    assert ax.get_title() == "40 rows, gray bars: mean |value|"
    assert ax.get_xlabel() == "Shapley value (interventional)"


def test_neutral_values_are_drawn_as_deviations_and_named_so():
    explanation = _explanation(value_function="neutral")
    ax = explanation.plot()
    order = np.argsort(-explanation.importance())
    assert _widths(ax) == list(explanation.importance()[order])
    drawn = np.column_stack([points.get_offsets()[:, 0] for points in ax.collections])
    np.testing.assert_allclose(drawn, explanation.centered().values[:, order], atol=1e-14)
    assert ax.get_title() == "40 rows, gray bars: mean |value − its mean|"
    assert ax.get_xlabel() == "Shapley value − its mean (neutral)"
    assert explanation[0].plot().get_xlabel() == "Shapley value (neutral)"
    centred = explanation.centered().plot()
    assert _widths(centred) == pytest.approx(_widths(ax))
    assert centred.get_xlabel() == "Shapley value (neutral, centered)"


def test_points_are_coloured_from_low_to_high_and_grey_where_there_is_no_number():
    data = np.empty((ROWS, 4), dtype=object)
    data[:, 0] = np.arange(ROWS, dtype=float)
    data[:, 1] = ["red", "green"] * (ROWS // 2)
    data[:, 2] = [np.nan, 1.0] * (ROWS // 2)
    data[:, 3] = [0.0] * (ROWS - 1) + [5.0]
    ax = _explanation(data).plot()
    shades = {
        label: np.ma.filled(points.get_array(), np.nan)
        for label, points in zip(_labels(ax), ax.collections, strict=True)
    }
    assert np.all(np.diff(shades["age"]) >= 0)
    assert (shades["age"].min(), shades["age"].max()) == (0.0, 1.0)
    assert np.isnan(shades["bmi"]).all()
    np.testing.assert_array_equal(shades["pulse"], [np.nan, 0.5] * (ROWS // 2))
    np.testing.assert_array_equal(shades["height"], [0.0] * (ROWS - 1) + [1.0])
    colour_bar = ax.figure.axes[-1]
    assert colour_bar.get_ylabel() == "feature value (low → high)"


def test_without_numbers_there_is_no_scale_of_colours():
    ax = _explanation(np.full((ROWS, 4), "red", dtype=object)).plot()
    assert ax.figure.axes == [ax]


def test_features_that_are_not_shown_are_counted():
    names = [f"x{j}" for j in range(100)]
    ax = _explanation(names=names).plot()
    assert len(ax.patches) == len(_labels(ax)) == 15
    assert ax.get_title().endswith("\n85 smaller features are not shown")
    assert (
        _explanation().plot(max_features=3).get_title().endswith("\n1 smaller feature is not shown")
    )
    assert "shown" not in _explanation().plot().get_title()


def test_a_small_picture_has_all_of_its_words():
    ax = _explanation().plot(max_features=2)
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    for text in (ax.title, ax.xaxis.label):
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1


def test_equal_points_are_drawn_side_by_side():
    values = np.zeros((30, 1))
    ax = pkex.Explanation(values, np.zeros(30), values, ["same"]).plot()
    heights = ax.collections[0].get_offsets()[:, 1]
    assert len(set(np.round(heights, 9))) == 30
    assert np.abs(heights).max() < 0.4


# --- words, and what is refused ---


def test_the_output_is_named():
    ax = _explanation(value_function="marginal", output_name="b vs a").plot()
    assert ax.get_xlabel() == "Shapley value (marginal)\nof 'b vs a'"


def test_long_names_do_not_push_the_picture_aside_and_dollars_are_dollars():
    names = ["a name of many words, " * 10, "price in $ or US$", "x", "y"]
    explanation = _explanation(names=names, output_name="cheap in $ vs dear in $")
    for ax in (explanation.plot(), explanation[0].plot()):
        ax.figure.canvas.draw()
        width = ax.figure.bbox.width
        assert ax.get_window_extent().width > 0.4 * width
        boxes = [label.get_window_extent() for label in (*ax.get_yticklabels(), ax.xaxis.label)]
        assert all(box.x0 >= 0 and box.x1 <= width for box in boxes)
        assert any("price in \\$ or US\\$" in label for label in _labels(ax))
        assert "'cheap in \\$ vs dear in \\$'" in ax.get_xlabel()


def test_numbers_at_bars_do_not_touch_the_names():
    row = pkex.Explanation([0.64, -0.13, 0.12], 0.0, [0.0, 1.0, 1.0], ["x" * 50, "y" * 50, "z"])
    ax = row.plot()
    ax.figure.canvas.draw()
    left = ax.get_window_extent().x0
    assert all(text.get_window_extent().x0 > left for text in ax.texts)


def test_the_axes_that_are_given_are_drawn_in():
    _, given = plt.subplots()
    assert _explanation().plot(given) is given
    assert _explanation()[0].plot(ax=given) is given


def test_one_of_several_outputs_must_be_chosen():
    several = pkex.Explanation(
        np.ones((3, 2, 2)), np.zeros((3, 2)), np.ones((3, 2)), ["a", "b"], ["y0", "y1"]
    )
    with pytest.raises(ValueError, match=r"explanation\[\.\.\., name\]\.plot\(\).*'y0', 'y1'"):
        several.plot()
    assert several[..., "y1"].plot().get_xlabel() == "Shapley value\nof 'y1'"


@pytest.mark.parametrize("index", [[], (slice(None), [])])
def test_nothing_cannot_be_drawn(index):
    with pytest.raises(ValueError, match="nothing to draw"):
        _explanation()[index].plot()


def test_a_wrong_number_of_features_is_refused():
    with pytest.raises(ValueError, match="max_features must be a positive integer; got 0"):
        _explanation().plot(max_features=0)
    with pytest.raises(TypeError, match=r"max_features must be a positive integer; got 2\.5"):
        _explanation().plot(max_features=2.5)


@pytest.mark.parametrize("ax", ["bmi", 1, [1, 2]])
def test_what_is_no_axes_is_refused(ax):
    x = np.random.default_rng(0).normal(size=(20, 2))
    for result in (_explanation(), _explanation()[0], pkex.mmd(x, x + 1.0, n_permutations=0)):
        with pytest.raises(TypeError, match=r"ax must be an Axes of matplotlib.*max_features"):
            result.plot(ax)


def test_a_kind_that_is_passed_as_axes_is_answered_with_its_keyword():
    with pytest.raises(TypeError, match="For a kind of plot, pass kind='scatter'"):
        _explanation().plot("scatter")


def test_shaps_word_for_the_number_of_features_is_answered_with_ours():
    with pytest.raises(TypeError, match=r"no argument 'max_display' \(did you mean 'max_features'"):
        _explanation().plot(max_display=5)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match=r"a picture needs matplotlib: pip install matplotlib .*pkex\[plots\]"
    ):
        _explanation().plot()


# --- style ---


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.77833, -0.049914, -6.8828e-05], ["0.778", "−0.050", "0.000"]),
        ([1234.5, -0.4], ["1230", "0"]),
        ([31.046, -15.292], ["31.0", "−15.3"]),
        ([2.5e-7, 1e-9], ["2.50e−07", "1.00e−09"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_numbers_at_bars_have_three_significant_digits_of_the_largest(values, shown):
    assert short_numbers(np.array(values)) == shown


@pytest.mark.parametrize(
    ("base", "values", "title"),
    [
        (1010.826, [4.75064, 6.7], "base value 1010.83 + values = 1022.28"),
        (1000000.4, [12.0, -0.5], "base value 1000000.4 + values = 1000011.9"),
        (250_000.0, [12_345.0, 1.0], "base value 250000 + values = 262300"),
        (1000.0, [1e-9, 0.0], "base value 1000.000000 + values = 1000.000000"),
        (-0.5, [0.0, 0.0], "base value −0.500 + values = −0.500"),
        (0.5, [5000.0, -4999.8], "base value 0.500 + values = 0.700"),
    ],
)
def test_an_offset_does_not_hide_how_much_the_values_add_up_to(base, values, title):
    row = pkex.Explanation(values, base, [0.0, 0.0], NAMES[:2])
    for kind in ("bar", "waterfall"):
        assert row.plot(kind=kind).get_title() == title


def test_feature_values_have_three_digits_and_integers_all():
    assert [datum(v) for v in (4.8598, 1065.25, 1065.0, 999990.9, 3, "red")] == [
        "4.86", "1065", "1065", "999991", "3", "red",
    ]  # fmt: skip


def test_a_new_figure_has_the_style_of_pkex_and_given_axes_that_of_their_owner():
    row = _explanation()[0]
    own = row.plot()
    assert not own.spines["top"].get_visible()
    sizes = [own.title, own.xaxis.label, *own.get_yticklabels(), *own.texts]
    assert min(text.get_fontsize() for text in sizes) >= 9.0
    with plt.rc_context({"font.size": 20.0}):
        given = row.plot(plt.figure().add_subplot())
    assert given.texts[0].get_fontsize() == 20.0


def test_the_style_sheet_has_the_colors_of_the_palette():
    with plt.style.context(STYLE):
        cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    colors = [f"#{color.lstrip('#').upper()}" for color in cycle]
    assert colors[:2] == [BLUE, VERMILION]
    assert {SKY_BLUE, ORANGE, GRAY} <= set(colors)
