"""Batches of a timeline: their names, and the messages about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pkex.errors import InputError, subject
from pkex.tables.kinds import is_frame


def name_batches(batches: Any) -> list[tuple[Any, Any]]:
    """Return names and tables of batches from a dict, pairs, or tables, numbered from 0.

    Raises
    ------
    ValueError, TypeError
        If there are no batches, or a single table is passed.
    """
    if _is_table(batches):
        raise TypeError(
            "batches must be a list of tables, or a dict of names to tables; got one table "
            f"({type(batches).__name__}). Call predict for a single table"
        )
    if not isinstance(batches, Iterable):
        raise TypeError(
            "batches must be a list of tables, or a dict of names to tables; got "
            f"{type(batches).__name__}"
        )
    items = list(batches.items() if isinstance(batches, Mapping) else batches)
    if not items:
        raise ValueError("batches is empty. Pass at least one table")
    if all(isinstance(item, tuple) and len(item) == 2 and _is_table(item[1]) for item in items):
        return items
    return items if isinstance(batches, Mapping) else list(enumerate(items))


def _is_table(item: Any) -> bool:
    if hasattr(item, "ngroups"):  # a table that pandas has grouped
        return False
    return is_frame(item) or getattr(item, "ndim", 1) == 2 or hasattr(item, "schema")


@contextmanager
def about_batch(name: object) -> Iterator[None]:
    """Add the name of a batch to errors and warnings."""
    try:
        with subject(f"batch {name!r}: "):
            yield
    except InputError as error:
        raise error.within(f"batch {name!r}: ") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"batch {name!r}: {error}") from error


def few_permutations_note(n_batches: int, n_permutations: int, alpha: float) -> str | None:
    """Return a message if no adjusted p-value can be at most alpha; None if one can."""
    min_pvalue = n_batches / (n_permutations + 1)
    if not n_permutations or min_pvalue <= alpha * (1.0 + 1e-12):
        return None
    min_permutations = math.ceil(n_batches / alpha * (1.0 - 1e-12)) - 1
    return (
        f"drift in {n_batches} batches cannot be detected with n_permutations={n_permutations}: "
        f"p-values adjusted for the number of batches are at least {min(min_pvalue, 1.0):.3g}, "
        f"above alpha={alpha:g}. Create the detector with n_permutations={min_permutations} or more"
    )


def batches_in_words(count: int) -> str:
    """Return a number of batches, in words."""
    return "1 batch" if count == 1 else f"{count:,} batches"
