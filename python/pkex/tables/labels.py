"""Labels of columns and rows of tables, and checks that they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pkex.errors import Argument, InputError, InputTypeError
from pkex.inputs.wording import shown
from pkex.tables.kinds import is_pandas, labels_of
from pkex.tables.missing import is_missing


def column_labels(data: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a table as text; None for tables without names."""
    return None if (columns := labels_of(data)) is None else tuple(map(str, columns))


def row_labels(data: Any) -> Any:
    """Return a copy of the index of a DataFrame or Series of pandas; None for other data."""
    return data.index.copy() if is_pandas(data) else None


def unnamed_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of a file without a name, such as row numbers of pandas."""
    return [name for name in names if not name or name.startswith("__index_level_")]


def index_columns(schema: Any) -> list[str]:
    """Return the columns of a Parquet or Arrow file that were an index in pandas."""
    try:
        index = (schema.pandas_metadata or {}).get("index_columns", ())
    except (ValueError, AttributeError):  # other programs may write this field
        return []
    # Ranges are descriptions, not columns.
    return [name for name in index if isinstance(name, str) and name in schema.names]


@lru_cache(maxsize=16)
def numbered(n_columns: int) -> tuple[str, ...]:
    """Return default names of columns: x0, x1, …, as in scikit-learn."""
    return tuple(f"x{j}" for j in range(n_columns))


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the columns and rows of a table, if it has labels.

    Parameters
    ----------
    columns : tuple, optional
        The labels of the columns, of any type.
    rows : pandas.Index, optional
    """

    columns: tuple[Any, ...] | None = None
    rows: Any = None

    @classmethod
    def of(cls, data: Any) -> Labels:
        """Read the labels of a table."""
        columns = labels_of(data)
        if columns is None:
            return cls()
        return cls(columns, row_labels(data))

    @classmethod
    def comparable(cls, data: Any, argument: str) -> Labels:
        """Read the labels of a table whose names are compared with those of another.

        Raises
        ------
        TypeError
            If only some labels of columns are strings.
        """
        labels = cls.of(data)
        is_name = [isinstance(label, str) for label in labels.columns or ()]
        if any(is_name) and not all(is_name):
            other = (labels.columns or ())[is_name.index(False)]
            raise InputTypeError(
                argument,
                f"has columns named by strings and by others, such as {other!r} "
                f"({type(other).__name__})",
                f"name all of them by strings: {argument}.columns = {argument}.columns.astype(str)",
            )
        return labels

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The names of the columns in messages and results."""
        return None if self.columns is None else tuple(map(str, self.columns))

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names that are compared with those of other tables; None if there are none.

        As in scikit-learn, only strings are names; numbers and tuples are not compared.
        """
        if not self.columns or not all(isinstance(label, str) for label in self.columns):
            return None
        return self.texts

    def check_same(self, expected: Labels, name: str, expected_by: str) -> None:
        """Raise InputError if columns have other labels than the columns of another table.

        Names are compared with names, and other labels with other labels.
        """
        if not self.columns or not expected.columns:
            return
        if (self.names is None) == (expected.names is None):
            check_column_names(self.columns, expected.columns, name, expected_by)


def check_column_names(
    got: Sequence[str], expected: Sequence[str], name: str, expected_by: str
) -> None:
    """Raise InputError unless columns are the expected ones in the expected order."""
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
        raise InputError(
            name,
            ("has other columns than ", Argument(expected_by), ": ", "; ".join(problems)),
            kind="columns",
        )
    position = next(place for place, column in enumerate(got) if column != expected[place])
    raise InputError(
        name,
        (
            "has its columns in another order than ",
            Argument(expected_by),
            f": column {position} is {got[position]!r}, expected {expected[position]!r}; the order "
            f"expected is {shown(expected)}",
        ),
        kind="columns",
    )


def check_same_rows(got: Any, expected: Any, name: str, expected_by: str) -> None:
    """Raise InputError if two indexes of pandas differ; None is data without an index."""
    if got is None or expected is None or got.equals(expected):
        return
    for row, (label, expected_label) in enumerate(zip(got, expected, strict=True)):
        if label == expected_label or (is_missing(label) and is_missing(expected_label)):
            continue
        raise InputError(
            name,
            (
                "has another index than ",
                Argument(expected_by),
                f": {label!r} instead of {expected_label!r}",
            ),
            [
                ("pass ", Argument(name), ".loc[", Argument(expected_by), ".index]"),
                ("pass ", Argument(name), ".to_numpy() to pair rows by position"),
            ],
            row=row,
        )
