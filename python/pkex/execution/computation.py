"""How values are computed: what changes them by rounding at most."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pkex.execution.backends import Workers
from pkex.execution.progress import share
from pkex.inputs.choices import Method, Summation
from pkex.typing import Report

__all__ = ["Computation"]


@dataclass(frozen=True)
class Computation:
    """How values are computed: by which method and sums, with how many threads.

    Parameters
    ----------
    method : {"quadrature", "recursion"}, default "quadrature"
    summation : {"compensated", "plain"}, default "compensated"
    n_threads : int, default 1
    progress : callable, optional
        Told the work done and the total.
    workers : Workers, optional
        Those of joblib's that sums over pairs may be computed on.
    """

    method: Method = "quadrature"
    summation: Summation = "compensated"
    n_threads: int = 1
    progress: Report | None = None
    workers: Workers | None = None

    def reporting(self, progress: Report | None) -> Computation:
        """Return the same with other progress."""
        return replace(self, progress=progress)

    def alone(self) -> Computation:
        """Return this computation with one thread, without progress and workers."""
        return replace(self, n_threads=1, progress=None, workers=None)

    def compensated(self) -> Computation:
        """Return this computation with compensated sums."""
        return replace(self, summation="compensated")

    def part(self, number: int, n_parts: int) -> Computation:
        """Return the same for one of several equal parts, whose progress is the whole's."""
        return self.reporting(share(self.progress, number, n_parts))
