"""What the entries of a column are: numbers, dates or labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Kind", "as_dates", "kind_of", "not_like_most"]

Kind = Literal["numbers", "dates", "labels"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def kind_of(column: pd.Series) -> Kind:
    """Return what the entries of a column are, by its type."""
    from pandas.api import types

    dtype = column.dtype
    if types.is_datetime64_any_dtype(dtype):
        return "dates"
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return "numbers"
    return "labels"


def as_dates(column: pd.Series) -> pd.Series:
    """Return texts as dates if most of them are dates such as 2026-03-01; others are missing then.

    Times of day and offsets from UTC may follow.
    """
    import pandas as pd

    known = column.dropna()
    if not len(known) or not _DATE.match(str(known.iloc[0])):
        return column
    dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
    return dates.dt.tz_localize(None) if _are_most(dates, column) else column


def not_like_most(column: pd.Series) -> tuple[Kind, NDArray[np.bool_]] | None:
    """Return which texts are no numbers, or no dates, where most of the texts are; else None."""
    import pandas as pd

    as_kinds: dict[Kind, pd.Series] = {
        "numbers": pd.to_numeric(column, errors="coerce"),
        "dates": as_dates(column),
    }
    for kind, converted in as_kinds.items():
        is_wrong: NDArray[np.bool_] = (converted.isna() & column.notna()).to_numpy()
        if is_wrong.any() and _are_most(converted, column):
            return kind, is_wrong
    return None


def _are_most(converted: pd.Series, column: pd.Series) -> bool:
    return bool(2 * converted.notna().sum() > column.notna().sum())
