"""Pictures, drawn by matplotlib, which is imported when a picture is drawn."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pkex.statistics.report import SMALL_PVALUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pkex.statistics.results import Attribution

__all__ = ["plot_attribution"]

_VALUE, _ALONE, _PERMUTED = "#3b6ea5", "#d1632a", "#c9c9c9"


def plot_attribution(result: Attribution, ax: Axes | None, max_features: int) -> Axes:
    """Draw the values of a statistic as bars; see `MMDResult.plot`."""
    try:
        max_features = operator.index(max_features)
    except TypeError:
        raise TypeError(f"max_features must be a positive integer; got {max_features!r}") from None
    if max_features < 1:
        raise ValueError(f"max_features must be a positive integer; got {max_features}")
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'pkex[plots]'") from error
    values = result.values
    strongest = np.argsort(-np.abs(values), kind="stable")[:max_features]
    # The largest value on top.
    order = strongest[np.argsort(values[strongest], kind="stable")]
    places = np.arange(len(order))
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 1.2 + 0.32 * len(order)), layout="constrained")
    if result.permuted_values is not None:
        low, high = np.quantile(result.permuted_values[:, order], [0.025, 0.975], axis=0)
        ax.barh(
            places,
            high - low,
            left=low,
            height=0.9,
            color=_PERMUTED,
            label="95 % of relabelled values",
        )
    ax.barh(places, values[order], height=0.55, color=_VALUE, label="Shapley value")
    if result.standard_errors is not None:
        ax.errorbar(
            values[order],
            places,
            xerr=result.standard_errors[order],
            fmt="none",
            ecolor="black",
            elinewidth=1.0,
            capsize=2.5,
            label="± one standard error",
        )
    _draw_alone(result, ax, order)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(places, [result.feature_names[j] for j in order])
    left_out = len(values) - len(order)
    if left_out:
        ax.set_ylabel(f"({left_out} smaller ones are not shown)")
    ax.set_xlabel("contribution")
    ax.set_title(_title(result))
    ax.legend(loc="lower right", fontsize="small")
    return ax


def _draw_alone(result: Attribution, ax: Axes, order: NDArray[np.intp]) -> None:
    """Draw a circle for each feature alone, filled where its test by itself finds something."""
    pvalues = result.alone_familywise_pvalues
    fill: str | list[str] = "none"
    label = "alone"
    if pvalues is not None:
        fill = [_ALONE if p <= SMALL_PVALUE else "none" for p in pvalues[order]]
        label = f"alone (filled: family-wise p ≤ {SMALL_PVALUE})"
    places = np.arange(len(order))
    ax.scatter(
        result.alone[order], places, s=36.0, zorder=3.0, c=fill, edgecolors=_ALONE, label=label
    )


def _title(result: Attribution) -> str:
    title = f"{result.label} = {result.statistic:.5g}"
    return title if result.pvalue is None else f"{title}, p = {result.pvalue:.3g}"
