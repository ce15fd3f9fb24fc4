"""Errors and warnings about input: their fields, and their text in every vocabulary."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import pkex
from pkex.cli.vocabulary import CommandVocabulary
from pkex.errors import (
    HERE,
    Argument,
    InputError,
    InputTypeError,
    InputWarning,
    Option,
    subject,
    text_of,
    warn,
)
from pkex.integrations.arguments import LibraryVocabulary, raise_together

ADVICE = InputError(
    "X",
    ("has a missing value", HERE, ", unlike ", Argument("background")),
    [
        "fill it",
        ("give ", Option("missing", "indicator")),
        ("give ", Option("kernel", python="kernel=RBF(1.0)")),
    ],
    row=3,
    column="age",
    kind="missing",
)
PYTHON = (
    "X has a missing value in row 3, column 'age', unlike background. Fill it, or give "
    "missing='indicator', or give kernel=RBF(1.0)"
)


def test_a_fix_begins_with_a_capital_letter():
    assert str(InputError("X", "is wrong", "remove, clip or shift it")) == (
        "X is wrong. Remove, clip or shift it"
    )


def test_one_error_has_the_words_of_python_of_commands_and_of_other_libraries():
    assert str(ADVICE) == PYTHON
    commands = CommandVocabulary({"X": "a.csv", "background": "b.csv"})
    assert text_of(ADVICE, commands) == (
        "a.csv has a missing value in row 3, column 'age', unlike b.csv. Fill it, or give "
        "--missing indicator"
    )
    library = LibraryVocabulary({"background": "masker", "missing": "gaps"})
    expected = PYTHON.replace("background", "masker").replace("missing='", "gaps='")
    assert text_of(ADVICE, library) == expected


@pytest.mark.parametrize(
    ("option", "python", "command"),
    [
        (Option("categorical", ["a", "b"]), "categorical=['a', 'b']", "--categorical a,b"),
        (Option("n_landmarks", 300), "n_landmarks=300", "--landmarks 300"),
        (Option("leave_one_out", True), "leave_one_out=True", "--leave-one-out"),
        (
            Option("exclude", "a", python="drop column 'a'", verb="pass"),
            "drop column 'a'",
            "pass --exclude a",
        ),
        (Option("groups", python="groups={...}"), "groups={...}", None),
    ],
)
def test_options_are_keywords_or_options_of_commands(option, python, command):
    assert str(option) == python
    assert CommandVocabulary({}).option(option) == command


@pytest.mark.parametrize("kind", [InputError, InputTypeError, InputWarning])
def test_errors_and_warnings_come_whole_out_of_pickles_and_copies(kind):
    given = ADVICE.args
    for found in (pickle.loads(pickle.dumps(kind(*given))), copy.copy(kind(*given))):
        assert type(found) is kind
        assert (found.argument, found.row, found.column, found.kind) == ("X", 3, "age", "missing")
        assert str(found) == PYTHON


def test_types_are_those_that_users_catch():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(InputWarning, UserWarning)


def test_fields_say_where_a_value_is():
    rows = pd.DataFrame({"age": [1.0, 2.0], "bmi": [0.0, np.nan]})
    with pytest.raises(InputError) as error:
        pkex.mmd(rows, rows)
    found = error.value
    assert (found.argument, found.row, found.column, found.kind) == ("X", 1, "bmi", "missing")
    with pytest.raises(InputTypeError) as error:
        pkex.mmd(rows.to_numpy().astype(str), rows)
    assert (error.value.argument, error.value.kind) == ("X", "text")


def test_warnings_say_what_they_are_about():
    with subject("batch 3: "), pytest.warns(InputWarning) as caught:
        warn(InputWarning("X", "is constant", column="age"))
    found = caught[0].message
    assert str(found) == "batch 3: column 'age' of X is constant"
    assert (found.argument, found.column) == ("X", "age")
    with pytest.warns(InputWarning, match="^all is well$"):
        warn("all is well")


def test_unsupported_models_are_worded_too():
    error = pkex.UnsupportedModelError(("take ", Option("target", "variance")))
    assert str(error) == "take target='variance'"
    assert text_of(error, CommandVocabulary({})) == "take --target variance"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_several_problems_are_one_error_that_keeps_them():
    problems = [InputTypeError("a", "is wrong"), ValueError("b is wrong")]
    with pytest.raises(InputTypeError) as error:
        raise_together(problems)
    assert str(error.value) == "2 problems:\n- a is wrong\n- b is wrong"
    with pytest.raises(InputTypeError, match=r"^3 problems") as more:
        raise_together([error.value, ValueError("c is wrong")])
    assert len(more.value.parts) == 3
