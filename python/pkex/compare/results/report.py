"""Reports of MMD and HSIC: conclusion, table, pictures, how to read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.column_changes import table_of_changes
from pkex.compare.results.conclusion import DEPENDENCE, DIFFERENCE, Wording, conclusion, is_found
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.summary import COLUMNS, described
from pkex.inputs.wording import counted
from pkex.results.column_pictures import compared, related
from pkex.results.column_values import ColumnValues, ReportColumns
from pkex.results.report import Figure, PageContent, ReportTable, percent
from pkex.results.svg import bars
from pkex.results.tables import number
from pkex.tables.columns import table_labels
from pkex.tables.encode import Encoding
from pkex.tables.kinds import Kind, columns_of, dense, kind_of
from pkex.tables.labels import column_labels, numbered
from pkex.typing import Float

__all__ = ["n_permutations", "report_dependence", "report_difference", "settings"]

# Features in the picture of all, and those that are shown one by one.
_MOST_BARS, _MOST_DETAILS = 20, 6

_VALUES = (
    "“value” is the Shapley value of a feature in the game whose coalitions are worth the {label} "
    "that their features show: values add up to {label} exactly, and “share” is a value as a part "
    "of it. {noise} “std err” says how much the value would vary over new rows."
)
_NOISE = {
    "unbiased": "A feature that has nothing to do with {whole} is worth about 0; small negative "
    "values are noise, and make the shares of others larger, even above 100 %.",
    "biased": "A feature that has nothing to do with {whole} has a small positive value, as the "
    "estimator is biased. Where permutations were drawn, their mean is taken off before shares are "
    "computed.",
}
_ALONE = (
    "“alone” is what a feature shows by itself. “alone p” is its p-value, of the hypothesis that "
    "{alone_hypothesis}, and “alone family p” the same corrected for the number of features: the "
    "chance that any feature of which its hypothesis holds has one of at most α is at most α. It "
    "is the column to read for “does this feature count?”."
)
_ALL = (
    "“p” and “family p” belong to the value, but are of the hypothesis that {hypothesis}: small "
    "ones say that there is {whole}, and that the feature shows it."
)
_SIZE = (
    "With many rows every difference is significant, and with few rows hardly any: look at the "
    "sizes and the pictures, too."
)
_PICTURE = (
    ("value", "value"),
    ("error", "± one standard error"),
    ("band", "95 % of the values where nothing is to be found"),
    ("mark filled", "the feature alone, family-wise p ≤ α"),
    ("mark", "the feature alone"),
)
# Circles, by whether the feature is found by itself.
_MARKS = {False: "mark", True: "mark filled"}


def report_difference(
    result: StatisticResult,
    alpha: float,
    names: tuple[str, str],
    samples: tuple[Any, Any] | None = None,
    computed: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Say what is known of the difference of two samples.

    Parameters
    ----------
    result : MMDResult or DriftResult
    alpha : float
        The level of tests.
    names : tuple of str
        What the samples are called.
    samples : tuple of two tables, optional
        Which the distributions of the leading features are shown of.
    computed : mapping of str to str, optional
        What else was computed, or how.
    notes : tuple of str
    """
    details = []
    if samples is not None:
        tables = [_columns(table, tuple(result.feature_names)) for table in samples]
        for place in _strongest(result, _MOST_DETAILS).tolist():
            one, other = (table.of(tuple(result.feature_names), place) for table in tables)
            if one is not None and other is not None:
                details.append(compared(result.feature_names[place], one, other, names))
    return _page_content(
        result,
        DIFFERENCE.of(*names),
        alpha,
        title=f"Drift from {names[0]} to {names[1]}",
        details=tuple(details),
        details_title="Leading features in both samples",
        computed=computed or {},
        notes=notes,
    )


def report_dependence(
    result: StatisticResult,
    alpha: float,
    names: tuple[str, str],
    tables: tuple[Any, Any] | None = None,
    computed: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Say what is known of the dependence of two tables, whose columns share it.

    Parameters
    ----------
    result : HSICResult
    alpha : float
    names : tuple of str
        What the tables are called: that whose columns have values, and the other.
    tables : tuple of two tables, optional
        Which the leading features are shown of, with the first column of the second one.
    computed, notes
        As in `report_difference`.
    """
    details = []
    if tables is not None:
        columns, others = (_columns(table, tuple(result.feature_names)) for table in tables)
        other_name = names[1] if column_labels(tables[1]) is None else others.names[0]
        for place in _strongest(result, _MOST_DETAILS).tolist():
            own = columns.of(tuple(result.feature_names), place)
            if own is not None:
                details.append(
                    related(result.feature_names[place], own, other_name, others.entries[0])
                )
    return _page_content(
        result,
        DEPENDENCE.of(*names),
        alpha,
        title=f"Dependence of {names[1]} on {names[0]}",
        details=tuple(details),
        details_title=f"Leading features and {names[1]}",
        computed=computed or {},
        notes=notes,
    )


def _page_content(
    result: StatisticResult,
    wording: Wording,
    alpha: float,
    *,
    title: str,
    details: tuple[Figure, ...],
    details_title: str,
    computed: Mapping[str, str],
    notes: tuple[str, ...],
) -> PageContent:
    found = {
        "Statistic": f"{result.label} = {number(result.statistic)}, {result.estimator} estimator",
        "p-value": "none, as there were no permutations"
        if result.pvalue is None
        else f"{number(result.pvalue)} of {counted(n_permutations(result), 'permutation')}",
        **settings(result, alpha),
    }
    # Of the difference of two samples.
    pairs = getattr(result, "_dependence", None)
    if pairs is not None and is_found(result, alpha):
        found["Pairs of columns"] = pairs.described
    changes = getattr(result, "column_changes", ())
    tables = (_table(result, alpha), *([table_of_changes(changes)] if changes else []))
    return PageContent(
        title,
        conclusion(result, wording, alpha),
        tables,
        (_picture(result, wording, alpha),),
        details,
        details_title,
        _reading(result, wording),
        {**found, **computed},
        (*notes, *result.notes),
    )


_CONVENTIONS = {
    "marginal": "marginal convention: an absent feature has its mean factor over pairs of rows",
    "neutral": "neutral convention: the factor of an absent feature is 1",
}


def settings(result: StatisticResult, alpha: float) -> dict[str, str]:
    """Return how a result was computed and tested, without the numbers found."""
    found = {
        "Level α": number(alpha),
        "Absent features": _CONVENTIONS[result.value_function],
        "Kernel": described(result.kernel, result.bandwidth),
    }
    # Of estimators that compare some pairs of rows.
    if (n_pairs := getattr(result, "n_pairs", None)) is not None:
        found["Pairs of rows"] = f"{n_pairs:,}"
    columns = Encoding(result.columns).described()
    if columns is not None:
        found["Columns"] = columns
    return found


def n_permutations(result: StatisticResult) -> int:
    """Return the number of permutations of the test, 0 without a test."""
    return 0 if result.permuted_values is None else len(result.permuted_values)


def _reading(result: StatisticResult, wording: Wording) -> tuple[str, ...]:
    # Estimators of some of the pairs are unbiased.
    noise = _NOISE.get(result.estimator, _NOISE["unbiased"])
    words = {
        "noise": noise.format(whole=wording.whole),
        "label": result.label,
        "whole": wording.whole,
        "hypothesis": wording.hypothesis,
        "alone_hypothesis": wording.alone_hypothesis,
    }
    is_tested = result.pvalue is not None
    texts = (_VALUES, _ALONE, _ALL, _SIZE) if is_tested else (_VALUES,)
    return tuple(text.format(**words) for text in texts)


def _shares(result: StatisticResult, alpha: float) -> Float:
    """Return shares of what was found, NaN if nothing was: those of noise say nothing."""
    shares = None if is_found(result, alpha) is False else result.shares
    return np.full(len(result.values), np.nan) if shares is None else shares


def _table(result: StatisticResult, alpha: float) -> ReportTable:
    order = np.argsort(-result.values, kind="stable")
    of_whole = _shares(result, alpha)
    columns: dict[str, Any] = {"feature": [result.feature_names[j] for j in order.tolist()]}
    columns["share"] = [percent(of_whole[j]) for j in order.tolist()]
    for name, title in COLUMNS.items():
        column = getattr(result, name)
        if column is not None:
            columns[title] = column[order]
    return ReportTable(f"{result.label} divided among features, the largest value first", columns)


def _picture(result: StatisticResult, wording: Wording, alpha: float) -> Figure:
    order = _strongest(result, _MOST_BARS)
    of_whole = _shares(result, alpha)[order]
    texts = [percent(share) for share in of_whole.tolist()]
    if np.isnan(of_whole).any():
        texts = [number(value) for value in result.values[order].tolist()]
    errors, permuted = result.standard_errors, result.permuted_values
    values, pvalues = result.values[order], result.alone_familywise_pvalues
    found = np.zeros(len(order), bool) if pvalues is None else pvalues[order] <= alpha
    picture = bars(
        f"Which features carry {wording.whole}",
        [result.feature_names[j] for j in order.tolist()],
        values,
        texts,
        lines=None
        if errors is None
        else np.stack([values - errors[order], values + errors[order]], 1),
        bands=None
        if permuted is None
        else np.quantile(permuted[:, order], [0.025, 0.975], axis=0).T,
        marks=[([_MARKS[is_alone] for is_alone in found.tolist()], result.alone[order])],
    )
    left_out = len(result.values) - len(order)
    rest = f"{counted(left_out, 'smaller feature')} not shown" if left_out else ""
    shown = {"value", "mark"} | ({"error"} if errors is not None else set())
    shown |= {"band", _MARKS[True]} if permuted is not None else set()
    legend = [(kind, text.replace("α", f"{alpha:g}")) for kind, text in _PICTURE if kind in shown]
    title = f"What each feature carries of {wording.whole}"
    return Figure(title, picture, rest, tuple(legend))


def _strongest(result: StatisticResult, most: int) -> NDArray[np.intp]:
    """Return the places of the largest values in size, the largest value first."""
    strongest = np.argsort(-np.abs(result.values), kind="stable")[:most]
    return strongest[np.argsort(-result.values[strongest], kind="stable")]


def _columns(table: Any, names: tuple[str, ...]) -> ReportColumns:
    """Return the columns of a table with their names, which may be those given if it has none."""
    if isinstance(table, ReportColumns):
        return table
    columns = columns_of(table)
    if columns is not None:
        labels = table_labels(table, None).texts or ()
        is_arrow = kind_of(table) is Kind.ARROW
        own = [column.to_numpy() if is_arrow else column for column in columns]
        return ReportColumns(labels, [ColumnValues.of(column) for column in own])
    array = np.asarray(dense(table))
    if array.ndim not in (1, 2):
        raise TypeError(
            "the samples of a report must be tables in memory, such as data frames; got "
            f"{type(table).__name__}. Those of large ones may be random rows, or be left out"
        )
    array = array[:, None] if array.ndim == 1 else array
    n_columns = array.shape[1]
    labels = names if len(names) == n_columns else numbered(n_columns)
    return ReportColumns(labels, [ColumnValues.of(column) for column in array.T])
