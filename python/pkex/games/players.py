"""Players of the game: single columns, or groups of columns that are one player."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import places_of
from pkex.inputs.wording import shown

Groups: TypeAlias = Mapping[str, int | str | Iterable[int | str]] | None


@dataclass(frozen=True, eq=False)
class Players:
    """Players with their names and columns.

    Parameters
    ----------
    names : tuple of str
        The names of the players, in the order of their first columns.
    of_column : ndarray of int64, shape (d,)
        The number of each column's player.
    groups : frozenset of str
        The names of the players that are groups.
    """

    names: tuple[str, ...]
    of_column: NDArray[np.int64]
    groups: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    def columns(self) -> Iterator[NDArray[np.intp]]:
        """Yield the numbers of each player's columns."""
        return (np.flatnonzero(self.of_column == player) for player in range(len(self)))

    def with_copies(self, columns: Sequence[int]) -> Players:
        """Return the players after copies of some columns are appended."""
        copies = self.of_column[np.asarray(columns, dtype=np.intp)]
        return replace(self, of_column=np.concatenate([self.of_column, copies]))

    def rename(self, names: Sequence[str]) -> list[str]:
        """Return the names of the players, given names of columns that were unknown before.

        Raises
        ------
        ValueError
            If a column outside of groups has the name of a group.
        """
        player_names = [
            player if player in self.groups else names[columns[0]]
            for player, columns in zip(self.names, self.columns(), strict=True)
        ]
        for player, name in zip(self.names, player_names, strict=True):
            if name in self.groups and player not in self.groups:
                raise ValueError(
                    f"groups: {name!r} is the name of a group and of a column of X that is not in "
                    "it. Rename the group, or pass feature_names together with groups"
                )
        return player_names

    def entries(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the feature values of players; for groups, a text of several values."""
        if len(self) == rows.shape[1]:
            return rows
        entries = np.empty((len(rows), len(self)), dtype=object)
        for player, columns in enumerate(self.columns()):
            value_lists = rows[:, columns].tolist()
            is_single = len(columns) == 1
            entries[:, player] = [
                row[0] if is_single else ", ".join(map(_text, row)) for row in value_lists
            ]
        return entries


def as_players(groups: Groups, names: Sequence[str]) -> Players:
    """Return the players that `groups` defines; each column outside of groups is a player.

    Parameters
    ----------
    groups : dict of str to a column or columns, by name or number; or None
    names : sequence of str
        The names of the columns. Columns with equal names are selected by number.

    Raises
    ------
    ValueError
        If a group has an unknown or ambiguous column, or a column of another group.
    TypeError
        If `groups` is not a dict with string keys.
    """
    owner: dict[int, str] = {}
    for group, members in _items(groups):
        for column in _columns(group, members, names):
            if column in owner:
                raise ValueError(
                    f"groups: column {names[column]!r} is in both {owner[column]!r} and {group!r}. "
                    "Pass each column in one group"
                )
            owner[column] = group
    for column, name in enumerate(names):
        if column not in owner and name in owner.values():
            raise ValueError(
                f"groups: {name!r} is the name of a group and of a column that is not in it. "
                "Rename the group"
            )
    # Columns outside of groups are identified by number, because names may be equal.
    keys = [owner.get(column, column) for column in range(len(names))]
    number = {key: player for player, key in enumerate(dict.fromkeys(keys))}
    return Players(
        tuple(key if isinstance(key, str) else names[key] for key in number),
        np.array([number[key] for key in keys], dtype=np.int64),
        frozenset(groups or ()),
    )


def _text(entry: object) -> str:
    return f"{entry:g}" if isinstance(entry, float) else str(entry)


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
        raise ValueError(f"groups: {group!r} has no columns. Pass at least one")
    if len(set(columns)) < len(columns):
        raise ValueError(f"groups: {group!r} has a column twice. Pass each column once")
    return columns


def _column(group: str, member: object, names: Sequence[str]) -> int:
    places = places_of(member, names) or []
    if len(places) == 1:
        return places[0]
    if places:
        raise ValueError(
            f"groups: {group!r} has {member!r}, which is the name of several columns. Pass one of "
            f"their numbers: {', '.join(map(str, places))}"
        )
    containing = [name for name in names if isinstance(member, str) and member and member in name]
    valid = f"a name among {shown(names)}"
    if containing:
        valid = f"names, such as those that contain {member!r}: {shown(containing)}"
    raise ValueError(
        f"groups: {group!r} has {member!r}, which is not a column. Pass a number from 0 to "
        f"{len(names) - 1} or {valid}"
    )
