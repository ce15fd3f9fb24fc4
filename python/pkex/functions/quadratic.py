"""Quadratic forms, which interpolators and kriging models may have beside their kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pkex.functions.base import Function
from pkex.functions.column_maps import Scaling
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed
from pkex.kernels import Polynomial
from pkex.typing import Float

__all__ = ["quadratic_form"]


def quadratic_form(
    coefficients: Float, *, centre: ArrayLike, scale: ArrayLike, points: Float
) -> Function:
    """Return the function Σ_{j≤k} c_jk u_j u_k of u = (x − centre) / scale.

    With 2 u_j u_k = (u_j + u_k)² − u_j² − u_k² it is an expansion by the kernel (u·e)². In the
    neutral game an absent column contributes nothing, as in a `LinearFunction`.

    Parameters
    ----------
    coefficients : ndarray of shape (d, d) or (d, d, outputs)
        c, of which only those with j ≤ k count; the second gives the function an output axis.
    centre, scale : array-like of shape (d,)
    points : ndarray of shape (n, d)
        The rows that absent features can be drawn from, in the columns x.

    Examples
    --------
    >>> f = quadratic_form(np.array([[1.0, 3.0], [0.0, 0.0]]), centre=[1.0, 0.0], scale=[1.0, 2.0],
    ...                    points=np.zeros((1, 2)))
    >>> f.predict([[3.0, 4.0]])
    array([16.])
    """
    one, other = np.triu_indices(len(coefficients), k=1)
    squares = np.einsum("jj...->j...", coefficients).copy()
    halves = 0.5 * coefficients[one, other]
    for column in (one, other):
        np.subtract.at(squares, column, halves)
    directions = np.eye(len(coefficients))
    expansion = KernelSum(
        np.concatenate([directions, directions[one] + directions[other]]),
        np.concatenate([squares, halves]),
        Polynomial(degree=2, coef0=0.0),
        np.zeros(coefficients.shape[2:]),
    )
    return Transformed(Scaling(centre, scale), expansion, points=points)
