"""Content of the HTML report of a sensitivity analysis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.report import (
    Figure,
    PageContent,
    ReportTable,
    join_texts,
    of_outputs_left_out,
    percent,
)
from pkex.results.svg import bars
from pkex.results.tables import number, shortened
from pkex.sensitivity.variance_shares import TITLES, VarianceShares
from pkex.typing import Float

# The largest numbers of inputs in a figure, pairs in a table, outputs, and outputs in the
# conclusion.
_MAX_BARS, _MAX_PAIRS, _MAX_OUTPUTS, _MAX_IN_CONCLUSION = 20, 15, 6, 3

_READING = (
    "The variance of the model's output over its inputs, which are independent of each other, is "
    "divided among them. “Shapley effect” is an input's share: never negative, and all add up to "
    "100 %.",
    "The first-order index is the share that the variance would fall on average if the input were "
    "fixed. The total index also includes the input's interactions: an input whose total index is "
    "near 0 can be fixed.",
    "The line from the first-order to the total index shows interactions; the Shapley effect lies "
    "between them.",
    "Indices are exact for the given model; nothing is sampled. They do not tell how well the "
    "model represents the system.",
)
_DRAWS_READING = (
    "“effect from” and “effect to” are the ends of the 95 % credible interval of the Shapley "
    "effect, from {n} posterior draws of the Gaussian process."
)
_LEGEND = (
    ("value", "Shapley effect"),
    ("mark", "first order"),
    ("mark filled", "total"),
    ("error", "interactions"),
)


def report_sensitivity(
    result: VarianceShares,
    what: str,
    settings: Mapping[str, str],
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Return the content of a report of a sensitivity analysis.

    Parameters
    ----------
    result : SensitivityResult
    what : str
        The model or data, for the title.
    settings : mapping of str to str
        The settings of the computation.
    notes : tuple of str
    """
    outputs = _outputs(result)[:_MAX_OUTPUTS]
    left_out = of_outputs_left_out(len(_outputs(result)) - len(outputs))
    tables = [table for name, place in outputs for table in _tables(result, name, place)]
    return PageContent(
        f"Sensitivity of {what}",
        conclusion(result),
        tuple(tables),
        tuple(_picture(result, name, place) for name, place in outputs),
        (),
        "",
        _reading(result),
        settings,
        (*notes, *(note for note in result.notes if note not in notes), *left_out),
    )


def conclusion(result: VarianceShares) -> str:
    """Return the inputs with the largest shares of the variance, for the first few outputs."""
    sentences = []
    variances = np.ravel(result.variance)
    for name, place in _outputs(result)[:_MAX_IN_CONCLUSION]:
        effects, first, _ = _indices(result, place)
        order = np.argsort(-effects, kind="stable")[:3].tolist()
        leaders = [(shortened(result.feature_names[j]), percent(effects[j])) for j in order]
        shares = [" carries ".join(leaders[0]), *(" ".join(pair) for pair in leaders[1:])]
        of_output = f" of {name}" if name else ""
        joint = 1.0 - float(first.sum())
        sentences.append(
            f"Of the variance {number(float(variances[place]))} of the output{of_output}, "
            f"{join_texts(shares)} (Shapley effects); {percent(max(joint, 0.0))} is due to inputs "
            "acting together."
        )
    left_out = len(_outputs(result)) - _MAX_IN_CONCLUSION
    if left_out > 0:
        sentences.append(f"({counted(left_out, 'more output')}.)")
    return " ".join(sentences)


def variances(result: VarianceShares) -> str:
    """Return the variance of each output, for the settings of the computation."""
    return ", ".join(f"{variance:.5g}" for variance in np.ravel(result.variance))


def _reading(result: VarianceShares) -> tuple[str, ...]:
    if result.draws is None:
        return _READING
    return (*_READING, _DRAWS_READING.format(n=len(result.draws)))


def _outputs(result: VarianceShares) -> list[tuple[str, int]]:
    """Return the names of the outputs, "" if there is no such axis, and their places."""
    return [(name, place) for place, name in enumerate(result.output_names or [""])]


def _indices(result: VarianceShares, place: int) -> tuple[Float, Float, Float]:
    """Return effects, first-order and total indices of an output."""
    indices = result.shapley_effects, result.first_order, result.total
    if result.output_names is None:
        return indices
    return indices[0][:, place], indices[1][:, place], indices[2][:, place]


def _tables(result: VarianceShares, name: str, place: int) -> list[ReportTable]:
    effects, first, total = _indices(result, place)
    order = np.argsort(-effects, kind="stable")
    of_output = f" of {name}" if name else ""
    names = result.feature_names
    indices = dict(zip(TITLES.values(), (effects, first, total), strict=True))
    if result.draws is not None:
        ends = result.credible_interval("shapley_effects")
        low, high = ends if result.output_names is None else ends[..., place]
        indices |= {"effect from": low, "effect to": high}
    tables = [
        ReportTable(
            f"Shares of the variance{of_output}",
            {
                "input": [names[j] for j in order.tolist()],
                **{title: column[order] for title, column in indices.items()},
            },
        )
    ]
    if result.second_order is not None:
        second = result.second_order
        pairs = second if result.output_names is None else second[..., place]
        one, other = np.triu_indices(len(names), k=1)
        largest = np.argsort(-np.abs(pairs[one, other]), kind="stable")[:_MAX_PAIRS].tolist()
        texts = [f"{names[one[k]]} × {names[other[k]]}" for k in largest]
        columns = {"pair": texts, "second order": pairs[one, other][largest]}
        left_out = len(one) - len(largest)
        which = f", the {len(largest)} largest of {len(one)} pairs" if left_out else ""
        tables.append(ReportTable(f"Interactions of pairs{of_output}{which}", columns))
    return tables


def _picture(result: VarianceShares, name: str, place: int) -> Figure:
    effects, first, total = _indices(result, place)
    order = np.argsort(-effects, kind="stable")[:_MAX_BARS]
    title = f"Where the variance comes from{f', {name}' if name else ''}"
    n = len(order)
    picture = bars(
        title,
        [result.feature_names[j] for j in order.tolist()],
        effects[order],
        [percent(effect) for effect in effects[order].tolist()],
        lines=np.stack([first[order], total[order]], axis=1),
        marks=[(["mark"] * n, first[order]), (["mark filled"] * n, total[order])],
    )
    left_out = len(effects) - n
    note = f"{counted(left_out, 'smaller input')} not shown" if left_out else ""
    return Figure(title, picture, note, _LEGEND)
