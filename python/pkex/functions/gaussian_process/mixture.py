"""The variance of a mixture of Gaussian processes, such as a fully Bayesian model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pkex.functions.base import Function
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.typing import Float

__all__ = ["variance_of_mixture"]


def variance_of_mixture(variances: Iterable[Function], means: Iterable[Function]) -> Linked:
    """Return the mean of the variances of processes plus the variance of their means.

    This is the variance of a mixture of the processes with equal probabilities (law of total
    variance). Squares of means are not sums over features, so all coalitions are evaluated.

    Parameters
    ----------
    variances, means : iterable of Function
        One variance and one mean per process, without an output axis.
    """
    return Linked([*variances, *means], LinkedOutputs(_total, 1, has_axis=False))


def _total(values: Float) -> Float:
    variances, means = np.split(values, 2, axis=1)
    total: Float = (variances.mean(axis=1) + means.var(axis=1))[:, None]
    return total
