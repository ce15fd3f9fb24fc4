"""Times of tasks that take turns on one machine, and their format in tables."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

# Shorter tasks have a warm-up call before each turn: the other task used caches and threads.
SHORT = 0.1

# Fewest and most rounds.
ROUNDS = 3, 25


@dataclass(frozen=True)
class Task:
    """A timed call, the number of rows (pairs, calls) in it, and the clock."""

    call: Callable[[], object]
    rows: float = 1
    clock: Callable[[], float] = time.perf_counter

    def run(self):
        """Return the seconds of one call, and its result."""
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
    """Check that both return the same values; a peer may return fewer rows."""
    if theirs is not None:
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours[: len(theirs)], theirs, rtol=1e-9, atol=1e-9 * scale)


def drop(_):
    """Return nothing: there are no values to compare."""


# --- cells of tables ---


def spread(values, tell):
    """Format the median, the smallest and the largest."""
    return f"{tell(np.median(values))} ({tell(min(values))} to {tell(max(values))})"


def ratio(peer, ours):
    """Format the speed relative to the peer."""
    return spread(peer / ours, times)


def slowdown(peer, ours):
    """Format the time relative to the peer."""
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
