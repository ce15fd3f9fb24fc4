"""Values of a column for figures: numbers, dates or levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.results.tables import number
from pkex.tables.missing import is_missing
from pkex.typing import Float

# The label of missing values.
MISSING = "(missing)"
# Numeric columns with at most this many distinct values are drawn as levels.
_FEW = 10
_HUGE = 1e300
# The length of a day in seconds.
_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Values of a column: numbers or levels.

    Parameters
    ----------
    numbers : ndarray of shape (n,), optional
        Numbers, NaN where missing; dates in seconds, durations in days.
    levels : tuple of str, optional
        Texts, if the values are not numbers.
    are_dates : bool, default False
    are_measured : bool, default False
        Whether numbers are drawn as numbers even if few of them are distinct.
    """

    numbers: Float | None
    levels: tuple[str, ...] | None = None
    are_dates: bool = False
    are_measured: bool = False

    @classmethod
    def of(cls, column: Any) -> ColumnValues:
        """Return the values of a column of a table, of any type."""
        array = np.asarray(column)
        if array.dtype.kind in "fiu" and str(getattr(column, "dtype", "")) != "category":
            return cls(array.astype(np.float64))
        if array.dtype.kind == "M":
            return cls(_seconds(array), are_dates=True)
        if array.dtype.kind == "m":
            return cls(array / np.timedelta64(1, "D"))
        values = np.asarray(column, dtype=object).tolist()
        entries = [value for value in values if not is_missing(value)]
        if entries and all(isinstance(v, Real) and not isinstance(v, bool) for v in entries):
            return cls(np.array([np.nan if is_missing(v) else float(v) for v in values]))
        return cls(None, tuple(MISSING if is_missing(v) else str(v) for v in values))

    @property
    def finite_numbers(self) -> Float:
        """The finite numbers, clipped at ±1e300 so that differences are finite."""
        assert self.numbers is not None, "levels are not numbers"
        return np.clip(self.numbers[np.isfinite(self.numbers)], -_HUGE, _HUGE)

    @property
    def are_days(self) -> bool:
        """Whether the values are dates without times of day."""
        return self.are_dates and not (self.finite_numbers % _DAY).any()

    @property
    def missing_share(self) -> float:
        """The share of missing numbers."""
        if self.numbers is None or not len(self.numbers):
            return 0.0
        return float(np.isnan(self.numbers).mean())

    def text(self, value: float) -> str:
        """Return a number of the column as text: a date, or five significant digits."""
        if self.are_dates:
            # Quantiles and ends of axes may lie between days.
            is_day = value % _DAY == 0.0 or self.are_days
            unit = _DAY if is_day else 1.0
            return str(np.datetime64(round(value / unit), "D" if is_day else "s")).replace("T", " ")
        return number(value)

    def in_words(self) -> str:
        """Return a short description of the values: quartiles, or the most frequent levels."""
        if self.numbers is None:
            frequent = self.counts().most_common(3)
            n = max(len(self.levels or ()), 1)
            return ", ".join(f"{level} {100.0 * count / n:.0f} %" for level, count in frequent)
        if not len(self.finite_numbers):
            return "no values"
        quartiles = np.quantile(self.finite_numbers, [0.25, 0.5, 0.75]).tolist()
        low, median, high = (self.text(quartile) for quartile in quartiles)
        return f"median {median}, middle half from {low} to {high}"

    def counts(self) -> Counter[str]:
        """Return the count of each level."""
        return Counter(self.as_levels().levels)

    def as_levels(self) -> ColumnValues:
        """Return the column with numbers as levels."""
        if self.numbers is None:
            return self
        texts = [MISSING if np.isnan(v) else self.text(v) for v in self.numbers]
        return ColumnValues(None, tuple(texts))


@dataclass(frozen=True, eq=False)
class ReportColumns:
    """Columns and their names, which may contain duplicates.

    Parameters
    ----------
    names : sequence of str
    entries : sequence of ColumnValues
    """

    names: Sequence[str]
    entries: Sequence[ColumnValues]

    def of(self, names: Sequence[str], place: int) -> ColumnValues | None:
        """Return the column named ``names[place]``; None if there is no such column, or several.

        If `names` equals the names of the columns, the column is found by its place.
        """
        if list(names) == list(self.names):
            return self.entries[place]
        matches = [j for j, name in enumerate(self.names) if name == names[place]]
        return self.entries[matches[0]] if len(matches) == 1 else None


def are_few(*columns: ColumnValues) -> bool:
    """Return whether numeric columns together have few distinct values, or none."""
    if any(column.are_measured for column in columns):
        return False
    distinct_values = np.unique(np.concatenate([column.finite_numbers for column in columns]))
    return len(distinct_values) <= _FEW


def _seconds(array: NDArray[Any]) -> Float:
    seconds = array.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    seconds[np.isnat(array)] = np.nan
    return seconds
