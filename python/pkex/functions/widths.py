"""How fast functions of a column change, and where: what quadrature rules are made for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.family import Factor
from pkex.typing import Float

__all__ = ["Width", "widths_of_column"]


@dataclass(frozen=True, eq=False)
class Width:
    """How far apart entries are between which functions differ, in some intervals.

    Outside of these the functions are 0, but for 1e-17.

    Parameters
    ----------
    width : float
    starts, ends : ndarray of shape (k,)
        Each in ascending order.
    """

    width: float
    starts: Float
    ends: Float

    def meets(self, low: Float, high: Float) -> NDArray[np.bool_]:
        """Return whether panels have a part in an interval."""
        begun = np.searchsorted(self.starts, high, side="left")
        over = np.searchsorted(self.ends, low, side="right")
        return np.asarray(begun > over)

    def before(self, slope: float, offset: float) -> Width:
        """Return it in terms of an entry x of which slope · x + offset is taken."""
        ends = (np.stack([self.starts, self.ends]) - offset) / slope
        return Width(self.width / abs(slope), np.sort(ends.min(axis=0)), np.sort(ends.max(axis=0)))

    def everywhere(self, ratio: float) -> Width:
        """Return it without intervals, times a ratio."""
        return Width(self.width * ratio, np.array([-np.inf]), np.array([np.inf]))


def widths_of_column(factors: Iterable[Factor], column: int, points: Float) -> list[Width]:
    """Return the length-scales of a column's factors, each around the points as far as it reaches.

    Equal ones once.
    """
    found: dict[tuple[float, float], Width] = {}
    for factor in factors:
        family = factor.definition
        if not (family.is_of_distance or factor.parameters.shape[1] == 2):
            continue
        for scale in np.abs(factor.parameters[factor.columns == column]).min(
            axis=1, initial=np.inf
        ):
            reach = float(family.reach * scale)
            entries = np.unique(points[:, column])
            found[float(scale), reach] = Width(float(scale), entries - reach, entries + reach)
    return list(found.values())
