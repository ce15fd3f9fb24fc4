"""Functions that kernel methods fit: weighted sums of kernels centred at points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.functions.at_coalitions import Members, at_any_coalitions, at_coalitions
from pkex.functions.base import finite
from pkex.functions.fingerprints import are_bits, neutral_values, tanimoto_amplitude
from pkex.functions.packing import Packing, by_engine
from pkex.functions.products import Joined, Products, TermsOfPoints, products
from pkex.functions.series_products import products_of_series
from pkex.functions.weighted import Weighted, checked_intercept, probing_rows
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.allowed_values import AllowedValues
from pkex.kernels.base import namesake
from pkex.kernels.factors import has_series
from pkex.tables.labels import Labels, check_column_names
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.typing import Float, Report

__all__ = ["KernelSum"]


class KernelSum(Weighted):
    """The function f(x) = intercept + Σ_i coefficients_i · kernel(x, points_i).

    Parameters
    ----------
    points, coefficients, kernel, intercept, feature_names
        As of `KernelExpansion`, its public description.
    """

    __slots__ = ("_entries", "_feature_names", "_kernel", "_packing", "_points")

    def __init__(
        self,
        points: ArrayLike,
        coefficients: ArrayLike,
        kernel: Kernel,
        intercept: ArrayLike = 0.0,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(
                "kernel must be a kernel of pkex.kernels, such as RBF(length_scale=1.0); "
                f"got {kernel!r} ({type(kernel).__name__}){namesake(kernel)}"
            )
        self._kernel = kernel
        self._points = read_only(as_matrix(points, "points", allow_no_rows=True))
        self._entries = AllowedValues.of(kernel.terms(self.n_features))
        self._entries.check(self._points, "points")
        self._coefficients = read_only(
            as_vector_or_matrix(
                coefficients, "coefficients", n_rows=len(self._points), rows_of="points"
            )
        )
        self._intercept = checked_intercept(intercept, self._coefficients.shape[1:])
        self._feature_names = _checked_names(feature_names, self.n_features)
        self._players = None
        self._packing = Packing(self._points, self._flat_coefficients(), kernel)

    @property
    def points(self) -> Float:
        """The expansion points, read-only, shape (n, d)."""
        return self._points

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._kernel

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, which those of a DataFrame must be; None if not known."""
        return self._feature_names

    @property
    def n_features(self) -> int:
        """The number of features d."""
        return int(self._points.shape[1])

    @property
    def packed(self) -> _core.Expansion:
        """The engine's form of the expansion, without the intercept, for rows near the points."""
        return self._packing.at(0)

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        if self._feature_names is not None:
            found = Labels.comparable(X, "X").names or self._feature_names
            check_column_names(found, self._feature_names, "X", "the expansion")
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self._entries.check(rows, "X")
        sums = self._packing.over(
            rows,
            None,
            None,
            lambda packed, some, _: packed.predict(
                some, summation="compensated", n_threads=n_threads
            ),
        )
        with np.errstate(over="ignore"):
            values = sums.reshape(len(rows), *self._coefficients.shape[1:]) + self._intercept
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise OverflowError(f"the value of row {row} is too large for a float")
        return values

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return ``|intercept| + Σ_i |coefficients_i| · kernel(x, points_i)`` for rows.

        It is the scale of the rounding errors in f(x), however f is summed. Where mixtures stand in
        for the kernel, ``Σ_i |coefficients_i| · kernel(x, x)`` is added, the scale of their errors.
        Terms of a dot product count with their sizes, as they may cancel.
        """
        terms = self._kernel.terms(self.n_features)
        if any(term.series is not None for term in terms):
            rows = as_matrix(X, "X", n_columns=self.n_features)
            kernel = sum(term.magnitude(rows, self._points) for term in terms)
            sizes: Float = kernel @ np.abs(self._coefficients)
        else:
            positive = KernelSum(self._points, np.abs(self._coefficients), self._kernel)
            # A function that grows with the distance may be negative.
            sizes = np.abs(positive.evaluate(X, n_threads=n_threads))
        sizes += np.abs(self._intercept)
        errors = np.asarray(self._packing.scale_of_errors)
        sizes += errors if self.has_output_axis else errors.sum()
        return sizes

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        """Return a quantity of rows, in the engine's layout (n, coalitions, n_outputs)."""
        self._entries.check(X, "X")
        compute = by_engine(self._packing.engine_game(game), quantity, how)
        if quantity == SHAPLEY and game.value_function == "neutral" and self._is_of_bits:
            # Each row by itself, so that it does not matter which are explained together.
            of_bits = are_bits(X)
            amplitude = tanimoto_amplitude(self._kernel) or 1.0
            values = np.empty((len(X), self.n_players, self.n_outputs))
            others = np.ascontiguousarray(X[~of_bits])
            shares = (len(X) - len(others) + 1e-3, len(others) + 1e-3)
            of_closed_form, of_engine = parts_of(how.progress, *shares)
            values[of_bits] = neutral_values(
                self._points,
                amplitude * self._flat_coefficients(),
                X[of_bits],
                report=of_closed_form,
            )
            values[~of_bits] = self._packing.over(others, game, of_engine, compute)
            return finite(values)
        values = self._packing.over(X, game, how.progress, compute)
        if quantity == SHAPLEY:
            return values
        return values + self._intercept if quantity.size == 0 else values

    @property
    def _is_of_bits(self) -> bool:
        """Whether the kernel is Tanimoto's, and the points' entries are 0 or 1, each a player."""
        is_tanimoto = tanimoto_amplitude(self._kernel) is not None and self._players is None
        return is_tanimoto and bool(are_bits(self._points).all())

    def own_points(self) -> Float:
        """Return the expansion points, shape (n, d)."""
        return self._points

    def probing_rows(self) -> Float:
        """Return rows at the points and beside them."""
        return self._entries.nearest(probing_rows(self._points))

    def base(self, game: Game, how: Computation) -> float | Float:
        """Return the value of the empty coalition.

        Returns
        -------
        float or ndarray of shape (outputs,)
            In the neutral game intercept + Σ_i coefficients_i · Σ_t c_t over the terms t of the
            kernel, all factors being 1, and dot products 0; in the interventional game the mean of
            the function over the background; in the marginal game intercept + Σ_i coefficients_i ·
            Σ_t c_t times the product over players of their mean factors over the background, or
            over the points.

        Raises
        ------
        OverflowError
            If it is too large for a float.
        """
        try:
            sums = (
                self._mean_sums(game, how)
                if game.value_function != "neutral"
                else self._neutral_sums()
            )
        except OverflowError:
            sums = np.full(self.n_outputs, np.inf)
        with np.errstate(over="ignore"):
            bases = sums + self._intercept
        if not np.isfinite(bases).all():
            raise OverflowError(
                "the base value, the function while no feature is known, is too large for a float; "
                "scale the coefficients down"
            )
        return bases if self.has_output_axis else float(bases[0])

    def _neutral_sums(self) -> Float:
        """Return Σ_i coefficients_i · Σ_t c_t of each output, summed exactly."""
        terms = self._kernel.terms(self.n_features)
        amplitude = math.fsum(term.of_no_column for term in terms)
        columns = self._flat_coefficients().T
        with np.errstate(over="ignore"):
            return amplitude * np.array([math.fsum(column) for column in columns])

    def _mean_sums(self, game: Game, how: Computation) -> Float:
        """Return each output of the empty coalition against a background, less the intercept."""
        if game.background is not None:
            self._entries.check(game.background[0], "background")
        return self._packing.at(self._packing.of_game(game)).base(
            game=self._packing.engine_game(game).packed,
            n_threads=how.n_threads,
            progress=how.progress,
        )

    def grouped(self, players: NDArray[np.int64]) -> KernelSum:
        """Return the expansion with its players merged, as players of the given numbers."""
        merged = self._copied()
        merged._players = players if self._players is None else players[self._players]
        merged._packing = self._packing.grouped(merged._players)
        return merged

    def _copied(self) -> KernelSum:
        copied = KernelSum.__new__(type(self))
        for name in (*Weighted.__slots__, *KernelSum.__slots__):
            setattr(copied, name, getattr(self, name))
        return copied

    def _flat_coefficients(self) -> Float:
        return self._coefficients.reshape(len(self._points), self.n_outputs)

    def select(self, outputs: Sequence[int]) -> KernelSum:
        """Return the expansion of some of the outputs, in the order given."""
        if not self.has_output_axis:
            raise ValueError("the expansion has a single output and no output axis to select from")
        chosen = list(outputs)
        selected = KernelSum(
            self._points,
            self._coefficients[:, chosen],
            self._kernel,
            np.asarray(self._intercept)[chosen],
            self._feature_names,
        )
        return selected if self._players is None else selected.grouped(self._players)

    # A state of plain parts, which skops saves, too.
    def __getstate__(self) -> dict[str, Any]:
        return {
            "points": self._points,
            "coefficients": self._coefficients,
            "kernel": self._kernel,
            "intercept": self._intercept,
            "players": self._players,
            "feature_names": self._feature_names,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = ("points", "coefficients", "kernel", "intercept", "feature_names")
        KernelSum.__init__(self, *(state[name] for name in names))
        if state["players"] is not None:
            self._players = state["players"]
            self._packing = self._packing.grouped(state["players"])

    def __repr__(self) -> str:
        n_points = len(self._points)
        sizes = [counted(n_points, "point"), counted(self.n_features, "feature")]
        if self.has_output_axis:
            sizes.append(counted(self.n_outputs, "output"))
        kernel = repr(self._kernel)
        if len(kernel) > 60:
            kernel = f"{kernel[:57]}..."
        return f"KernelExpansion({', '.join(sizes)}, kernel={kernel})"


def _checked_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...] | None:
    """Return one name for each column, strings that may be equal."""
    if names is None:
        return None
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must have {n_features} names, one for each column; got {len(names)}"
        )
    return tuple(names)


@at_coalitions.register
def _(expansion: KernelSum, row: Float, game: Game, members: Members, how: Computation) -> Float:
    if has_series(expansion.kernel.terms(expansion.n_features)):
        return at_any_coalitions(expansion, row, game, members, how)
    expansion._entries.check(row[None], "X")
    game = expansion._packing.engine_game(game)
    background = None if game.background is None else game.background[0]
    some = None if members is None else np.ascontiguousarray(members)
    options: dict[str, Any] = {"summation": how.summation, "n_threads": how.n_threads}

    def compute(packed: _core.Expansion, rows: Float, report: Report | None) -> Float:
        return packed.coalition_values(rows, background, some, progress=report, **options)

    sums: Float = expansion._packing.over(row[None], game, how.progress, compute)[0]
    values: Float = sums.swapaxes(1, 2) + np.ravel(expansion.intercept)
    return values


@products.register
def _(function: KernelSum, rows: Float) -> Products:
    function._entries.check(rows, "inputs")
    packing, points, weights = function._packing, function.points, function._flat_coefficients()
    terms = packing.terms_at(int(packing.reaches(rows).max(initial=0)))
    pure = [term for term in terms if term.series is None]
    parts: list[Products] = [TermsOfPoints(points, weights, pure)] if pure else []
    series = [term for term in terms if term.series is not None]
    parts += [products_of_series(points, weights, term, rows) for term in series]
    return Joined(parts, [part.weights for part in parts])
