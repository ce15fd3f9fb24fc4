"""Tasks that take turns on the same machine, and how their times are told."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

# Tasks that take less are called once more before each turn: the one before left caches and
# threads to itself.
SHORT = 0.1

# Fewest and most rounds.
ROUNDS = 3, 25


@dataclass(frozen=True)
class Task:
    """Something to time: a call, how many rows (pairs, calls) its time is divided by, the clock."""

    call: Callable[[], object]
    rows: float = 1
    clock: Callable[[], float] = time.perf_counter

    def run(self):
        """Return the seconds of one call, and what it returned."""
        start = self.clock()
        result = self.call()
        return self.clock() - start, result


def take_turns(benchmark, tasks, *, seconds=10.0, check=None):
    """Time tasks in turn for about `seconds`, after a first round that does not count.

    Returns the seconds per row, an array with a row for each task and a column for each round.
    What pytest-benchmark records is the last task. `check` is called with the tasks' results.
    """
    first, results = zip(*[task.run() for task in tasks], strict=True)
    if check is not None:
        check(*results)
    rounds = int(np.clip(seconds / sum(first), *ROUNDS))
    found = [[] for _ in tasks]

    def turn(number):
        task = tasks[number]
        if first[number] < SHORT:
            task.call()
        found[number].append(task.run()[0] / task.rows)

    def others():
        for number in range(len(tasks) - 1):
            turn(number)

    benchmark.pedantic(partial(turn, len(tasks) - 1), setup=others, rounds=rounds)
    return np.array(found)


def assert_agree(theirs, ours):
    """Both return the same values, so the same thing is timed; a peer may return fewer rows."""
    if theirs is not None:
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours[: len(theirs)], theirs, rtol=1e-9, atol=1e-9 * scale)


def drop(_):
    """Return nothing, as there is nothing to compare."""


# --- what a table says of the rounds ---


def spread(values, tell):
    """Tell the median, and the smallest and largest."""
    return f"{tell(np.median(values))} ({tell(min(values))} to {tell(max(values))})"


def ratio(peer, ours):
    """How many times as fast as the peer."""
    return spread(peer / ours, times)


def slowdown(peer, ours):
    """How many times the peer's time."""
    return f"{spread(ours / peer, times)} the time"


def difference(peer, ours):
    return spread(ours - peer, lambda seconds: f"{'−' if seconds < 0 else '+'}{duration(seconds)}")


def times(factor):
    return f"{significant(factor)}×"


def duration(seconds):
    units = {"h": 3600.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    unit = next((unit for unit, size in units.items() if abs(seconds) >= size), "ns")
    return f"{significant(abs(seconds) / units[unit])} {unit}"


def significant(number):
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"
