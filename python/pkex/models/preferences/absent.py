"""The distribution of absent features in explanations of preferences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pkex.explain.observational import conditioning_of
from pkex.functions.conditional import MAX_CONDITIONED
from pkex.games.conditioning import ConditionalBackground
from pkex.games.observational import Observational
from pkex.games.players import Groups, Players, as_players
from pkex.games.value_functions import Game, ValueFunction, chosen_value_function
from pkex.models.preferences.preferential import Preferential, join_columns
from pkex.tables.weights import equal_weights
from pkex.typing import Float

# The largest number of pairs of items that absent features are drawn from.
_MAX_PAIRS = 1 << 20


@dataclass(frozen=True, eq=False)
class Absent:
    """The distribution of absent features.

    Parameters
    ----------
    value_function : {"neutral", "interventional", "marginal", "observational"}
    rows : ndarray of shape (m, d)
    shares : ndarray of shape (m,)
        The weights of rows, with sum 1.
    settings : Observational
        Settings of the observational value function.
    names : sequence of str
        The names of the columns.
    players : Players
        The columns or groups of columns that are present or absent.
    """

    value_function: ValueFunction
    rows: Float
    shares: Float
    settings: Observational
    names: Sequence[str]
    players: Players

    @classmethod
    def of(
        cls,
        value_function: ValueFunction | Observational | None,
        background: Float | None,
        default: tuple[Float, Float],
        names: Sequence[str],
        groups: Groups,
    ) -> Absent:
        """Return the distribution for the arguments of an explanation.

        As in `pkex.Explainer`, the default is "marginal" without and "interventional" with a
        background. Without a background, `default` has the rows and their weights.
        """
        needs_rows = value_function is not None and value_function != "neutral"
        rows = default[0] if background is None and needs_rows else background
        name = chosen_value_function(value_function, rows, None)
        settings = value_function if isinstance(value_function, Observational) else Observational()
        of_rows = default if background is None else (background, equal_weights(len(background)))
        return cls(name, *of_rows, settings, names, as_players(groups, names))

    @property
    def is_conditional(self) -> bool:
        """Whether absent features depend on the present ones."""
        return self.value_function == "observational"

    @property
    def game(self) -> Game:
        """The game of the rows."""
        is_neutral = self.value_function == "neutral"
        return Game(self.value_function, None if is_neutral else (self.rows, self.shares))

    @property
    def of_pairs(self) -> Game:
        """The game of all pairs of rows, in the columns of both items."""
        if self.value_function == "neutral":
            return self.game
        m = len(self.rows)
        if m**2 > _MAX_PAIRS:
            raise ValueError(
                f"absent features are drawn from all pairs of {m:,} items, but at most "
                f"{int(_MAX_PAIRS**0.5):,} items are supported. Pass a sample as background"
            )
        pairs = join_columns(np.repeat(self.rows, m, axis=0), np.tile(self.rows, (m, 1)))
        return Game(self.value_function, (pairs, np.outer(self.shares, self.shares).ravel()))

    def game_of(self, f: Preferential) -> Game:
        """Return the game of the rows of `f.one_way`."""
        return self.of_pairs if f.is_of_both else self.game

    def conditioning(self) -> ConditionalBackground:
        """Return the rows with their weights given the present features.

        Raises
        ------
        ValueError
            If there are too many columns, or the rows cannot be compared.
        """
        p = len(self.players)
        if p > MAX_CONDITIONED:
            raise ValueError(
                f"value_function='observational' factors a matrix for each of 2^{p} coalitions of "
                f"{p} features; at most {MAX_CONDITIONED} features are supported. Pass "
                "value_function='interventional' or groups of features"
            )
        return conditioning_of(self.settings, self.rows, self.shares, self.names)
