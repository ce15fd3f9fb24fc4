"""Estimated Shapley values with standard errors: of rows, or of means of losses over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.keywords import with_known_keywords
from pkex.results.attribution import Attribution
from pkex.results.checked_values import checked_floats, checked_values
from pkex.results.loss_means import reductions
from pkex.results.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd


class RowAttribution(Attribution):
    """Attributions of rows. Values of a loss have means over rows, which are estimates."""

    __slots__ = ()

    def sage(self) -> Estimate:
        """Return SAGE values: the reduction of the mean loss by each feature.

        They are the means over rows of the values of a loss, with the sign reversed: positive
        values reduce the loss, negative values add to it. They add up to the mean loss of the base
        value minus the mean loss of the model, and are exact for these rows; standard errors are
        those of rows as a sample.

        Returns
        -------
        Estimate
            Without an axis of rows: values and standard errors have shape (d,) or (d, outputs).

        Raises
        ------
        ValueError
            If the values are not those of ``explainer.loss(X, y)``, or of fewer than two rows.

        Notes
        -----
        `sample_weight` of ``explainer.loss`` weights the rows. If the values are estimates, their
        mean standard error is included, as if the sampling errors of all rows were equal: all rows
        share their draws.

        References
        ----------
        I. Covert, S. Lundberg, S.-I. Lee (2020), Understanding global feature contributions with
        additive importance measures (SAGE), NeurIPS 33.

        Examples
        --------
        >>> import pkex
        >>> from sklearn.svm import SVR
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
        >>> explainer = pkex.Explainer(SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0]))
        >>> explanation = explainer.loss(X, [0.0, 1.0, 3.0])
        >>> explanation.sage().values.shape, explanation.sage().standard_errors.shape
        ((2,), (2,))
        """
        return Estimate._of(reductions(self._rows, "mean"))

    def r2_shares(self) -> Estimate:
        """Return the shares of R²: SAGE values divided by the mean loss of the base value.

        For the squared error they add up to 1 − Σ (f(x) − y)² / Σ (base value − y)². This is
        ``sklearn.metrics.r2_score`` if the base value is the mean of y. For other losses they add
        up to the share of the loss that the features remove.

        Returns
        -------
        Estimate
            As `sage` returns, with standard errors of ratios of means (delta method).

        Raises
        ------
        ValueError
            As in `sage`, or if the mean loss of the base value is 0.

        Examples
        --------
        >>> import pkex
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0.0, 1.0, 3.0, 3.0]
        >>> model = LinearRegression().fit(X, y)
        >>> shares = pkex.Explainer(model, X).loss(X, y).r2_shares()
        >>> bool(abs(shares.values.sum() - model.score(X, y)) < 1e-12)
        True
        """
        return Estimate._of(reductions(self._rows, "share"))


class Estimate(RowAttribution):
    """Estimated Shapley values of rows, with their standard errors.

    Estimates have the methods of an `Explanation`, but are a class of their own: the values are not
    exact. For every row they still add up to the explained function minus the base value, exactly.
    With ``uncertainty=True`` there is also the posterior uncertainty of the function:
    `standard_deviations`, `covariance` and `sample`. Plots show both.

    Parameters
    ----------
    values, base_values, data, feature_names, output_names, output_name, row_index, value_function
        As in `Explanation`.
    standard_errors : array_like of float, in the shape of `values`
        The standard error (sampling error) of each value. An interval of two standard errors to
        both sides of a value covers the exact value in about 95 of 100 cases, with 100 permutations
        or 300 coalitions or more. With fewer it is too short, because the standard error itself is
        estimated.

    Raises
    ------
    ValueError
        If the shapes of the arguments do not match, or the value function is not supported.
    TypeError
        If a name is not a string.

    See Also
    --------
    Explainer.estimate : Return estimates of the values of rows.
    Explanation.sage : Return the mean reduction of a loss, estimated from rows.

    Examples
    --------
    >>> import pkex
    >>> estimate = pkex.Estimate(
    ...     values=[[0.25, -0.125]],
    ...     base_values=[0.5],
    ...     data=[[36.6, 80.0]],
    ...     feature_names=["temperature", "pulse"],
    ...     standard_errors=[[0.002, 0.001]],
    ... )
    >>> estimate
    Estimate(1 row × 2 features, standard errors up to 0.002, base value 0.5)
    feature       value  ± std err  data
    temperature   0.250      0.002  36.6
    pulse        -0.125      0.001    80
    >>> estimate[:, "pulse"].standard_errors
    array([0.001])
    """

    __slots__ = ()

    _call = "explainer.estimate(X, n_permutations=1000)"
    _uncertain_call = (
        "explainer.estimate(X, n_coalitions=1000, uncertainty=True), with "
        "value_function='observational' and a Gaussian process"
    )
    _joint_call = ""

    @with_known_keywords
    def __init__(
        self,
        values: ArrayLike,
        base_values: ArrayLike,
        data: ArrayLike,
        feature_names: Sequence[str],
        output_names: Sequence[str] | None = None,
        *,
        standard_errors: ArrayLike,
        output_name: str | None = None,
        row_index: pd.Index | None = None,
        value_function: ValueFunction | None = None,
    ) -> None:
        rows = checked_values(
            values, base_values, data, feature_names, output_names,
            output_name=output_name, row_index=row_index, value_function=value_function,
        )  # fmt: skip
        errors = checked_floats("standard_errors", standard_errors)
        if errors.shape != rows.values.shape:
            raise ValueError(
                f"standard_errors has shape {errors.shape}, but {rows.values.shape} is expected, "
                "the shape of values"
            )
        self._rows = replace(rows, uncertainty=Uncertainty(errors))

    @property
    def standard_errors(self) -> NDArray[np.float64] | None:
        """Standard error of each value, in the shape of `values`; None for `centered` values."""
        uncertainty = self._rows.uncertainty
        return None if uncertainty is None else uncertainty.standard_errors
