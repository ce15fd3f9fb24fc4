"""``to_html`` of explanations, of whatever slicing has left, and of interactions."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from pages import check_page

import pkex

RNG = np.random.default_rng(0)
FEATURES, OUTPUTS = ["age", "bmi", "pulse"], ["a vs b", "a vs c"]
DATA = RNG.normal(size=(12, 3))
ONE = pkex.Explanation(RNG.normal(size=(12, 3)), np.full(12, 0.5), DATA, FEATURES)
TWO = pkex.Explanation(
    RNG.normal(size=(12, 3, 2)), RNG.normal(size=(12, 2)), DATA, FEATURES, OUTPUTS
)


def _pictures(page):
    return [e["attributes"]["aria-label"] for e in page.all("svg") if "role" in e["attributes"]]


def test_an_explanation_writes_the_page_that_it_returns(tmp_path):
    text = ONE.to_html(tmp_path / "r.html", name="my model")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    assert page.text("h1") == ["Explanation of my model"]
    head, *lines = page.cells()
    order = np.argsort(-ONE.importance())
    assert head[:2] == ["feature", "mean |value|"]
    assert [line[0] for line in lines] == [FEATURES[j] for j in order]
    sizes = [float(line[1]) for line in lines]
    np.testing.assert_allclose(sizes, ONE.importance()[order], rtol=1e-3)
    # All features together, and each by itself.
    assert len(_pictures(page)) == 4
    assert ONE.to_html().partition("<h1>")[2].startswith("Explanation of the model&#x27;s output")


def test_of_several_outputs_each_has_its_tables():
    page = check_page(TWO.to_html())
    assert len(page.all("table")) == 4
    assert all(any(name in text for text in page.text("caption")) for name in OUTPUTS)


@pytest.mark.parametrize(
    ("part", "n_rows", "features"),
    [
        (ONE[3], 1, FEATURES),
        (ONE[:2, "bmi"], 2, ["bmi"]),
        (ONE[1, 0], 1, ["age"]),
        (TWO[5], 1, FEATURES),
        (TWO[:, :, 1], 12, FEATURES),
        (TWO[0, 2, 0], 1, ["pulse"]),
    ],
)
def test_what_slicing_leaves_has_a_report_as_well(part, n_rows, features):
    page = check_page(part.to_html())
    computed = dict(zip(page.text("dt"), page.text("dd"), strict=True))
    assert computed["Rows"] == str(n_rows)
    assert {line[0] for line in page.cells()[1:]} == set(features)
    _, *rows = page.cells(1)
    assert len(rows) == min(n_rows, 5)
    values, base = np.ravel(part.values), np.ravel(part.base_values)
    output = values[: len(features)].sum() + base[0]
    if part.output_names is None and n_rows == 1:
        np.testing.assert_allclose(float(rows[0][-1]), output, atol=1e-3)


def test_rows_have_the_labels_of_their_index_or_their_numbers():
    labels = [f"mol-{row}" for row in range(12)]
    labeled = pkex.Explanation(ONE.values, ONE.base_values, DATA, FEATURES, row_index=labels)
    for part, shown in ((labeled[7:9], labels[7:9]), (ONE[:2], ["0", "1"])):
        _, *rows = check_page(part.to_html()).cells(1)
        assert [row[0] for row in rows] == shown


def test_a_report_names_the_output_that_the_features_move():
    named = pkex.Explanation(
        ONE.values, ONE.base_values, DATA, FEATURES, output_name="standard deviation"
    )
    page = check_page(named.to_html())
    assert "the output 'standard deviation' is moved most by" in page.text("p")[0]
    assert page.text("caption")[0] == "How much each feature moves the output 'standard deviation'"
    both = check_page(TWO.to_html()).text("p")[0]
    assert "the output 'a vs b' is moved most by" in both
    assert "; 'a vs c' by " in both


def test_features_of_the_same_name_are_all_there():
    same = pkex.Explanation(ONE.values, ONE.base_values, DATA, ["age", "age", "age"])
    page = check_page(same.to_html())
    first_row = [float(cell) for cell in page.cells(1)[1][2:5]]
    assert sorted(first_row) == pytest.approx(sorted(ONE.values[0]), abs=1e-3)
    assert len(set(_pictures(page))) == 4


def test_without_rows_there_is_no_report():
    with pytest.raises(ValueError, match="there are no rows"):
        ONE[:0].to_html()


@pytest.mark.parametrize("game", ["marginal", "neutral"])
def test_of_a_single_row_the_values_are_shown_in_every_game(game):
    row = pkex.Explanation(ONE.values[:1], [0.5], DATA[:1], FEATURES, value_function=game)
    for part in (row, row[0]):
        page = check_page(part.to_html())
        assert page.text("p")[0].startswith("In this row, the output is moved most by ")
        lowest = int(np.argmin(ONE.values[0]))
        assert f"{FEATURES[lowest]} (−" in page.text("p")[0]
        head, *lines = page.cells()
        assert head == ["feature", "|value|", "value"]
        found = {name: float(value) for name, _, value in lines}
        assert found == pytest.approx(dict(zip(FEATURES, ONE.values[0], strict=True)), abs=1e-3)
        # There is nothing to see of how values go with the data.
        assert len(_pictures(page)) == 1


def test_values_of_few_rows_are_drawn_as_numbers():
    pictures = _pictures(check_page(ONE[:4].to_html()))
    assert len(pictures) == 4
    for number, picture in enumerate(pictures[1:]):
        name = FEATURES[np.argsort(-ONE[:4].importance())[number]]
        assert picture.startswith(f"value of {name} by {name}. ")
        assert "median" in picture
        assert "%" not in picture


def _interactions(order=2, n_rows=6, *, d=5, outputs=None, game="marginal"):
    """Return interactions with random coefficients, the last ones twice as large."""
    count = sum(comb(d, size) for size in range(1, order + 1))
    shape = (n_rows, count, *(() if outputs is None else (len(outputs),)))
    values = RNG.normal(size=shape)
    values[:, -1] *= 2.0
    return pkex.Interactions(
        values, np.zeros((n_rows, *shape[2:])), np.zeros(shape[2:]), np.zeros((n_rows, d)),
        [f"<{'abcdefgh'[j]}>" for j in range(d)], outputs, "k-SII", order, value_function=game,
    )  # fmt: skip


@pytest.mark.parametrize("game", ["marginal", "neutral"])
@pytest.mark.parametrize("n_rows", [1, 6])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_interactions_have_a_report_of_the_strongest_coalitions(tmp_path, order, n_rows, game):
    result = _interactions(order, n_rows, game=game)
    text = result.to_html(tmp_path / "r.html", name="my model")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    assert page.text("h1") == ["Interactions in my model"]
    start = 0 if order == 1 else 5
    sizes = np.abs(result.values[0]) if n_rows == 1 else result.importance()
    order_of_sizes = start + np.argsort(-sizes[start:], kind="stable")[:20]
    head, *lines = page.cells()
    assert head[0] == ["feature", "pair", "coalition"][order - 1]
    assert [line[0] for line in lines] == [result.coalition_names[k] for k in order_of_sizes]
    shown = [abs(float(line[1])) for line in lines]
    np.testing.assert_allclose(shown, sizes[order_of_sizes], atol=1e-4)
    assert result.coalition_names[order_of_sizes[0]] in page.text("p")[0]
    assert len(_pictures(page)) == len(page.all("table")) == min(order, 2)


def test_the_heat_map_has_the_color_of_each_pair():
    result = _interactions(n_rows=1)
    page = check_page(result.to_html())
    heat_map = page.all("svg")[2]
    cells = [e for e in page.all("rect") if heat_map in e["within"]]
    rows = [e["text"].rsplit(" ")[0] for e in page.all("text") if heat_map in e["within"]][5:]
    largest = np.abs(result.of_size(2)).max()
    heights = sorted({float(cell["attributes"]["y"]) for cell in cells})
    starts = sorted({float(cell["attributes"]["x"].rstrip("%")) for cell in cells})
    found = {
        (heights.index(float(own["y"])), starts.index(float(own["x"].rstrip("%")))): own
        for own in (cell["attributes"] for cell in cells)
        if own["class"] != "band"
    }
    for one, first in enumerate(rows):
        for other, second in enumerate(rows):
            value = 0.0 if one == other else float(result.of(first, second)[0])
            own = found.get((one, other), {"class": "", "fill-opacity": "0"})
            assert float(own["fill-opacity"]) == pytest.approx(abs(value) / largest, abs=0.01)
            assert own["class"] in (("above" if value > 0.0 else "below"), "")


def test_interactions_of_several_outputs_have_tables_for_each():
    result = _interactions(outputs=["A", "<B>"])
    page = check_page(result.to_html())
    alone = check_page(result.output("<B>").to_html())
    assert page.cells(2) == alone.cells(0)
    assert page.cells(3) == alone.cells(1)
    assert all(name in page.text("p")[0] for name in ("of A are", "of <B> are"))


def test_interactions_that_are_all_0_are_not_named():
    result = _interactions()
    zero = pkex.Interactions(
        0.0 * result.values, result.empty_values, 0.0, result.data, result.feature_names, None,
        "k-SII", 2,
    )  # fmt: skip
    verdict = check_page(zero.to_html()).text("p")[0]
    assert verdict == "On average over 6 rows, no pair has a coefficient other than 0."
    with pytest.raises(ValueError, match="there are no rows"):
        zero[:0].to_html()
