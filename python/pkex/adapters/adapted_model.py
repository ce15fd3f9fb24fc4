"""Descriptions of models: the function to explain, and how the model computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pkex.functions.base import Function
from pkex.functions.column_maps import ColumnMap
from pkex.functions.descriptions import (
    Description,
    KernelExpansion,
    ProductExpansion,
    TermExpansion,
)
from pkex.functions.transformed import Transformed
from pkex.tables.documents import DocumentEncoder
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Variance:
    """Describe how to compute the variance of a probabilistic model's function.

    `pkex.Explainer` uses it for ``target="variance"`` and ``uncertainty=True``.

    Parameters
    ----------
    of : Function
        The function with this variance, ``AdaptedModel.function`` of the mean. A function made from
        it, such as a sum, has another variance.
    adapt : callable
        Takes a bool, and returns the `AdaptedModel` of the variance: of the function if False, of a
        noisy observation if True. May raise `UnsupportedModelError`.
    n_factored : int, default 0
        Number of rows of a matrix that pkex must factorize for the variance, 0 if the model has
        already factorized it.

    Examples
    --------
    The adapter of a Gaussian process describes its mean, and the variance when it is needed:

    >>> import pkex
    >>> prior = pkex.KernelExpansion([[0.0]], [1.0], pkex.kernels.RBF())
    >>> def adapt_variance(predictive):
    ...     return pkex.adapters.AdaptedModel(prior, predict=prior.predict, title="variance")
    >>> mean = pkex.adapters.AdaptedModel(prior, predict=prior.predict, method="predict")
    >>> variance = pkex.adapters.Variance(mean.function, adapt_variance)
    >>> variance.adapt(False).title
    'variance'
    """

    of: Function
    adapt: Callable[[bool], AdaptedModel]
    n_factored: int = 0


@dataclass(frozen=True, eq=False)
class AdaptedModel:
    """Describe the function of a model that `pkex.Explainer` explains.

    An adapter returns it, see `register`.

    Parameters
    ----------
    expansion : KernelExpansion, TermExpansion, ProductExpansion, or a Function of pkex
        The function to explain. Explanations have an output axis exactly if this function has one.
    predict : callable or None
        The model's own evaluation of the function, from an array of shape (n, d) to an array of
        shape (n,) or (n, outputs). `Explainer` compares it with `expansion` at a few rows. None
        only if `expansion` is the model itself.
    method : str, optional
        Name of the model's method that returns the function, such as ``"predict"``. `Explainer`
        then accepts ``model.predict`` in place of the model.
    title : str, optional
        Name of the function in explanations, such as ``"posterior mean"``. By default the name of
        the method.
    feature_names : tuple of str, optional
        Names of the d columns; by default those of the expansion.
    output_names : tuple of str, optional
        One name per output. Without an output axis a single name, such as ``"b vs a"`` for a
        classifier that is positive for b.
    kernel_rounding : float, default 0.0
        Relative rounding error of the model's own kernel values, if it is far above that of a
        single operation.
    absolute_rounding : float or ndarray of shape (outputs,), default 0.0
        Rounding error of the model's own output at any row, if the output is a difference of larger
        numbers.
    not_explained : str, default ""
        Why the model's other methods are not supported; part of the error message for them.
    no_method : str, default ""
        Why `method` itself is not supported, if users must pass the model.
    stand_in : estimator, optional
        A copy of the model, with other options, whose `method` returns the function. `Explainer`
        compares an estimator that contains the model, such as a Pipeline, with this copy inside.
    variance : Variance, optional
        How to compute the variance of the function.
    is_log_hazard_ratio : bool, default False
        Whether the function is the logarithm of a hazard ratio, as in Cox's model. Then
        ``target="hazard-ratio"`` explains its exponential.
    is_log_odds : bool, default False
        Whether the function is the log-odds of two classes. Then losses compare it with class
        labels by ``loss="log_loss"``.
    encoder : DocumentEncoder of pkex, optional
        From the documents that the model takes, such as texts, to rows of the function.

    Raises
    ------
    TypeError
        If neither a method nor a title is given, or `expansion` is not one of these functions.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> points, weights = np.array([[0.0], [1.0]]), np.array([1.0, 2.0])
    >>> expansion = pkex.KernelExpansion(points, weights, pkex.kernels.RBF())
    >>> pkex.adapters.AdaptedModel(expansion, predict=expansion.predict, method="predict").title
    'predict'
    """

    expansion: KernelExpansion | TermExpansion | ProductExpansion | Function
    predict: Callable[[Float], Any] | None
    method: str | None = None
    title: str = ""
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    kernel_rounding: float = 0.0
    absolute_rounding: float | Float = 0.0
    not_explained: str = ""
    no_method: str = ""
    stand_in: Any = None
    variance: Variance | None = None
    is_log_hazard_ratio: bool = False
    is_log_odds: bool = False
    encoder: DocumentEncoder | None = None

    @property
    def function(self) -> Function:
        """The function to explain, as a Function of pkex."""
        expansion = self.expansion
        return expansion if isinstance(expansion, Function) else expansion._function

    def __post_init__(self) -> None:
        if isinstance(self.expansion, Description):
            if self.feature_names is None:
                object.__setattr__(self, "feature_names", self.expansion.feature_names)
        elif not isinstance(self.expansion, Function):
            raise TypeError(
                "expansion must be a KernelExpansion, a TermExpansion, a ProductExpansion or a "
                "Function of pkex; "
                f"got {self.expansion!r} ({type(self.expansion).__name__})"
            )
        if not self.title:
            if self.method is None:
                raise TypeError(
                    "AdaptedModel got neither method nor title. Pass the name of the model's "
                    "method as method, or a name for the function as title"
                )
            object.__setattr__(self, "title", self.method)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """Describe ``predict_proba`` of a classifier.

    Parameters
    ----------
    of_classes : AdaptedModel
        The probabilities, with one output per class.
    log_odds : AdaptedModel, optional
        The log-odds of two classes, if these are a sum over features.
    """

    of_classes: AdaptedModel
    log_odds: AdaptedModel | None = None

    def map(self, describe: Callable[[AdaptedModel], AdaptedModel]) -> Probabilities:
        """Return the probabilities of an estimator that contains the classifier."""
        log_odds = self.log_odds
        return Probabilities(
            describe(self.of_classes), None if log_odds is None else describe(log_odds)
        )


def variance_of(adapted: AdaptedModel) -> Variance | None:
    """Return how to compute the variance of the described function, None if that is unknown."""
    variance = adapted.variance
    return variance if variance is not None and variance.of is adapted.function else None


def derive_variance(
    model: AdaptedModel, function: Function, describe: Callable[[AdaptedModel], AdaptedModel]
) -> Variance | None:
    """Return the variance of a function made from a model's function, None if it is unknown.

    Parameters
    ----------
    model : AdaptedModel
    function : Function
    describe : callable
        From the description of the model's variance to the description of the function's.
    """
    variance = variance_of(model)
    if variance is None:
        return None
    adapt = variance.adapt
    return Variance(function, lambda predictive: describe(adapt(predictive)), variance.n_factored)


def describe_in_columns(
    model: AdaptedModel,
    columns: ColumnMap,
    names: tuple[str, ...] | None,
    map_rows: Callable[[Float], Any],
) -> AdaptedModel:
    """Describe a model, and its variance, in terms of columns before a map.

    Parameters
    ----------
    model : AdaptedModel
        In terms of the columns that the map makes.
    columns : ColumnMap
    names : tuple of str, optional
        Names of the columns before the map.
    map_rows : callable
        The library's own map from rows to the input of the model.
    """
    function = Transformed(columns, model.function, names)
    predict = model.predict
    return replace(
        model,
        expansion=function,
        predict=None if predict is None else lambda rows: predict(map_rows(rows)),
        feature_names=names,
        variance=derive_variance(
            model,
            function,
            lambda variance: describe_in_columns(variance, columns, names, map_rows),
        ),
    )
