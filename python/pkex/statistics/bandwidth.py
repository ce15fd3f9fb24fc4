"""The default kernel: Gaussian, its length-scale the median distance between rows.

The distances are those in all columns together. Feature by feature the length-scales would be of
the size of each feature's spread, and a product of many such factors vanishes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pkex.kernels import RBF, Kernel
from pkex.statistics.samples import warn

__all__ = ["EXACT_UP_TO", "check_kernel", "default_kernel", "evenly_random", "warn_of_extremes"]

_Float = NDArray[np.float64]

# With more rows than this, the median is that of a subsample of as many.
EXACT_UP_TO = 2000


def default_kernel(rows: _Float, what: str, argument: str = "kernel") -> tuple[Kernel, str]:
    """Return the Gaussian kernel with the median distance, and how that was found.

    The result depends on the rows as a set, not on their order, so that tests by permutation stay
    exact. Differences are formed column by column; an offset common to all rows does no harm.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    what : str
        What messages call the rows.
    argument : str
        The argument that a kernel can be given by.

    Raises
    ------
    ValueError
        If all rows are equal.
    """
    n = len(rows)
    sample = rows if n <= EXACT_UP_TO else rows[_by_value(rows)[evenly_random(n, EXACT_UP_TO)]]
    # Scaled by a power of two, squares neither overflow nor vanish.
    spread = np.ptp(sample / 2.0, axis=0).max()
    exponent = math.frexp(spread)[1] + 1 if spread > 0.0 else 0
    squares = _squared_distances(np.ldexp(sample, -exponent))
    middle = (len(squares) - 1) // 2, len(squares) // 2
    squares.partition(middle)
    distance = math.fsum(np.sqrt(squares[list(middle)])) / 2.0
    found = "median distance"
    if distance == 0.0:
        positive = np.sqrt(squares[squares > 0.0])
        if not len(positive):
            raise ValueError(
                f"all rows of {what} are equal, so that there is no distance to take as the "
                f"length-scale; give {argument}, such as {argument}=pkex.kernels.RBF(1.0)"
            )
        distance = math.fsum(positive) / len(positive)
        found = "mean positive distance (the median is 0)"
    among = f"all {n} rows" if n <= EXACT_UP_TO else f"a subsample of {EXACT_UP_TO} of {n} rows"
    length_scale = math.ldexp(distance, exponent)
    kernel = RBF(length_scale)
    warn_of_extremes(kernel, rows, argument)
    return kernel, f"length-scale {length_scale:.6g}: {found} between {among} of {what}"


def check_kernel(kernel: object, argument: str, n_columns: int) -> Kernel:
    """Return a kernel of so many columns, or say what one is."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{argument} must be a kernel of pkex.kernels, such as RBF(length_scale=1.0), or None "
            f"for the Gaussian one with the median distance; got {kernel!r} "
            f"({type(kernel).__name__})"
        )
    try:
        kernel.terms(n_columns)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    return kernel


def evenly_random(n: int, k: int) -> NDArray[np.intp]:
    """Return k of the numbers 0 to n − 1, ascending, always the same for the same n and k."""
    if k >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, k, replace=False))


def warn_of_extremes(kernel: Kernel, rows: _Float, argument: str) -> None:
    """Warn if the kernel is nearly 0, or nearly 1, between almost all rows: it shows little then.

    Looked at are up to 64 rows.
    """
    sample = rows[evenly_random(len(rows), 64)]
    values = kernel(sample)[np.triu_indices(len(sample), 1)]
    full = math.fsum(term.coefficient for term in kernel.terms(rows.shape[1]))
    low, high = np.quantile(values / full, [0.01, 0.99])
    if high < 0.01:
        warn(f"{argument} is nearly 0 between different rows (length-scales too short?): {kernel}")
    elif low > 0.99 and (rows != rows[0]).any():
        warn(f"{argument} is nearly 1 between almost all rows (length-scales too long?): {kernel}")


def _squared_distances(rows: _Float, block: int = 16) -> _Float:
    """Return the n(n−1)/2 squared Euclidean distances, block by block of rows."""
    n, columns = len(rows), np.ascontiguousarray(rows.T)
    found = np.empty(n * (n - 1) // 2)
    filled = 0
    for start in range(0, n, block):
        height = min(block, n - start)
        squares, difference = np.zeros((height, n - start)), np.empty((height, n - start))
        for column in columns:
            np.subtract(column[start : start + height, None], column[start:], out=difference)
            np.multiply(difference, difference, out=difference)
            squares += difference
        for row in range(height):
            later = squares[row, row + 1 :]
            found[filled : filled + len(later)] = later
            filled += len(later)
    return found


def _by_value(rows: _Float) -> NDArray[np.intp]:
    """Return an order of the rows that their values determine."""
    scale = np.abs(rows).max(axis=0)
    scale[scale == 0.0] = 1.0
    key = np.zeros(len(rows))
    for number, column in enumerate(rows.T):
        key += column / scale[number] * math.cos(number + 1.0)
    return np.argsort(key, kind="stable")
