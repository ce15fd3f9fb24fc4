"""Where the features come from that a preference's explanation takes for absent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pkex.explain.observational import conditioning_of
from pkex.functions.conditional import MOST_CONDITIONED
from pkex.games.conditioning import ConditionalBackground
from pkex.games.observational import Observational
from pkex.games.value_functions import Game, ValueFunction, chosen_value_function
from pkex.models.preferences.preferential import joined
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["Absent"]

# Pairs of items that absent features are drawn from.
_MOST_PAIRS = 1 << 20


@dataclass(frozen=True, eq=False)
class Absent:
    """Where absent features come from.

    Parameters
    ----------
    value_function : {"neutral", "interventional", "marginal", "observational"}
    rows : ndarray of shape (m, d)
    shares : ndarray of shape (m,)
        Which add up to 1.
    settings : Observational
        Of the observational game.
    names : sequence of str
        Of the columns.
    """

    value_function: ValueFunction
    rows: Float
    shares: Float
    settings: Observational
    names: Sequence[str]

    @classmethod
    def chosen(
        cls,
        value_function: ValueFunction | Observational | None,
        background: Float | None,
        own: tuple[Float, Float],
        names: Sequence[str],
    ) -> Absent:
        """Return what is told, with the model's own rows and shares if there is no background.

        As of `pkex.Explainer`, the default is "marginal" without and "interventional" with a
        background.
        """
        # The own rows stand in where a game is asked for that needs some.
        needs_rows = value_function is not None and value_function != "neutral"
        rows = own[0] if background is None and needs_rows else background
        chosen = chosen_value_function(value_function, rows, None)
        settings = value_function if isinstance(value_function, Observational) else Observational()
        of_rows = own if background is None else (background, equal_weights(len(background)))
        return cls(chosen, *of_rows, settings, names)

    @property
    def is_conditional(self) -> bool:
        """Whether absent features follow those that are present."""
        return self.value_function == "observational"

    @property
    def game(self) -> Game:
        """The game of the rows."""
        is_neutral = self.value_function == "neutral"
        return Game(self.value_function, None if is_neutral else (self.rows, self.shares))

    @property
    def of_pairs(self) -> Game:
        """The game of all pairs of rows, side by side."""
        if self.value_function == "neutral":
            return self.game
        m = len(self.rows)
        if m**2 > _MOST_PAIRS:
            raise ValueError(
                f"absent features are drawn from all pairs of {m:,} items, and pkex goes up to "
                f"{int(_MOST_PAIRS**0.5):,}: give background=, a sample of the items"
            )
        pairs = joined(np.repeat(self.rows, m, axis=0), np.tile(self.rows, (m, 1)))
        return Game(self.value_function, (pairs, np.outer(self.shares, self.shares).ravel()))

    def conditioning(self) -> ConditionalBackground:
        """Return how the rows count beside what is known.

        Raises
        ------
        ValueError
            If there are too many columns, or the rows cannot be compared.
        """
        p = len(self.names)
        if p > MOST_CONDITIONED:
            raise ValueError(
                f"value_function='observational' looks at all 2^{p} coalitions of {p} features, "
                f"for each of which it factors a matrix: pkex goes up to {MOST_CONDITIONED} "
                "features; value_function='interventional' takes any number"
            )
        return conditioning_of(self.settings, self.rows, self.shares, self.names)
