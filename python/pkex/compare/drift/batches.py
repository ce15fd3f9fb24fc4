"""Batches as users give them to a timeline: with their names, one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pkex.errors import InputError, subject, warn
from pkex.tables.kinds import is_frame

__all__ = [
    "about_batch",
    "cannot_be_found",
    "counted_batches",
    "named_batches",
    "warn_of_few_permutations",
]


def named_batches(batches: Any) -> list[tuple[Any, Any]]:
    """Return names and tables of batches: a dict, pairs of both, or tables, numbered from 0.

    Raises
    ------
    ValueError, TypeError
        If there are none, or it is one table.
    """
    if _is_table(batches):
        raise TypeError(
            "batches must be a list of tables, or a dict of names to tables; got one table "
            f"({type(batches).__name__}): take predict for it"
        )
    if not isinstance(batches, Iterable):
        raise TypeError(
            "batches must be a list of tables, or a dict of names to tables; got "
            f"{type(batches).__name__}"
        )
    listed = list(batches.items() if isinstance(batches, Mapping) else batches)
    if not listed:
        raise ValueError("batches is empty; give one table or more")
    if all(isinstance(item, tuple) and len(item) == 2 and _is_table(item[1]) for item in listed):
        return listed
    return listed if isinstance(batches, Mapping) else list(enumerate(listed))


def _is_table(item: Any) -> bool:
    if hasattr(item, "ngroups"):  # a table that pandas has grouped
        return False
    return is_frame(item) or getattr(item, "ndim", 1) == 2 or hasattr(item, "schema")


@contextmanager
def about_batch(name: object) -> Iterator[None]:
    """Have errors and warnings name a batch."""
    try:
        with subject(f"batch {name!r}: "):
            yield
    except InputError as error:
        raise error.within(f"batch {name!r}: ") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"batch {name!r}: {error}") from error


def cannot_be_found(n_batches: int, n_permutations: int, alpha: float) -> str | None:
    """Say that no batch can have drift by its corrected p-value, and what helps; None if it can."""
    least = n_batches / (n_permutations + 1)
    if not n_permutations or least <= alpha * (1.0 + 1e-12):
        return None
    needed = math.ceil(n_batches / alpha * (1.0 - 1e-12)) - 1
    return (
        f"no drift can be found in {n_batches} batches with n_permutations={n_permutations}: "
        f"p-values corrected for the number of batches are at least {min(least, 1.0):.3g}, over "
        f"alpha={alpha:g}; make the detector with n_permutations={needed} or more"
    )


def warn_of_few_permutations(n_batches: int, n_permutations: int, alpha: float) -> None:
    """Warn if no batch can have drift by its corrected p-value."""
    message = cannot_be_found(n_batches, n_permutations, alpha)
    if message is not None:
        warn(message)


def counted_batches(count: int) -> str:
    """Return a number of batches, in words."""
    return "1 batch" if count == 1 else f"{count:,} batches"
