"""Polynomials of several columns: sums of monomials, and quadratic forms as kernel expansions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.base import Function
from pkex.functions.column_functions import Monomial
from pkex.functions.column_maps import Scaling
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.probing import irregular_numbers
from pkex.functions.term_sum import TermSum
from pkex.functions.transformed import Transformed
from pkex.kernels import Polynomial
from pkex.tables.labels import numbered
from pkex.typing import Float


def polynomial(powers: NDArray[np.int64], coefficients: Float, intercept: float | Float) -> TermSum:
    """Return the function intercept + Σ_c coefficients_c ∏_j x_j^powers_cj.

    Parameters
    ----------
    powers : ndarray of shape (monomials, d)
        Non-negative integers.
    coefficients : ndarray of shape (monomials,) or (monomials, outputs)
    intercept : float or ndarray of shape (outputs,)
    """
    terms = []
    for exponents, coefficient in zip(powers, coefficients, strict=True):
        columns = np.flatnonzero(exponents)
        if not len(columns):
            intercept = intercept + coefficient
        elif np.any(coefficient):
            terms.append((columns, Monomial(tuple(exponents[columns].tolist()), coefficient)))
    names = numbered(powers.shape[1])
    function = TermSum(terms, intercept, feature_names=names)
    return function.with_probing_rows(_probing_rows(powers, coefficients, intercept))


def _probing_rows(
    powers: NDArray[np.int64], coefficients: Float, intercept: float | Float
) -> Float:
    """Return rows of values near 1, and rows where no monomial is far above the constant.

    All values are positive, so only coefficients of opposite signs cancel.
    """
    n_columns = powers.shape[1]
    sizes = np.abs(coefficients).reshape(len(powers), -1).max(axis=1)
    constant = float(np.max(np.abs(intercept))) or 1.0
    # The value of each column at which its largest monomial is as large as the constant, if all
    # columns have the same value.
    magnitudes = np.full(n_columns, 1e30)
    for exponents, size in zip(powers, sizes, strict=True):
        if size and exponents.any():
            is_used, value = exponents > 0, (constant / size) ** (1.0 / exponents.sum())
            magnitudes[is_used] = np.minimum(magnitudes[is_used], value)
    magnitudes[magnitudes == 1e30] = 1.0
    factors = 1.0 + 0.5 * irregular_numbers(6, n_columns)
    return np.concatenate([factors[:3], np.maximum(magnitudes, 1e-30) * factors[3:]])


def quadratic_form(
    coefficients: Float, *, center: ArrayLike, scale: ArrayLike, points: Float
) -> Function:
    """Return the function Σ_{j≤k} c_jk u_j u_k of u = (x − center) / scale.

    Interpolators and kriging models have such forms in addition to their kernel. With
    2 u_j u_k = (u_j + u_k)² − u_j² − u_k², the form is an expansion of the kernel (u·e)². In the
    neutral game, an absent column contributes nothing, as in a `LinearFunction`.

    Parameters
    ----------
    coefficients : ndarray of shape (d, d) or (d, d, outputs)
        c, of which only the upper triangle is used. The second shape gives an output axis.
    center, scale : array-like of shape (d,)
    points : ndarray of shape (n, d)
        Stored rows, in the columns x, that absent features can be drawn from.

    Examples
    --------
    >>> f = quadratic_form(np.array([[1.0, 3.0], [0.0, 0.0]]), center=[1.0, 0.0], scale=[1.0, 2.0],
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
    return Transformed(Scaling(center, scale), expansion, points=points)
