"""Weights of background rows given the present features of a row.

The weights are those of a kernel ridge regression on the present columns, completed to a sum of 1
by default: see `Observational`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError, InputWarning, Option, warn
from pkex.execution.memory import is_of_memory
from pkex.games.category_codes import CategoryCodes
from pkex.games.landmarks import Features, linear_algebra, sampled_rows
from pkex.games.observational import Observational
from pkex.kernels.factors import Term
from pkex.kernels.restrictions import Restrictions
from pkex.tables.missing import is_missing
from pkex.typing import Float

# The largest number of background rows without landmarks: their matrix has 800 MB.
_MOST_ROWS = 10_000
# For the warning of explained rows in the background: the numbers of rows and coalitions that are
# checked, the share of the weight that raises it, and the fewest players. With fewer players, there
# are hardly coalitions that distinguish a row from others and leave players out.
_ROWS, _COALITIONS, _LARGE_SHARE, _FEWEST = 8, 4, 0.2, 4


@dataclass(frozen=True, eq=False)
class MatchingRows:
    """Pairs of equal explained and background rows.

    Kernel ridge regression without the rows I has the weights w_l / (1 − Σ_{i∈I} w_i), where w are
    the weights with all rows (the formula of leave-one-out cross-validation, Golub, Heath and Wahba
    1979, solved for the weights).

    Parameters
    ----------
    explained, background : ndarray of intp, shape (pairs,)
        The numbers of the rows. An explained row may have several copies in the background.
    """

    explained: NDArray[np.intp]
    background: NDArray[np.intp]

    @classmethod
    def of(cls, X: NDArray[Any], rows: NDArray[Any]) -> MatchingRows:
        """Return the pairs of equal rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        rows : ndarray of shape (m, d)
        """
        places: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            places.setdefault(_comparable(row), []).append(place)
        pairs = [
            (number, place)
            for number, row in enumerate(X.tolist())
            for place in places.get(_comparable(row), ())
        ]
        explained, background = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(explained, background)

    def sums(self, of_pairs: Float, n: int) -> Float:
        """Return the sums of numbers, or rows of numbers, over the pairs of each explained row."""
        totals = np.zeros((n, *of_pairs.shape[1:]))
        np.add.at(totals, self.explained, of_pairs)
        return totals


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of m background rows for each of n rows, as a product of two matrices.

    Parameters
    ----------
    left : ndarray of shape (n, r)
    right : ndarray of shape (r, m), optional
        The identity by default.
    left_out : MatchingRows, optional
        Pairs of rows whose weights are 0, regardless of the product.
    add_up_to_1 : bool, default True
        Whether the sum of each row's weights is 1.
    """

    left: Float
    right: Float | None = None
    left_out: MatchingRows | None = None
    add_up_to_1: bool = True

    @property
    def totals(self) -> Float:
        """The sums of weights of the rows, shape (n, 1)."""
        n, r = self.left.shape
        if self.add_up_to_1:
            return np.ones((n, 1))
        return self.times(np.ones((r if self.right is None else self.right.shape[1], 1)))

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
    """Background data with the settings of its conditional weights.

    Parameters
    ----------
    settings : Observational
        Settings with a kernel.
    rows : ndarray of shape (m, d)
        Background rows in the columns of the explained function, perhaps with categories.
    shares : ndarray of shape (m,)
        The weights of the rows, positive, with sum 1.
    levels : CategoryCodes
        The codes of the categories.

    Raises
    ------
    ValueError
        If there are too many rows for weights without landmarks.
    ImportError
        If SciPy is not installed.
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
                    f"has {len(self.rows):,} rows, but ",
                    Option("value_function", "observational"),
                    f" supports at most {_MOST_ROWS:,} without landmarks",
                ),
                [
                    "pass a sample of the rows",
                    ("use landmarks: ", Option("n_landmarks", 300, python=few)),
                ],
            )
        linear_algebra()

    @property
    def landmarks(self) -> NDArray[np.intp] | None:
        """The numbers of the rows that are landmarks; None if all rows are used."""
        number = self.settings.n_landmarks
        if number is None or number >= len(self.rows):
            return None
        return sampled_rows(len(self.rows), number)

    def beside(self, X: NDArray[Any]) -> ConditionalWeights:
        """Return the conditional weights for rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)

        Raises
        ------
        ValueError
            If a numeric column of the background has another value in a row; or if leaving a row
            out of the background leaves no rows.
        """
        own = self._left_out(X)
        terms, rows = self._terms, self.levels.numbers(self.rows, "background")
        landmarks = self.landmarks
        centers = rows if landmarks is None else rows[landmarks]
        numbers, among = self.levels.numbers(X, "X"), Restrictions(terms, centers, centers)
        # The background itself is explained: its matrix is computed once.
        is_background = np.array_equal(numbers, centers)
        across = among if is_background else Restrictions(terms, numbers, centers)
        to_rows = None if landmarks is None else Restrictions(terms, centers, rows)
        return ConditionalWeights(self, len(X), own, among, across, to_rows)

    def weights(
        self, X: NDArray[Any], coalitions: Iterable[NDArray[np.bool_]]
    ) -> Iterator[Weights]:
        """Yield the weights for rows, for each coalition of columns."""
        return map(self.beside(X).weights, coalitions)

    def warn_of_matching_rows(self, X: NDArray[Any], players: NDArray[np.int64]) -> None:
        """Warn if explained rows are in the background and have much of the weight.

        The weights are those with half of the players present. The players that join a coalition
        first then share the contribution of all of them.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        players : ndarray of shape (d,)
            The number of each column's player.
        """
        p = int(players.max()) + 1
        if p < _FEWEST or self.settings.leave_one_out:
            return
        known = np.unique(MatchingRows.of(X, self.rows).explained)
        if not len(known):
            return
        some = X[known[np.unique(np.linspace(0, len(known) - 1, _ROWS).astype(np.intp))]]
        own = MatchingRows.of(some, self.rows)
        orders = np.random.default_rng(0).permuted(np.tile(np.arange(p), (_COALITIONS, 1)), axis=1)
        coalitions = list((orders < (p + 1) // 2)[:, players])
        shares = [
            own.sums(weights.whole()[own.explained, own.background], len(some))
            for weights in self.weights(some, coalitions)
        ]
        if np.mean(shares) > _LARGE_SHARE:
            warn(self._warning(len(known), len(X), float(np.mean(shares))))

    def _warning(self, n_matching: int, n_rows: int, share: float) -> InputWarning:
        without = "value_function=pkex.Observational(leave_one_out=True)"
        return InputWarning(
            None,
            f"{n_matching} of {n_rows} rows are in the background themselves, and have {share:.0%} "
            "of the weight with half of the features present, which hides the dependence between "
            "features",
            [
                ("leave them out by ", Option("leave_one_out", True, python=without)),
                "explain rows that are not in the background",
                (
                    "give a larger ",
                    Option("regularization", python="regularization"),
                    f" than {self.settings.regularization:g}",
                ),
            ],
        )

    @property
    def _terms(self) -> list[Term]:
        kernel = self.settings.kernel
        if kernel is None:
            raise ValueError("the settings have no kernel. Call Observational.resolved")
        return kernel.terms(self.rows.shape[1])

    def _left_out(self, X: NDArray[Any]) -> MatchingRows:
        """Return the pairs of equal explained and background rows that leave_one_out leaves out."""
        if not self.settings.leave_one_out:
            return MatchingRows.of(X[:0], self.rows)
        own = MatchingRows.of(X, self.rows)
        numbers = np.bincount(own.explained, minlength=len(X))
        if (numbers == len(self.rows)).any():
            raise InputError(
                "X",
                (
                    "has the only row of the background",
                    HERE,
                    ", so ",
                    Option("leave_one_out", True),
                    " leaves no background rows",
                ),
                "pass a background with other rows",
                row=int(numbers.argmax()),
            )
        return own


@dataclass(frozen=True, eq=False)
class ConditionalWeights:
    """Weights of background rows for some rows, in any coalition of columns.

    Parameters
    ----------
    conditioning : ConditionalBackground
    n : int
        The number of rows.
    own : MatchingRows
        The explained rows that are left out of the background.
    among, across : Restrictions
        The kernel between background rows or landmarks, and from the explained rows to these.
    to_rows : Restrictions, optional
        The kernel from landmarks to background rows.
    """

    conditioning: ConditionalBackground
    n: int
    own: MatchingRows
    among: Restrictions
    across: Restrictions
    to_rows: Restrictions | None

    @property
    def n_numbers(self) -> int:
        """The size of the kernel matrix that is computed for each coalition."""
        n_rows = len(self.conditioning.rows)
        return n_rows * min(n_rows, self.conditioning.settings.n_landmarks or n_rows)

    @property
    def _shares(self) -> Float:
        return self.conditioning.shares

    @property
    def _is_completed(self) -> bool:
        return self.conditioning.settings.normalize

    def weights(self, present: NDArray[np.bool_]) -> Weights:
        """Return the conditional weights; those of the background if no column is present, or all.

        Parameters
        ----------
        present : ndarray of bool, shape (d,)
            The columns that are present.

        Raises
        ------
        ValueError
            If the kernel is not positive definite on the background.
        """
        if not present.any() or present.all():
            return Weights(np.ones((self.n, 1)), self._shares[None])
        with self._naming(present):
            among, across = self._kernels(present)
            if self.to_rows is None:
                return self._of_all(among, across)
            return self._of_landmarks(among, self.to_rows.of(present), across)

    def means(self, present: NDArray[np.bool_], values: Float) -> Float:
        """Return the weighted sums Σ_l w_l values_l, shape (n, k), of values of shape (m, k).

        They are a kernel ridge regression of the values, which is faster than by all weights.

        Parameters
        ----------
        present : ndarray of bool, shape (d,)
            Some of the columns.
        values : ndarray of shape (m, k)

        Raises
        ------
        ValueError
            If the kernel is not positive definite on the background.
        """
        if self.to_rows is not None or len(self.own.explained) or not present.any():
            return self.weights(present).times(values)
        roots = np.sqrt(self._shares)[:, None]
        with self._naming(present):
            among, across = self._kernels(present)
            among *= roots * roots.T
            sides = roots * np.column_stack([values, np.ones(len(values))])
            fitted = across @ (roots * self._solved(among, sides))
        means: Float = fitted[:, :-1]
        return means + self._missing(fitted[:, -1])[:, None] * (self._shares @ values)

    def _kernels(self, present: NDArray[np.bool_]) -> tuple[Float, Float]:
        """Return the kernel among background rows or landmarks, and from explained rows to them."""
        among = self.among.of(present)
        return among, among.copy() if self.across is self.among else self.across.of(present)

    @contextmanager
    def _naming(self, present: NDArray[np.bool_]) -> Iterator[None]:
        """Name the present columns in errors of kernels that are not positive definite."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            if is_of_memory(error):
                raise
            raise self._not_positive(present) from None

    def _of_all(self, among: Float, across: Float) -> Weights:
        """Return w = √B (√B K √B + η)⁻¹ √B k, completed; eigenvalues of √B K √B are at most 1."""
        roots = np.sqrt(self._shares)
        among *= roots * roots[:, None]
        known = self._solved(among, (across * roots).T).T * roots
        pairs = self.own.explained, self.own.background
        known /= (1.0 - self.own.sums(known[pairs], len(known)))[:, None]
        known[pairs] = 0.0
        known += self._missing(known.sum(axis=1))[:, None] * self._shares
        known[pairs] = 0.0
        return Weights(known, add_up_to_1=self._is_completed)

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
            self._is_completed,
        )

    def _missing(self, totals: Float) -> Float:
        """Return 1 minus the sums of weights, divided by the shares of rows not left out.

        Zeros if weights are not completed.
        """
        if not self._is_completed:
            return np.zeros_like(totals)
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
        """Return the error that the kernel is not positive definite on the present columns."""
        among = ", ".join(np.array(self.conditioning.levels.names)[present].tolist())
        settings = self.conditioning.settings
        game = f"value_function=pkex.Observational(kernel={settings.kernel})"
        return InputError(
            None,
            f"the kernel of {game} is not positive definite on the background in the columns "
            f"{among}, so weights of rows cannot be computed",
            [
                "use a Gaussian kernel (the default)",
                (
                    "set ",
                    Option("regularization", python="regularization"),
                    f" above {settings.regularization:g}",
                ),
            ],
        )


def _comparable(row: list[Any]) -> tuple[Any, ...]:
    """Return the values of a row as a dictionary key; all missing values are equal."""
    return tuple(None if is_missing(value) else value for value in row)
