"""Games of a variance as sums of products over pairs of points.

v(S) = k(x, x) − Σ_pq C_pq k_S(x, p) k_S(x, q), for any number of players, under kernels that are
sums of products. For nearly dependent points, the terms cancel: sums raise an error if rounding
could be visible, and values are compared with the formula of the variance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import Option, Text, UnsupportedModelError, joined
from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.packing import Packing
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import Game
from pkex.inputs.wording import counted
from pkex.kernels import Term
from pkex.kernels.factors import PackedTerm, has_mixtures, has_series
from pkex.typing import Float

# The largest number of players whose coalitions can be evaluated instead.
MAX_PLAYERS = 16
# The largest accepted rounding error of sums that cancel, relative to the prior variance.
_MAX_ROUNDING = 1e-7
# The largest number of points, the weights of whose pairs are stored; of games of pairs and
# background rows, which take ten minutes; and of products in a kernel.
_MAX_POINTS = 10_000
_MAX_GAMES = 10_000_000_000
_MAX_TERMS = 500
# Means of Gaussians of one column are sums over about as many nodes instead of background rows.
_NODES = 32


class VarianceReduction:
    """The reduction of the prior variance by the data, in games of players.

    Expansions are prepared when they are first used.

    Parameters
    ----------
    variance : LatentVariance
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    """

    def __init__(self, variance: LatentVariance, players: NDArray[np.int64]) -> None:
        self._variance = variance
        self._players = players
        # The last game with its sum for the empty coalition.
        self._empty: tuple[Game, float] | None = None

    @cached_property
    def _packing(self) -> Packing:
        variance = self._variance
        weights, size = variance.conditioning.matrix, variance.relative_size
        return Packing(
            variance.points, weights, variance.kernel, self._players, _pack_squares, size
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._variance, self._players)

    def explain(self, X: Float, game: Game, quantity: Quantity, computation: Computation) -> Float:
        """Return a quantity of the variance of rows without the prior, (n, coalitions)."""
        with advising(self._faster(game)):
            reductions: Float = self._packing.quantity(X, game, quantity, computation)[..., 0]
        if quantity == SHAPLEY:
            self._check_sums(X, game, reductions, computation)
        else:
            # Their sum has no meaning that could be compared.
            rounding = self._variance.roundings(X) / self._variance.scale
            self._check(rounding, lambda row: f"rounding errors in row {row} would be")
        return -reductions

    def empty(self, game: Game, computation: Computation) -> float:
        """Return the value of the empty coalition.

        Raises
        ------
        UnsupportedModelError
            If the variance is not such a sum, or not accurate enough, or has too many games.
        """
        self._check_game(game)
        return self._variance.prior - self._empty_sum(game, computation)

    def _empty_sum(self, game: Game, computation: Computation) -> float:
        cache = self._empty  # other threads may replace it
        if cache is None or cache[0] is not game:
            expansion = self._packing.at(self._packing.of_game(game))
            with advising(self._faster(game)):
                base = expansion.base(
                    game=game.packed, n_threads=computation.n_threads, progress=computation.progress
                )
            cache = self._empty = game, float(base[0])
        return cache[1]

    def _faster(self, game: Game) -> str:
        """Return the alternatives that take less time than a game."""
        alternatives = ["a model fitted on fewer rows"]
        if has_mixtures(self._variance.terms):
            alternatives.append("the RBF kernel")
        if game.value_function != "neutral":
            alternatives.append('value_function="neutral"')
        if int(self._players.max(initial=-1)) < MAX_PLAYERS:
            alternatives.append('value_function="interventional" with a background of some rows')
        elif game.value_function != "neutral":
            alternatives.append("a background of fewer rows")
        return "; ".join(alternatives)

    # --- checks ---

    def are_exact(self, game: Game) -> bool:
        """Whether rounding errors are small enough."""
        return self._rounding(game) <= _MAX_ROUNDING * self._variance.scale

    def _rounding(self, game: Game) -> float:
        """Return a bound of rounding errors, as a variance."""
        variance = self._variance
        if game.value_function == "neutral":
            return variance.rounding_of_no_column
        if game.background is None:
            return variance.largest_rounding
        background_rounding = float(variance.roundings(game.background[0]).max(initial=0.0))
        return max(variance.largest_rounding, background_rounding)

    def _check_game(self, game: Game) -> None:
        if has_series(self._variance.terms):
            raise UnsupportedModelError(
                joined(
                    f"the prior variance of {self._variance.kernel!r} differs between rows, for "
                    "which the interventional and the neutral value functions are supported for up "
                    f"to {MAX_PLAYERS} features; ",
                    self._fix,
                )
            )
        if not self.are_exact(game):
            share = self._rounding(game) / self._variance.scale
            raise self._inexact(f"rounding errors would be {share:.0e} of the prior variance")
        n_rows, kind = 1, "background rows"
        if game.value_function != "neutral":
            n_rows = len(self._variance.points if game.background is None else game.background[0])
        terms = self._packing.terms_at(self._packing.of_game(game))
        if n_rows > _NODES and game.is_marginal and self._are_gaussians(terms):
            n_rows, kind = _NODES, "nodes for the means over background rows"
        _check_size(len(self._variance.points), len(terms), n_rows, kind)

    def _are_gaussians(self, terms: list[Term]) -> bool:
        """Whether all factors are Gaussians of one column, which is a player of its own."""
        families = {factor.family for term in terms for factor in term.factors}
        return families <= {"rbf"} and len(np.unique(self._players)) == len(self._players)

    def _check_sums(
        self, X: Float, game: Game, reductions: Float, computation: Computation
    ) -> None:
        """Compare sums of values with the variance at rows, which is computed by solving."""
        prior, scale = self._variance.prior, self._variance.scale
        sums = prior - reductions.sum(axis=1) - self._empty_sum(game, computation.reporting(None))
        variances = self._variance.at(X)
        self._check(
            np.abs(sums - variances) / scale,
            lambda row: (
                f"in row {row} the base value and the values add up to {sums[row]:.3g}, but the "
                f"variance is {variances[row]:.3g} (in units of the latent function), an error of"
            ),
        )

    def _check(self, errors: Float, message: Callable[[int], str]) -> None:
        """Raise an error if errors of rows, relative to the prior variance, are too large."""
        # NaN is too large as well.
        inexact_rows = np.flatnonzero(~(errors <= _MAX_ROUNDING))
        if len(inexact_rows):
            row = int(inexact_rows[0])
            raise self._inexact(f"{message(row)} {errors[row]:.0e} of the prior variance")

    @property
    def _fix(self) -> Text:
        background = "pass a background, for ", Option("value_function", "interventional")
        has_few = int(self._players.max(initial=-1)) < MAX_PLAYERS
        return background if has_few else (*background, ", and group columns")

    def _inexact(self, what: str) -> UnsupportedModelError:
        return UnsupportedModelError(
            joined(
                "the variance is a sum over pairs of training rows, which are nearly dependent, so "
                f"its terms cancel: {what}; pkex accepts up to {_MAX_ROUNDING:.0e}. Either ",
                self._fix,
                f" (up to {MAX_PLAYERS} features need no pairs), or fit the model with more noise "
                "(a larger alpha or WhiteKernel)",
            )
        )


def _pack_squares(
    points: Float,
    weights: Float,
    terms: list[PackedTerm],
    players: NDArray[np.int64] | None,
) -> _core.Expansion:
    """Return an expansion of the engine; raise an error if it has too many games."""
    _check_size(len(points), len(terms))
    return _core.Expansion.quadratic(points, weights, terms, players)


def _check_size(
    n_points: int, n_terms: int, n_rows: int = 1, kind: str = "background rows"
) -> None:
    """Raise an error for too many points, or games of pairs and background rows or nodes."""
    evaluations = n_points * n_terms
    games = evaluations * (evaluations + 1) // 2 * n_rows
    if n_points <= _MAX_POINTS and n_terms <= _MAX_TERMS and games <= _MAX_GAMES:
        return
    factor = f" times {n_rows} {kind}" if n_rows > 1 else ""
    raise UnsupportedModelError(
        joined(
            f"the variance is a sum over pairs of {counted(n_points, 'point')} times "
            f"{counted(n_terms, 'product')} of the kernel{factor}: {games:.1e} games for each "
            f"row; pkex supports up to {_MAX_POINTS} points, {_MAX_GAMES:.0e} games and "
            f"{_MAX_TERMS} products. Pass a background, for ",
            Option("value_function", "interventional"),
            f", which needs no pairs for up to {MAX_PLAYERS} features. Or fit the model on fewer "
            "rows, or with a kernel that is a product over features, such as RBF",
        )
    )
