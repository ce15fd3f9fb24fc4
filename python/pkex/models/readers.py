"""Adapters of the models of `pkex.models` for `pkex.Explainer`."""

from __future__ import annotations

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.registry import register, register_probabilities
from pkex.adapters.sklearn.estimators import check_fitted, class_names, feature_names, without_names
from pkex.adapters.sklearn.probabilities import probabilities_by_link
from pkex.adapters.sklearn.probability_links import logistic, of_logistics
from pkex.adapters.variances import (
    add_variance,
    describe_variance,
    rounding_of_factor,
    unsupported_noise,
)
from pkex.models.downscaling.estimators import DeconditionalRegressor
from pkex.models.interventions.estimators import InterventionalRegressor
from pkex.models.penalties.estimators import ShapleyRegularizedClassifier, ShapleyRegularizedRidge
from pkex.models.weightings.estimators import RWReLU, RWSign, RWStumps

_NO_NOISE = {
    DeconditionalRegressor: "its noise is that of means over bags, not of single rows",
    InterventionalRegressor: "single targets of a treatment depend on the mediator as well",
}


@register(ShapleyRegularizedRidge)
@register(RWReLU)
@register(RWSign)
@register(RWStumps)
def read_regressor(model: ShapleyRegularizedRidge | RWReLU | RWSign | RWStumps) -> AdaptedModel:
    """Return the prediction."""
    check_fitted(model)
    is_ridge = isinstance(model, ShapleyRegularizedRidge)
    expansion = model.kernel_expansion_ if is_ridge else model.term_expansion_
    return AdaptedModel(
        expansion._function,  # without the names x0, x1, … of terms
        method="predict",
        predict=without_names(model).predict,
        feature_names=feature_names(model),
    )


@register(DeconditionalRegressor)
@register(InterventionalRegressor)
def read_process(model: DeconditionalRegressor | InterventionalRegressor) -> AdaptedModel:
    """Return the mean of a process, with its variance."""
    check_fitted(model)
    estimator = without_names(model)
    mean = AdaptedModel(
        model.kernel_expansion_._function,
        method="predict",
        predict=estimator.predict,
        feature_names=feature_names(model),
    )

    def variance(mean: AdaptedModel, predictive: bool) -> AdaptedModel:
        if predictive:
            raise unsupported_noise(type(model).__name__, _NO_NOISE[type(model)])
        function = model._variance
        latent = function.latent
        scale = float(latent.kernel(latent.points[:1])[0, 0])
        return describe_variance(
            mean,
            function,
            lambda rows: estimator.predict(rows, return_std=True)[1] ** 2,
            rounding_of_factor(latent.conditioning.factor, scale),
        )

    return add_variance(mean, variance)


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
    decision, predict = read_classifier(model), without_names(model).predict_proba
    classes = model.classes_.tolist()
    link = logistic if len(classes) == 2 else of_logistics
    return probabilities_by_link(
        decision, [decision.function], link, predict, classes, affine=(1.0, 0.0)
    )
