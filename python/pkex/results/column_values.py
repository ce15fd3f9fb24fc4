"""The entries of a column, as pictures need them: numbers, dates or levels."""

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

__all__ = ["MISSING", "ColumnValues", "ReportColumns", "are_few"]

# What a missing level is called.
MISSING = "(missing)"
# Numbers with no more different values are shown value by value.
_FEW = 10
_HUGE = 1e300
# In seconds.
_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column: numbers or levels.

    Parameters
    ----------
    numbers : ndarray of shape (n,), optional
        Numbers, NaN where missing; of dates seconds, of durations days.
    levels : tuple of str, optional
        Texts, where they are no numbers.
    are_dates : bool, default False
    are_measured : bool, default False
        Whether numbers are drawn as such, however few differ.
    """

    numbers: Float | None
    levels: tuple[str, ...] | None = None
    are_dates: bool = False
    are_measured: bool = False

    @classmethod
    def of(cls, column: Any) -> ColumnValues:
        """Read a column of a table, of whatever type."""
        array = np.asarray(column)
        if array.dtype.kind in "fiu" and str(getattr(column, "dtype", "")) != "category":
            return cls(array.astype(np.float64))
        if array.dtype.kind == "M":
            return cls(_seconds(array), are_dates=True)
        if array.dtype.kind == "m":
            return cls(array / np.timedelta64(1, "D"))
        entries = np.asarray(column, dtype=object).tolist()
        known = [entry for entry in entries if not is_missing(entry)]
        if known and all(isinstance(e, Real) and not isinstance(e, bool) for e in known):
            return cls(np.array([np.nan if is_missing(e) else float(e) for e in entries]))
        return cls(None, tuple(MISSING if is_missing(e) else str(e) for e in entries))

    @property
    def known(self) -> Float:
        """The finite numbers; beyond 1e300 they are that, so that differences are finite."""
        assert self.numbers is not None, "levels are no numbers"
        return np.clip(self.numbers[np.isfinite(self.numbers)], -_HUGE, _HUGE)

    @property
    def are_days(self) -> bool:
        """Whether they are dates without times of the day."""
        return self.are_dates and not (self.known % _DAY).any()

    @property
    def missing(self) -> float:
        """The share of missing numbers."""
        if self.numbers is None or not len(self.numbers):
            return 0.0
        return float(np.isnan(self.numbers).mean())

    def text(self, value: float) -> str:
        """Return one of its numbers as it is shown."""
        if self.are_dates:
            # Between days there are quantiles, and ends of axes.
            is_day = value % _DAY == 0.0 or self.are_days
            unit = _DAY if is_day else 1.0
            return str(np.datetime64(round(value / unit), "D" if is_day else "s")).replace("T", " ")
        return number(value)

    def in_words(self) -> str:
        """Return what is known of them in a few words: quartiles, or the frequent levels."""
        if self.numbers is None:
            frequent = self.counts().most_common(3)
            n = max(len(self.levels or ()), 1)
            return ", ".join(f"{level} {100.0 * count / n:.0f} %" for level, count in frequent)
        if not len(self.known):
            return "no entries"
        quartiles = np.quantile(self.known, [0.25, 0.5, 0.75]).tolist()
        low, median, high = (self.text(quartile) for quartile in quartiles)
        return f"median {median}, middle half from {low} to {high}"

    def counts(self) -> Counter[str]:
        """Return how often each level occurs."""
        return Counter(self.as_levels().levels)

    def as_levels(self) -> ColumnValues:
        """Return the same with numbers as texts."""
        if self.numbers is None:
            return self
        texts = [MISSING if np.isnan(v) else self.text(v) for v in self.numbers]
        return ColumnValues(None, tuple(texts))


@dataclass(frozen=True, eq=False)
class ReportColumns:
    """Columns and their names, of which some may be equal.

    Parameters
    ----------
    names : sequence of str
    entries : sequence of ColumnValues
    """

    names: Sequence[str]
    entries: Sequence[ColumnValues]

    def of(self, names: Sequence[str], place: int) -> ColumnValues | None:
        """Return what one of some names stands for: by its place if all are those of the columns.

        None if there is no such column, or several.
        """
        if list(names) == list(self.names):
            return self.entries[place]
        same = [own for own, name in enumerate(self.names) if name == names[place]]
        return self.entries[same[0]] if len(same) == 1 else None


def are_few(*columns: ColumnValues) -> bool:
    """Whether columns of numbers have few different ones, or none, all together."""
    if any(column.are_measured for column in columns):
        return False
    different = np.unique(np.concatenate([column.known for column in columns]))
    return len(different) <= _FEW


def _seconds(array: NDArray[Any]) -> Float:
    seconds = array.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    seconds[np.isnat(array)] = np.nan
    return seconds
