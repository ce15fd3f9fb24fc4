"""What is done to the entries of a column, step by step, and what undoes it.

Steps are objects that need no library: an explainer keeps them, and is pickled with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pkex.adapters.search_space import Number
from pkex.typing import Float

__all__ = ["Step", "affine", "kumaraswamy", "logarithm", "number_of", "reversed_step", "rounding"]

_Function = Callable[[Float], Float]
# What is done, and what undoes it.
Step = tuple[_Function, _Function]


def number_of(steps: Sequence[Step]) -> Number:
    """Return the parameter that steps make a column of, one after the other."""
    forward = [step[0] for step in steps]
    backward = [step[1] for step in reversed(steps)]
    return Number(partial(_in_turn, forward), partial(_in_turn, backward))


def reversed_step(step: Step) -> Step:
    """Return what undoes a step, as one."""
    forward, backward = step
    return backward, forward


def affine(offset: float, by: float) -> Step:
    """Return (x − offset) / by."""
    return partial(_divided, offset, by), partial(_multiplied, offset, by)


def logarithm() -> Step:
    """Return log₁₀ x."""
    return np.log10, partial(np.power, 10.0)


def rounding() -> Step:
    """Return the nearest integer, of two the even one."""
    return np.rint, np.asarray


def kumaraswamy(c0: float, c1: float, eps: float) -> Step:
    """Return Kumaraswamy's distribution function, 1 − (1 − u^c1)^c0 of u = eps + (1 − 2 eps) x.

    Beyond eps and 1 − eps, u is taken as these.
    """
    return partial(_warped, c0, c1, eps), partial(_unwarped, c0, c1, eps)


def _in_turn(functions: Sequence[_Function], entries: Float) -> Float:
    # What has no value, such as the logarithm of 0, is refused where it comes to the model.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for function in functions:
            entries = function(entries)
    return entries


def _divided(offset: float, by: float, entries: Float) -> Float:
    return (entries - offset) / by


def _multiplied(offset: float, by: float, entries: Float) -> Float:
    return entries * by + offset


def _warped(c0: float, c1: float, eps: float, entries: Float) -> Float:
    u = np.clip(entries * (1.0 - 2.0 * eps) + eps, eps, 1.0 - eps)
    return np.asarray(1.0 - (1.0 - u**c1) ** c0)


def _unwarped(c0: float, c1: float, eps: float, entries: Float) -> Float:
    u = (1.0 - (1.0 - entries) ** (1.0 / c0)) ** (1.0 / c1)
    return np.clip((u - eps) / (1.0 - 2.0 * eps), 0.0, 1.0)
