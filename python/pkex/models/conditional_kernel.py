"""Kernels that are sums of products, as expected where absent columns follow the present ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pkex.games.conditioning import Weights
from pkex.kernels import Term
from pkex.kernels.restrictions import MOST_KEPT, Restrictions
from pkex.typing import Float

__all__ = ["ConditionalKernel"]


class ConditionalKernel:
    """E[k(p_i, X) | X_S = x_S] of points p_i and rows x.

    It is k_S(p_i, x) Σ_l w_l(x_S) k_{S^c}(p_i, z_l), as a product splits at S (Chau, Hu, Gonzalez
    and Sejdinovic 2022, RKHS-SHAP, section 3). The weights w of background rows z are those of a
    `Conditioning`.

    Parameters
    ----------
    terms : sequence of Term
        Products over columns, whose sum the kernel is.
    points, rows, background : ndarray of shape (p, d), (n, d) and (m, d)
    """

    def __init__(
        self, terms: Sequence[Term], points: Float, rows: Float, background: Float
    ) -> None:
        self._shape = len(points), len(rows)
        most_kept = MOST_KEPT // max(1, len(terms))
        self._parts = []
        for term in terms:
            alone = [replace(term, coefficient=1.0)]
            far = Restrictions(alone, points, background, most_kept)
            near = far if rows is background else Restrictions(alone, points, rows, most_kept)
            self._parts.append((term.coefficient, near, far))

    def __call__(self, weights: Weights, present: NDArray[np.bool_]) -> Float:
        """Return it where some columns are known, shape (p, n).

        Parameters
        ----------
        weights : Weights
            Those of the background rows beside the rows.
        present : ndarray of bool, shape (d,)
        """
        total = np.zeros(self._shape)
        for coefficient, near, far in self._parts:
            means = weights.times(far.of(~present).T).T
            total += coefficient * near.of(present) * means
        return total
