"""Warnings of columns that probably do not mean what their entries are compared as.

Numbers of rows, running numbers and ids differ between any two samples; codes are compared as if
their differences had a size; dates and numbers as text are compared as labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np

from pkex.errors import InputWarning, Option, warn
from pkex.tables.columns import drop
from pkex.tables.encode import Column
from pkex.typing import Float

__all__ = ["warn_of_doubtful_columns"]

# Fewer rows may count by chance; rows, and labels of a column, that are looked at.
_FEW, _MOST_ROWS, _MOST_LABELS = 10, 10_000, 1000
# With n independent draws among R integers none are equal with a probability of at most
# exp(-n(n-1)/(2R)); exp(-8) is 0.0003.
_EXPONENT = 8.0
_ID = re.compile(r"(?:^|[\W_])(?i:id|uuid|guid)$|[a-z]I[dD]$")
_CODE = re.compile(
    r"(?:^|[\W_])(?:code|zip|zipcode|postcode|category|class|status)$", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*|\d{1,4}([./])\d{1,2}\1\d{1,4}")
_NUMBER = re.compile(r"[+-]?\d+\.\d+")


def warn_of_doubtful_columns(
    rows: Float, columns: Sequence[Column], categorical: frozenset[int], what: str
) -> None:
    """Warn of counters, ids, codes that are numbers, and of dates and numbers that are texts.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Encoded rows, in the order of the table.
    columns : sequence of Column
    categorical : frozenset of int
        Columns that the caller said to be labels.
    what : str
        What messages call the rows.
    """
    for j, column in enumerate(columns):
        warning = None
        if column.compared == "numbers":
            warning = _doubt_of_numbers(rows[:_MOST_ROWS, j], column.name, what)
        elif column.type == "text" and j not in categorical:
            warning = _doubt_of_texts(column, what)
        if warning is not None:
            warn(warning)


def _doubt_of_numbers(entries: Float, name: str, argument: str) -> InputWarning | None:
    n = len(entries)
    if n < _FEW or not (entries == np.rint(entries)).all():
        return None
    doubt = partial(InputWarning, argument, column=name, kind="integers")
    if (np.diff(entries) == 1.0).all():
        return doubt("goes up by 1 from row to row", ("if it counts the rows, ", drop(name)))
    distinct = len(np.unique(entries))
    span = float(entries.max() - entries.min()) + 1.0
    is_running = n * (n - 1.0) >= 2.0 * _EXPONENT * span
    if distinct == n and (is_running or _ID.search(name)):
        return doubt(
            "holds integers that are all different, as running numbers and ids are",
            ("if it does not measure anything, ", drop(name)),
        )
    if 2 < distinct < n and _CODE.search(name):
        return doubt(
            "holds integers, which are compared as numbers",
            ("if they are codes, give ", Option("categorical", [name])),
        )
    return None


def _doubt_of_texts(column: Column, argument: str) -> InputWarning | None:
    texts = [level for level in (column.levels or ())[:_MOST_LABELS] if isinstance(level, str)]
    for look, meaning, remedy in (
        (_DATE, "dates", "convert them, for example with pandas.to_datetime"),
        (_NUMBER, "numbers", "convert them, for example with pandas.to_numeric"),
    ):
        alike = [text for text in texts if look.fullmatch(text)]
        if 2 * len(alike) > len(texts):
            return InputWarning(
                argument,
                f"holds texts such as {alike[0]!r}, which are compared as labels",
                f"if they are {meaning}, {remedy}",
                column=column.name,
                kind="texts",
            )
    return None
