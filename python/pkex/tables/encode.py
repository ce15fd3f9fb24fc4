"""Columns of tables as columns of numbers: what each is compared as, for one sample after another.

Columns compared as numbers stay where they are, dates as days; labels are numbered. Behind them
stands a column of 0 and 1 for each column of numbers whose entries may be missing: whether they
are. It belongs to the same player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pkex.errors import Argument, InputError, InputTypeError, Option, Text
from pkex.inputs.choices import places_of
from pkex.inputs.wording import counted, shown
from pkex.tables.columns import DAY, TableColumn, drop, time_text
from pkex.typing import Float

__all__ = [
    "INDICATOR",
    "LABELS",
    "MISSING",
    "TYPES",
    "Column",
    "Encoding",
    "Missing",
    "categorical_columns",
]

Missing: TypeAlias = Literal["error", "indicator"]
MISSING: tuple[Missing, ...] = get_args(Missing)

# Columns of a kind that a line lists.
_MOST = 6
# How missing numbers can be compared.
INDICATOR = (
    "give ",
    Option("missing", "indicator"),
    ", which puts the median in the place of missing numbers and also compares where values are "
    "missing",
)


@dataclass(frozen=True)
class Column:
    """What was done with a column of a table.

    Parameters
    ----------
    name : str
    type : str
        "number", "integer", "boolean", "text", "category", "date" or "duration".
    compared : str
        As "numbers", "days" or "labels".
    levels : tuple, optional
        The labels that were seen, None among them for missing values.
    imputed : float, optional
        The median, in the place of missing numbers; an indicator of missing values is compared
        as well. None without the indicator.
    since : str, optional
        The date that days count from.
    """

    name: str
    type: str
    compared: str
    levels: tuple[Any, ...] | None = None
    imputed: float | None = None
    since: str | None = None

    @property
    def is_label(self) -> bool:
        """Whether entries are only told apart."""
        return self.compared == "labels"

    @property
    def is_plain(self) -> bool:
        """Whether the column holds numbers and is compared as they are."""
        return self.compared == "numbers" and self.imputed is None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by their names, as JSON knows them."""
        levels = None if self.levels is None else list(self.levels)
        return {**asdict(self), "levels": levels}

    def encoded(self, column: TableColumn, argument: str, known_from: str) -> Float:
        """Return the entries as numbers; labels that were not seen get numbers of their own."""
        self._check(column, argument, known_from)
        if self.is_label:
            assert self.levels is not None, "labels have levels"
            numbers: dict[Any, int] = {level: code for code, level in enumerate(self.levels)}
            codes = [numbers.setdefault(label, len(numbers)) for label in _labels(column)]
            return np.array(codes, dtype=np.float64)
        found = _numbers(column, self.since)
        if column.missing.any():
            found[column.missing] = self.imputed
        return found

    def _check(self, column: TableColumn, argument: str, known_from: str) -> None:
        """Refuse a column of another kind, or with unexpected missing values."""
        _check_same(self.type, self._family, column, argument, known_from, self.is_label)
        if not self.is_label and self.imputed is None and column.missing.any():
            raise _of_missing(argument, [column])

    @property
    def _family(self) -> str:
        """The kind of entries that are looked for."""
        if self.type != "category":
            return _FAMILIES[self.type]
        known = [level for level in self.levels or () if level is not None]
        return _FAMILIES[_base(known[0])] if known else "empty"


_FAMILIES = {
    "number": "numbers",
    "integer": "numbers",
    "boolean": "booleans",
    "text": "text",
    "date": "dates",
    "duration": "durations",
}


# Types of columns that are always compared as labels, and all types.
LABELS = ("boolean", "text", "category")
TYPES = (*_FAMILIES, "category")


@dataclass(frozen=True, eq=False)
class Encoding:
    """How tables become rows of numbers.

    Parameters
    ----------
    columns : tuple of Column
        Those of the table.
    known_from : str
        What messages call the samples that it was found on.
    """

    columns: tuple[Column, ...]
    known_from: str = "X and Y"

    @classmethod
    def plain(cls, names: Sequence[str]) -> Encoding:
        """Return the encoding of numbers, which stay as they are."""
        return cls(tuple(Column(name, "number", "numbers") for name in names))

    @classmethod
    def fit(
        cls,
        samples: Mapping[str, Sequence[TableColumn]],
        categorical: frozenset[int],
        missing: Missing,
        *,
        looks_ahead: bool = False,
    ) -> Encoding:
        """Find out what the columns of samples, by name, are compared as.

        Parameters
        ----------
        samples : dict of str to sequence of TableColumn
        categorical : frozenset of int
            The columns that are compared as labels whatever they hold.
        missing : {"error", "indicator"}
        looks_ahead : bool
            Whether other samples may have missing values where these have none.

        Raises
        ------
        ValueError, TypeError
            If a column has different kinds of entries in the samples, nothing but missing ones, or
            missing numbers although those are an error.
        """
        if missing == "error":
            for argument, columns in samples.items():
                lacking = [
                    column
                    for j, column in enumerate(columns)
                    if column.missing.any()
                    and not (j in categorical or _is_label(column))
                    and not column.missing.all()
                ]
                if lacking:
                    raise _of_missing(argument, lacking)
        both = " and ".join(samples)
        found = []
        for j, of_samples in enumerate(zip(*samples.values(), strict=True)):
            column = _fitted(of_samples, list(samples), j in categorical)
            may_lack = any(c.missing.any() for c in of_samples) or looks_ahead
            if not column.is_label and missing == "indicator" and may_lack:
                column = replace(column, imputed=_median(of_samples, column.since))
            elif not column.is_label and any(c.missing.any() for c in of_samples):
                where = [c.missing.any() for c in of_samples].index(True)
                raise _of_missing(list(samples)[where], [of_samples[where]])
            found.append(column)
        return cls(tuple(found), both)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the table."""
        return tuple(column.name for column in self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers, compared as they are."""
        return all(column.is_plain for column in self.columns)

    @property
    def flagged(self) -> list[int]:
        """The columns with an indicator of missing values."""
        return [j for j, column in enumerate(self.columns) if column.imputed is not None]

    @property
    def labels(self) -> list[int]:
        """The columns of the rows that are compared as labels."""
        d = len(self.columns)
        labels = [j for j, column in enumerate(self.columns) if column.is_label]
        return [*labels, *range(d, d + len(self.flagged))]

    @property
    def row_names(self) -> tuple[str, ...]:
        """What messages call the columns of the rows."""
        names = [column.name for column in self.columns]
        return (*names, *(f"missing values of {names[j]}" for j in self.flagged))

    def rows(self, columns: Sequence[TableColumn], argument: str) -> Float:
        """Return a sample as rows of numbers.

        Raises
        ------
        ValueError, TypeError
            If a column holds another kind of entries, or missing numbers that nothing stands for.
        """
        found = [
            column.encoded(own, argument, self.known_from)
            for column, own in zip(self.columns, columns, strict=True)
        ]
        flags = [columns[j].missing.astype(np.float64) for j in self.flagged]
        return np.ascontiguousarray(np.column_stack([*found, *flags]))

    def new_levels(self, columns: Sequence[TableColumn]) -> dict[int, tuple[Any, ...]]:
        """Return the labels of another sample that are not known, in the order of their numbers.

        By the numbers of the columns, for names may be equal.
        """
        found: dict[int, tuple[Any, ...]] = {}
        for j, (known, own) in enumerate(zip(self.columns, columns, strict=True)):
            if known.is_label:
                levels = set(known.levels or ())
                new = tuple(label for label in dict.fromkeys(_labels(own)) if label not in levels)
                if new:
                    found[j] = new
        return found

    def described(self) -> str | None:
        """Say in a line what was done with columns that are not numbers, None if all are."""
        if self.is_plain:
            return None
        kinds = {
            "labels": [_with_levels(c) for c in self.columns if c.is_label],
            "days": [
                c.name if c.since is None else f"{c.name} (since {c.since})"
                for c in self.columns
                if c.compared == "days"
            ],
            "missing values compared, and the median in their place": [
                f"{self.columns[j].name} ({self.columns[j].imputed:.5g})" for j in self.flagged
            ],
        }
        number = sum(column.compared == "numbers" for column in self.columns)
        parts = [f"{number} of numbers"] if number else []
        for title, listed in kinds.items():
            if listed:
                more = f" and {len(listed) - _MOST} more" if len(listed) > _MOST else ""
                parts.append(f"{title}: {', '.join(listed[:_MOST])}{more}")
        return "; ".join(parts)


def _with_levels(column: Column) -> str:
    known = [level for level in column.levels or () if level is not None]
    more = ", missing ones" if len(known) < len(column.levels or ()) else ""
    return f"{column.name} ({counted(len(known), 'level')}{more})"


def categorical_columns(given: Iterable[int | str] | None, names: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the columns that `categorical` names.

    Raises
    ------
    ValueError, TypeError
        If it is not a list of names or numbers of columns.
    """
    if given is None:
        return frozenset()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputTypeError(
            "categorical",
            f"must be a list of columns, by name or number, such as ['city']; got {given!r}",
        )
    found = set()
    for key in given:
        places = places_of(key, names) or []
        if len(places) != 1:
            what = "the name of several columns" if places else "no column"
            raise InputError(
                "categorical",
                f"has {key!r}, which is {what}",
                f"choose by number from 0 to {len(names) - 1} or by name from {shown(names)}",
            )
        found.add(places[0])
    return frozenset(found)


def _is_label(column: TableColumn) -> bool:
    return column.type in LABELS


def _fitted(of_samples: Sequence[TableColumn], arguments: list[str], is_given: bool) -> Column:
    """Return what the same column of samples is compared as, without missing numbers."""
    first = next((c for c in of_samples if c.base != "empty"), None)
    name = of_samples[0].name
    if first is None or all(column.missing.all() for column in of_samples):
        every = " and ".join(arguments)
        raise InputError(every, "has only missing values", drop(name), column=name, kind="missing")
    of_type = first.type
    place = arguments[[c is first for c in of_samples].index(True)]
    for column, argument in zip(of_samples, arguments, strict=True):
        if column.base == "empty":
            continue
        _check_same(first.type, _FAMILIES[first.base], column, argument, place, is_given)
        if column.type == "number" and of_type == "integer":
            of_type = "number"
    if is_given or _is_label(first):
        seen = {label for column in of_samples for label in _labels(column)}
        has_missing = None in seen
        levels = sorted(seen - {None})
        return Column(name, of_type, "labels", (*levels, *[None] * has_missing))
    if first.base not in ("date", "duration"):
        return Column(name, of_type, "numbers")
    since = None
    if first.base == "date":
        earliest = min(int(c.entries[~c.missing].min()) for c in of_samples if not c.missing.all())
        since = _iso(earliest)
    return Column(name, of_type, "days", since=since)


def _check_same(
    of_type: str,
    family: str,
    column: TableColumn,
    argument: str,
    where: str,
    is_given: bool,
) -> None:
    """Refuse a column whose entries are of another kind than those of another sample."""
    if column.base == "empty" or family == "empty":
        return
    other = _FAMILIES[column.base]
    is_label = column.type == "category" or of_type == "category"
    if other == family and (is_given or not is_label or column.type == of_type or family == "text"):
        return
    listed = f"categories ({family})" if of_type == "category" else family
    fix: list[Text] = ["make both of one kind"]
    if other == family:
        fix.append(("give ", Option("categorical", [column.name])))
    raise InputTypeError(
        argument,
        (f"holds {column.words}, but {listed} in ", Argument(where)),
        fix,
        column=column.name,
    )


def _labels(column: TableColumn) -> list[Any]:
    """Return entries as labels, None where they are missing."""
    if column.type in ("boolean", "text", "category", "empty"):
        return list(column.entries.tolist())
    if column.base in ("date", "duration"):
        unit = "datetime64[us]" if column.base == "date" else "timedelta64[us]"
        labels: list[Any] = [time_text(entry) for entry in column.entries.astype(unit)]
    else:
        return column.exactly()
    return [None if m else x for x, m in zip(labels, column.missing.tolist(), strict=True)]


def _numbers(column: TableColumn, since: str | None) -> Float:
    """Return the numbers of a column, or days since a date; not of missing values."""
    if column.base not in ("date", "duration"):
        if column.base == "empty":
            return np.zeros(len(column.missing))
        return np.array(column.entries, dtype=np.float64)
    start = 0 if since is None else int(np.datetime64(since, "us").astype(np.int64))
    days: Float = (column.entries - start) / DAY
    return days


def _median(of_samples: Sequence[TableColumn], since: str | None) -> float:
    """Return the median of the entries of all samples that are not missing."""
    present = [_numbers(c, since)[~c.missing] for c in of_samples if c.base != "empty"]
    return float(np.median(np.concatenate(present)))


def _iso(microseconds: int) -> str:
    """Return a moment as text, one at midnight as its day."""
    text = str(np.datetime64(microseconds, "us"))
    return text.removesuffix(".000000").removesuffix("T00:00:00")


def _base(level: object) -> str:
    if isinstance(level, bool):
        return "boolean"
    return "text" if isinstance(level, str) else "number"


def _of_missing(argument: str, columns: Sequence[TableColumn]) -> InputError:
    names = [column.name for column in columns]
    what = f"has missing values in column{'s' if len(names) > 1 else ''} {shown(names)}, the first"
    row = int(np.flatnonzero(columns[0].missing)[0])
    fix: list[Text] = ["fill or remove them", INDICATOR]
    return InputError(argument, what, fix, row, names[0], kind="missing")
