"""Adapters of scikit-learn's estimators that contain another estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import RANSACRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, derive_variance
from pkex.adapters.registry import (
    adapt,
    probabilities_of,
    register,
    register_probabilities,
    unsupported_model,
)
from pkex.adapters.sklearn.estimators import (
    FrozenEstimator,
    check_columns_of,
    check_methods,
    describe_wrapper,
    feature_names,
    frozen_estimator,
    method_of_arrays,
    quiet_copy,
    register_estimators,
)
from pkex.adapters.sklearn.steps import affine_inverse
from pkex.errors import Option, UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.composite import Combination, Stack
from pkex.functions.exponential import Exponential
from pkex.typing import Float

try:
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
except ImportError:  # scikit-learn < 1.5
    _THRESHOLD_CLASSIFIERS: tuple[Any, ...] = ()
else:
    _THRESHOLD_CLASSIFIERS = (FixedThresholdClassifier, TunedThresholdClassifierCV)

# The common base of all searches, also of scikit-learn's experimental ones.
_BaseSearch = GridSearchCV.__base__


def adapt_parts(model: Any, estimators: Iterable[Any], method: str) -> list[AdaptedModel]:
    """Read the estimators whose method of this name a model uses."""
    estimators = list(estimators)
    parts = [adapt(estimator) for estimator in estimators]
    for estimator, part in zip(estimators, parts, strict=True):
        if part.method != method or part.no_method:
            kind = type(estimator).__name__
            reason = f"it uses their {method}, and pkex explains the {part.title} of {kind}"
            if part.no_method:
                # The rest is for users who have the estimator itself.
                sentence = part.no_method.partition(". ")[0]
                reason = f"{kind}.{method} cannot be explained: {sentence}"
            raise unsupported_model(f"{type(model).__name__} of {kind}", f": {reason}")
        check_columns_of(model, part)
    return parts


def describe_composite(
    model: Any,
    parts: Sequence[AdaptedModel],
    function: Function,
    method: str,
    *,
    of_columns: bool = False,
) -> AdaptedModel:
    """Describe a model made of others; `of_columns` if each of them sees some of the columns."""
    return AdaptedModel(
        function,
        method=method,
        predict=method_of_arrays(model, method, function.non_numeric),
        feature_names=feature_names(model) or (None if of_columns else parts[0].feature_names),
        output_names=parts[0].output_names,
        kernel_rounding=max(part.kernel_rounding for part in parts),
        not_explained=parts[0].not_explained,
        stand_in=quiet_copy(model),
    )


# --- estimators with the function of the estimator inside ---


@register(_BaseSearch)
def adapt_search(search: Any) -> AdaptedModel:
    """Read the best estimator, fitted again on all the data."""
    check_is_fitted(search)
    if not hasattr(search, "best_estimator_"):
        raise UnsupportedModelError(
            f"{type(search).__name__} with refit=False has compared models but kept none. Fit it "
            "with refit=True, or fit a model with its best_params_ and pass that"
        )
    return _adapt_wrapped(search, "best_estimator_")


@register_estimators(RANSACRegressor)
def adapt_consensus(model: RANSACRegressor) -> AdaptedModel:
    """Read the regressor that was fitted on the inliers."""
    return _adapt_wrapped(model, "estimator_")


@register(FrozenEstimator)
def adapt_frozen(frozen: Any) -> AdaptedModel:
    """Read the frozen model."""
    frozen_estimator(frozen)
    return _adapt_wrapped(frozen, "estimator")


@register_estimators(*_THRESHOLD_CLASSIFIERS)
def adapt_threshold_classifier(classifier: Any) -> AdaptedModel:
    """Read the classifier whose decision is compared with a threshold."""
    return replace(
        _adapt_wrapped(classifier, "estimator_"),
        not_explained="the threshold turns the decision function of its estimator into class "
        "labels, which are not sums over features",
    )


@register(CalibratedClassifierCV)
def adapt_calibrated(classifier: CalibratedClassifierCV) -> AdaptedModel:
    """Read the decision function of a single calibrated classifier, before calibration."""
    check_is_fitted(classifier)
    number = len(classifier.calibrated_classifiers_)
    if number > 1:
        raise unsupported_model(
            f"CalibratedClassifierCV of {number} classifiers",
            (
                ": it averages their probabilities. To explain these, pass model.predict_proba or ",
                Option("target", "probability"),
                "; or fit it with ensemble=False, or on a frozen classifier, to have one decision "
                "function",
            ),
        )
    # Compared with that classifier: the whole has a method for probabilities only, which have lost
    # digits of the decision function.
    model = adapt(classifier.calibrated_classifiers_[0].estimator)
    return replace(
        model,
        method=None,
        title=f"{model.title} before calibration",
        feature_names=feature_names(classifier) or model.feature_names,
        not_explained="only the decision function of its estimator, before calibration, is a sum "
        "to which Shapley values can add up; class labels follow from it",
    )


def _adapt_wrapped(wrapper: Any, attribute: str) -> AdaptedModel:
    return _describe_wrapper(wrapper, attribute, adapt(getattr(wrapper, attribute)))


def _describe_wrapper(wrapper: Any, attribute: str, adapted: AdaptedModel) -> AdaptedModel:
    check_methods(wrapper)
    return describe_wrapper(
        wrapper, adapted, lambda wrapper_copy, model: setattr(wrapper_copy, attribute, model)
    )


def _probability_reader(attribute: str) -> Callable[[Any], Probabilities]:
    """Return a reader of the probabilities of the classifier in an attribute."""

    def read_probabilities(wrapper: Any) -> Probabilities:
        check_is_fitted(wrapper)
        probabilities = probabilities_of(getattr(wrapper, attribute))
        return probabilities.map(lambda adapted: _describe_wrapper(wrapper, attribute, adapted))

    return read_probabilities


register_probabilities(_BaseSearch)(_probability_reader("best_estimator_"))
for _classifier in _THRESHOLD_CLASSIFIERS:
    register_probabilities(_classifier)(_probability_reader("estimator_"))


# --- a regressor of a transformed target ---


@register_estimators(TransformedTargetRegressor)
def adapt_transformed_target(model: TransformedTargetRegressor) -> AdaptedModel:
    """Read the regressor, in units of the target."""
    (part,) = adapt_parts(model, [model.regressor_], "predict")
    function = part.function
    if model._training_dim == 1 and _is_logarithm(model):
        return describe_composite(
            model, [part], _exponential(function, model.inverse_func), "predict"
        )
    # A target that is a column is predicted as a column, although the regressor has seen a vector.
    if model._training_dim == 2 and not function.has_output_axis:
        function = Stack([function])
    scale, offset = _inverse_of_target(model, function)
    shape = (function.n_outputs,) if function.has_output_axis else ()
    if shape:
        scale, offset = np.broadcast_to(scale, shape), np.broadcast_to(offset, shape)
    else:
        scale, offset = np.squeeze(scale), np.squeeze(offset)
    prediction = Combination([function], [scale], offset)
    in_squared_units = partial(_in_squared_units, prediction, np.square(scale))
    variance = derive_variance(part, prediction, in_squared_units)
    return replace(describe_composite(model, [part], prediction, "predict"), variance=variance)


def _is_logarithm(model: TransformedTargetRegressor) -> bool:
    """Whether the regressor predicts the logarithm of the target, or of 1 + the target."""
    check_methods(model.transformer_)
    return model.transformer is None and (
        model.inverse_func is np.exp or model.inverse_func is np.expm1
    )


def _exponential(function: Function, inverse: Any) -> Function:
    exponential = Exponential(function)
    return exponential if inverse is np.exp else Combination([exponential], intercept=-1.0)


def _in_squared_units(
    prediction: Function, squares: Any, variance_model: AdaptedModel
) -> AdaptedModel:
    """Describe the variance of a regressor in squared units of the target."""
    predict, function = variance_model.predict, variance_model.function
    has_axis = prediction.has_output_axis
    if has_axis and not function.has_output_axis:
        function = Stack([function])

    def variance(rows: Float) -> Any:
        values = np.reshape(np.asarray(predict and predict(rows)), (len(rows), -1)) * squares
        return values if has_axis else values[:, 0]

    return replace(
        variance_model,
        expansion=Combination([function], [squares]),
        predict=predict and variance,
        absolute_rounding=variance_model.absolute_rounding * squares,
    )


def _inverse_of_target(model: Any, function: Function) -> tuple[Any, Any]:
    """Return a and b of the inverse z ↦ a z + b of the target's transformer.

    `function` is the regressor's function.
    """
    transformer = model.transformer_
    check_methods(transformer)
    if isinstance(transformer, FunctionTransformer) and transformer.inverse_func is None:
        return 1.0, 0.0
    if (coefficients := affine_inverse(transformer)) is not None:
        return coefficients
    has_functions = model.transformer is None
    inverse = "model.transformer_.inverse_transform"
    if has_functions:
        inverse = "model.inverse_func"
    elif not function.has_output_axis:
        inverse = f"lambda z: {inverse}(z[:, None])[:, 0]"
    raise unsupported_model(
        "TransformedTargetRegressor with "
        + ("func and inverse_func" if has_functions else f"the transformer {transformer!r}"),
        f": pkex.Explainer(model.regressor_, background, transform={inverse}) explains its predict "
        "exactly, and without transform its regressor_ in transformed units. The model itself is "
        "supported with affine transformers such as StandardScaler",
    )
