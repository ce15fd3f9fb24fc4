"""Types of columns of tables from files: numbers, dates or categories."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

ColumnType = Literal["numbers", "dates", "categories"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

# Texts that pandas does not read as numbers or dates, and how to pass them.
_LIKE_NUMBERS = {
    r"[+-]?\d+,\d+": "If these are numbers with a decimal comma, pass --decimal ,",
    r"[+-]?\d{1,3}([., ']\d{3})+([.,]\d+)?": "If these are numbers, write them such as 1234.5",
    r"\d{1,4}([./])\d{1,2}\1\d{1,4}": "If these are dates, write them such as 2026-03-01",
}
# The largest number of values that are compared with these patterns.
_MAX_TEXTS = 1000
# Shorter columns may increase by 1 for other reasons than numbering rows.
_FEW = 10


def type_of(column: pd.Series) -> ColumnType:
    """Return the type of the values of a column, given its dtype."""
    from pandas.api import types

    dtype = column.dtype
    if types.is_datetime64_any_dtype(dtype):
        return "dates"
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return "numbers"
    # Integers that are too large for 64 bits.
    if types.is_object_dtype(dtype) and types.infer_dtype(column, skipna=True) == "integer":
        return "numbers"
    return "categories"


def as_dates(column: pd.Series) -> pd.Series:
    """Return texts as dates if most are dates such as 2026-03-01; other texts become missing.

    Times of day and offsets from UTC may follow.
    """
    import pandas as pd

    values = column.dropna()
    if not len(values) or not _DATE.match(str(values.iloc[0])):
        return column
    dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
    return dates.dt.tz_localize(None) if _are_most(dates, column) else column


def texts_among_most(
    column: pd.Series, decimal: str = "."
) -> tuple[ColumnType, NDArray[np.bool_]] | None:
    """Return which texts are not numbers, or not dates, if most texts are; otherwise None."""
    import pandas as pd

    values_by_type: dict[ColumnType, pd.Series] = {
        "numbers": pd.to_numeric(
            column if decimal == "." else column.astype("string").str.replace(decimal, "."),
            errors="coerce",
        ),
        "dates": as_dates(column),
    }
    for column_type, values in values_by_type.items():
        is_wrong: NDArray[np.bool_] = (values.isna() & column.notna()).to_numpy()
        if is_wrong.any() and _are_most(values, column):
            return column_type, is_wrong
    return None


def texts_like_numbers(column: pd.Series) -> tuple[str, str] | None:
    """Return a text and a hint if most texts look like numbers or dates; otherwise None."""
    texts = column.dropna().iloc[:_MAX_TEXTS].astype(str).str.strip()
    for pattern, hint in _LIKE_NUMBERS.items():
        is_like = texts.str.fullmatch(pattern)
        if 2 * is_like.sum() > len(texts):
            return texts[is_like].iloc[0], hint
    return None


def counts_rows(column: pd.Series) -> bool:
    """Return whether each number is the number of the row before, plus 1."""
    if type_of(column) != "numbers" or len(column) < _FEW:
        return False
    return bool((column.diff().iloc[1:] == 1).all())


def is_lost_by_rounding(column: pd.Series) -> NDArray[np.bool_]:
    """Return which integers differ from the first if all are equal as float64."""
    from pandas.api import types

    none_lost = np.zeros(len(column), dtype=np.bool_)
    values = column.dropna()
    if types.infer_dtype(column, skipna=True) != "integer" or not len(values):
        return none_lost
    if float(values.min()) != float(values.max()):
        return none_lost
    differs: NDArray[np.bool_] = (column != values.iloc[0]).fillna(False).to_numpy(dtype=np.bool_)
    return differs


def _are_most(values: pd.Series, column: pd.Series) -> bool:
    return bool(2 * values.notna().sum() > column.notna().sum())
