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

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, changed_variance
from pkex.adapters.registry import (
    adapt,
    probabilities_of,
    register,
    register_probabilities,
    unsupported,
)
from pkex.adapters.sklearn.estimators import (
    FrozenEstimator,
    check_fitted,
    check_own,
    feature_names,
    inside,
    own_output,
    passed_on,
    quiet,
)
from pkex.adapters.sklearn.steps import affine_inverse
from pkex.errors import Option, UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.stack import Stack
from pkex.typing import Float


def parts_of(model: Any, estimators: Iterable[Any], method: str) -> list[AdaptedModel]:
    """Read the models that a model is made of; it uses that method."""
    estimators = list(estimators)
    parts = [adapt(estimator) for estimator in estimators]
    for estimator, part in zip(estimators, parts, strict=True):
        if part.method != method or part.no_method:
            kind = type(estimator).__name__
            why = f"it uses their {method}, and of {kind} the {part.title} is explained"
            if part.no_method:
                # What follows is for those who have that model alone.
                why = f"{kind}.{method} cannot be explained: {part.no_method.partition('. ')[0]}"
            raise unsupported(f"{type(model).__name__} of {kind}", f": {why}")
    return parts


def made_of(
    model: Any,
    parts: Sequence[AdaptedModel],
    function: Function,
    method: str,
    *,
    of_columns: bool = False,
) -> AdaptedModel:
    """Describe a model made of others; `of_columns` if these have columns of their own."""
    return AdaptedModel(
        function,
        method=method,
        predict=own_output(model, method, function.non_numeric),
        feature_names=feature_names(model) or (None if of_columns else parts[0].feature_names),
        output_names=parts[0].output_names,
        kernel_rounding=max(part.kernel_rounding for part in parts),
        not_explained=parts[0].not_explained,
        stand_in=quiet(model),
    )


try:
    from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
except ImportError:  # scikit-learn < 1.5
    _THRESHOLD_CLASSIFIERS: tuple[Any, ...] = ()
else:
    _THRESHOLD_CLASSIFIERS = (FixedThresholdClassifier, TunedThresholdClassifierCV)

# The common base of all searches, those of scikit-learn that are still experimental too.
_BaseSearch = GridSearchCV.__base__


@register(_BaseSearch)
def adapt_search(search: Any) -> AdaptedModel:
    """Read the best estimator, fitted again on all the data."""
    check_is_fitted(search)
    if not hasattr(search, "best_estimator_"):
        name = type(search).__name__
        raise UnsupportedModelError(
            f"{name} with refit=False has compared models but kept none; fit it with refit=True, "
            "or fit a model with its best_params_ and pass that"
        )
    return _passed_on(search, "best_estimator_")


@register(RANSACRegressor)
def adapt_consensus(model: RANSACRegressor) -> AdaptedModel:
    """Read the regressor that was fitted on the rows found to be inliers."""
    check_is_fitted(model)
    return _passed_on(model, "estimator_")


@register(FrozenEstimator)
def adapt_frozen(frozen: Any) -> AdaptedModel:
    """Read the model that is frozen."""
    inside(frozen)
    return _passed_on(frozen, "estimator")


def adapt_threshold_classifier(classifier: Any) -> AdaptedModel:
    """Read the classifier whose decision is compared with a threshold."""
    check_is_fitted(classifier)
    return replace(
        _passed_on(classifier, "estimator_"),
        not_explained="the threshold turns the decision function of its estimator into class "
        "labels, which are no sums over features",
    )


for _classifier in _THRESHOLD_CLASSIFIERS:
    register(_classifier)(adapt_threshold_classifier)


@register(CalibratedClassifierCV)
def adapt_calibrated(classifier: CalibratedClassifierCV) -> AdaptedModel:
    """Read the decision function that a single calibrated classifier has before calibration."""
    check_is_fitted(classifier)
    number = len(classifier.calibrated_classifiers_)
    if number > 1:
        raise unsupported(
            f"CalibratedClassifierCV of {number} classifiers",
            (
                ": it averages their probabilities. To explain these, pass model.predict_proba or ",
                Option("target", "probability"),
                "; or fit it with ensemble=False, or on a frozen classifier, to have one decision "
                "function",
            ),
        )
    # Compared with that classifier: the method of the whole has probabilities only, in which
    # digits are lost that are not to be found again.
    model = adapt(classifier.calibrated_classifiers_[0].estimator)
    return replace(
        model,
        method=None,
        title=f"{model.title} before calibration",
        feature_names=feature_names(classifier) or model.feature_names,
        not_explained="only the decision function of its estimator, before calibration, is a sum "
        "to which values of features can add up; class labels are made from it",
    )


def _passed_on(wrapper: Any, attribute: str) -> AdaptedModel:
    return _as_whole(wrapper, attribute, adapt(getattr(wrapper, attribute)))


def _as_whole(wrapper: Any, attribute: str, adapted: AdaptedModel) -> AdaptedModel:
    check_own(wrapper)
    return passed_on(wrapper, adapted, lambda copied, model: setattr(copied, attribute, model))


def _probabilities_passed_on(attribute: str) -> Callable[[Any], Probabilities]:
    """Return what reads the probabilities of the classifier that a model keeps as an attribute."""

    def read(wrapper: Any) -> Probabilities:
        check_is_fitted(wrapper)
        own = probabilities_of(getattr(wrapper, attribute))
        return own.changed(lambda adapted: _as_whole(wrapper, attribute, adapted))

    return read


register_probabilities(_BaseSearch)(_probabilities_passed_on("best_estimator_"))
for _classifier in _THRESHOLD_CLASSIFIERS:
    register_probabilities(_classifier)(_probabilities_passed_on("estimator_"))


@register(TransformedTargetRegressor)
def adapt_transformed_target(model: TransformedTargetRegressor) -> AdaptedModel:
    """Read the regressor, in the units of the target."""
    check_fitted(model)
    (part,) = parts_of(model, [model.regressor_], "predict")
    function = part.function
    # A column as target is predicted as a column, though the regressor has seen a vector.
    if model._training_dim == 2 and not function.has_output_axis:
        function = Stack([function])
    scale, offset = _inverse_of_target(model, function)
    shape = (function.n_outputs,) if function.has_output_axis else ()
    if shape:
        scale, offset = np.broadcast_to(scale, shape), np.broadcast_to(offset, shape)
    else:
        scale, offset = np.squeeze(scale), np.squeeze(offset)
    whole = Combination([function], [scale], offset)
    variance = changed_variance(part, whole, partial(_in_units, whole, np.square(scale)))
    return replace(made_of(model, [part], whole, "predict"), variance=variance)


def _in_units(whole: Function, squares: Any, own: AdaptedModel) -> AdaptedModel:
    """Describe the variance of a regressor in squared units of the target."""
    predict, has_axis, function = own.predict, whole.has_output_axis, own.function
    if has_axis and not function.has_output_axis:
        function = Stack([function])

    def variance(rows: Float) -> Any:
        values = np.reshape(np.asarray(predict and predict(rows)), (len(rows), -1)) * squares
        return values if has_axis else values[:, 0]

    return replace(
        own,
        expansion=Combination([function], [squares]),
        predict=predict and variance,
        absolute_rounding=own.absolute_rounding * squares,
    )


def _inverse_of_target(model: Any, function: Function) -> tuple[Any, Any]:
    """Return a and b of the inverse z ↦ a z + b of the transformer of the target.

    Parameters
    ----------
    model : TransformedTargetRegressor
    function : Function
        Of its regressor.
    """
    transformer = model.transformer_
    check_own(transformer)
    if isinstance(transformer, FunctionTransformer) and transformer.inverse_func is None:
        return 1.0, 0.0
    if (found := affine_inverse(transformer)) is not None:
        return found
    has_functions = model.transformer is None
    inverse = "model.transformer_.inverse_transform"
    if has_functions:
        inverse = "model.inverse_func"
    elif not function.has_output_axis:
        inverse = f"lambda z: {inverse}(z[:, None])[:, 0]"
    raise unsupported(
        "TransformedTargetRegressor with "
        + ("func and inverse_func" if has_functions else f"the transformer {transformer!r}"),
        f": pkex.Explainer(model.regressor_, background, transform={inverse}) explains its predict "
        "exactly, and without transform its regressor_ in transformed units. The model itself is "
        "supported with affine transformers such as StandardScaler",
    )
