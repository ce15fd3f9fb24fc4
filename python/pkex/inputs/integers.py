"""Integers of whatever type: the one place where they are told from other things."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np

from pkex.errors import InputError, InputTypeError

__all__ = ["as_integer", "whole"]


def whole(value: object) -> int | None:
    """Return an integer of any type; None for anything else, booleans included."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array, but no number
        return None


def as_integer(name: str, value: object, what: str, *, least: int | None = None) -> int:
    """Return an integer that is not too small.

    Parameters
    ----------
    name : str
        What messages call it.
    value : object
    what : str
        What it may be, in words.
    least : int, optional

    Raises
    ------
    TypeError, ValueError
        If it is none, or too small.
    """
    number = whole(value)
    if number is None:
        raise InputTypeError(name, f"must be {what}; got {value!r} ({type(value).__name__})")
    if least is not None and number < least:
        raise InputError(name, f"must be {what}; got {number}")
    return number
