"""Two tables that are compared: the same columns, with the same types of values."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from pkex.cli.column_types import type_of
from pkex.cli.errors import CommandError
from pkex.cli.tables import FileTable
from pkex.errors import warn
from pkex.inputs.wording import shown

if TYPE_CHECKING:
    import pandas as pd


def match_columns(first: FileTable, second: FileTable) -> tuple[FileTable, FileTable]:
    """Return two tables with the columns of the first, which have the same type in both.

    A column whose values are all missing in one table has its type in the other. A warning names
    categories that are numbers in different notations.

    Raises
    ------
    CommandError
        If a table lacks a column of the other, or a column has different types.
    """
    _check_columns(first, second)
    frames = first.frame.copy(deep=False), second.frame[list(first.frame.columns)].copy(deep=False)
    for column in first.frame.columns:
        one, other = frames[0][column], frames[1][column]
        types = type_of(one), type_of(other)
        if types[0] != types[1]:
            if other.isna().all():
                frames[1][column] = _missing_like(one, other)
            elif one.isna().all():
                frames[0][column] = _missing_like(other, one)
            else:
                raise CommandError(
                    f"column {column!r} contains {types[0]} in {first.name} and {types[1]} in "
                    f"{second.name}. If they are categories in both, pass --categorical {column}"
                )
        elif types[0] == "categories":
            _warn_of_notations(column, one, other, (first.name, second.name))
    return replace(first, frame=frames[0]), replace(second, frame=frames[1])


def _check_columns(first: FileTable, second: FileTable) -> None:
    for one, other in ((first, second), (second, first)):
        columns = [column for column in one.frame.columns if column not in other.frame.columns]
        if columns:
            close = get_close_matches(columns[0], other.frame.columns, 1)
            raise CommandError(
                f"{other.name} has no column {columns[0]!r}, which {one.name} has"
                + (f" (nor {shown(columns[1:])})" if len(columns) > 1 else "")
                + (f". Did you mean {close[0]!r}? Rename it, or choose" if close else ". Choose")
                + " columns that both have by --columns"
            )


def _missing_like(typed_column: pd.Series, empty_column: pd.Series) -> pd.Series:
    """Return a column of missing values, of the type of a known column."""
    import pandas as pd

    column_type = type_of(typed_column)
    dtype = np.dtype(float if column_type == "numbers" else "O")
    if column_type == "dates":
        dtype = typed_column.dtype
    return pd.Series([None] * len(empty_column), empty_column.index, dtype)


def _warn_of_notations(
    column: str, one: pd.Series, other: pd.Series, names: tuple[str, str]
) -> None:
    """Warn if the files have no category in common: they may write the same ones differently."""
    import pandas as pd

    levels = [pd.Series(categories.dropna().unique()).astype(str) for categories in (one, other)]
    if set(levels[0]) & set(levels[1]):
        return
    texts: list[dict[float, str]] = []
    for categories in levels:
        numbers = pd.to_numeric(categories, errors="coerce")
        texts.append({n: text for n, text in zip(numbers, categories, strict=True) if n == n})
    common_numbers = sorted(texts[0].keys() & texts[1].keys())
    if common_numbers:
        number = common_numbers[0]
        warn(
            f"the categories of column {column!r} are numbers that {names[0]} and {names[1]} write "
            f"in different notations, such as {texts[0][number]!r} and {texts[1][number]!r}, so "
            "all categories differ"
        )
    elif all(map(len, levels)):
        warn(
            f"no category of column {column!r} is in both files, so all differ: {names[0]} has "
            f"{shown(levels[0].tolist(), 3)}, {names[1]} has {shown(levels[1].tolist(), 3)}. If "
            "they mean the same, write them in the same way"
        )
