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
from pkex.functions.expansion import checked_intercept, probing_rows
from pkex.functions.packing import Packing
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.inputs.matrix import as_matrix
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.entries import Entries
from pkex.kernels.factors import PackedTerm
from pkex.typing import Float, Report

__all__ = ["PosteriorVariance"]

# Of the prior variance: what rounding errors of sums that cancel may come to.
_LARGEST_ROUNDING = 1e-7
# Games of pairs of points, of each explained row and background row.
_MOST_PAIRS = 50_000_000
_MOST_TERMS = 500
_LOOKED_AT = 16


class PosteriorVariance(Function):
    """The function f(x) = scales · (k(x, x) + noise − ‖factor⁻¹ (roots · k(points, x))‖²).

    The variance of a Gaussian process at x (Rasmussen & Williams 2006, algorithm 2.1), where the
    factor is L of L Lᵀ = K + noise of the training rows. With A = factor⁻¹ · diag(roots) and
    C = Aᵀ A it is a sum over pairs of points, each a product over columns again: v(S) = k(x, x) +
    noise − Σ_pq C_pq k_S(x, p) k_S(x, q). Against a background v(S) is the mean variance of rows
    with the entries of x in S. k(x, x) is the same in all rows. What takes time is done when it is
    first needed.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The training rows.
    factor : array-like of shape (n, n)
        Lower triangular.
    kernel : pkex.kernels.Kernel
        Of products over columns, without dot products, or mixtures of such.
    scales : float or array-like of shape (outputs,), default 1.0
        The squared units of the outputs; the second gives the function an output axis.
    noise : float, default 0.0
        What is added to the prior variance.
    roots : array-like of shape (n,), optional
        1 if not given.
    players : ndarray of int64, shape (d,), optional
        The number of each column's player; by default each is a player of its own.

    Raises
    ------
    UnsupportedModelError
        If the kernel has dot products.

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
        "_prior",
        "_roots",
        "_scales",
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
        self._factor = as_matrix(factor, "factor", n_columns=n_points, allow_no_rows=True)
        self._roots = np.ones(n_points) if roots is None else np.array(roots, np.float64)
        self._kernel = kernel
        self._scales = checked_intercept(scales, np.shape(scales))
        self._noise = float(noise)
        self._players = players
        terms = kernel.terms(self.n_features)
        if any(term.series is not None for term in terms):
            raise UnsupportedModelError(
                f"the variance under {kernel!r} is not supported: its prior is not the same in "
                "all rows. Explain the mean, or fit a kernel of products without dot products "
                "(RBF, Matern, RationalQuadratic, their sums and products)"
            )
        self._entries = Entries.of(terms)
        self._entries.check(self._points, "points")
        self._prior = math.fsum(term.of_no_column for term in terms)
        self._made = _Made()

    @property
    def whitener(self) -> Float:
        """A = factor⁻¹ · diag(roots), of shape (n, n)."""
        if self._made.whitener is None:
            from scipy.linalg import solve_triangular

            diagonal = np.diag(self._roots)
            self._made.whitener = solve_triangular(self._factor, diagonal, lower=True)
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

    @property
    def n_features(self) -> int:
        return int(self._points.shape[1])

    @property
    def n_players(self) -> int:
        return self.n_features if self._players is None else int(self._players.max()) + 1

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
        explained = self._packing.over(
            rows,
            None,
            None,
            lambda packed, some, _: packed.predict(
                some, summation="compensated", n_threads=n_threads
            ),
        )
        values = (self._prior + self._noise - explained) * self._scales
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
        options: dict[str, Any] = {"game": game.packed, "summation": how.summation}
        options["n_threads"] = how.n_threads
        if quantity == SHAPLEY:
            options["method"] = how.method
        else:
            options.update(size=quantity.size, measure=quantity.measure)

        def compute(packed: _core.Expansion, rows: Float, report: Report | None) -> Float:
            engine = packed.explain if quantity == SHAPLEY else packed.interactions
            return engine(rows, progress=report, **options)

        explained = self._packing.over(X, game, how.progress, compute)
        constant = self._prior + self._noise if quantity.size == 0 else 0.0
        return (constant - explained) * self._scales

    def base(self, game: Game, how: Computation) -> float | Float:
        self._check_rounding(game)
        if game.background is not None:
            self._entries.check(game.background[0], "background")
        explained = self._packing.at(self._packing.of_game(game)).base(
            game=game.packed, n_threads=how.n_threads, progress=how.progress
        )
        bases = (self._prior + self._noise - explained) * self._scales
        return bases if self.has_output_axis else float(bases[0])

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
        changed._made = replace(self._made, packing=None)
        return changed

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of errors that the kernel's values bring, and not their sums."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        kernel = self._kernel(rows, self._points)
        changes = np.einsum("ri,ri->r", np.abs(kernel @ self._weights), kernel)
        sizes: Float = self._prior + abs(self._noise) + 2.0 * changes
        sizes = sizes[:, None] * np.abs(self._scales)
        return sizes if self.has_output_axis else sizes[:, 0]

    @property
    def rounding(self) -> Float:
        """The rounding errors of the sums over pairs, near the points, for each output.

        They are of the size of ε Σ_pq |C_pq| k(x, p) k(x, q).
        """
        return self._rounding_of(self._scale_near_points()) * np.abs(self._scales)

    def _scale_near_points(self) -> float:
        rows = probing_rows(self._points)
        chosen = np.linspace(0, len(self._points) - 1, _LOOKED_AT).astype(np.intp)
        if len(self._points):
            rows = np.concatenate([rows, self._points[np.unique(chosen)]])
        kernel = self._kernel(self._entries.nearest(rows), self._points)
        sums = np.einsum("ri,ri->r", kernel @ np.abs(self._weights), kernel)
        return float(sums.max(initial=0.0))

    def _rounding_of(self, scale: float) -> float:
        return float(np.finfo(np.float64).eps) * scale

    def _check_rounding(self, game: Game) -> None:
        """Refuse sums that cancel so far that their rounding errors would show."""
        scale = self._scale_near_points()
        if game.value_function == "neutral":
            # Of the empty coalition, for which all factors are 1.
            scale = float(np.abs(self._weights).sum()) * self._prior**2
        rounding = self._rounding_of(scale)
        if rounding <= _LARGEST_ROUNDING * self._prior:
            return
        raise UnsupportedModelError(
            f"the variance of this model is what is left of {scale / self._prior:.1g} times the "
            f"prior variance, so that rounding errors would be {rounding / self._prior:.1g} of "
            f"it; pkex goes up to {_LARGEST_ROUNDING:g}. The training rows are nearly dependent: "
            "fit the model with more noise (a larger alpha, or a WhiteKernel), or on fewer rows"
        )

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


@dataclass
class _Made:
    """What has been computed of a function, which others with the same points share."""

    whitener: Float | None = None
    weights: Float | None = None
    packing: Packing | None = None


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
            f"goes up to {_MOST_PAIRS:.0e}, and {_MOST_TERMS} products. Fit the model on fewer "
            "rows, or with a kernel that is a product over features, such as RBF"
        )
    return _core.Expansion.quadratic(points, weights, terms, players)
