"""Warnings of single rows, unusual in many columns at once, that decide a comparison.

The default kernel multiplies over columns. Between two rows that agree in unusual values of many
columns it is a product of many large factors, and one such pair can outweigh all others together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pkex.errors import (
    Argument,
    InputOverflowError,
    InputWarning,
    Option,
    Text,
    joined,
    warn,
)
from pkex.kernels import Kernel
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.typing import Float

__all__ = ["warn_of_unusual_rows"]

# The most unusual rows whose pairs are looked at, the rows that these are compared with, and the
# rows that a message names.
_MOST, _COMPARED, _NAMED = 32, 64, 3
# Of fewer rows none is usual.
_FEWEST_ROWS = 10
# Squares of larger kernels, summed over pairs, may overflow.
_LARGEST = 1e130


def warn_of_unusual_rows(
    kernel: Kernel, rows: Float, samples: Mapping[str, int], statistic: str, *, is_biased: bool
) -> None:
    """Warn if a pair of rows has more weight than the sampling error of a statistic.

    That error is about sd(K)/n of n rows, and the weight of a pair K(a, b)/n². It is the default
    kernel that is looked at, and rows whose kernel with themselves is n times as large as usual.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray of shape (n, d)
        As the kernel takes them.
    samples : mapping of str to int
        The names of the samples that were put together, and how many rows each has.
    statistic : str
        What the message calls the statistic.
    is_biased : bool
        Whether pairs of a row with itself count.

    Raises
    ------
    OverflowError
        If the kernel between two of the rows is beyond 1e130.
    """
    if len(rows) < _FEWEST_ROWS or not isinstance(kernel, OrthogonalANOVA):
        return
    n, own = len(rows), kernel.log_diagonal(rows)
    is_unusual = own - np.median(own) > math.log(n)
    usual, unusual = np.flatnonzero(~is_unusual), np.flatnonzero(is_unusual)
    if not len(unusual) or len(usual) < 2:
        return
    unusual = np.sort(unusual[np.argsort(-own[unusual], kind="stable")[:_MOST]])
    compared = usual[np.linspace(0, len(usual) - 1, min(_COMPARED, len(usual))).astype(np.intp)]
    with np.errstate(over="ignore"):
        pairs = np.abs(kernel(rows[unusual]) - 1.0)
        usual_pairs = kernel(rows[compared]) - 1.0
    typical = float(np.sqrt(np.mean(usual_pairs[~np.eye(len(compared), dtype=bool)] ** 2)))
    outweighs = pairs > n * typical
    with_others = (outweighs & ~np.eye(len(unusual), dtype=bool)).any(axis=1)
    if with_others.any():
        largest = float(pairs[with_others].max())
        what = (
            ": unusual in so many columns at once that single pairs of these rows decide "
            f"{statistic} and its values (kernel up to {largest:.2g}, of other pairs about "
            f"{typical:.2g}); univariate results are not affected"
        )
        bounded = f"kernel=pkex.kernels.median_heuristic({', '.join(samples)})"
        fixes: list[Text] = [
            "check these rows",
            ("pass ", Option("kernel", python=bounded), ", which bounds each pair"),
        ]
        found = joined(*_named(unusual[with_others], samples), what)
        if largest > _LARGEST:
            raise InputOverflowError(None, found, fixes)
        warn(InputWarning(None, found, fixes))
    elif is_biased and outweighs.any():
        what = (
            ": unusual in so many columns at once that pairs of a row with itself decide the "
            f"biased {statistic} and its values"
        )
        fix = "pass ", Option("estimator", "unbiased"), ", which leaves these pairs out"
        found = joined(*_named(unusual[outweighs.any(axis=1)], samples), what)
        warn(InputWarning(None, found, fix))


def _named(rows: NDArray[np.intp], samples: Mapping[str, int]) -> list[str | Argument]:
    """Return the words for some of the rows of samples that were put together."""
    words: list[str | Argument] = []
    start = 0
    for sample, n_rows in samples.items():
        own = (rows[(start <= rows) & (rows < start + n_rows)] - start).tolist()
        start += n_rows
        if own:
            listed = ", ".join(map(str, own[:_NAMED]))
            more = f" and {len(own) - _NAMED} more" if len(own) > _NAMED else ""
            row = f"{'; ' if words else ''}{'row' if len(own) == 1 else 'rows'} "
            words += [f"{row}{listed}{more} of ", Argument(sample)]
    return words
