"""Polynomials of several columns, as sums of monomials, each a function of few columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.functions.column_functions import Monomial
from pkex.functions.term_sum import TermSum
from pkex.tables.labels import numbered
from pkex.typing import Float

__all__ = ["polynomial"]


def polynomial(powers: NDArray[np.int64], coefficients: Float, intercept: float | Float) -> TermSum:
    """Return the function intercept + Σ_c coefficients_c ∏_j x_j^powers_cj.

    Parameters
    ----------
    powers : ndarray of shape (monomials, d)
        Whole numbers from 0.
    coefficients : ndarray of shape (monomials,) or (monomials, outputs)
    intercept : float or ndarray of shape (outputs,)
    """
    terms = []
    for own, coefficient in zip(powers, coefficients, strict=True):
        columns = np.flatnonzero(own)
        if not len(columns):
            intercept = intercept + coefficient
        elif np.any(coefficient):
            terms.append((columns, Monomial(tuple(own[columns].tolist()), coefficient)))
    names = numbered(powers.shape[1])
    function = TermSum(terms, intercept, feature_names=names)
    return function.probed_at(_probing_rows(powers, coefficients, intercept))


def _probing_rows(
    powers: NDArray[np.int64], coefficients: Float, intercept: float | Float
) -> Float:
    """Return rows where entries are near 1, and rows where no monomial is far above the constant.

    Then all entries are positive, so that nothing cancels but what coefficients' signs cancel.
    """
    n_columns = powers.shape[1]
    sizes = np.abs(coefficients).reshape(len(powers), -1).max(axis=1)
    constant = float(np.max(np.abs(intercept))) or 1.0
    # Of a column, where the largest monomial of it and columns alike is as large as the constant.
    alike = np.full(n_columns, 1e30)
    for own, size in zip(powers, sizes, strict=True):
        if size and own.any():
            alike[own > 0] = np.minimum(alike[own > 0], (constant / size) ** (1.0 / own.sum()))
    alike[alike == 1e30] = 1.0
    # A fixed set of irregular numbers.
    irregular = 1.0 + 0.5 * np.cos(np.arange(1.0, 1.0 + 6 * n_columns)).reshape(6, n_columns)
    return np.concatenate([irregular[:3], np.maximum(alike, 1e-30) * irregular[3:]])
