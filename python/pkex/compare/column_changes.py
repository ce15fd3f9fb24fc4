"""Visible changes of the columns of a second sample compared with a first one.

Changes are new levels, lost levels, missing values, and numbers out of the range of the first
sample. They are observed, not tested. Changes that are likely for samples of one distribution are
left out: with n and m rows, all of the k largest values are in the second sample with a probability
of about (m / (n + m))^k, which must be at most 0.001.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pkex.inputs.integers import as_integer
from pkex.inputs.wording import counted
from pkex.results.report import ReportTable, percent
from pkex.results.tables import number, shortened
from pkex.tables.columns import DAY
from pkex.tables.encode import Column, Encoding
from pkex.typing import Float

# Largest probability of a reported change for samples of one distribution.
_SMALL_PROBABILITY = 0.001
# Largest number of levels of a column, and of lines, in a summary.
_MAX_LEVELS, _MAX_LINES = 3, 5


@dataclass(frozen=True)
class OutOfRange:
    """Rows of the second sample beyond all values of the first, on one side.

    Parameters
    ----------
    n_rows : int
    limit, extreme : float or str
        The most extreme values of the first and of the second sample; dates as texts.
    """

    n_rows: int
    limit: float | str
    extreme: float | str

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> OutOfRange:
        """Return an object from the data written by `ColumnChange.to_dict`."""
        n_rows = as_integer("n_rows", plain["n_rows"], "a positive integer", least=1)
        limit, extreme = (
            entry if isinstance(entry, str) else float(_check_finite(entry))
            for entry in (plain["limit"], plain["extreme"])
        )
        return cls(n_rows, limit, extreme)


def _check_finite(plain: Any) -> int | float:
    if not isinstance(plain, int | float) or not math.isfinite(plain):
        raise ValueError(f"{plain!r} is not a finite number")
    return plain


@dataclass(frozen=True)
class ColumnChange:
    """Visible changes of a column, observed and not tested.

    Parameters
    ----------
    name : str
        The name of the column.
    new_levels : tuple of (level, int)
        Levels in the second sample only, with their numbers of rows, the most frequent first.
    lost_levels : tuple of (level, int)
        Levels in the first sample only, with their numbers of rows, the most frequent first.
    missing : tuple of float or None
        The shares of missing values in both samples, if they differ.
    below, above : OutOfRange or None
        Rows of the second sample below and above all values of the first.
    """

    name: str
    new_levels: tuple[tuple[Any, int], ...] = ()
    lost_levels: tuple[tuple[Any, int], ...] = ()
    missing: tuple[float, float] | None = None
    below: OutOfRange | None = None
    above: OutOfRange | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by their names, as JSON data."""
        levels = {key: [list(level) for level in getattr(self, key)] for key in _LEVELS}
        missing = None if self.missing is None else list(self.missing)
        return {**asdict(self), **levels, "missing": missing}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> ColumnChange:
        """Return a change from the data written by `to_dict`."""
        missing, (below, above) = plain["missing"], (plain["below"], plain["above"])
        return cls(
            str(plain["name"]),
            _levels_of_plain(plain["new_levels"]),
            _levels_of_plain(plain["lost_levels"]),
            missing=None
            if missing is None
            else (_check_finite(missing[0]), _check_finite(missing[1])),
            below=None if below is None else OutOfRange.of_plain(below),
            above=None if above is None else OutOfRange.of_plain(above),
        )

    def cells(self) -> dict[str, str]:
        """Return the changes in words, by the titles of a table."""
        cells = {
            "new levels": _levels_in_words(self.new_levels),
            "lost levels": _levels_in_words(self.lost_levels),
            "missing": "" if self.missing is None else " → ".join(map(percent, self.missing)),
            "below range": _range_in_words(self.below, "below", "down"),
            "above range": _range_in_words(self.above, "above", "up"),
        }
        return {title: text for title, text in cells.items() if text}


_LEVELS = ("new_levels", "lost_levels")


def _levels_of_plain(plain: Iterable[Sequence[Any]]) -> tuple[tuple[Any, int], ...]:
    return tuple(
        (
            level if level is None or isinstance(level, str | bool) else _check_finite(level),
            as_integer("rows of a level", count, "a positive integer", least=1),
        )
        for level, count in plain
    )


def column_changes(
    chunks_x: Iterable[Float],
    chunks_y: Iterable[Float],
    encoding: Encoding,
    unknown: Mapping[int, Sequence[Any]] | None = None,
) -> tuple[ColumnChange, ...]:
    """Return the columns that visibly differ, in the order of the table.

    Parameters
    ----------
    chunks_x, chunks_y : iterable of ndarray of shape (rows, k)
        The samples as encoded rows, in chunks.
    encoding : Encoding
    unknown : mapping of int to sequence, optional
        Levels that are not in the encoding, by the position of their column.
    """
    reference = _Summary.of(chunks_x, encoding)
    batch = _Summary.of(chunks_y, encoding, (reference.smallest, reference.largest))
    changes = [
        _change(j, column, reference, batch, (unknown or {}).get(j, ()))
        for j, column in enumerate(encoding.columns)
    ]
    return tuple(change for change in changes if change != ColumnChange(change.name))


@dataclass(frozen=True, eq=False)
class _Summary:
    """Counts of a sample of n rows and d columns.

    Parameters
    ----------
    n_rows : int
    counts : list of Counter
        Numbers of rows of each code of a categorical column; empty for other columns.
    n_missing : ndarray of int, shape (d,)
        Missing values of columns of numbers.
    smallest, largest : ndarray of shape (d,)
    n_beyond : ndarray of int, shape (2, d)
        Numbers of rows below and above limits.
    """

    n_rows: int
    counts: list[Counter[int]]
    n_missing: Float
    smallest: Float
    largest: Float
    n_beyond: Float

    @classmethod
    def of(
        cls, chunks: Iterable[Float], encoding: Encoding, limits: tuple[Float, Float] | None = None
    ) -> _Summary:
        d, flagged = len(encoding.columns), encoding.flagged
        counts: list[Counter[int]] = [Counter() for _ in encoding.columns]
        n_rows, n_missing = 0, np.zeros(d)
        smallest, largest, n_beyond = np.full(d, np.inf), np.full(d, -np.inf), np.zeros((2, d))
        for chunk in chunks:
            n_rows += len(chunk)
            entries = np.array(chunk[:, :d], dtype=np.float64)
            for place, j in enumerate(flagged, d):
                entries[chunk[:, place] == 1.0, j] = np.nan
            n_missing += np.isnan(entries).sum(axis=0)
            smallest = np.fmin(smallest, np.fmin.reduce(entries))
            largest = np.fmax(largest, np.fmax.reduce(entries))
            if limits is not None:
                n_beyond += [(entries < limits[0]).sum(axis=0), (entries > limits[1]).sum(axis=0)]
            for j, column in enumerate(encoding.columns):
                if column.is_label:
                    codes, numbers = np.unique(entries[:, j].astype(np.intp), return_counts=True)
                    counts[j].update(dict(zip(codes.tolist(), numbers.tolist(), strict=True)))
        return cls(n_rows, counts, n_missing, smallest, largest, n_beyond)


def _change(
    j: int, column: Column, summary_x: _Summary, summary_y: _Summary, unknown: Sequence[Any]
) -> ColumnChange:
    n, m = summary_x.n_rows, summary_y.n_rows
    if column.is_label:
        levels = [*(column.levels or ()), *unknown]
        missing = levels.index(None) if None in levels else -1
        counts_x, counts_y = summary_x.counts[j], summary_y.counts[j]
        lost_codes = _only_in(counts_x, counts_y, missing)
        return ColumnChange(
            column.name,
            tuple((levels[c], k) for c, k in _only_in(counts_y, counts_x, missing)),
            tuple((levels[c], k) for c, k in lost_codes if _is_improbable(k, n, m)),
            _shares((counts_x[missing], counts_y[missing]), (n, m)),
        )
    sides = []
    for beyond, limits, extremes in (
        (summary_y.n_beyond[0], summary_x.smallest, summary_y.smallest),
        (summary_y.n_beyond[1], summary_x.largest, summary_y.largest),
    ):
        present = n - summary_x.n_missing[j], m - summary_y.n_missing[j]
        is_shown = present[0] > 0 and _is_improbable(beyond[j], present[1], present[0])
        ends = (_entry(limits[j], column), _entry(extremes[j], column)) if is_shown else None
        sides.append(None if ends is None else OutOfRange(int(beyond[j]), *ends))
    missing_shares = _shares((summary_x.n_missing[j], summary_y.n_missing[j]), (n, m))
    return ColumnChange(column.name, (), (), missing_shares, *sides)


def _is_improbable(k: float, n_sample: float, n_other: float) -> bool:
    """Return whether k random rows of both samples are unlikely to be in one of them."""
    return k > 0 and k * math.log(n_sample / (n_sample + n_other)) <= math.log(_SMALL_PROBABILITY)


def _only_in(
    counts: Counter[int], other_counts: Counter[int], missing: int
) -> list[tuple[int, int]]:
    """Return codes in one sample only and their counts; the code of missing values is ignored."""
    return [
        (code, k) for code, k in counts.most_common() if not other_counts[code] and code != missing
    ]


def _shares(counts: tuple[float, float], sizes: tuple[int, int]) -> tuple[float, float] | None:
    """Return shares of missing values if they differ by more than chance, or are new."""
    share_x, share_y = (float(count / size) for count, size in zip(counts, sizes, strict=True))
    share = sum(counts) / sum(sizes)
    spread = math.sqrt(share * (1.0 - share) * (1.0 / sizes[0] + 1.0 / sizes[1]))
    is_new = counts[0] == 0 < counts[1]
    # The normal quantile of 0.0005 on each side.
    return (share_x, share_y) if is_new or abs(share_x - share_y) > 3.29 * spread else None


def _entry(value: float, column: Column) -> float | str:
    """Return a value as a number, or a date as a text."""
    if column.since is None:
        return float(value)
    moment = np.datetime64(column.since, "us") + np.timedelta64(round(value * DAY), "us")
    return str(moment).removesuffix(".000000").removesuffix("T00:00:00")


def _levels_in_words(levels: Sequence[tuple[Any, int]]) -> str:
    if not levels:
        return ""
    texts = [f"{shortened(repr(level), 24)} ({counted(k, 'row')})" for level, k in levels]
    if len(levels) <= _MAX_LEVELS:
        return ", ".join(texts)
    further_levels = levels[_MAX_LEVELS:]
    more = f"{len(further_levels)} more ({counted(sum(k for _, k in further_levels), 'row')})"
    return ", ".join([*texts[:_MAX_LEVELS], more])


def _range_in_words(side: OutOfRange | None, position: str, direction: str) -> str:
    if side is None:
        return ""
    limit, extreme = (x if isinstance(x, str) else number(x) for x in (side.limit, side.extreme))
    return f"{counted(side.n_rows, 'row')} {position} {limit}, {direction} to {extreme}"


def lines_of_changes(changes: Sequence[ColumnChange]) -> list[str]:
    """Return at most six lines that describe the changes of columns."""
    if not changes:
        return []
    lines = ["column changes, observed and not tested:"]
    for change in changes[:_MAX_LINES]:
        texts = [f"{title}: {text}" for title, text in change.cells().items()]
        lines.append(f"  {shortened(change.name)}: {'; '.join(texts)}")
    if len(changes) > _MAX_LINES:
        n_hidden = len(changes) - _MAX_LINES + 1
        lines[_MAX_LINES:] = [f"  ({counted(n_hidden, 'more column')}: column_changes)"]
    return lines


def table_of_changes(changes: Sequence[ColumnChange]) -> ReportTable:
    """Return a table with one line per change."""
    lines = [(change.name, *cell) for change in changes for cell in change.cells().items()]
    columns = {
        title: [line[place] for line in lines]
        for place, title in enumerate(("column", "change", "observed"))
    }
    return ReportTable("Column changes, observed and not tested", columns)
