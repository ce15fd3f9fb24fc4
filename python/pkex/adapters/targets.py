"""Targets: the function of a model that is explained."""

from __future__ import annotations

from dataclasses import replace
from types import MethodType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, variance_of
from pkex.adapters.registry import adapt, probabilities_of, reads_probabilities
from pkex.adapters.verification import verify
from pkex.errors import InputError, InputTypeError, Option, UnsupportedModelError
from pkex.functions.exponential import Exponential
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.inputs.choices import check_choice
from pkex.typing import Float

Target: TypeAlias = Literal[
    "mean",
    "variance",
    "predictive_variance",
    "std",
    "probability",
    "log-odds",
    "odds",
    "log-mean",
    "hazard-ratio",
]
_TARGETS: tuple[Target, ...] = get_args(Target)
# The models that have these targets, for messages.
_MEANING = (
    "The first four are functions of a Gaussian process, 'probability', 'log-odds' and 'odds' of a "
    "classifier, 'log-mean' of a model with a log link, and 'hazard-ratio' of a Cox model"
)
# Targets of a model, which are not functions of one of its methods.
_OF_MODELS = "probability", "log-odds", "odds", "log-mean", "hazard-ratio"
# Rounding error of the logarithm of a prediction.
_OF_LOGARITHM = 1e-13
# Names in other libraries.
_SYNONYMS: dict[str, Target] = {
    **dict.fromkeys(("log_mean", "log mean", "linear predictor", "linear_predictor"), "log-mean"),
    **dict.fromkeys(("hazard_ratio", "hazard ratio", "partial hazard"), "hazard-ratio"),
    **dict.fromkeys(("p", "prob", "proba", "probabilities", "predict_proba"), "probability"),
    **dict.fromkeys(("logit", "logits", "log_odds", "log odds"), "log-odds"),
    **dict.fromkeys(("sd", "sigma", "std_dev", "stddev", "standard_deviation"), "std"),
    "var": "variance",
}


def adapted_to(model: Any, target: Target | None) -> AdaptedModel:
    """Return the description of a model, or the model of a method, whose function is the target.

    Raises
    ------
    TypeError, ValueError
        If `target` is unknown, or contradicts the method.
    UnsupportedModelError
        If the model is not supported, or does not have this function.
    """
    owner, method = model, None
    if isinstance(model, MethodType):
        owner, method = model.__self__, getattr(model, "__name__", None)
    name = type(owner).__name__
    if method == "predict_proba" and (target is None or _is_among(target, "probability")):
        return _adapt_predict_proba(model, owner)
    is_of_model = _is_among(target, *_OF_MODELS)
    if (is_of_model and method) or (method == "predict_proba" and _is_among(target, *_TARGETS)):
        raise InputError(
            Option("target", target),
            f"needs a model; got its method {name}.{method}",
            "pass the model itself",
        )
    if _is_among(target, "std"):
        variance = adapt_target(adapt(model), target, name)
        # Compared with the model's own variance, since a root has lost digits near 0.
        verify(variance, model)
        return _deviation_model(variance)
    if not is_of_model:
        return adapt_target(adapt(model), target, name)
    if _is_among(target, "log-mean"):
        return _log_mean_model(adapt(model), type(_final_estimator(owner)).__name__)
    if _is_among(target, "hazard-ratio"):
        return _hazard_ratio_model(adapt(model), name)
    probabilities = probabilities_of(owner)
    if _is_among(target, "odds"):
        return _exponential_model(_log_odds_model(probabilities, name, "odds"), "odds")
    if _is_among(target, "probability"):
        return probabilities.of_classes
    return _log_odds_model(probabilities, name)


def _adapt_predict_proba(method: MethodType, owner: Any) -> AdaptedModel:
    try:
        return probabilities_of(owner).of_classes
    except UnsupportedModelError:
        if reads_probabilities(type(owner)):
            raise
    # An adapter may describe this method of its models, or says why it is not supported.
    return adapt(method)


def _log_odds_model(
    probabilities: Probabilities, name: str, target: Literal["odds", "log-odds"] = "log-odds"
) -> AdaptedModel:
    if probabilities.log_odds is None:
        raise UnsupportedModelError(
            (
                Option("target", target),
                " needs a classifier of two classes whose log-odds are a sum: logistic regression, "
                "naive Bayes, or decision values with one sigmoid or one temperature as "
                f"calibration. For {name} use ",
                Option("target", "probability"),
                ", with ",
                Option("link", "logit"),
                " for log-odds of mean probabilities",
            )
        )
    return probabilities.log_odds


def _final_estimator(model: Any) -> Any:
    """Return the model at the end of Pipelines and searches."""
    while True:
        steps = getattr(model, "steps", None)
        if isinstance(steps, list) and steps:
            model = steps[-1][1]
        elif (best := getattr(model, "best_estimator_", None)) is not None:
            model = best
        else:
            return model


def _log_mean_model(adapted: AdaptedModel, name: str) -> AdaptedModel:
    """Return the description of the logarithm of a mean, which is the linear predictor."""
    function, predict = adapted.function.logarithm, adapted.predict
    if function is None:
        raise UnsupportedModelError(
            (
                Option("target", "log-mean"),
                " needs a model that predicts the exponential of a sum, such as PoissonRegressor "
                f"or TweedieRegressor(link='log'); this {name} does not. Omit ",
                Option("target", python="target"),
                f" to explain its {adapted.title}",
            )
        )
    title = f"logarithm of {adapted.title}"
    return replace(
        adapted,
        expansion=function,
        predict=predict and (lambda rows: np.log(predict(rows))),
        method=None,
        title=title,
        output_names=_output_names(adapted, title),
        absolute_rounding=_OF_LOGARITHM,
    )


def _hazard_ratio_model(adapted: AdaptedModel, name: str) -> AdaptedModel:
    if not adapted.is_log_hazard_ratio:
        raise UnsupportedModelError(
            (
                Option("target", "hazard-ratio"),
                " needs a proportional hazards model, such as CoxPHSurvivalAnalysis; "
                f"{name} is not one. Omit ",
                Option("target", python="target"),
                f" to explain its {adapted.title}",
            )
        )
    return _exponential_model(adapted, "hazard ratio")


def _exponential_model(adapted: AdaptedModel, title: str) -> AdaptedModel:
    """Return the description of the exponential of a function, which has a title of its own."""
    predict = adapted.predict
    return replace(
        adapted,
        expansion=Exponential(adapted.function),
        predict=predict and (lambda rows: np.exp(predict(rows))),
        method=None,
        title=title,
        output_names=_output_names(adapted, title),
        variance=None,
        is_log_hazard_ratio=False,
        is_log_odds=False,
    )


def _output_names(adapted: AdaptedModel, title: str) -> tuple[str, ...] | None:
    """Return the names of outputs; a single output without a name has the title of the function."""
    is_named = adapted.output_names is not None or adapted.function.has_output_axis
    return adapted.output_names if is_named else (title,)


def _is_among(target: object, *words: str) -> bool:
    return isinstance(target, str) and target in words


def _deviation_model(variance: AdaptedModel) -> AdaptedModel:
    """Return the description of the standard deviation, given the description of the variance."""
    function = variance.function
    outputs = LinkedOutputs(
        _root, function.n_outputs, function.has_output_axis, not_neutral=_NO_VARIANCE
    )
    name, names = "standard deviation", variance.output_names
    return replace(
        variance,
        expansion=Linked([function], outputs),
        title=name,
        predict=None,
        output_names=(name,) if names == (variance.title,) else names,
        variance=None,
    )


_NO_VARIANCE = (
    Option("target", "std"),
    ": its v(S) uses a number that is not a variance, and may be negative",
)


def _root(variances: Float) -> Float:
    # Variances are negative by rounding only.
    roots: Float = np.sqrt(np.maximum(variances, 0.0))
    return roots


def adapt_target(adapted: AdaptedModel, target: Target | None, name: str) -> AdaptedModel:
    """Return the description of a model whose function is the target.

    Parameters
    ----------
    adapted : AdaptedModel
        The description of the prediction, which is the target None.
    target : {None, "mean", "variance", "predictive_variance", "std"}
        For "std" the result is the variance.
    name : str
        Name of the model in messages.

    Raises
    ------
    TypeError, ValueError
        If `target` is unknown.
    UnsupportedModelError
        If the variance of the model is unknown.
    """
    if target is None:
        return adapted
    if not isinstance(target, str):
        raise InputTypeError(
            "target",
            f"must be one of {', '.join(map(repr, _TARGETS))}; got {type(target).__name__}. "
            f"{_MEANING}. Explainer does not need the targets that a model was fitted on",
        )
    target = check_choice("target", target, _TARGETS, _SYNONYMS, _MEANING)
    variance = variance_of(adapted)
    if variance is None:
        lacks = "posterior" if target == "mean" else "variance"
        raise UnsupportedModelError(
            (
                Option("target", target),
                " needs a Gaussian process, alone or at the end of a Pipeline; the "
                f"{lacks} of {name} is unknown. Omit ",
                Option("target", python="target"),
                f" to explain its {adapted.title}",
            )
        )
    return adapted if target == "mean" else variance.adapt(target == "predictive_variance")
