"""Estimated Shapley values with standard errors, the result of `Explainer.estimate`."""

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
from pkex.results.uncertainty import Uncertainty

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimate"]


class Estimate(Attribution):
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
    Explainer.estimate : Return estimates.

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

    _made_by = "explainer.estimate(X, n_permutations=1000)"
    _made_uncertain_by = (
        "explainer.estimate(X, n_coalitions=1000, uncertainty=True), with "
        "value_function='observational' and a Gaussian process"
    )

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
