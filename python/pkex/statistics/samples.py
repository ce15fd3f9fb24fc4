"""Samples, as users give them: checked, named and brought into the engine's form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from pkex.errors import warn
from pkex.inputs.columns import Labels
from pkex.inputs.matrix import as_matrix
from pkex.inputs.table import Table
from pkex.inputs.wording import counted, shown
from pkex.typing import Float

__all__ = ["as_rows", "as_sample", "check_row_count", "two_samples", "warn_of_constant_columns"]

# What to do about entries that are no numbers, by what the error calls them.
_REMEDIES = {
    "date|time": "give dates as numbers, such as days since the first",
    "str": "number categories, by one encoder for all samples, and compare their columns by "
    "pkex.kernels.Categorical(), such as kernel=RBF(2.0).on([0, 1]) * Categorical().on([2])",
}


def as_rows(
    data: Any, name: str, *, n_columns: int | None = None, names: Sequence[str] | None = None
) -> Float:
    """Return a table as `as_matrix` does, whose error says what to do about dates and texts."""
    try:
        return as_matrix(data, name, n_columns=n_columns, names=names)
    except TypeError as error:
        for words, remedy in _REMEDIES.items():
            if re.search(words, str(error), re.IGNORECASE):
                raise TypeError(f"{error}; {remedy}") from None
        raise


def as_sample(
    data: ArrayLike,
    name: str,
    labels: Labels | None = None,
    *,
    like: Labels | None = None,
    n_columns: int | None = None,
) -> Table:
    """Read a sample, whose labels may have been read before.

    Its columns are called as those of another one, `like`, if it does not name them.
    """
    labels = Labels.of(data) if labels is None else labels
    names = labels.texts or (None if like is None else like.texts)
    return Table(as_rows(data, name, n_columns=n_columns, names=names), labels, names)


def two_samples(X: ArrayLike, Y: ArrayLike) -> tuple[Table, Table]:
    """Read two samples of the same columns; each has the other's names if it has none.

    Raises
    ------
    ValueError, TypeError
        If one is not a finite numeric table of at least two rows, or their columns differ.
    """
    of_x, of_y = Labels.comparable(X, "X"), Labels.comparable(Y, "Y")
    of_y.check_same(of_x, "Y", "X")
    x = as_sample(X, "X", of_x, like=of_y)
    y = as_sample(Y, "Y", of_y, like=of_x, n_columns=x.rows.shape[1])
    for table, name in ((x, "X"), (y, "Y")):
        check_row_count(table.rows, name, 2)
    return x, y


def check_row_count(rows: Float, name: str, least: int, why: str = "") -> None:
    """Refuse a sample of too few rows."""
    if len(rows) < least:
        raise ValueError(
            f"{name} must have at least {least} rows{why}; got {counted(len(rows), 'row')}"
        )


def warn_of_constant_columns(
    rows: Float, names: Sequence[str], what: str, to: str | None = None
) -> None:
    """Warn of columns in which all rows are equal: to kernels of differences they play no part.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    names : sequence of str
        Of the columns.
    what : str
        What messages call the rows.
    to : str, optional
        What such columns contribute nothing to, if they may to something else.
    """
    is_constant = (rows == rows[0]).all(axis=0)
    constant = [name for name, found in zip(names, is_constant, strict=True) if found]
    if constant:
        plural = len(constant) > 1
        warn(
            f"column{'s' if plural else ''} {shown(constant)} of {what} "
            f"{'are' if plural else 'is'} constant and contribute{'' if plural else 's'} nothing"
            f"{'' if to is None else f' to {to}'}"
        )
