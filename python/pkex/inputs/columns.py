"""The columns of tables: their labels, the names that are compared, and how they may differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from pkex.inputs.wording import shown

__all__ = [
    "check_column_names",
    "check_same_columns",
    "column_labels",
    "column_names",
    "is_frame",
    "numbered",
    "own_labels",
    "row_index",
]


def column_labels(data: Any) -> tuple[str, ...] | None:
    """Return what the columns of a DataFrame are called, None for other tables."""
    if isinstance(data, np.ndarray) or not is_frame(data):
        return None
    return tuple(map(str, data.columns))


def column_names(data: Any, name: str) -> tuple[str, ...] | None:
    """Return the names of columns that are compared with others, None if there are none.

    As in scikit-learn, these are strings: numbers or tuples label columns, and are not compared.

    Raises
    ------
    TypeError
        If some are strings and some are not.
    """
    labels = column_labels(data)
    if labels is None:
        return None
    is_name = [isinstance(label, str) for label in data.columns]
    if any(is_name) and not all(is_name):
        other = data.columns[is_name.index(False)]
        raise TypeError(
            f"the columns of {name} are named by strings and by others, such as {other!r} "
            f"({type(other).__name__}); name all of them by strings: "
            f"{name}.columns = {name}.columns.astype(str)"
        )
    return labels if all(is_name) else None


def own_labels(data: Any, name: str) -> tuple[Any, ...] | None:
    """Return the labels of a DataFrame's columns, all of them strings or none; else None."""
    column_names(data, name)  # strings and others together are refused
    return None if column_labels(data) is None else tuple(data.columns)


def numbered(n_columns: int) -> tuple[str, ...]:
    """Return the names of columns that have none: x0, x1, …, as in scikit-learn."""
    return tuple(f"x{j}" for j in range(n_columns))


def row_index(data: Any) -> Any:
    """Return the index of a pandas DataFrame, None for other tables."""
    return data.index.copy() if is_frame(data) and hasattr(data, "iloc") else None


def check_column_names(
    got: Sequence[str], expected: Sequence[str], name: str, expected_by: str
) -> None:
    """Refuse columns that are not the expected ones in the expected order."""
    if tuple(got) == tuple(expected):
        return
    missing = list((Counter(expected) - Counter(got)).elements())
    extra = list((Counter(got) - Counter(expected)).elements())
    if missing or extra:
        problems = [
            f"{kind} {shown(columns)}"
            for kind, columns in (("missing", missing), ("not expected", extra))
            if columns
        ]
        if len(got) != len(expected):
            problems.append(f"expected {len(expected)} columns, got {len(got)}")
        raise ValueError(
            f"the columns of {name} do not match those of {expected_by}: {'; '.join(problems)}"
        )
    first = next(place for place, column in enumerate(got) if column != expected[place])
    raise ValueError(
        f"the columns of {name} are in another order than those of {expected_by}: column {first} "
        f"is {got[first]!r}, expected {expected[first]!r}; the order expected is {shown(expected)}"
    )


def check_same_columns(
    data: Any, expected: tuple[Any, ...] | None, name: str, expected_by: str
) -> None:
    """Refuse a DataFrame whose columns are labelled otherwise than those of another DataFrame.

    Names are compared with names, and numbers or tuples with such.
    """
    found = own_labels(data, name)
    if not found or not expected:
        return
    if isinstance(found[0], str) == isinstance(expected[0], str):
        check_column_names(found, expected, name, expected_by)


def is_frame(data: Any) -> bool:
    """Say whether data is a DataFrame, of pandas or polars."""
    return hasattr(data, "to_numpy") and hasattr(data, "columns")
