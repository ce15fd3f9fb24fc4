"""Settings of a computation, which change results by rounding errors at most."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from pkex.execution.backends import Workers
from pkex.execution.progress import share
from pkex.inputs.choices import Method, Summation
from pkex.typing import Report

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Computation:
    """Settings of a computation.

    Parameters
    ----------
    method : {"quadrature", "recursion"}, default "quadrature"
    summation : {"compensated", "plain"}, default "compensated"
    n_threads : int, default 1
    progress : callable, optional
        Called with the work done and the total.
    workers : Workers, optional
        The joblib workers for sums over pairs.
    """

    method: Method = "quadrature"
    summation: Summation = "compensated"
    n_threads: int = 1
    progress: Report | None = None
    workers: Workers | None = None

    def reporting(self, progress: Report | None) -> Computation:
        """Return this computation with another progress."""
        return replace(self, progress=progress)

    def alone(self) -> Computation:
        """Return this computation with one thread, without progress and workers."""
        return replace(self, n_threads=1, progress=None, workers=None)

    def compensated(self) -> Computation:
        """Return this computation with compensated sums."""
        return replace(self, summation="compensated")

    def part(self, number: int, n_parts: int) -> Computation:
        """Return this computation for one of several equal parts of the progress."""
        return self.reporting(share(self.progress, number, n_parts))

    def over(self, items: Collection[_Item]) -> Iterator[tuple[_Item, Computation]]:
        """Yield items, each with this computation for its part of the progress.

        The end of each part is reported.
        """
        for number, item in enumerate(items):
            part = self.part(number, len(items))
            yield item, part
            part.report(1, 1)

    def report(self, done: int, total: int) -> None:
        """Report the work done and the total, if there is a progress."""
        if self.progress is not None:
            self.progress(done, total)
