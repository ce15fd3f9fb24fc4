"""The result of explaining rows: exact Shapley values and names."""

from __future__ import annotations

from pkex.explain.attribution import Attribution
from pkex.explain.uncertain import Uncertain

__all__ = ["Explanation"]

# What users of other explanations look for: it is here under another name, or shap has it.
_OF_SHAP = {"abs", "argsort", "cohorts", "display_data", "flip", "hclust", "hstack", "max", "mean"}
_OF_SHAP |= {"min", "percentile", "sum"}
_HINTS = {
    "expected_value": "it is explainer.expected_value, and for each row base_values",
    "shap_values": "they are explanation.values",
    "interactions": "the explainer has them: explainer.interactions(X)",
} | {name: f"shap's explanations have it: explanation.to_shap().{name}" for name in _OF_SHAP}


class Explanation(Uncertain, Attribution):
    """Shapley values of some rows, and what is needed to read them.

    For every row the values and the base value add up to the explained function, for each output:
    ``explanation.values.sum(axis=1) + explanation.base_values``.

    Parameters
    ----------
    values : array_like of float, shape (n, d) or (n, d, outputs)
        The Shapley value of each feature in each row, in units of the explained function. A single
        row may be given without the row axis, as (d,) or (d, outputs).
    base_values : array_like of float, shape (n,) or (n, outputs)
        The value of the empty coalition: what the function is worth before any feature is known.
    data : array_like, shape (n, d)
        The explained rows.
    feature_names : sequence of str, length d
    output_names : sequence of str, optional
        One name per output exactly if `values` has an output axis.
    output_name : str, optional
        Without an output axis, what the single output is.
    row_index : pandas.Index of length n, optional
        The labels of the rows, for `to_frame`; numbers from 0 if not given.
    value_function : {None, "neutral", "interventional", "marginal"}, optional
        The game that the values are of, as in `Explainer`; None if it is not known. `importance`
        depends on it.

    Raises
    ------
    ValueError
        If the shapes of the arguments do not fit together, or the game is unknown.
    TypeError
        If a name is not a string.

    Notes
    -----
    An explanation is indexed as its `values` are, ``explanation[rows, features, outputs]``: by
    number, slice, or list or array of numbers or booleans on every axis; by name or list of names
    for features and outputs too; and by ``...``. An integer or a single name removes the axis, a
    list keeps it. Lists on several axes select every combination (a block of the table), where
    NumPy would pair them up.

    The arrays are read-only, and slices share them with the whole; ``.copy()`` of an array is your
    own. Where slicing has removed every axis, a plain number takes the array's place. To NumPy an
    explanation is its values. `plot` draws it; shap's plots take ``explanation.to_shap()``, and
    nothing else of ours.

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
