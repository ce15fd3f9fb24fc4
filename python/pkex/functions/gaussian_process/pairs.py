"""Games of a variance as sums over pairs of points, each a product over columns.

v(S) = k(x, x) − Σ_pq C_pq k_S(x, p) k_S(x, q), for any number of players, under kernels that are
sums of products. Where points are nearly dependent the terms cancel: sums are refused if their
rounding errors could show, and values are compared with the formula of the variance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import Option, Text, UnsupportedModelError, joined
from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.packing import Packing, by_engine
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import Game
from pkex.kernels.factors import PackedTerm, has_mixtures, has_series
from pkex.typing import Float

__all__ = ["MOST_PLAYERS", "VarianceReduction"]

# Players, all of whose coalitions are looked at elsewhere.
MOST_PLAYERS = 16
# Of the prior variance: what rounding errors of sums that cancel may come to.
_LARGEST_ROUNDING = 1e-7
# Pairs, whose weights are kept; and games of these with background rows, which take ten minutes.
_MOST_PAIRS = 50_000_000
_MOST_GAMES = 10_000_000_000
_MOST_TERMS = 500


class VarianceReduction:
    """The sum of what is known of a variance, in games of players.

    What takes time is done when it is first needed.

    Parameters
    ----------
    variance : LatentVariance
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    """

    def __init__(self, variance: LatentVariance, players: NDArray[np.int64]) -> None:
        self._variance = variance
        self._players = players
        self._made: Packing | None = None
        # Of the last game.
        self._empty: tuple[Game, float] | None = None

    @property
    def _packing(self) -> Packing:
        if self._made is None:
            own = self._variance
            weights, size = own.known.matrix, own.relative_size
            self._made = Packing(own.points, weights, own.kernel, self._players, _packed, size)
        return self._made

    def explain(self, X: Float, game: Game, quantity: Quantity, how: Computation) -> Float:
        """Return a quantity of the variance of rows but for the prior, (n, coalitions)."""
        compute = by_engine(game, quantity, how)
        with advising(self._faster(game)):
            known: Float = self._packing.over(X, game, how.progress, compute)[..., 0]
        if quantity == SHAPLEY:
            self._check_sums(X, game, known, how)
        else:
            # These add up to nothing.
            rounding = self._variance.roundings(X) / self._variance.prior
            self._check(rounding, lambda row: f"rounding errors in row {row} would be")
        return -known

    def empty(self, game: Game, how: Computation) -> float:
        """Return the worth of the empty coalition.

        Raises
        ------
        UnsupportedModelError
            If the variance is no such sum, or not exactly enough, or one of too many games.
        """
        self._check_game(game)
        return self._variance.prior - self._empty_sum(game, how)

    def _empty_sum(self, game: Game, how: Computation) -> float:
        if self._empty is None or self._empty[0] is not game:
            packed = self._packing.at(self._packing.of_game(game))
            with advising(self._faster(game)):
                found = packed.base(
                    game=game.packed, n_threads=how.n_threads, progress=how.progress
                )
            self._empty = game, float(found[0])
        return self._empty[1]

    def _faster(self, game: Game) -> str:
        """Return what takes less time than a game."""
        faster = ["a model that is fitted on fewer rows"]
        if has_mixtures(self._variance.terms):
            faster.append("the RBF kernel")
        if game.value_function != "neutral":
            faster.append('value_function="neutral"')
        if int(self._players.max(initial=-1)) < MOST_PLAYERS:
            faster.append('value_function="interventional" with a background of some rows')
        elif game.value_function != "neutral":
            faster.append("a background of fewer rows")
        return "; ".join(faster)

    # --- refused ---

    def are_exact(self, game: Game) -> bool:
        """Whether rounding errors are small enough."""
        return self._rounding(game) <= _LARGEST_ROUNDING * self._variance.prior

    def _rounding(self, game: Game) -> float:
        """Return what rounding errors may be, as a variance."""
        variance = self._variance
        if game.value_function == "neutral":
            return variance.rounding_of_no_column
        if game.background is None:
            return variance.largest_rounding
        of_background = float(variance.roundings(game.background[0]).max(initial=0.0))
        return max(variance.largest_rounding, of_background)

    def _check_game(self, game: Game) -> None:
        if has_series(self._variance.terms):
            raise UnsupportedModelError(
                joined(
                    f"the variance under {self._variance.kernel!r} has a prior that is not the "
                    f"same in all rows: of up to {MOST_PLAYERS} features the interventional and "
                    "the neutral game are supported; ",
                    self._fix,
                )
            )
        if not self.are_exact(game):
            share = self._rounding(game) / self._variance.prior
            raise self._inexact(f"rounding errors would be {share:.0e} of the prior variance")
        n_rows = 1
        if game.value_function != "neutral":
            n_rows = len(self._variance.points if game.background is None else game.background[0])
        n_terms = len(self._packing.terms_at(self._packing.of_game(game)))
        _check_size(len(self._variance.points), n_terms, n_rows)

    def _check_sums(self, X: Float, game: Game, known: Float, how: Computation) -> None:
        """Refuse values of rows that do not add up to their variance, which is solved for."""
        prior = self._variance.prior
        sums = prior - known.sum(axis=1) - self._empty_sum(game, how.reporting(None))
        variances = self._variance.at(X)
        self._check(
            np.abs(sums - variances) / prior,
            lambda row: (
                f"in row {row} base value and values add up to {sums[row]:.3g} where the variance "
                f"is {variances[row]:.3g} (before the units of the output), an error of"
            ),
        )

    def _check(self, errors: Float, found: Callable[[int], str]) -> None:
        """Refuse errors of rows, of the prior variance, that are too large."""
        # What is not a number is no better.
        wrong = np.flatnonzero(~(errors <= _LARGEST_ROUNDING))
        if len(wrong):
            row = int(wrong[0])
            raise self._inexact(f"{found(row)} {errors[row]:.0e} of the prior variance")

    @property
    def _fix(self) -> Text:
        background = "give a background, for ", Option("value_function", "interventional")
        has_few = int(self._players.max(initial=-1)) < MOST_PLAYERS
        return background if has_few else (*background, ", and columns in groups")

    def _inexact(self, found: str) -> UnsupportedModelError:
        return UnsupportedModelError(
            joined(
                "the variance is here a sum over pairs of training rows, which are nearly "
                f"dependent: its terms cancel, and {found}; pkex goes up to "
                f"{_LARGEST_ROUNDING:.0e}. Either ",
                self._fix,
                f" (of up to {MOST_PLAYERS} features it takes no pairs), or fit the model with "
                "more noise (a larger alpha or WhiteKernel)",
            )
        )


def _packed(
    points: Float,
    weights: Float,
    terms: list[PackedTerm],
    players: NDArray[np.int64] | None,
) -> _core.Expansion:
    """Return the engine's form, unless it would be of too many games."""
    _check_size(len(points), len(terms))
    return _core.Expansion.quadratic(points, weights, terms, players)


def _check_size(n_points: int, n_terms: int, n_rows: int = 1) -> None:
    """Refuse sums over too many pairs, in games of background rows."""
    evaluations = n_points * n_terms
    pairs = evaluations * (evaluations + 1) // 2
    if pairs <= _MOST_PAIRS and n_terms <= _MOST_TERMS and pairs * n_rows <= _MOST_GAMES:
        return
    of_rows = f" times {n_rows} background rows" if n_rows > 1 else ""
    raise UnsupportedModelError(
        f"the variance is a sum over pairs of {n_points} points times {n_terms} products that the "
        f"kernel is a sum of{of_rows}: {pairs * n_rows:.1e} games for each row; pkex goes up to "
        f"{_MOST_PAIRS:.0e} pairs, {_MOST_GAMES:.0e} games and {_MOST_TERMS} products. Of up to "
        f"{MOST_PLAYERS} features the interventional game takes no pairs: give a background. Or "
        "fit the model on fewer rows, or with a kernel that is a product over features, such as RBF"
    )
