"""Exact Shapley values with names, the result of calling an `Explainer`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from pkex.games.value_functions import ValueFunction
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.wording import shown
from pkex.results.checked_values import checked_values
from pkex.results.class_pairs import classes_of_pairs, means_over_pairs
from pkex.results.estimate import RowAttribution
from pkex.results.result import RESULT_HINTS

if TYPE_CHECKING:
    import pandas as pd

# Attributes of explanations of other libraries, and their alternatives in pkex or shap.
_SHAP_ATTRIBUTES = {
    "abs",
    "argsort",
    "cohorts",
    "display_data",
    "flip",
    "hclust",
    "hstack",
    "max",
    "mean",
}
_SHAP_ATTRIBUTES |= {"min", "percentile", "sum"}
_HINTS = (
    RESULT_HINTS
    | {
        "expected_value": "use explainer.expected_value, or base_values for each row",
        "shap_values": "use explanation.values",
        "interactions": "use explainer.interactions(X)",
    }
    | {name: f"use explanation.to_shap().{name}" for name in _SHAP_ATTRIBUTES}
)


class Explanation(RowAttribution):
    """Exact Shapley values of rows, with base values, data and names.

    For every row and output, the values and the base value add up to the explained function:
    ``explanation.values.sum(axis=1) + explanation.base_values``. The values are exact for their
    value function; the observational one is itself an estimate of a conditional mean.

    Parameters
    ----------
    values : array_like of float, shape (n, d) or (n, d, outputs)
        The Shapley value of each feature in each row, in units of the explained function. A single
        row may be given without the row axis, as (d,) or (d, outputs).
    base_values : array_like of float, shape (n,) or (n, outputs)
        The value of the empty coalition: the value of the function with all features absent.
    data : array_like, shape (n, d)
        The explained rows.
    feature_names : sequence of str, length d
    output_names : sequence of str, optional
        One name per output; required if and only if `values` has an output axis.
    output_name : str, optional
        The name of the only output, if `values` has no output axis.
    row_index : pandas.Index or sequence of length n, optional
        The labels of the rows, for `to_frame`; numbers from 0 by default.
    value_function : {None, "neutral", "interventional", "marginal", "observational"}, optional
        The value function, as in `Explainer`; None if it is not known. `importance` depends on it.

    Raises
    ------
    ValueError
        If the shapes of the arguments do not match, or the value function is not supported.
    TypeError
        If a name is not a string.

    Notes
    -----
    ``explanation[rows, features, outputs]`` selects values by number, slice, ``...``, or list or
    array of numbers or booleans; features and outputs also by name or list of names. An integer or
    a single name removes the axis, a list keeps it. Lists on several axes select every combination
    (a block of the table), whereas NumPy would pair them.

    Arrays are read-only, and slices share them; ``.copy()`` returns a writable array. Where slicing
    has removed every axis, a number replaces the array. NumPy functions use the values. shap's
    plots require ``explanation.to_shap()``.

    Examples
    --------
    >>> import pkex
    >>> explanation = pkex.Explanation(
    ...     values=[[1.5, -0.5], [0.25, 2.0]],
    ...     base_values=[10.0, 10.0],
    ...     data=[[36.6, 80.0], [38.2, 95.0]],
    ...     feature_names=["temperature", "pulse"],
    ... )
    >>> explanation
    Explanation(2 rows × 2 features, base value 10)
    feature      mean |value|
    pulse               1.250
    temperature         0.875
    >>> explanation.values.sum(axis=1) + explanation.base_values
    array([11.  , 12.25])
    >>> explanation[:, "pulse"].values
    array([-0.5,  2. ])
    >>> explanation[1]
    Explanation(2 features, base value 10)
    feature      value  data
    pulse         2.00    95
    temperature   0.25  38.2
    >>> explanation.importance()
    array([0.875, 1.25 ])
    """

    __slots__ = ()

    _hints = _HINTS

    @with_known_keywords
    def __init__(
        self,
        values: ArrayLike,
        base_values: ArrayLike,
        data: ArrayLike,
        feature_names: Sequence[str],
        output_names: Sequence[str] | None = None,
        *,
        output_name: str | None = None,
        row_index: pd.Index | None = None,
        value_function: ValueFunction | None = None,
    ) -> None:
        self._rows = checked_values(
            values, base_values, data, feature_names, output_names,
            output_name=output_name, row_index=row_index, value_function=value_function,
        )  # fmt: skip

    def by_class(self) -> Explanation:
        """Return one-vs-rest explanations of classes, the means of their one-vs-one explanations.

        A support vector classifier has an output for each pair of classes, "a vs b". The output "a
        vs others" is the mean of all pairs that contain a, each signed so that it is positive for
        a. It is linear in the pairs' decision values, so the Shapley values are exact and add up to
        it. It is neither the probability of the class nor the votes of ``decision_function`` with
        ``decision_function_shape="ovr"``.

        Returns
        -------
        Explanation
            With an output for each class. The outputs of all classes add up to 0.

        Raises
        ------
        ValueError
            If the outputs are not all pairs of three or more classes, in order.

        Examples
        --------
        >>> import pkex
        >>> pairs = ["red vs green", "red vs blue", "green vs blue"]
        >>> parts = ([[[1.0, 2.0, -1.0]]], [[0.0, 0.0, 0.0]], [[7.0]], ["age"], pairs)
        >>> explanation = pkex.Explanation(*parts)
        >>> explanation.by_class().output_names
        ['red vs others', 'green vs others', 'blue vs others']
        >>> explanation.by_class()[0, "age"].values
        array([ 1.5, -1. , -0.5])
        """
        if self._rows.loss is not None:
            raise ValueError(
                "by_class averages decision values, and the loss of a mean is not the mean of "
                "losses. Call it for an explanation of the output: explainer(X).by_class()"
            )
        names = self.output_names
        classes = None if names is None else classes_of_pairs(names)
        if classes is None or len(classes) < 3:
            has = "a single output" if names is None else f"the outputs {shown(names)}"
            raise ValueError(
                "by_class requires the outputs of all pairs of three or more classes, as SVC has "
                f"them; this explanation has {has}"
            )
        rows = replace(
            self._rows,
            values=means_over_pairs(self.values, len(classes)),
            base_values=means_over_pairs(self.base_values, len(classes)),
            axes=replace(self._axes, outputs=tuple(f"{name} vs others" for name in classes)),
            uncertainty=None,
        )
        return self._of(rows)
