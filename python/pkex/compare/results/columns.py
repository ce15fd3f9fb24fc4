"""Checks of the columns in documents and files, so that results cannot be wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pkex.tables.encode import LABELS, TYPES, Column


def expect(condition: Any, part: str) -> None:
    """Raise an error that names a part, unless it is right."""
    if not condition:
        raise ValueError(f"wrong {part}")


def parse_columns(plain: Any) -> tuple[Column, ...]:
    """Return columns from data written by `Column.to_dict`, or raise an error."""
    columns = []
    for fields in plain:
        levels = None if fields["levels"] is None else tuple(fields["levels"])
        column = Column(**{**fields, "levels": levels})
        _check_column(column)
        columns.append(column)
    return tuple(columns)


def _check_column(column: Column) -> None:
    is_label = column.compared == "labels"
    expect(are_texts((column.name,)) and column.type in TYPES, f"column {column.name!r}")
    expect(column.compared in ("numbers", "days", "labels"), f"comparison of {column.name!r}")
    expect(is_label == (column.levels is not None), f"levels of {column.name!r}")
    levels = column.levels or ()
    for level in levels:
        is_number = isinstance(level, int | float) and math.isfinite(level)
        expect(level is None or isinstance(level, str) or is_number, "level")
    expect(len(set(levels)) == len(levels), f"levels of {column.name!r}")
    expect(is_label or column.type not in LABELS, f"comparison of {column.name!r}")
    if column.imputed is not None:
        is_finite = np.isfinite(np.float64(column.imputed))
        expect(is_finite and not is_label, f"median of {column.name!r}")
    if column.since is not None:
        expect(not np.isnat(np.datetime64(column.since, "us")), f"first date of {column.name!r}")


def are_texts(names: tuple[Any, ...]) -> bool:
    """Return whether all names are strings."""
    return all(isinstance(name, str) for name in names)
