"""What functions that are weighted sums have alike: weights, a constant and players."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.functions.base import Function
from pkex.inputs.arrays import read_only
from pkex.typing import Float

__all__ = ["Weighted", "checked_intercept", "probing_rows"]


class Weighted(Function):
    """A constant plus a weighted sum, whose weights have an output axis if the function has one."""

    __slots__ = ("_coefficients", "_intercept", "_players")

    _coefficients: Float
    _intercept: float | Float
    # The number of each column's player; None if each column is a player of its own.
    _players: NDArray[np.int64] | None

    @property
    def coefficients(self) -> Float:
        """The weights, read-only, shape (n,) or (n, outputs)."""
        return self._coefficients

    @property
    def intercept(self) -> float | Float:
        """The constant: a float, or read-only of shape (outputs,)."""
        return self._intercept

    @property
    def n_players(self) -> int:
        """The number of players: of features, unless some have been grouped."""
        return self.n_features if self._players is None else int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        """The number of each column's player."""
        return np.arange(self.n_features) if self._players is None else self._players

    @property
    def n_outputs(self) -> int:
        """The number of outputs, 1 if there is no output axis."""
        return int(self._coefficients.shape[1]) if self.has_output_axis else 1

    @property
    def has_output_axis(self) -> bool:
        """Whether predictions have shape (n, outputs) rather than (n,)."""
        return self._coefficients.ndim == 2


def checked_intercept(
    intercept: Any, shape: tuple[int, ...], name: str = "intercept"
) -> float | Float:
    """Return one number for each output: a float without an output axis."""
    array = np.asarray(intercept)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a real number; got {intercept!r}")
    if array.ndim and array.shape != shape:
        raise ValueError(
            f"{name} must be a number{f' or have shape {shape}' if shape else ''}, "
            f"as the coefficients have it; got shape {array.shape}"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; got {intercept!r}")
    return read_only(np.broadcast_to(array, shape)) if shape else float(array)


def probing_rows(points: Float) -> Float:
    """Return up to three of the points, and as many rows beside them within the kernel's reach."""
    n, d = points.shape
    if n == 0:
        return np.zeros((1, d))
    chosen = points[np.unique(np.linspace(0, n - 1, 3).astype(np.intp))]
    step = points.max(axis=0) / 8.0 - points.min(axis=0) / 8.0
    # Columns that are constant matter too. The cosines are a fixed set of irregular directions.
    step[step == 0.0] = 1.0
    directions = np.cos(np.arange(1.0, 1.0 + chosen.size)).reshape(chosen.shape)
    return np.concatenate([chosen, chosen + step * directions])
