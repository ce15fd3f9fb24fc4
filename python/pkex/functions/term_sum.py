"""Sums of functions of few columns, such as additive models with interactions.

The game of a term depends only on the k columns of the term, so it has 2^k coalitions for any
number of other columns (STAR-SHAP: Dubé and Marchand 2025, Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function, check_constant, check_finite
from pkex.functions.column_functions import (
    ColumnFunction,
    Monomial,
    TermArgument,
    as_column_functions,
    integer_power,
    labeled_matrix,
)
from pkex.functions.products import Products
from pkex.functions.term_products import TermProducts, products_of_term
from pkex.games.background import combine_rows
from pkex.games.coalitions import all_coalitions, coalitions, ranks
from pkex.games.indices import SHAPLEY, Quantity, quantity_from_values
from pkex.games.means import added
from pkex.games.player_limits import GROUP_COLUMNS, estimate_by
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.choices import as_names
from pkex.tables.read import as_matrix
from pkex.typing import Float

# The largest number of players of one term, all of whose coalitions are evaluated.
_MAX_PLAYERS = 14
# Values of coalitions held in memory at a time.
_MAX_NUMBERS = 1 << 22
# Rows that a term is evaluated at together.
_MIXED = 1 << 16


class TermSum(Function):
    """The function f(x) = intercept + Σ_I f_I(x_I), a sum of functions of few columns.

    Parameters
    ----------
    terms, intercept, feature_names
        As in `TermExpansion`, its public description.
    """

    __slots__ = ("_chosen", "_probing_rows", "_terms", "feature_names", "intercept")

    def __init__(
        self,
        terms: Iterable[TermArgument],
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        names = None if feature_names is None else as_names("feature_names", feature_names)
        self._terms = as_column_functions(terms, names)
        columns = [column for term in self._terms for column in term.columns]
        n_features = max(columns, default=-1) + 1 if names is None else len(names)
        if not n_features:
            raise ValueError("terms must have a column, unless feature_names are given")
        self.feature_names = names
        if np.ndim(intercept) > 1 or np.size(intercept) == 0:
            raise ValueError(
                "intercept must be a number, or an array of one for each output; got shape "
                f"{np.shape(intercept)}"
            )
        self.intercept = check_constant(intercept, np.shape(intercept))
        self._set_shape(n_features, np.shape(intercept))
        # The numbers of the selected outputs; None without an output axis.
        self._chosen = list(range(np.size(intercept))) if np.ndim(intercept) else None
        for term in self._terms:
            term.check_outputs(None if self._chosen is None else len(self._chosen))
        # It is not known where the terms vary.
        self._probing_rows = np.zeros((1, n_features))

    @property
    def keeps_points(self) -> bool:
        return False

    @property
    def is_additive(self) -> bool:
        players = (self.players[list(term.columns)] for term in self._terms)
        return all(len(np.unique(column_players)) <= 1 for column_players in players)

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = labeled_matrix(X, self.n_features, self.feature_names, "the terms")
        total = np.zeros((len(rows), self.n_outputs)) + self._constants
        for term in self._terms:
            total += self._evaluate_rows(term, rows)
        return check_finite(self._as_output(total))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        count = comb(self.n_players, quantity.size)
        values = np.zeros((len(X), count, self.n_outputs))
        if quantity.size == 0:
            values += self._constants
        terms_by_players = self._group_terms()
        for number, (players, terms) in enumerate(terms_by_players.items()):
            if len(players) >= quantity.size:
                places = self._places(players, quantity.size)
                step = _MAX_NUMBERS // (2 ** len(players) * self.n_outputs)
                for rows in blocks_of(len(X), step):
                    coalition_values = self._coalition_values(terms[0], X[rows], game)
                    for term in terms[1:]:
                        coalition_values += self._coalition_values(term, X[rows], game)
                    values[rows, places] += quantity_from_values(coalition_values, quantity)
            computation.report(number + 1, len(terms_by_players))
        return check_finite(values)

    def base(self, game: Game, computation: Computation) -> float | Float:
        total = self._constants.copy()
        for term in self._terms:
            entries, weights = self._background(term, game)
            total += _mean(self._evaluate_entries(term, entries), weights)
        return self._as_base(check_finite(total[None])[0])

    def products(self, rows: NDArray[Any]) -> Products:
        n_outputs = None if self._chosen is None else np.size(self.intercept)
        selection = self._chosen or [0]
        products = [products_of_term(term, n_outputs, selection) for term in self._terms]
        return TermProducts(chain.from_iterable(products), self.n_outputs)

    def _select_outputs(self, outputs: list[int]) -> TermSum:
        assert self._chosen is not None, "there is an output axis"
        function = self._copy()
        function._chosen = [self._chosen[output] for output in outputs]
        return function

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the sum of the absolute values of the terms and the intercept."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        sizes = np.zeros((len(rows), self.n_outputs)) + np.abs(self._constants)
        for term in self._terms:
            sizes += np.abs(self._evaluate_rows(term, rows))
        return self._as_output(sizes)

    def probing_rows(self) -> Float:
        """Return the rows of `with_probing_rows`, or a row of zeros by default."""
        return self._probing_rows

    def with_probing_rows(self, rows: Float) -> TermSum:
        """Return the same function with rows for its comparison with a model, shape (n, d)."""
        function = self._copy()
        function._probing_rows = rows
        return function

    @property
    def _constants(self) -> Float:
        """The intercept of each output, shape (outputs,)."""
        constants = np.atleast_1d(self.intercept)
        return constants if self._chosen is None else constants[self._chosen]

    def _evaluate_rows(self, term: ColumnFunction, rows: Float) -> Float:
        """Return a term at rows, shape (n, outputs)."""
        return self._evaluate_entries(term, rows[:, list(term.columns)])

    def _evaluate_entries(self, term: ColumnFunction, entries: Float) -> Float:
        """Return a term of rows of its own columns only, shape (n, outputs)."""
        if self._chosen is None:
            return term(entries, None)[:, None]
        return term(entries, np.size(self.intercept))[:, self._chosen]

    def _group_terms(self) -> dict[tuple[int, ...], list[ColumnFunction]]:
        """Return the terms by the players of their columns, ascending."""
        terms_by_players: dict[tuple[int, ...], list[ColumnFunction]] = {}
        for term in self._terms:
            players = np.unique(self.players[list(term.columns)])
            if len(players) > _MAX_PLAYERS:
                example = "explainer.estimate(X, n_coalitions=1000, random_state=0)"
                raise InputError(
                    None,
                    f"{term.name} has {len(players)} features, and exact values require all 2^"
                    f"{len(players)} coalitions of these; pkex supports up to {_MAX_PLAYERS} "
                    "features in a term",
                    [estimate_by(example), GROUP_COLUMNS],
                )
            terms_by_players.setdefault(tuple(players.tolist()), []).append(term)
        return terms_by_players

    def _places(self, players: tuple[int, ...], size: int) -> NDArray[np.int64]:
        """Return the ranks of a term's coalitions among all of their size."""
        members = np.array(players)[coalitions(len(players), size)]
        return ranks(members, self.n_players)

    def _background(self, term: ColumnFunction, game: Game) -> tuple[Float, Float]:
        """Return background values of a term's columns, shape (m, k), and their weights."""
        if game.background is None:
            raise InputError(
                Option("value_function", game.value_function),
                "requires the factors or the points of a kernel, and a sum of functions of columns "
                "has none",
                (
                    "pass ",
                    Option("background", "FILE", python="background=Z"),
                    ", such as (a sample of) the training data",
                ),
            )
        rows, weights = game.background
        columns = list(term.columns)
        players = np.unique(self.players[columns], return_inverse=True)[1]
        if not game.is_marginal or players.max() == 0:
            return rows[:, columns], weights
        n_players = int(players.max()) + 1
        if len(rows) ** n_players > _MIXED:
            raise InputError(
                Option("value_function", "marginal"),
                f"draws each of the {n_players} features of {term.name} independently, from "
                f"{len(rows)}^{n_players} combinations; up to {_MIXED} are supported",
                [
                    "pass fewer background rows",
                    (
                        "pass ",
                        Option("value_function", "interventional"),
                        " (the default with a background)",
                    ),
                ],
            )
        return combine_rows(rows[:, columns], weights, players)

    def _coalition_values(self, term: ColumnFunction, X: Float, game: Game) -> Float:
        """Return the values of the coalitions of a term's players, shape (n, 2^k, outputs)."""
        background, weights = self._background(term, game)
        columns = list(term.columns)
        present = all_coalitions(np.unique(self.players[columns], return_inverse=True)[1])
        entries = X[:, columns]
        if isinstance(term.function, Monomial):
            products = _values_of_product(term.function, entries, background, weights, present)
            coefficients = np.atleast_1d(term.function.coefficient)
            if self._chosen is not None:
                coefficients = coefficients[self._chosen]
            return np.asarray(np.multiply.outer(products, coefficients))
        values = np.zeros((len(X), len(present), self.n_outputs))
        # The empty coalition depends on no explained row, the full one on no background row.
        values[:, 0] = _mean(self._evaluate_entries(term, background), weights)
        values[:, -1] = self._evaluate_entries(term, entries)
        if len(present) == 2:
            return values
        proper_coalitions = present[1:-1]
        step = max(1, _MIXED // len(proper_coalitions))
        for block in blocks_of(len(background), step):
            background_rows = background[block, None, None]
            for rows in blocks_of(len(X), step // len(background_rows)):
                combinations = np.where(proper_coalitions, entries[rows, None], background_rows)
                outputs = self._evaluate_entries(term, combinations.reshape(-1, len(columns)))
                outputs = outputs.reshape(*combinations.shape[:3], self.n_outputs)
                values[rows, 1:-1] += _mean(outputs, weights[block])
        return values

    def __repr__(self) -> str:
        return f"TermExpansion({self._sizes((len(self._terms), 'term'))})"


def _mean(values: Float, weights: Float) -> Float:
    """Return Σ_l weights_l values_l, summed in an order that depends only on their number."""
    return added(values * weights.reshape(-1, *[1] * (values.ndim - 1)))


def _values_of_product(
    monomial: Monomial,
    entries: Float,
    background: Float,
    weights: Float,
    present: NDArray[np.bool_],
) -> Float:
    """Return the values of coalitions for a product without its coefficient, shape (n, 2^k).

    v(S) is ∏_{j∈S} x_j^p_j times the mean of ∏_{j∉S} z_j^p_j, so rows are not combined with
    background rows.
    """
    absent = np.zeros(len(present))
    for block in blocks_of(len(background), _MIXED // len(present)):
        absent += _mean(_powers(monomial, background[block], ~present), weights[block])
    return _powers(monomial, entries, present) * absent


def _powers(monomial: Monomial, rows: Float, members: NDArray[np.bool_]) -> Float:
    """Return the products of powers of the members' values, shape (n, 2^k)."""
    products = np.ones((len(rows), len(members)))
    with np.errstate(over="ignore", invalid="ignore"):  # callers check their results
        for column, power, is_in in zip(rows.T, monomial.powers, members.T, strict=True):
            products[:, is_in] *= integer_power(column, power)[:, None]
    return products
