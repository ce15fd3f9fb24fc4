"""One-vs-one outputs of classifiers, and their means for each class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from pkex.typing import Float

_BETWEEN = " vs "


def classes_of_pairs(names: Sequence[str]) -> list[str] | None:
    """Return the classes if output names "a vs b" are all their pairs in order, else None.

    Names of classes may contain "vs".
    """
    n_classes = round((1.0 + math.sqrt(1.0 + 8.0 * len(names))) / 2.0)
    words = names[0].split(_BETWEEN) if names else []
    for place in range(1, len(words)):
        first = _BETWEEN.join(words[:place])
        other_classes = [name.removeprefix(f"{first}{_BETWEEN}") for name in names[: n_classes - 1]]
        classes = [first, *other_classes]
        if [_BETWEEN.join(pair) for pair in itertools.combinations(classes, 2)] == list(names):
            return classes
    return None


def means_over_pairs(values: Float, n_classes: int) -> Float:
    """Return the mean over the pairs of each class, signed so that positive favors the class.

    Parameters
    ----------
    values : ndarray of shape (..., pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (..., classes)
    """
    means = np.zeros((*values.shape[:-1], n_classes))
    for place, (a, b) in enumerate(itertools.combinations(range(n_classes), 2)):
        means[..., a] += values[..., place]
        means[..., b] -= values[..., place]
    shares: Float = means / (n_classes - 1)
    return shares
