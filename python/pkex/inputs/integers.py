"""Integers of any type."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy as np

from pkex.errors import InputError, InputTypeError


def whole(value: object) -> int | None:
    """Return an integer of any type; None for anything else, booleans included."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # of an array
        return None


def as_integer(name: str, value: object, valid: str, *, least: int | None = None) -> int:
    """Return an integer of at least `least`.

    Parameters
    ----------
    name : str
        The name of the argument in messages.
    value : object
    valid : str
        The valid values, for messages.
    least : int, optional

    Raises
    ------
    TypeError, ValueError
        If the value is not an integer, or too small.
    """
    integer = whole(value)
    if integer is None:
        raise InputTypeError(name, f"must be {valid}; got {value!r} ({type(value).__name__})")
    if least is not None and integer < least:
        raise InputError(name, f"must be {valid}; got {integer}")
    return integer
