"""The probabilities of scikit-learn's classifiers.

A link computes probabilities from decision values, which are sums over points. A reader returns the
decision values with their link. If the log-odds of two classes are affine in the decision value,
they are a sum as well.
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
from pkex.adapters.registry import (
    adapt,
    probabilities_of,
    register_probabilities,
    unsupported_model,
)
from pkex.adapters.sklearn.estimators import (
    FrozenEstimator,
    check_columns_of,
    check_fitted,
    feature_names,
    frozen_estimator,
    method_of_arrays,
    pair_names,
    without_names,
)
from pkex.adapters.sklearn.gaussian_process_variance import latent_variances
from pkex.adapters.sklearn.linear import adapt_linear
from pkex.adapters.sklearn.probability_links import (
    CalibratedMean,
    Calibration,
    GaussianLogistic,
    Member,
    OneVsRestLink,
    PairwiseCoupling,
    TemperatureScaling,
    Votes,
    logistic,
    of_logistics,
    of_softmax,
)
from pkex.functions.base import Function
from pkex.functions.composite import Combination
from pkex.functions.linked import Linked, LinkedOutputs, Steps
from pkex.typing import Float

_Predict = Callable[[Float], Any]

# Effect on a probability of rounding in decision values and in sums of large terms.
_ROUNDING = 1e-10
# The coupled probability of two classes differs from Platt's, since libsvm stops early.
_COUPLING = 0.005
_CALIBRATED = 1e-9
# Rounding of decision values, relative to the sum of the sizes of their terms.
_OF_DECISIONS = 1e-13


def probabilities_by_link(
    adapted: AdaptedModel,
    parts: Sequence[Function],
    link: Callable[..., Float],
    predict: _Predict,
    classes: Sequence[Any],
    *,
    affine: tuple[float, float] | None = None,
    steps: Steps | None = None,
    uses_threads: bool = False,
    tolerance: float = _CALIBRATED,
) -> Probabilities:
    """Describe probabilities that a link computes from the outputs of functions.

    Parameters
    ----------
    adapted : AdaptedModel
        The decision function.
    parts : sequence of Function
    link : callable
        From an array (k, outputs of all parts) to probabilities (k, classes). With
        `uses_threads`, its second argument is the number of threads.
    predict : callable
        The model's own ``predict_proba``.
    classes : sequence
    affine : tuple of float, optional
        Slope and offset of the log-odds in the decision value, used for two classes.
    steps : callable, optional
        Where the link has steps.
    uses_threads : bool, default False
    tolerance : float
        Of the probability that follows from the log-odds.
    """
    adapted_probabilities = replace(
        adapted,
        expansion=Linked(
            parts, LinkedOutputs(link, len(classes), steps=steps, uses_threads=uses_threads)
        ),
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
    if affine is None or len(classes) > 2:
        return Probabilities(adapted_probabilities)
    log_odds = _log_odds(adapted, affine, predict, classes, tolerance)
    return Probabilities(adapted_probabilities, log_odds)


def _log_odds(
    adapted: AdaptedModel,
    affine: tuple[float, float],
    predict_proba: _Predict,
    classes: Sequence[Any],
    tolerance: float,
) -> AdaptedModel:
    """Describe log-odds that are affine in a decision value, slope · f(x) + offset.

    Models have no method for log-odds. The decision value is compared with the model's own, and the
    probability that follows from the log-odds with its ``predict_proba``.
    """
    decide, (slope, offset) = adapted.predict, affine

    def predict_log_odds(rows: Float) -> Float:
        log_odds = slope * np.asarray(decide and decide(rows)) + offset
        probabilities = logistic(log_odds[:, None])
        if not np.allclose(probabilities, predict_proba(rows), rtol=0.0, atol=tolerance):
            raise ValueError("predict_proba is not the logistic function of the log-odds")
        return log_odds

    return replace(
        adapted,
        expansion=Combination([adapted.function], [slope], offset),
        method=None,
        title="log-odds",
        is_log_odds=True,
        predict=predict_log_odds,
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
        raise unsupported_model(
            f"the probability of {type(model).__name__} without probability=True",
            ": it has no predict_proba. Fit CalibratedClassifierCV(model, ensemble=False), whose "
            "probabilities and log-odds are supported",
        )
    # For two classes, libsvm's decision value is positive for the first.
    link = PairwiseCoupling(slopes, offsets, -1.0 if len(model.classes_) == 2 else 1.0)
    return probabilities_by_link(
        adapted,
        [adapted.function],
        link,
        without_names(model).predict_proba,
        model.classes_,
        affine=(-float(slopes[0]), float(offsets[0])),
        uses_threads=True,
        tolerance=_COUPLING,
    )


# --- linear models, also after a Nystroem map ---


def probabilities_of_linear(model: Any, adapted: AdaptedModel, predict: _Predict) -> Probabilities:
    """Read the probabilities of a linear classifier.

    Parameters
    ----------
    model : estimator
    adapted : AdaptedModel
        Its decision function, perhaps in other columns.
    predict : callable
        Its `predict_proba` in these columns.
    """
    loss = getattr(model, "loss", None) if isinstance(model, SGDClassifier) else "log_loss"
    if loss != "log_loss" or type(model) not in _LOGISTIC:
        raise unsupported_model(f"the probability of {model!r}")
    is_each = isinstance(model, SGDClassifier) or _is_one_vs_rest(model)
    link = of_logistics if is_each else of_softmax
    return probabilities_by_link(
        adapted,
        [adapted.function],
        logistic if len(model.classes_) == 2 else link,
        predict,
        model.classes_,
        affine=(1.0, 0.0),
    )


_LOGISTIC = (LogisticRegression, LogisticRegressionCV, SGDClassifier, LinearDiscriminantAnalysis)


def _is_one_vs_rest(model: Any) -> bool:
    """Return whether a logistic regression is one-vs-rest, which is possible until 1.7."""
    multi_class = getattr(model, "multi_class", "auto")
    return multi_class == "ovr" or getattr(model, "solver", "") == "liblinear"


def _probabilities_of_linear_model(model: Any) -> Probabilities:
    return probabilities_of_linear(model, adapt_linear(model), without_names(model).predict_proba)


for _linear in _LOGISTIC:
    register_probabilities(_linear)(_probabilities_of_linear_model)


# --- calibration ---


@register_probabilities(CalibratedClassifierCV)
def probabilities_of_calibrated(model: CalibratedClassifierCV) -> Probabilities:
    """Read classifiers, and the calibration of their decision values."""
    return calibrated_probabilities(model, adapt)


def calibrated_probabilities(
    model: CalibratedClassifierCV,
    read_part: Callable[[Any], AdaptedModel],
    map_rows: Callable[[Any], Any] | None = None,
) -> Probabilities:
    """Read sigmoids, isotonic functions or temperatures of classifiers' decision values.

    Parameters
    ----------
    model : CalibratedClassifierCV
    read_part : callable
        Reads its classifiers, perhaps in other columns than the model's.
    map_rows : callable, optional
        From rows to the input of the model, if its columns differ.
    """
    check_fitted(model)
    if model.method not in ("sigmoid", "isotonic", "temperature"):
        raise unsupported_model(f"CalibratedClassifierCV with method={model.method!r}")
    classes = list(model.classes_)
    parts, members, start = [], [], 0
    for member in model.calibrated_classifiers_:
        part = _decision(member.estimator, classes, read_part)
        members.append(_calibration(member, part, classes, start))
        parts.append(part)
        start += part.function.n_outputs
    first, functions = parts[0], [part.function for part in parts]
    if first.encoder is not None:
        predict = _copy_for_rows(model, [part.encoder for part in parts]).predict_proba
    elif map_rows is None:
        first = replace(first, feature_names=feature_names(model) or first.feature_names)
        predict = method_of_arrays(model, "predict_proba", functions[0].non_numeric)
    else:
        predict = _compose(map_rows, without_names(model).predict_proba)
    link = CalibratedMean(members)
    has_steps = model.method == "isotonic" or any(member.votes for member in members)
    is_affine = len(parts) == 1 and len(classes) == 2 and model.method != "isotonic"
    return probabilities_by_link(
        first,
        functions,
        link,
        predict,
        classes,
        affine=_affine(model.calibrated_classifiers_[0]) if is_affine else None,
        steps=link.steps if has_steps else None,
    )


def _copy_for_rows(model: Any, encoders: Sequence[Any]) -> Any:
    """Return a copy of a calibrated classifier of documents that takes their rows."""
    estimators = {id(member.estimator) for member in model.calibrated_classifiers_}
    if len(estimators) > 1:
        raise unsupported_model(
            "CalibratedClassifierCV of several Pipelines with vectorizers",
            ": each was fitted on other documents and has columns of its own. Fit it with "
            "ensemble=False, or put the vectorizer before it: "
            "make_pipeline(vectorizer, CalibratedClassifierCV(classifier))",
        )
    row_model = copy.copy(model)
    row_model.calibrated_classifiers_ = []
    for member, encoder in zip(model.calibrated_classifiers_, encoders, strict=True):
        row_model.calibrated_classifiers_.append(copy.copy(member))
        row_model.calibrated_classifiers_[-1].estimator = encoder.model
    return row_model


def _compose(map_rows: Callable[[Any], Any], predict: _Predict) -> _Predict:
    return lambda rows: predict(map_rows(rows))


def _affine(member: Any) -> tuple[float, float]:
    """Return slope and offset of the log-odds of two classes in their decision value."""
    (calibrator,) = member.calibrators
    if member.method == "temperature":
        # The logits of the two classes are −f and f.
        return 2.0 * float(calibrator.beta_), 0.0
    return -float(calibrator.a_), -float(calibrator.b_)


def _decision(
    estimator: Any, classes: Sequence[Any], read_part: Callable[[Any], AdaptedModel]
) -> AdaptedModel:
    """Read the decision values of a classifier that is calibrated for these classes."""
    name = f"CalibratedClassifierCV of {type(estimator).__name__}"
    if not hasattr(estimator, "decision_function"):
        raise unsupported_model(name)
    if len(estimator.classes_) < len(classes):
        raise unsupported_model(
            f"{name}, fitted on {len(estimator.classes_)} of {len(classes)} classes",
            ": each fold must have rows of every class. Use cv=StratifiedKFold()",
        )
    part = read_part(estimator)
    is_each = len(classes) == 2 or part.no_method or part.function.n_outputs == len(classes)
    if part.method != "decision_function" or not is_each:
        raise unsupported_model(
            f"{name} with pairs of classes",
            ": it does not calibrate decision values of single classes. Use OneVsRestClassifier or "
            "an SVC with decision_function_shape='ovr'",
        )
    return part


def _calibration(member: Any, part: AdaptedModel, classes: Sequence[Any], start: int) -> Member:
    """Return the calibration of one classifier, whose decision values begin at `start`."""
    function = part.function
    sizes = function.magnitude(function.probing_rows(), n_threads=1)
    rounding = _OF_DECISIONS + part.kernel_rounding
    roundings = rounding * np.reshape(sizes, (len(sizes), -1)).max(axis=0)
    decisions = slice(start, start + function.n_outputs)
    # For pairs, decision_function returns votes.
    votes = Votes(len(classes)) if part.no_method else None
    if member.method == "temperature":
        return TemperatureScaling(decisions, votes, roundings, float(member.calibrators[0].beta_))
    # Two classes have a single calibrator, for the second.
    labels = member.estimator.classes_ if len(classes) > 2 else classes[1:]
    places = [classes.index(label) for label in labels]
    calibrators = list(zip(places, copy.deepcopy(member.calibrators), strict=True))
    return Calibration(decisions, votes, roundings, calibrators, len(classes))


@register_probabilities(FrozenEstimator)
def probabilities_of_frozen(frozen: Any) -> Probabilities:
    """Read the probabilities of the frozen classifier."""
    return probabilities_of(frozen_estimator(frozen))


# --- several machines ---


@register_probabilities(OneVsRestClassifier)
def probabilities_of_rests(model: OneVsRestClassifier) -> Probabilities:
    """Read the probability of each class against the rest."""
    check_fitted(model)
    parts = [probabilities_of(machine) for machine in model.estimators_]
    check_columns_of(model, parts[0].of_classes)
    functions = [part.of_classes.function for part in parts]
    adapted = replace(
        parts[0].of_classes,
        feature_names=feature_names(model) or parts[0].of_classes.feature_names,
    )
    predict = method_of_arrays(model, "predict_proba", functions[0].non_numeric)
    probabilities = probabilities_by_link(
        adapted, functions, OneVsRestLink(is_shared=not model.multilabel_), predict, model.classes_
    )
    log_odds = parts[0].log_odds
    if len(parts) > 1 or log_odds is None:
        return probabilities
    log_odds = replace(log_odds, output_names=pair_names(model.classes_))
    return replace(probabilities, log_odds=log_odds)


@register_probabilities(GaussianProcessClassifier)
def probabilities_of_process(model: GaussianProcessClassifier) -> Probabilities:
    """Read latent means and variances, over which the logistic function is averaged."""
    adapted = adapt(model)
    base = model.base_estimator_
    if isinstance(base, OneVsOneClassifier):
        raise unsupported_model(
            "the probability of GaussianProcessClassifier with multi_class='one_vs_one'",
            ": it has none. Fit it with multi_class='one_vs_rest'",
        )
    machines = getattr(base, "estimators_", [base])
    variances, noises, _ = latent_variances(model, machines)
    parts = [adapted.function]
    parts += [Combination([v], intercept=noise) for v, noise in zip(variances, noises, strict=True)]
    predict, classes = without_names(model).predict_proba, model.classes_
    link = GaussianLogistic(len(machines))
    probabilities = probabilities_by_link(adapted, parts, link, predict, classes).of_classes
    outputs = LinkedOutputs(link, len(classes), not_neutral=_NO_VARIANCE)
    return Probabilities(replace(probabilities, expansion=Linked(parts, outputs)))


_NO_VARIANCE = (
    "the probability of GaussianProcessClassifier: its v(S) uses a number that is not a variance, "
    "and may be negative"
)
