"""Functions side by side, as outputs of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.functions.at_coalitions import Members, at_coalitions
from pkex.functions.base import Function
from pkex.functions.composite import Composite, alike
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.products import Joined, Products, products
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.typing import Float

__all__ = ["Stack"]


class Stack(Composite):
    """The function that has each of several functions as an output.

    Parameters
    ----------
    parts : iterable of Function
        At least one, all with the same number of features and without an output axis.

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
        self._parts = alike(parts)
        if self._parts[0].has_output_axis:
            raise ValueError("only functions without an output axis can be stacked")

    @property
    def n_outputs(self) -> int:
        return len(self._parts)

    @property
    def has_output_axis(self) -> bool:
        return True

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return np.stack([part.evaluate(X, n_threads=n_threads) for part in self._parts], axis=-1)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        return np.concatenate(list(self._explained(X, game, quantity, how)), axis=-1)

    def base(self, game: Game, how: Computation) -> Float:
        return np.array(list(self._bases(game, how)))

    def grouped(self, players: NDArray[np.int64]) -> Stack:
        return Stack([part.grouped(players) for part in self._parts])

    def select(self, outputs: Sequence[int]) -> Stack:
        return Stack([self._parts[output] for output in outputs])

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return np.stack([part.magnitude(X, n_threads=n_threads) for part in self._parts], axis=-1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._parts,)

    def __repr__(self) -> str:
        return f"Stack({len(self._parts)} outputs, the first {self._parts[0]!r})"


@covariances.register
def _(variance: Stack, X: Float, game: Game, how: Computation) -> Float:
    parts = variance._parts
    own = [covariances(p, X, game, how.part(i, len(parts))) for i, p in enumerate(parts)]
    return np.concatenate(own, axis=-1)


@draws.register(Stack)
def _(variance: Stack, rows: NDArray[Any], n: int, random: np.random.Generator) -> list[Draws]:
    return [own for part in variance._parts for own in draws(part, rows, n, random)]


@at_coalitions.register
def _(function: Stack, row: Float, game: Game, members: Members, how: Computation) -> Float:
    return np.concatenate(list(function._at_coalitions(row, game, members, how)), axis=-1)


@products.register
def _(function: Stack, rows: NDArray[Any]) -> Products:
    parts = [products(part, rows) for part in function._parts]
    # Of each output the products of its own part.
    outputs = np.eye(len(parts))
    return Joined(parts, [part.weights * own for part, own in zip(parts, outputs, strict=True)])
