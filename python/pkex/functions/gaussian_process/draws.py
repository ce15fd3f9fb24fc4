"""Draws of a Gaussian process given data, as kernel expansions.

The deviation h of the process from its mean has the covariance
κ(x, y) = k(x, y) − k(x, P) C k(P, y), see `Conditioning`. Of its values at some
rows R, which are drawn together, its mean is known:

    h_R(x) = κ(x, R) L⁻ᵀ z  with  L Lᵀ = κ(R, R)  and  z standard normal,

an expansion in kernels at P and R. What draws are without is the variance that is left when h(R) is
known. The rows R are chosen where it is largest, one by one (a Cholesky factorisation with
pivots), until little is left; this is measured at other rows.
"""

from __future__ import annotations

import numpy as np

from pkex.functions.draws import Draws
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels.factors import has_mixtures
from pkex.typing import Float

__all__ = ["drawn"]

# Of the mean variance: what may be left out, and what is rounding, of the largest and of the prior.
_LEFT_OUT = 1e-4
_ROUNDING, _OF_PRIOR = 1e-9, 1e-13
# Where a kernel is a sum of dozens of products, each row takes as many kernels.
_MOST_ROWS, _MOST_OF_MIXTURES = 500, 100


def drawn(
    latent: LatentVariance, scales: float | Float, rows: Float, n: int, random: np.random.Generator
) -> list[Draws]:
    """Draw the deviations of outputs that differ by their squared units, shape (outputs,)."""
    latent.entries.check(rows, "inputs")
    chosen, factor, left_out = _spanning(latent, rows)
    at_points = latent.known.times(latent.kernel(latent.points, chosen)) if len(chosen) else None
    points = np.concatenate([latent.points, chosen])
    found = []
    for scale in np.atleast_1d(scales):
        own = _solved_transposed(factor, random.standard_normal((len(chosen), n)))
        known = np.zeros((len(latent.points), n)) if at_points is None else -at_points @ own
        if latent.trend is not None:
            # The constant of a trend is drawn, too; only what depends on x is of interest.
            times_ones, share = latent.trend
            known -= np.multiply.outer(times_ones, np.sqrt(share) * random.standard_normal(n))
        coefficients = np.sqrt(scale) * np.concatenate([known, own])
        found.append(Draws(KernelSum(points, coefficients, latent.kernel), left_out))
    return found


def _spanning(latent: LatentVariance, rows: Float) -> tuple[Float, Float, float]:
    """Return some of the first half of rows, the factor of their covariances, and what is left."""
    half = len(rows) // 2
    whitened, other = latent.known.whitened(latent.kernel(rows, latent.points).T)
    left = latent.priors(rows) - (whitened * other).sum(axis=0)
    before, rounding = left[half:].mean(), _ROUNDING * left.max() + _OF_PRIOR * latent.prior
    chosen: list[int] = []
    most = _MOST_OF_MIXTURES if has_mixtures(latent.terms) else _MOST_ROWS
    columns = np.empty((min(half, most), len(rows)))
    while len(chosen) < len(columns) and left[half:].mean() > _LEFT_OUT * before:
        pivot = int(np.argmax(left[:half]))
        if left[pivot] <= rounding:
            break
        done = columns[: len(chosen)]
        own = latent.kernel(rows, rows[[pivot]])[:, 0] - other.T @ whitened[:, pivot]
        column = (own - done.T @ done[:, pivot]) / np.sqrt(left[pivot])
        columns[len(chosen)] = column
        left -= column**2
        chosen.append(pivot)
    factor = np.tril(columns[: len(chosen), chosen].T)
    share = max(0.0, float(left[half:].mean() / before)) if before > rounding else 0.0
    return rows[chosen], factor, share


def _solved_transposed(factor: Float, sides: Float) -> Float:
    """Return L⁻ᵀ · sides of a lower triangular factor L."""
    # Whoever has a Gaussian process has SciPy.
    from scipy.linalg import solve_triangular

    if not len(factor):
        return sides
    solution: Float = solve_triangular(factor, sides, lower=True, trans="T", check_finite=False)
    return solution
