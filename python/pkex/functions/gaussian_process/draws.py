"""Posterior draws of a Gaussian process, as kernel expansions.

The deviation h of the process from its mean has the covariance
κ(x, y) = k(x, y) − k(x, P) C k(P, y), see `ConditioningMatrix`. Its values at some rows R are drawn
jointly, and h is replaced by its mean given these values:

    h_R(x) = κ(x, R) L⁻ᵀ z  with  L Lᵀ = κ(R, R)  and  z standard normal,

an expansion in kernels at P and R. The draws do not have the variance that remains given h(R). Rows
R are added where this is largest, one by one (a Cholesky factorization with pivots), until little
remains; the remainder is measured at other rows.
"""

from __future__ import annotations

import numpy as np

from pkex.functions.base import PosteriorDraws
from pkex.functions.gaussian_process.latent import LatentVariance, solve_lower
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels.factors import has_mixtures
from pkex.typing import Float

# The share of the mean variance that draws may miss; and the variance that is due to rounding,
# relative to the largest variance and to the prior variance.
_MISSING = 1e-4
_ROUNDING, _OF_PRIOR = 1e-9, 1e-13
# The largest number of rows R; fewer if a kernel expands into dozens of products.
_MAX_ROWS, _MAX_ROWS_OF_MIXTURES = 500, 100
# The missing share of the variance that adds a note to results, and that raises an error.
_NOTABLE, _TOO_MUCH = 0.01, 0.5


def posterior_draws(
    latent: LatentVariance, scales: float | Float, rows: Float, n: int, random: np.random.Generator
) -> list[PosteriorDraws]:
    """Draw deviations for outputs with the given squared units, a number or shape (outputs,)."""
    latent.allowed_values.check(rows, "inputs")
    spanning_rows, factor, missing = _spanning_rows(latent, rows)
    point_weights = (
        latent.conditioning.times(latent.kernel(latent.points, spanning_rows))
        if len(spanning_rows)
        else None
    )
    points = np.concatenate([latent.points, spanning_rows])
    draws = []
    for scale in np.atleast_1d(scales):
        row_coefficients = solve_lower(
            factor, random.standard_normal((len(spanning_rows), n)), transposed=True
        )
        point_coefficients = (
            np.zeros((len(latent.points), n))
            if point_weights is None
            else -point_weights @ row_coefficients
        )
        if latent.trend is not None:
            # The constant of a trend is random as well; only the part that depends on x matters.
            times_ones, share = latent.trend
            constants = np.sqrt(share) * random.standard_normal(n)
            point_coefficients -= np.multiply.outer(times_ones, constants)
        if not latent.has_prior:
            row_coefficients = np.zeros_like(row_coefficients)
        coefficients = np.sqrt(scale) * np.concatenate([point_coefficients, row_coefficients])
        draws.append(PosteriorDraws(KernelSum(points, coefficients, latent.kernel), missing))
    return draws


def _spanning_rows(latent: LatentVariance, rows: Float) -> tuple[Float, Float, float]:
    """Return R from the first half of rows, the factor L, and the missing share of the variance."""
    half = len(rows) // 2
    whitened_kernel, weighted_kernel = latent.conditioning.whiten(
        latent.kernel(rows, latent.points).T
    )
    variances = latent.priors(rows) - (whitened_kernel * weighted_kernel).sum(axis=0)
    initial_mean = variances[half:].mean()
    rounding = _ROUNDING * variances.max() + _OF_PRIOR * latent.scale
    pivots: list[int] = []
    max_rows = _MAX_ROWS_OF_MIXTURES if has_mixtures(latent.terms) else _MAX_ROWS
    columns = np.empty((min(half, max_rows), len(rows)))
    while len(pivots) < len(columns) and variances[half:].mean() > _MISSING * initial_mean:
        pivot = int(np.argmax(variances[:half]))
        if variances[pivot] <= rounding:
            break
        basis = columns[: len(pivots)]
        covariance = (
            latent.prior_covariance(rows, rows[[pivot]])[:, 0]
            - weighted_kernel.T @ whitened_kernel[:, pivot]
        )
        column = (covariance - basis.T @ basis[:, pivot]) / np.sqrt(variances[pivot])
        columns[len(pivots)] = column
        variances -= column**2
        pivots.append(pivot)
    factor = np.tril(columns[: len(pivots), pivots].T)
    missing = (
        max(0.0, float(variances[half:].mean() / initial_mean)) if initial_mean > rounding else 0.0
    )
    return rows[pivots], factor, missing


def missing_variance_note(missing: float, effect: str, fix: str) -> str:
    """Return a note on draws that miss a share of the variance; "" if the share is small.

    Parameters
    ----------
    missing : float
    effect : str
        The effect on results.
    fix : str
        The alternative if the share is too large.

    Raises
    ------
    ValueError
        If it is more than half.
    """
    if missing <= _NOTABLE:
        return ""
    what = (
        f"draws of the posterior miss {missing:.1%} of its variance, because it changes over "
        "distances too short for a few hundred rows: "
    )
    if missing > _TOO_MUCH:
        raise ValueError(f"{what}{fix}")
    return f"{what}{effect}"
