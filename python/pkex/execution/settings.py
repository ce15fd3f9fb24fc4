"""Settings of users, which change results by rounding errors at most."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields

from pkex.execution.computation import Computation
from pkex.execution.memory import memory_errors
from pkex.execution.progress import Progress, reporting
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.inputs.choices import METHODS, SUMMATIONS, Method, Summation, check_choice


@dataclass(frozen=True)
class Settings:
    """Checked settings of a computation, as arguments of users.

    Parameters
    ----------
    method : {"quadrature", "recursion"}, default "quadrature"
    summation : {"compensated", "plain"}, default "compensated"
    n_jobs : int or None, default -1
    """

    method: Method = "quadrature"
    summation: Summation = "compensated"
    n_jobs: int | None = -1

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("summation", self.summation, SUMMATIONS)
        object.__setattr__(self, "n_jobs", check_n_jobs(self.n_jobs))

    @property
    def n_threads(self) -> int:
        """The number of threads in the current process."""
        return thread_count(self.n_jobs)

    @contextmanager
    def computing(self, progress: Progress = False) -> Iterator[Computation]:
        """Yield the computation of a call, while its progress is reported."""
        with memory_errors(), reporting(progress) as report:
            yield Computation(self.method, self.summation, self.n_threads, report)

    def changed_arguments(self) -> list[str]:
        """Return settings that differ from the defaults, as keyword arguments."""
        return [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
