"""Progress of a long call: a bar, or a function of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "reporting", "share"]

Progress = bool | Callable[[int, int], None]

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@contextmanager
def reporting(progress: Progress) -> Iterator[Callable[[int, int], None] | None]:
    """Turn the argument `progress` into what the engine calls with (done, total), or None.

    Parameters
    ----------
    progress : bool or callable
        True for a tqdm bar; a callable is called some twenty times a second with the work done and
        the total, in arbitrary units.
    """
    if progress is False:
        yield None
    elif progress is True:
        with _bar() as report:
            yield report
    elif callable(progress):
        yield progress
    else:
        raise TypeError(
            "progress must be True, False or a function of (done, total); "
            f"got {progress!r} ({type(progress).__name__})"
        )


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("progress=True needs tqdm: pip install 'pkex[progress]'") from error
    # What has been done is counted as a share, since the engine alone knows the total.
    with tqdm(total=1.0, desc="pkex", bar_format=_BAR_FORMAT) as bar:

        def report(done: int, total: int) -> None:
            bar.update(done / total - bar.n)

        yield report
        report(1, 1)


def share(
    report: Callable[[int, int], None] | None, number: int, n_parts: int
) -> Callable[[int, int], None] | None:
    """Report the progress of one of several parts as that of the whole."""
    if report is None:
        return None
    return lambda done, total: report(1000 * number + 1000 * done // total, 1000 * n_parts)
