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
_MOST_ROWS, _MOST_OF_MIXTURES = 500, 100
# The missing share of the variance that adds a note to results, and that raises an error.
_NOTABLE, _TOO_MUCH = 0.01, 0.5


def posterior_draws(
    latent: LatentVariance, scales: float | Float, rows: Float, n: int, random: np.random.Generator
) -> list[PosteriorDraws]:
    """Draw deviations for outputs with the given squared units, a number or shape (outputs,)."""
    latent.allowed.check(rows, "inputs")
    chosen, factor, missing = _spanning_rows(latent, rows)
    at_points = latent.known.times(latent.kernel(latent.points, chosen)) if len(chosen) else None
    points = np.concatenate([latent.points, chosen])
    draws = []
    for scale in np.atleast_1d(scales):
        of_rows = solve_lower(factor, random.standard_normal((len(chosen), n)), transposed=True)
        of_points = np.zeros((len(latent.points), n)) if at_points is None else -at_points @ of_rows
        if latent.trend is not None:
            # The constant of a trend is random as well; only the part that depends on x matters.
            times_ones, share = latent.trend
            constants = np.sqrt(share) * random.standard_normal(n)
            of_points -= np.multiply.outer(times_ones, constants)
        if not latent.has_prior:
            of_rows = np.zeros_like(of_rows)
        coefficients = np.sqrt(scale) * np.concatenate([of_points, of_rows])
        draws.append(PosteriorDraws(KernelSum(points, coefficients, latent.kernel), missing))
    return draws


def _spanning_rows(latent: LatentVariance, rows: Float) -> tuple[Float, Float, float]:
    """Return R from the first half of rows, the factor L, and the missing share of the variance."""
    half = len(rows) // 2
    whitened, other = latent.known.whitened(latent.kernel(rows, latent.points).T)
    remaining = latent.priors(rows) - (whitened * other).sum(axis=0)
    before = remaining[half:].mean()
    rounding = _ROUNDING * remaining.max() + _OF_PRIOR * latent.scale
    chosen: list[int] = []
    most = _MOST_OF_MIXTURES if has_mixtures(latent.terms) else _MOST_ROWS
    columns = np.empty((min(half, most), len(rows)))
    while len(chosen) < len(columns) and remaining[half:].mean() > _MISSING * before:
        pivot = int(np.argmax(remaining[:half]))
        if remaining[pivot] <= rounding:
            break
        done = columns[: len(chosen)]
        covariance = (
            latent.prior_covariance(rows, rows[[pivot]])[:, 0] - other.T @ whitened[:, pivot]
        )
        column = (covariance - done.T @ done[:, pivot]) / np.sqrt(remaining[pivot])
        columns[len(chosen)] = column
        remaining -= column**2
        chosen.append(pivot)
    factor = np.tril(columns[: len(chosen), chosen].T)
    missing = max(0.0, float(remaining[half:].mean() / before)) if before > rounding else 0.0
    return rows[chosen], factor, missing


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
