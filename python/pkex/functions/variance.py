"""The variance of Gaussian processes, a quadratic form of their kernel's values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex import _core
from pkex.errors import UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.covariances import covariances
from pkex.functions.packing import Packing
from pkex.functions.substitution import solved
from pkex.functions.uncertainty import Conditioned, check_is_product
from pkex.functions.weighted import checked_intercept, probing_rows
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import members_of, quantity_of
from pkex.inputs.arrays import read_only, read_only_view
from pkex.inputs.matrix import as_matrix
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.entries import Entries
from pkex.kernels.factors import PackedTerm, has_mixtures, has_series, restricted
from pkex.typing import Float, Report

__all__ = ["PosteriorVariance"]

# Of the prior variance: what rounding errors of sums that cancel may come to.
_LARGEST_ROUNDING = 1e-7
_EPSILON = float(np.finfo(np.float64).eps)
# Games of pairs of points, of each explained row and background row.
_MOST_PAIRS = 50_000_000
_MOST_TERMS = 500
# Players, all of whose coalitions are looked at.
_MOST_PLAYERS = 16
# What a pair's game costs a player, in steps of the variance of a row.
_STEPS_OF_PAIR = 12
# Rows whose variance is computed at a time, which does not depend on how many there are.
_BLOCK = 1024
_LOOKED_AT = 16


class PosteriorVariance(Function):
    """The function f(x) = scales · (k(x, x) + noise − ‖factor⁻¹ (roots · k(points, x))‖²).

    The variance of a Gaussian process at x (Rasmussen & Williams 2006, algorithm 2.1), where the
    factor is L of L Lᵀ = K + noise of the training rows. Against a background v(S) is the mean
    variance of rows with the entries of x in S; in the neutral game k_S takes the place of k. Two
    ways lead to the values of a game.

    *Coalition by coalition*: v(S) is computed by the formula, for few players and any kernel.
    Nothing cancels but prior variance and what is known.

    *Pair by pair*: with A = factor⁻¹ · diag(roots) and C = Aᵀ A it is v(S) = k(x, x) + noise −
    Σ_pq C_pq k_S(x, p) k_S(x, q), a sum over pairs of points, each a product over columns again, if
    the kernel is that (or a sum of such). It takes any number of players, and is the only way
    where they are independent of each other (marginal). Where training rows are nearly dependent
    its terms cancel: it is refused if their rounding errors could show, and values are compared
    with the formula.

    What takes time is done when it is first needed.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The training rows.
    factor : array-like of shape (n, n)
        Lower triangular.
    kernel : pkex.kernels.Kernel
    scales : float or array-like of shape (outputs,), default 1.0
        The squared units of the outputs; the second gives the function an output axis.
    noise : float, default 0.0
        What is added to the prior variance.
    roots : array-like of shape (n,), optional
        1 if not given.
    players : ndarray of int64, shape (d,), optional
        The number of each column's player; by default each is a player of its own.

    Examples
    --------
    >>> import pkex
    >>> PosteriorVariance([[0.0]], [[1.0]], pkex.kernels.RBF()).predict([[0.0], [1.0]])
    array([0.        , 0.63212056])
    """

    __slots__ = (
        "_entries",
        "_factor",
        "_kernel",
        "_made",
        "_noise",
        "_players",
        "_points",
        "_roots",
        "_scales",
        "_terms",
    )

    def __init__(
        self,
        points: ArrayLike,
        factor: ArrayLike,
        kernel: Kernel,
        *,
        scales: ArrayLike = 1.0,
        noise: float = 0.0,
        roots: ArrayLike | None = None,
        players: NDArray[np.int64] | None = None,
    ) -> None:
        self._points = read_only(as_matrix(points, "points", allow_no_rows=True))
        n_points = len(self._points)
        # In the order of columns, as LAPACK makes it: of a model the same memory.
        columns = as_matrix(np.transpose(factor), "factor", n_columns=n_points, allow_no_rows=True)
        self._factor = read_only_view(columns.T)
        self._roots = np.ones(n_points) if roots is None else np.array(roots, np.float64)
        self._kernel = kernel
        self._scales = checked_intercept(scales, np.shape(scales), "scales")
        self._noise = float(noise)
        self._players = players
        self._terms = kernel.terms(self.n_features)
        self._entries = Entries.of(self._terms)
        self._entries.check(self._points, "points")
        self._made = _Made()

    @property
    def n_features(self) -> int:
        return int(self._points.shape[1])

    @property
    def n_players(self) -> int:
        return self.n_features if self._players is None else int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        return np.arange(self.n_features) if self._players is None else self._players

    @property
    def n_outputs(self) -> int:
        return int(np.size(self._scales))

    @property
    def has_output_axis(self) -> bool:
        return np.ndim(self._scales) == 1

    def own_points(self) -> Float:
        return self._points

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self._entries.check(rows, "X")
        values = self._scaled(self._variances(rows) + self._noise)
        return values if self.has_output_axis else values[:, 0]

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        self._entries.check(X, "X")
        if self._is_by_coalitions(game):
            values = quantity_of(self._worths(X, game, how.progress), quantity)
            return self._scaled(values + (self._noise if quantity.size == 0 else 0.0))
        options: dict[str, Any] = {"game": game.packed, "summation": how.summation}
        options["n_threads"] = how.n_threads
        if quantity == SHAPLEY:
            options["method"] = how.method
        else:
            options.update(size=quantity.size, measure=quantity.measure)

        def compute(packed: _core.Expansion, rows: Float, report: Report | None) -> Float:
            engine = packed.explain if quantity == SHAPLEY else packed.interactions
            return engine(rows, progress=report, **options)

        explained = self._packing.over(X, game, how.progress, compute)[..., 0]
        self._check_rows(X, game, explained if quantity == SHAPLEY else None, how)
        constant = self._prior + self._noise if quantity.size == 0 else 0.0
        return self._scaled(constant - explained)

    def base(self, game: Game, how: Computation) -> float | Float:
        if game.background is not None:
            self._entries.check(game.background[0], "background")
        if self._is_by_coalitions(game):
            base = self._empty_worth(game) + self._noise
        else:
            self._check_pairs(game)
            base = self._prior + self._noise - self._empty_sum(game, how)
        bases = self._scaled(np.array(base))
        return bases if self.has_output_axis else float(bases[0])

    def _scaled(self, values: Float) -> Float:
        """Return values in the units of the outputs, which get an axis of their own."""
        scaled: Float = values[..., None] * np.atleast_1d(self._scales)
        return scaled

    # --- coalition by coalition ---

    def _is_by_coalitions(self, game: Game) -> bool:
        """Whether the values of a game are computed coalition by coalition."""
        if game.is_marginal or self.n_players > _MOST_PLAYERS:
            return False
        if has_series(self._terms) or has_mixtures(self._terms):
            return True
        pairs = _STEPS_OF_PAIR * self.n_players * len(self._terms) ** 2
        return 2**self.n_players <= pairs or not self._are_pairs_exact(game)

    def _worths(self, X: Float, game: Game, report: Report | None) -> Float:
        """Return the worths of coalitions in the games of rows, less noise: (n, 2^players)."""
        columns = np.arange(self.n_features) if self._players is None else self._players
        members = members_of(columns)
        n_rows = 1 if game.background is None else len(game.background[0])
        step = max(1, _BLOCK // n_rows)
        worths = np.empty((len(X), len(members)))
        for number, row in enumerate(X):
            # The rows that are computed together do not depend on how many are explained.
            for start in range(0, len(members), step):
                some = slice(start, start + step)
                worths[number, some] = self._worths_of(row, members[some], game)
            if report is not None:
                report(number + 1, len(X))
        return worths

    def _worths_of(self, row: Float, members: NDArray[np.bool_], game: Game) -> Float:
        """Return the worths of coalitions of columns in the game of a row, less noise."""
        if game.background is None:
            return np.array([self._neutral_worth(row, present) for present in members])
        rows, weights = game.background
        mixed = np.where(members[:, None], row, rows).reshape(-1, self.n_features)
        variances = self._variances(mixed).reshape(len(members), len(rows))
        worths: Float = np.einsum("sl,l->s", variances, weights)
        return worths

    def _neutral_worth(self, row: Float, present: NDArray[np.bool_]) -> float:
        terms = [restricted(term, present) for term in self._terms]
        cross, prior = (
            np.sum([term.evaluated(row[None], others) for term in terms], axis=0)
            for others in (self._points, row[None])
        )
        return float(self._left(prior[:, 0], cross)[0])

    def _empty_worth(self, game: Game) -> float:
        nothing = np.zeros(self.n_features, dtype=np.bool_)
        return float(self._worths_of(np.zeros(self.n_features), nothing[None], game)[0])

    def _variances(self, rows: Float) -> Float:
        """Return the variance at rows, less noise, before it is scaled."""
        variances = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            cross = self._kernel(some, self._points)
            variances[start : start + _BLOCK] = self._left(self._priors(some), cross)
        return variances

    def _left(self, prior: Any, cross: Float) -> Float:
        """Return what is left of the prior variance, given kernel values (n, points)."""
        whitened = solved(self._factor, self._roots[:, None] * cross.T)
        left: Float = prior - np.einsum("ij,ij->j", whitened, whitened)
        return left

    def _priors(self, rows: Float) -> float | Float:
        """Return k(x, x), which is the same in all rows but for dot products."""
        if not has_series(self._terms):
            return self._prior
        blocks = [rows[start : start + _LOOKED_AT] for start in range(0, len(rows), _LOOKED_AT)]
        return np.concatenate([np.diag(self._kernel(some, some)) for some in blocks])

    @property
    def _prior(self) -> float:
        return math.fsum(term.of_no_column for term in self._terms)

    # --- pair by pair ---

    @property
    def whitener(self) -> Float:
        """A = factor⁻¹ · diag(roots), of shape (n, n)."""
        if self._made.whitener is None:
            self._made.whitener = solved(self._factor, np.diag(self._roots))
        return self._made.whitener

    @property
    def _weights(self) -> Float:
        """C = Aᵀ A, symmetric."""
        if self._made.weights is None:
            weights = self.whitener.T @ self.whitener
            self._made.weights = (weights + weights.T) / 2.0
        return self._made.weights

    @property
    def _packing(self) -> Packing:
        if self._made.packing is None:
            parts = (self._points, self._weights, self._kernel)
            self._made.packing = Packing(*parts, self._players, _packed)
        return self._made.packing

    def _empty_sum(self, game: Game, how: Computation) -> float:
        """Return the sum over pairs of the empty coalition, which is kept for the last game."""
        made = self._made.empty_sum
        if made is None or made[0] is not game:
            packed = self._packing.at(self._packing.of_game(game))
            found = packed.base(game=game.packed, n_threads=how.n_threads, progress=how.progress)
            made = self._made.empty_sum = game, float(found[0])
        return made[1]

    def _rounding(self, game: Game) -> float:
        """Return what rounding errors of sums over pairs may be, as a variance.

        They are largest where terms are: at the training rows, however few of them are near each
        other, and at those of the background.
        """
        if game.value_function == "neutral":
            # Of the empty coalition, for which all factors are 1.
            return _EPSILON * float(np.abs(self._weights).sum()) * self._prior**2
        if self._made.rounding is None:
            rows = np.concatenate([self.probing_rows(), self._points])
            self._made.rounding = float(self._roundings_at(rows).max())
        if game.background is None:
            return self._made.rounding
        of_background = self._roundings_at(game.background[0])
        return max(self._made.rounding, float(of_background.max(initial=0.0)))

    def _roundings_at(self, rows: Float) -> Float:
        """Return what those at rows may be, ε Σ_pq |C_pq| k(x, p) k(x, q)."""
        sizes, bounds = np.abs(self._weights), np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            kernel = np.abs(self._kernel(rows[start : start + _BLOCK], self._points))
            sums = np.einsum("ri,ri->r", kernel @ sizes, kernel)
            bounds[start : start + _BLOCK] = _EPSILON * sums
        return bounds

    def _are_pairs_exact(self, game: Game) -> bool:
        return self._rounding(game) <= _LARGEST_ROUNDING * self._prior

    def _check_pairs(self, game: Game) -> None:
        """Refuse what sums over pairs are not, or not exactly enough, and say what is.

        Raises
        ------
        UnsupportedModelError
            It says how large rounding errors would be.
        """
        if has_series(self._terms):
            raise UnsupportedModelError(
                f"the variance under {self._kernel!r} has a prior that is not the same in all "
                f"rows: of up to {_MOST_PLAYERS} features the interventional and the neutral game "
                f"are supported; {self._remedy}"
            )
        if not self._are_pairs_exact(game):
            share = self._rounding(game) / self._prior
            raise self._inexact(f"rounding errors would be {share:.0e} of the prior variance")

    def _check_rows(self, X: Float, game: Game, explained: Float | None, how: Computation) -> None:
        """Refuse values of rows that do not add up to their variance, which is solved for.

        Other quantities than values add up to nothing: of these the bound at the rows is checked.
        """
        if explained is None:
            shares = self._roundings_at(X) / self._prior
        else:
            silent = how.reporting(None)
            sums = self._prior - explained.sum(axis=1) - self._empty_sum(game, silent)
            variances = self._variances(X)
            shares = np.abs(sums - variances) / self._prior
        # What is not a number is no better.
        wrong = np.flatnonzero(~(shares <= _LARGEST_ROUNDING))
        if not len(wrong):
            return
        row = int(wrong[0])
        if explained is None:
            found = f"rounding errors in row {row} would be {shares[row]:.0e}"
        else:
            found = (
                f"in row {row} base value and values add up to {sums[row]:.3g} where the variance "
                f"is {variances[row]:.3g} (before the units of the output), an error of "
                f"{shares[row]:.0e}"
            )
        raise self._inexact(f"{found} of the prior variance")

    @property
    def _remedy(self) -> str:
        remedy = "give a background, for value_function='interventional'"
        return remedy if self.n_players <= _MOST_PLAYERS else f"{remedy}, and columns in groups"

    def _inexact(self, found: str) -> UnsupportedModelError:
        return UnsupportedModelError(
            "the variance is here a sum over pairs of training rows, which are nearly dependent: "
            f"its terms cancel, and {found}; pkex goes up to {_LARGEST_ROUNDING:.0e}. Either "
            f"{self._remedy} (of up to {_MOST_PLAYERS} features it takes no pairs), or fit the "
            "model with more noise (a larger alpha or WhiteKernel)"
        )

    def grouped(self, players: NDArray[np.int64]) -> PosteriorVariance:
        of_column = players if self._players is None else players[self._players]
        return self._with(self._scales, of_column)

    def select(self, outputs: Sequence[int]) -> PosteriorVariance:
        if not self.has_output_axis:
            raise ValueError("the function has a single output and no output axis to select from")
        return self._with(np.asarray(self._scales)[list(outputs)], self._players)

    def _with(self, scales: Any, players: NDArray[np.int64] | None) -> PosteriorVariance:
        changed = PosteriorVariance.__new__(type(self))
        for name in PosteriorVariance.__slots__:
            setattr(changed, name, getattr(self, name))
        changed._scales, changed._players = scales, players
        changed._made = replace(self._made, packing=None, empty_sum=None)
        return changed

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of errors that the kernel's values bring, and not their sums."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        cross = self._kernel(rows, self._points)
        whitened = solved(self._factor, self._roots[:, None] * cross.T)
        known = solved(self._factor, whitened, transposed=True) * self._roots[:, None]
        changes = np.einsum("ij,ji->j", np.abs(known), np.abs(cross))
        sizes = self._scaled(self._priors(rows) + abs(self._noise) + 2.0 * changes)
        return sizes if self.has_output_axis else sizes[:, 0]

    def probing_rows(self) -> Float:
        """Return rows at the points and beside them."""
        return self._entries.nearest(probing_rows(self._points))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._points, self._factor, self._kernel)
        options = {"scales": self._scales, "noise": self._noise, "roots": self._roots}
        return _restored, (type(self), parts, {**options, "players": self._players})

    def __repr__(self) -> str:
        sizes = [counted(len(self._points), "point"), counted(self.n_features, "feature")]
        if self.has_output_axis:
            sizes.append(counted(self.n_outputs, "output"))
        return f"PosteriorVariance({', '.join(sizes)})"


@covariances.register
def _(variance: PosteriorVariance, X: Float, game: Game, how: Computation) -> Float:
    check_is_product(variance._kernel, variance._terms)
    variance._entries.check(X, "X")
    players = variance._players
    players = np.arange(variance.n_features) if players is None else players
    parts = variance._points, variance._factor, variance._roots, variance._kernel
    return variance._scaled(Conditioned(*parts, players).covariances(X, game, how))


@dataclass
class _Made:
    """What has been computed of a function, which others with the same points share."""

    whitener: Float | None = None
    weights: Float | None = None
    packing: Packing | None = None
    # That of its points.
    rounding: float | None = None
    # Of a game.
    empty_sum: tuple[Game, float] | None = None


def _restored(
    kind: type[PosteriorVariance],
    parts: tuple[Float, Float, Kernel],
    options: dict[str, Any],
) -> PosteriorVariance:
    return kind(*parts, **options)


def _packed(
    points: Float,
    weights: Float,
    terms: list[PackedTerm],
    players: NDArray[np.int64] | None,
) -> _core.Expansion:
    """Return the engine's form, unless it would be of too many games."""
    evaluations = len(points) * len(terms)
    pairs = evaluations * (evaluations + 1) // 2
    if pairs > _MOST_PAIRS or len(terms) > _MOST_TERMS:
        raise UnsupportedModelError(
            f"the variance is a sum over pairs of {len(points)} points times {len(terms)} products "
            f"that the kernel is a sum of: {pairs:.1e} games for each row and background row; pkex "
            f"goes up to {_MOST_PAIRS:.0e}, and {_MOST_TERMS} products. Of up to {_MOST_PLAYERS} "
            "features the interventional game takes no pairs: give a background. Or fit the model "
            "on fewer rows, or with a kernel that is a product over features, such as RBF"
        )
    return _core.Expansion.quadratic(points, weights, terms, players)
