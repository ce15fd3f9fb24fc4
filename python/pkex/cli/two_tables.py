"""Two tables that are compared: with the same columns, of the same kinds."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from pkex.cli.column_types import kind_of
from pkex.cli.errors import Failure
from pkex.cli.tables import Sheet
from pkex.errors import warn
from pkex.inputs.wording import shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["alike"]


def alike(first: Sheet, second: Sheet) -> tuple[Sheet, Sheet]:
    """Return two tables with the columns of the first, of one kind in both.

    A column that is all missing in one has the kind that it has in the other. Labels that are the
    same numbers, written in two ways, are warned of.

    Raises
    ------
    Failure
        If one has columns that the other has not, or entries are numbers in one and not in the
        other.
    """
    _check_columns(first, second)
    frames = first.frame.copy(deep=False), second.frame[list(first.frame.columns)].copy(deep=False)
    for column in first.frame.columns:
        one, other = frames[0][column], frames[1][column]
        kinds = kind_of(one), kind_of(other)
        if kinds[0] != kinds[1]:
            if other.isna().all():
                frames[1][column] = _missing_like(one, other)
            elif one.isna().all():
                frames[0][column] = _missing_like(other, one)
            else:
                raise Failure(
                    f"column {column!r} holds {kinds[0]} in {first.name} and {kinds[1]} in "
                    f"{second.name}; if they are labels in both: --categorical {column}"
                )
        elif kinds[0] == "labels":
            _warn_of_ways(column, one, other, (first.name, second.name))
    return replace(first, frame=frames[0]), replace(second, frame=frames[1])


def _check_columns(first: Sheet, second: Sheet) -> None:
    for one, other in ((first, second), (second, first)):
        lacking = [column for column in one.frame.columns if column not in other.frame.columns]
        if lacking:
            near = get_close_matches(lacking[0], other.frame.columns, 1)
            raise Failure(
                f"{other.name} has no column {lacking[0]!r}, which {one.name} has"
                + (f", but {near[0]!r}" if near else "")
                + (f" (nor {shown(lacking[1:])})" if len(lacking) > 1 else "")
                + "; choose those to compare by --columns"
            )


def _missing_like(known: pd.Series, missing: pd.Series) -> pd.Series:
    """Return entries that are all missing, of the kind that others are."""
    import pandas as pd

    kind = kind_of(known)
    dtype = known.dtype if kind == "dates" else np.dtype(float if kind == "numbers" else object)
    return pd.Series([None] * len(missing), missing.index, dtype)


def _warn_of_ways(column: str, one: pd.Series, other: pd.Series, names: tuple[str, str]) -> None:
    """Warn if no label of one file is in the other: they may be written in two ways."""
    import pandas as pd

    levels = [pd.Series(own.dropna().unique()).astype(str) for own in (one, other)]
    if set(levels[0]) & set(levels[1]):
        return
    ways: list[dict[float, str]] = []
    for own in levels:
        numbers = pd.to_numeric(own, errors="coerce")
        ways.append({n: text for n, text in zip(numbers, own, strict=True) if n == n})
    both = sorted(ways[0].keys() & ways[1].keys())
    if both:
        warn(
            f"the labels of column {column!r} are numbers that {names[0]} and {names[1]} write in "
            f"two ways, such as {ways[0][both[0]]!r} and {ways[1][both[0]]!r}: no label is in both "
            "files, so that all differ"
        )
    elif all(map(len, levels)):
        warn(
            f"no label of column {column!r} is in both files, so that all differ: {names[0]} has "
            f"{shown(levels[0].tolist(), 3)}, {names[1]} has {shown(levels[1].tolist(), 3)}; write "
            "them in one way if they mean the same"
        )
