"""Content of the HTML report of interactions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted
from pkex.results.coefficients import Coefficients
from pkex.results.report import Figure, PageContent, ReportTable, join_texts
from pkex.results.svg import bars, cells
from pkex.results.tables import number, numbers
from pkex.typing import Float

# The largest numbers of coalitions in a table and its figure, of features in the heat map, and of
# outputs that are shown and that the conclusion names.
_MAX_LINES, _MAX_CELLS, _MAX_OUTPUTS, _MAX_IN_CONCLUSION = 20, 12, 6, 3
# The largest number of pairs in the text alternative of the heat map.
_MAX_SPOKEN = 6

_READING = (
    "The coefficient of a pair is what its features contribute to the output together, beyond what "
    "each contributes separately, in the output's units. It is 0 if their effects add up.",
    "Coalitions are ordered by “{label}”. Coefficients are whole: they are not split between the "
    "features of a coalition.",
    "Coefficients describe the model, not the world. Those of features that depend on each other "
    "may be large because the model has hardly seen other combinations of them.",
)


def report_interactions(
    outputs: Mapping[str, Coefficients], what: str, settings: Mapping[str, str]
) -> PageContent:
    """Return the content of a report of interactions in at least one row.

    Parameters
    ----------
    outputs : mapping of str to Coefficients
        The coefficients by the names of the outputs, "" for an output without a name.
    what : str
        The explained model or data, for the title.
    settings : mapping of str to str
        The settings of the computation.
    """
    shown_outputs = dict(list(outputs.items())[:_MAX_OUTPUTS])
    left_out = [
        f"{counted(len(outputs) - len(shown_outputs), 'more output')} not shown: "
        "interactions.output(name).to_html() shows one"
    ]
    first = next(iter(outputs.values()))
    return PageContent(
        f"Interactions in {what}",
        _conclusion(outputs),
        tuple(
            table
            for name, coefficients in shown_outputs.items()
            for table in _tables(coefficients, name)
        ),
        tuple(
            figure
            for name, coefficients in shown_outputs.items()
            for figure in _figures(coefficients, name)
        ),
        (),
        "",
        tuple(text.format(label=first.label) for text in _READING),
        settings,
        tuple(left_out if len(outputs) > len(shown_outputs) else ()),
    )


def _conclusion(outputs: Mapping[str, Coefficients]) -> str:
    """Return a sentence that names the strongest coalitions of the first few outputs."""
    first = next(iter(outputs.values()))
    n_rows = len(first.values)
    start = "In this row" if n_rows == 1 else f"On average over {counted(n_rows, 'row')}"
    parts = [
        _describe_strongest(coefficients, name)
        for name, coefficients in list(outputs.items())[:_MAX_IN_CONCLUSION]
    ]
    left_out = len(outputs) - len(parts)
    note = [counted(left_out, "more output")] if left_out > 0 else []
    return f"{start}, {'; '.join([*parts, *note])}."


def _describe_strongest(coefficients: Coefficients, output: str) -> str:
    places, sizes = coefficients.strongest(_MAX_LINES)[:3].tolist(), coefficients.sizes
    of_output = f" of {output}" if output else ""
    if not sizes[places].any():
        return f"no {coefficients.thing}{of_output} has a coefficient other than 0"
    texts = [f"{coefficients.name(k, longest=20)} ({number(float(sizes[k]))})" for k in places]
    verb = "is" if len(texts) == 1 else "are"
    things = coefficients.thing if len(texts) == 1 else f"{coefficients.thing}s"
    return f"the strongest {things}{of_output} {verb} {join_texts(texts)}"


def _tables(coefficients: Coefficients, output: str) -> list[ReportTable]:
    """Return a table of the strongest coalitions, and one of the strongest features."""
    of_output = f" of {output}" if output else ""
    d, count = len(coefficients.features), coefficients.values.shape[1]
    tables = []
    if coefficients.order > 1:
        title = f"Coefficients of {coefficients.thing}s{of_output}"
        places = coefficients.strongest(_MAX_LINES)
        tables.append(_table(coefficients, title, places, coefficients.thing, count - d))
    title = f"Coefficients of single features{of_output}"
    places = coefficients.strongest(_MAX_LINES, are_single=True)
    return [*tables, _table(coefficients, title, places, "feature", d)]


def _table(
    coefficients: Coefficients, title: str, places: NDArray[np.intp], thing: str, count: int
) -> ReportTable:
    columns: dict[str, list[str] | Float] = {thing: [coefficients.name(k) for k in places.tolist()]}
    columns[coefficients.label] = coefficients.sizes[places]
    if len(coefficients.values) > 1:
        values = coefficients.values[:, places]
        columns |= {
            "mean": values.mean(axis=0),
            "lowest": values.min(axis=0),
            "highest": values.max(axis=0),
        }
    which = f", the {len(places)} strongest of {count:,}" if len(places) < count else ""
    return ReportTable(f"{title}{which}", columns)


def _figures(coefficients: Coefficients, output: str) -> list[Figure]:
    """Return bars of the strongest coalitions, and a heat map of the pairs among their features."""
    of_output = f" of {output}" if output else ""
    places, sizes = coefficients.strongest(_MAX_LINES), coefficients.sizes
    names = [coefficients.name(k, longest=18) for k in places.tolist()]
    texts = numbers(sizes[places])
    title = f"The strongest {coefficients.thing}s{of_output}"
    picture = bars(title, names, sizes[places], texts)
    figures = [Figure(title, picture, "", (("value", coefficients.label),))]
    if coefficients.order > 1 and len(coefficients.features) > 2:
        figures.append(_heat_map(coefficients, f"Pairs of features{of_output}"))
    return figures


def _heat_map(coefficients: Coefficients, title: str) -> Figure:
    """Return a heat map of the pairs among the features of the strongest coalitions."""
    d = len(coefficients.features)
    features, places, values = coefficients.pairs(_MAX_CELLS)
    strongest = places[np.argsort(-np.abs(coefficients.sizes[places]), kind="stable")][:_MAX_SPOKEN]
    description = "; ".join(
        f"{coefficients.name(k)}: {number(coefficients.sizes[k])}" for k in strongest.tolist()
    )
    heads = [str(1 + place) for place in range(len(features))]
    names = [f"{coefficients.features[j]} {head}" for j, head in zip(features, heads, strict=True)]
    note = f"; {d - len(features)} more not shown" if d > len(features) else ""
    is_row = len(coefficients.values) == 1
    legend = (
        (("above", "above 0"), ("below", "below 0")) if is_row else (("first", coefficients.label),)
    )
    caption = (
        f"Features of the strongest {coefficients.thing}s, with numbers as heads of columns{note}."
    )
    picture = cells(title, names, values, description, heads=heads, are_sizes=not is_row)
    return Figure(title, picture, caption, legend)
