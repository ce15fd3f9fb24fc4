"""Errors of unknown and missing arguments, with the list of valid ones."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

from pkex.inputs.wording import counted

# Names of keywords in other libraries.
_ELSEWHERE = {
    "data": "background",
    "masker": "background",
    "background_data": "background",
    "X_background": "background",
    "max_display": "max_features",
}

# Keywords that are parameters of kernels in pkex.
_OF_KERNELS = ("gamma", "sigma", "bandwidth", "length_scale", "lengthscale")

# Keywords that are settings of a value function.
_OF_OBSERVATIONAL = ("leave_one_out", "n_landmarks", "regularization")

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
                unknown_keywords(function, kwargs)
                or _too_many(function, len(args))
                or _missing(function, args, kwargs)
            )
            if error is not None:
                raise error from None
            raise

    # inspect.signature uses this attribute, which the type of functions does not declare.
    call.__signature__ = _readable(signature)  # type: ignore[attr-defined]
    return call


def unknown_keywords(function: Callable[..., object], given: Iterable[str]) -> TypeError | None:
    """Return the error that names unknown keyword arguments and lists the known ones."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    unknown = [name for name in given if name not in known]
    if not unknown:
        return None
    kind = "argument" if len(unknown) == 1 else "arguments"
    listed = ", ".join(f"{name!r}{_meant(name, known)}" for name in unknown)
    hint = ""
    if "kernel" in known and any(name in _OF_KERNELS for name in unknown):
        hint = (
            "; a Gaussian kernel is kernel=pkex.kernels.RBF(length_scale), which has "
            "gamma = 1/(2·length_scale²)"
        )
    elif "value_function" in known and unknown[0] in _OF_OBSERVATIONAL:
        hint = f"; that is value_function=pkex.Observational({unknown[0]}=...)"
    return TypeError(
        f"{_label(function)} has no {kind} {listed}; it takes {', '.join(known)}{hint}"
    )


def _too_many(function: Callable[..., object], n_given: int) -> TypeError | None:
    """Return the error of too many positional arguments, which lists the valid ones."""
    parameters = list(inspect.signature(function).parameters.values())
    by_place = [p.name for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    is_open = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    if is_open or n_given <= len(by_place):
        return None
    by_name = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    is_method = by_place[:1] == ["self"]
    known = by_place[is_method:]
    also = f", and by name {', '.join(by_name)}" if by_name else ""
    return TypeError(
        f"{_label(function)} takes {counted(len(known), 'argument')} by position"
        f"{''.join(f', {name}' for name in known)}{also}; got {n_given - is_method}"
    )


def _missing(
    function: Callable[..., object], args: Sequence[object], given: Iterable[str]
) -> TypeError | None:
    """Return the error of missing keyword arguments."""
    parameters = inspect.signature(function).parameters.values()
    missing = [
        p.name
        for p in parameters
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in given
    ]
    if not missing:
        return None
    owner, _, name = function.__qualname__.rpartition(".")
    # A method is named by the class of its instance.
    is_method = owner and name != "__init__" and args
    label = f"{type(args[0]).__name__}.{name}()" if is_method else _label(function)
    return TypeError(f"{label} needs {', '.join(missing)}, given by name")


def _label(function: Callable[..., object]) -> str:
    """Return the name of a function in messages: "Explainer()", or "a call of Explainer"."""
    owner, _, name = function.__qualname__.rpartition(".")
    if name == "__call__":
        return f"a call of {owner}"
    return f"{owner if name == '__init__' else function.__qualname__}()"


def _meant(unknown: str, known: Sequence[str]) -> str:
    """Return the keyword that was probably meant, as a question."""
    close = difflib.get_close_matches(unknown, known, n=1)
    meant = [name for name in (_ELSEWHERE.get(unknown, ""), *close) if name in known]
    return f" (did you mean {meant[0]!r}?)" if meant else ""


class _Annotation(str):
    """An annotation as source code, for `help`, which would show a string in quotes."""

    __slots__ = ()

    __repr__ = str.__str__


def _readable(signature: inspect.Signature) -> inspect.Signature:
    parameters = [
        parameter.replace(annotation=_Annotation(parameter.annotation))
        if isinstance(parameter.annotation, str)
        else parameter
        for parameter in signature.parameters.values()
    ]
    returned = signature.return_annotation
    return signature.replace(
        parameters=parameters,
        return_annotation=_Annotation(returned) if isinstance(returned, str) else returned,
    )
