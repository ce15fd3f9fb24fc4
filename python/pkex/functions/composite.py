"""Functions made of other functions of the same features: linear combinations and stacks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members, PosteriorDraws, check_finite
from pkex.functions.probing import evenly_spaced
from pkex.functions.products import JoinedProducts, Products
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.tables.sparse import are_equal_rows
from pkex.typing import Float, Rows

# The largest number of rows for a comparison with the model.
_MAX_PROBING_ROWS = 12


class Composite(Function):
    """A function of the outputs of its parts, which are functions of the same features."""

    __slots__ = ("parts",)

    parts: tuple[Function, ...]

    def _set_parts(self, parts: Iterable[Function], outputs: tuple[int, ...]) -> None:
        """Set the parts, and the shape of the output of one row."""
        self.parts = tuple(parts)
        self._set_shape(self.parts[0].n_features, outputs, self.parts[0]._players)

    def with_parts(self, parts: Iterable[Function]) -> Self:
        """Return the same function of the outputs of other parts."""
        copy = self._copy()
        outputs = (self.n_outputs,) if self.has_output_axis else ()
        copy._set_parts(parts, outputs)
        return copy

    @property
    def draws_rows(self) -> bool:
        return any(part.draws_rows for part in self.parts)

    @property
    def omits_constant(self) -> bool:
        return any(part.omits_constant for part in self.parts)

    @property
    def allows_missing(self) -> bool:
        return all(part.allows_missing for part in self.parts)

    @property
    def reads_sparse(self) -> bool:
        return all(part.reads_sparse for part in self.parts)

    @property
    def non_numeric(self) -> frozenset[int]:
        return frozenset.intersection(*(part.non_numeric for part in self.parts))

    @property
    def discrete(self) -> frozenset[int]:
        return frozenset().union(*(part.discrete for part in self.parts))

    @property
    def keeps_points(self) -> bool:
        return all(part.keeps_points for part in self.parts)

    def stored_points(self) -> Rows | None:
        """Return the points of the first part, if all others store equal ones."""
        first, *other_points = (part.stored_points() for part in self.parts)
        is_shared = first is not None and all(
            points is first or (points is not None and are_equal_rows(points, first))
            for points in other_points
        )
        return first if is_shared else None

    def _are_additive(self) -> bool:
        return all(part.is_additive for part in self.parts)

    def probing_rows(self) -> Float:
        """Return rows of all parts; of some parts, evenly spaced, if there are many.

        Categories that only some parts know are also used in the rows of the other parts.
        """
        parts = [self.parts[i] for i in evenly_spaced(len(self.parts), _MAX_PROBING_ROWS)]
        share = max(2, _MAX_PROBING_ROWS // len(parts))
        rows_by_part = [
            rows[evenly_spaced(len(rows), share)] for rows in (p.probing_rows() for p in parts)
        ]
        rows = np.concatenate(rows_by_part)
        for column in self.discrete:
            rows_of_categories = [
                part_rows
                for part, part_rows in zip(parts, rows_by_part, strict=True)
                if column in part.discrete
            ]
            if rows_of_categories:
                rows[:, column] = np.resize(
                    np.concatenate(rows_of_categories)[:, column], len(rows)
                )
        if self.discrete and any(is_accepted := [self._accepts(row[None]) for row in rows]):
            rows = rows[is_accepted]
        return rows[evenly_spaced(len(rows), _MAX_PROBING_ROWS)]

    def _accepts(self, rows: Float) -> bool:
        """Whether all parts know the categories in rows."""
        try:
            self.evaluate(rows, n_threads=1)
        except ValueError:
            return False
        return True

    def grouped(self, players: NDArray[np.int64]) -> Self:
        return self.with_parts(part.grouped(players) for part in self.parts)

    def _outputs_of_parts(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> list[Float]:
        return [
            part.coalition_outputs(row, game, members, part_computation)
            for part, part_computation in computation.over(self.parts)
        ]


class Combination(Composite):
    """The function intercept + Σ_p weights_p · parts_p(x).

    As a variance: the variance of a sum of independent random functions.

    Parameters
    ----------
    parts : iterable of Function
        One or more functions of the same features and outputs.
    weights : array-like of shape (n_parts,) or (n_parts, outputs), optional
        1 by default.
    intercept : float or array-like of shape (outputs,), default 0.0

    Examples
    --------
    The average of two expansions, in other units:

    >>> from pkex.functions.kernel_sum import KernelSum
    >>> from pkex.kernels import RBF
    >>> wide = KernelSum([[0.0]], [2.0], RBF(5.0))
    >>> narrow = KernelSum([[0.0], [1.0]], [1.0, -1.0], RBF(0.1))
    >>> Combination([wide, narrow], weights=[50.0, 50.0], intercept=10.0).predict([[0.0]])
    array([160.])
    """

    __slots__ = ("_intercept", "_weights")

    def __init__(
        self,
        parts: Iterable[Function],
        weights: ArrayLike | None = None,
        intercept: ArrayLike = 0.0,
    ) -> None:
        functions = _check_shapes(parts)
        outputs = (functions[0].n_outputs,) if functions[0].has_output_axis else ()
        self._set_parts(functions, outputs)
        # Copies: the arguments may be the arrays of a model, which others can change.
        ones = np.ones(len(functions))
        self._weights = ones if weights is None else np.array(weights, dtype=np.float64)
        self._intercept = np.array(intercept, dtype=np.float64)

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        values = (part.evaluate(X, n_threads=n_threads) for part in self.parts)
        return check_finite(self._sum(values))

    def explain(
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        values = (
            part.explain(X, game=game, quantity=quantity, computation=part_computation)
            for part, part_computation in computation.over(self.parts)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return check_finite(self._sum(values, with_intercept=quantity.size == 0))

    def selected_pairs(
        self, X: Rows, selection: NDArray[np.int64], *, game: Game, computation: Computation
    ) -> Float:
        pairs = (
            part.selected_pairs(X, selection, game=game, computation=part_computation)
            for part, part_computation in computation.over(self.parts)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return check_finite(self._sum(pairs, with_intercept=False))

    def base(self, game: Game, computation: Computation) -> float | Float:
        base = self._sum(
            np.asarray(part.base(game, part_computation))
            for part, part_computation in computation.over(self.parts)
        )
        return base if self.has_output_axis else float(base)

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        return self._sum(
            part.coalition_outputs(row, game, members, part_computation)
            for part, part_computation in computation.over(self.parts)
        )

    @property
    def is_additive(self) -> bool:
        return self._are_additive()

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        weights = self._weights[0]
        if self.is_additive or len(self.parts) > 1 or not np.all(weights):
            return super().shifted_squares(X, shifts, game, computation)
        # (w v + c + shift)² = w² (v + (c + shift) / w)²
        inner_shifts = (shifts + self._intercept) / weights
        squares = self.parts[0].shifted_squares(X, inner_shifts, game, computation)
        return None if squares is None else np.square(weights) * squares

    def products(self, rows: NDArray[Any]) -> Products:
        parts = [part.products(rows) for part in self.parts]
        weights = [w * part.weights for w, part in zip(self._weights, parts, strict=True)]
        return JoinedProducts(parts, weights)

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        parts = zip(self._weights, computation.over(self.parts), strict=True)
        return np.asarray(
            sum(
                weight * part.covariances(X, pairs, game, part_computation)
                for weight, (part, part_computation) in parts
            )
        )

    def draws(
        self, rows: NDArray[Any], n: int, random: np.random.Generator
    ) -> list[PosteriorDraws]:
        draws_by_output = zip(*(part.draws(rows, n, random) for part in self.parts), strict=True)
        squares = np.broadcast_to(self._weights.T, (self.n_outputs, len(self.parts)))
        return [
            PosteriorDraws(
                Combination([draws.function for draws in part_draws], np.sqrt(weights)),
                max(draws.missing for draws in part_draws),
            )
            for part_draws, weights in zip(draws_by_output, squares, strict=True)
        ]

    def _select_outputs(self, outputs: list[int]) -> Self:
        combination = self.with_parts(part.select(outputs) for part in self.parts)
        if self._weights.ndim == 2:
            combination._weights = self._weights[:, outputs]
        if self._intercept.ndim:
            combination._intercept = self._intercept[outputs]
        return combination

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        terms = [
            weight * part.magnitude(X, n_threads=n_threads)
            for weight, part in zip(np.abs(self._weights), self.parts, strict=True)
        ]
        return np.asarray(sum(terms, start=np.abs(self._intercept)))

    def _sum(self, values: Iterable[Float], *, with_intercept: bool = True) -> Float:
        """Return the weighted sum of results of the parts, added with compensation."""
        terms = (weight * part for weight, part in zip(self._weights, values, strict=True))
        constant = self._intercept if with_intercept else np.zeros(())
        return _compensated_sum(chain(terms, [constant]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.parts)} × {self.parts[0]!r})"


class Stack(Composite):
    """The function with each of several functions as an output.

    As a variance: the variances of independent outputs.

    Parameters
    ----------
    parts : iterable of Function
        One or more functions of the same features, without an output axis.

    Examples
    --------
    >>> from pkex.functions.kernel_sum import KernelSum
    >>> from pkex.kernels import RBF
    >>> wide = KernelSum([[0.0]], [2.0], RBF(5.0))
    >>> narrow = KernelSum([[0.0], [1.0]], [1.0, -1.0], RBF(0.1))
    >>> Stack([wide, narrow]).predict([[0.0]])
    array([[2., 1.]])
    """

    __slots__ = ()

    def __init__(self, parts: Iterable[Function]) -> None:
        functions = _check_shapes(parts)
        if functions[0].has_output_axis:
            raise ValueError("only functions without an output axis can be stacked")
        self._set_parts(functions, (len(functions),))

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return np.stack([part.evaluate(X, n_threads=n_threads) for part in self.parts], axis=-1)

    def explain(
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        values = [
            part.explain(X, game=game, quantity=quantity, computation=part_computation)
            for part, part_computation in computation.over(self.parts)
        ]
        return np.concatenate(values, axis=-1)

    def selected_pairs(
        self, X: Rows, selection: NDArray[np.int64], *, game: Game, computation: Computation
    ) -> Float:
        pairs = [
            part.selected_pairs(X, selection, game=game, computation=part_computation)
            for part, part_computation in computation.over(self.parts)
        ]
        return np.concatenate(pairs, axis=-1)

    def base(self, game: Game, computation: Computation) -> Float:
        return np.array(
            [
                part.base(game, part_computation)
                for part, part_computation in computation.over(self.parts)
            ]
        )

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        return np.concatenate(self._outputs_of_parts(row, game, members, computation), axis=-1)

    @property
    def is_additive(self) -> bool:
        return self._are_additive()

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        squares = []
        for number, (part, part_computation) in enumerate(computation.over(self.parts)):
            part_shifts = shifts[:, number : number + 1]
            values = part.shifted_squares(X, part_shifts, game, part_computation)
            if values is None:
                return None
            squares.append(values)
        return np.concatenate(squares, axis=-1)

    def products(self, rows: NDArray[Any]) -> Products:
        parts = [part.products(rows) for part in self.parts]
        # The products of a part have a weight for their own output only.
        units = np.eye(len(parts))
        return JoinedProducts(
            parts, [part.weights * unit for part, unit in zip(parts, units, strict=True)]
        )

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        covariances = [
            part.covariances(X, pairs, game, part_computation)
            for part, part_computation in computation.over(self.parts)
        ]
        return np.concatenate(covariances, axis=-1)

    def draws(
        self, rows: NDArray[Any], n: int, random: np.random.Generator
    ) -> list[PosteriorDraws]:
        return [draws for part in self.parts for draws in part.draws(rows, n, random)]

    def _select_outputs(self, outputs: list[int]) -> Self:
        return self.with_parts(self.parts[output] for output in outputs)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return np.stack([part.magnitude(X, n_threads=n_threads) for part in self.parts], axis=-1)

    def __repr__(self) -> str:
        return f"Stack({len(self.parts)} outputs, the first {self.parts[0]!r})"


def _compensated_sum(terms: Iterable[NDArray[Any]]) -> Float:
    """Add arrays with twice the precision (Knuth's two-sum, with a sum of the errors)."""
    total = error = np.zeros(())
    for term in terms:
        new_total = total + term
        increase = new_total - total
        error = error + ((total - (new_total - increase)) + (term - increase))
        total = new_total
    return np.asarray(total + error)


def _check_shapes(parts: Iterable[Function]) -> tuple[Function, ...]:
    """Return functions as a tuple; raise a ValueError if their features or outputs differ."""
    functions = tuple(parts)
    shapes = {(part.n_features, part.n_outputs, part.has_output_axis) for part in functions}
    if len(shapes) != 1:
        raise ValueError(
            "the parts must be one or more functions of the same features and outputs; "
            f"got {list(functions)}"
        )
    return functions
