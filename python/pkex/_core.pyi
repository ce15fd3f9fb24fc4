"""The compiled engine. Arguments are validated in Python before they get here."""

from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Expansion", "product_game", "simd_level"]

# (coefficient, [(family, columns of shape (k,), parameters of shape (k, n_parameters)), ...]):
# columns that no factor mentions have factor 1; a column may occur in several.
_Term = tuple[float, list[tuple[str, NDArray[np.int64], NDArray[np.float64]]]]
_Progress = Callable[[int, int], None]

@final
class Expansion:
    def __new__(
        cls,
        points: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        terms: list[_Term],
    ) -> Expansion: ...
    def explain(
        self,
        X: NDArray[np.float64],
        *,
        method: str,
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def predict(
        self,
        X: NDArray[np.float64],
        *,
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...

def product_game(
    present: NDArray[np.float64],
    absent: NDArray[np.float64] | None,
    difference: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    *,
    index: str,
    method: str,
    summation: str,
    n_threads: int,
) -> NDArray[np.float64]: ...
def simd_level() -> str: ...
