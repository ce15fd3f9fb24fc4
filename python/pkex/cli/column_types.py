"""What the entries of a column are: numbers, dates or labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Kind",
    "as_dates",
    "counts_rows",
    "hidden_by_rounding",
    "kind_of",
    "like_numbers",
    "not_like_most",
]

Kind = Literal["numbers", "dates", "labels"]

_DATE = re.compile(r"\d{4}-\d\d-\d\d")

# Texts that pandas does not read as numbers or dates, and what may have been meant.
_LOOKS = {
    r"[+-]?\d+,\d+": "if these are numbers with a decimal comma, say so: --decimal ,",
    r"[+-]?\d{1,3}([., ']\d{3})+([.,]\d+)?": "if these are numbers, write them such as 1234.5",
    r"\d{1,4}([./])\d{1,2}\1\d{1,4}": "if these are dates, write them such as 2026-03-01",
}
# Entries that are looked at.
_MOST = 1000
# Fewer entries may go up by 1 for other reasons.
_FEW = 10


def kind_of(column: pd.Series) -> Kind:
    """Return what the entries of a column are, by its type."""
    from pandas.api import types

    dtype = column.dtype
    if types.is_datetime64_any_dtype(dtype):
        return "dates"
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype):
        return "numbers"
    # Integers that are too large for 64 bits.
    if types.is_object_dtype(dtype) and types.infer_dtype(column, skipna=True) == "integer":
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


def not_like_most(column: pd.Series, decimal: str = ".") -> tuple[Kind, NDArray[np.bool_]] | None:
    """Return which texts are no numbers, or no dates, where most of the texts are; else None."""
    import pandas as pd

    as_kinds: dict[Kind, pd.Series] = {
        "numbers": pd.to_numeric(
            column if decimal == "." else column.astype("string").str.replace(decimal, "."),
            errors="coerce",
        ),
        "dates": as_dates(column),
    }
    for kind, converted in as_kinds.items():
        is_wrong: NDArray[np.bool_] = (converted.isna() & column.notna()).to_numpy()
        if is_wrong.any() and _are_most(converted, column):
            return kind, is_wrong
    return None


def like_numbers(column: pd.Series) -> tuple[str, str] | None:
    """Return a text, and what it may be, if most texts look like numbers or dates; else None."""
    texts = column.dropna().iloc[:_MOST].astype(str).str.strip()
    for look, what in _LOOKS.items():
        is_like = texts.str.fullmatch(look)
        if 2 * is_like.sum() > len(texts):
            return texts[is_like].iloc[0], what
    return None


def counts_rows(column: pd.Series) -> bool:
    """Return whether each number is that of the row before, plus 1."""
    if kind_of(column) != "numbers" or len(column) < _FEW:
        return False
    return bool((column.diff().iloc[1:] == 1).all())


def hidden_by_rounding(column: pd.Series) -> NDArray[np.bool_]:
    """Return which integers differ from the first, where as numbers all are equal."""
    from pandas.api import types

    nothing = np.zeros(len(column), dtype=np.bool_)
    known = column.dropna()
    if types.infer_dtype(column, skipna=True) != "integer" or not len(known):
        return nothing
    if float(known.min()) != float(known.max()):
        return nothing
    differs: NDArray[np.bool_] = (column != known.iloc[0]).fillna(False).to_numpy(dtype=np.bool_)
    return differs


def _are_most(converted: pd.Series, column: pd.Series) -> bool:
    return bool(2 * converted.notna().sum() > column.notna().sum())
