"""Players of the game: single columns, or groups of columns that are one feature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import shown

__all__ = ["Players", "as_players"]


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


def as_players(
    groups: Mapping[str, int | str | Iterable[int | str]] | None, names: Sequence[str]
) -> Players:
    """Return the players that `groups` makes of columns; a column in none is its own.

    Parameters
    ----------
    groups : dict of str to a column or columns, by name or number; or None
    names : sequence of str
        The names of the columns. Some may be equal; `groups` then has them by number.

    Raises
    ------
    ValueError
        If a group names no column, several of the same name, or one that another group has.
    TypeError
        If `groups` is no such dict.
    """
    owner: dict[int, str] = {}
    for group, members in _items(groups):
        for column in _columns(group, members, names):
            if column in owner:
                raise ValueError(
                    f"groups: column {names[column]!r} is in both {owner[column]!r} and {group!r}"
                )
            owner[column] = group
    for column, name in enumerate(names):
        if column not in owner and name in owner.values():
            raise ValueError(
                f"groups: {name!r} is the name of a group, and of a column that is not in it"
            )
    # Columns of the same name are different players: those in no group go by their number.
    keys = [owner.get(column, column) for column in range(len(names))]
    number = {key: player for player, key in enumerate(dict.fromkeys(keys))}
    return Players(
        tuple(key if isinstance(key, str) else names[key] for key in number),
        np.array([number[key] for key in keys], dtype=np.int64),
    )


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
        found = [column for column, name in enumerate(names) if name == member]
        if len(found) > 1:
            raise ValueError(
                f"groups: {group!r} has {member!r}, which is the name of several columns; choose "
                f"one by its number: {', '.join(map(str, found))}"
            )
        return found[0]
    if isinstance(member, int | np.integer) and not isinstance(member, bool):
        number = int(member)
        if 0 <= number < len(names):
            return number
    raise ValueError(
        f"groups: {group!r} has {member!r}, which is no column; choose by number from 0 to "
        f"{len(names) - 1} or by name from {shown(names)}"
    )
