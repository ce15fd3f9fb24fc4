"""Types that many files name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Float", "Report"]

Float: TypeAlias = NDArray[np.float64]

# Told the work done and the total, in arbitrary units.
Report: TypeAlias = Callable[[int, int], None]
