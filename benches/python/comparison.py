"""Tasks to time against each other, and how their times are told."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Task:
    """Something to time: a call, and how many rows (or calls) its time is divided by."""

    call: Callable[[], object]
    rows: int = 1

    def timed(self, seconds):
        """Return a function that makes the call and appends the seconds per row to a list."""

        def run():
            start = time.perf_counter()
            self.call()
            seconds.append((time.perf_counter() - start) / self.rows)

        return run


def assert_agree(theirs, ours):
    """Both return the same values, so the same thing is timed; a peer may return fewer rows."""
    if theirs is not None:
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours[: len(theirs)], theirs, rtol=1e-9, atol=1e-9 * scale)


def ratio(peer, ours):
    return f"{peer / ours:.3g}×" if peer < 1000 * ours else f"{peer / ours:,.0f}×"


def difference(peer, ours):
    return f"{'+' if ours >= peer else '−'}{duration(abs(ours - peer))}"


def duration(seconds):
    units = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}
    unit = next((unit for unit, size in units.items() if abs(seconds) >= size), "µs")
    return f"{seconds / units[unit]:.3g} {unit}"
