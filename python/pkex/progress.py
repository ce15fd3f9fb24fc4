"""Progress of a long call: a bar, or a function of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate

__all__ = ["Progress", "parts_of", "reporting", "share"]

_Report = Callable[[int, int], None]
Progress = bool | _Report

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@contextmanager
def reporting(progress: Progress) -> Iterator[_Report | None]:
    """Turn the argument `progress` into what the engine calls with (done, total), or None.

    When all is done, that is reported, too.

    Parameters
    ----------
    progress : bool or callable
        True for a tqdm bar; a callable is called some twenty times a second with the work done and
        the total, in arbitrary units.
    """
    if progress is False:
        yield None
    elif progress is True:
        with _bar() as bar, _completed(bar) as report:
            yield report
    elif callable(progress):
        with _completed(progress) as report:
            yield report
    else:
        raise TypeError(
            "progress must be True, False or a function of (done, total); "
            f"got {progress!r} ({type(progress).__name__})"
        )


@contextmanager
def _bar() -> Iterator[_Report]:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'pkex[progress]'") from error
    # What has been done is counted as a share, since the engine alone knows the total.
    with tqdm(total=1.0, desc="pkex", bar_format=_BAR_FORMAT) as bar:

        def report(done: int, total: int) -> None:
            bar.update(done / total - bar.n)

        yield report


@contextmanager
def _completed(report: _Report) -> Iterator[_Report]:
    last = 0, 1

    def remember(done: int, total: int) -> None:
        nonlocal last
        last = done, total
        report(done, total)

    yield remember
    done, total = last
    if done < total:
        report(total, total)


def parts_of(report: _Report | None, *sizes: float) -> list[_Report | None]:
    """Return for each of several parts, given their sizes, what reports the whole's progress."""
    ends = list(accumulate(sizes))
    return [
        report and _part(report, (end - size) / ends[-1], end / ends[-1])
        for end, size in zip(ends, sizes, strict=True)
    ]


def share(report: _Report | None, number: int, n_parts: int) -> _Report | None:
    """Report the progress of one of several equal parts as that of the whole."""
    return parts_of(report, *[1.0] * n_parts)[number]


# Units of the whole.
_WHOLE = 1_000_000


def _part(report: _Report, start: float, end: float) -> _Report:
    def report_part(done: int, total: int) -> None:
        share = done / total
        report(round(_WHOLE * (start * (1.0 - share) + end * share)), _WHOLE)

    return report_part
