"""The exponential of a function, such as the mean of a model with a log link.

The exponential of a sum of functions of single features is a product over features. If D_j(x) is
the value of feature j in the sum f, and f_0 the base value,

    exp(f(x)) = exp(f_0) ∏_j exp(D_j(x)).

So the game against a background row z is a product game with present factors exp(D_j(x)) and absent
factors exp(D_j(z)). Both are divided by the larger one, by which the weight is multiplied. So no
factor overflows, and the weight is the largest value of a coalition: numbers that underflow are
negligible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import UnsupportedModelError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.linear import LinearFunction
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.functions.products import Products, Width
from pkex.games.factor_games import FactorGames, add_quantities
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added
from pkex.games.value_functions import NEUTRAL, Game, game_of_points
from pkex.typing import Float

# Factors held in memory at a time.
_MAX_NUMBERS = 1 << 20


class Exponential(Linked):
    """The function exp(f(x)) of a function f with a single output.

    If f is a sum of functions of single features, its games are product games, for any number of
    features. Otherwise all coalitions are evaluated, for up to 20 features.

    Parameters
    ----------
    function : Function
        Without an output axis.

    Examples
    --------
    >>> from pkex.functions.linear import LinearFunction
    >>> Exponential(LinearFunction([1.0, 2.0])).predict([[2.0, -1.0]])
    array([1.])
    """

    __slots__ = ()

    def __init__(self, function: Function) -> None:
        if function.has_output_axis:
            raise ValueError("a function with an output axis has no single exponential")
        super().__init__([function], LinkedOutputs(_exponential, 1, has_axis=False))

    @property
    def logarithm(self) -> Function:
        return self.parts[0]

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        if not self.logarithm.is_additive:
            return super().explain(X, game=game, quantity=quantity, computation=computation)
        values = np.zeros((X.shape[0], comb(self.n_players, quantity.size), 1))
        silent_computation = computation.reporting(None)
        constant = np.asarray(self.logarithm.base(self._with_points(game), silent_computation))
        absent, weights = self._absent_logarithms(game, silent_computation)
        present = self.logarithm.explain(
            X, game=self._with_points(game), computation=silent_computation
        )[..., 0]
        blocks = blocks_of(len(absent), _MAX_NUMBERS // max(1, self.n_players))
        for block, part_computation in computation.over(blocks):
            games = _games(present, absent[block], weights[block], constant)
            add_quantities(values, games, quantity, part_computation)
        return values

    def base(self, game: Game, computation: Computation) -> float | Float:
        if not self.logarithm.is_additive:
            return super().base(game, computation)
        constant = np.asarray(self.logarithm.base(self._with_points(game), computation))
        absent, weights = self._absent_logarithms(game, computation)
        base = float(added(weights * _exponential(constant + added(absent.T))))
        if not np.isfinite(base):
            raise OverflowError(
                "the base value, the value of the empty coalition, is too large for a float; the "
                "function is an exponential. Explain its logarithm, or rows nearer to the "
                "training data"
            )
        return base

    def _absent_logarithms(self, game: Game, computation: Computation) -> tuple[Float, Float]:
        """Return the logarithms of absent factors, shape (evaluations, players), and weights."""
        game, log = self._with_points(game), self.logarithm
        if game.background is None:
            return np.zeros((1, self.n_players)), np.ones(1)
        rows, weights = game.background
        deviations = log.explain(rows, game=game, computation=computation)[..., 0]
        if not game.is_marginal:
            return deviations, weights
        with np.errstate(over="ignore"):
            excess = added(np.expm1(deviations) * weights[:, None])
        return np.log1p(excess)[None], np.ones(1)

    def _with_points(self, game: Game) -> Game:
        """Return the game with the stored points as background, if it draws from these."""
        if not game.is_of_points:
            return game
        return replace(game_of_points(self.stored_points()), value_function="marginal")

    def products(self, rows: NDArray[Any]) -> Products:
        if not self.logarithm.is_additive:
            raise UnsupportedModelError(
                "the exponential of a function whose columns interact is not a sum of products "
                "over columns, which sensitivity requires. Describe the function itself, such as "
                "a pkex.KernelExpansion, and pass that: it is the logarithm of the prediction"
            )
        return _ExponentialProducts(self.logarithm, rows)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of its errors: errors of f are relative errors of its exponential."""
        sizes = self.logarithm.magnitude(X, n_threads=n_threads)
        scales: Float = self.evaluate(X, n_threads=n_threads) * (1.0 + sizes)
        return scales

    def probing_rows(self) -> Float:
        log = self.logarithm
        return log.moderate_rows() if isinstance(log, LinearFunction) else super().probing_rows()

    def __repr__(self) -> str:
        return f"Exponential({self.logarithm!r})"


def _exponential(values: Float) -> Float:
    with np.errstate(over="ignore"):  # callers check their results
        exponentials: Float = np.exp(values)
    return exponentials


def _games(present: Float, absent: Float, weights: Float, constant: Float) -> Iterator[FactorGames]:
    """Yield the game of each row, given logarithms of factors and of a constant."""
    exponents = constant + added(absent.T)
    for row in present:
        ratios = row - absent
        is_larger, sizes = ratios > 0.0, np.abs(ratios)
        shares = np.exp(-sizes)
        yield FactorGames(
            np.where(is_larger, 1.0, shares),
            np.where(is_larger, shares, 1.0),
            np.copysign(np.expm1(-sizes), ratios),
            (weights * _exponential(exponents + np.maximum(ratios, 0.0).sum(axis=1)))[:, None],
        )


class _ExponentialProducts(Products):
    """The exponential of a sum of functions of columns, relative to its value at the first row."""

    def __init__(self, function: Function, rows: NDArray[Any]) -> None:
        self._function, self._row, self._sum = function, rows[:1], function.products(rows)
        self._level = function.evaluate(self._row, n_threads=1)[0]
        super().__init__(np.exp([[self._level]]))

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        rows = np.repeat(self._row, len(entries), axis=0)
        rows[:, column] = entries
        factors = _exponential(self._function.evaluate(rows, n_threads=1) - self._level)
        return factors[None]

    def kinks(self, column: int) -> Float:
        return self._sum.kinks(column)

    def widths(self, column: int) -> list[Width]:
        return self._sum.widths(column)
