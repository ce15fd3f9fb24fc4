"""Values of rows as the columns of a table, for CSV and Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.results.row_values import RowValues
from pkex.typing import Float

# The titles of columns that all tables may have.
_TITLES = {"row", "output", "base_value"}


def value_columns(attribution: RowValues, first: int = 0) -> dict[str, NDArray[Any]]:
    """Return columns with a line for each row, or for each row and output if there are several.

    They are the number of the row from 1, its label if labels have a name, the output, the base
    value, the values of each feature, and their standard errors or standard deviations.

    Parameters
    ----------
    attribution : RowValues
    first : int
        The number of rows before these.
    """
    names = attribution.axes.output_names
    n_outputs = 1 if names is None else len(names)
    n_rows = len(attribution)
    numbers = np.arange(first + 1, first + n_rows + 1)
    columns: dict[str, NDArray[Any]] = {"row": np.repeat(numbers, n_outputs)}
    labels = attribution.axes.row_index
    if labels is not None and labels.name is not None:
        title = str(labels.name)
        columns[f"{title} (label)" if title in _TITLES else title] = np.repeat(labels, n_outputs)
    if names is not None:
        columns["output"] = np.tile(np.array(names, dtype=object), n_rows)
    columns["base_value"] = np.ravel(attribution.base_values)
    tables: dict[str, Float] = {"": attribution.values}
    tables |= {f" {name}": spread for name, spread in attribution.spreads.items()}
    for kind, table in tables.items():
        by_line = table if names is None else np.moveaxis(table, 1, -1)
        by_line = by_line.reshape(n_rows * n_outputs, -1)
        for feature, values in zip(attribution.axes.features, by_line.T, strict=True):
            title = feature + kind
            columns[f"{title} (feature)" if title in columns else title] = values
    return columns
