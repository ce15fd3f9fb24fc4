"""Weights of background rows beside the columns that are known of a row.

They are those of a kernel ridge regression on these columns, completed to a sum of 1: see
`Observational`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError, Option
from pkex.execution.memory import is_of_memory
from pkex.games.category_codes import CategoryCodes
from pkex.games.landmarks import Features, linear_algebra, sampled_rows
from pkex.games.observational import Observational
from pkex.games.own_rows import OwnRows
from pkex.kernels.factors import Term
from pkex.kernels.restrictions import Restrictions
from pkex.typing import Float

__all__ = ["ConditionalBackground", "ConditionalWeights", "Weights"]

# Background rows, on all of which weights are made: a matrix of 800 MB.
_MOST_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of m background rows beside n rows, as a product of two matrices.

    Parameters
    ----------
    left : ndarray of shape (n, r)
    right : ndarray of shape (r, m), optional
        The identity if not given.
    left_out : OwnRows, optional
        Whose weights are 0, whatever the product is.
    """

    left: Float
    right: Float | None = None
    left_out: OwnRows | None = None

    def times(self, values: Float) -> Float:
        """Return the weighted sums Σ_l w_l values_l, shape (n, k), of values of shape (m, k)."""
        right = values if self.right is None else self.right @ values
        sums: Float = self.left @ right
        if self.left_out is not None and self.right is not None:
            own = self.left_out
            weights = np.einsum("pr,rp->p", self.left[own.explained], self.right[:, own.background])
            sums -= own.sums(weights[:, None] * values[own.background], len(sums))
        return sums

    def whole(self) -> Float:
        """Return the weights, shape (n, m)."""
        if self.right is None:
            return self.left
        weights: Float = self.left @ self.right
        if self.left_out is not None:
            weights[self.left_out.explained, self.left_out.background] = 0.0
        return weights


@dataclass(frozen=True, eq=False)
class ConditionalBackground:
    """How background rows count beside rows of which some columns are known.

    Parameters
    ----------
    settings : Observational
        With a kernel.
    rows : ndarray of shape (m, d)
        As a function takes them, which may have labels.
    shares : ndarray of shape (m,)
        The weights of the rows, positive, which add up to 1.
    levels : CategoryCodes
        What makes numbers of them.

    Raises
    ------
    ValueError
        If there are more rows than weights can be made on.
    ImportError
        If there is no SciPy.
    """

    settings: Observational
    rows: NDArray[Any]
    shares: Float
    levels: CategoryCodes

    def __post_init__(self) -> None:
        if self.settings.n_landmarks is None and len(self.rows) > _MOST_ROWS:
            few = "value_function=pkex.Observational(n_landmarks=300)"
            raise InputError(
                "background",
                (
                    f"has {len(self.rows):,} rows, and ",
                    Option("value_function", "observational"),
                    f" makes weights on up to {_MOST_ROWS:,}",
                ),
                [
                    "take a sample of them",
                    ("make weights on some: ", Option("n_landmarks", 300, python=few)),
                ],
            )
        linear_algebra()

    @property
    def landmarks(self) -> NDArray[np.intp] | None:
        """The numbers of the rows that weights are made on; None for all."""
        number = self.settings.n_landmarks
        if number is None or number >= len(self.rows):
            return None
        return sampled_rows(len(self.rows), number)

    def beside(self, X: NDArray[Any]) -> ConditionalWeights:
        """Return what gives the weights beside rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)

        Raises
        ------
        ValueError
            If an entry of a row is not what the background has in its column; or the background has
            nothing but the row that is to be left out of it.
        """
        own = self._left_out(X)
        terms, rows = self._terms, self.levels.numbers(self.rows, "background")
        chosen = self.landmarks
        centres = rows if chosen is None else rows[chosen]
        across = Restrictions(terms, self.levels.numbers(X, "X"), centres)
        among = Restrictions(terms, centres, centres)
        to_rows = None if chosen is None else Restrictions(terms, centres, rows)
        return ConditionalWeights(self, len(X), own, among, across, to_rows)

    def weights(
        self, X: NDArray[Any], coalitions: Iterable[NDArray[np.bool_]]
    ) -> Iterator[Weights]:
        """Return the weights beside rows, of one choice of known columns after the other."""
        return map(self.beside(X).weights, coalitions)

    @property
    def _terms(self) -> list[Term]:
        kernel = self.settings.kernel
        if kernel is None:
            raise ValueError("the settings have no kernel: see Observational.resolved")
        return kernel.terms(self.rows.shape[1])

    def _left_out(self, X: NDArray[Any]) -> OwnRows:
        """Return which rows are left out of the background."""
        if not self.settings.leave_one_out:
            return OwnRows.of(X[:0], self.rows)
        own = OwnRows.of(X, self.rows)
        numbers = np.bincount(own.explained, minlength=len(X))
        if (numbers == len(self.rows)).any():
            raise InputError(
                "X",
                (
                    "has the only row of the background",
                    HERE,
                    ", so that with ",
                    Option("leave_one_out", True),
                    " nothing is left",
                ),
                "give a background with other rows",
                row=int(numbers.argmax()),
            )
        return own


@dataclass(frozen=True, eq=False)
class ConditionalWeights:
    """How background rows count beside some rows, in any choice of known columns.

    Parameters
    ----------
    conditioning : ConditionalBackground
    n : int
        The number of rows.
    own : OwnRows
        Which of them are left out of the background.
    among, across : Restrictions
        The kernel between background rows, or landmarks, and from the rows to these.
    to_rows : Restrictions, optional
        From landmarks to background rows.
    """

    conditioning: ConditionalBackground
    n: int
    own: OwnRows
    among: Restrictions
    across: Restrictions
    to_rows: Restrictions | None

    @property
    def n_numbers(self) -> int:
        """How many numbers a matrix has that is made for each choice of columns."""
        n_rows = len(self.conditioning.rows)
        return n_rows * min(n_rows, self.conditioning.settings.n_landmarks or n_rows)

    @property
    def _shares(self) -> Float:
        return self.conditioning.shares

    def weights(self, present: NDArray[np.bool_]) -> Weights:
        """Return the weights of background rows; with no columns known they are the shares.

        Parameters
        ----------
        present : ndarray of bool, shape (d,)
            The columns that are known.

        Raises
        ------
        ValueError
            If the kernel is not positive definite on the background.
        """
        if not present.any():
            return Weights(np.ones((self.n, 1)), self._shares[None])
        try:
            if self.to_rows is None:
                return self._of_all(self.among.of(present), self.across.of(present))
            known = self.to_rows.of(present)
            return self._of_landmarks(self.among.of(present), known, self.across.of(present))
        except np.linalg.LinAlgError as error:
            if is_of_memory(error):
                raise
            raise self._not_positive(present) from None

    def _of_all(self, among: Float, across: Float) -> Weights:
        """Return w = √B (√B K √B + η)⁻¹ √B k, completed; √B K √B has eigenvalues of 1 at most."""
        roots = np.sqrt(self._shares)
        among *= roots * roots[:, None]
        known = self._solved(among, (across * roots).T).T * roots
        pairs = self.own.explained, self.own.background
        known /= (1.0 - self.own.sums(known[pairs], len(known)))[:, None]
        known[pairs] = 0.0
        known += self._missing(known.sum(axis=1))[:, None] * self._shares
        known[pairs] = 0.0
        return Weights(known)

    def _of_landmarks(self, among: Float, of_rows: Float, across: Float) -> Weights:
        """Return w = B Φ (Φᵀ B Φ + η)⁻¹ φ, completed; Φ Φᵀ is Nyström's approximation of K."""
        features = Features(among)
        known = features.of(of_rows)
        weighed = known * self._shares
        gram = weighed @ known.T
        left = self._solved(gram, features.of(across.T)).T
        of_own = np.einsum("pr,rp->p", left[self.own.explained], weighed[:, self.own.background])
        scales = 1.0 - self.own.sums(of_own, len(left))
        left /= scales[:, None]
        total = left @ weighed.sum(axis=1) - (1.0 - scales) / scales
        return Weights(
            np.concatenate([left, self._missing(total)[:, None]], axis=1),
            np.concatenate([weighed, self._shares[None]]),
            self.own,
        )

    def _missing(self, totals: Float) -> Float:
        """Return what weights lack of 1, beside the shares of the rows that are not left out."""
        missing: Float = 1.0 - totals
        missing /= 1.0 - self.own.sums(self._shares[self.own.background], len(totals))
        return missing

    def _solved(self, matrix: Float, sides: Float) -> Float:
        """Return (matrix + η)⁻¹ sides; the matrix is overwritten."""
        matrix.flat[:: len(matrix) + 1] += self.conditioning.settings.regularization
        linalg = linear_algebra()
        factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        solved: Float = linalg.cho_solve(factor, sides, check_finite=False)
        return solved

    def _not_positive(self, present: NDArray[np.bool_]) -> InputError:
        """Return the error that the kernel is none on some columns of the background."""
        among = ", ".join(np.array(self.conditioning.levels.names)[present].tolist())
        settings = self.conditioning.settings
        game = f"value_function=pkex.Observational(kernel={settings.kernel})"
        return InputError(
            None,
            f"the kernel of {game} is not positive definite on the background in {among}, so that "
            "there are no weights of rows",
            [
                "take a Gaussian (the default)",
                (
                    "take a ",
                    Option("regularization", python="regularization"),
                    f" above {settings.regularization:g}",
                ),
            ],
        )
