"""Samples and players, as users give them: checked, named and brought into the engine's form."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.options import shown
from pkex.validation import as_matrix, check_column_names, column_names

__all__ = [
    "Players",
    "as_players",
    "as_sample",
    "two_samples",
    "warn",
    "warn_of_constant_columns",
]

_Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Players:
    """Who the columns belong to.

    Parameters
    ----------
    names : tuple of str
        In the order of their first columns.
    of_column : ndarray of int64, shape (d,)
        The number of each column's player.
    """

    names: tuple[str, ...]
    of_column: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)


def as_sample(
    data: ArrayLike, name: str, *, names: Sequence[str] | None = None
) -> tuple[_Float, tuple[str, ...]]:
    """Return a table's rows and the names of its columns, x0, x1, … if it has none."""
    rows = as_matrix(data, name)
    found = column_names(data) or names
    return rows, tuple(found or (f"x{j}" for j in range(rows.shape[1])))


def two_samples(X: ArrayLike, Y: ArrayLike) -> tuple[_Float, _Float, tuple[str, ...]]:
    """Return two samples of the same columns, and the columns' names.

    Raises
    ------
    ValueError, TypeError
        If one is not a finite numeric table of at least two rows, or their columns differ.
    """
    of_x, of_y = column_names(X), column_names(Y)
    if of_x is not None and of_y is not None:
        check_column_names(of_y, of_x, "Y", "X")
    x, names = as_sample(X, "X", names=of_y)
    y = as_matrix(Y, "Y", n_columns=x.shape[1], names=names)
    for rows, name in ((x, "X"), (y, "Y")):
        check_row_count(rows, name, 2)
    return x, y, names


def check_row_count(rows: _Float, name: str, least: int, why: str = "") -> None:
    """Refuse a sample of too few rows."""
    if len(rows) < least:
        raise ValueError(
            f"{name} must have at least {least} rows{why}; got "
            f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
        )


def as_players(
    groups: Mapping[str, int | str | Iterable[int | str]] | None, names: Sequence[str]
) -> Players:
    """Return the players that `groups` makes of columns; a column in none is its own.

    Parameters
    ----------
    groups : dict of str to a column or columns, by name or number; or None
    names : sequence of str
        The names of the columns.
    """
    owner: dict[int, str] = {}
    for group, members in _items(groups):
        for column in _columns(group, members, names):
            if column in owner:
                raise ValueError(
                    f"groups: column {names[column]!r} is in both {owner[column]!r} and {group!r}"
                )
            owner[column] = group
    labels = [owner.get(column, name) for column, name in enumerate(names)]
    for column, name in enumerate(names):
        if column not in owner and name in owner.values():
            raise ValueError(
                f"groups: {name!r} is the name of a group, and of a column that is not in it"
            )
    if groups is None:
        return Players(tuple(names), np.arange(len(names), dtype=np.int64))
    players = tuple(dict.fromkeys(labels))
    number = {label: index for index, label in enumerate(players)}
    return Players(players, np.array([number[label] for label in labels], dtype=np.int64))


def _items(groups: object) -> Iterable[tuple[str, Any]]:
    if groups is None:
        return ()
    if not isinstance(groups, Mapping):
        raise TypeError(
            "groups must be a dict of names to columns, such as {'blood': ['s1', 's2']}; "
            f"got {groups!r} ({type(groups).__name__})"
        )
    for name in groups:
        if not isinstance(name, str):
            raise TypeError(f"groups: names must be strings; got {name!r}")
    return groups.items()


def _columns(group: str, members: Any, names: Sequence[str]) -> list[int]:
    single = isinstance(members, str) or not isinstance(members, Iterable)
    columns = [_column(group, member, names) for member in ([members] if single else members)]
    if not columns:
        raise ValueError(f"groups: {group!r} has no columns")
    if len(set(columns)) < len(columns):
        raise ValueError(f"groups: {group!r} has a column twice")
    return columns


def _column(group: str, member: object, names: Sequence[str]) -> int:
    if isinstance(member, str) and member in names:
        return list(names).index(member)
    is_number = isinstance(member, int | np.integer) and not isinstance(member, bool)
    if is_number and 0 <= member < len(names):  # type: ignore[operator]
        return int(member)  # type: ignore[call-overload, no-any-return]
    raise ValueError(
        f"groups: {group!r} has {member!r}, which is no column; choose by number from 0 to "
        f"{len(names) - 1} or by name from {shown(names)}"
    )


def warn_of_constant_columns(rows: _Float, names: Sequence[str], what: str) -> None:
    """Warn of columns in which all rows are equal: whatever the kernel, they play no part."""
    is_constant = (rows == rows[0]).all(axis=0)
    constant = [name for name, found in zip(names, is_constant, strict=True) if found]
    if constant:
        plural = len(constant) > 1
        warn(
            f"column{'s' if plural else ''} {shown(constant)} of {what} "
            f"{'are' if plural else 'is'} constant and contribute{'' if plural else 's'} nothing"
        )


def warn(message: str) -> None:
    """Warn, pointing at the line outside pkex that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pkex."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level)
