"""The probabilities of scikit-learn's classifiers.

They are made of decision values, which are sums over points: each reader here returns these, and
the function that makes probabilities of them. Of two classes whose log-odds are affine in the
decision value, the log-odds are a sum as well.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC, NuSVC

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.registry import adapt, probabilities_of, register_probabilities, unsupported
from pkex.adapters.sklearn.estimators import (
    FrozenEstimator,
    check_fitted,
    feature_names,
    inside,
    own_output,
    pair_names,
    without_names,
)
from pkex.adapters.sklearn.gaussian_process_variance import latent_variances
from pkex.adapters.sklearn.linear import adapt_linear
from pkex.adapters.sklearn.probability_links import (
    Calibrated,
    Calibration,
    Coupled,
    GaussianLogistic,
    OfSecond,
    Tempered,
    Votes,
    logistic,
    of_logistics,
    of_softmax,
)
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.linked import Linked, LinkedOutputs, Steps
from pkex.typing import Float

_Predict = Callable[[Float], Any]

# What rounding of decision values and of sums of large terms may become, in a probability.
_ROUNDING = 1e-10
# Two classes' coupled probability differs from Platt's, as libsvm ends its iteration early.
_COUPLING = 0.005
_CALIBRATED = 1e-9
# What rounding of decision values may be, relative to the sizes of what they add up.
_OF_DECISIONS = 1e-13


def of_classes(
    adapted: AdaptedModel,
    parts: Sequence[Function],
    link: Callable[[Float], Float],
    predict: _Predict | None,
    classes: Sequence[Any],
    steps: Steps | None = None,
) -> AdaptedModel:
    """Describe probabilities that a link makes of the outputs of functions, perhaps in steps."""
    return replace(
        adapted,
        expansion=Linked(parts, LinkedOutputs(link, len(classes), steps=steps)),
        method="predict_proba",
        title="",
        predict=predict,
        output_names=tuple(map(str, classes)),
        absolute_rounding=_ROUNDING,
        not_explained="",
        no_method="",
        stand_in=None,
        variance=None,
    )


def log_odds(
    adapted: AdaptedModel,
    affine: tuple[float, float],
    predict_proba: _Predict,
    classes: Sequence[Any],
    tolerance: float = _CALIBRATED,
) -> AdaptedModel:
    """Describe log-odds that are affine in a decision value, slope · f(x) + offset.

    The model has no method for them. Its decision value is compared, and the probability that
    follows with its own.
    """
    decide, (slope, offset) = adapted.predict, affine

    def own(rows: Float) -> Float:
        odds = slope * np.asarray(decide and decide(rows)) + offset
        if not np.allclose(logistic(odds[:, None]), predict_proba(rows), rtol=0.0, atol=tolerance):
            raise ValueError("predict_proba is not the logistic function of the log-odds")
        return odds

    return replace(
        adapted,
        expansion=Combination([adapted.function], [slope], offset),
        method=None,
        title="log-odds",
        predict=own,
        output_names=pair_names(classes),
        variance=None,
    )


# --- machines ---


@register_probabilities(SVC)
@register_probabilities(NuSVC)
def probabilities_of_machine(model: Any) -> Probabilities:
    """Read Platt's sigmoids of pairs of classes, which libsvm couples."""
    adapted = adapt(model)
    slopes, offsets = np.array(model._probA), np.array(model._probB)
    if not len(slopes):
        raise unsupported(
            f"the probability of {type(model).__name__} without probability=True",
            ": it has no predict_proba; fit CalibratedClassifierCV(model, ensemble=False), whose "
            "probabilities and log-odds are explained",
        )
    # Of two classes, libsvm's decision value is that of the first.
    is_two = len(model.classes_) == 2
    link = Coupled(slopes, offsets, -1.0 if is_two else 1.0)
    predict = without_names(model).predict_proba
    described = of_classes(adapted, [adapted.function], link, predict, model.classes_)
    if not is_two:
        return Probabilities(described)
    affine = -float(slopes[0]), float(offsets[0])
    return Probabilities(described, log_odds(adapted, affine, predict, model.classes_, _COUPLING))


# --- linear models, also of a Nystroem map ---


def probabilities_of_linear(model: Any, adapted: AdaptedModel, predict: _Predict) -> Probabilities:
    """Read what a linear classifier makes of its decision function.

    Parameters
    ----------
    model : estimator
    adapted : AdaptedModel
        Of its decision function, perhaps in other columns.
    predict : callable
        Its `predict_proba`, in these columns.
    """
    loss = getattr(model, "loss", None) if isinstance(model, SGDClassifier) else "log_loss"
    if loss != "log_loss" or type(model) not in _LOGISTIC:
        raise unsupported(f"the probability of {model!r}")
    is_two = len(model.classes_) == 2
    is_each = isinstance(model, SGDClassifier) or _is_one_vs_rest(model)
    link = logistic if is_two else of_logistics if is_each else of_softmax
    described = of_classes(adapted, [adapted.function], link, predict, model.classes_)
    if not is_two:
        return Probabilities(described)
    return Probabilities(described, log_odds(adapted, (1.0, 0.0), predict, model.classes_))


_LOGISTIC = (LogisticRegression, LogisticRegressionCV, SGDClassifier, LinearDiscriminantAnalysis)


def _is_one_vs_rest(model: Any) -> bool:
    """Whether a logistic regression of several classes is one of each class; till 1.7 it may be."""
    multi_class = getattr(model, "multi_class", "auto")
    return multi_class == "ovr" or getattr(model, "solver", "") == "liblinear"


def _of_linear_model(model: Any) -> Probabilities:
    return probabilities_of_linear(model, adapt_linear(model), without_names(model).predict_proba)


for _linear in _LOGISTIC:
    register_probabilities(_linear)(_of_linear_model)


# --- calibration ---


@register_probabilities(CalibratedClassifierCV)
def probabilities_of_calibrated(model: CalibratedClassifierCV) -> Probabilities:
    """Read classifiers, and what calibrates each of their decision values."""
    return calibrated(model, adapt)


def calibrated(
    model: CalibratedClassifierCV,
    read: Callable[[Any], AdaptedModel],
    made: Callable[[Any], Any] | None = None,
) -> Probabilities:
    """Read sigmoids, isotonic functions or temperatures of classifiers' decision values.

    Parameters
    ----------
    model : CalibratedClassifierCV
    read : callable
        What reads its classifiers, perhaps in other columns than the model's.
    made : callable, optional
        From rows to what the model is given, if these are others.
    """
    check_fitted(model)
    if model.method not in ("sigmoid", "isotonic", "temperature"):
        raise unsupported(f"CalibratedClassifierCV with method={model.method!r}")
    classes = list(model.classes_)
    parts, members, start = [], [], 0
    for member in model.calibrated_classifiers_:
        part = _decision(member.estimator, classes, read)
        members.append(_calibration(member, part, classes, start))
        parts.append(part)
        start += part.function.n_outputs
    first, functions = parts[0], [part.function for part in parts]
    if made is None:
        first = replace(first, feature_names=feature_names(model) or first.feature_names)
        predict = own_output(model, "predict_proba", functions[0].non_numeric)
    else:
        predict = _after(made, without_names(model).predict_proba)
    link = Calibrated(members)
    has_steps = model.method == "isotonic" or any(member.votes for member in members)
    steps = link.steps if has_steps else None
    described = of_classes(first, functions, link, predict, classes, steps)
    if len(parts) > 1 or len(classes) > 2 or model.method == "isotonic":
        return Probabilities(described)
    affine = _affine(members[0])
    return Probabilities(described, log_odds(first, affine, predict, classes))


def _after(made: Callable[[Any], Any], predict: _Predict) -> _Predict:
    return lambda rows: predict(made(rows))


def _affine(member: Calibration | Tempered) -> tuple[float, float]:
    """Return slope and offset of the log-odds of two classes in their decision value."""
    if isinstance(member, Tempered):
        return 2.0 * member.inverse, 0.0
    ((_, calibrator),) = member.calibrators
    return -float(calibrator.a_), -float(calibrator.b_)


def _decision(
    estimator: Any, classes: Sequence[Any], read: Callable[[Any], AdaptedModel]
) -> AdaptedModel:
    """Read the decision values of a classifier that is calibrated for some classes."""
    name = f"CalibratedClassifierCV of {type(estimator).__name__}"
    if not hasattr(estimator, "decision_function"):
        raise unsupported(name)
    if len(estimator.classes_) < len(classes):
        raise unsupported(
            f"{name}, fitted to {len(estimator.classes_)} of {len(classes)} classes",
            ": each fold must have rows of every class; take cv=StratifiedKFold()",
        )
    part = read(estimator)
    is_each = len(classes) == 2 or part.no_method or part.function.n_outputs == len(classes)
    if part.method != "decision_function" or not is_each:
        raise unsupported(
            f"{name} with pairs of classes",
            ": what it calibrates is not the decision value of one class; take OneVsRestClassifier "
            "or an SVC with decision_function_shape='ovr'",
        )
    return part


def _calibration(
    member: Any, part: AdaptedModel, classes: Sequence[Any], start: int
) -> Calibration | Tempered:
    """Return the calibration of one classifier, whose decision values stand from `start` on."""
    function = part.function
    sizes = function.magnitude(function.probing_rows(), n_threads=1)
    rounding = _OF_DECISIONS + part.kernel_rounding
    roundings = rounding * np.reshape(sizes, (len(sizes), -1)).max(axis=0)
    own = slice(start, start + function.n_outputs)
    # Of pairs, decision_function has votes.
    votes = Votes(len(classes)) if part.no_method else None
    if member.method == "temperature":
        return Tempered(own, votes, float(member.calibrators[0].beta_), roundings)
    # Of two classes there is a single calibrator, that of the second.
    known = member.estimator.classes_ if len(classes) > 2 else classes[1:]
    places = [classes.index(label) for label in known]
    calibrators = list(zip(places, copy.deepcopy(member.calibrators), strict=True))
    return Calibration(own, votes, calibrators, len(classes), roundings)


@register_probabilities(FrozenEstimator)
def probabilities_of_frozen(frozen: Any) -> Probabilities:
    """Read the probabilities of the classifier that is frozen."""
    return probabilities_of(inside(frozen))


# --- several machines ---


@register_probabilities(OneVsRestClassifier)
def probabilities_of_rests(model: OneVsRestClassifier) -> Probabilities:
    """Read the probability of each class against the rest."""
    check_fitted(model)
    parts = [probabilities_of(machine) for machine in model.estimators_]
    functions = [part.of_classes.function for part in parts]
    adapted = replace(
        parts[0].of_classes,
        feature_names=feature_names(model) or parts[0].of_classes.feature_names,
    )
    predict = own_output(model, "predict_proba", functions[0].non_numeric)
    link = OfSecond(is_shared=not model.multilabel_)
    described = of_classes(adapted, functions, link, predict, model.classes_)
    odds = parts[0].log_odds
    if len(parts) > 1 or odds is None:
        return Probabilities(described)
    return Probabilities(described, replace(odds, output_names=pair_names(model.classes_)))


@register_probabilities(GaussianProcessClassifier)
def probabilities_of_process(model: GaussianProcessClassifier) -> Probabilities:
    """Read the latent means and variances, over which the logistic function is averaged."""
    adapted = adapt(model)
    base = model.base_estimator_
    if isinstance(base, OneVsOneClassifier):
        raise unsupported(
            "the probability of GaussianProcessClassifier with multi_class='one_vs_one'",
            ": it has none; fit it with multi_class='one_vs_rest'",
        )
    machines = getattr(base, "estimators_", [base])
    variances, noises, _ = latent_variances(model, machines)
    parts = [adapted.function]
    parts += [Combination([v], intercept=noise) for v, noise in zip(variances, noises, strict=True)]
    predict = without_names(model).predict_proba
    link = GaussianLogistic(len(machines))
    described = of_classes(adapted, parts, link, predict, model.classes_)
    outputs = LinkedOutputs(link, len(model.classes_), not_neutral=_NO_VARIANCE)
    return Probabilities(replace(described, expansion=Linked(parts, outputs)))


_NO_VARIANCE = (
    "the probability of GaussianProcessClassifier: its v(S) is made of a number that is no "
    "variance, and may be below 0"
)
