"""Summaries of results: what `print` shows, and notebooks show as HTML."""

from __future__ import annotations

import numpy as np
import pytest
from pages import LOADING, Page

import pkex

NAMES = ["<b>age</b>", "a & b", "pulse"]
VALUES = np.array([[3.0, -1.0, 0.1234567], [1.0, -4.0, 0.0]])
EXPLANATION = pkex.Explanation(VALUES, np.full(2, 10.0), np.full((2, 3), 36.6), NAMES)


def _results():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 12))
    f = pkex.KernelExpansion(X[:4], [1.0, -1.0, 2.0, 0.5], pkex.kernels.RBF(3.0))
    drift = pkex.MMDDrift(X, n_permutations=99, alpha=0.5, random_state=0)
    explainer = pkex.Explainer(f)
    return [
        explainer(X),
        explainer.interactions(X),
        pkex.mmd(X, Y, n_permutations=9, random_state=0),
        pkex.hsic(X, Y[:, 0]),
        drift.predict(Y),
        drift.timeline({f"<{t}>": Y[t : t + 6] for t in range(24)}),
        pkex.sensitivity(f, X),
    ]


RESULTS = _results()


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_notebooks_show_the_text_as_html(result):
    page = Page(result._repr_html_())
    assert {element["tag"] for element in page.elements}.isdisjoint({*LOADING, "style"})
    lines = [[cell for cell in line if cell] for line in page.cells()]
    texts = [line.split() for line in repr(result).splitlines()]
    for line in lines:
        assert " ".join(line).split() in texts
    assert len(page.all("svg")) == len(lines) - 1 in (8, 20)
    for text in page.text("p"):
        assert text in repr(result).splitlines()


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_table_has_as_many_lines_as_asked_for(result):
    most = {"Interactions": 66, "DriftTimeline": 24}.get(type(result).__name__, 12)
    head, names = result.to_text(1000).splitlines()[0], result.to_text(2)
    assert head == repr(result).splitlines()[0]
    assert result.to_text() == repr(result)
    n_others = len(result.to_text(most).splitlines()) - most
    # With the line that says how many are left out.
    assert len(names.splitlines()) == n_others + 2 + 1
    assert result.to_text(1000) == result.to_text(most) != result.to_text(most - 1)


@pytest.mark.parametrize(("wrong", "error"), [(0, ValueError), (1.5, TypeError)])
def test_the_number_of_lines_is_a_positive_integer(wrong, error):
    with pytest.raises(error, match=f"max_lines must be a positive integer.*{wrong}"):
        EXPLANATION.to_text(wrong)


def test_names_are_escaped_and_bars_have_the_color_of_their_sign():
    page = Page(EXPLANATION[0]._repr_html_())
    assert [line[0] for line in page.cells()] == ["feature", "<b>age</b>", "a & b", "pulse"]
    colors = [bar["attributes"]["fill"] for bar in page.all("rect")]
    assert colors[0] == colors[2] != colors[1]
    widths = [float(bar["attributes"]["width"].rstrip("%")) for bar in page.all("rect")]
    np.testing.assert_allclose(widths[:2], 98.0 * np.array([0.75, 0.25]), atol=0.01)


def test_several_outputs_have_columns_without_bars():
    outputs = pkex.Explanation(
        np.stack([VALUES, 2.0 * VALUES], axis=2), np.zeros((2, 2)), np.zeros((2, 3)), NAMES,
        ["a", "b"],
    )  # fmt: skip
    page = Page(outputs._repr_html_())
    assert page.cells()[0] == ["mean |value| of", "a", "b"]
    assert not page.all("svg")


def test_the_data_of_a_group_are_cut_between_numbers():
    data = np.array([[", ".join(["0", "0", "1.23457", *["0"] * 5, "0.287132", "0"])]], dtype=object)
    group = pkex.Explanation([[1.0]], [0.0], data, ["group"])
    assert group[0].to_text().splitlines()[-1].endswith("  0, 0, 1.23457, …, 0")
