"""Settings of a computation, which change results by rounding errors at most."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pkex.execution.backends import Workers
from pkex.execution.progress import share
from pkex.inputs.choices import Method, Summation
from pkex.typing import Report

__all__ = ["Computation"]


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
