"""Standard errors of averages over pairs of rows, from sums over rows and squares over pairs.

A value is an average of γ over pairs (a U-statistic). Its variance has two components (Hoeffding
1948). The first-order component, the variance of row averages, decreases as 1/n. The second-order
component, the variance of γ beyond the contributions of the two rows, decreases as 1/n². Without a
difference or dependence, only the second component is positive, and it is the only reason for the
variance of row averages. So both are estimated separately.

Both estimates are unbiased. But if the first component is 0, the uncertainty of its estimate is
about as large as the second component, and the estimate is often negative. Half of all intervals
would be far too short if nothing differs. So the sum is at least 0.3 of the second component.
Standard errors are then correct on average within about 15 %, both without and with a large
difference. Without a difference, their squares are too large by up to a half.
"""

from __future__ import annotations

import numpy as np

from pkex.typing import Float

# The smallest estimate of a variance, relative to its second-order component.
_FLOOR = 0.3


def within_sample(squares: Float, row_sums: Float) -> Float:
    """Estimate the mean square of doubly centered γ over the pairs of one sample.

    The unbiased estimator of Székely and Rizzo (2014) for distance covariance; NaN for fewer
    than four rows.

    Parameters
    ----------
    squares : ndarray of shape (P,)
        Σγ² over unordered pairs.
    row_sums : ndarray of shape (n, P)
        Sums of each row over all other rows.
    """
    n = len(row_sums)
    if n < 4:
        return np.full(squares.shape, np.nan)
    total = row_sums.sum(axis=0)
    square_sum = (
        2.0 * squares
        - (2.0 / (n - 2)) * (row_sums**2).sum(axis=0)
        + total**2 / ((n - 1.0) * (n - 2.0))
    )
    mean: Float = np.maximum(square_sum / (n * (n - 3.0)), 0.0)
    return mean


def between_samples(squares: Float, first: Float, second: Float) -> Float:
    """Estimate the mean square of doubly centered γ over the pairs between two samples.

    Parameters
    ----------
    squares : ndarray of shape (P,)
        Σγ² over the pairs.
    first, second : ndarrays of shape (n, P) and (m, P)
        Sums of each row of one sample over all rows of the other.
    """
    n, m = len(first), len(second)
    square_sum = (
        squares
        - (first**2).sum(axis=0) / m
        - (second**2).sum(axis=0) / n
        + first.sum(axis=0) ** 2 / (float(n) * m)
    )
    mean: Float = np.maximum(square_sum / ((n - 1.0) * (m - 1.0)), 0.0)
    return mean


def mmd_errors(
    projections: tuple[Float, Float], sizes: tuple[int, int], mean_squares: tuple[Float, ...]
) -> Float:
    """Return the standard errors of an attributed MMD².

    Parameters
    ----------
    projections : tuple of ndarrays of shape (k, P)
        For all or some rows of each sample, the mean of γ over the sample's other rows minus the
        mean of γ over the other sample.
    sizes : tuple of int
        The numbers of rows n, m of the samples.
    mean_squares : tuple of three ndarrays of shape (P,)
        Mean squares of doubly centered γ: within the first sample, between, within the second.
    """
    n, m = sizes
    within_x, between, within_y = mean_squares
    first_order: Float = (4.0 / n) * (
        projections[0].var(axis=0, ddof=1) - within_x / (n - 1.0) - between / m
    )
    first_order += (4.0 / m) * (
        projections[1].var(axis=0, ddof=1) - within_y / (m - 1.0) - between / n
    )
    second_order = (
        2.0 * within_x / (n * (n - 1.0))
        + 2.0 * within_y / (m * (m - 1.0))
        + 4.0 * between / (float(n) * m)
    )
    errors: Float = np.sqrt(np.maximum(first_order + second_order, _FLOOR * second_order))
    return errors


def hsic_errors(projections: Float, mean_square: Float, n: int) -> Float:
    """Return the standard errors of an attributed HSIC.

    Parameters
    ----------
    projections : ndarray of shape (k, P)
        For all or some rows a, the mean over all rows c of Γ_ac L_ac, both doubly centered.
    mean_square : ndarray of shape (P,)
        The mean square of this product over pairs, without dependence.
    n : int
        The number of rows.
    """
    first_order: Float = (4.0 / n) * (projections.var(axis=0, ddof=1) - mean_square / n)
    second_order = 2.0 * mean_square / float(n) ** 2
    errors: Float = np.sqrt(np.maximum(first_order + second_order, _FLOOR * second_order))
    return errors
