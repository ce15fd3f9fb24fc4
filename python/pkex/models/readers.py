"""How `pkex.Explainer` reads the models: their functions are described already."""

from __future__ import annotations

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.registry import register, register_probabilities
from pkex.adapters.sklearn.estimators import check_fitted, class_names, feature_names, without_names
from pkex.adapters.sklearn.probabilities import probabilities_by_link
from pkex.adapters.sklearn.probability_links import logistic, of_logistics
from pkex.models.penalties.estimators import ShapleyRegularizedClassifier, ShapleyRegularizedRidge
from pkex.models.weightings.estimators import RWReLU, RWSign, RWStumps

__all__ = ["probabilities_of_classifier", "read_classifier", "read_ridge", "read_weighting"]


@register(ShapleyRegularizedRidge)
def read_ridge(model: ShapleyRegularizedRidge) -> AdaptedModel:
    """Read the prediction."""
    check_fitted(model)
    return AdaptedModel(
        model.kernel_expansion_,
        method="predict",
        predict=without_names(model).predict,
        feature_names=feature_names(model),
    )


@register(RWReLU)
@register(RWSign)
@register(RWStumps)
def read_weighting(model: RWReLU | RWSign | RWStumps) -> AdaptedModel:
    """Read the prediction, a sum of terms of few columns, or one of all."""
    check_fitted(model)
    return AdaptedModel(
        model.term_expansion_,
        method="predict",
        predict=without_names(model).predict,
        feature_names=feature_names(model),
    )


@register(ShapleyRegularizedClassifier)
def read_classifier(model: ShapleyRegularizedClassifier) -> AdaptedModel:
    """Read the decision function, of more than two classes with an output for each."""
    check_fitted(model)
    return AdaptedModel(
        model.kernel_expansion_,
        method="decision_function",
        predict=without_names(model).decision_function,
        feature_names=feature_names(model),
        output_names=class_names(model.classes_, model.kernel_expansion_._function),
        not_explained="only the decision function is a sum over the training rows, to which "
        "values of features can add up; class labels are made from it",
    )


@register_probabilities(ShapleyRegularizedClassifier)
def probabilities_of_classifier(model: ShapleyRegularizedClassifier) -> Probabilities:
    """Read the logistic function of the decision function."""
    adapted, predict = read_classifier(model), without_names(model).predict_proba
    classes = model.classes_.tolist()
    link = logistic if len(classes) == 2 else of_logistics
    return probabilities_by_link(
        adapted, [adapted.function], link, predict, classes, affine=(1.0, 0.0)
    )
