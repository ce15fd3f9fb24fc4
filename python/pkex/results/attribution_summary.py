"""Printed summaries of attributions: sizes, names and a small table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.axes import FEATURE, OUTPUT, ROW
from pkex.results.document_lines import document_lines, document_of
from pkex.results.document_pictures import document_for_notebooks
from pkex.results.row_values import RowValues
from pkex.results.summary import Summary, SummaryTable, table_of_largest
from pkex.results.tables import MAX_VALUES, number
from pkex.results.uncertainty import spread_label


def summary_of(kind: str, rows: RowValues, n_lines: int) -> Summary:
    """Return a summary: sizes, names on removed axes, the value function and a small table.

    The table has the largest values and the data of one row, or the largest `importance` of several
    rows. It is omitted if there are more than ten million values.
    """
    head = f"{kind}({', '.join(_description(rows))})"
    has_table = 0 < np.size(rows.values) <= MAX_VALUES
    tables = [_table(rows, n_lines)] if has_table else []
    document = document_of(rows)
    if document is None or document.texts[0] is None or not _is_of_features(rows):
        return Summary(head, tables, [rows.caution] if rows.caution else [])
    row = rows.select(0) if ROW in rows.axes.present else rows
    return Summary(head, tables, text_markup=partial(document_for_notebooks, row))


def _is_of_features(rows: RowValues) -> bool:
    """Return whether values have the axis of features, and a single output."""
    return FEATURE in rows.axes.present and OUTPUT not in rows.axes.present


def _description(rows: RowValues) -> Iterator[str]:
    axes = rows.axes
    sizes = [counted(n, axis) for axis, n in zip(axes.present, np.shape(rows.values), strict=True)]
    if sizes:
        yield " × ".join(sizes)
    if FEATURE not in axes.present:
        yield f"feature {axes.features[0]!r}"
    if rows.documents is not None:
        yield rows.documents.title
    if rows.axes.output_name is not None:
        yield f"output {rows.axes.output_name!r}"
    if rows.value_function is not None:
        yield rows.value_function
    if rows.is_centered:
        yield "centered"
    if rows.loss_label is not None:
        yield rows.loss_label
    if not rows.has_data and axes.present == (FEATURE,):
        yield f"sum {number(np.sum(rows.values))}"
    # Posterior standard deviations before standard errors.
    for name, spread in reversed(rows.spreads.items()):
        if np.size(spread):
            yield f"{name}s up to {number(np.max(spread))}"
    has_base = rows.has_data and OUTPUT not in axes.present
    if has_base and (base := np.unique(rows.base_values)).size == 1:
        yield f"base value {number(base[0])}"


def _table(rows: RowValues, n_lines: int) -> SummaryTable:
    if document_of(rows) is not None:
        return _table_of_document(rows, n_lines)
    values, _, data = rows.with_every_axis()
    is_row = len(values) == 1
    sizes = np.reshape(rows.importance(), values.shape[1:])
    signs = {} if rows.loss is None or is_row else {"mean value": values.mean(axis=0)}
    spreads = signs | {
        spread_label(name, is_row=is_row): np.reshape(spread, values.shape).mean(axis=0)
        for name, spread in rows.spreads.items()
    }
    return table_of_largest(
        rows.axes.features.__getitem__,
        values[0] if is_row else sizes,
        thing=FEATURE,
        label="value" if is_row else rows.importance_label,
        output_names=rows.axes.output_names,
        data=data[0] if is_row and rows.has_data else None,
        spreads=spreads,
        n_lines=n_lines,
    )


def _table_of_document(rows: RowValues, n_lines: int) -> SummaryTable:
    """Return a table of the strongest present words, and the sums of the others."""
    lines = document_lines(rows, n_lines)
    documents = document_of(rows)
    return table_of_largest(
        lines.names.__getitem__,
        lines.values,
        thing=FEATURE if documents is None else documents.noun,
        label="value",
        output_names=rows.axes.output_names,
        data=np.array(lines.data, dtype=object),
        spreads={spread_label(name, is_row=True): spread for name, spread in lines.spreads.items()},
        n_lines=len(lines.names),
        are_sorted=True,
    )
