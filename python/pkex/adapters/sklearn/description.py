"""The names of a fitted model, and its arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from pkex.functions.base import Function
from pkex.typing import Float


def feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the column names that a model was fitted on, if it was fitted on a DataFrame."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def pair_names(classes: Iterable[Any]) -> tuple[str, ...]:
    """Return the names "a vs b" of the outputs of pairs of classes, which are positive for a.

    Those of several classes are positive for the first of a pair, that of two for the second: its
    name is "b vs a". Labels are quoted if the word "vs" stands in one of them: "'a' vs 'b vs c'"
    and "'a vs b' vs 'c'" are not the same pair.
    """
    # str() of the labels: NumPy's own repr would say np.str_('a').
    labels = [str(label) for label in classes]
    if any("vs" in label.split() for label in labels):
        labels = [repr(label) for label in labels]
    if len(labels) == 2:
        labels.reverse()
    return tuple(f"{a} vs {b}" for a, b in itertools.combinations(labels, 2))


def class_names(classes: Iterable[Any], function: Function) -> tuple[str, ...]:
    """Return the names of outputs of a classifier: its classes, or "b vs a" of two."""
    return tuple(map(str, classes)) if function.has_output_axis else pair_names(classes)


def dense(array: Any) -> Float:
    """Return a float64 array of what may be a sparse matrix."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)
