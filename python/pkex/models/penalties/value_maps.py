"""Shapley values at the training rows of a model, as linear maps of its coefficients.

For f = Σ_i a_i k(·, x_i), the value of a feature at row x_t is Σ_i a_i ζ_it, where ζ_it is its
value for k(·, x_i) (Chau, Hu, Gonzalez and Sejdinovic 2022, RKHS-SHAP, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkex.execution.computation import Computation
from pkex.functions.packing import Packing, values_of_points
from pkex.games.value_functions import Game
from pkex.kernels import Kernel
from pkex.typing import Float


def maps_by_engine(
    points: Float, kernel: Kernel, game: Game, features: Sequence[int], computation: Computation
) -> Float:
    """Return ζ of each feature, exactly, computed by the engine.

    Absent features are drawn from a background: ζ_it is a sum over its rows. The time is polynomial
    in all sizes.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    kernel : Kernel
    game : Game
        A game with a background.
    features : sequence of int
        The numbers of columns.
    computation : Computation

    Returns
    -------
    ndarray of shape (features, n points, n rows)
    """
    n, d = points.shape
    players = np.arange(d)
    terms = Packing(points, np.zeros((n, 1)), kernel, players).terms_at(0)
    maps = np.empty((len(features), n, n))
    columns = list(features)
    for block, values in values_of_points(points, points, game.packed, terms, players, computation):
        maps[:, block] = values[:, columns].transpose(1, 2, 0)
    return maps
