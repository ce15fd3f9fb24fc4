"""Adapters by the class of the model that they read."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.alternatives import alternative
from pkex.adapters.fitted_attributes import attribute_errors
from pkex.errors import Text, UnsupportedModelError, joined
from pkex.functions.base import Function
from pkex.functions.descriptions import (
    Description,
    KernelExpansion,
    ProductExpansion,
    TermExpansion,
)
from pkex.functions.encoded import EncodedKernelSum

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
    "lifelines": ("lifelines", "pkex.adapters.lifelines"),
    "numpoly": ("numpoly", "pkex.adapters.chaospy"),
    "openturns": ("openturns", "pkex.adapters.openturns"),
    "pygam": ("pygam", "pkex.adapters.pygam"),
    "sklearn": ("sklearn", "pkex.adapters.sklearn"),
    "sklearn.ensemble": ("sklearn", "pkex.adapters.sklearn.ensembles"),
    "sklearn.neighbors": ("sklearn", "pkex.adapters.sklearn.densities"),
    "sksurv.linear_model": ("sksurv", "pkex.adapters.proportional_hazards"),
    "sksurv.svm": ("sksurv", "pkex.adapters.scikit_survival"),
    "skopt": ("skopt", "pkex.adapters.skopt"),
    "smt": ("smt", "pkex.adapters.smt"),
    "statsmodels": ("statsmodels", "pkex.adapters.statsmodels"),
}

_SUPPORTED = (
    "SVR, SVC and their variants with kernel 'rbf', 'poly' or 'linear', KernelRidge with these, "
    "'laplacian' or 'chi2', Gaussian processes, linear models, Pipelines and searches of these, "
    "more in docs/supported-models.md; pkex.KernelExpansion for models of your own"
)


@functools.singledispatch
def _probabilities(model: Any) -> Probabilities:
    raise UnsupportedModelError(
        f"pkex does not support the probabilities of {type(model).__name__}. Supported are those "
        "of SVC and NuSVC with probability=True, CalibratedClassifierCV, OneVsRestClassifier, "
        "GaussianProcessClassifier, naive Bayes, logistic regression, also after Nystroem, and "
        "interpret's ExplainableBoostingClassifier"
        + (f"; {hint}" if (hint := alternative(type(model))) else "")
    )


def register_probabilities(
    model_class: type[_Model],
) -> Callable[[Callable[[_Model], Probabilities]], Callable[[_Model], Probabilities]]:
    """Register the reader of the probabilities of a class of models, see `register`."""
    return _probabilities.register(model_class)


def reads_probabilities(model_class: type) -> bool:
    """Return whether a class of models has a reader of its probabilities."""
    _import_adapters_for(model_class)
    return _probabilities.dispatch(model_class) is not _probabilities.dispatch(object)


def probabilities_of(model: Any) -> Probabilities:
    """Read the probabilities of a fitted classifier.

    Raises
    ------
    UnsupportedModelError
        If pkex does not support them.
    """
    _import_adapters_for(type(model))
    with attribute_errors(model):
        return _probabilities(model)


@functools.singledispatch
def _adapt(model: Any) -> AdaptedModel:
    raise _unsupported_class(type(model))


@_adapt.register(KernelExpansion)
@_adapt.register(ProductExpansion)
@_adapt.register(TermExpansion)
def _(model: KernelExpansion | ProductExpansion | TermExpansion) -> AdaptedModel:
    if type(model).predict is not Description.predict:
        name = type(model).__name__
        raise UnsupportedModelError(
            f"{name} defines its own predict, which may be another function than that of its "
            f"expansion. Register an adapter for {name} with pkex.adapters.register"
        )
    function: Function = model._function
    if isinstance(function, EncodedKernelSum):
        function = function.of_table()
    names = model.feature_names
    return AdaptedModel(function, method="predict", predict=None, feature_names=names)


def register(
    model_class: type[_Model],
) -> Callable[[Callable[[_Model], AdaptedModel]], Callable[[_Model], AdaptedModel]]:
    """Register the adapter for a class of models, and for its subclasses without an adapter.

    Parameters
    ----------
    model_class : type
        The class of the models.

    Returns
    -------
    decorator
        For the adapter, a function from a fitted model to an `AdaptedModel`. It must raise
        `UnsupportedModelError` for every variant of the model that it does not support.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> class Line:
    ...     def __init__(self, slope):
    ...         self.slope = slope
    ...     def predict(self, X):
    ...         return self.slope * np.asarray(X)[:, 0]
    >>> @pkex.adapters.register(Line)
    ... def adapt_line(model):
    ...     expansion = pkex.KernelExpansion([[model.slope]], [1.0], pkex.kernels.Linear())
    ...     return pkex.adapters.AdaptedModel(expansion, method="predict", predict=model.predict)
    >>> pkex.Explainer(Line(2.0), background=[[0.0]]).shap_values([[3.0]])
    array([[6.]])
    """
    return _adapt.register(model_class)


def adapt(model: Any) -> AdaptedModel:
    """Read a fitted model, or the model of a bound method such as ``model.predict``.

    Parameters
    ----------
    model : object
        A fitted model, or one of its methods.

    Returns
    -------
    AdaptedModel
        The description of the function that `pkex.Explainer` explains.

    Raises
    ------
    UnsupportedModelError
        If no adapter reads the model, or its adapter does not support it, or the method is not the
        function that its adapter describes.
    TypeError
        If its adapter does not return an `AdaptedModel`, or names a method that the model lacks.

    Examples
    --------
    >>> import pkex
    >>> model = pkex.KernelExpansion([[0.0]], [1.0], pkex.kernels.RBF())
    >>> pkex.adapters.adapt(model).method
    'predict'
    """
    if isinstance(model, type):
        _import_adapters_for(model)
        if _adapt.dispatch(model) is _adapt.dispatch(object):
            raise _unsupported_class(model)
        raise UnsupportedModelError(
            f"{model.__name__} is a class; pass a fitted instance, {model.__name__}().fit(X, y)"
        )
    if isinstance(model, MethodType):
        return _adapt_method(model)
    if isinstance(model, FunctionType | BuiltinFunctionType | functools.partial):
        name = getattr(model, "__name__", type(model).__name__)
        raise UnsupportedModelError(
            f"{name} is a plain function, and exact values need the fitted parameters behind it. "
            "Pass the fitted model, or its bound method such as model.predict (for one class "
            "model.predict_proba with outputs=1), or describe the function as a "
            "pkex.KernelExpansion"
        )
    _import_adapters_for(type(model))
    with attribute_errors(model):
        adapted = _adapt(model)
    name = type(model).__name__
    if not isinstance(adapted, AdaptedModel):
        raise TypeError(
            f"the adapter of {name} must return a pkex.adapters.AdaptedModel; got {adapted!r} "
            f"({type(adapted).__name__})"
        )
    if adapted.method is not None and not hasattr(model, adapted.method):
        raise TypeError(
            f"the adapter of {name} returns method={adapted.method!r}, but {name} has no such "
            "method. Pass a name for the function as title if no method returns it"
        )
    return adapted


def _unsupported_class(model_class: type) -> UnsupportedModelError:
    name = "None" if model_class is type(None) else model_class.__name__
    hint = alternative(model_class)
    return unsupported_model(name, f": {hint}" if hint else "")


def unsupported_model(subject: Text, reason: Text = "") -> UnsupportedModelError:
    """Return the error that a subject is not supported, with the reason and the alternatives."""
    custom_classes = [cls.__name__ for cls in _adapt.registry if not _is_built_in(cls)]
    supported_models = ", ".join([_SUPPORTED, *custom_classes])
    return UnsupportedModelError(
        joined(subject, " is not supported", reason, f". Supported: {supported_models}")
    )


def _is_built_in(cls: type) -> bool:
    modules = (__name__, *(adapters for _, adapters in _LIBRARIES.values()))
    return _adapt.registry[cls].__module__.startswith(modules)


def _adapt_method(method: MethodType) -> AdaptedModel:
    model = method.__self__
    adapted = adapt(model)
    name = f"{type(model).__name__}.{getattr(method, '__name__', method)}"
    if adapted.method is None or not _is_same_method(method, getattr(model, adapted.method)):
        reason = f": {adapted.not_explained}" if adapted.not_explained else ""
        has_method = adapted.method is not None and not adapted.no_method
        raise UnsupportedModelError(
            f"{name} cannot be explained{reason}. Pass the model itself"
            + (f" or its {adapted.method}, which" if has_method else f", whose {adapted.title}")
            + " is explained"
            + ("; its predict_proba is also supported" if _has_probabilities(model) else "")
        )
    if adapted.no_method:
        raise UnsupportedModelError(f"{name} cannot be explained: {adapted.no_method}")
    return adapted


def _has_probabilities(model: Any) -> bool:
    return hasattr(model, "predict_proba") and reads_probabilities(type(model))


def _is_same_method(method: MethodType, model_method: object) -> bool:
    """Return whether a method is `model_method`, or a copy of it made by cloudpickle."""
    if method == model_method or not isinstance(model_method, MethodType):
        return method == model_method
    origins = [(m.__func__.__module__, m.__func__.__qualname__) for m in (method, model_method)]
    return origins[0] == origins[1]


def _import_adapters_for(model_class: type) -> None:
    for ancestor in model_class.__mro__:
        for package, (library, adapters) in _LIBRARIES.items():
            if library in sys.modules and f"{ancestor.__module__}.".startswith(f"{package}."):
                importlib.import_module(adapters)
