"""What a report of explained rows says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.attribution import (
    STANDARD_DEVIATION,
    STANDARD_ERROR,
    Attribution,
    spread_label,
)
from pkex.results.column_pictures import related
from pkex.results.entries import Entries
from pkex.results.report import Figure, Findings, Table, listed, of_outputs_left_out
from pkex.results.svg import bars
from pkex.results.tables import number, numbers, shortened
from pkex.typing import Float

__all__ = ["of_explanation", "verdict"]

# Features in the picture of all, and those shown one by one; rows in a table.
_MOST_BARS, _MOST_DETAILS, _MOST_ROWS = 20, 6, 5
# Outputs that are shown, and those that the verdict is of.
_MOST_OUTPUTS, _MOST_IN_VERDICT = 6, 3

_READING = (
    "The value of a feature in a row says how much it moved the model's output there, in the "
    "output's units: averaged over all orders in which the features could become known. The base "
    "value and the values of a row add up to the output, exactly.",
    "Features are ordered by “{label}”: how much they move outputs, up or down, on average over "
    "all rows.",
    "A value speaks of the model, not of the world: features that go together may share, or take "
    "from each other, what a model makes of them.",
)
_READING_OBSERVATIONAL = (
    "In the observational game unknown features follow the known ones as they do in the "
    "background: a value is what a feature tells of the model's output, and one that the model "
    "ignores has a value if it goes together with others."
)
_READING_SPREADS = {
    STANDARD_ERROR: "Values are estimates from some of the coalitions of features. Std err is the "
    "standard error, which more coalitions make smaller: two of them on both sides of a value "
    "cover the exact one in about 95 of 100 cases.",
    STANDARD_DEVIATION: "Std dev is the standard deviation of the value under the model's own "
    "uncertainty: over the functions that the Gaussian process holds possible.",
}
_READING_MEANS = (
    "Means of them over rows are bounds: the mean |value| is at least as sure as its mean std err "
    "or std dev says."
)
# The mean size of a normal deviate is √(2/π) = 0.80 of its standard deviation.
_READING_SIZES = (
    "Errors have a size, too: the mean |value| of a feature that has no effect is some four fifths "
    "of its mean std err, and neighbours in the order that differ by less may be the other way "
    "round."
)


def of_explanation(
    explanation: Attribution,
    what: str,
    computed: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> Findings:
    """Say what is known of explained rows, of one output or more.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    what : str
        What was explained.
    computed : mapping of str to str
        What was computed, and how.
    notes : tuple of str
    """
    outputs = _outputs(explanation)
    shown = dict(list(outputs.items())[:_MOST_OUTPUTS])
    first = next(iter(outputs.values()))
    return Findings(
        f"Explanation of {what}",
        verdict(explanation),
        tuple(t for name, own in shown.items() for t in _tables(own, name)),
        tuple(_picture(own, name) for name, own in shown.items()),
        _details(first),
        "Leading features" if len(outputs) == 1 else f"Leading features, {next(iter(outputs))}",
        _reading(explanation),
        computed,
        (*notes, *of_outputs_left_out(len(outputs) - len(shown))),
    )


def verdict(explanation: Attribution) -> str:
    """Return which features move the output most, of the first few outputs."""
    n_rows = len(explanation)
    rows = "In this row" if n_rows == 1 else f"On average over {counted(n_rows, 'row')}"
    if STANDARD_ERROR in explanation._spreads():
        rows = f"By estimates, {rows[:1].lower()}{rows[1:]}"
    start = f"{rows}, the output"
    base = np.unique(explanation.base_values)
    if explanation.output_names is None:
        ending = f"; the base value is {number(float(base[0]))}." if len(base) == 1 else "."
        return f"{start} is moved most by {_movers(explanation)}{ending}"
    (name, own), *others = _outputs(explanation).items()
    most = _MOST_IN_VERDICT - 1
    more = [f"that of {name} by {_movers(own)}" for name, own in others[:most]]
    more += [counted(len(others) - most, "more output")] if len(others) > most else []
    return "; ".join([f"{start} of {name} is moved most by {_movers(own)}", *more]) + "."


def _movers(explanation: Attribution) -> str:
    """Name the features that move an output most, and by how much."""
    sizes = _sizes(explanation)
    return listed(
        [f"{_short(explanation, j)} ({number(float(sizes[j]))})" for j in _order(explanation)[:3]]
    )


def _short(explanation: Attribution, place: int) -> str:
    return shortened(explanation.feature_names[place])


def _outputs(explanation: Attribution) -> dict[str, Attribution]:
    """Return the explanations of single outputs by their names, "" if one has none."""
    names = explanation.output_names
    if names is None:
        return {explanation.output_name or "": explanation}
    return {name: explanation[:, :, place] for place, name in enumerate(names)}


def _order(explanation: Attribution) -> list[int]:
    order: list[int] = np.argsort(-_sizes(explanation), kind="stable").tolist()
    return order


def _sizes(explanation: Attribution) -> Float:
    """Return how strongly features act, shape (d,): in a single row, neutral values vary not."""
    of_rows = explanation[0] if len(explanation) == 1 else explanation
    return of_rows.importance()


def _label(explanation: Attribution) -> str:
    if len(explanation) == 1:
        return "|value|"
    return "mean |value − its mean|" if explanation.value_function == "neutral" else "mean |value|"


def _reading(explanation: Attribution) -> tuple[str, ...]:
    """Return how to read the values."""
    texts = [text.format(label=_label(explanation)) for text in _READING]
    if explanation.value_function == "observational":
        texts[-1] = _READING_OBSERVATIONAL
    return (*texts, *_of_spreads(explanation))


def _of_spreads(explanation: Attribution) -> list[str]:
    """Return what standard errors and deviations say, if there are any."""
    spreads = explanation._spreads()
    found = [_READING_SPREADS[name] for name in spreads]
    if not found or len(explanation) == 1:
        return found
    sizes = [_READING_SIZES] if STANDARD_ERROR in spreads else []
    return [" ".join([*found, _READING_MEANS, *sizes])]


def _tables(explanation: Attribution, name: str) -> list[Table]:
    order = _order(explanation)
    values = explanation.values[:, order]
    spreads = explanation._spreads()
    is_row = len(explanation) == 1
    beside = {
        spread_label(spread, is_row=is_row): own[:, order].mean(axis=0)
        for spread, own in spreads.items()
    }
    of_output = f" of {name}" if name else ""
    columns: dict[str, Any] = {"feature": [explanation.feature_names[j] for j in order]}
    columns[_label(explanation)] = _sizes(explanation)[order]
    if is_row:
        columns |= {"value": values[0], **beside}
    else:
        columns |= beside
        columns["mean value"] = values.mean(axis=0)
        columns |= {"lowest": values.min(axis=0), "highest": values.max(axis=0)}
    sizes = Table(f"How much each feature moves the output{of_output}", columns)
    some = explanation[:_MOST_ROWS]
    rows: dict[str, Any] = {"row": [str(1 + row) for row in range(len(some))]}
    rows["base value"] = some.base_values
    for j in order[:4]:
        # A feature may be called like another column, or feature.
        title = explanation.feature_names[j]
        while title in (*rows, "output"):
            title += " (feature)"
        rows[title] = _with_spreads(some[:, j])
    rows["output"] = some.base_values + some.values.sum(axis=1)
    what = " ± ".join(["values", *spreads]) + " of the strongest features"
    return [sizes, Table(f"The first rows{of_output}: {what}", rows)]


def _with_spreads(feature: Attribution) -> Float | list[str]:
    """Return the values of a feature in rows, as texts where they are followed by how sure."""
    values: Float = feature.values
    spreads = list(feature._spreads().values())
    if not spreads:
        return values
    return [" ± ".join(entries) for entries in zip(*map(numbers, [values, *spreads]), strict=True)]


def _picture(explanation: Attribution, name: str) -> Figure:
    order = _order(explanation)[:_MOST_BARS]
    sizes: Float = _sizes(explanation)[order]
    title = f"How much features move the output{f' of {name}' if name else ''}"
    names = [explanation.feature_names[j] for j in order]
    left_out = len(explanation.feature_names) - len(order)
    rest = f"{counted(left_out, 'smaller feature')} not shown" if left_out else ""
    picture = bars(title, names, sizes, numbers(sizes))
    return Figure(title, picture, rest, (("value", _label(explanation)),))


def _details(explanation: Attribution) -> tuple[Figure, ...]:
    """Show how the values of the leading features depend on the features, in several rows."""
    if len(explanation) == 1:
        return ()
    figures = []
    for j in _order(explanation)[:_MOST_DETAILS]:
        column = np.array(explanation.data[:, j].tolist(), dtype=object)
        name = explanation.feature_names[j]
        values = Entries(explanation.values[:, j], are_measured=True)
        figures.append(related(name, Entries.of(column), f"value of {name}", values))
    return tuple(figures)
