"""Reports of MMD and HSIC: conclusion, tables, figures, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pkex.compare.column_changes import table_of_changes
from pkex.compare.results.conclusion import conclusion, is_significant
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.summary import describe_kernel, strongest_features
from pkex.compare.results.wording import DEPENDENCE, DIFFERENCE, Wording
from pkex.inputs.wording import counted
from pkex.results.column_pictures import comparison_figure, dependence_figure
from pkex.results.column_values import ColumnValues, ReportColumns
from pkex.results.report import Figure, PageContent, ReportTable, percent
from pkex.results.svg import bars
from pkex.results.tables import number
from pkex.tables.columns import table_labels
from pkex.tables.encode import Encoding
from pkex.tables.kinds import Kind, columns_of, dense, kind_of
from pkex.tables.labels import column_labels, numbered
from pkex.typing import Float

# Largest number of features in the overview, and of features with a figure of their own.
_MAX_BARS, _MAX_DETAILS = 20, 6

_VALUES = (
    "“value” is the Shapley value of a feature for the value function v(S) = {label} of the "
    "features in S: values add up to {label} exactly, and “share” is a value divided by it. "
    "{noise} “std err”, the standard error, says how much the value would vary with new rows."
)
_NOISE = {
    "unbiased": "A feature that has nothing to do with {whole} has a value of about 0. Small "
    "negative values are noise; they make the shares of other features larger, even above 100 %.",
    "biased": "A feature that has nothing to do with {whole} has a small positive value, because "
    "the estimator is biased. If there are permutations, the mean of the permuted values is "
    "subtracted before shares are computed.",
}
_UNIVARIATE = (
    "“univariate value” is {label} of this feature, without the others. “univariate p” is its "
    "p-value, for the hypothesis that {alone_hypothesis}. “univariate p (adjusted)” is family-wise "
    "adjusted for the number of features: if no feature counted, the probability that even one of "
    "them is at most α would be at most α. Read this column to decide whether a feature counts."
)
_PVALUES = (
    "“p” and “p (adjusted)” are p-values of the Shapley value, for the hypothesis that "
    "{hypothesis}. Small ones say that there is {whole}, and that the feature contributes to it."
)
_SIZE = (
    "With many rows every difference is significant, and with few rows hardly any: also look at "
    "the sizes and the figures."
)
_PICTURE = (
    ("value", "value"),
    ("error", "± one standard error"),
    ("band", "95 % of the permuted values"),
    ("mark filled", "univariate value, adjusted p ≤ α"),
    ("mark", "univariate value"),
)
# Circles, by whether the univariate p-value is small.
_MARKS = {False: "mark", True: "mark filled"}


def report_difference(
    result: StatisticResult,
    alpha: float,
    names: tuple[str, str],
    samples: tuple[Any, Any] | None = None,
    further_facts: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Return the report of the difference of two samples.

    Parameters
    ----------
    result : MMDResult or DriftResult
    alpha : float
        The level of the tests.
    names : tuple of str
        The names of the samples.
    samples : tuple of two tables, optional
        The samples, for the distributions of the leading features.
    further_facts : mapping of str to str, optional
        Further settings of the computation.
    notes : tuple of str
    """
    features = tuple(result.feature_names)
    tables = [_columns(table, features) for table in samples or ()]

    def detail(place: int) -> Figure | None:
        sample_x, sample_y = (table.of(features, place) for table in tables)
        if sample_x is None or sample_y is None:
            return None
        return comparison_figure(features[place], sample_x, sample_y, names)

    return _page_content(
        result,
        DIFFERENCE.of(*names),
        alpha,
        (f"Drift from {names[0]} to {names[1]}", "Leading features in both samples"),
        detail if tables else None,
        further_facts or {},
        notes,
    )


def report_dependence(
    result: StatisticResult,
    alpha: float,
    names: tuple[str, str],
    tables: tuple[Any, Any] | None = None,
    further_facts: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> PageContent:
    """Return the report of the dependence of two tables.

    Parameters
    ----------
    result : HSICResult
    alpha : float
    names : tuple of str
        The names of the table whose columns have values, and of the other table.
    tables : tuple of two tables, optional
        The tables, for figures of the leading features and the first column of the other table.
    further_facts, notes
        As in `report_difference`.
    """
    features = tuple(result.feature_names)
    columns = [_columns(table, features) for table in tables or ()]
    has_names = tables is not None and column_labels(tables[1]) is not None

    def detail(place: int) -> Figure | None:
        feature, target = columns[0].of(features, place), columns[1]
        target_name = target.names[0] if has_names else names[1]
        if feature is None:
            return None
        return dependence_figure(features[place], feature, target_name, target.entries[0])

    return _page_content(
        result,
        DEPENDENCE.of(*names),
        alpha,
        (f"Dependence of {names[1]} on {names[0]}", f"Leading features and {names[1]}"),
        detail if columns else None,
        further_facts or {},
        notes,
    )


def _page_content(
    result: StatisticResult,
    wording: Wording,
    alpha: float,
    titles: tuple[str, str],
    detail: Callable[[int], Figure | None] | None,
    further_facts: Mapping[str, str],
    notes: tuple[str, ...],
) -> PageContent:
    """Return the report, with the titles of the page and of the details.

    `detail` returns the figure of the feature at a position, if its columns are known.
    """
    places = [] if detail is None else strongest_features(result.values, _MAX_DETAILS).tolist()
    figures = [] if detail is None else [detail(place) for place in places]
    facts = {
        "Statistic": f"{result.label} = {number(result.statistic)}, {result.estimator} estimator",
        "p-value": f"none: {result._missing_pvalues or 'rows have weights'}"
        if result.pvalue is None
        else f"{number(result.pvalue)} of {counted(n_permutations(result), 'permutation')}",
        **settings(result, alpha),
    }
    # Only for differences of two samples.
    pairs = getattr(result, "_dependence", None)
    if pairs is not None and is_significant(result, alpha):
        facts["Pairs of columns"] = pairs.description
    changes = getattr(result, "column_changes", ())
    shares = _shares(result, alpha)
    tables = (_table(result, shares), *([table_of_changes(changes)] if changes else []))
    return PageContent(
        titles[0],
        conclusion(result, wording, alpha),
        tables,
        (_picture(result, wording, alpha, shares),),
        tuple(figure for figure in figures if figure is not None),
        titles[1],
        _reading(result, wording),
        {**facts, **further_facts},
        (*notes, *result.notes),
    )


_CONVENTIONS = {
    "marginal": "independent-marginal: the factor of an absent feature is its mean over pairs of "
    "rows",
    "neutral": "neutral: the factor of an absent feature is 1",
}


def settings(result: StatisticResult, alpha: float) -> dict[str, str]:
    """Return the settings of the computation and the test."""
    facts = {
        "Level α": number(alpha),
        "Absent features": _CONVENTIONS[result.value_function],
        "Kernel": describe_kernel(result.kernel, result.bandwidth),
    }
    # Only for estimators that compare some of the pairs of rows.
    if (n_pairs := getattr(result, "n_pairs", None)) is not None:
        facts["Pairs of rows"] = f"{n_pairs:,}"
    columns = Encoding(result.columns).describe()
    if columns is not None:
        facts["Columns"] = columns
    return facts


def n_permutations(result: StatisticResult) -> int:
    """Return the number of permutations; 0 without a test."""
    return 0 if result.permuted_values is None else len(result.permuted_values)


def _reading(result: StatisticResult, wording: Wording) -> tuple[str, ...]:
    # Estimators that compare some of the pairs are unbiased.
    noise = _NOISE.get(result.estimator, _NOISE["unbiased"])
    words = {**vars(wording), "label": result.label, "noise": noise.format(whole=wording.whole)}
    texts = (_VALUES,) if result.pvalue is None else (_VALUES, _UNIVARIATE, _PVALUES, _SIZE)
    return tuple(text.format(**words) for text in texts)


def _shares(result: StatisticResult, alpha: float) -> Float:
    """Return the shares, NaN for results that are not significant: those are shares of noise."""
    shares = None if is_significant(result, alpha) is False else result.shares
    return np.full(len(result.values), np.nan) if shares is None else shares


def _table(result: StatisticResult, shares: Float) -> ReportTable:
    order = np.argsort(-result.values, kind="stable")
    columns: dict[str, Any] = {
        "feature": [result.feature_names[j] for j in order.tolist()],
        "share": [percent(shares[j]) for j in order.tolist()],
        **{title: column[order] for title, column in result._table_columns().items()},
    }
    return ReportTable(f"{result.label} attributed to features, the largest value first", columns)


def _picture(result: StatisticResult, wording: Wording, alpha: float, shares: Float) -> Figure:
    order = strongest_features(result.values, _MAX_BARS)
    texts = [percent(share) for share in shares[order].tolist()]
    if np.isnan(shares[order]).any():
        texts = [number(value) for value in result.values[order].tolist()]
    errors, permuted_values = result.standard_errors, result.permuted_values
    values, pvalues = result.values[order], result.alone_familywise_pvalues
    are_small = np.zeros(len(order), bool) if pvalues is None else pvalues[order] <= alpha
    picture = bars(
        f"Which features carry {wording.whole}",
        [result.feature_names[j] for j in order.tolist()],
        values,
        texts,
        lines=None
        if errors is None
        else np.stack([values - errors[order], values + errors[order]], 1),
        bands=None
        if permuted_values is None
        else np.quantile(permuted_values[:, order], [0.025, 0.975], axis=0).T,
        marks=[([_MARKS[is_small] for is_small in are_small.tolist()], result.alone[order])],
    )
    n_hidden = len(result.values) - len(order)
    note = f"{counted(n_hidden, 'smaller feature')} not shown" if n_hidden else ""
    kinds = {"value", "mark"} | ({"error"} if errors is not None else set())
    kinds |= {"band", _MARKS[True]} if permuted_values is not None else set()
    legend = [(kind, text.replace("α", f"{alpha:g}")) for kind, text in _PICTURE if kind in kinds]
    title = f"Contribution of each feature to {wording.whole}"
    return Figure(title, picture, note, tuple(legend))


def _columns(table: Any, names: tuple[str, ...]) -> ReportColumns:
    """Return the columns of a table; `names` are used if it has no names."""
    if isinstance(table, ReportColumns):
        return table
    columns = columns_of(table)
    if columns is not None:
        labels = table_labels(table, None).texts or ()
        is_arrow = kind_of(table) is Kind.ARROW
        arrays = [column.to_numpy() if is_arrow else column for column in columns]
        return ReportColumns(labels, [ColumnValues.of(column) for column in arrays])
    array = np.asarray(dense(table, "samples"))
    if array.ndim not in (1, 2):
        raise TypeError(
            "samples must be tables in memory, such as data frames; got "
            f"{type(table).__name__}. Pass random rows of large samples, or omit samples"
        )
    array = array[:, None] if array.ndim == 1 else array
    n_columns = array.shape[1]
    labels = names if len(names) == n_columns else numbered(n_columns)
    return ReportColumns(labels, [ColumnValues.of(column) for column in array.T])
