"""The observational value function of an explained function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputWarning, Option, Text, warn
from pkex.execution.computation import Computation
from pkex.explain.model_columns import ModelColumns
from pkex.functions.base import Function
from pkex.functions.coalitionwise import row_names
from pkex.functions.conditional import Conditional
from pkex.functions.linked import Link
from pkex.functions.probing import evenly_spaced
from pkex.games.category_codes import CategoryCodes
from pkex.games.conditioning import ConditionalBackground
from pkex.games.observational import Observational
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.wording import shown
from pkex.typing import Float

# Coalitions and background rows at which the error of landmarks is measured; the error that raises
# a warning; and the number of rows up to which it is compared with all rows as landmarks.
_COALITIONS, _ROWS, _LARGE, _ALL_ROWS = 8, 16, 0.05, 2000


def conditional_function(
    function: Function, value_function: Any, game: Game, columns: ModelColumns, link: Link
) -> Conditional:
    """Return the conditional expectation of a function given the present features.

    Parameters
    ----------
    function : Function
    value_function : Observational or "observational"
    game : Game
        With a background.
    columns : ModelColumns
    link : {"identity", "logit"}

    Raises
    ------
    ValueError
        If there is a link, or a column cannot be compared between rows.
    """
    if link != "identity":
        raise InputError(
            Option("link", link),
            (
                "is applied to the mean over the background, but the weighted means of ",
                Option("value_function", "observational"),
                " can lie outside of its domain",
            ),
            [
                ("leave ", Option("link", python="link"), " out"),
                ("explain ", Option("target", "log-odds")),
            ],
        )
    if game.background is None:
        raise ValueError("the observational game has a background")
    settings = value_function if isinstance(value_function, Observational) else Observational()
    return Conditional(function, conditioning_of(settings, *game.background, columns.names))


def conditioning_of(
    settings: Observational, rows: NDArray[Any], shares: Float, names: Sequence[str]
) -> ConditionalBackground:
    """Return the background rows with weights that depend on the present features.

    Raises
    ------
    ValueError
        If a column cannot be compared between rows.
    """
    d, unused_columns = len(names), frozenset[int]()
    if settings.kernel is not None:
        factors = [factor for term in settings.kernel.terms(d) for factor in term.all_factors]
        used_columns = {column for factor in factors for column in factor.columns.tolist()}
        unused_columns = frozenset(range(d)) - used_columns
    levels = CategoryCodes.of(rows, names, unused_columns)
    settings = settings.resolved(levels.numbers(rows, "background"), levels)
    return ConditionalBackground(settings, rows, shares, levels)


def warn_of_constant_players(function: Conditional) -> None:
    """Warn of players whose columns are all constant, on which nothing can be conditioned."""
    rows, levels = function.conditioning.rows, function.conditioning.levels
    is_constant = (rows == rows[0]).all(axis=0)
    n_varying = np.bincount(function.players, ~is_constant, function.n_players)
    is_fixed = n_varying[function.players] == 0.0
    columns = [j for j in np.flatnonzero(is_fixed).tolist() if j not in levels.ignored_columns]
    if columns and not is_constant.all():
        names = shown([levels.names[column] for column in columns])
        warn(
            InputWarning(
                "background",
                f"has the constant columns {names}, which carry no information about other "
                "columns: their Shapley values come from the model alone",
                "pass a background in which they vary",
            )
        )


def landmark_error(function: Conditional, computation: Computation) -> float | None:
    """Return the error of v(S) due to landmarks, relative to its spread; None without landmarks.

    The root mean square over some coalitions of some background rows, compared with all rows as
    landmarks or, for a large background, with twice as many. A large error raises a warning.
    """
    conditioning, p = function.conditioning, function.n_players
    number = conditioning.settings.n_landmarks
    if number is None or conditioning.landmarks is None or p < 2:
        return None
    sizes = np.resize(np.arange(1, p), _COALITIONS)[:, None]
    order = np.random.default_rng(0).permuted(np.tile(np.arange(p), (_COALITIONS, 1)), axis=1)
    rows = conditioning.rows
    sample = evenly_spaced(len(rows), _ROWS)
    n_reference = None if len(rows) <= _ALL_ROWS else 2 * number
    reference = replace(
        conditioning, settings=replace(conditioning.settings, n_landmarks=n_reference)
    )
    values, reference_values = (
        Conditional(function.function, background).coalition_values(
            rows[sample], NEUTRAL, order < sizes, computation, row_names(0)
        )
        for background in (conditioning, reference)
    )
    spread = np.sqrt(np.mean((reference_values - reference_values.mean(axis=(0, 1))) ** 2))
    error = (
        float(np.sqrt(np.mean((values - reference_values) ** 2)) / spread) if spread > 0.0 else 0.0
    )
    if error > _LARGE:
        comparison = "all rows" if n_reference is None else "twice as many"
        fix: list[Text] = ["take more", ("take ", Option("kernel", python="a wider kernel"))]
        warn(
            InputWarning(
                Option("n_landmarks", number),
                f"changes the values of coalitions by {error:.0%} of their spread, compared with "
                f"{comparison} as landmarks",
                fix,
            )
        )
    return error
