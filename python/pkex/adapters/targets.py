"""Which of a model's functions is explained."""

from __future__ import annotations

from dataclasses import replace
from types import MethodType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, variance_of
from pkex.adapters.registry import adapt, probabilities_of, reads_probabilities
from pkex.adapters.verification import verify
from pkex.errors import InputError, InputTypeError, Option, UnsupportedModelError
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.inputs.choices import check_choice
from pkex.typing import Float

__all__ = ["Target", "adapted_to", "of_target"]

Target: TypeAlias = Literal[
    "mean", "variance", "predictive_variance", "std", "probability", "log-odds"
]
_TARGETS: tuple[Target, ...] = get_args(Target)
# What other libraries call them.
_SYNONYMS: dict[str, Target] = {
    **dict.fromkeys(("p", "prob", "proba", "probabilities", "predict_proba"), "probability"),
    **dict.fromkeys(("logit", "logits", "log_odds", "log odds"), "log-odds"),
    **dict.fromkeys(("sd", "sigma", "std_dev", "stddev", "standard_deviation"), "std"),
    "var": "variance",
}


def adapted_to(model: Any, target: Target | None) -> AdaptedModel:
    """Return the description of a model, or of one bound to a method, whose function is the target.

    Raises
    ------
    TypeError, ValueError
        If there is no such target, or the method has another.
    UnsupportedModelError
        If the model is not supported, or has no such function.
    """
    owner, method = model, None
    if isinstance(model, MethodType):
        owner, method = model.__self__, getattr(model, "__name__", None)
    name = type(owner).__name__
    if method == "predict_proba" and (target is None or _is_among(target, "probability")):
        return _of_predict_proba(model, owner)
    is_of_model = _is_among(target, "probability", "log-odds")
    if (is_of_model and method) or (method == "predict_proba" and _is_among(target, *_TARGETS)):
        raise InputError(
            Option("target", target),
            f"is of a model, and {name}.{method} was given",
            "pass the model itself",
        )
    if _is_among(target, "std"):
        variance = of_target(adapt(model), target, name)
        # Compared with the model's own here: a root says less, of numbers near 0.
        verify(variance, model)
        return _deviation(variance)
    if not is_of_model:
        return of_target(adapt(model), target, name)
    known = probabilities_of(owner)
    return known.of_classes if _is_among(target, "probability") else _log_odds(known, name)


def _of_predict_proba(method: MethodType, owner: Any) -> AdaptedModel:
    try:
        return probabilities_of(owner).of_classes
    except UnsupportedModelError:
        if reads_probabilities(type(owner)):
            raise
    # An adapter may explain this method of its models; if not, it says why.
    return adapt(method)


def _log_odds(known: Probabilities, name: str) -> AdaptedModel:
    if known.log_odds is None:
        raise UnsupportedModelError(
            (
                Option("target", "log-odds"),
                " is for classifiers of two classes whose log-odds are a sum: of logistic "
                "regression, and of decision values that one sigmoid or one temperature "
                f"calibrates. For {name} take ",
                Option("target", "probability"),
                ", with ",
                Option("link", "logit"),
                " for log-odds of mean probabilities",
            )
        )
    return known.log_odds


def _is_among(target: object, *words: str) -> bool:
    return isinstance(target, str) and target in words


def _deviation(variance: AdaptedModel) -> AdaptedModel:
    """Return the description of the standard deviation, which is inside of means of rows."""
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
    ": its v(S) is made of a number that is not a variance, and may be below 0",
)


def _root(variances: Float) -> Float:
    # Rounding alone makes them negative.
    roots: Float = np.sqrt(np.maximum(variances, 0.0))
    return roots


def of_target(adapted: AdaptedModel, target: Target | None, name: str) -> AdaptedModel:
    """Return the description of a model whose function is the target.

    Parameters
    ----------
    adapted : AdaptedModel
        Of the prediction, which is the target None.
    target : {None, "mean", "variance", "predictive_variance", "std"}
        Of "std" it is the variance.
    name : str
        What messages call the model.

    Raises
    ------
    TypeError, ValueError
        If there is no such target.
    UnsupportedModelError
        If the model has no variance.
    """
    if target is None:
        return adapted
    if not isinstance(target, str):
        raise InputTypeError(
            "target",
            f"must be one of {', '.join(map(repr, _TARGETS))}: what is explained of a Gaussian "
            f"process or a classifier; got {type(target).__name__}. The values that a model was "
            "fitted to are not needed",
        )
    target = check_choice("target", target, _TARGETS, _SYNONYMS)
    variance = variance_of(adapted)
    if variance is None:
        lacks = "posterior" if target == "mean" else "variance"
        raise UnsupportedModelError(
            (
                Option("target", target),
                " is for Gaussian processes, alone or at the end of a Pipeline; of "
                f"{name} no {lacks} is known. Leave ",
                Option("target", python="target"),
                f" out to explain its {adapted.title}",
            )
        )
    return adapted if target == "mean" else variance.adapt(target == "predictive_variance")
