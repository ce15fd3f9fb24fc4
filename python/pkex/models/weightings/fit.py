"""Penalized least squares of the coefficients of centers.

The minimum of (1/2n) ‖Φa − y‖² + (λ/2) aᵀGa + (ε/2) ‖a‖² solves (ΦᵀΦ + nλG + nεI) a = Φᵀy (Dubé
and Marchand 2025, equations 63 and 64). Rows have weights, and n is their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from pkex.execution.blocks import blocks_of
from pkex.models.weightings.centers import Centers
from pkex.models.weightings.closed_forms import Weighting
from pkex.typing import Float

# ε, which makes the matrix positive definite for few columns.
_RIDGE = 1e-10
# The number of values in a block of Φ: 32 MB.
_BLOCK = 1 << 22


def fit_coefficients(
    centers: Sequence[Centers],
    kernels: Sequence[Weighting],
    rows: Float,
    target: Float,
    weights: Float,
    alpha: float,
    n_threads: int,
) -> list[Float]:
    """Return the coefficients of each set of centers.

    Parameters
    ----------
    centers : sequence of Centers
    kernels : sequence of Weighting
        The weighting whose kernel defines G, for each set.
    rows : ndarray of shape (n, d)
    target, weights : ndarray of shape (n,)
    alpha : float
        λ.
    n_threads : int
    """
    ends = np.cumsum([len(group.points) for group in centers])
    places = [slice(end - len(group.points), end) for group, end in zip(centers, ends, strict=True)]
    matrix, right = _moments(centers, places, rows, target, weights, n_threads)
    total = float(weights.sum())
    for group, kernel, place in zip(centers, kernels, places, strict=True):
        _add_gram(matrix[place, place], group.points, kernel, total * alpha)
    coefficients = _solve(matrix, right, total * _RIDGE)
    return [coefficients[place] for place in places]


def _moments(
    centers: Sequence[Centers],
    places: Sequence[slice],
    rows: Float,
    target: Float,
    weights: Float,
    n_threads: int,
) -> tuple[Float, Float]:
    """Return the lower half of ΦᵀWΦ, in Fortran order, and ΦᵀWy, by blocks of rows."""
    count = places[-1].stop
    matrix, right = np.zeros((count, count), order="F"), np.zeros(count)
    for block in blocks_of(len(rows), _BLOCK // count):
        outputs = _outputs(centers, places, rows[block], n_threads)
        roots = np.sqrt(weights[block])
        with np.errstate(over="ignore", invalid="ignore"):
            outputs *= roots[:, None]
            right += (roots * target[block]) @ outputs
        matrix = dsyrk(1.0, outputs.T, beta=1.0, c=matrix, lower=1, overwrite_c=1)
    return matrix, right


def _outputs(
    centers: Sequence[Centers], places: Sequence[slice], rows: Float, n_threads: int
) -> Float:
    """Return Φ at rows, shape (n, all centers)."""
    outputs = np.empty((len(rows), places[-1].stop))

    def fill(part: slice) -> None:
        for group, place in zip(centers, places, strict=True):
            for block, block_outputs in group.blocks(rows[part][:, list(group.columns)]):
                outputs[part][block, place] = block_outputs

    in_threads(fill, len(rows), n_threads)
    return outputs


def in_threads(compute: Callable[[slice], None], n_rows: int, n_threads: int) -> None:
    """Call a function for parts of rows, in as many threads as given."""
    parts = blocks_of(n_rows, -(-n_rows // n_threads))
    if len(parts) == 1:
        compute(parts[0])
    elif parts:
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(compute, parts))


def _add_gram(matrix: Float, points: Float, kernel: Weighting, factor: float) -> None:
    """Add a multiple of G to the lower half of a matrix, by blocks of rows."""
    for block in blocks_of(len(points), _BLOCK // len(points)):
        end = block.stop
        matrix[block, :end] += factor * kernel.gram(points[block], points[:end])


def _solve(matrix: Float, right: Float, ridge: float) -> Float:
    """Solve (M + ridge·I) a = right, given the lower half of M, which is overwritten.

    While rounding errors make the matrix indefinite, the ridge is multiplied by ten.
    """
    diagonal = matrix.diagonal().copy()
    if not np.isfinite(diagonal).all():
        raise ValueError("the squares of X overflow. Scale X down")
    if not np.isfinite(right).all():
        raise ValueError("sums of y or its products with X overflow. Scale y down")
    # The upper half keeps a copy of the lower half, which the factor overwrites.
    _mirror(matrix)
    while True:
        np.einsum("ii->i", matrix)[:] = diagonal + ridge
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            _mirror(matrix.T)
            ridge *= 10.0
        else:
            solution: Float = cho_solve(factor, right)
            return solution


def _mirror(matrix: Float) -> None:
    """Copy the half below the diagonal of a square matrix to the half above."""
    for block in blocks_of(len(matrix), _BLOCK // len(matrix)):
        matrix[: block.start, block] = matrix[block, : block.start].T
        below = np.tril(matrix[block, block], -1)
        matrix[block, block] += below.T - np.triu(matrix[block, block], 1)
