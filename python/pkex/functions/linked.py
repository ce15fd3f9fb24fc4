"""Functions of the outputs of other functions, behind a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option, Text, UnsupportedModelError, joined
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members, PosteriorDraws, check_finite
from pkex.functions.coalitionwise import CoalitionGames, Coalitionwise, RowName
from pkex.games.background import combine_rows
from pkex.games.indices import Quantity
from pkex.games.player_limits import GROUP_COLUMNS, MAX_PLAYERS, estimate_by
from pkex.games.value_functions import Game
from pkex.typing import Float, Rows

# Maps outputs of parts, of shape (k, outputs), to whether their rounding determines the result.
Steps: TypeAlias = Callable[[Float], NDArray[np.bool_]]

# The function applied to values of coalitions after the mean over the background, as in shap.
Link: TypeAlias = Literal["identity", "logit"]
LINKS: tuple[Link, ...] = get_args(Link)

# Coalitions, of many, that are evaluated together.
_MAX_COALITIONS = 1 << 11
# Outputs of coalitions of one row held in memory at a time, in blocks of background rows.
_MAX_NUMBERS = 1 << 22
# The largest number of combinations of feature values of background rows, if these are drawn
# independently.
_MAX_COMBINATIONS = 1 << 16
# The largest number of outputs over all coalitions of one row: for features that are drawn
# independently, and for as many features that it takes seconds.
_MAX_MIXED, _MAX_OUTPUTS = 1 << 26, 1 << 27
_MANY_PLAYERS = 16


@dataclass(frozen=True)
class LinkedOutputs:
    """A function of the outputs of parts, side by side.

    Parameters
    ----------
    of_rows : callable
        Maps an array of shape (k, outputs of all parts) to one of shape (k, number). Explainers
        can be pickled only if it can. With `uses_threads`, its second argument is the number of
        threads.
    number : int
    has_axis : bool, default True
        Whether predictions have an output axis.
    steps : callable, optional
        Maps such arrays to whether rounding of the outputs determines the result, shape (k,).
    not_neutral : str or tuple, default ""
        The outputs that have no neutral game, for messages; "" if there is a neutral game.
    uses_threads : bool, default False
    """

    of_rows: Callable[..., Float]
    number: int
    has_axis: bool = True
    steps: Steps | None = None
    not_neutral: Text = ""
    uses_threads: bool = False

    def __call__(self, values: Float, n_threads: int) -> Float:
        """Return the function of rows of outputs, shape (k, number)."""
        return self.of_rows(values, n_threads) if self.uses_threads else self.of_rows(values)


class Linked(Coalitionwise):
    """The function h(g(parts(x))), with v(S) = h(Σ_l w_l g(parts(x_S, z_l))).

    g maps the outputs of all parts before the mean over background rows, such as a decision value
    to a probability. h is applied after the mean, as `link` in shap. In the neutral game, v(S) is
    h(g(neutral values of the parts)). As a variance: the variance of a mixture of Gaussian
    processes.

    Parameters
    ----------
    parts : iterable of Function
        Functions of the same features, whose outputs are put side by side.
    outputs : LinkedOutputs
        g.
    link : {"identity", "logit"}, default "identity"
        h.
    selection : sequence of int, optional
        The selected outputs, if there is an output axis; all by default.

    Examples
    --------
    >>> from pkex.functions.kernel_sum import KernelSum
    >>> from pkex.kernels import RBF
    >>> f = KernelSum([[0.0]], [2.0], RBF())
    >>> Linked([f], LinkedOutputs(np.exp, 1, has_axis=False)).predict([[0.0]])
    array([7.3890561])
    """

    __slots__ = ("_chosen", "_link", "_outputs")

    def __init__(
        self,
        parts: Iterable[Function],
        outputs: LinkedOutputs,
        link: Link = "identity",
        selection: Sequence[int] | None = None,
    ) -> None:
        self._outputs, self._link = outputs, link
        self._chosen = list(range(outputs.number)) if selection is None else list(selection)
        self._set_parts(parts, (len(self._chosen),) if outputs.has_axis else ())

    @property
    def draws_rows(self) -> bool:
        return True

    @property
    def keeps_points(self) -> bool:
        points = self.stored_points()
        return points is not None and points.shape[0] > 0

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        inner = self._evaluate_inner(X, n_threads)
        return check_finite(self._as_output(self._apply_link(inner, "the value of row {} of X")))

    def _evaluate_inner(self, X: ArrayLike, n_threads: int, rows: str = "X") -> Float:
        """Return g at rows, shape (n, outputs)."""
        values = [part.evaluate(X, n_threads=n_threads) for part in self.parts]
        sides = np.concatenate([np.reshape(v, (len(v), -1)) for v in values], axis=1)
        return self._apply_inner(sides, lambda place: f"row {place} of {rows}", n_threads)

    def _apply_inner(self, values: Float, name: RowName, n_threads: int) -> Float:
        """Return g of outputs of the parts, shape (k, outputs).

        Parameters
        ----------
        values : ndarray of shape (k, outputs of all parts)
        name : callable
            Maps a number from 0 to k − 1 to the source of the outputs, for messages.
        n_threads : int

        Raises
        ------
        ValueError
            If g is not finite.
        UnsupportedModelError
            If rounding of the outputs determines g.
        """
        result, steps = self._outputs(values, n_threads), self._outputs.steps
        if steps is not None and (on_step := steps(values)).any():
            row = int(np.argmax(on_step))
            raise UnsupportedModelError(
                f"the model's output has a step within the rounding error of its decision value "
                f"{values[row].tolist()} for {name(row)}, so it depends on the order of summation. "
                "Calibrate with method='sigmoid', and several classes by OneVsRestClassifier, "
                "which have no steps"
            )
        if not np.isfinite(result).all():
            row, output = np.argwhere(~np.isfinite(result))[0].tolist()
            raise ValueError(
                f"the explained function of the model's outputs is {result[row, output]} for "
                f"{name(row)}, where the outputs are {values[row].tolist()}; Shapley values are "
                "defined for finite values only"
            )
        return result[:, self._chosen]

    def _apply_link(self, means: Float, name: str, first: int = 0) -> Float:
        """Return h of means, shape (k, outputs); for messages, with a name of their numbers."""
        if self._link == "identity":
            return means
        invalid = ~((means > 0.0) & (means < 1.0))
        if invalid.any():
            place, output = np.argwhere(invalid)[0].tolist()
            raise InputError(
                Option("link", "logit"),
                f"requires values between 0 and 1, but {name.format(first + place)} is "
                f"{means[place, output]:.17g}",
                [
                    ("omit ", Option("link", python="link")),
                    "explain probabilities that are neither 0 nor 1",
                ],
            )
        return np.log(means) - np.log1p(-means)

    def _exact_game(self, X: Rows, game: Game, quantity: Quantity) -> Game:
        p = self.n_players
        if p > MAX_PLAYERS:
            raise InputError(
                None,
                f"the explained output is not a sum over features, so exact values require all "
                f"2^{p} coalitions of its {p} features; pkex supports up to {MAX_PLAYERS} "
                "features",
                [estimate_by(_DRAWN), GROUP_COLUMNS],
            )
        row_game = self._with_rows(game)
        if row_game.background is None:
            return row_game
        n_rows = len(row_game.background[1])
        if game.is_marginal:
            _check_mixed_rows(n_rows, p)
        elif p > _MANY_PLAYERS and n_rows << p > _MAX_OUTPUTS:
            raise InputError(
                None,
                f"absent features are drawn from {n_rows} rows, and exact values of {p} features "
                f"require {n_rows << p:,} outputs of the model per row, for all 2^{p} coalitions; "
                f"pkex supports up to {_MAX_OUTPUTS:,}",
                [f"pass a background of up to {_MAX_OUTPUTS >> p} rows", estimate_by(_DRAWN)],
            )
        return row_game

    def block_sizes(self, n_coalitions: int) -> tuple[int, int]:
        return 1, _MAX_COALITIONS

    def coalition_values(
        self, X: Float, game: Game, members: Members, computation: Computation, row_name: RowName
    ) -> Float:
        game = self._with_rows(game)
        count, first = len(members), members.start if isinstance(members, range) else 0
        means = np.zeros((len(X), count, self.n_outputs))
        if not count:
            return means
        blocks = self._blocks(game, count)
        for number, row_computation in computation.over(range(len(X))):
            row, name = X[number], row_name(number)
            for (block, shares), part_computation in row_computation.over(blocks):
                outputs = self._inner_outputs(row, block, members, part_computation, name)
                means[number] += np.einsum("l,lso->so", shares, outputs)
            coalition_name = f"the value of coalition {{}} of {name}"
            means[number] = self._apply_link(means[number], coalition_name, first)
        return means

    def _inner_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation, name: str
    ) -> Float:
        """Return g of the outputs of the parts at coalitions, shape (m, count, outputs)."""
        sides = np.concatenate(self._outputs_of_parts(row, game, members, computation), axis=-1)
        rows = sides.reshape(-1, sides.shape[-1])
        values = self._apply_inner(rows, lambda _: f"a coalition of {name}", computation.n_threads)
        outputs: Float = values.reshape(*sides.shape[:-1], self.n_outputs)
        return outputs

    def _blocks(self, game: Game, count: int) -> list[tuple[Game, Float]]:
        """Return a game in blocks of background rows, and the weights of these."""
        if game.background is None:
            return [(game, np.ones(1))]
        rows, weights = game.background
        numbers = count * sum(part.n_outputs for part in self.parts)
        return [
            (replace(game, background=(rows[block], weights[block])), weights[block])
            for block in blocks_of(len(weights), _MAX_NUMBERS // numbers)
        ]

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        if self._link != "identity":
            raise ValueError("a link is applied after the mean, not within another function")
        return self._inner_outputs(row, game, members, computation, "a row")

    def base(self, game: Game, computation: Computation) -> float | Float:
        game = self._with_rows(game)
        if game.background is None:
            if self._outputs.not_neutral:
                raise InputError(
                    Option("value_function", "neutral"),
                    joined("is not available for ", self._outputs.not_neutral),
                    [
                        "pass a background",
                        ("omit ", Option("value_function", python="value_function")),
                    ],
                )
            bases = [
                np.ravel(part.base(game, part_computation))
                for part, part_computation in computation.over(self.parts)
            ]
            means = self._apply_inner(
                np.concatenate(bases)[None], lambda _: "the empty coalition", computation.n_threads
            )
        else:
            rows, weights = game.background
            inner = self._evaluate_inner(rows, computation.n_threads, "the background")
            means = np.einsum("l,lo->o", weights, inner)[None]
        return self._as_base(self._apply_link(means, "the mean over the background")[0])

    def _with_rows(self, game: Game) -> Game:
        """Return a game that draws rows, equivalent to one that draws features independently."""
        if not game.is_marginal:
            return game
        if game.background is None:
            raise _independent("the model's stored points, all combinations")
        rows, weights = game.background
        players, n_players = self.players, self.n_players
        if len(weights) == 1:
            return replace(game, value_function="interventional")
        if len(weights) ** n_players > _MAX_COMBINATIONS:
            raise _independent(f"{len(weights)}^{n_players} rows, all combinations of values")
        return Game("interventional", combine_rows(rows, weights, players))

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        raise UnsupportedModelError(
            (
                Option("uncertainty", True),
                " requires values with a normal distribution, which a mixture of Gaussian "
                "processes, such as a fully Bayesian model, does not have",
            )
        )

    def draws(
        self, rows: NDArray[Any], n: int, random: np.random.Generator
    ) -> list[PosteriorDraws]:
        raise UnsupportedModelError(
            "uncertainty is available for a single Gaussian process, not for a mixture of several, "
            "such as a fully Bayesian model. Analyze its processes one by one"
        )

    def _select_outputs(self, outputs: list[int]) -> Self:
        function = self._copy()
        function._chosen = [self._chosen[output] for output in outputs]
        return function

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of the errors of its values, and of the outputs of the parts."""
        sizes = [part.magnitude(X, n_threads=n_threads) for part in self.parts]
        part_sizes = np.sum(
            [np.reshape(size, (len(size), -1)).sum(axis=1) for size in sizes], axis=0
        )
        values = np.abs(self.evaluate(X, n_threads=n_threads))
        scales: Float = values + (part_sizes[:, None] if self.has_output_axis else part_sizes)
        return scales

    def __repr__(self) -> str:
        return f"Linked({self.n_outputs} outputs of {', '.join(map(repr, self.parts))})"


def as_coalitionwise(function: Function | CoalitionGames) -> CoalitionGames:
    """Return a function in a form that is evaluated coalition by coalition."""
    if isinstance(function, CoalitionGames):
        return function
    outputs = LinkedOutputs(identity, function.n_outputs, function.has_output_axis)
    return Linked([function], outputs)


def identity(values: Float) -> Float:
    """Return the outputs of parts as they are."""
    return values


def _check_mixed_rows(n_combinations: int, n_players: int) -> None:
    n_rows = n_combinations << n_players
    if n_rows > _MAX_MIXED:
        raise InputError(
            Option("value_function", "marginal"),
            f"requires {n_rows} outputs of the model per row ({n_combinations} combinations of "
            f"values in 2^{n_players} coalitions); up to {_MAX_MIXED} are supported",
            [_WHOLE_ROWS, GROUP_COLUMNS],
        )


_DRAWN = "pkex.Explainer(...).estimate(X, n_permutations=1000, random_state=0)"
_WHOLE_ROWS = (
    "pass a background for ",
    Option("value_function", "interventional"),
    ", which draws its rows as they are",
)


def _independent(over: str) -> InputError:
    return InputError(
        Option("value_function", "marginal"),
        "draws each absent feature independently. For an output that is not a sum over features, "
        f"it is a mean over {over}; up to {_MAX_COMBINATIONS} combinations are supported",
        _WHOLE_ROWS,
    )
