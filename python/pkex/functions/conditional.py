"""Functions in the observational game: absent features follow those that are present.

v(S) = Σ_l w_l(x_S) f(x_S, z_l), with weights of background rows by what is known of x: see
`Observational`. There is no product game: all coalitions are looked at.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option
from pkex.execution.computation import Computation
from pkex.execution.side_by_side import side_by_side
from pkex.functions.advice import JOINED_COLUMNS, estimated_by
from pkex.functions.base import Function, finite
from pkex.functions.composite import Composite
from pkex.functions.conditional_expansion import worths_given
from pkex.functions.own_rows import warn_of_own_rows
from pkex.games.conditioning import ConditionalBackground, Weights
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import members_of, quantity_of
from pkex.typing import Float

__all__ = ["MOST_CONDITIONED", "Conditional", "check_number_of_players"]

# Players all of whose coalitions are looked at: a factorisation each.
MOST_CONDITIONED = 14
# Numbers of weights and of worths that are there at a time.
_MOST_NUMBERS = 1 << 25
# Rows that a function is evaluated at together.
_MIXED = 1 << 14
# Numbers of a matrix of which each thread has some, 128 MB of them (larger ones come one by one),
# and those of all threads together.
_MOST_SIDE_BY_SIDE, _MOST_TOGETHER = 1 << 24, 1 << 27


def check_number_of_players(p: int) -> None:
    """Refuse more players than have all of their coalitions looked at."""
    if p > MOST_CONDITIONED:
        raise InputError(
            None,
            (
                f"the model has {p} features, and exact values of ",
                Option("value_function", "observational"),
                f" take all 2^{p} coalitions of {p} features, with a factorization for each: pkex "
                f"goes up to {MOST_CONDITIONED} features",
            ),
            [
                estimated_by("pkex.Explainer(...).estimate(X, n_coalitions=1000)"),
                JOINED_COLUMNS,
            ],
        )


class Conditional(Composite):
    """A function, absent features of which are drawn as they follow those that are present.

    Parameters
    ----------
    function : Function
    conditioning : ConditionalBackground
    """

    __slots__ = ("_conditioning",)

    def __init__(self, function: Function, conditioning: ConditionalBackground) -> None:
        self._parts = (function,)
        self._conditioning = conditioning

    @property
    def function(self) -> Function:
        """The function at rows."""
        return self._parts[0]

    @property
    def conditioning(self) -> ConditionalBackground:
        """How background rows count."""
        return self._conditioning

    @property
    def n_outputs(self) -> int:
        return self.function.n_outputs

    @property
    def has_output_axis(self) -> bool:
        return self.function.has_output_axis

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self.function.evaluate(X, n_threads=n_threads)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self.function.magnitude(X, n_threads=n_threads)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        p = self.n_players
        check_number_of_players(p)
        if quantity == SHAPLEY:
            warn_of_own_rows(X, self._conditioning, self.players)
        members = members_of(np.arange(p))
        step = max(1, _MOST_NUMBERS // (2**p * self.n_outputs))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        found = [np.empty((0, len(members[0]), self.n_outputs))]
        for number, block in enumerate(blocks):
            worths = self.worths(block, members, how.part(number, len(blocks)))
            of_outputs = [quantity_of(worths[..., o], quantity) for o in range(self.n_outputs)]
            found.append(np.stack(of_outputs, axis=-1))
        return np.concatenate(found[min(1, len(blocks)) :])

    def worths(self, X: Float, members: NDArray[np.bool_], how: Computation) -> Float:
        """Return the worths of coalitions in the games of rows, shape (n, count, outputs).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        members : ndarray of bool, shape (count, players)
        how : Computation
        """
        step = max(1, _MOST_NUMBERS // len(self._conditioning.rows))
        blocks = [X[start : start + step] for start in range(0, len(X), step)]
        found = [np.empty((0, len(members), self.n_outputs))]
        for number, block in enumerate(blocks):
            found.append(self._worths(block, members, how.part(number, len(blocks))))
        return finite(np.concatenate(found))

    def _worths(self, X: Float, members: NDArray[np.bool_], how: Computation) -> Float:
        """Return them of as many rows as there are weights in memory."""
        columns = members[:, self.players]
        is_whole, is_empty = columns.all(axis=1), ~columns.any(axis=1)
        worths = np.empty((len(X), len(members), self.n_outputs))
        worths[:, is_whole] = self._outputs(self.function.evaluate(X, n_threads=how.n_threads))
        if is_empty.any():
            worths[:, is_empty] = self.base(NEUTRAL, how.reporting(None))
        others = np.flatnonzero(~is_whole & ~is_empty)
        with closing(self._one_by_one(X, columns[others], how.n_threads)) as found:
            for number, (place, own) in enumerate(zip(others, found, strict=True)):
                worths[:, place] = own
                if how.progress is not None:
                    how.progress(number + 1, len(others))
        return worths

    def _one_by_one(
        self, X: Float, columns: NDArray[np.bool_], n_threads: int
    ) -> Generator[Float, None, None]:
        """Yield what rows are worth in coalitions, (n, outputs), of one after the other."""
        beside = self._conditioning.beside(X)
        conditioning = self._conditioning
        closed_form = worths_given(self.function, X, conditioning.rows, conditioning.landmarks)
        worth = closed_form or partial(self._mean_of_mixed, X, n_threads=n_threads)

        def of(present: NDArray[np.bool_]) -> Float:
            return worth(beside.weights(present), present)

        # Other functions may be of users', and have threads of their own.
        if closed_form is None or beside.n_numbers > _MOST_SIDE_BY_SIDE:
            yield from map(of, columns)
            return
        n_threads = min(n_threads, max(1, _MOST_TOGETHER // beside.n_numbers))
        yield from side_by_side(of, columns, n_threads)

    def _outputs(self, values: Float) -> Float:
        """Return outputs of rows with axes for coalitions and outputs, shape (n, 1, outputs)."""
        return values.reshape(len(values), 1, self.n_outputs)

    def _mean_of_mixed(
        self, X: Float, weights: Weights, present: NDArray[np.bool_], *, n_threads: int
    ) -> Float:
        """Return the weighted means of outputs at rows mixed with background rows, (n, outputs)."""
        others, whole = self._conditioning.rows, weights.whole()
        means = np.empty((len(X), self.n_outputs))
        step = max(1, _MIXED // len(others))
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            mixed = np.where(present, X[block, None], others).reshape(-1, X.shape[1])
            values = self.function.evaluate(mixed, n_threads=n_threads)
            shaped = values.reshape(-1, len(others), self.n_outputs)
            means[block] = np.einsum("nl,nlo->no", whole[block], shaped)
        return means

    def base(self, game: Game, how: Computation) -> float | Float:
        together = Game("interventional", (self._conditioning.rows, self._conditioning.shares))
        return self.function.base(together, how)

    def grouped(self, players: NDArray[np.int64]) -> Conditional:
        return Conditional(self.function.grouped(players), self._conditioning)

    def select(self, outputs: Sequence[int]) -> Conditional:
        return Conditional(self.function.select(outputs), self._conditioning)

    def __reduce__(self) -> tuple[Any, ...]:
        return Conditional, (self.function, self._conditioning)

    def __repr__(self) -> str:
        return f"Conditional({self.function!r})"
