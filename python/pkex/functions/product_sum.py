"""Sums of products of functions of single columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members, check_constant, check_finite
from pkex.functions.column_functions import (
    ColumnFunction,
    ProductArgument,
    as_products,
    labeled_matrix,
)
from pkex.functions.probing import irregular_numbers
from pkex.functions.products import Products
from pkex.functions.term_products import TermProducts, function_of_column
from pkex.games.factor_games import FactorGames, add_quantities, product_of
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.inputs.choices import as_names
from pkex.tables.read import as_vector_or_matrix
from pkex.typing import Float

# Factors held in memory at a time.
_MAX_NUMBERS = 1 << 20


class ProductSum(Function):
    """The function f(x) = intercept + Σ_k coefficients_k ∏_j g_kj(x_j).

    Parameters
    ----------
    factors, coefficients, intercept, feature_names
        As in `ProductExpansion`, its public description.
    """

    __slots__ = ("_factors", "_probing_rows", "coefficients", "feature_names", "intercept")

    def __init__(
        self,
        factors: Iterable[ProductArgument],
        coefficients: ArrayLike,
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        names = None if feature_names is None else as_names("feature_names", feature_names)
        self._factors = as_products(factors, names)
        columns = [column for product in self._factors for column in product]
        n_features = max(columns, default=-1) + 1 if names is None else len(names)
        if not n_features:
            raise ValueError("factors must have a column, unless feature_names are given")
        self.feature_names = names
        self.coefficients = read_only(
            as_vector_or_matrix(
                coefficients, "coefficients", n_rows=len(self._factors), rows_of="factors"
            )
        )
        outputs = self.coefficients.shape[1:]
        self.intercept = check_constant(intercept, outputs)
        self._set_shape(n_features, outputs)
        # Positive values near 1, where most functions are defined.
        self._probing_rows = 1.0 + 0.5 * irregular_numbers(3, n_features)

    @property
    def keeps_points(self) -> bool:
        return False

    @property
    def is_additive(self) -> bool:
        players = (self.players[list(product)] for product in self._factors)
        return all(len(np.unique(column_players)) <= 1 for column_players in players)

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = labeled_matrix(X, self.n_features, self.feature_names, "the factors")
        total = np.zeros((len(rows), self.n_outputs)) + self._constants
        with np.errstate(over="ignore", invalid="ignore"):
            for weights, product in zip(self._weights, self._products(rows), strict=True):
                total += np.multiply.outer(product, weights)
        return check_finite(self._as_output(total))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        values = np.zeros((len(X), comb(self.n_players, quantity.size), self.n_outputs))
        if quantity.size == 0:
            values += self._constants
        n_blocks = 1
        if game.background is not None and not game.is_marginal:
            n_blocks = len(self._row_blocks(len(game.background[0])))
        for number, (absent, weights) in enumerate(self._absent_factors(game)):
            games = self._games(X, absent, weights)
            add_quantities(values, games, quantity, computation.part(number, n_blocks))
        return check_finite(values)

    def base(self, game: Game, computation: Computation) -> float | Float:
        total = self._constants.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            for absent, weights in self._absent_factors(game):
                total += added(product_of(absent)[:, None] * weights)
        return self._as_base(check_finite(total[None])[0])

    def products(self, rows: NDArray[Any]) -> Products:
        products = [
            (weights, {column: function_of_column(factor) for column, factor in product.items()})
            for weights, product in zip(self._weights, self._factors, strict=True)
        ]
        return TermProducts(products, self.n_outputs)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the sum of the absolute values of the products and the intercept."""
        rows = labeled_matrix(X, self.n_features, self.feature_names, "the factors")
        sizes = np.zeros((len(rows), self.n_outputs)) + np.abs(self._constants)
        for weights, product in zip(self._weights, self._products(rows), strict=True):
            sizes += np.abs(np.multiply.outer(product, weights))
        return self._as_output(sizes)

    def probing_rows(self) -> Float:
        """Return the rows of `with_probing_rows`, or rows of values near 1 by default."""
        rows: Float = self._probing_rows
        return rows

    def with_probing_rows(self, rows: Float) -> ProductSum:
        """Return the same function with rows for its comparison with a model, shape (n, d)."""
        function = self._copy()
        function._probing_rows = rows
        return function

    def _values_of_coalitions(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        (present,) = self._player_factors(row[None])
        ((absent, weights),) = self._absent_factors(game)
        is_in = self._members(members)
        values = np.zeros((len(is_in), self.n_outputs)) + self._constants
        with np.errstate(over="ignore", invalid="ignore"):
            for product_weights, present_factors, absent_factors in zip(
                weights, present, absent, strict=True
            ):
                products = product_of(np.where(is_in, present_factors, absent_factors))
                values += np.multiply.outer(products, product_weights)
        return check_finite(values)

    def _select_outputs(self, outputs: list[int]) -> ProductSum:
        function = self._copy()
        function.coefficients = read_only(self.coefficients[:, outputs])
        function.intercept = read_only(np.asarray(self.intercept)[outputs])
        return function

    @property
    def _weights(self) -> Float:
        """The coefficients, shape (products, outputs)."""
        return self.coefficients.reshape(len(self._factors), self.n_outputs)

    @property
    def _constants(self) -> Float:
        """The intercept of each output, shape (outputs,)."""
        return np.atleast_1d(self.intercept)

    def _products(self, rows: Float) -> Iterator[Float]:
        """Yield each product at rows, shape (n,)."""
        values = _Values(rows)
        for factors in self._factors:
            yield product_of(np.stack([values.of(*item) for item in factors.items()], axis=1))

    def _player_factors(self, rows: Float) -> Float:
        """Return the factors of players at rows, shape (n, products, players)."""
        factors = np.ones((len(rows), len(self._factors), self.n_players))
        players, values = self.players, _Values(rows)
        with np.errstate(over="ignore", invalid="ignore"):  # callers check their results
            for number, product in enumerate(self._factors):
                for column, factor in product.items():
                    factors[:, number, players[column]] *= values.of(column, factor)
        return factors

    def _games(self, X: Float, absent: Float, weights: Float) -> Iterator[FactorGames]:
        """Yield the game of each row, given absent factors of all products for some rows."""
        n_repeats = len(absent) // max(1, len(self._factors))
        for block in self._row_blocks(len(X)):
            for factors in self._player_factors(X[block]):
                present = np.tile(factors, (n_repeats, 1))
                with np.errstate(over="ignore", invalid="ignore"):
                    difference = present - absent
                yield FactorGames(present, absent, difference, weights)

    def _row_blocks(self, n_rows: int) -> list[slice]:
        """Return slices of rows whose factors are held in memory together."""
        return blocks_of(n_rows, _MAX_NUMBERS // max(1, len(self._factors) * self.n_players))

    def _absent_factors(self, game: Game) -> Iterator[tuple[Float, Float]]:
        """Yield absent factors of all products, (evaluations, players), and weights, in blocks."""
        if game.background is None:
            yield np.ones((len(self._factors), self.n_players)), self._weights
            return
        rows, shares = game.background
        if game.is_marginal:
            sums = [
                added(self._player_factors(rows[block]) * shares[block, None, None])
                for block in self._row_blocks(len(rows))
            ]
            yield added(np.stack(sums)), self._weights
            return
        for block in self._row_blocks(len(rows)):
            weights = np.multiply.outer(shares[block], self._weights)
            factors = self._player_factors(rows[block]).reshape(-1, self.n_players)
            yield factors, weights.reshape(-1, self.n_outputs)

    def __repr__(self) -> str:
        return f"ProductExpansion({self._sizes((len(self._factors), 'product'))})"


class _Values:
    """Values of factors at rows; products may share factors, which are evaluated once."""

    def __init__(self, rows: Float) -> None:
        self._rows = rows
        self._cache: dict[tuple[int, int], Float] = {}

    def of(self, column: int, factor: ColumnFunction) -> Float:
        """Return the values of a factor of a column, shape (n,)."""
        key = column, id(factor.function)
        if key not in self._cache:
            self._cache[key] = factor(self._rows[:, [column]], None)
        return self._cache[key]
