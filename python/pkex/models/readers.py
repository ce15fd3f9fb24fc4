"""Adapters of the models of `pkex.models` for `pkex.Explainer`."""

from __future__ import annotations

from pkex.adapters.registry import AdaptedModel, Probabilities, register, register_probabilities
from pkex.adapters.sklearn.description import class_names, feature_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.own_output import without_names
from pkex.adapters.sklearn.probabilities import log_odds, of_classes
from pkex.adapters.sklearn.probability_links import logistic, of_logistics
from pkex.models.penalties.estimators import ShapleyRegularizedClassifier, ShapleyRegularizedRidge
from pkex.models.weightings.estimators import RWReLU, RWSign, RWStumps

__all__ = ["probabilities_of_classifier", "read_classifier", "read_regressor"]


@register(ShapleyRegularizedRidge)
@register(RWReLU)
@register(RWSign)
@register(RWStumps)
def read_regressor(model: ShapleyRegularizedRidge | RWReLU | RWSign | RWStumps) -> AdaptedModel:
    """Return the prediction."""
    check_fitted(model)
    is_ridge = isinstance(model, ShapleyRegularizedRidge)
    return AdaptedModel(
        model.kernel_expansion_ if is_ridge else model.term_expansion_,
        method="predict",
        predict=without_names(model).predict,
        feature_names=feature_names(model),
    )


@register(ShapleyRegularizedClassifier)
def read_classifier(model: ShapleyRegularizedClassifier) -> AdaptedModel:
    """Return the decision function, with an output per class for more than two classes."""
    check_fitted(model)
    return AdaptedModel(
        model.kernel_expansion_,
        method="decision_function",
        predict=without_names(model).decision_function,
        feature_names=feature_names(model),
        output_names=class_names(model.classes_, model.kernel_expansion_._function),
        not_explained="class labels are computed from the decision function, which pkex explains",
    )


@register_probabilities(ShapleyRegularizedClassifier)
def probabilities_of_classifier(model: ShapleyRegularizedClassifier) -> Probabilities:
    """Return the logistic function of the decision function."""
    adapted, predict = read_classifier(model), without_names(model).predict_proba
    classes = model.classes_.tolist()
    is_two = len(classes) == 2
    link = logistic if is_two else of_logistics
    described = of_classes(adapted, [adapted.function], link, predict, classes)
    if not is_two:
        return Probabilities(described)
    return Probabilities(described, log_odds(adapted, (1.0, 0.0), predict, classes))
