"""``Explanation.to_shap()`` is drawn by shap's plots, and what they draw are our numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import matplotlib as mpl
import numpy as np
import pytest

import pkex

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
shap = pytest.importorskip("shap")

NAMES = ["age", "bmi", "pulse", "height"]
ROWS = 40


def _single_output() -> pkex.Explanation:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(ROWS, len(NAMES)))
    values = data * [0.5, -2.0, 1.0, 0.1] + 0.05 * rng.normal(size=data.shape)
    return pkex.Explanation(values, np.full(ROWS, 10.0), data, NAMES)


def _named_output() -> pkex.Explanation:
    """As of a classifier of two classes."""
    one = _single_output()
    return pkex.Explanation(one.values, one.base_values, one.data, NAMES, output_name="b vs a")


def _several_outputs() -> pkex.Explanation:
    """As many outputs as features, so that confusing the two axes cannot go unnoticed."""
    one = _single_output()
    scale = np.array([0.25, 1.0, 2.0, 3.0])
    return pkex.Explanation(
        one.values[:, :, None] * scale,
        one.base_values[:, None] * scale,
        one.data,
        NAMES,
        ["a vs b", "a vs c", "b vs c", "c vs d"],
    )


# What a user may hand to shap: a single output, or one of several chosen before or after.
SOURCES: dict[str, Callable[[], tuple[pkex.Explanation, shap.Explanation]]] = {
    "single output": lambda: (_single_output(), _single_output().to_shap()),
    "single output with a name": lambda: (_named_output(), _named_output().to_shap()),
    "one of several, chosen before": lambda: (
        _several_outputs()[..., "b vs c"],
        _several_outputs()[:, :, "b vs c"].to_shap(),
    ),
    "one of several, chosen after": lambda: (
        _several_outputs()[..., "b vs c"],
        _several_outputs().to_shap()[:, :, "b vs c"],
    ),
}


@pytest.fixture(params=SOURCES)
def pair(request: pytest.FixtureRequest) -> tuple[pkex.Explanation, shap.Explanation]:
    """Ours, and the same for shap."""
    return SOURCES[request.param]()


@pytest.fixture(autouse=True)
def _fresh_figure() -> Iterator[None]:
    np.random.seed(0)  # noqa: NPY002 - shap shuffles the points that it draws by the global generator
    plt.close("all")
    plt.figure()
    yield
    plt.close("all")


def _tick_names() -> list[str]:
    """Names on the vertical axis from top to bottom, without ``value = `` before them."""
    axes = plt.gca()
    ticks = {
        (float(y), label.get_text())
        for y, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    }
    from_top = sorted(ticks, reverse=not axes.yaxis_inverted())
    names = [re.sub(r"^.* = ", "", text) for _, text in from_top]
    return [name for name in names if name in NAMES]


def _by_importance(ours: pkex.Explanation) -> list[str]:
    return [NAMES[j] for j in np.argsort(-ours.importance())]


def test_beeswarm_draws_every_value_of_every_feature(pair):
    ours, theirs = pair
    shap.plots.beeswarm(theirs, show=False)
    drawn = np.concatenate([c.get_offsets()[:, 0] for c in plt.gca().collections])
    np.testing.assert_array_equal(np.sort(drawn), np.sort(ours.values, axis=None))
    assert _tick_names() == _by_importance(ours)


def test_bar_draws_the_importances(pair):
    ours, theirs = pair
    shap.plots.bar(theirs, show=False)
    widths = [patch.get_width() for patch in plt.gca().patches]
    np.testing.assert_allclose(widths, np.sort(ours.importance())[::-1], rtol=1e-14)
    assert list(dict.fromkeys(_tick_names())) == _by_importance(ours)


def test_bar_of_one_row_draws_its_values(pair):
    ours, theirs = pair
    shap.plots.bar(theirs[3], show=False)
    order = np.argsort(-np.abs(ours[3].values))
    widths = [patch.get_width() for patch in plt.gca().patches]
    np.testing.assert_allclose(widths, ours[3].values[order], rtol=1e-14)


def test_waterfall_goes_from_the_base_value_to_the_output(pair):
    ours, theirs = pair
    row = ours[5]
    shap.plots.waterfall(theirs[5], show=False)
    texts = " ".join(
        t.get_text() for ax in plt.gcf().axes for t in ax.findobj(mpl.text.Text)
    ).replace("\N{MINUS SIGN}", "-")
    output = row.base_values + row.values.sum()
    assert f"{float(output):.03f}".rstrip("0") in texts
    assert f"{float(row.base_values):.03f}".rstrip("0").rstrip(".") in texts
    for name, value, number in zip(NAMES, row.values, row.data, strict=True):
        assert f"{value:+.02f}" in texts, name
        assert re.search(rf"{re.escape(f'{number:.03f}'.rstrip('0'))} = {name}", texts), name


def test_a_row_taken_before_conversion_draws_the_same_waterfall(pair):
    ours, theirs = pair
    outlines = []
    for row in (theirs[5], ours[5].to_shap()):
        plt.close("all")
        shap.plots.waterfall(row, show=False)
        patches = [patch for axes in plt.gcf().axes for patch in axes.patches]
        outlines.append([patch.get_path().vertices for patch in patches])
    assert len(outlines[0]) >= len(NAMES)
    for one, other in zip(*outlines, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("chosen", ["before", "after"])
def test_scatter_draws_value_against_data_of_one_feature(pair, chosen):
    ours, theirs = pair
    one = ours[:, "bmi"].to_shap() if chosen == "before" else theirs[:, "bmi"]
    shap.plots.scatter(one, show=False, hist=False, x_jitter=0)
    ax = plt.gcf().axes[0]
    points = np.concatenate([c.get_offsets() for c in ax.collections])
    points = points[np.argsort(points[:, 0])]
    order = np.argsort(ours.data[:, 1])
    np.testing.assert_array_equal(points[:, 0], ours.data[order, 1])
    np.testing.assert_array_equal(points[:, 1], ours.values[order, 1])
    assert "bmi" in ax.get_xlabel()


def test_scatter_coloured_by_another_feature(pair):
    ours, theirs = pair
    shap.plots.scatter(theirs[:, "bmi"], color=theirs[:, "age"], show=False, hist=False)
    assert "bmi" in plt.gcf().axes[0].get_xlabel()
    assert plt.gcf().axes[1].get_ylabel() == "age"
    coloured = [c for c in plt.gcf().axes[0].collections if c.get_array() is not None]
    assert sum(len(c.get_array()) for c in coloured) == len(ours)


def test_heatmap_draws_the_whole_table(pair):
    ours, theirs = pair
    shap.plots.heatmap(theirs, show=False)
    image = np.asarray(plt.gca().images[0].get_array())
    order = np.argsort(-ours.importance())
    assert image.shape == (len(NAMES), ROWS)
    np.testing.assert_array_equal(np.sort(image, axis=1), np.sort(ours.values[:, order].T, axis=1))
    assert _tick_names() == _by_importance(ours)


@pytest.mark.slow
def test_violin_draws_every_feature(pair):
    ours, theirs = pair
    shap.plots.violin(theirs, show=False)
    assert _tick_names() == _by_importance(ours)
    low, high = plt.gca().dataLim.intervalx
    assert low <= ours.values.min()
    assert high >= ours.values.max()


def test_force_plot_of_one_row(pair):
    ours, theirs = pair
    shap.plots.force(theirs[2], matplotlib=True, show=False, contribution_threshold=0)
    texts = [t.get_text() for t in plt.gcf().findobj(mpl.text.Text)]
    for name, number in zip(NAMES, ours[2].data, strict=True):
        assert f"{name} = {number}" in texts
    assert f"{float(ours[2].base_values + ours[2].values.sum()):.2f}" in texts


def test_force_plot_of_many_rows(pair):
    ours, theirs = pair
    rows = shap.plots.force(theirs).data["explanations"]
    outputs = [row["outValue"] for row in sorted(rows, key=lambda row: row["simIndex"])]
    np.testing.assert_allclose(
        np.sort(outputs), np.sort(ours.values.sum(axis=1) + ours.base_values), rtol=1e-12
    )
