"""Standard errors of averages over pairs of rows, from sums over rows and squares over pairs.

A value is an average of γ over pairs (a U-statistic). Its variance has a part that falls as 1/n,
the spread of the rows' own averages, and one that falls as 1/n², the spread of γ beyond what the
two rows contribute each (Hoeffding 1948). Without a difference, or dependence, only the second is
there, and rows' averages spread by it alone; so each is estimated apart.

The estimates of both are unbiased, but around 0 the first is about as uncertain as the second is
large, and often negative: where nothing differs, half of all intervals would then be far too short.
The sum is kept above 0.3 of the second part. Standard errors are right on average then, within some
15 %, where nothing differs and where much does; their squares are too large by up to a half where
nothing differs.
"""

from __future__ import annotations

import numpy as np

from pkex.typing import Float

__all__ = ["between_samples", "hsic_errors", "mmd_errors", "within_sample"]

# The least share of its second-order part that a variance may be estimated as.
_FLOOR = 0.3


def within_sample(squares: Float, row_sums: Float) -> Float:
    """Estimate the mean square of doubly centred γ over the pairs of one sample.

    Unbiased: the estimator of Székely and Rizzo (2014) for distance covariance. NaN for fewer than
    four rows.

    Parameters
    ----------
    squares : ndarray of shape (P,)
        Σγ² over unordered pairs.
    row_sums : ndarray of shape (n, P)
        Of each row with all others.
    """
    n = len(row_sums)
    if n < 4:
        return np.full(squares.shape, np.nan)
    total = row_sums.sum(axis=0)
    centred = (
        2.0 * squares
        - (2.0 / (n - 2)) * (row_sums**2).sum(axis=0)
        + total**2 / ((n - 1.0) * (n - 2.0))
    )
    mean: Float = np.maximum(centred / (n * (n - 3.0)), 0.0)
    return mean


def between_samples(squares: Float, first: Float, second: Float) -> Float:
    """Estimate the mean square of doubly centred γ over the pairs between two samples.

    Parameters
    ----------
    squares : ndarray of shape (P,)
        Σγ² over the pairs.
    first, second : ndarrays of shape (n, P) and (m, P)
        Of each row of one sample with all of the other.
    """
    n, m = len(first), len(second)
    centred = (
        squares
        - (first**2).sum(axis=0) / m
        - (second**2).sum(axis=0) / n
        + first.sum(axis=0) ** 2 / (float(n) * m)
    )
    mean: Float = np.maximum(centred / ((n - 1.0) * (m - 1.0)), 0.0)
    return mean


def mmd_errors(
    projections: tuple[Float, Float], sizes: tuple[int, int], second: tuple[Float, ...]
) -> Float:
    """Return the standard errors of an attributed MMD².

    Parameters
    ----------
    projections : tuple of ndarrays of shape (k, P)
        For rows of each sample A = mean of γ with the sample's other rows − mean of γ with the
        other sample's; all rows or some of them.
    sizes : tuple of int
        The numbers of rows n, m of the samples.
    second : tuple of three ndarrays of shape (P,)
        Mean squares of doubly centred γ: within the first sample, between, within the second.
    """
    n, m = sizes
    within_x, between, within_y = second
    first: Float = (4.0 / n) * (
        projections[0].var(axis=0, ddof=1) - within_x / (n - 1.0) - between / m
    )
    first += (4.0 / m) * (projections[1].var(axis=0, ddof=1) - within_y / (m - 1.0) - between / n)
    rest = (
        2.0 * within_x / (n * (n - 1.0))
        + 2.0 * within_y / (m * (m - 1.0))
        + 4.0 * between / (float(n) * m)
    )
    errors: Float = np.sqrt(np.maximum(first + rest, _FLOOR * rest))
    return errors


def hsic_errors(projections: Float, second: Float, n: int) -> Float:
    """Return the standard errors of an attributed HSIC.

    Parameters
    ----------
    projections : ndarray of shape (k, P)
        For all rows a or some of them, the mean over all rows c of Γ_ac L_ac, both doubly centred.
    second : ndarray of shape (P,)
        The mean square of such a product over pairs, as it is without dependence.
    n : int
        The number of rows.
    """
    first: Float = (4.0 / n) * (projections.var(axis=0, ddof=1) - second / n)
    rest = 2.0 * second / float(n) ** 2
    errors: Float = np.sqrt(np.maximum(first + rest, _FLOOR * rest))
    return errors
