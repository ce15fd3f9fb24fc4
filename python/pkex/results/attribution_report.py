"""Content of the HTML report of an explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.column_pictures import dependence_figure
from pkex.results.column_values import ColumnValues
from pkex.results.document_lines import document_lines, document_of
from pkex.results.document_pictures import GROUPS, colored_document
from pkex.results.report import (
    Figure,
    PageContent,
    ReportTable,
    join_texts,
    of_outputs_left_out,
    percent,
)
from pkex.results.row_values import RowValues
from pkex.results.svg import bars
from pkex.results.tables import number, numbers, shortened, signed_number, visible
from pkex.results.uncertainty import STANDARD_DEVIATION, STANDARD_ERROR, spread_label
from pkex.typing import Float

# The largest numbers of features in the bar plot and of features with a figure of their own, and
# of rows in a table.
_MAX_BARS, _MAX_DETAILS, _MAX_ROWS = 20, 6, 5
# The largest numbers of words in a table of several documents, and of texts.
_MAX_WORDS, _MAX_TEXTS = 100, 30
# The largest numbers of outputs that are shown, and that the conclusion names.
_MAX_OUTPUTS, _MAX_IN_CONCLUSION = 6, 3

_READING = (
    "The value of a feature in a row says how much it moved the model's {noun} there, in the "
    "{noun}'s units: averaged over all orders in which features can join a coalition. The base "
    "value and the values of a row add up to the {noun}.",
    "Features are ordered by “{label}”: how much they move the {noun}, up or down, on average over "
    "all rows.",
    "Shapley values describe the model, not the world: a model may divide the effect of associated "
    "features among them in any way.",
)
_READING_DOCUMENT = (
    "A {noun} is present in a document if its number is not 0. Absent {noun}s also have values, "
    "since their absence may raise or lower the output. A {noun} that occurs several times has a "
    "single value, shown at each of its places."
)
_READING_OBSERVATIONAL = (
    "Observational values are conditional expectations: absent features follow the present ones as "
    "they do in the background. A feature that the model ignores has a value if it is associated "
    "with others."
)
_READING_LOSS = (
    "The loss is the {loss} of a row. Positive values add to the error, negative values reduce it. "
    "The base value is the loss of a prediction without features."
)
_READING_REDUCTIONS = {
    "mean": "The value of a feature is how much it reduces the mean {loss} over all rows (SAGE): "
    "averaged over all orders in which features can join a coalition. Negative values add to the "
    "error. The values add up to the mean loss of the base value minus that of the model.",
    "share": "The value of a feature is the share of the mean {loss} of the base value that it "
    "removes, averaged over all orders in which features can join a coalition. Negative values add "
    "to the error. For the squared error, the values add up to R² compared with the base value.",
}
_READING_ROWS = (
    "Std err is the standard error for rows as a sample: two of them on both sides of a value "
    "cover the value for all rows of that kind in about 95 of 100 cases."
)
_READING_SPREADS = {
    STANDARD_ERROR: "Values are estimates from some of the coalitions of features. Std err is the "
    "standard error, which more coalitions make smaller: two of them on both sides of a value "
    "cover the exact one in about 95 of 100 cases.",
    STANDARD_DEVIATION: "Std dev is the standard deviation of the value under the model's own "
    "uncertainty: over the functions that the Gaussian process holds possible.",
}
_READING_MEANS = "Their means over rows are upper bounds of the uncertainty of the mean |value|."
# The mean absolute value of a normal deviate is √(2/π) = 0.80 of its standard deviation.
_READING_SIZES = (
    "Sampling errors add to mean |values|: for a feature without effect, the mean |value| is about "
    "0.8 times its mean std err. Features that differ by less than that may be in the wrong order."
)


def report_attribution(
    attribution: RowValues,
    what: str,
    settings: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Return the content of a report of explained rows, with one or several outputs.

    Parameters
    ----------
    attribution : RowValues
        The values of at least one row.
    what : str
        The explained model or data, for the title.
    settings : mapping of str to str
        The settings of the computation.
    notes : tuple of str
        Warnings and notes.
    """
    outputs = _outputs(attribution)
    shown_outputs = dict(list(outputs.items())[:_MAX_OUTPUTS])
    first = next(iter(outputs.values()))
    documents = _documents(shown_outputs)
    cautions = [f"{attribution.caution}."] if attribution.caution else []
    left_out = len(shown_outputs) * _n_texts(attribution) - len(documents)
    return PageContent(
        f"Explanation of {what}",
        conclusion(attribution),
        tuple(t for name, values in shown_outputs.items() for t in _tables(values, name)),
        tuple(_picture(values, name) for name, values in shown_outputs.items()),
        _details(first),
        "Leading features" if len(outputs) == 1 else f"Leading features, {next(iter(outputs))}",
        _reading(attribution),
        settings,
        (
            *cautions,
            *notes,
            *of_outputs_left_out(len(outputs) - len(shown_outputs)),
            *_note_of_texts(left_out),
        ),
        documents,
    )


def conclusion(attribution: RowValues) -> str:
    """Return a sentence that names the most important features of the first few outputs."""
    n_rows = len(attribution)
    row = "row" if attribution.documents is None else "document"
    rows = f"In this {row}" if n_rows == 1 else f"On average over {counted(n_rows, row)}"
    if attribution.reduction is not None:
        rows = f"Over all {row}s"
    elif STANDARD_ERROR in attribution.spreads:
        rows = f"By estimates, {rows[:1].lower()}{rows[1:]}"
    start = f"{rows}, the {_noun(attribution)}"
    base = np.unique(attribution.base_values)
    if attribution.axes.output_names is None:
        has_base = len(base) == 1 and attribution.has_data
        ending = f"; the base value is {number(float(base[0]))}." if has_base else "."
        if attribution.reduction is not None:
            ending = f"; the values add up to {number(attribution.values.sum())}."
        output_name = _quoted_name(attribution.axes.output_name)
        return f"{start}{output_name} is moved most by {_movers(attribution)}{ending}"
    (name, values), *other_outputs = _outputs(attribution).items()
    parts = [f"{start}{_quoted_name(name)} is moved most by {_movers(values)}"]
    limit = _MAX_IN_CONCLUSION - 1
    for name, values in other_outputs[:limit]:
        parts.append(f"{_quoted_name(name).lstrip()} by {_movers(values)}")
    if len(other_outputs) > limit:
        parts.append(counted(len(other_outputs) - limit, "more output"))
    return "; ".join(parts) + "."


def _quoted_name(output: str | None) -> str:
    """Return the name of an output after its noun, "" without a name."""
    return f" '{shortened(output)}'" if output else ""


def _noun(attribution: RowValues) -> str:
    """Return what the values move: the output, the loss of a row, or the mean loss."""
    if attribution.reduction is not None:
        of_base = " of the base value" if attribution.reduction == "share" else ""
        return f"mean {attribution.loss}{of_base}"
    return "output" if attribution.loss is None else "loss"


def _sizes_title(attribution: RowValues) -> str:
    """Return the title of sizes of values, without the output."""
    noun = _noun(attribution)
    if attribution.reduction == "share":
        return f"Share of the {noun} that each feature removes"
    verb = "moves" if attribution.reduction is None else "reduces"
    return f"How much each feature {verb} the {noun}"


def _movers(attribution: RowValues) -> str:
    """Return the names of the most important features of an output, with their values.

    Features of several rows have their importance.
    """
    texts = _moves(attribution)
    return join_texts([f"{_name(attribution, j)} ({texts[j]})" for j in _order(attribution)[:3]])


def _moves(attribution: RowValues) -> list[str]:
    """Return the importance of each feature, or for a single row or a mean loss the signed value.

    Positive values of a mean loss reduce it.
    """
    if len(attribution) != 1:
        return [number(size) for size in _sizes(attribution).tolist()]
    values = attribution.values[0].tolist()
    if attribution.reduction is None:
        return [signed_number(value) for value in values]
    sizes = [number(abs(value)) for value in values]
    if attribution.reduction == "share":
        sizes = [f"{percent(abs(value))} of it" for value in values]
    verbs = ["adds" if value < 0.0 else "removes" for value in values]
    return [f"{verb} {size}" for verb, size in zip(verbs, sizes, strict=True)]


def _name(attribution: RowValues, place: int) -> str:
    """Return the name of a feature, which says if it is absent from a single document."""
    name = shortened(visible(attribution.axes.features[place]))
    document = document_of(attribution)
    is_absent = document is not None and place not in document.present[0]
    return f"absent {name}" if is_absent else name


def _outputs(attribution: RowValues) -> dict[str, RowValues]:
    """Return the values of each output by its name, "" for an output without a name."""
    names = attribution.axes.output_names
    if names is None:
        return {attribution.axes.output_name or "": attribution}
    return {name: attribution.select((..., place)) for place, name in enumerate(names)}


def _order(attribution: RowValues) -> list[int]:
    order: list[int] = np.argsort(-_sizes(attribution), kind="stable").tolist()
    return order


def _sizes(attribution: RowValues) -> Float:
    """Return the importance of features, shape (d,): for a single row, its absolute values."""
    rows = attribution.select(0) if len(attribution) == 1 else attribution
    return rows.importance()


def _label(attribution: RowValues) -> str:
    if len(attribution) == 1:
        return "|value|"
    return attribution.importance_label


def _reading(attribution: RowValues) -> tuple[str, ...]:
    """Return paragraphs on how to read the values."""
    loss, reduction = attribution.loss, attribution.reduction
    noun = _noun(attribution)
    texts = [text.format(label=_label(attribution), noun=noun) for text in _READING]
    if attribution.documents is not None:
        documents = attribution.documents
        texts[1:1] = [_READING_DOCUMENT.format(noun=documents.noun)]
        texts[2:2] = [GROUPS] if documents.has_groups else []
    if attribution.value_function == "observational":
        texts[-1] = _READING_OBSERVATIONAL
    if reduction is not None:
        return _READING_REDUCTIONS[reduction].format(loss=loss), texts[-1], _READING_ROWS
    if loss is not None:
        texts.insert(1, _READING_LOSS.format(loss=loss))
    return (*texts, *_spread_paragraphs(attribution))


def _spread_paragraphs(attribution: RowValues) -> list[str]:
    """Return paragraphs on how to read standard errors and posterior standard deviations."""
    spreads = attribution.spreads
    paragraphs = [_READING_SPREADS[name] for name in spreads]
    if not paragraphs or len(attribution) == 1:
        return paragraphs
    sizes = [_READING_SIZES] if STANDARD_ERROR in spreads else []
    return [" ".join([*paragraphs, _READING_MEANS, *sizes])]


def _tables(attribution: RowValues, name: str) -> list[ReportTable]:
    if document_of(attribution) is not None:
        return [_table_of_document(attribution, name)]
    order = _order(attribution)
    if attribution.documents is not None:
        order = order[:_MAX_WORDS]
    values = attribution.values[:, order]
    spreads = attribution.spreads
    is_row = len(attribution) == 1
    spread_columns = {
        spread_label(spread, is_row=is_row): deviations[:, order].mean(axis=0)
        for spread, deviations in spreads.items()
    }
    of_output = _quoted_name(name)
    columns: dict[str, Any] = {"feature": [attribution.axes.features[j] for j in order]}
    columns[_label(attribution)] = _sizes(attribution)[order]
    if is_row:
        columns |= {"value": values[0], **spread_columns}
    else:
        columns |= spread_columns
        columns["mean value"] = values.mean(axis=0)
        columns |= {"lowest": values.min(axis=0), "highest": values.max(axis=0)}
    noun, left_out = _noun(attribution), len(attribution.axes.features) - len(order)
    note = f" ({counted(left_out, 'smaller feature')} not shown)" if left_out else ""
    sizes = ReportTable(f"{_sizes_title(attribution)}{of_output}{note}", columns)
    if not attribution.has_data:
        return [sizes]
    first_rows = attribution.select(slice(_MAX_ROWS))
    labels = first_rows.axes.row_index
    rows: dict[str, Any] = {
        "row": [
            shortened(str(label))
            for label in (range(len(first_rows)) if labels is None else labels)
        ]
    }
    rows["base value"] = first_rows.base_values
    for j in order[:4]:
        # A feature may have the name of another column or feature.
        title = attribution.axes.features[j]
        while title in (*rows, noun):
            title += " (feature)"
        rows[title] = _with_spreads(first_rows.select((slice(None), j)))
    rows[noun] = first_rows.base_values + first_rows.values.sum(axis=1)
    what = " ± ".join(["values", *spreads]) + " of the strongest features"
    rows_of = f"The first rows, {noun}{of_output}" if name else "The first rows"
    return [sizes, ReportTable(f"{rows_of}: {what}", rows)]


def _with_spreads(feature: RowValues) -> Float | list[str]:
    """Return the values of a feature in rows, as texts "value ± error" if there are errors."""
    values: Float = feature.values
    spreads = list(feature.spreads.values())
    if not spreads:
        return values
    return [" ± ".join(entries) for entries in zip(*map(numbers, [values, *spreads]), strict=True)]


def _table_of_document(attribution: RowValues, name: str) -> ReportTable:
    """Return the table of the present words of a single document, and the sum of the others."""
    assert attribution.documents is not None, "a document"
    lines = document_lines(attribution, len(attribution.axes.features))
    columns: dict[str, Any] = {attribution.documents.noun: lines.names}
    columns["value"] = np.ravel(lines.values)
    for spread, deviations in lines.spreads.items():
        columns[spread_label(spread, is_row=True)] = np.ravel(deviations)
    columns["data"] = lines.data
    what = f"the output{_quoted_name(name)} minus its base value"
    return ReportTable(
        f"Values of present and absent {attribution.documents.noun}s: {what}", columns
    )


def _documents(outputs: Mapping[str, RowValues]) -> tuple[Figure, ...]:
    """Return the texts with colored words, by row and output."""
    figures: list[Figure] = []
    n_rows = len(next(iter(outputs.values())))
    for row in range(n_rows):
        for name, attribution in outputs.items():
            if len(figures) == _MAX_TEXTS:
                return tuple(figures)
            row_values = attribution.select(row)
            if row_values.documents is None or row_values.documents.texts[0] is None:
                continue
            labels = row_values.axes.row_index
            label = f" {1 + row}" if labels is None else f" {labels[0]}"
            title = f"Document{label}" if n_rows > 1 or labels is not None else "Document"
            figures.append(
                colored_document(row_values, f"{title}, output {name}" if name else title)
            )
    return tuple(figures)


def _n_texts(attribution: RowValues) -> int:
    documents = attribution.documents
    return 0 if documents is None else sum(text is not None for text in documents.texts)


def _note_of_texts(number: int) -> list[str]:
    if number <= 0:
        return []
    return [
        f"{counted(number, 'more text')} not shown: slice the explanation, as in explanation[30:60]"
    ]


def _picture(attribution: RowValues, name: str) -> Figure:
    order = _order(attribution)[:_MAX_BARS]
    sizes: Float = _sizes(attribution)[order]
    title = f"{_sizes_title(attribution)}{_quoted_name(name)}"
    names = [_name(attribution, j) for j in order]
    left_out = len(attribution.axes.features) - len(order)
    note = f"{counted(left_out, 'smaller feature')} not shown" if left_out else ""
    picture = bars(title, names, sizes, numbers(sizes))
    return Figure(title, picture, note, (("value", _label(attribution)),))


def _details(attribution: RowValues) -> tuple[Figure, ...]:
    """Return a figure for each leading feature: its values against its data, in several rows."""
    if len(attribution) == 1:
        return ()
    figures = []
    for j in _order(attribution)[:_MAX_DETAILS]:
        column = np.array(attribution.data[:, j].tolist(), dtype=object)
        name = attribution.axes.features[j]
        values = ColumnValues(attribution.values[:, j], are_measured=True)
        figures.append(dependence_figure(name, ColumnValues.of(column), f"value of {name}", values))
    return tuple(figures)
