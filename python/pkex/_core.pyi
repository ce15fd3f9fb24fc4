"""The compiled engine. Its errors name its own arguments; pkex checks users' arguments before."""

from collections.abc import Callable, Iterable
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Expansion",
    "SparseExpansion",
    "available_threads",
    "coupled_probabilities",
    "gauss_mean",
    "gauss_mean_at",
    "mean_factors",
    "median_distance",
    "pair_sums",
    "permuted_sums",
    "product_game",
    "rectangle_sums",
    "self_pairs",
    "simd_level",
    "sums_of_parts",
    "superset_sums",
    "variance_games",
]

# [(family, columns of shape (k,), parameters of shape (k, 1 or 2)), ...]: columns without a factor
# have factor 1; a column may occur in several factors.
_Factors = list[tuple[str, NDArray[np.int64], NDArray[np.float64]]]
# (weights of shape (p + 1,), "exponential" or "linear", columns of shape (k,), rates of shape (k,),
# factors of arguments).
_Series = tuple[NDArray[np.float64], str, NDArray[np.int64], NDArray[np.float64], _Factors]
# (coefficient, factors, a power series by which they are multiplied).
_Term = tuple[float, _Factors, _Series | None]
# "neutral" or "marginal of points"; or ("interventional" or "marginal", background rows of shape
# (m, columns), their weights of shape (m,)).
_Game = str | tuple[str, NDArray[np.float64], NDArray[np.float64]]
# The starts of rows of shape (n + 1,), the columns and the values of a sparse matrix in canonical
# CSR form, and its number of columns.
_SparseRows = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]
# As _Game.
_SparseGame = str | tuple[str, _SparseRows, NDArray[np.float64]]
# Points, terms, players, absent factors, groups.
_Sample = tuple[
    NDArray[np.float64],
    list[_Term],
    NDArray[np.int64],
    NDArray[np.float64] | None,
    NDArray[np.int64],
]
# The weights of pairs: (number of rows of the first class, rows' weights, whether pairs within the
# second class are left out, whether halves of γ(a, a) are subtracted); or (targets, their terms,
# offsets, a constant, whether octets exchange targets, whether halves are subtracted for each of
# both kernels).
_Weighting = (
    tuple[int, NDArray[np.float64] | None, bool, bool]
    | tuple[
        NDArray[np.float64],
        list[_Term],
        NDArray[np.float64],
        float,
        bool,
        tuple[bool, bool],
    ]
)
# Sums of rows, of groups (·, weights, ·), of univariate values and of squares.
_PairSums = tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]
]
_Progress = Callable[[int, int], None]

@final
class Expansion:
    def __new__(
        cls,
        points: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        terms: list[_Term],
        players: NDArray[np.int64] | None = None,
    ) -> Expansion: ...
    @staticmethod
    def quadratic(
        points: NDArray[np.float64],
        weights: NDArray[np.float64],
        terms: list[_Term],
        players: NDArray[np.int64] | None = None,
    ) -> Expansion: ...
    @staticmethod
    def squares(
        points: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        terms: list[_Term],
        players: NDArray[np.int64] | None = None,
    ) -> Expansion: ...
    def explain(
        self,
        X: NDArray[np.float64],
        *,
        game: _Game,
        method: str,
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def interactions(
        self,
        X: NDArray[np.float64],
        *,
        game: _Game,
        size: int,
        measure: float | tuple[float, int, int, int],
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def base(
        self,
        *,
        game: _Game,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def coalition_values(
        self,
        X: NDArray[np.float64],
        game: _Game,
        coalitions: NDArray[np.bool_] | NDArray[np.int64] | tuple[int, int],
        *,
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

def superset_sums(
    values: NDArray[np.float64],
    n_players: int,
    larger: int,
    smaller: int,
    *,
    n_threads: int,
    progress: _Progress | None = None,
) -> NDArray[np.float64]: ...
def coupled_probabilities(
    values: NDArray[np.float64],
    slopes: NDArray[np.float64],
    offsets: NDArray[np.float64],
    *,
    n_threads: int,
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
def pair_sums(
    sample: _Sample,
    weighting: _Weighting,
    *,
    univariate_in_groups: bool,
    summation: str,
    n_threads: int,
    progress: _Progress | None = None,
) -> _PairSums: ...
def mean_factors(
    points: NDArray[np.float64],
    terms: list[_Term],
    players: NDArray[np.int64],
    *,
    n_threads: int,
    progress: _Progress | None = None,
) -> NDArray[np.float64]: ...
def gauss_mean(
    entries: NDArray[np.float64], length_scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def gauss_mean_at(
    numbers: NDArray[np.float64],
    length_scale: float,
    centers: NDArray[np.float64],
    moments: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def median_distance(entries: NDArray[np.float64]) -> float: ...
def self_pairs(
    points: NDArray[np.float64],
    terms: list[_Term],
    players: NDArray[np.int64],
    absent: NDArray[np.float64] | None,
) -> NDArray[np.float64]: ...
def rectangle_sums(
    sample: _Sample,
    weighting: _Weighting,
    *,
    univariate_in_groups: bool,
    summation: str,
    rectangles: tuple[int, int],
) -> NDArray[np.float64]: ...
def sums_of_parts(
    sample: _Sample,
    weighting: _Weighting,
    parts: Callable[[int], Iterable[NDArray[np.float64]]],
    *,
    univariate_in_groups: bool,
    summation: str,
) -> _PairSums: ...
def permuted_sums(
    weights: NDArray[np.float64],
    values: NDArray[np.float64],
    orders: NDArray[np.int64],
    *,
    n_threads: int,
) -> NDArray[np.float64]: ...
def variance_games(
    means: NDArray[np.float64],
    deviations: NDArray[np.float64],
    starts: NDArray[np.int64],
    weights: NDArray[np.float64],
    players: NDArray[np.int64],
    *,
    with_interactions: bool,
    twice_the_precision: bool,
    summation: str,
    n_threads: int,
    progress: _Progress | None = None,
) -> NDArray[np.float64]: ...
def simd_level() -> str: ...

@final
class SparseExpansion:
    def __new__(
        cls,
        points: _SparseRows,
        coefficients: NDArray[np.float64],
        terms: list[_Term],
    ) -> SparseExpansion: ...
    def explain(
        self,
        X: _SparseRows,
        *,
        game: _SparseGame,
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def selected_pairs(
        self,
        X: _SparseRows,
        *,
        selected: NDArray[np.int64],
        game: _SparseGame,
        summation: str,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def base(
        self,
        *,
        game: _SparseGame,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...
    def predict(
        self,
        X: _SparseRows,
        *,
        n_threads: int,
        progress: _Progress | None = None,
    ) -> NDArray[np.float64]: ...

def available_threads() -> int: ...
