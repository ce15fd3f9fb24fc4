"""Errors of unknown and missing arguments, with the list of valid ones."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

from pkex.inputs.wording import counted

# Names of keywords in other libraries.
_SYNONYMS = {
    "data": "background",
    "masker": "background",
    "background_data": "background",
    "X_background": "background",
    "max_display": "max_features",
    "seed": "random_state",
    "rng": "random_state",
}

# Keywords that choose a part of a result.
_CHOICES = ("feature", "features", "row", "rows")

# Keywords that are parameters of kernels in pkex.
_KERNEL_PARAMETERS = ("gamma", "sigma", "bandwidth", "length_scale", "lengthscale")

# Keywords that are settings of a value function.
_OBSERVATIONAL_PARAMETERS = ("leave_one_out", "n_landmarks", "regularization")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_known_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function raise errors for invalid arguments that list the valid ones."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            error = (
                unknown_keywords(function, kwargs, args)
                or _excess_arguments(function, args)
                or _missing_keywords(function, args, kwargs)
            )
            if error is not None:
                raise error from None
            raise

    # inspect.signature uses this attribute, which the type of functions does not declare.
    call.__signature__ = _readable_signature(signature)  # type: ignore[attr-defined]
    return call


def unknown_keywords(
    function: Callable[..., object], keywords: Iterable[str], args: Sequence[object] = ()
) -> TypeError | None:
    """Return the error that names unknown keyword arguments and lists the known ones."""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    unknown = [name for name in keywords if name not in parameters]
    if not unknown:
        return None
    kind = "argument" if len(unknown) == 1 else "arguments"
    listing = ", ".join(f"{name!r}{_suggestion(name, parameters)}" for name in unknown)
    hint = _hint(function, unknown, parameters, args)
    return TypeError(
        f"{_label(function, args)} has no {kind} {listing}; it takes {', '.join(parameters)}{hint}"
    )


def _hint(
    function: Callable[..., object],
    unknown: Sequence[str],
    parameters: Sequence[str],
    args: Sequence[object],
) -> str:
    """Return a clause on what to write instead of the unknown keywords."""
    name = unknown[0]
    if "kernel" in parameters and any(keyword in _KERNEL_PARAMETERS for keyword in unknown):
        return (
            "; a Gaussian kernel is kernel=pkex.kernels.RBF(length_scale), which has "
            "gamma = 1/(2·length_scale²)"
        )
    if "value_function" in parameters and name in _OBSERVATIONAL_PARAMETERS:
        return f"; that is value_function=pkex.Observational({name}=...)"
    if function.__name__ == "__call__" and args:
        owner = type(args[0])
        if name in inspect.signature(owner).parameters:
            return f"; that is {owner.__name__}(..., {name}=...)"
    choice = getattr(args[0], "_choice", "") if args and name in _CHOICES else ""
    return f"; {choice}" if choice else ""


def _excess_arguments(function: Callable[..., object], args: Sequence[object]) -> TypeError | None:
    """Return the error of too many positional arguments, which lists the valid ones."""
    parameters = list(inspect.signature(function).parameters.values())
    positional_names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if is_open or len(args) <= len(positional_names):
        return None
    keyword_names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    is_method = positional_names[:1] == ["self"]
    names = positional_names[is_method:]
    suffix = f", and by name {', '.join(keyword_names)}" if keyword_names else ""
    return TypeError(
        f"{_label(function, args)} takes {counted(len(names), 'argument')} by position"
        f"{''.join(f', {name}' for name in names)}{suffix}; got {len(args) - is_method}"
    )


def _missing_keywords(
    function: Callable[..., object], args: Sequence[object], keywords: Iterable[str]
) -> TypeError | None:
    """Return the error of missing keyword arguments."""
    parameters = inspect.signature(function).parameters.values()
    names = [
        p.name
        for p in parameters
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in keywords
    ]
    if not names:
        return None
    return TypeError(f"{_label(function, args)} needs {', '.join(names)}, given by name")


def _label(function: Callable[..., object], args: Sequence[object]) -> str:
    """Return the name of a function in messages: "Explainer()", or "a call of Explainer"."""
    owner, _, name = function.__qualname__.rpartition(".")
    if name == "__call__":
        return f"a call of {owner}"
    if name == "__init__":
        return f"{owner}()"
    # A method is named by the class of its instance.
    is_method = args and "self" in inspect.signature(function).parameters
    return f"{type(args[0]).__name__}.{name}()" if is_method else f"{function.__qualname__}()"


def _suggestion(keyword: str, parameters: Sequence[str]) -> str:
    """Return the keyword that was probably meant, as a question."""
    if keyword in _CHOICES:
        return ""
    matches = difflib.get_close_matches(keyword, parameters, n=1)
    candidates = [name for name in (_SYNONYMS.get(keyword, ""), *matches) if name in parameters]
    return f" (did you mean {candidates[0]!r}?)" if candidates else ""


class _Annotation(str):
    """An annotation as source code, for `help`, which would show a string in quotes."""

    __slots__ = ()

    __repr__ = str.__str__


def _readable_signature(signature: inspect.Signature) -> inspect.Signature:
    parameters = [
        parameter.replace(annotation=_Annotation(parameter.annotation))
        if isinstance(parameter.annotation, str)
        else parameter
        for parameter in signature.parameters.values()
    ]
    annotation = signature.return_annotation
    return signature.replace(
        parameters=parameters,
        return_annotation=_Annotation(annotation) if isinstance(annotation, str) else annotation,
    )
