"""What an explanation says of itself: its sizes, its game, and a small table."""

from __future__ import annotations

import numpy as np
import pytest

import pkex
from pkex.results.tables import number

VALUES = np.array([[3.0, -1.0, 0.1234567], [1.0, -4.0, 0.0]])
NAMES = ["age", "bmi", "pulse"]


def _explanation(values=VALUES, names=NAMES, **options) -> pkex.Explanation:
    values = np.asarray(values)
    base = np.full((len(values), *values.shape[2:]), 10.0)
    data = np.full(values.shape[:2], 36.6)
    return pkex.Explanation(values, base, data, names, **options)


def _heads(explanation: pkex.Explanation) -> str:
    return repr(explanation).splitlines()[0]


def test_a_table_of_rows_has_the_importance_largest_first():
    assert repr(_explanation(value_function="marginal")).splitlines() == [
        "Explanation(2 rows × 3 features, marginal, base value 10)",
        "feature  mean |value|",
        "bmi            2.5000",
        "age            2.0000",
        "pulse          0.0617",
    ]


def test_a_table_of_neutral_values_has_what_varies_and_says_so():
    lines = repr(_explanation(value_function="neutral")).splitlines()
    assert lines[0].endswith("neutral, base value 10)")
    assert lines[1:3] == ["feature  mean |value − its mean|", "bmi                       1.5000"]


def test_a_table_of_a_row_has_values_and_data():
    row = [
        "feature    value  data",
        "age       3.0000  36.6",
        "bmi      -1.0000  36.6",
        "pulse     0.1235  36.6",
    ]
    assert repr(_explanation()[0]).splitlines() == ["Explanation(3 features, base value 10)", *row]
    assert repr(_explanation()[:1]).splitlines()[1:] == row
    assert repr(_explanation()[0, "bmi"]).splitlines()[1:] == [
        "feature  value  data",
        "bmi         -1  36.6",
    ]


def test_a_table_of_outputs_has_a_column_for_each():
    values = np.stack([VALUES, 2.0 * VALUES], axis=2)
    outputs = _explanation(values, output_names=["a vs b", "a vs c"])
    assert repr(outputs).splitlines() == [
        "Explanation(2 rows × 3 features × 2 outputs)",
        "mean |value| of  a vs b  a vs c",
        "bmi              2.5000  5.0000",
        "age              2.0000  4.0000",
        "pulse            0.0617  0.1235",
    ]
    assert repr(outputs[0]).splitlines()[1:3] == [
        "value of   a vs b   a vs c  data",
        "age        3.0000   6.0000  36.6",
    ]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.062507, -0.00043711], ["0.062507", "-0.000437"]),
        ([2.5, 1.25], ["2.50", "1.25"]),
        ([250000.4, -12.7], ["250000", "-13"]),
        ([1.0, -1e-9], ["1.0000", "0.0000"]),
        ([2.3731e-11, 1e-13], ["2.3731e-11", "1.0000e-13"]),
        ([1e12, 3.0], ["1.0000e+12", "3.0000e+00"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_the_numbers_of_a_column_have_as_many_decimals(values, texts):
    row = pkex.Explanation(values, 0.0, [1.0, 1.0], ["age", "bmi"])
    assert [line.split()[1] for line in repr(row).splitlines()[2:]] == texts


def test_what_is_left_out_of_a_table_is_counted():
    values = np.ones((2, 20, 6)) * np.arange(20)[:, None]
    many = _explanation(
        values, [f"x{j}" for j in range(20)], output_names=[f"y{k}" for k in range(6)]
    )
    lines = repr(many).splitlines()
    assert len(lines) == 11
    assert [line.split()[0] for line in lines[2:-1]] == [f"x{j}" for j in range(19, 11, -1)]
    assert lines[-1] == "(12 smaller features and 2 more outputs not shown)"
    assert repr(many[..., 0]).splitlines()[-1] == "(12 smaller features not shown)"


def test_long_names_and_texts_keep_a_line_short():
    explanation = pkex.Explanation(
        [[1.0, 2.0]],
        [0.0],
        np.array([["a text\nof several lines, and long", None]], dtype=object),
        ["a name of very many words, none of which says much of what it is", "short"],
    )
    lines = repr(explanation).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) < 80
    assert lines[3].startswith("a name of very many …")
    assert lines[3].endswith("a text of … and long")
    assert lines[2].split() == ["short", "2", "None"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (123456.0, "123456"),
        (1234567.8, "1234568"),
        (2026, "2026"),
        (-250000, "-250000"),
        (2.5e12, "2.5e+12"),
        (1.2345678, "1.2346"),
        (1e-7, "1e-07"),
        (0.0, "0"),
        (np.float32(0.1), "0.1"),
        (np.nan, "nan"),
        (True, "True"),
        ("red", "red"),
    ],
)
def test_data_have_five_digits_and_large_numbers_are_written_out(value, text):
    row = pkex.Explanation([1.0], 0.0, np.array([value], dtype=object), ["age"])
    assert repr(row).splitlines()[-1].split() == ["age", "1", text]


@pytest.mark.parametrize(
    ("index", "head"),
    [
        (..., "Explanation(2 rows × 3 features, base value 10)"),
        (0, "Explanation(3 features, base value 10)"),
        ((slice(None, 1), ["bmi"]), "Explanation(1 row × 1 feature, base value 10)"),
        ((slice(None), "bmi"), "Explanation(2 rows, feature 'bmi', base value 10)"),
    ],
)
def test_the_head_says_what_is_left_and_what_was_singled_out(index, head):
    assert _heads(_explanation()[index]) == head


def test_the_head_names_the_output_that_was_singled_out():
    outputs = _explanation(VALUES[..., None], output_names=["a vs b"])
    assert _heads(outputs) == "Explanation(2 rows × 3 features × 1 output)"
    assert _heads(outputs[..., 0]) == (
        "Explanation(2 rows × 3 features, output 'a vs b', base value 10)"
    )
    assert _heads(outputs[0, "bmi", 0]) == (
        "Explanation(feature 'bmi', output 'a vs b', base value 10)"
    )


def test_base_values_that_differ_are_not_in_the_head():
    explanation = pkex.Explanation(VALUES, [1.0, 2.0], VALUES, NAMES)
    assert _heads(explanation) == "Explanation(2 rows × 3 features)"


def test_an_empty_explanation_has_no_table():
    assert repr(_explanation()[[]]) == "Explanation(0 rows × 3 features)"
    assert repr(_explanation()[:, []]) == "Explanation(2 rows × 0 features, base value 10)"


def test_the_explainer_tells_its_game():
    model = pkex.KernelExpansion(np.eye(3), np.ones(3), pkex.kernels.RBF())
    for game in ("neutral", "interventional", "marginal"):
        background = None if game == "neutral" else np.eye(3)
        explanation = pkex.Explainer(model, background, value_function=game)(np.eye(3))
        assert explanation.value_function == game
        assert f", {game}, " in _heads(explanation)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (99999.4, "99999"),
        (99999.9, "100000"),
        (-99999.5, "-100000"),
        (123456.7, "123457"),
        (9999999999.4, "9999999999"),
        (9999999999.9, "1e+10"),
        (0.000123456, "0.00012346"),
    ],
)
def test_up_to_ten_digits_before_the_point_are_written_out(value, shown):
    assert number(value) == shown


def test_durations_are_printed():
    data = np.array([[5, "NaT"]], dtype="timedelta64[ms]")
    text = repr(pkex.Explanation([[1.0, 0.5]], [0.0], data, ["a", "b"]))
    assert "5 milliseconds" in text
    assert "NaT" in text
