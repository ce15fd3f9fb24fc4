"""Encoding of tables as numbers, with the same encoding for all samples.

Numbers are not changed, dates become days, and categories become codes. For each numeric column
that may have missing values, a column of 0 and 1 is appended that indicates them. It belongs to the
same player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pkex.errors import Argument, InputError, InputTypeError, Option, Text
from pkex.inputs.choices import places_of
from pkex.inputs.wording import columns_named, counted, shown
from pkex.tables.columns import DAY, TableColumn, drop, time_text
from pkex.typing import Float

Missing: TypeAlias = Literal["error", "indicator"]
MISSING: tuple[Missing, ...] = get_args(Missing)

# The largest number of columns of a kind in a text.
_MAX_DESCRIPTIONS = 6
# The fix for missing numbers.
INDICATOR = (
    "give ",
    Option("missing", "indicator"),
    ", which puts the median in the place of missing numbers and also compares where values are "
    "missing",
)


@dataclass(frozen=True)
class Column:
    """The encoding of a column of a table.

    Parameters
    ----------
    name : str
    type : str
        "number", "integer", "boolean", "text", "category", "date" or "duration".
    compared : str
        The encoding: "numbers", "days" or "labels" (categories).
    levels : tuple, optional
        The known categories, with None for missing values.
    imputed : float, optional
        The median, in the place of missing numbers; an indicator of missing values is compared
        as well. None without the indicator.
    since : str, optional
        The date that days are counted from.
    """

    name: str
    type: str
    compared: str
    levels: tuple[Any, ...] | None = None
    imputed: float | None = None
    since: str | None = None

    @property
    def is_label(self) -> bool:
        """Whether values are categories."""
        return self.compared == "labels"

    @property
    def is_plain(self) -> bool:
        """Whether values are numbers that are not changed."""
        return self.compared == "numbers" and self.imputed is None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by their names, for JSON."""
        levels = None if self.levels is None else list(self.levels)
        return {**asdict(self), "levels": levels}

    def encode(self, column: TableColumn, argument: str, known_from: str) -> Float:
        """Return the values as numbers; unknown categories get new codes."""
        self._check(column, argument, known_from)
        if self.is_label:
            assert self.levels is not None, "labels have levels"
            numbers: dict[Any, int] = {level: code for code, level in enumerate(self.levels)}
            codes = [numbers.setdefault(label, len(numbers)) for label in _labels(column)]
            return np.array(codes, dtype=np.float64)
        values = _numbers(column, self.since)
        if column.missing.any():
            values[column.missing] = self.imputed
        return values

    def decode(self, numbers: Float) -> list[Any]:
        """Return the values that are encoded as numbers: categories, dates, durations or numbers.

        Codes outside the range of known categories stand for the first or the last category.
        """
        if self.is_label:
            assert self.levels is not None, "labels have levels"
            codes = np.clip(np.rint(numbers), 0, len(self.levels) - 1)
            return [self.levels[code] for code in codes.astype(np.intp).tolist()]
        if self.compared == "numbers":
            return list(numbers)
        durations = np.rint(numbers * DAY).astype("timedelta64[us]")
        start = np.timedelta64(0) if self.since is None else np.datetime64(self.since, "us")
        return list(start + durations)

    def _check(self, column: TableColumn, argument: str, known_from: str) -> None:
        """Raise for a column of another kind, or with unexpected missing values."""
        _check_same(self.type, self._family, column, argument, known_from, self.is_label)
        if not self.is_label and self.imputed is None and column.missing.any():
            raise _of_missing(argument, [column])

    @property
    def _family(self) -> str:
        """The type of values that the column must have."""
        if self.type != "category":
            return _FAMILIES[self.type]
        levels = [level for level in self.levels or () if level is not None]
        return _FAMILIES[_base(levels[0])] if levels else "empty"


_FAMILIES = {
    "number": "numbers",
    "integer": "numbers",
    "boolean": "booleans",
    "text": "text",
    "date": "dates",
    "duration": "durations",
}


# Types of columns that are always categories, and all types.
LABELS = ("boolean", "text", "category")
TYPES = (*_FAMILIES, "category")


@dataclass(frozen=True, eq=False)
class Encoding:
    """The encoding of tables as rows of numbers.

    Parameters
    ----------
    columns : tuple of Column
        The encoding of each column.
    known_from : str
        The name of the samples that it was fitted to, for messages.
    """

    columns: tuple[Column, ...]
    known_from: str = "X and Y"

    @classmethod
    def plain(cls, names: Sequence[str]) -> Encoding:
        """Return the encoding of numbers, which does not change them."""
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
        """Return the encoding for the columns of samples.

        Parameters
        ----------
        samples : dict of str to sequence of TableColumn
        categorical : frozenset of int
            The columns that are always categories.
        missing : {"error", "indicator"}
        looks_ahead : bool
            Whether other samples may have missing values in columns where these have none.

        Raises
        ------
        ValueError, TypeError
            If a column has different types in the samples, only missing values, or missing numbers
            with ``missing="error"``.
        """
        if missing == "error":
            for argument, columns in samples.items():
                incomplete = [
                    column
                    for j, column in enumerate(columns)
                    if column.missing.any()
                    and not (j in categorical or _is_label(column))
                    and not column.missing.all()
                ]
                if incomplete:
                    raise _of_missing(argument, incomplete)
        sample_names = " and ".join(samples)
        encodings = []
        for j, of_samples in enumerate(zip(*samples.values(), strict=True)):
            column = _fit_column(of_samples, list(samples), j in categorical)
            may_lack = any(c.missing.any() for c in of_samples) or looks_ahead
            if not column.is_label and missing == "indicator" and may_lack:
                column = replace(column, imputed=_median(of_samples, column.since))
            elif not column.is_label and any(c.missing.any() for c in of_samples):
                place = [c.missing.any() for c in of_samples].index(True)
                raise _of_missing(list(samples)[place], [of_samples[place]])
            encodings.append(column)
        return cls(tuple(encodings), sample_names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the table."""
        return tuple(column.name for column in self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers that are not changed."""
        return all(column.is_plain for column in self.columns)

    @property
    def flagged(self) -> list[int]:
        """The columns with an indicator of missing values."""
        return [j for j, column in enumerate(self.columns) if column.imputed is not None]

    @property
    def labels(self) -> list[int]:
        """The encoded columns that are categories."""
        d = len(self.columns)
        labels = [j for j, column in enumerate(self.columns) if column.is_label]
        return [*labels, *range(d, d + len(self.flagged))]

    @property
    def row_names(self) -> tuple[str, ...]:
        """The names of the encoded columns in messages."""
        names = [column.name for column in self.columns]
        return (*names, *(f"missing values of {names[j]}" for j in self.flagged))

    def rows(self, columns: Sequence[TableColumn], argument: str) -> Float:
        """Return a sample as rows of numbers.

        Raises
        ------
        ValueError, TypeError
            If a column has another type, or missing values that are not supported.
        """
        values = [
            column.encode(table_column, argument, self.known_from)
            for column, table_column in zip(self.columns, columns, strict=True)
        ]
        flags = [columns[j].missing.astype(np.float64) for j in self.flagged]
        return np.ascontiguousarray(np.column_stack([*values, *flags]))

    def new_levels(self, columns: Sequence[TableColumn]) -> dict[int, tuple[Any, ...]]:
        """Return the unknown categories of another sample in the order of their codes.

        The keys are numbers of columns, because names may be equal.
        """
        new_levels: dict[int, tuple[Any, ...]] = {}
        for j, (encoding, column) in enumerate(zip(self.columns, columns, strict=True)):
            if encoding.is_label:
                levels = set(encoding.levels or ())
                unknown_levels = tuple(
                    label for label in dict.fromkeys(_labels(column)) if label not in levels
                )
                if unknown_levels:
                    new_levels[j] = unknown_levels
        return new_levels

    def describe(self) -> str | None:
        """Return a text on the encoding of columns; None if all are plain numbers."""
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
        for title, descriptions in kinds.items():
            if descriptions:
                suffix = (
                    f" and {len(descriptions) - _MAX_DESCRIPTIONS} more"
                    if len(descriptions) > _MAX_DESCRIPTIONS
                    else ""
                )
                parts.append(f"{title}: {', '.join(descriptions[:_MAX_DESCRIPTIONS])}{suffix}")
        return "; ".join(parts)


def _with_levels(column: Column) -> str:
    levels = [level for level in column.levels or () if level is not None]
    suffix = ", missing ones" if len(levels) < len(column.levels or ()) else ""
    return f"{column.name} ({counted(len(levels), 'level')}{suffix})"


def categorical_columns(
    categorical: Iterable[int | str] | None, names: Sequence[str]
) -> frozenset[int]:
    """Return the numbers of the columns in `categorical`.

    Raises
    ------
    ValueError, TypeError
        If it is not a list of columns, by name or number.
    """
    if categorical is None:
        return frozenset()
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise InputTypeError(
            "categorical",
            f"must be a list of columns, by name or number, such as ['city']; got {categorical!r}",
        )
    numbers = set()
    for key in categorical:
        places = places_of(key, names) or []
        if len(places) != 1:
            problem = "the name of several columns" if places else "no column"
            raise InputError(
                "categorical",
                f"has {key!r}, which is {problem}",
                f"choose by number from 0 to {len(names) - 1} or by name from {shown(names)}",
            )
        numbers.add(places[0])
    return frozenset(numbers)


def _is_label(column: TableColumn) -> bool:
    return column.type in LABELS


def _fit_column(of_samples: Sequence[TableColumn], arguments: list[str], is_given: bool) -> Column:
    """Return the encoding of one column of all samples, ignoring missing numbers."""
    reference = next((c for c in of_samples if c.base != "empty"), None)
    name = of_samples[0].name
    if reference is None or all(column.missing.all() for column in of_samples):
        sample_names = " and ".join(arguments)
        raise InputError(
            sample_names, "has only missing values", drop(name), column=name, kind="missing"
        )
    of_type = reference.type
    place = arguments[[c is reference for c in of_samples].index(True)]
    for column, argument in zip(of_samples, arguments, strict=True):
        if column.base == "empty":
            continue
        _check_same(reference.type, _FAMILIES[reference.base], column, argument, place, is_given)
        if column.type == "number" and of_type == "integer":
            of_type = "number"
    if is_given or _is_label(reference):
        labels = {label for column in of_samples for label in _labels(column)}
        has_missing = None in labels
        levels = sorted(labels - {None})
        return Column(name, of_type, "labels", (*levels, *[None] * has_missing))
    if reference.base not in ("date", "duration"):
        return Column(name, of_type, "numbers")
    since = None
    if reference.base == "date":
        earliest = min(int(c.entries[~c.missing].min()) for c in of_samples if not c.missing.all())
        since = _iso(earliest)
    return Column(name, of_type, "days", since=since)


def _check_same(
    of_type: str,
    family: str,
    column: TableColumn,
    argument: str,
    other_argument: str,
    is_given: bool,
) -> None:
    """Raise InputTypeError for a column whose values have another type than in another sample."""
    if column.base == "empty" or family == "empty":
        return
    other = _FAMILIES[column.base]
    is_label = column.type == "category" or of_type == "category"
    if other == family and (is_given or not is_label or column.type == of_type or family == "text"):
        return
    expected = f"categories ({family})" if of_type == "category" else family
    fix: list[Text] = ["make both of one kind"]
    if other == family:
        fix.append(("give ", Option("categorical", [column.name])))
    raise InputTypeError(
        argument,
        (f"holds {column.words}, but {expected} in ", Argument(other_argument)),
        fix,
        column=column.name,
    )


def _labels(column: TableColumn) -> list[Any]:
    """Return values as categories; None for missing values."""
    if column.type in ("boolean", "text", "category", "empty"):
        return list(column.entries.tolist())
    if column.base in ("date", "duration"):
        unit = "datetime64[us]" if column.base == "date" else "timedelta64[us]"
        labels: list[Any] = [time_text(entry) for entry in column.entries.astype(unit)]
    else:
        return column.exactly()
    return [None if m else x for x, m in zip(labels, column.missing.tolist(), strict=True)]


def _numbers(column: TableColumn, since: str | None) -> Float:
    """Return the numbers of a column, or days since a date; missing values are arbitrary."""
    if column.base not in ("date", "duration"):
        if column.base == "empty":
            return np.zeros(len(column.missing))
        return np.array(column.entries, dtype=np.float64)
    start = 0 if since is None else int(np.datetime64(since, "us").astype(np.int64))
    days: Float = (column.entries - start) / DAY
    return days


def _median(of_samples: Sequence[TableColumn], since: str | None) -> float:
    """Return the median of the values of all samples that are not missing."""
    values = [_numbers(c, since)[~c.missing] for c in of_samples if c.base != "empty"]
    return float(np.median(np.concatenate(values)))


def _iso(microseconds: int) -> str:
    """Return a time as text, without the time of day at midnight."""
    text = str(np.datetime64(microseconds, "us"))
    return text.removesuffix(".000000").removesuffix("T00:00:00")


def _base(level: object) -> str:
    if isinstance(level, bool):
        return "boolean"
    return "text" if isinstance(level, str) else "number"


def _of_missing(argument: str, columns: Sequence[TableColumn]) -> InputError:
    names = [column.name for column in columns]
    reason = f"has missing values in {columns_named(names)}, the first"
    row = int(np.flatnonzero(columns[0].missing)[0])
    fix: list[Text] = ["fill or remove them", INDICATOR]
    return InputError(argument, reason, fix, row, names[0], kind="missing")
