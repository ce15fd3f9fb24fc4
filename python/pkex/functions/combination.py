"""Linear combinations of functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.functions.at_coalitions import Members, at_coalitions
from pkex.functions.base import Function, finite
from pkex.functions.composite import Composite, alike
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.products import Joined, Products, products
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.typing import Float

__all__ = ["Combination"]


class Combination(Composite):
    """The function intercept + Σ_p weights_p · parts_p(x).

    Parameters
    ----------
    parts : iterable of Function
        At least one, all with the same number of features and the same outputs.
    weights : array-like of shape (n_parts,) or (n_parts, outputs), optional
        1 if not given.
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
        self._parts = alike(parts)
        given = np.ones(len(self._parts)) if weights is None else weights
        # Copies: what is passed may be the arrays of a model, which others can change.
        self._weights = np.array(given, dtype=np.float64)
        self._intercept = np.array(intercept, dtype=np.float64)

    @property
    def n_outputs(self) -> int:
        return self._parts[0].n_outputs

    @property
    def has_output_axis(self) -> bool:
        return self._parts[0].has_output_axis

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        terms = [w * part.evaluate(X, n_threads=n_threads) for w, part in self._weighted()]
        return finite(_compensated_sum([*terms, self._intercept]))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        parts = self._explained(X, game, quantity, how)
        constant = self._intercept if quantity.size == 0 else np.zeros(())
        with np.errstate(over="ignore", invalid="ignore"):
            terms = (w * part for w, part in zip(self._weights, parts, strict=True))
            return finite(_compensated_sum(chain(terms, [constant])))

    def base(self, game: Game, how: Computation) -> float | Float:
        bases = self._bases(game, how)
        terms = [w * np.asarray(base) for w, base in zip(self._weights, bases, strict=True)]
        base = _compensated_sum([*terms, self._intercept])
        return base if self.has_output_axis else float(base)

    def grouped(self, players: NDArray[np.int64]) -> Combination:
        parts = [part.grouped(players) for part in self._parts]
        return type(self)(parts, self._weights, self._intercept)

    def select(self, outputs: Sequence[int]) -> Combination:
        chosen = list(outputs)
        return type(self)(
            [part.select(chosen) for part in self._parts],
            self._weights[:, chosen] if self._weights.ndim == 2 else self._weights,
            self._intercept[chosen] if self._intercept.ndim else self._intercept,
        )

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        terms = [np.abs(w) * part.magnitude(X, n_threads=n_threads) for w, part in self._weighted()]
        return np.asarray(sum(terms, start=np.abs(self._intercept)))

    def _weighted(self) -> Iterable[tuple[Any, Function]]:
        return zip(self._weights, self._parts, strict=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._parts, self._weights, self._intercept)

    def __repr__(self) -> str:
        return f"Combination({len(self._parts)} × {self._parts[0]!r})"


@covariances.register
def _(variance: Combination, X: Float, game: Game, how: Computation) -> Float:
    # That of a sum of functions which are independent of each other.
    parts = variance._parts
    own = [covariances(p, X, game, how.part(i, len(parts))) for i, p in enumerate(parts)]
    return np.asarray(sum(w * part for w, part in zip(variance._weights, own, strict=True)))


def _compensated_sum(terms: Iterable[NDArray[Any]]) -> Float:
    """Add arrays with twice the precision (Knuth's two-sum, the errors summed alongside)."""
    total = error = np.zeros(())
    for term in terms:
        larger = total + term
        gained = larger - total
        error = error + ((total - (larger - gained)) + (term - gained))
        total = larger
    return np.asarray(total + error)


@at_coalitions.register
def _(function: Combination, row: Float, game: Game, members: Members, how: Computation) -> Float:
    values = function._at_coalitions(row, game, members, how)
    terms = (w * part for w, part in zip(function._weights, values, strict=True))
    return _compensated_sum(chain(terms, [function._intercept]))


@draws.register(Combination)
def _(
    variance: Combination, rows: NDArray[Any], n: int, random: np.random.Generator
) -> list[Draws]:
    # As covariances are: of a sum of functions which are independent of each other.
    outputs = zip(*(draws(part, rows, n, random) for part in variance._parts), strict=True)
    squares = np.broadcast_to(variance._weights.T, (variance.n_outputs, len(variance._parts)))
    return [
        Draws(
            Combination([one.function for one in own], np.sqrt(weights)),
            max(one.left_out for one in own),
        )
        for own, weights in zip(outputs, squares, strict=True)
    ]


@products.register
def _(function: Combination, rows: NDArray[Any]) -> Products:
    parts = [products(part, rows) for part in function._parts]
    weighted = zip(function._weights, parts, strict=True)
    return Joined(parts, [weight * part.weights for weight, part in weighted])
