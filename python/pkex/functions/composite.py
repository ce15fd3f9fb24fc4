"""What functions made of several functions share."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.functions.at_coalitions import Members, at_coalitions
from pkex.functions.base import Function
from pkex.games.indices import Quantity
from pkex.games.value_functions import Game
from pkex.typing import Float

__all__ = ["Composite", "alike"]


class Composite(Function):
    """What functions made of other functions of the same features share."""

    __slots__ = ("_parts",)

    _parts: tuple[Function, ...]

    @property
    def n_features(self) -> int:
        return self._parts[0].n_features

    @property
    def n_players(self) -> int:
        return self._parts[0].n_players

    @property
    def players(self) -> NDArray[np.int64]:
        return self._parts[0].players

    @property
    def draws_rows(self) -> bool:
        return any(part.draws_rows for part in self._parts)

    @property
    def allows_missing(self) -> bool:
        return all(part.allows_missing for part in self._parts)

    @property
    def non_numeric(self) -> frozenset[int]:
        return frozenset.intersection(*(part.non_numeric for part in self._parts))

    @property
    def discrete(self) -> frozenset[int]:
        return frozenset().union(*(part.discrete for part in self._parts))

    @property
    def keeps_points(self) -> bool:
        return all(part.keeps_points for part in self._parts)

    @property
    def parts(self) -> tuple[Function, ...]:
        """The functions that it is made of."""
        return self._parts

    def with_parts(self, parts: Iterable[Function]) -> Composite:
        """Return what is made of other functions, of the same outputs, in the same way."""
        copied = copy.copy(self)
        copied._parts = tuple(parts)
        return copied

    def own_points(self) -> Float | None:
        """Return the points of the first part if all the others have the same."""
        first, *others = (part.own_points() for part in self._parts)
        is_shared = first is not None and all(
            points is first or (points is not None and np.array_equal(points, first))
            for points in others
        )
        return first if is_shared else None

    def probing_rows(self) -> Float:
        """Return rows of all the parts, or of parts at even distances if there are many.

        A part that knows categories of a column gives its entries to the rows of the others.
        """
        chosen = [self._parts[i] for i in _evenly(len(self._parts), _MOST_PROBING_ROWS)]
        share = max(2, _MOST_PROBING_ROWS // len(chosen))
        own = [rows[_evenly(len(rows), share)] for rows in (p.probing_rows() for p in chosen)]
        rows = np.concatenate(own)
        for column in self.discrete:
            known = [
                found for part, found in zip(chosen, own, strict=True) if column in part.discrete
            ]
            if known:
                rows[:, column] = np.resize(np.concatenate(known)[:, column], len(rows))
        if self.discrete and any(taken := [self._takes(row[None]) for row in rows]):
            rows = rows[taken]
        return rows[_evenly(len(rows), _MOST_PROBING_ROWS)]

    def _takes(self, rows: Float) -> bool:
        """Whether all the parts know the categories in rows."""
        try:
            self.evaluate(rows, n_threads=1)
        except ValueError:
            return False
        return True

    def _bases(self, game: Game, how: Computation) -> Iterator[float | Float]:
        """Return the values of the empty coalition of the parts, one after the other."""
        for number, part in enumerate(self._parts):
            yield part.base(game, how.part(number, len(self._parts)))

    def _explained(
        self, X: Float, game: Game, quantity: Quantity, how: Computation
    ) -> Iterator[Float]:
        """Explain the parts one after the other."""
        for number, part in enumerate(self._parts):
            own = how.part(number, len(self._parts))
            yield part.explain(X, game=game, quantity=quantity, how=own)

    def _at_coalitions(
        self, row: Float, game: Game, members: Members, how: Computation
    ) -> Iterator[Float]:
        """Return the outputs of the parts at coalitions, one after the other."""
        for number, part in enumerate(self._parts):
            own = how.part(number, len(self._parts))
            yield at_coalitions(part, row, game, members, own)


# A composite is compared with the model's own output on no more rows than this.
_MOST_PROBING_ROWS = 12


def _evenly(length: int, most: int) -> NDArray[np.intp]:
    """Return up to `most` of the numbers from 0 to length − 1, the first and last among them."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).astype(np.intp))


def alike(parts: Iterable[Function]) -> tuple[Function, ...]:
    """Return functions as a tuple if they are of the same features and outputs."""
    checked = tuple(parts)
    shapes = {(part.n_features, part.n_outputs, part.has_output_axis) for part in checked}
    if len(shapes) != 1:
        raise ValueError(
            "the parts must be one or more functions of the same features and outputs; "
            f"got {list(checked)}"
        )
    return checked
