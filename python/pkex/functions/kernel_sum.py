"""Functions that kernel methods fit: weighted sums of kernels centered at points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.functions.base import (
    ConditionalMeans,
    Function,
    Members,
    check_constant,
    check_finite,
)
from pkex.functions.conditional_expansion import expansion_means
from pkex.functions.fingerprints import Fingerprints, are_bits
from pkex.functions.packing import Packing
from pkex.functions.probing import evenly_spaced, rows_near
from pkex.functions.products import JoinedProducts, Products, TermsOfPoints
from pkex.functions.series_products import products_of_series
from pkex.functions.sparse_pairs import are_faster, packed_rows, selected_pairs
from pkex.functions.squares import PairSquares, unsupported_squares
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.orders import Orders
from pkex.games.player_limits import MAX_PLAYERS, MAX_PLAYERS_OF_DIVIDENDS
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import owned, read_only
from pkex.kernels import Kernel
from pkex.kernels.allowed_values import AllowedValues
from pkex.kernels.base import namesake
from pkex.kernels.factors import Term, has_series
from pkex.tables.labels import Labels, check_column_names
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.typing import Float, Report

# Points where the size of the function is measured.
_MEASURED = 100
# Attributes that are computed again when an expansion is unpickled.
_NOT_SAVED = ("_allowed_values", "_fingerprints", "_packing")


class KernelSum(Function):
    """The function f(x) = intercept + Σ_i coefficients_i · kernel(x, points_i).

    Parameters
    ----------
    points, coefficients, kernel, intercept, feature_names, column_labels
        As in `KernelExpansion`, its public description.
    """

    __slots__ = (
        "_allowed_values",
        "_column_labels",
        "_fingerprints",
        "_packing",
        "coefficients",
        "feature_names",
        "intercept",
        "kernel",
        "points",
    )

    feature_names: tuple[str, ...] | None

    def __init__(
        self,
        points: ArrayLike,
        coefficients: ArrayLike,
        kernel: Kernel,
        intercept: ArrayLike = 0.0,
        feature_names: Sequence[str] | None = None,
        column_labels: tuple[Any, ...] | None = None,
    ) -> None:
        self.kernel = check_kernel(kernel)
        self.points = read_only(as_matrix(points, "points", allow_no_rows=True))
        n_points, n_features = self.points.shape
        self._allowed_values = AllowedValues.of(kernel.terms(n_features))
        self._allowed_values.check(self.points, "points")
        self.coefficients = read_only(
            as_vector_or_matrix(coefficients, "coefficients", n_rows=n_points, rows_of="points")
        )
        self._set_shape(n_features, self.coefficients.shape[1:])
        self.intercept = check_constant(intercept, self.coefficients.shape[1:])
        self._column_labels = column_labels
        self.feature_names = check_feature_names(feature_names, n_features)
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the computation of outputs and values."""
        expansion = self.points, self._columns_of_coefficients, self.kernel
        self._packing = Packing(*expansion, self._players)
        self._fingerprints = Fingerprints.of(*expansion)

    @property
    def column_labels(self) -> tuple[Any, ...] | None:
        return self._column_labels

    @property
    def packed(self) -> _core.Expansion:
        """The engine's form of the expansion, without the intercept, for rows near the points."""
        return self._packing.at(0)

    @property
    def _columns_of_coefficients(self) -> Float:
        return self.coefficients.reshape(len(self.points), self.n_outputs)

    def stored_points(self) -> Float:
        return self.points

    def probing_rows(self) -> Float:
        return self._allowed_values.nearest(rows_near(self.points))

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        check_names_of(X, self.feature_names)
        if self._column_labels is not None:
            Labels.of(X).check_same(Labels(self._column_labels), "X", "the expansion")
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self._allowed_values.check(rows, "X")
        sums = self._packing.over(
            rows,
            None,
            None,
            lambda expansion, chunk, _: expansion.predict(
                chunk, summation="compensated", n_threads=n_threads
            ),
        )
        with np.errstate(over="ignore"):
            values = sums.reshape(len(rows), *self.coefficients.shape[1:]) + self.intercept
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise OverflowError(f"the value of row {row} is too large for a float")
        return values

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return ``|intercept| + Σ_i |coefficients_i| · kernel(x, points_i)`` for rows.

        This is the scale of the rounding errors in f(x) for any order of summation. For a kernel
        that is approximated by a mixture, ``Σ_i |coefficients_i| · kernel(x, x)`` is added, the
        scale of the approximation errors. Powers of a dot product, which may cancel, enter with
        their absolute values.
        """
        terms = self.kernel.terms(self.n_features)
        if has_series(terms):
            rows = as_matrix(X, "X", n_columns=self.n_features)
            kernel = sum(term.magnitude(rows, self.points) for term in terms)
            sizes: Float = kernel @ np.abs(self.coefficients)
        else:
            positive = KernelSum(self.points, np.abs(self.coefficients), self.kernel)
            # A function that grows with the distance may be negative.
            sizes = np.abs(positive.evaluate(X, n_threads=n_threads))
        sizes += np.abs(self.intercept)
        errors = np.asarray(self._packing.scale_of_errors)
        sizes += errors if self.has_output_axis else errors.sum()
        return sizes

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        self._allowed_values.check(X, "X")
        has_no_groups = quantity == SHAPLEY and self._players is None
        if has_no_groups and game.value_function == "neutral" and self._fingerprints is not None:
            return self._neutral_values_of_bits(self._fingerprints, X, computation)
        values = self._packing.quantity(X, game, quantity, computation)
        return values + self.intercept if quantity.size == 0 else values

    def selected_pairs(
        self, X: Float, selection: NDArray[np.int64], *, game: Game, computation: Computation
    ) -> Float:
        terms = self.kernel.terms(self.n_features)
        if self._players is not None or not are_faster(self.points, terms):
            return super().selected_pairs(X, selection, game=game, computation=computation)
        weights = np.ascontiguousarray(self._columns_of_coefficients)
        expansion = _core.SparseExpansion(
            packed_rows(self.points), weights, [term.packed() for term in terms]
        )
        return check_finite(selected_pairs(expansion, X, selection, game, computation))

    def _neutral_values_of_bits(
        self, fingerprints: Fingerprints, X: Float, computation: Computation
    ) -> Float:
        """Return values by the closed form, and by the engine of rows of other numbers."""
        # The two methods take different rows, so a row's values do not depend on other rows.
        is_binary = are_bits(X)
        other_rows = np.ascontiguousarray(X[~is_binary])
        shares = (len(X) - len(other_rows) + 1e-3, len(other_rows) + 1e-3)
        closed_form_progress, engine_progress = parts_of(computation.progress, *shares)
        values = np.empty((len(X), self.n_players, self.n_outputs))
        values[is_binary] = fingerprints.neutral_values(X[is_binary], report=closed_form_progress)
        values[~is_binary] = self._packing.quantity(
            other_rows, NEUTRAL, SHAPLEY, computation.reporting(engine_progress)
        )
        return check_finite(values)

    def base(self, game: Game, computation: Computation) -> float | Float:
        """Return the value of the empty coalition.

        Returns
        -------
        float or ndarray of shape (outputs,)
            Neutral: intercept + Σ_i coefficients_i · Σ_t c_t over the terms t of the kernel, with
            factors of 1 and dot products of 0. Interventional: the mean of the function over the
            background. Marginal: intercept + Σ_i coefficients_i · Σ_t c_t times the product over
            players of their mean factors over the background, or over the points.

        Raises
        ------
        OverflowError
            If it is too large for a float.
        """
        is_neutral = game.value_function == "neutral"
        try:
            sums = self._neutral_sums() if is_neutral else self._mean_sums(game, computation)
        except OverflowError:
            sums = np.full(self.n_outputs, np.inf)
        with np.errstate(over="ignore"):
            return self._as_base(check_finite_base(sums + self.intercept))

    def _neutral_sums(self) -> Float:
        """Return Σ_i coefficients_i · Σ_t c_t of each output, summed exactly."""
        return neutral_sums(self.kernel.terms(self.n_features), self._columns_of_coefficients)

    def _mean_sums(self, game: Game, computation: Computation) -> Float:
        """Return the value of the empty coalition with a background, without the intercept."""
        if game.background is not None:
            self._allowed_values.check(game.background[0], "background")
        return self._packing.at(self._packing.of_game(game)).base(
            game=self._packing.engine_game(game).packed,
            n_threads=computation.n_threads,
            progress=computation.progress,
        )

    @property
    def is_additive(self) -> bool:
        """Whether each term of the kernel depends on one player, or is linear in a dot product."""
        for term in self.kernel.terms(self.n_features):
            columns = [factor.columns for factor in term.all_factors]
            if term.series is not None:
                if len(term.series.weights) <= 2 and not term.factors:
                    continue
                columns.append(term.series.columns)
            if columns and len(np.unique(self.players[np.concatenate(columns)])) > 1:
                return False
        return True

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        n_rows = 1 if game.background is None else len(game.background[1])
        if self.is_additive or (game.value_function == "interventional" and n_rows > 1):
            return super().shifted_squares(X, shifts, game, computation)
        squares = self._pair_squares(game, computation)
        if squares is None:
            return None
        squares_progress, linear_progress = parts_of(computation.progress, 9.0, 1.0)
        values = squares.values(X, computation.reporting(squares_progress))
        linear = self.explain(X, game=game, computation=computation.reporting(linear_progress))
        return check_finite(values + 2.0 * (shifts + self.intercept)[:, None] * linear)

    def _pair_squares(self, game: Game, computation: Computation) -> PairSquares | None:
        """Return the squares without the intercept; None if all coalitions are evaluated instead.

        Raises
        ------
        UnsupportedModelError
            If pairs of points are not exact, and there are too many players for all coalitions.
        """
        obstacle = "its kernel has dot products, which are not supported there"
        max_players = MAX_PLAYERS_OF_DIVIDENDS
        if not has_series(self.kernel.terms(self.n_features)):
            max_players = MAX_PLAYERS
            coefficients = self._columns_of_coefficients
            squares = PairSquares(self.points, coefficients, self.kernel, self.players, game)
            obstacle = squares.obstacle(*self._size_and_spread(game, computation))
            if not obstacle and squares.are_faster:
                return squares
        if self.n_players > max_players:
            raise unsupported_squares(obstacle, max_players)
        return None

    def _size_and_spread(self, game: Game, computation: Computation) -> tuple[Float, Float]:
        """Return the largest Σ_i |coefficients_i| · kernel at some points, and the range of f."""
        sample = self.points[evenly_spaced(len(self.points), _MEASURED)]
        rows = np.concatenate([self.probing_rows(), sample])
        coefficients = np.abs(self._columns_of_coefficients)
        positive = KernelSum(self.points, coefficients, self.kernel).grouped(self.players)
        sizes = np.abs(positive.evaluate(rows, n_threads=computation.n_threads)).max(axis=0)
        base = np.abs(positive.base(game, computation.reporting(None)))
        outputs = self.evaluate(rows, n_threads=computation.n_threads).reshape(
            len(rows), self.n_outputs
        )
        return np.maximum(sizes, base), np.ptp(outputs, axis=0)

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        if has_series(self.kernel.terms(self.n_features)):
            return super().coalition_outputs(row, game, members, computation)
        self._allowed_values.check(row[None], "X")
        engine_game = self._packing.engine_game(game).packed
        coalitions: NDArray[np.bool_] | NDArray[np.int64] | tuple[int, int]
        if isinstance(members, range):
            coalitions = members.start, members.stop
        elif isinstance(members, Orders):
            coalitions = members.permutations
        else:
            coalitions = np.ascontiguousarray(members)
        options: dict[str, Any] = {
            "summation": computation.summation,
            "n_threads": computation.n_threads,
        }

        def compute(expansion: _core.Expansion, rows: Float, report: Report | None) -> Float:
            return expansion.coalition_values(
                rows, engine_game, coalitions, progress=report, **options
            )

        sums: Float = self._packing.over(row[None], game, computation.progress, compute)[0]
        outputs: Float = sums.swapaxes(1, 2) + np.ravel(self.intercept)
        return outputs

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        return expansion_means(
            self.points,
            self._columns_of_coefficients,
            self.kernel.terms(self.n_features),
            np.ravel(self.intercept),
            (X, rows, landmarks),
        )

    def products(self, rows: NDArray[Any]) -> Products:
        self._allowed_values.check(rows, "inputs")
        points, weights = self.points, self._columns_of_coefficients
        terms = self._packing.terms_at(int(self._packing.reaches(rows).max(initial=0)))
        product_terms = [term for term in terms if term.series is None]
        parts: list[Products] = [
            products_of_series(points, weights, term, rows)
            for term in terms
            if term.series is not None
        ]
        if product_terms:
            parts.insert(0, TermsOfPoints(points, weights, product_terms))
        return JoinedProducts(parts, [part.weights for part in parts])

    def grouped(self, players: NDArray[np.int64]) -> KernelSum:
        function = super().grouped(players)
        function._packing = self._packing.grouped(function.players)
        return function

    def _select_outputs(self, outputs: list[int]) -> KernelSum:
        function = KernelSum(
            self.points,
            self.coefficients[:, outputs],
            self.kernel,
            np.asarray(self.intercept)[outputs],
            self.feature_names,
            self._column_labels,
        )
        return function if self._players is None else function.grouped(self._players)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: item for name, item in state.items() if name not in _NOT_SAVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_column_labels": None, **state})
        owned(self.points)
        owned(self.coefficients)
        self._allowed_values = AllowedValues.of(self.kernel.terms(self.n_features))
        self._prepare()

    def __repr__(self) -> str:
        kernel = repr(self.kernel)
        if len(kernel) > 60:
            kernel = f"{kernel[:57]}..."
        return f"KernelExpansion({self._sizes((len(self.points), 'point'))}, kernel={kernel})"


def check_kernel(kernel: Kernel) -> Kernel:
    """Return a kernel of pkex; raise a TypeError for other objects."""
    if not isinstance(kernel, Kernel):
        raise TypeError(
            "kernel must be a kernel of pkex.kernels, such as RBF(length_scale=1.0); "
            f"got {kernel!r} ({type(kernel).__name__}){namesake(kernel)}"
        )
    return kernel


def check_feature_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Return one name for each column; None if there are no names."""
    if names is not None and len(names) != n_features:
        raise ValueError(
            f"feature_names must have {n_features} names, one for each column; got {len(names)}"
        )
    return None if names is None else tuple(names)


def check_names_of(X: Any, names: tuple[str, ...] | None) -> None:
    """Raise InputError if the columns of a DataFrame have other names than an expansion."""
    if names is not None:
        column_names = Labels.comparable(X, "X").names or names
        check_column_names(column_names, names, "X", "the expansion")


def neutral_sums(terms: Iterable[Term], coefficients: Float) -> Float:
    """Return Σ_i coefficients_i · Σ_t c_t of each output, summed exactly.

    Parameters
    ----------
    terms : iterable of Term
        With values c_t when all columns are absent.
    coefficients : ndarray of shape (n, outputs)
    """
    amplitude = math.fsum(term.of_no_column for term in terms)
    with np.errstate(over="ignore"):
        return amplitude * np.array([math.fsum(column) for column in coefficients.T])


def check_finite_base(bases: Float) -> Float:
    """Return base values; raise an OverflowError if one is too large for a float."""
    if not np.isfinite(bases).all():
        raise OverflowError(
            "the base value, the value of the empty coalition, is too large for a float; "
            "scale the coefficients down"
        )
    return bases
