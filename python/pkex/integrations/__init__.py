"""Explainers with the interfaces of other libraries, in modules named after these.

`pkex.integrations.shap` and `pkex.integrations.shapiq` have subclasses of these libraries'
explainers, which accept their arguments and return their objects. A library is imported by its
module here, never by ``import pkex``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkex.explain.model_columns import ModelColumns

__all__ = ["as_background", "as_one_row", "as_rows", "dimensions"]


def as_rows(X: Any, columns: ModelColumns | None = None) -> tuple[Any, bool]:
    """Return rows as a table, and whether they were a single row of shape (d,).

    The index of a pandas Series has the names of the columns. Documents, for columns that encode
    them, are several rows.
    """
    takes_documents = columns is not None and columns.encoder is not None
    if dimensions(X) != 1 or (takes_documents and _has_documents(X)):
        return X, False
    return (X.to_frame().T if _is_series(X) else np.asarray(X)[None]), True


def as_one_row(name: str, row: Any, of_several: str, columns: ModelColumns | None = None) -> Any:
    """Return a single row, of shape (d,) or (1, d), as a table, or a single document in a list.

    Raises
    ------
    ValueError
        If the argument is anything else; the message names the method for several rows.
    """
    if columns is not None and columns.encoder is not None:
        documents = [row] if isinstance(row, str | Mapping) else row
        if _has_documents(documents) and len(documents) == 1:
            return documents
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
    """Return background data; a pandas Series is a single row, unless it has documents."""
    is_row = _is_series(background) and not _has_documents(background)
    return as_rows(background)[0] if is_row else background


def _has_documents(data: Any) -> bool:
    """Return whether a list or a Series has strings or dicts, and not names of columns."""
    is_named = _is_series(data) and any(isinstance(label, str) for label in data.index)
    return not is_named and any(isinstance(entry, str | Mapping) for entry in data)


def _is_series(data: Any) -> bool:
    return hasattr(data, "to_frame") and hasattr(data, "index")
