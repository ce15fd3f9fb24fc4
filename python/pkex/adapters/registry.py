"""Which adapter reads which model."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

from pkex.adapters.alternatives import advice
from pkex.adapters.fitted_attributes import usable
from pkex.errors import Text, UnsupportedModelError, joined
from pkex.functions.base import Function
from pkex.functions.descriptions import KernelExpansion, TermExpansion
from pkex.functions.encoded import EncodedKernelSum
from pkex.typing import Float

__all__ = [
    "AdaptedModel",
    "Probabilities",
    "Variance",
    "adapt",
    "probabilities_of",
    "reads_probabilities",
    "register",
    "register_probabilities",
    "unsupported",
]

_Model = TypeVar("_Model")

# By the package that a class comes from: the library that made it, and the module of its adapters.
# Searches of skopt return a result of SciPy's class.
_LIBRARIES = {
    "GPy": ("GPy", "pkex.adapters.GPy"),
    "scipy.interpolate": ("scipy", "pkex.adapters.scipy"),
    "scipy.optimize": ("skopt", "pkex.adapters.skopt"),
    "bayes_opt": ("bayes_opt", "pkex.adapters.bayes_opt"),
    "botorch": ("botorch", "pkex.adapters.torch.botorch"),
    "gpytorch": ("gpytorch", "pkex.adapters.torch"),
    "interpret": ("interpret", "pkex.adapters.interpret"),
    "pygam": ("pygam", "pkex.adapters.pygam"),
    "sklearn": ("sklearn", "pkex.adapters.sklearn"),
    "skopt": ("skopt", "pkex.adapters.skopt"),
    "smt": ("smt", "pkex.adapters.smt"),
}

_SUPPORTED = (
    "SVR, SVC and relatives with 'rbf', 'poly' or 'linear', KernelRidge with these, "
    "'laplacian' or 'chi2', Gaussian processes, linear models, Pipelines and searches of these, "
    "more in docs/supported-models.md; pkex.KernelExpansion for models of your own"
)


@dataclass(frozen=True, eq=False)
class Variance:
    """How the variance of a function of a probabilistic model is found.

    Parameters
    ----------
    of : Function
        That function. What is made of it, such as a sum, has another variance.
    adapt : callable
        Returns the description whose function is the variance, without or with the noise of an
        observation. May raise `UnsupportedModelError`.
    n_factored : int, default 0
        The size of a matrix that is to be factored for it; 0 if the model has done that.
    """

    of: Function
    adapt: Callable[[bool], AdaptedModel]
    n_factored: int = 0


@dataclass(frozen=True, eq=False)
class AdaptedModel:
    """What an adapter finds out about a model.

    Parameters
    ----------
    expansion : KernelExpansion, TermExpansion, or a Function of pkex
        The function that is explained. It has an output axis exactly if the explanation shall.
    predict : callable, optional
        The model's own evaluation of that function, from an array of shape (n, d) to one of shape
        (n,) or (n, outputs). It is compared with the expansion on a few rows before anything is
        explained. None only if the expansion *is* the model.
    method : str, optional
        The name of the model's method that returns that function, such as "predict". Bound to the
        model, it may be given to `Explainer` in place of the model.
    title : str, optional
        What explanations call the function, such as "posterior mean". By default the method's name.
    feature_names : tuple of str, optional
    output_names : tuple of str, optional
        One for each output; without an output axis one that says what the output is, such as
        "b vs a" of a classifier that is positive for b.
    kernel_rounding : float, default 0.0
        The relative rounding error of the model's own kernel values, where it is far above that of
        a single operation.
    absolute_rounding : float or ndarray of shape (outputs,), default 0.0
        The rounding error of the model's own output at every row, where it is the difference of
        larger numbers.
    not_explained : str, default ""
        Why the model's other methods cannot be explained, for the message to those who try.
    no_method : str, default ""
        Why that method is not the explained function either, if the model itself must be given.
    stand_in : estimator, optional
        A copy of the model whose method of that name is the explained function, if only with other
        options than the model's. What passes the model on, such as a Pipeline, is compared as a
        copy of itself with this one in it.
    variance : Variance, optional
        How the variance of that function is found.
    """

    expansion: KernelExpansion | TermExpansion | Function
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

    @property
    def function(self) -> Function:
        """The function that is explained."""
        given = self.expansion
        return given if isinstance(given, Function) else given._function

    def __post_init__(self) -> None:
        if not self.title:
            if self.method is None:
                raise TypeError("AdaptedModel needs a method or a title")
            object.__setattr__(self, "title", self.method)


@dataclass(frozen=True, eq=False)
class Probabilities:
    """What an adapter finds out about a classifier's ``predict_proba``.

    Parameters
    ----------
    of_classes : AdaptedModel
        The probabilities, with an output for each class.
    log_odds : AdaptedModel, optional
        Of two classes their log-odds, where these are a sum over features.
    """

    of_classes: AdaptedModel
    log_odds: AdaptedModel | None = None

    def passed_on(self, change: Callable[[AdaptedModel], AdaptedModel]) -> Probabilities:
        """Return those of a model that passes another on, and changes how it is described."""
        odds = self.log_odds
        return Probabilities(change(self.of_classes), None if odds is None else change(odds))


@functools.singledispatch
def _probabilities(model: Any) -> Probabilities:
    raise UnsupportedModelError(
        f"pkex knows no probabilities of {type(model).__name__}: those of SVC and NuSVC with "
        "probability=True, CalibratedClassifierCV, OneVsRestClassifier, GaussianProcessClassifier, "
        "logistic regression, also of a Nystroem map, and interpret's "
        "ExplainableBoostingClassifier are explained"
    )


def register_probabilities(
    model_class: type[_Model],
) -> Callable[[Callable[[_Model], Probabilities]], Callable[[_Model], Probabilities]]:
    """Register what reads the probabilities of a class of models, as `register` does."""
    return _probabilities.register(model_class)


def reads_probabilities(model_class: type) -> bool:
    """Return whether there is a reader of the probabilities of a class of models."""
    _import_adapters_for(model_class)
    return _probabilities.dispatch(model_class) is not _probabilities.dispatch(object)


def probabilities_of(model: Any) -> Probabilities:
    """Read the probabilities of a fitted classifier.

    Raises
    ------
    UnsupportedModelError
        If none are known of it.
    """
    _import_adapters_for(type(model))
    with usable(model):
        return _probabilities(model)


@functools.singledispatch
def _adapt(model: Any) -> AdaptedModel:
    raise _unknown(type(model))


@_adapt.register(KernelExpansion)
@_adapt.register(TermExpansion)
def _(model: KernelExpansion | TermExpansion) -> AdaptedModel:
    function: Function = model._function
    if isinstance(function, EncodedKernelSum):
        function = function.of_table()
    names = model.feature_names
    return AdaptedModel(function, method="predict", predict=None, feature_names=names)


def register(
    model_class: type[_Model],
) -> Callable[[Callable[[_Model], AdaptedModel]], Callable[[_Model], AdaptedModel]]:
    """Register the adapter for a class of models, and for subclasses without their own.

    Parameters
    ----------
    model_class : type

    Returns
    -------
    decorator
        For a function that takes a fitted model and returns an `AdaptedModel`, or raises
        `UnsupportedModelError` for a model that it does not understand in every part.
    """
    return _adapt.register(model_class)


def adapt(model: Any) -> AdaptedModel:
    """Read a fitted model, or one bound to the method that is to be explained.

    Raises
    ------
    UnsupportedModelError
        If there is no adapter for the model, or the adapter refuses it.
    """
    if isinstance(model, type):
        _import_adapters_for(model)
        if _adapt.dispatch(model) is _adapt.dispatch(object):
            raise _unknown(model)
        raise UnsupportedModelError(
            f"{model.__name__} is a class; pass a fitted instance, {model.__name__}().fit(X, y)"
        )
    if isinstance(model, MethodType):
        return _adapt_method(model)
    if isinstance(model, FunctionType | BuiltinFunctionType | functools.partial):
        name = getattr(model, "__name__", type(model).__name__)
        raise UnsupportedModelError(
            f"{name} is a plain function, and exact values need the fitted parameters behind it: "
            "pass the fitted model itself, or its bound method such as model.predict (of one class "
            "model.predict_proba with outputs=1), or describe the function as a "
            "pkex.KernelExpansion"
        )
    _import_adapters_for(type(model))
    with usable(model):
        return _adapt(model)


def _unknown(model_class: type) -> UnsupportedModelError:
    name = "None" if model_class is type(None) else model_class.__name__
    instead = advice(model_class)
    return unsupported(name, f": {instead}" if instead else "")


def unsupported(what: Text, instead: Text = "") -> UnsupportedModelError:
    """Return the error that names what is not supported, and lists what is."""
    others = [cls.__name__ for cls in _adapt.registry if not _is_built_in(cls)]
    supported = ", ".join([_SUPPORTED, *others])
    return UnsupportedModelError(
        joined(what, " is not supported", instead, f". Supported: {supported}")
    )


def _is_built_in(cls: type) -> bool:
    own = (__name__, *(adapters for _, adapters in _LIBRARIES.values()))
    return _adapt.registry[cls].__module__.startswith(own)


def _adapt_method(method: MethodType) -> AdaptedModel:
    model = method.__self__
    adapted = adapt(model)
    name = f"{type(model).__name__}.{getattr(method, '__name__', method)}"
    if adapted.method is None or not _is_same(method, getattr(model, adapted.method)):
        reason = f": {adapted.not_explained}" if adapted.not_explained else ""
        has_method = adapted.method is not None and not adapted.no_method
        raise UnsupportedModelError(
            f"{name} cannot be explained{reason}. Pass the model itself"
            + (" or its {}, which" if has_method else ", whose {}").format(adapted.title)
            + " is explained"
            + ("; its predict_proba is, too" if _has_probabilities(model) else "")
        )
    if adapted.no_method:
        raise UnsupportedModelError(f"{name} cannot be explained: {adapted.no_method}")
    return adapted


def _has_probabilities(model: Any) -> bool:
    return hasattr(model, "predict_proba") and reads_probabilities(type(model))


def _is_same(method: MethodType, own: object) -> bool:
    """Return whether a method of a model is its `own`, if only in a copy made by cloudpickle."""
    if method == own or not isinstance(own, MethodType):
        return method == own
    origins = [(m.__func__.__module__, m.__func__.__qualname__) for m in (method, own)]
    return origins[0] == origins[1]


def _import_adapters_for(model_class: type) -> None:
    for ancestor in model_class.__mro__:
        for package, (library, adapters) in _LIBRARIES.items():
            if library in sys.modules and f"{ancestor.__module__}.".startswith(f"{package}."):
                importlib.import_module(adapters)
