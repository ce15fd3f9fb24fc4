"""Explainers with the interfaces of other libraries, in modules named after these.

`pkex.integrations.shap` and `pkex.integrations.shapiq` have subclasses of these libraries'
explainers, which accept their arguments and return their objects. A library is imported by its
module here, never by ``import pkex``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_background", "as_one_row", "as_rows", "dimensions"]


def as_rows(X: Any) -> tuple[Any, bool]:
    """Return rows as a table, and whether they were a single row of shape (d,).

    The index of a pandas Series has the names of the columns.
    """
    if dimensions(X) != 1:
        return X, False
    return (X.to_frame().T if _is_series(X) else np.asarray(X)[None]), True


def as_one_row(name: str, row: Any, of_several: str) -> Any:
    """Return a single row, of shape (d,) or (1, d), as a table.

    Raises
    ------
    ValueError
        If the argument is anything else; the message names the method for several rows.
    """
    table, _ = as_rows(row)
    if dimensions(table) != 2 or np.shape(table)[0] != 1:
        raise ValueError(
            f"{name} must be one row, of shape (d,) or (1, d); got shape {np.shape(row)}. For "
            f"several rows use {of_several}"
        )
    return table


def dimensions(X: Any) -> int:
    """Return the number of dimensions; 2 for lists of unequal lengths."""
    try:
        return np.ndim(X)
    except ValueError:
        return 2


def as_background(background: Any) -> Any:
    """Return background data; a pandas Series is a single row."""
    return as_rows(background)[0] if _is_series(background) else background


def _is_series(data: Any) -> bool:
    return hasattr(data, "to_frame") and hasattr(data, "index")
