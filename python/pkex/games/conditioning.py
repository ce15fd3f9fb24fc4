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
from pkex.games.landmarks import Features, linear_algebra, sample_rows
from pkex.games.observational import Observational
from pkex.kernels.factors import Term
from pkex.kernels.restrictions import Restrictions
from pkex.tables.missing import is_missing
from pkex.typing import Float

# The largest number of background rows without landmarks: their matrix has 800 MB.
_MAX_ROWS = 10_000
# For the warning of explained rows in the background: the numbers of rows and coalitions that are
# checked, the share of the weight that raises it, and the fewest players. With fewer players, there
# are hardly coalitions that distinguish a row from others and leave players out.
_ROWS, _COALITIONS, _LARGE_SHARE, _MIN_PLAYERS = 8, 4, 0.2, 4


@dataclass(frozen=True, eq=False)
class MatchingRows:
    """Pairs of equal explained and background rows.

    Kernel ridge regression without the rows I has the weights w_l / (1 − Σ_{i∈I} w_i), where w are
    the weights with all rows (the formula of leave-one-out cross-validation, Golub, Heath and Wahba
    1979, solved for the weights).

    Parameters
    ----------
    row_numbers, background_numbers : ndarray of intp, shape (pairs,)
        The numbers of the rows. An explained row may have several copies in the background.
    """

    row_numbers: NDArray[np.intp]
    background_numbers: NDArray[np.intp]

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
            places.setdefault(_row_key(row), []).append(place)
        pairs = [
            (number, place)
            for number, row in enumerate(X.tolist())
            for place in places.get(_row_key(row), ())
        ]
        row_numbers, background_numbers = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(row_numbers, background_numbers)

    @property
    def index(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The pairs as an index of arrays of shape (n, m)."""
        return self.row_numbers, self.background_numbers

    def products(self, left: Float, right: Float) -> Float:
        """Return the elements of `left @ right`, shape (n, m), at the pairs."""
        products: Float = np.einsum(
            "pr,rp->p", left[self.row_numbers], right[:, self.background_numbers]
        )
        return products

    def sums(self, pair_values: Float, n: int) -> Float:
        """Return the sums of numbers, or rows of numbers, over the pairs of each explained row."""
        totals = np.zeros((n, *pair_values.shape[1:]))
        np.add.at(totals, self.row_numbers, pair_values)
        return totals


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of m background rows for each of n rows, as a product of two matrices.

    Parameters
    ----------
    left : ndarray of shape (n, r)
    right : ndarray of shape (r, m), optional
        The identity by default.
    exclusions : MatchingRows, optional
        Pairs of rows whose weights are 0, regardless of the product.
    add_up_to_1 : bool, default True
        Whether the sum of each row's weights is 1.
    """

    left: Float
    right: Float | None = None
    exclusions: MatchingRows | None = None
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
        products = values if self.right is None else self.right @ values
        sums: Float = self.left @ products
        if self.exclusions is not None and self.right is not None:
            pairs = self.exclusions
            weights = pairs.products(self.left, self.right)[:, None]
            sums -= pairs.sums(weights * values[pairs.background_numbers], len(sums))
        return sums

    def whole(self) -> Float:
        """Return the weights, shape (n, m)."""
        if self.right is None:
            return self.left
        weights: Float = self.left @ self.right
        if self.exclusions is not None:
            weights[self.exclusions.index] = 0.0
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
        if self.settings.n_landmarks is None and len(self.rows) > _MAX_ROWS:
            landmarks_call = "value_function=pkex.Observational(n_landmarks=300)"
            raise InputError(
                "background",
                (
                    f"has {len(self.rows):,} rows, but ",
                    Option("value_function", "observational"),
                    f" supports at most {_MAX_ROWS:,} without landmarks",
                ),
                [
                    "pass a sample of the rows",
                    ("use landmarks: ", Option("n_landmarks", 300, python=landmarks_call)),
                ],
            )
        linear_algebra()

    @property
    def landmarks(self) -> NDArray[np.intp] | None:
        """The numbers of the rows that are landmarks; None if all rows are used."""
        number = self.settings.n_landmarks
        if number is None or number >= len(self.rows):
            return None
        return sample_rows(len(self.rows), number)

    def for_rows(self, X: NDArray[Any]) -> ConditionalWeights:
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
        exclusions = self._find_exclusions(X)
        terms, rows = self._terms, self.levels.numbers(self.rows, "background")
        landmarks = self.landmarks
        centers = rows if landmarks is None else rows[landmarks]
        numbers, center_kernel = self.levels.numbers(X, "X"), Restrictions(terms, centers, centers)
        # The background itself is explained: its matrix is computed once.
        is_background = np.array_equal(numbers, centers)
        cross_kernel = center_kernel if is_background else Restrictions(terms, numbers, centers)
        landmark_kernel = None if landmarks is None else Restrictions(terms, centers, rows)
        return ConditionalWeights(
            self, len(X), exclusions, center_kernel, cross_kernel, landmark_kernel
        )

    def weights(
        self, X: NDArray[Any], coalitions: Iterable[NDArray[np.bool_]]
    ) -> Iterator[Weights]:
        """Yield the weights for rows, for each coalition of columns."""
        return map(self.for_rows(X).weights, coalitions)

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
        if p < _MIN_PLAYERS or self.settings.leave_one_out:
            return
        numbers = np.unique(MatchingRows.of(X, self.rows).row_numbers)
        if not len(numbers):
            return
        places = np.linspace(0, len(numbers) - 1, _ROWS).astype(np.intp)
        sample = X[numbers[np.unique(places)]]
        pairs = MatchingRows.of(sample, self.rows)
        orders = np.random.default_rng(0).permuted(np.tile(np.arange(p), (_COALITIONS, 1)), axis=1)
        coalitions = list((orders < (p + 1) // 2)[:, players])
        shares = [
            pairs.sums(weights.whole()[pairs.index], len(sample))
            for weights in self.weights(sample, coalitions)
        ]
        if np.mean(shares) > _LARGE_SHARE:
            warn(self._warning(len(numbers), len(X), float(np.mean(shares))))

    def _warning(self, n_matching: int, n_rows: int, share: float) -> InputWarning:
        leave_one_out_call = "value_function=pkex.Observational(leave_one_out=True)"
        return InputWarning(
            None,
            f"{n_matching} of {n_rows} rows are in the background themselves, and have {share:.0%} "
            "of the weight with half of the features present, which hides the dependence between "
            "features",
            [
                ("leave them out by ", Option("leave_one_out", True, python=leave_one_out_call)),
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

    def _find_exclusions(self, X: NDArray[Any]) -> MatchingRows:
        """Return the pairs of equal explained and background rows that leave_one_out leaves out."""
        if not self.settings.leave_one_out:
            return MatchingRows.of(X[:0], self.rows)
        pairs = MatchingRows.of(X, self.rows)
        numbers = np.bincount(pairs.row_numbers, minlength=len(X))
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
        return pairs


@dataclass(frozen=True, eq=False)
class ConditionalWeights:
    """Weights of background rows for some rows, in any coalition of columns.

    Parameters
    ----------
    conditioning : ConditionalBackground
    n : int
        The number of rows.
    exclusions : MatchingRows
        The explained rows that are left out of the background.
    center_kernel, cross_kernel : Restrictions
        The kernel between background rows or landmarks, and from the explained rows to these.
    landmark_kernel : Restrictions, optional
        The kernel from landmarks to background rows.
    """

    conditioning: ConditionalBackground
    n: int
    exclusions: MatchingRows
    center_kernel: Restrictions
    cross_kernel: Restrictions
    landmark_kernel: Restrictions | None

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
            center_kernel, cross_kernel = self._kernels(present)
            if self.landmark_kernel is None:
                return self._weights_of_rows(center_kernel, cross_kernel)
            return self._weights_of_landmarks(
                center_kernel, self.landmark_kernel.of(present), cross_kernel
            )

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
        is_regression = self.landmark_kernel is None and not len(self.exclusions.row_numbers)
        if not is_regression or not present.any():
            return self.weights(present).times(values)
        roots = np.sqrt(self._shares)[:, None]
        with self._naming(present):
            center_kernel, cross_kernel = self._kernels(present)
            center_kernel *= roots * roots.T
            sides = roots * np.column_stack([values, np.ones(len(values))])
            predictions = cross_kernel @ (roots * self._solve(center_kernel, sides))
        means: Float = predictions[:, :-1]
        return means + self._missing_shares(predictions[:, -1])[:, None] * (self._shares @ values)

    def _kernels(self, present: NDArray[np.bool_]) -> tuple[Float, Float]:
        """Return the kernel among background rows or landmarks, and from explained rows to them."""
        center_kernel = self.center_kernel.of(present)
        if self.cross_kernel is self.center_kernel:
            return center_kernel, center_kernel.copy()
        return center_kernel, self.cross_kernel.of(present)

    @contextmanager
    def _naming(self, present: NDArray[np.bool_]) -> Iterator[None]:
        """Name the present columns in errors of kernels that are not positive definite."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            if is_of_memory(error):
                raise
            raise self._indefinite_error(present) from None

    def _weights_of_rows(self, center_kernel: Float, cross_kernel: Float) -> Weights:
        """Return w = √B (√B K √B + η)⁻¹ √B k, completed; eigenvalues of √B K √B are at most 1."""
        roots = np.sqrt(self._shares)
        center_kernel *= roots * roots[:, None]
        weights = self._solve(center_kernel, (cross_kernel * roots).T).T * roots
        index = self.exclusions.index
        weights /= (1.0 - self.exclusions.sums(weights[index], len(weights)))[:, None]
        weights[index] = 0.0
        weights += self._missing_shares(weights.sum(axis=1))[:, None] * self._shares
        weights[index] = 0.0
        return Weights(weights, add_up_to_1=self._is_completed)

    def _weights_of_landmarks(
        self, center_kernel: Float, landmark_kernel: Float, cross_kernel: Float
    ) -> Weights:
        """Return w = B Φ (Φᵀ B Φ + η)⁻¹ φ, completed; Φ Φᵀ is Nyström's approximation of K."""
        features = Features(center_kernel)
        features_of_rows = features.of(landmark_kernel)
        weighted_features = features_of_rows * self._shares
        gram = weighted_features @ features_of_rows.T
        left = self._solve(gram, features.of(cross_kernel.T)).T
        excluded_weights = self.exclusions.products(left, weighted_features)
        scales = 1.0 - self.exclusions.sums(excluded_weights, len(left))
        left /= scales[:, None]
        total = left @ weighted_features.sum(axis=1) - (1.0 - scales) / scales
        return Weights(
            np.concatenate([left, self._missing_shares(total)[:, None]], axis=1),
            np.concatenate([weighted_features, self._shares[None]]),
            self.exclusions,
            self._is_completed,
        )

    def _missing_shares(self, totals: Float) -> Float:
        """Return 1 minus the sums of weights, divided by the shares of rows not left out.

        Zeros if weights are not completed.
        """
        if not self._is_completed:
            return np.zeros_like(totals)
        missing: Float = 1.0 - totals
        excluded_shares = self._shares[self.exclusions.background_numbers]
        missing /= 1.0 - self.exclusions.sums(excluded_shares, len(totals))
        return missing

    def _solve(self, matrix: Float, sides: Float) -> Float:
        """Return (matrix + η)⁻¹ sides; the matrix is overwritten."""
        matrix.flat[:: len(matrix) + 1] += self.conditioning.settings.regularization
        linalg = linear_algebra()
        factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        solution: Float = linalg.cho_solve(factor, sides, check_finite=False)
        return solution

    def _indefinite_error(self, present: NDArray[np.bool_]) -> InputError:
        """Return the error that the kernel is not positive definite on the present columns."""
        column_names = ", ".join(np.array(self.conditioning.levels.names)[present].tolist())
        settings = self.conditioning.settings
        game = f"value_function=pkex.Observational(kernel={settings.kernel})"
        return InputError(
            None,
            f"the kernel of {game} is not positive definite on the background in the columns "
            f"{column_names}, so weights of rows cannot be computed",
            [
                "use a Gaussian kernel (the default)",
                (
                    "set ",
                    Option("regularization", python="regularization"),
                    f" above {settings.regularization:g}",
                ),
            ],
        )


def _row_key(row: list[Any]) -> tuple[Any, ...]:
    """Return the values of a row as a dictionary key; all missing values are equal."""
    return tuple(None if is_missing(value) else value for value in row)
