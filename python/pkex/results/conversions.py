"""Conversion of results to pandas, shap and shapiq, which are imported when first needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalitions
from pkex.inputs.optional import missing_library
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd
    import shap
    import shapiq


def frame(values: Float, axes: Axes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a DataFrame with a line per row; the columns of each output are adjacent.

    Parameters
    ----------
    values : ndarray of shape (n, k) or (n, k, outputs)
    axes : Axes
    columns : sequence of str of length k, optional
        The names of coalitions; by default the columns are the features.
    """
    import pandas as pd

    thing, names = (FEATURE, axes.features) if columns is None else ("coalition", columns)
    labels: pd.Index = pd.Index(names, name=thing)
    if axes.output_names is not None:
        labels = pd.MultiIndex.from_product([axes.output_names, labels], names=[OUTPUT, thing])
        values = values.transpose(0, 2, 1)  # the columns of an output are adjacent
    table = values.reshape(len(values), len(labels)).copy()
    return pd.DataFrame(table, index=axes.row_index, columns=labels)


def importance_frame(sizes: Float, names: Sequence[str], axes: Axes, thing: str) -> pd.DataFrame:
    """Return a line per feature or coalition, the largest first, and a column per output.

    Parameters
    ----------
    sizes : ndarray of shape (k,) or (k, outputs)
    names : sequence of str of length k
    axes : Axes
    thing : str
        "feature" or "coalition", the name of the index.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_library("importance_frame", "pandas") from error
    columns = pd.Index(["importance"])
    if axes.output_names is not None:
        columns = pd.Index(axes.output_names, name=OUTPUT)
    table = sizes.reshape(len(names), len(columns))
    order = np.argsort(-table.max(axis=1), kind="stable")
    lines = pd.Index([names[place] for place in order], name=thing)
    return pd.DataFrame(table[order], index=lines, columns=columns)


def frames(tables: Mapping[str, Float], axes: Axes) -> pd.DataFrame:
    """Return a DataFrame of several tables; the first level of its columns is the tables' names."""
    frames_by_name = {name: frame(values, axes) for name, values in tables.items()}
    import pandas as pd

    levels = next(iter(frames_by_name.values())).columns.names
    return pd.concat(frames_by_name, axis=1, names=["number", *levels])


def shap_explanation(
    values: Float,
    base_values: Float,
    data: NDArray[Any],
    axes: Axes,
    margins: Float | None = None,
) -> shap.Explanation:
    """Return a `shap.Explanation` with copies of arrays of shape (n, d[, outputs]).

    Margins have the shape of the values: the distances of the values' bounds from the values.
    """
    try:
        import shap
    except ImportError as error:
        raise missing_library("Explanation.to_shap", "shap") from error
    return shap.Explanation(
        values=values.copy(),
        base_values=base_values.copy(),
        data=data.copy(),
        feature_names=list(axes.features),
        output_names=None if axes.outputs is None else list(axes.outputs),
        lower_bounds=None if margins is None else values - margins,
        upper_bounds=None if margins is None else values + margins,
    )


def shap_tokens(
    documents: Sequence[tuple[Sequence[str], Float]], base_values: Float, axes: Axes
) -> shap.Explanation:
    """Return a `shap.Explanation` of the parts of texts.

    Parameters
    ----------
    documents : sequence of tuples of parts and their values
        One without an axis of rows.
    base_values : ndarray
    axes : Axes
    """
    try:
        import shap
    except ImportError as error:
        raise missing_library("Explanation.to_shap", "shap") from error
    parts: Any = np.empty(len(documents), dtype=object)
    values: Any = np.empty(len(documents), dtype=object)
    parts[:] = [np.array(texts, dtype=object) for texts, _ in documents]
    values[:] = [numbers for _, numbers in documents]
    if ROW not in axes.present:
        (parts,), (values,) = parts, values
    explanation = shap.Explanation(
        values=values,
        base_values=np.array(base_values)[()],
        data=parts,
        output_names=axes.output_names,
    )
    if axes.output_name is not None:
        explanation.output_names = axes.output_name  # the constructor takes lists only
    return explanation


def shap_matrices(singles: Float, pairs: Float | None, index: str) -> Float:
    """Return matrices of shape (n, d, d[, outputs]) whose sums, plus base values, are the outputs.

    Parameters
    ----------
    singles : ndarray of shape (n, d[, outputs])
        The coefficients of single features.
    pairs : ndarray of shape (n, pairs[, outputs]), optional
        The coefficients of pairs; None if there is a single feature.
    index : str
        The interaction index.
    """
    n, d, *outputs = singles.shape
    matrices = np.zeros((n, d, d, *outputs))
    if pairs is not None:
        first, second = coalitions(d, 2).T
        matrices[:, first, second] = matrices[:, second, first] = pairs / 2
    if index == "SII":
        singles = singles - matrices.sum(axis=2)  # as in k-SII: lines add up to Shapley values
    matrices[:, range(d), range(d)] = singles
    return matrices


def shap_interactions(
    matrices: Float, base_values: Float, data: NDArray[Any], axes: Axes
) -> shap.Explanation:
    """Return a `shap.Explanation` of matrices of interactions, with copies of the other arrays."""
    try:
        import shap
    except ImportError as error:
        raise missing_library("Interactions.to_shap", "shap") from error
    return shap.Explanation(
        values=matrices,
        base_values=base_values.copy(),
        data=data.copy(),
        feature_names=list(axes.features),
        output_names=axes.output_names or axes.output_name,
    )


def shapiq_values(
    rows: Float,
    baselines: Float,
    coalitions: Sequence[tuple[int, ...]],
    *,
    index: str,
    order: int,
    n_players: int,
) -> list[shapiq.InteractionValues]:
    """Return a `shapiq.InteractionValues` for each row of coefficients, shape (n, coalitions)."""
    try:
        from shapiq import InteractionValues
    except ImportError as error:
        raise missing_library("Interactions.to_shapiq", "shapiq") from error
    # All rows share one dictionary: copies would take longer than everything else.
    lookup = {members: place for place, members in enumerate(coalitions)}
    return [
        InteractionValues(
            row,
            index=index,
            min_order=0,
            max_order=order,
            n_players=n_players,
            interaction_lookup=lookup,
            estimated=False,
            baseline_value=float(base),
        )
        for row, base in zip(rows, baselines, strict=True)
    ]
