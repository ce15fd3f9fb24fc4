"""Progress of a long call: a progress bar, or a function of the user."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate

from pkex.errors import InputWarning, Option, warn
from pkex.inputs.optional import missing_library
from pkex.typing import Report

Progress = bool | Report

# In seconds: calls without progress that take longer issue a warning, after this time of
# measurement.
_LONG_CALL, _MEASUREMENT = 600.0, 5.0
# The same for calls with a faster alternative.
_LONG_CALL_WITH_ADVICE, _MEASUREMENT_WITH_ADVICE = 10.0, 2.0
_ADVICE: ContextVar[str | None] = ContextVar("_ADVICE", default=None)

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@contextmanager
def reporting(progress: Progress, *, unit: str | None = None) -> Iterator[Report | None]:
    """Yield the function that the engine calls with (done, total), for the argument `progress`.

    It is also called at the end. Without progress, long calls issue a warning.

    Parameters
    ----------
    progress : bool or callable
        True for a tqdm bar; a callable is called some twenty times a second with the work done and
        the total, in arbitrary units.
    unit : str, optional
        The unit of the work, such as "rows": a bar then also shows how much is done each second.
    """
    if progress is False:
        yield _forecast()
    elif progress is True:
        with _bar(unit) as bar, _completing(bar) as report:
            yield report
    elif callable(progress):
        with _completing(progress) as report:
            yield report
    else:
        raise TypeError(
            "progress must be True, False or a function of (done, total); "
            f"got {progress!r} ({type(progress).__name__})"
        )


@contextmanager
def advising(advice: str) -> Iterator[None]:
    """Let calls without progress warn before they take over ten seconds, with advice.

    Parameters
    ----------
    advice : str
        A faster alternative, as a clause.
    """
    token = _ADVICE.set(advice)
    try:
        yield
    finally:
        _ADVICE.reset(token)


def _forecast() -> Report:
    """Return a report that warns once if the call is going to take long."""
    # The time and share of the first work; earlier preparations are not measured.
    start: tuple[float, float] | None = None
    last_share, is_quiet = 0.0, True

    def report(done: int, total: int) -> None:
        nonlocal start, last_share, is_quiet
        now, share = time.monotonic(), done / total
        # A smaller share belongs to the next step of the call, which is measured separately.
        if start is None or start[1] == 0.0 or share < last_share:
            start = now, share
        last_share = share
        elapsed, advice = now - start[0], _ADVICE.get()
        long, min_elapsed = _LONG_CALL, _MEASUREMENT
        if advice is not None:
            long, min_elapsed = _LONG_CALL_WITH_ADVICE, _MEASUREMENT_WITH_ADVICE
        if is_quiet and elapsed > min_elapsed and share > start[1]:
            seconds = elapsed / (share - start[1])
            if seconds > long:
                is_quiet = False
                hint = "" if advice is None else f". Faster: {advice}"
                warn(
                    InputWarning(
                        None,
                        f"this call is going to take about {duration(seconds)}, as its first "
                        f"{elapsed:.0f} seconds went; Ctrl-C ends it{hint}",
                        (Option("progress", True), " shows how far it is"),
                        kind="forecast",
                    )
                )

    return report


def duration(seconds: float) -> str:
    """Return a duration in minutes, hours or days, with two digits."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.2g} {name}"
    return f"{seconds:.2g} seconds"


@contextmanager
def _bar(unit: str | None) -> Iterator[Report]:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise missing_library("progress=True", "tqdm", "progress") from error
    # Without a unit, progress is a share, because only the engine knows the total.
    options = {"bar_format": _BAR_FORMAT} if unit is None else {"unit": f" {unit}"}
    with tqdm(total=1.0 if unit is None else math.inf, desc="pkex", **options) as bar:

        def report(done: int, total: int) -> None:
            if unit is not None:
                bar.total = total
            bar.update((done / total if unit is None else done) - bar.n)

        yield report


@contextmanager
def _completing(report: Report) -> Iterator[Report]:
    last_report = -1, 1

    def report_change(done: int, total: int) -> None:
        nonlocal last_report
        # The last part of some work ends with the work, and both ends are reported.
        if done * last_report[1] != last_report[0] * total:
            last_report = done, total
            report(done, total)

    yield report_change
    done, total = last_report
    if done < total:
        report(total, total)


def parts_of(report: Report | None, *sizes: float) -> list[Report | None]:
    """Return functions for parts of given sizes that report the progress of the whole."""
    ends = list(accumulate(sizes))
    return [
        report and _part(report, (end - size) / ends[-1], end / ends[-1])
        for end, size in zip(ends, sizes, strict=True)
    ]


def share(report: Report | None, number: int, n_parts: int) -> Report | None:
    """Return a function for one of several equal parts that reports the progress of the whole."""
    return report and _part(report, number / n_parts, (number + 1) / n_parts)


# The total progress.
_TOTAL = 1_000_000


def _part(report: Report, start: float, end: float) -> Report:
    def report_part(done: int, total: int) -> None:
        share = done / total
        report(round(_TOTAL * (start * (1.0 - share) + end * share)), _TOTAL)

    return report_part
