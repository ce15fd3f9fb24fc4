"""Content of the HTML report of interactions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted
from pkex.results.coefficients import Coefficients
from pkex.results.report import Figure, PageContent, ReportTable, listed
from pkex.results.svg import bars, cells
from pkex.results.tables import number, numbers
from pkex.typing import Float

# The largest numbers of coalitions in a table and its figure, of features in the heat map, and of
# outputs that are shown and that the conclusion names.
_MOST_LINES, _MOST_CELLS, _MOST_OUTPUTS, _MOST_IN_VERDICT = 20, 12, 6, 3
# The largest number of pairs in the text alternative of the heat map.
_MOST_SPOKEN = 6

_READING = (
    "The coefficient of a pair is what its features contribute to the output together, beyond what "
    "each contributes separately, in the output's units. It is 0 if their effects add up.",
    "Coalitions are ordered by “{label}”. Coefficients are whole: they are not split between the "
    "features of a coalition.",
    "Coefficients describe the model, not the world. Those of features that depend on each other "
    "may be large because the model has hardly seen other combinations of them.",
)


def report_interactions(
    outputs: Mapping[str, Coefficients], what: str, computed: Mapping[str, str]
) -> PageContent:
    """Return the content of a report of interactions in at least one row.

    Parameters
    ----------
    outputs : mapping of str to Coefficients
        The coefficients by the names of the outputs, "" for an output without a name.
    what : str
        The explained model or data, for the title.
    computed : mapping of str to str
        The settings of the computation.
    """
    shown = dict(list(outputs.items())[:_MOST_OUTPUTS])
    left_out = [
        f"{counted(len(outputs) - len(shown), 'more output')} not shown: "
        "interactions.output(name).to_html() shows one"
    ]
    first = next(iter(outputs.values()))
    return PageContent(
        f"Interactions in {what}",
        _conclusion(outputs),
        tuple(table for name, own in shown.items() for table in _tables(own, name)),
        tuple(figure for name, own in shown.items() for figure in _figures(own, name)),
        (),
        "",
        tuple(text.format(label=first.label) for text in _READING),
        computed,
        tuple(left_out if len(outputs) > len(shown) else ()),
    )


def _conclusion(outputs: Mapping[str, Coefficients]) -> str:
    """Return a sentence that names the strongest coalitions of the first few outputs."""
    first = next(iter(outputs.values()))
    n_rows = len(first.values)
    start = "In this row" if n_rows == 1 else f"On average over {counted(n_rows, 'row')}"
    parts = [_strongest(own, name) for name, own in list(outputs.items())[:_MOST_IN_VERDICT]]
    left_out = len(outputs) - len(parts)
    more = [counted(left_out, "more output")] if left_out > 0 else []
    return f"{start}, {'; '.join([*parts, *more])}."


def _strongest(own: Coefficients, output: str) -> str:
    places, sizes = own.strongest(_MOST_LINES)[:3].tolist(), own.sizes
    of_output = f" of {output}" if output else ""
    if not sizes[places].any():
        return f"no {own.thing}{of_output} has a coefficient other than 0"
    named = [f"{own.name(k, longest=20)} ({number(float(sizes[k]))})" for k in places]
    verb = "is" if len(named) == 1 else "are"
    things = own.thing if len(named) == 1 else f"{own.thing}s"
    return f"the strongest {things}{of_output} {verb} {listed(named)}"


def _tables(own: Coefficients, output: str) -> list[ReportTable]:
    """Return a table of the strongest coalitions, and one of the strongest features."""
    of_output = f" of {output}" if output else ""
    d, count = len(own.features), own.values.shape[1]
    found = []
    if own.order > 1:
        title = f"Coefficients of {own.thing}s{of_output}"
        found.append(_table(own, title, own.strongest(_MOST_LINES), own.thing, count - d))
    title = f"Coefficients of single features{of_output}"
    return [*found, _table(own, title, own.strongest(_MOST_LINES, are_single=True), "feature", d)]


def _table(
    own: Coefficients, title: str, places: NDArray[np.intp], thing: str, count: int
) -> ReportTable:
    columns: dict[str, list[str] | Float] = {thing: [own.name(k) for k in places.tolist()]}
    columns[own.label] = own.sizes[places]
    if len(own.values) > 1:
        values = own.values[:, places]
        columns |= {
            "mean": values.mean(axis=0),
            "lowest": values.min(axis=0),
            "highest": values.max(axis=0),
        }
    which = f", the {len(places)} strongest of {count:,}" if len(places) < count else ""
    return ReportTable(f"{title}{which}", columns)


def _figures(own: Coefficients, output: str) -> list[Figure]:
    """Return bars of the strongest coalitions, and a heat map of the pairs among their features."""
    of_output = f" of {output}" if output else ""
    places, sizes = own.strongest(_MOST_LINES), own.sizes
    names = [own.name(k, longest=18) for k in places.tolist()]
    texts = numbers(sizes[places])
    title = f"The strongest {own.thing}s{of_output}"
    found = [Figure(title, bars(title, names, sizes[places], texts), "", (("value", own.label),))]
    if own.order > 1 and len(own.features) > 2:
        found.append(_heat_map(own, f"Pairs of features{of_output}"))
    return found


def _heat_map(own: Coefficients, title: str) -> Figure:
    """Return a heat map of the pairs among the features of the strongest coalitions."""
    d = len(own.features)
    chosen, places, values = own.pairs(_MOST_CELLS)
    strongest = places[np.argsort(-np.abs(own.sizes[places]), kind="stable")][:_MOST_SPOKEN]
    spoken = "; ".join(f"{own.name(k)}: {number(own.sizes[k])}" for k in strongest.tolist())
    heads = [str(1 + place) for place in range(len(chosen))]
    names = [f"{own.features[j]} {head}" for j, head in zip(chosen, heads, strict=True)]
    rest = f"; {d - len(chosen)} more not shown" if d > len(chosen) else ""
    is_row = len(own.values) == 1
    legend = (("above", "above 0"), ("below", "below 0")) if is_row else (("first", own.label),)
    caption = f"Features of the strongest {own.thing}s, with numbers as heads of columns{rest}."
    picture = cells(title, names, values, spoken, heads=heads, are_sizes=not is_row)
    return Figure(title, picture, caption, legend)
