"""Sums of functions of few columns, such as additive models with interactions.

Each term is a game of its own columns alone, which 2^k coalitions tell of, however many other
columns there are (STAR-SHAP: Dubé and Marchand 2025, Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option
from pkex.execution.computation import Computation
from pkex.functions.advice import JOINED_COLUMNS, estimated_by
from pkex.functions.base import Function, finite
from pkex.functions.column_functions import (
    ColumnFunction,
    GivenTerm,
    Monomial,
    as_column_functions,
    integer_power,
)
from pkex.functions.products import Products, products
from pkex.functions.term_products import TermProducts, products_of_term
from pkex.functions.weighted import checked_intercept
from pkex.games.coalitions import coalitions, ranks
from pkex.games.combinations import combined
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import members_of, quantity_of
from pkex.inputs.choices import as_names
from pkex.inputs.wording import counted
from pkex.tables.labels import Labels, check_column_names
from pkex.tables.read import as_matrix
from pkex.typing import Float

__all__ = ["TermSum"]

# Columns, or groups of them, of one term: it is looked at in all their coalitions.
_MOST_PLAYERS = 14
# Worths of coalitions of rows that are there at a time.
_MOST_WORTHS = 1 << 22
# Rows that a term is evaluated at together.
_MIXED = 1 << 16


class TermSum(Function):
    """The function f(x) = intercept + Σ_I f_I(x_I), a sum of functions of few columns.

    Parameters
    ----------
    terms, intercept, feature_names
        As of `TermExpansion`, its public description.
    """

    __slots__ = (
        "_chosen",
        "_feature_names",
        "_intercept",
        "_n_features",
        "_players",
        "_probes",
        "_terms",
    )

    def __init__(
        self,
        terms: Iterable[GivenTerm],
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        names = None if feature_names is None else as_names("feature_names", feature_names)
        self._terms = as_column_functions(terms, names)
        used = [column for term in self._terms for column in term.columns]
        self._n_features = max(used, default=-1) + 1 if names is None else len(names)
        if not self._n_features:
            raise ValueError("terms must name a column, or feature_names say which there are")
        self._feature_names = names
        if np.ndim(intercept) > 1 or np.size(intercept) == 0:
            raise ValueError(
                "intercept must be a number, or an array of one for each output; got shape "
                f"{np.shape(intercept)}"
            )
        self._intercept = checked_intercept(intercept, np.shape(intercept))
        self._chosen = list(range(np.size(intercept))) if np.ndim(intercept) else None
        for term in self._terms:
            term.check_outputs(None if self._chosen is None else len(self._chosen))
        self._players = np.arange(self._n_features)
        # Of where the terms vary nothing is known.
        self._probes = np.zeros((1, self._n_features))

    @property
    def n_features(self) -> int:
        return self._n_features

    @property
    def intercept(self) -> float | Float:
        """The constant of all outputs that terms have."""
        return self._intercept

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, which those of a DataFrame must be; None if not known."""
        return self._feature_names

    @property
    def n_players(self) -> int:
        return int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        return self._players

    @property
    def n_outputs(self) -> int:
        return 1 if self._chosen is None else len(self._chosen)

    @property
    def has_output_axis(self) -> bool:
        return self._chosen is not None

    @property
    def keeps_points(self) -> bool:
        return False

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        if self._feature_names is not None:
            found = Labels.comparable(X, "X").names or self._feature_names
            check_column_names(found, self._feature_names, "X", "the terms")
        rows = as_matrix(X, "X", n_columns=self.n_features)
        total = np.zeros((len(rows), self.n_outputs)) + self._constants
        for term in self._terms:
            total += self._at(term, rows)
        return finite(total if self.has_output_axis else total[:, 0])

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        count = comb(self.n_players, quantity.size)
        values = np.zeros((len(X), count, self.n_outputs))
        if quantity.size == 0:
            values += self._constants
        together = self._by_players()
        for number, (players, terms) in enumerate(together.items()):
            if len(players) >= quantity.size:
                places = self._places(players, quantity.size)
                step = max(1, _MOST_WORTHS // (2 ** len(players) * self.n_outputs))
                for start in range(0, len(X), step):
                    rows = slice(start, start + step)
                    values[rows, places] += self._quantities(terms, X[rows], game, quantity)
            if how.progress is not None:
                how.progress(number + 1, len(together))
        return finite(values)

    def _quantities(
        self, terms: Sequence[ColumnFunction], X: Float, game: Game, quantity: Quantity
    ) -> Float:
        """Return a quantity of terms of the same players, shape (n, coalitions, outputs)."""
        first, *others = terms
        worths = self._worths(first, X, game)
        for term in others:
            worths += self._worths(term, X, game)
        of_outputs = [quantity_of(worths[..., o], quantity) for o in range(self.n_outputs)]
        return np.stack(of_outputs, axis=-1)

    def base(self, game: Game, how: Computation) -> float | Float:
        total = self._constants.copy()
        for term in self._terms:
            entries, weights = self._background(term, game)
            total += _mean(self._of_entries(term, entries), weights)
        bases: Float = finite(total[None])[0]
        return bases if self.has_output_axis else float(bases[0])

    def grouped(self, players: NDArray[np.int64]) -> TermSum:
        merged = self._copied()
        merged._players = players[self._players]
        return merged

    def select(self, outputs: Sequence[int]) -> TermSum:
        if self._chosen is None:
            raise ValueError("the expansion has a single output and no output axis to select from")
        selected = self._copied()
        selected._chosen = [self._chosen[output] for output in outputs]
        return selected

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the sum of the sizes of the terms and the intercept."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        sizes = np.zeros((len(rows), self.n_outputs)) + np.abs(self._constants)
        for term in self._terms:
            sizes += np.abs(self._at(term, rows))
        return sizes if self.has_output_axis else sizes[:, 0]

    def probing_rows(self) -> Float:
        """Return a row of zeros, unless others were given: see `probed_at`."""
        return self._probes

    def probed_at(self, rows: Float) -> TermSum:
        """Return the same function, which is compared with a model's own at other rows.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        """
        copied = self._copied()
        copied._probes = rows
        return copied

    @property
    def _constants(self) -> Float:
        """The intercept of each output, shape (outputs,)."""
        constants = np.atleast_1d(self._intercept)
        return constants if self._chosen is None else constants[self._chosen]

    def _at(self, term: ColumnFunction, rows: Float) -> Float:
        """Return a term at rows, shape (n, outputs)."""
        return self._of_entries(term, rows[:, list(term.columns)])

    def _of_entries(self, term: ColumnFunction, entries: Float) -> Float:
        """Return a term of rows of its own columns, shape (n, outputs)."""
        if self._chosen is None:
            return term(entries, None)[:, None]
        return term(entries, np.size(self._intercept))[:, self._chosen]

    def _by_players(self) -> dict[tuple[int, ...], list[ColumnFunction]]:
        """Return the terms by the players that their columns belong to, ascending."""
        found: dict[tuple[int, ...], list[ColumnFunction]] = {}
        for term in self._terms:
            players = np.unique(self._players[list(term.columns)])
            if len(players) > _MOST_PLAYERS:
                drawn = "explainer.estimate(X, n_coalitions=1000, random_state=0)"
                raise InputError(
                    None,
                    f"{term.name} has {len(players)} features, and is evaluated in all 2^"
                    f"{len(players)} coalitions of them: pkex goes up to {_MOST_PLAYERS} features",
                    [estimated_by(drawn), JOINED_COLUMNS],
                )
            found.setdefault(tuple(players.tolist()), []).append(term)
        return found

    def _places(self, players: tuple[int, ...], size: int) -> NDArray[np.int64]:
        """Return the numbers of a term's coalitions among all of their size."""
        members = np.array(players)[coalitions(len(players), size)]
        return ranks(members, self.n_players)

    def _background(self, term: ColumnFunction, game: Game) -> tuple[Float, Float]:
        """Return what a term's absent columns are drawn from, shape (m, k), and its weights."""
        if game.background is None:
            raise InputError(
                Option("value_function", game.value_function),
                "needs factors of a kernel, or its points, and a sum of functions of columns has "
                "none",
                (
                    "give ",
                    Option("background", "FILE", python="background=Z"),
                    ", such as (a sample of) the training data",
                ),
            )
        rows, weights = game.background
        columns = list(term.columns)
        players = np.unique(self._players[columns], return_inverse=True)[1]
        if not game.is_marginal or players.max() == 0:
            return rows[:, columns], weights
        n_players = int(players.max()) + 1
        if len(rows) ** n_players > _MIXED:
            raise InputError(
                Option("value_function", "marginal"),
                f"draws each of the {n_players} features of {term.name} independently, of "
                f"{len(rows)}^{n_players} rows: up to {_MIXED} are taken",
                [
                    "take fewer rows as the background",
                    (
                        "take ",
                        Option("value_function", "interventional"),
                        " (the default with a background)",
                    ),
                ],
            )
        return combined(rows[:, columns], weights, players)

    def _worths(self, term: ColumnFunction, X: Float, game: Game) -> Float:
        """Return what coalitions of a term's players are worth, shape (n, 2^k, outputs)."""
        others, weights = self._background(term, game)
        columns = list(term.columns)
        present = members_of(np.unique(self._players[columns], return_inverse=True)[1])
        own = X[:, columns]
        if isinstance(term.function, Monomial):
            found = _worths_of_product(term.function, own, others, weights, present)
            return np.multiply.outer(found, self._coefficients_of(term.function))
        worths = np.zeros((len(X), len(present), self.n_outputs))
        # The empty coalition's worth is of no row, and that of all is of no background row.
        worths[:, 0] = _mean(self._of_entries(term, others), weights)
        worths[:, -1] = self._of_entries(term, own)
        if len(present) == 2:
            return worths
        some_present = present[1:-1]
        step = max(1, _MIXED // len(some_present))
        for start in range(0, len(others), step):
            drawn = others[start : start + step, None, None]
            together = max(1, step // len(drawn))
            for first in range(0, len(X), together):
                rows = slice(first, first + together)
                mixed = np.where(some_present, own[rows, None], drawn)
                values = self._of_entries(term, mixed.reshape(-1, len(columns)))
                shaped = values.reshape(*mixed.shape[:3], self.n_outputs)
                worths[rows, 1:-1] += _mean(shaped, weights[start : start + step])
        return worths

    def _coefficients_of(self, function: Monomial) -> Float:
        """Return the factors of the outputs of a product."""
        coefficients = np.atleast_1d(function.coefficient)
        return coefficients if self._chosen is None else coefficients[self._chosen]

    def _copied(self) -> TermSum:
        copied = TermSum.__new__(TermSum)
        copied.__setstate__(self.__getstate__())
        return copied

    # pickle finds the state of slots by itself, skops and pickle's first protocols do not.
    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in TermSum.__slots__}

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        parts = [counted(len(self._terms), "term"), counted(self.n_features, "feature")]
        if self.has_output_axis:
            parts.append(counted(self.n_outputs, "output"))
        return f"TermExpansion({', '.join(parts)})"


def _mean(values: Float, weights: Float) -> Float:
    """Return Σ_l weights_l values_l, in an order that depends on the number of these alone."""
    return added(values * weights.reshape(-1, *[1] * (values.ndim - 1)))


def _worths_of_product(
    monomial: Monomial,
    own: Float,
    others: Float,
    weights: Float,
    present: NDArray[np.bool_],
) -> Float:
    """Return the worths of a product without its coefficient, shape (n, 2^k).

    That of S is ∏_{j∈S} x_j^p_j times the mean of ∏_{j∉S} z_j^p_j, so that no row meets another.
    """
    absent = np.zeros(len(present))
    step = max(1, _MIXED // len(present))
    for start in range(0, len(others), step):
        some = slice(start, start + step)
        absent += _mean(_powers(monomial, others[some], ~present), weights[some])
    return _powers(monomial, own, present) * absent


def _powers(monomial: Monomial, rows: Float, members: NDArray[np.bool_]) -> Float:
    """Return the products of powers of members' entries, shape (n, 2^k)."""
    found = np.ones((len(rows), len(members)))
    with np.errstate(over="ignore", invalid="ignore"):  # whatever is made of it is checked
        for column, power, is_in in zip(rows.T, monomial.powers, members.T, strict=True):
            found[:, is_in] *= integer_power(column, power)[:, None]
    return found


@products.register
def _(function: TermSum, rows: NDArray[Any]) -> Products:
    n_outputs = None if function._chosen is None else np.size(function._intercept)
    chosen = function._chosen or [0]
    found = [products_of_term(term, n_outputs, chosen) for term in function._terms]
    return TermProducts(chain.from_iterable(found), function.n_outputs)
