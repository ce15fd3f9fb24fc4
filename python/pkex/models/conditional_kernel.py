"""Conditional expectations of kernels, given the present columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pkex.games.conditioning import Weights
from pkex.kernels import Kernel, Term
from pkex.kernels.restrictions import MAX_KEPT, Restrictions
from pkex.typing import Float


class ConditionalRows:
    """E[k(p_i, X) | X_S = x_S] for points p_i and rows x, as Σ_l w_l(x_S) k(p_i, z_l).

    It is k(p_i, x) if all columns are present (Chau et al. 2022, RKHS-SHAP, appendix C.3). The
    weights w of background rows z are those of a `ConditionalBackground`.

    Parameters
    ----------
    kernel : Kernel
    points, rows, background : ndarray of shape (p, d), (n, d) and (m, d)
    """

    def __init__(self, kernel: Kernel, points: Float, rows: Float, background: Float) -> None:
        self._to_rows, self._to_background = kernel(points, rows), kernel(background, points)

    def __call__(self, weights: Weights, present: NDArray[np.bool_]) -> Float:
        """Return the expectation given the present columns, shape (p, n)."""
        return self._to_rows if present.all() else weights.times(self._to_background).T


class ConditionalKernel:
    """E[k(p_i, X) | X_S = x_S] for points p_i and rows x with present columns x_S.

    For a product kernel it is k_S(p_i, x) Σ_l w_l(x_S) k_{S^c}(p_i, z_l) (Chau, Hu, Gonzalez and
    Sejdinovic 2022, RKHS-SHAP, section 3). The weights w of background rows z are those of a
    `ConditionalBackground`.

    Parameters
    ----------
    terms : sequence of Term
        Products over columns whose sum is the kernel.
    points, rows, background : ndarray of shape (p, d), (n, d) and (m, d)
    """

    def __init__(
        self, terms: Sequence[Term], points: Float, rows: Float, background: Float
    ) -> None:
        self._shape = len(points), len(rows)
        most_kept = MAX_KEPT // max(1, len(terms))
        self._parts = []
        for term in terms:
            unit_term = [replace(term, coefficient=1.0)]
            to_background = Restrictions(unit_term, points, background, most_kept)
            to_rows = (
                to_background
                if rows is background
                else Restrictions(unit_term, points, rows, most_kept)
            )
            self._parts.append((term.coefficient, to_rows, to_background))

    def __call__(self, weights: Weights, present: NDArray[np.bool_]) -> Float:
        """Return the expectation given the present columns, shape (p, n).

        Parameters
        ----------
        weights : Weights
            The weights of the background rows for each row.
        present : ndarray of bool, shape (d,)
        """
        total = np.zeros(self._shape)
        for coefficient, to_rows, to_background in self._parts:
            means = weights.times(to_background.of(~present).T).T
            total += coefficient * to_rows.of(present) * means
        return total
