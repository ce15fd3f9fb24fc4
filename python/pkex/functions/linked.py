"""Functions of what other functions are worth: outputs behind a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option, Text, UnsupportedModelError, joined
from pkex.execution.computation import Computation
from pkex.functions.advice import JOINED_COLUMNS, estimated_by
from pkex.functions.at_coalitions import MOST_PLAYERS, Members, at_coalitions
from pkex.functions.base import Function, finite
from pkex.functions.composite import Composite
from pkex.games.combinations import combined
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import quantity_of
from pkex.typing import Float

__all__ = ["LINKS", "Link", "Linked", "LinkedOutputs", "Steps"]

# From outputs of parts, of shape (k, outputs), to whether their rounding decides on the result.
Steps: TypeAlias = Callable[[Float], NDArray[np.bool_]]

# What is done to worths after they were averaged, as shap has it.
Link: TypeAlias = Literal["identity", "logit"]
LINKS: tuple[Link, ...] = get_args(Link)

# Numbers of an explained row that are there at a time, in blocks of background rows.
_MOST_NUMBERS = 1 << 22
# Rows that combine the entries of background rows, where these are drawn independently.
_MOST_COMBINATIONS = 1 << 16
# Outputs at all their coalitions, for a row.
_MOST_MIXED = 1 << 26


@dataclass(frozen=True)
class LinkedOutputs:
    """What a function makes of the outputs of its parts, side by side.

    Parameters
    ----------
    of_rows : callable
        From an array of shape (k, outputs of all parts) to one of shape (k, number). It can be
        pickled if explainers shall be.
    number : int
    has_axis : bool, default True
        Whether predictions have an output axis.
    steps : callable, optional
        From such arrays to whether rounding of the outputs decides on the result, shape (k,).
    not_neutral : str or tuple, default ""
        Why it is not made of neutral worths, if it is not.
    """

    of_rows: Callable[[Float], Float]
    number: int
    has_axis: bool = True
    steps: Steps | None = None
    not_neutral: Text = ""


class Linked(Composite):
    """The function h(g(parts(x))), which is no sum; v(S) = h(Σ_l w_l g(parts(x_S, z_l))).

    g, of all outputs of the parts, is inside of the mean over background rows, as a probability is
    of a decision value; h is outside of it, as shap's `link`. In the neutral game v(S) is
    h(g(neutral worths of the parts)). There is no product game: all coalitions are looked at.

    Parameters
    ----------
    parts : iterable of Function
        Of the same features; their outputs stand side by side.
    outputs : LinkedOutputs
        g.
    link : {"identity", "logit"}, default "identity"
        h.
    chosen : sequence of int, optional
        The outputs that the function has, of all; needs an output axis.

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
        chosen: Sequence[int] | None = None,
    ) -> None:
        self._parts = tuple(parts)
        self._outputs, self._link = outputs, link
        self._chosen = list(range(outputs.number)) if chosen is None else list(chosen)

    @property
    def n_outputs(self) -> int:
        return len(self._chosen)

    @property
    def has_output_axis(self) -> bool:
        return self._outputs.has_axis

    @property
    def draws_rows(self) -> bool:
        return True

    @property
    def keeps_points(self) -> bool:
        points = self.own_points()
        return points is not None and len(points) > 0

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        inner = self._inside(X, n_threads)
        values = finite(self._outside(inner, "the value of row {} of X"))
        return values if self.has_output_axis else values[:, 0]

    def _inside(self, X: ArrayLike, n_threads: int, rows: str = "X") -> Float:
        """Return g at rows, shape (n, outputs)."""
        values = [part.evaluate(X, n_threads=n_threads) for part in self._parts]
        sides = np.concatenate([np.reshape(v, (len(v), -1)) for v in values], axis=1)
        return self._of_rows(sides, lambda place: f"row {place} of {rows}")

    def _of_rows(self, values: Float, where: Callable[[int], str]) -> Float:
        """Return g of outputs of the parts, shape (k, outputs).

        Parameters
        ----------
        values : ndarray of shape (k, outputs of all parts)
        where : callable
            Says of a number from 0 to k − 1 where the values are from.

        Raises
        ------
        ValueError
            If g has no value there, or is not what was said.
        UnsupportedModelError
            If rounding of the outputs decides on g.
        """
        found, steps = self._outputs.of_rows(values), self._outputs.steps
        if steps is not None and (wrong := steps(values)).any():
            row = int(np.argmax(wrong))
            raise UnsupportedModelError(
                f"the model's output steps within rounding error of its decision value for "
                f"{where(row)}, where this is {values[row].tolist()}: which side it is on depends "
                "on the order in which sums are formed. Calibrate with method='sigmoid', and "
                "several classes by OneVsRestClassifier, which have no steps"
            )
        if not np.isfinite(found).all():
            row, output = np.argwhere(~np.isfinite(found))[0].tolist()
            raise ValueError(
                f"what is explained is made of the model's outputs, and becomes "
                f"{found[row, output]} for {where(row)}, where these are {values[row].tolist()}; "
                "values of features are defined for finite numbers only"
            )
        return found[:, self._chosen]

    def _outside(self, means: Float, where: str) -> Float:
        """Return h of means, shape (k, outputs)."""
        if self._link == "identity":
            return means
        outside = ~((means > 0.0) & (means < 1.0))
        if outside.any():
            place, output = np.argwhere(outside)[0].tolist()
            raise InputError(
                Option("link", "logit"),
                f"is for values between 0 and 1, and {where.format(place)} is "
                f"{means[place, output]:.17g}",
                [
                    ("leave ", Option("link", python="link"), " out"),
                    "explain probabilities that are neither 0 nor 1",
                ],
            )
        return np.log(means) - np.log1p(-means)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        self._check_players()
        is_marginal, game = game.is_marginal, self._of_rows_together(game)
        if is_marginal and game.background is not None:
            _check_mixed_rows(len(game.background[0]), self.n_players)
        found = []
        for number, row in enumerate(X):
            worths = self.worths(row, game, None, how.part(number, len(X)), f"row {number} of X")
            found.append(quantity_of(worths.T, quantity).T)
            if how.progress is not None:
                how.progress(number + 1, len(X))
        return np.array(found)

    def _check_players(self) -> None:
        p = self.n_players
        if p > MOST_PLAYERS:
            drawn = "pkex.Explainer(...).estimate(X, n_permutations=1000, random_state=0)"
            raise InputError(
                None,
                f"what is explained is not a sum over features, and exact values take all 2^{p} "
                f"coalitions of its {p} features: pkex goes up to {MOST_PLAYERS} features",
                [estimated_by(drawn), JOINED_COLUMNS],
            )

    def worths(
        self, row: Float, game: Game, members: Members, how: Computation, where: str = "the row"
    ) -> Float:
        """Return the worths of coalitions in the game of a row, shape (count, outputs).

        Parameters
        ----------
        row : ndarray of shape (d,)
        game : Game
        members : ndarray of bool, shape (count, players), optional
            The coalitions; by default all, in the order of their numbers.
        how : Computation
        where : str
            What messages call the row.
        """
        game = self._of_rows_together(game)
        count = 2**self.n_players if members is None else len(members)
        means = np.zeros((count, self.n_outputs))
        if not count:
            return means
        blocks = self._blocks(game, count)
        for number, (some, shares) in enumerate(blocks):
            own = how.part(number, len(blocks))
            sides = np.concatenate(list(self._at_coalitions(row, some, members, own)), axis=-1)
            flat = sides.reshape(-1, sides.shape[-1])
            values = self._of_rows(flat, lambda _: f"a coalition of {where}")
            means += np.einsum("l,lso->so", shares, values.reshape(len(shares), count, -1))
        return self._outside(means, f"the worth of coalition {{}} of {where}")

    def _blocks(self, game: Game, count: int) -> list[tuple[Game, Float]]:
        """Return a game in blocks of background rows, and the weights of these."""
        if game.background is None:
            return [(game, np.ones(1))]
        rows, weights = game.background
        numbers = count * sum(part.n_outputs for part in self._parts)
        step = max(1, _MOST_NUMBERS // numbers)
        blocks = [slice(start, start + step) for start in range(0, len(rows), step)]
        return [
            (replace(game, background=(rows[block], weights[block])), weights[block])
            for block in blocks
        ]

    def base(self, game: Game, how: Computation) -> float | Float:
        game = self._of_rows_together(game)
        if game.background is None:
            if self._outputs.not_neutral:
                raise InputError(
                    Option("value_function", "neutral"),
                    joined("is not for ", self._outputs.not_neutral),
                    [
                        "give a background",
                        ("leave ", Option("value_function", python="value_function"), " out"),
                    ],
                )
            bases = np.concatenate([np.ravel(base) for base in self._bases(game, how)])
            means = self._of_rows(bases[None], lambda _: "the empty coalition")
        else:
            rows, weights = game.background
            inner = self._inside(rows, how.n_threads, "the background")
            means = np.einsum("l,lo->o", weights, inner)[None]
        bases = self._outside(means, "the mean over the background")[0]
        return bases if self.has_output_axis else float(bases[0])

    def _of_rows_together(self, game: Game) -> Game:
        """Return a game in which rows are drawn, in the place of one that draws each feature."""
        if not game.is_marginal:
            return game
        if game.background is None:
            raise _independent("the model's stored points, all combinations")
        rows, weights = game.background
        players, n_players = self.players, self.n_players
        if len(rows) == 1:
            return replace(game, value_function="interventional")
        if len(rows) ** n_players > _MOST_COMBINATIONS:
            raise _independent(f"{len(rows)}^{n_players} rows, all combinations of values")
        return Game("interventional", combined(rows, weights, players))

    def grouped(self, players: NDArray[np.int64]) -> Linked:
        return self._with([part.grouped(players) for part in self._parts], self._chosen)

    def select(self, outputs: Sequence[int]) -> Linked:
        if not self.has_output_axis:
            raise ValueError("the function has a single output and no output axis to select from")
        return self._with(self._parts, [self._chosen[output] for output in outputs])

    def _with(self, parts: Iterable[Function], chosen: Sequence[int]) -> Linked:
        return type(self)(parts, self._outputs, self._link, chosen)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return a scale of errors: of its values, and of what these are made of."""
        sizes = [part.magnitude(X, n_threads=n_threads) for part in self._parts]
        of_parts = np.sum([np.reshape(size, (len(size), -1)).sum(axis=1) for size in sizes], axis=0)
        values = np.abs(self.evaluate(X, n_threads=n_threads))
        scales: Float = values + (of_parts[:, None] if self.has_output_axis else of_parts)
        return scales

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._parts, self._outputs, self._link, self._chosen)

    def __repr__(self) -> str:
        return f"Linked({self.n_outputs} outputs of {', '.join(map(repr, self._parts))})"


def _check_mixed_rows(n_combinations: int, n_players: int) -> None:
    n_rows = n_combinations << n_players
    if n_rows > _MOST_MIXED:
        raise InputError(
            Option("value_function", "marginal"),
            f"would take {n_rows} outputs of the model for each row: {n_combinations} combinations "
            f"of values in 2^{n_players} coalitions; up to {_MOST_MIXED} are taken",
            [_WHOLE_ROWS, JOINED_COLUMNS],
        )


_WHOLE_ROWS = (
    "give a background for ",
    Option("value_function", "interventional"),
    ", whose rows are drawn as they are",
)


def _independent(over: str) -> InputError:
    return InputError(
        Option("value_function", "marginal"),
        "draws each absent feature independently, and for a function that is not a sum over "
        f"features it would be the mean over {over}; up to {_MOST_COMBINATIONS} combinations are "
        "taken",
        _WHOLE_ROWS,
    )


@at_coalitions.register
def _(function: Linked, row: Float, game: Game, members: Members, how: Computation) -> Float:
    if function._link != "identity":
        raise ValueError("a link is outside of a mean, and cannot be within another function")
    sides = np.concatenate(list(function._at_coalitions(row, game, members, how)), axis=-1)
    flat = sides.reshape(-1, sides.shape[-1])
    values = function._of_rows(flat, lambda _: "a coalition of a row")
    shaped: Float = values.reshape(*sides.shape[:-1], function.n_outputs)
    return shaped
