"""Pictures by their kind: what users know from shap, drawn by matplotlib alone."""

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVR

import pkex

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 5))
TABLE = pd.DataFrame(X, columns=list("abcde"))
MODEL = SVR().fit(TABLE, X[:, 0] * X[:, 1] + X[:, 2])
EXPLAINER = pkex.Explainer(MODEL)
EXPLANATION = EXPLAINER(TABLE)
INTERACTIONS = EXPLAINER.interactions(TABLE)


@pytest.fixture(autouse=True)
def _closed():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()  # what cannot be drawn is an error, too
    plt.close("all")


def _widths(ax):
    return [bar.get_width() for bar in ax.patches]


def _names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_of_several_rows_are_their_importance():
    ax = EXPLANATION.plot(kind="bar", max_features=3)
    sizes = EXPLANATION.importance()
    order = np.argsort(-sizes)[:3]
    assert _widths(ax) == sizes[order].tolist()
    assert _names(ax) == [EXPLANATION.feature_names[j] for j in order]
    assert ax.get_xlabel() == "mean |Shapley value| (marginal)"
    assert ax.get_title() == "30 rows\n2 smaller features are not shown"
    assert not any(text.get_text().startswith("+") for text in ax.texts)


@pytest.mark.parametrize("max_features", [2, 5])
def test_a_waterfall_leads_from_the_base_value_to_the_output(max_features):
    row = EXPLANATION[3]
    ax = row.plot(kind="waterfall", max_features=max_features)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert bars[-1][0] == pytest.approx(row.base_values, abs=1e-15)
    assert bars[0][1] == pytest.approx(MODEL.predict(TABLE[3:4])[0], abs=1e-12)
    for (start, _), (_, end) in pairwise(bars):
        assert start == pytest.approx(end, abs=1e-15)
    np.testing.assert_allclose(_widths(row.plot(max_features=max_features)), _widths(ax))
    assert ax.get_xlabel() == "base value + Shapley values (marginal)"


def test_a_scatter_has_the_values_of_a_feature_over_its_data():
    part = EXPLANATION[:, "c"]
    ax = part.plot(kind="scatter")
    offsets = ax.collections[0].get_offsets()
    np.testing.assert_array_equal(offsets, np.column_stack([X[:, 2], part.values]))
    assert ax.get_xlabel() == "c"
    assert ax.get_ylabel() == "Shapley value (marginal)"
    with pytest.raises(
        ValueError, match=r"kind='scatter' draws one feature; there are 5.*\[:, '[a-e]'\]\.pl"
    ):
        EXPLANATION.plot(kind="scatter")


def test_categories_and_dates_have_their_places():
    words = np.array([["red"], ["blue"], ["red"]], dtype=object)
    ax = pkex.Explanation([[1.0], [2.0], [3.0]], np.zeros(3), words, ["colour"]).plot(
        kind="scatter"
    )
    np.testing.assert_array_equal(ax.collections[0].get_offsets()[:, 0], [1, 0, 1])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["blue", "red"]
    days = np.array([["2026-01-01"], ["2026-01-03"]], dtype="datetime64[D]")
    ax = pkex.Explanation([[1.0], [2.0]], np.zeros(2), days, ["day"]).plot(kind="scatter")
    assert np.ptp(ax.collections[0].get_offsets()[:, 0]) == 2.0


def test_values_that_cannot_be_told_from_0_are_pale_in_a_scatter():
    process = GaussianProcessRegressor(alpha=0.5).fit(TABLE, X[:, 2])
    part = pkex.Explainer(process)(TABLE, uncertainty=True)[:, "a"]
    alphas = part.plot(kind="scatter").collections[0].get_alpha()
    is_pale = np.abs(part.values) <= 1.959964 * part.standard_deviations
    np.testing.assert_array_equal(np.asarray(alphas) < 1.0, is_pale)


@pytest.mark.parametrize(
    ("result", "kind", "message"),
    [
        (EXPLANATION, "waterfall", r"draws one row; .*explanation\[0\]"),
        (EXPLANATION[0], "beeswarm", "several rows"),
        (EXPLANATION, "heatmap", "kind must be one of 'beeswarm', .*; got 'heatmap'"),
        (EXPLANATION, "waterfal", "Did you mean 'waterfall'"),
        (INTERACTIONS, "waterfall", "one of 'heatmap', 'bar'; got 'waterfall'"),
        (EXPLAINER.interactions(TABLE, order=1), "heatmap", "pairs of three features or more"),
        (pkex.mmd(X, X + 1.0), "heatmap", "'bar'; got 'heatmap'"),
    ],
)
def test_a_picture_that_there_is_not_is_refused(result, kind, message):
    with pytest.raises(ValueError, match=message):
        result.plot(kind=kind)


def test_the_heat_map_of_interactions_has_the_size_of_each_pair():
    ax = INTERACTIONS.plot()
    names = _names(ax)
    assert sorted(names) == list("abcde")
    shown = ax.images[0].get_array()
    sizes = dict(zip(INTERACTIONS.coalitions, INTERACTIONS.importance(), strict=True))
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            pair = tuple(sorted("abcde".index(name) for name in (one, other)))
            assert shown[i, j] is np.ma.masked if i == j else shown[i, j] == sizes[pair]
    assert ax.get_xlabel() == "mean |coefficient| (k-SII)"
    assert len(_names(INTERACTIONS.plot(max_features=3))) == 3


def test_bars_of_interactions_are_the_strongest_coalitions():
    row = INTERACTIONS[4]
    ax = row.plot(kind="bar", max_features=4)
    pairs = dict(zip(row.coalition_names[5:], row.values[0, 5:], strict=True))
    strongest = sorted(pairs, key=lambda name: -abs(pairs[name]))[:4]
    assert _names(ax) == strongest
    assert _widths(ax) == [pairs[name] for name in strongest]
    assert ax.get_title() == "1 row: the strongest pairs\n6 smaller pairs are not shown"
    with pytest.raises(ValueError, match="no rows to draw"):
        INTERACTIONS[:0].plot()


def test_one_of_several_outputs_is_chosen_by_number_or_name():
    both = pkex.Explainer(
        pkex.KernelExpansion(X[:9], np.column_stack([X[:9, 0], X[:9, 1]]), pkex.kernels.RBF())
    )
    explanation, interactions = both(X), both.interactions(X)
    assert _widths(explanation.plot(output="y1", kind="bar")) == _widths(
        explanation[..., 1].plot(kind="bar")
    )
    drawn = interactions.plot(output=1).images[0].get_array()
    np.testing.assert_array_equal(drawn, interactions.output("y1").plot().images[0].get_array())
    for result in (explanation, interactions):
        with pytest.raises(ValueError, match=r"plot\(output=name\), among \['y0', 'y1'\]"):
            result.plot()
    with pytest.raises(ValueError, match="there is a single output"):
        EXPLANATION.plot(output=0)
    with pytest.raises(ValueError, match="MMDResult does not support output"):
        pkex.mmd(X, X + 1.0).plot(output=0)
