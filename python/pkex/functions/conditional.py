"""Functions with the observational value function: absent features depend on the present ones.

v(S) = Σ_l w_l(x_S) f(x_S, z_l), where the weights of background rows depend on the present features
of x; or v(S) = Σ_l w_l(x_S) f(z_l), see `Observational`. The game is not a product game, so each
coalition is evaluated.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.side_by_side import side_by_side
from pkex.functions.base import ConditionalMeans, Function, Members, check_finite
from pkex.functions.coalitionwise import Coalitionwise, RowName
from pkex.functions.conditional_expansion import mixed_means
from pkex.games.conditioning import ConditionalBackground, ConditionalWeights
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.player_limits import GROUP_COLUMNS, estimate_by
from pkex.games.value_functions import NEUTRAL, Game
from pkex.typing import Float

# The largest number of players whose coalitions are all evaluated, with a factorization each.
MAX_CONDITIONED = 14
# Weights, and values of coalitions, held in memory at a time.
_MAX_NUMBERS = 1 << 25
# Rows that a function is evaluated at together.
_MIXED = 1 << 14
# The largest matrix that each thread may hold (128 MB), and the numbers held by all threads
# together. With larger matrices, coalitions are evaluated one after the other.
_MAX_SIDE_BY_SIDE, _MAX_TOGETHER = 1 << 24, 1 << 27


def check_number_of_players(p: int) -> None:
    """Raise an InputError if there are too many players to evaluate all coalitions."""
    if p > MAX_CONDITIONED:
        raise InputError(
            None,
            (
                f"the model has {p} features, and exact values of ",
                Option("value_function", "observational"),
                f" require all 2^{p} coalitions, with a factorization for each; pkex supports up "
                f"to {MAX_CONDITIONED} features",
            ),
            [
                estimate_by("pkex.Explainer(...).estimate(X, n_coalitions=1000)"),
                GROUP_COLUMNS,
            ],
        )


class Conditional(Coalitionwise):
    """A function whose absent features follow their distribution given the present ones.

    Parameters
    ----------
    function : Function
    conditioning : ConditionalBackground
    """

    __slots__ = ("conditioning",)

    def __init__(self, function: Function, conditioning: ConditionalBackground) -> None:
        self._set_parts([function], (function.n_outputs,) if function.has_output_axis else ())
        self.conditioning = conditioning

    @property
    def function(self) -> Function:
        """The function of rows."""
        return self.parts[0]

    @property
    def _embeds_rows(self) -> bool:
        return self.conditioning.settings.embedding == "rows"

    @property
    def reads_sparse(self) -> bool:
        return False

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self.function.evaluate(X, n_threads=n_threads)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self.function.magnitude(X, n_threads=n_threads)

    def _exact_game(self, X: Float, game: Game, quantity: Quantity) -> Game:
        check_number_of_players(self.n_players)
        if quantity == SHAPLEY:
            self.conditioning.warn_of_matching_rows(X, self.players)
        return game

    def block_sizes(self, n_coalitions: int) -> tuple[int, int]:
        return max(1, _MAX_NUMBERS // (n_coalitions * self.n_outputs)), n_coalitions

    def coalition_values(
        self, X: Float, game: Game, members: Members, computation: Computation, row_name: RowName
    ) -> Float:
        columns = self._members(members)[:, self.players]
        blocks = blocks_of(len(X), _MAX_NUMBERS // len(self.conditioning.rows))
        values = [np.empty((0, len(columns), self.n_outputs))]
        for block, part_computation in computation.over(blocks):
            values.append(self._values_of_block(X[block], columns, part_computation))
        return check_finite(np.concatenate(values))

    def _values_of_block(
        self, X: Float, columns: NDArray[np.bool_], computation: Computation
    ) -> Float:
        """Return the values for rows whose weights fit in memory together."""
        is_full, is_empty = columns.all(axis=1), ~columns.any(axis=1)
        values = np.empty((len(X), len(columns), self.n_outputs))
        outputs = self.function.evaluate(X, n_threads=computation.n_threads)
        values[:, is_full] = outputs.reshape(len(X), 1, self.n_outputs)
        if is_empty.any():
            values[:, is_empty] = self.base(NEUTRAL, computation.reporting(None))
        places = np.flatnonzero(~is_full & ~is_empty)
        with closing(
            self._conditional_values(X, columns[places], computation.n_threads)
        ) as results:
            for number, (place, coalition_values) in enumerate(zip(places, results, strict=True)):
                values[:, place] = coalition_values
                computation.report(number + 1, len(places))
        return values

    def _conditional_values(
        self, X: Float, columns: NDArray[np.bool_], n_threads: int
    ) -> Generator[Float, None, None]:
        """Yield the values of rows, shape (n, outputs), for one coalition after the other."""
        conditioning = self.conditioning
        weights = conditioning.for_rows(X)
        outputs = partial(self.function.evaluate, n_threads=n_threads)
        if self._embeds_rows:
            background_outputs = outputs(conditioning.rows).reshape(-1, self.n_outputs)
            value, is_closed_form = partial(weights.means, values=background_outputs), True
        else:
            tables = X, conditioning.rows
            closed_form = self.function.conditional_means(*tables, conditioning.landmarks)
            mean = closed_form or partial(mixed_means, outputs, *tables, _MIXED)
            value, is_closed_form = partial(_mean_of_absent, weights, mean), closed_form is not None

        # Other functions may be defined by users, and have threads of their own.
        if not is_closed_form or weights.n_numbers > _MAX_SIDE_BY_SIDE:
            yield from map(value, columns)
            return
        n_threads = min(n_threads, max(1, _MAX_TOGETHER // weights.n_numbers))
        yield from side_by_side(value, columns, n_threads)

    def base(self, game: Game, computation: Computation) -> float | Float:
        if self._embeds_rows:
            outputs = self.function.evaluate(
                self.conditioning.rows, n_threads=computation.n_threads
            )
            means = self.conditioning.shares @ outputs
            return means if self.function.has_output_axis else float(means)
        rows = Game("interventional", (self.conditioning.rows, self.conditioning.shares))
        return self.function.base(rows, computation)

    def _select_outputs(self, outputs: list[int]) -> Self:
        return self.with_parts([self.function.select(outputs)])

    def __repr__(self) -> str:
        return f"Conditional({self.function!r})"


def _mean_of_absent(
    conditional_weights: ConditionalWeights, mean: ConditionalMeans, present: NDArray[np.bool_]
) -> Float:
    """Return Σ_l w_l(x_S) f(x_S, z_l) of rows, shape (n, outputs)."""
    return mean(conditional_weights.weights(present), present)
