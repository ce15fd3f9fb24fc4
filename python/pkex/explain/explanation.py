"""The result of explaining rows: exact Shapley values and names."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pkex.explain.axes import FEATURE, OUTPUT, ROW
from pkex.explain.classes import classes_of_pairs, means_over_pairs
from pkex.explain.uncertain import Uncertain
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.wording import shown

__all__ = ["Explanation"]

# What users of other explanations look for: it is here under another name, or shap has it.
_OF_SHAP = {"abs", "argsort", "cohorts", "display_data", "flip", "hclust", "hstack", "max", "mean"}
_OF_SHAP |= {"min", "percentile", "sum"}
_HINTS = {
    "expected_value": "it is explainer.expected_value, and for each row base_values",
    "shap_values": "they are explanation.values",
    "interactions": "the explainer has them: explainer.interactions(X)",
} | {name: f"shap's explanations have it: explanation.to_shap().{name}" for name in _OF_SHAP}


class Explanation(Uncertain):
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

    @with_known_keywords
    def importance(
        self,
        *,
        samples: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.float64]:
        """Return how strongly each feature acts: its mean absolute value over the rows.

        Of neutral values it is the mean absolute deviation from their mean over the rows: what
        varies. For neutral values contain constants, the same for all rows, that depend on the
        amplitude of the model's coefficients rather than on the data; they would hide the rest.
        Once `centered`, values have none, and the mean absolute value is taken.

        Of rows that were explained with ``uncertainty=True`` it has a distribution, of which
        `samples` are drawn: functions from the posterior of the Gaussian process, each explained in
        all rows. Their mean is above the importance of the mean: absolute values of what is not
        known are above 0.

        Parameters
        ----------
        samples : int, optional
            How often it is drawn.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed, or where random numbers are taken from; without `samples` it does nothing.

        Returns
        -------
        ndarray, shape (d,) or (d, outputs); with `samples` (samples, d) or (samples, d, outputs)
            In the order of `feature_names`, in units of the explained function. A single row gives
            its absolute values, in every game, since with itself nothing varies.

        Raises
        ------
        ValueError
            If there are no rows to average over; with `samples`, if the rows were not explained
            with ``uncertainty=True``, or the explanation was pickled since; or if draws would be
            without more than half of the posterior's variance. They warn if it is more than 1 %.
        UnsupportedModelError
            With `samples`, if there is no background in the columns of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], np.zeros((2, 2)), ["age", "bmi"])
        >>> pkex.Explanation(*parts, value_function="interventional").importance()
        array([2. , 8.5])
        >>> pkex.Explanation(*parts, value_function="neutral").importance()
        array([1. , 0.5])

        Standard deviations and quantiles are those of the samples:

        >>> from sklearn.gaussian_process import GaussianProcessRegressor
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = GaussianProcessRegressor(alpha=0.1).fit(X, X[:, 0])
        >>> explanation = pkex.Explainer(model, X)(X, uncertainty=True)
        >>> drawn = explanation.importance(samples=100, random_state=0)
        >>> drawn.shape, drawn.std(axis=0).shape
        ((100, 2), (2,))
        """
        if samples is None:
            return super().importance()
        if ROW in self._axes.present and len(self) == 0:
            raise ValueError("there are no rows to average over")
        return self._drawn_importance(samples, random_state)

    def by_class(self) -> Explanation:
        """Return what speaks for each class against the mean of all others, of pairs of classes.

        A machine of several classes has an output for each pair, "a vs b". The output "a vs others"
        is the mean of all pairs that a is in, each signed so that it is positive for a. That is a
        linear combination of the pairs' decision values, and so are the values of features: exact,
        and adding up to it. It is neither the probability of the class nor the votes of
        ``decision_function`` with ``decision_function_shape="ovr"``.

        Returns
        -------
        Explanation
            With an output for each class. All of them add up to 0.

        Raises
        ------
        ValueError
            If the outputs are not all pairs of three or more classes, in their order.

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
        names = self.output_names
        classes = None if names is None else classes_of_pairs(names)
        if classes is None or len(classes) < 3:
            has = "a single output" if names is None else f"the outputs {shown(names)}"
            raise ValueError(
                "by_class is of explanations whose outputs are all pairs of three or more classes, "
                f"as those of SVC are; this one has {has}"
            )
        changed = {
            "_values": means_over_pairs(self._values, len(classes)),
            "_base_values": means_over_pairs(self._base_values, len(classes)),
            "_roots": None,
            "_joint": None,
            "_places": None,
            "_axes": replace(self._axes, outputs=tuple(f"{name} vs others" for name in classes)),
        }
        return self._from_parts(self._parts() | changed)

    @with_known_keywords
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, name: str = "the model's output"
    ) -> str:
        """Return a report as one HTML page that needs nothing else; write it if a path is given.

        It shows how much each feature moves the output, and how the values of the leading ones go
        with their data: what ``pkex explain --format html`` writes.

        Parameters
        ----------
        path : str or path, optional
            Of the file, which is written whole or not at all.
        name : str, optional
            What was explained, for the title.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there are no rows.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> explanation.to_html()[:15]
        '<!DOCTYPE html>'
        """
        # Not before a report is asked for.
        from importlib.metadata import version

        from pkex.display.page import written
        from pkex.explain.findings import of_explanation

        rows = self._in_rows()
        computed = {
            "Rows": str(len(rows)),
            "Game": self.value_function or "not known",
            "Version": f"pkex {version('pkex')}",
        }
        return written(of_explanation(rows, name, computed), path)

    def _in_rows(self) -> Explanation:
        """Return the same with axes of rows and features, of a single one, too."""
        values, base_values, data = self._with_every_axis()
        outputs = () if self.output_names is None else (OUTPUT,)
        return self._from_parts(
            self._parts()
            | {
                "_values": values if outputs else np.reshape(values, data.shape),
                "_base_values": base_values if outputs else np.reshape(base_values, len(data)),
                "_data": data,
                "_axes": replace(self._axes, present=(ROW, FEATURE, *outputs)),
                "_roots": None,
                "_errors": None,
            }
        )
