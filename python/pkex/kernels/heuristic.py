"""The median heuristic: a Gaussian kernel whose length-scale is the median distance between rows.

Distances are computed in all columns together, each in units of its standard deviation, so they do
not depend on the units of columns. Length-scales of single features would be as large as the spread
of each feature, and a product of many such factors vanishes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import Argument, InputError, Option
from pkex.kernels.base import Kernel
from pkex.kernels.product_kernels import RBF
from pkex.kernels.scales import ColumnScale
from pkex.tables.labels import Labels
from pkex.tables.read import as_matrix
from pkex.typing import Float

# With more rows, the median of a subsample of this size is used.
EXACT_UP_TO = 2000
_GOLDEN_RATIO = 1.618033988749895


def equal_rows(argument: str, kernel: str) -> InputError:
    """Return the error that all rows are equal, for the default of an argument `kernel`."""
    return InputError(
        None,
        (
            "all rows of ",
            Argument(argument),
            " are equal: there is no distance to take as the length-scale",
        ),
        [
            "give rows that differ",
            ("give ", Option(kernel, python=f"{kernel}, such as {kernel}=pkex.kernels.RBF(1.0)")),
        ],
    )


def median_heuristic(*samples: ArrayLike, standardize: bool = True) -> Kernel:
    """Return the Gaussian kernel whose length-scale is the median distance between rows.

    Parameters
    ----------
    *samples : array-likes of shape (n, d) or (n,)
        Samples with the same columns, pooled; a target may be of one dimension.
    standardize : bool, default True
        Whether each column is first divided by its standard deviation over all rows, so that its
        unit does not matter. The length-scale of a column is then its standard deviation times the
        median distance between scaled rows, as for the target of `pkex.hsic` by default. Otherwise
        there is one length-scale for all columns.

    Returns
    -------
    RBF

    Raises
    ------
    ValueError, TypeError
        If samples are not finite numeric tables with the same columns, or all their rows are equal.

    Notes
    -----
    For more than 2000 rows, the median of a fixed subsample of 2000 is used. If it is 0, because
    more than half of all pairs are equal, the mean of the positive distances is used.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [1.0, 1000.0], [2.0, 2000.0]])
    >>> median_heuristic(rows)
    RBF(length_scale=(1.414213562373095, 1414.213562373095))
    >>> median_heuristic(rows, standardize=False).length_scale
    1000.000499999875
    """
    return heuristic(pool_samples(samples, "median_heuristic"), standardize=standardize).kernel


@dataclass(frozen=True)
class Heuristic:
    """A kernel by the median heuristic, a note on its length-scale, and the scales of columns."""

    kernel: RBF
    note: str
    scales: list[ColumnScale]


def heuristic(
    rows: Float,
    what: str = "the samples",
    argument: str = "kernel",
    *,
    standardize: bool = True,
) -> Heuristic:
    """Return the Gaussian kernel with the median distance.

    The kernel does not depend on the order of rows, so permutation tests stay exact. Differences
    are computed column by column, so a large common offset of rows does not matter.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    what, argument : str
        The names of the rows and of the argument for a kernel, in messages.
    standardize : bool, default True
        Whether columns are divided by their standard deviations first.

    Raises
    ------
    ValueError
        If all rows are equal.
    """
    n = len(rows)
    scales = [ColumnScale.of(column) for column in rows.T]
    subsample = np.arange(n) if n <= EXACT_UP_TO else _subsample_by_value(rows, scales)
    column_scales = scales
    if not standardize:
        scales = [_common_scale(rows)] * rows.shape[1]
    columns = [
        scale.standardize(column) for scale, column in zip(scales, rows[subsample].T, strict=True)
    ]
    squares = _squared_distances(columns, len(subsample))
    distance, statistic = _typical_distance(squares)
    if distance == 0.0:
        raise equal_rows(what, argument)
    scope = f"all {n} rows" if n <= EXACT_UP_TO else f"a subsample of {EXACT_UP_TO} of {n} rows"
    length_scales = [scale.times(distance) for scale in scales]
    if not standardize or len(scales) == 1:
        note = f"length-scale {length_scales[0]:.5g}: {statistic} between {scope} of {what}"
        return Heuristic(RBF(length_scales[0]), note, column_scales)
    note = (
        f"length-scales {distance:.5g} times the standard deviation of each column: {statistic} "
        f"between {scope} of {what} so scaled"
    )
    return Heuristic(RBF(length_scales), note, column_scales)


def pool_samples(samples: Sequence[ArrayLike], function: str) -> Float:
    """Return the pooled rows of samples with the same columns; vectors are single columns.

    Raises
    ------
    ValueError, TypeError
        If they are not finite numeric tables with the same columns.
    """
    if not samples:
        raise TypeError(f"{function}() requires one or more samples; got none")
    rows: list[Float] = []
    first = Labels.comparable(samples[0], "sample 0")
    for number, sample in enumerate(samples):
        name = "the sample" if len(samples) == 1 else f"sample {number}"
        Labels.comparable(sample, name).check_same(first, name, "sample 0")
        table = sample if np.ndim(sample) != 1 else np.asarray(sample)[:, None]
        rows.append(as_matrix(table, name, n_columns=rows[0].shape[1] if rows else None))
    return np.concatenate(rows)


def evenly_random(n: int, k: int) -> NDArray[np.intp]:
    """Return a fixed random sample of k of the numbers 0 to n − 1, ascending."""
    if k >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, k, replace=False))


def _common_scale(rows: Float) -> ColumnScale:
    """Return one scale for all columns, a power of two, so squares neither overflow nor vanish."""
    spread = float(np.ptp(rows / 2.0, axis=0).max())
    exponent = math.frexp(spread)[1] + 1 if spread > 0.0 else 0
    return ColumnScale(0.0, exponent, 0.0, 1.0)


def _typical_distance(squares: Float) -> tuple[float, str]:
    """Return the median distance given squares, or the mean positive one if it is 0."""
    middle = (len(squares) - 1) // 2, len(squares) // 2
    squares.partition(middle)
    median = math.fsum(np.sqrt(squares[list(middle)])) / 2.0
    if median > 0.0:
        return median, "median distance"
    positive = np.sqrt(squares[squares > 0.0])
    mean = math.fsum(positive) / max(len(positive), 1)
    return mean, "mean positive distance (the median is 0)"


def _squared_distances(columns: Sequence[Float], n: int, block: int = 16) -> Float:
    """Return the n(n−1)/2 squared distances between rows, computed in blocks of rows."""
    distances = np.empty(n * (n - 1) // 2)
    n_filled = 0
    for start in range(0, n, block):
        height = min(block, n - start)
        squares, difference = np.zeros((height, n - start)), np.empty((height, n - start))
        for column in columns:
            np.subtract(column[start : start + height, None], column[start:], out=difference)
            np.multiply(difference, difference, out=difference)
            squares += difference
        for row in range(height):
            row_squares = squares[row, row + 1 :]
            distances[n_filled : n_filled + len(row_squares)] = row_squares
            n_filled += len(row_squares)
    return distances


def _subsample_by_value(rows: Float, scales: Sequence[ColumnScale]) -> NDArray[np.intp]:
    """Return a subsample that does not depend on the order of rows and columns, or on units.

    Columns are ordered by their absolute third moments, and their signs are changed to make these
    positive.
    """
    columns = [scale.standardize(column) for scale, column in zip(scales, rows.T, strict=True)]
    moments = np.array([math.fsum((column * column * column).tolist()) for column in columns])
    key = np.zeros(len(rows))
    for rank, number in enumerate(np.argsort(np.abs(moments), kind="stable")):
        weight = (rank + 1.0) * _GOLDEN_RATIO % 1.0
        key += columns[number] * math.copysign(weight, moments[number])
    return np.argsort(key, kind="stable")[evenly_random(len(rows), EXACT_UP_TO)]
