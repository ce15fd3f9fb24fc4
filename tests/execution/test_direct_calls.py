"""Direct calls of the compiled engine, with arguments that Python would not pass.

They raise an error that names the argument: no panic, no hang, and no "overflow" for an argument
that is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pkex import _core

N_ROWS, N_COLUMNS = 6, 2
ROWS = np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS))
ONES = np.ones((N_ROWS, 1))
PLAYERS = np.arange(N_COLUMNS)
GROUPS = np.zeros(N_ROWS, dtype=np.int64)
OPTIONS: dict[str, Any] = {"summation": "compensated", "n_threads": 1}
UNIFORM = (1.0, 0, 0, 0)


def rbf(n_columns: int = N_COLUMNS, length_scale: float = 1.0) -> list[Any]:
    """Return a Gaussian kernel of all columns, in the engine's form."""
    columns = np.arange(n_columns)
    return [(1.0, [("rbf", columns, np.full((n_columns, 1), length_scale))], None)]


def with_number(values: np.ndarray, number: float) -> np.ndarray:
    """Return a copy whose last number is another one."""
    changed = np.array(values, dtype=np.float64)
    changed.flat[-1] = number
    return changed


def expansion(**changed: Any) -> _core.Expansion:
    """Return an expansion with some arguments changed."""
    arguments = {"points": ROWS, "coefficients": ONES, "terms": rbf(), "players": PLAYERS}
    return _core.Expansion(**(arguments | changed))


def explained(**changed: Any) -> object:
    """Explain the points of an expansion."""
    arguments = {"X": ROWS, "game": "neutral", "method": "quadrature", **OPTIONS}
    return expansion().explain(**(arguments | changed))


def interactions(**changed: Any) -> object:
    """Compute interactions of the points of an expansion."""
    arguments = {"X": ROWS, "game": "neutral", "size": 2, "measure": UNIFORM, **OPTIONS}
    return expansion().interactions(**(arguments | changed))


def classes(*, sample: dict[str, Any] | None = None, **changed: Any) -> object:
    """Sum over the pairs of two classes."""
    of_sample = {
        "points": ROWS,
        "terms": rbf(),
        "players": PLAYERS,
        "absent": None,
        "groups": GROUPS,
    }
    weighting = {"n_first": 0, "weights": None, "skips_second": False, "takes_halves": True}
    options = {"univariate_in_groups": False, **OPTIONS}
    weighting |= {name: value for name, value in changed.items() if name in weighting}
    options |= {name: value for name, value in changed.items() if name in options}
    values = tuple((of_sample | (sample or {})).values())
    return _core.pair_sums(values, tuple(weighting.values()), **options)


def target(*, columns: int = 1, **changed: Any) -> object:
    """Sum over the pairs of a sample, weighted by a target."""
    weighting = {
        "targets": np.ones((N_ROWS, columns)),
        "terms": rbf(columns),
        "offsets": np.zeros(N_ROWS),
        "constant": 0.0,
        "exchanges": False,
        "takes_halves": (True, True),
    } | changed
    sample = (ROWS, rbf(), PLAYERS, None, GROUPS)
    return _core.pair_sums(sample, tuple(weighting.values()), univariate_in_groups=False, **OPTIONS)


def product_game(**changed: Any) -> object:
    """Compute the values of product games."""
    arguments = {
        "present": ROWS,
        "absent": None,
        "difference": None,
        "weights": ONES,
        "index": "SV",
        "method": "quadrature",
        **OPTIONS,
    }
    return _core.product_game(**(arguments | changed))


def variance_games(**changed: Any) -> object:
    """Compute the values and interactions of a sum of products."""
    arguments = {
        "means": ROWS,
        "deviations": ROWS,
        "starts": np.arange(N_COLUMNS + 1),
        "weights": ONES,
        "players": PLAYERS,
        "with_interactions": True,
        "twice_the_precision": False,
        **OPTIONS,
    }
    return _core.variance_games(**(arguments | changed))


NAN, INFINITY = float("nan"), float("inf")
EMPTY = np.empty((N_ROWS, 0))
NO_PLAYERS = np.empty(0, dtype=np.int64)
BACKGROUND = (ROWS, np.full(N_ROWS, 1.0 / N_ROWS))


def sparse_rows(
    starts: Sequence[int], columns: Sequence[int], n_columns: int = 3
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """Sparse rows whose values are 1."""
    return (
        np.array(starts, dtype=np.int64),
        np.array(columns, dtype=np.int64),
        np.ones(len(columns)),
        n_columns,
    )


def sparse_expansion(points: Any, family: str = "rbf") -> _core.SparseExpansion:
    factors = [(family, np.arange(3), np.full((3, 1), 0.5))]
    weights = np.ones((max(0, len(points[0]) - 1), 1))
    return _core.SparseExpansion(points, weights, [(1.0, factors, None)])


NO_POINTS, ONE_POINT = sparse_rows([0], []), sparse_rows([0, 2], [0, 2])

# A call, and what its error says.
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "sample without columns": (
        lambda: classes(sample={"points": EMPTY, "terms": rbf(0), "players": NO_PLAYERS}),
        "rows has 0, expected at least one column",
    ),
    "target without columns": (
        lambda: target(columns=0),
        "targets has 0, expected at least one column",
    ),
    "huge player of a sample": (
        lambda: classes(sample={"players": np.array([0, 2**62])}),
        "players must be below",
    ),
    "huge player of an expansion": (
        lambda: expansion(players=np.array([0, 2**62])),
        "players must be below",
    ),
    "huge player of means": (
        lambda: _core.mean_factors(ROWS, rbf(), np.array([0, 2**62]), n_threads=1),
        "players must be below",
    ),
    "huge player of pairs of rows with themselves": (
        lambda: _core.self_pairs(ROWS, rbf(), np.array([0, 2**62]), None),
        "players must be below",
    ),
    "huge player of variances": (
        lambda: variance_games(players=np.array([0, 2**62])),
        "players must be below",
    ),
    "unordered columns of sparse rows": (
        lambda: sparse_expansion(sparse_rows([0, 2], [2, 0])),
        "ascending columns",
    ),
    "starts of sparse rows that descend": (
        lambda: sparse_expansion(sparse_rows([0, 2, 1, 2], [0, 2])),
        "ascending columns",
    ),
    "other columns of sparse rows": (
        lambda: sparse_expansion(ONE_POINT).predict(sparse_rows([0, 0], [], 4), n_threads=1),
        "expected 3 columns",
    ),
    "a family that sparse rows do not have": (
        lambda: sparse_expansion(ONE_POINT, "categorical"),
        "categorical",
    ),
    "sparse background without rows": (
        lambda: sparse_expansion(ONE_POINT).explain(
            ONE_POINT, game=("interventional", NO_POINTS, np.empty(0)), **OPTIONS
        ),
        "at least one row",
    ),
    "gap among players": (lambda: expansion(players=np.array([1, 1])), "without gaps"),
    "negative player": (lambda: expansion(players=np.array([0, -1])), "must not be negative"),
    "huge column": (
        lambda: expansion(terms=[(1.0, [("rbf", np.array([2**62]), np.ones((1, 1)))], None)]),
        "below the number of columns",
    ),
    "huge group": (
        lambda: classes(sample={"groups": np.array([0] * 5 + [2**62])}),
        "groups must be",
    ),
    "huge first class": (lambda: classes(n_first=2**62), "first has"),
    "huge degree": (lambda: interactions(measure=(1.0, 0, 0, 2**32 - 1)), "at most 4096"),
    "huge power of t": (lambda: interactions(measure=(1.0, 2**32 - 1, 1, 1)), "at most 4096"),
    "NaN as the scale of a density": (
        lambda: interactions(measure=(NAN, 0, 0, 0)),
        "scale must be finite",
    ),
    "NaN as a point": (lambda: interactions(measure=NAN), r"must be in \[0, 1\]"),
    "no threads": (lambda: explained(n_threads=0), "n_threads must be from 1 to"),
    "very many threads": (lambda: classes(n_threads=2**40), "n_threads must be from 1 to"),
    "NaN in X": (lambda: explained(X=with_number(ROWS, NAN)), "X must be finite"),
    "infinity in X": (lambda: explained(X=with_number(ROWS, INFINITY)), "X must be finite"),
    "NaN in points": (lambda: expansion(points=with_number(ROWS, NAN)), "points must be finite"),
    "NaN in coefficients": (
        lambda: expansion(coefficients=with_number(ONES, NAN)),
        "coefficients must be finite|weights must be finite",
    ),
    "NaN in the background": (
        lambda: explained(game=("marginal", with_number(ROWS, NAN), BACKGROUND[1])),
        "background must be finite",
    ),
    "NaN in the weights of the background": (
        lambda: explained(game=("marginal", ROWS, with_number(BACKGROUND[1], NAN))),
        "background weights must be finite",
    ),
    "NaN as a length-scale": (lambda: expansion(terms=rbf(length_scale=NAN)), "length_scale"),
    "NaN in a sample": (
        lambda: classes(sample={"points": with_number(ROWS, NAN)}),
        "points must be finite",
    ),
    "NaN in weights of rows": (
        lambda: classes(weights=with_number(np.ones(N_ROWS), NAN)),
        "weights must be finite",
    ),
    "NaN in targets": (
        lambda: target(targets=with_number(ONES, NAN)),
        "targets must be finite",
    ),
    "NaN in offsets": (
        lambda: target(offsets=with_number(np.zeros(N_ROWS), NAN)),
        "offsets must be finite",
    ),
    "NaN as the constant": (lambda: target(constant=NAN), "constant must be finite"),
    "NaN in absent factors": (
        lambda: classes(sample={"absent": np.array([[1.0, NAN]])}),
        "absent must be finite",
    ),
    "NaN in present factors": (
        lambda: product_game(present=with_number(ROWS, NAN)),
        "present must be finite",
    ),
    "NaN in weights of games": (
        lambda: product_game(weights=with_number(ONES, NAN)),
        "weights must be finite",
    ),
    "NaN in means": (
        lambda: variance_games(means=with_number(ROWS, NAN)),
        "means must be finite",
    ),
    "NaN in values of coalitions": (
        lambda: _core.superset_sums(np.full((1, 3, 1), NAN), 3, 2, 1, n_threads=1),
        "values must be finite",
    ),
    "huge number of players of coalitions": (
        lambda: _core.superset_sums(np.ones((1, 3, 1)), 2**62, 2, 1, n_threads=1),
        "coalitions of|values has",
    ),
    "permutations of no rows": (
        lambda: _core.permuted_sums(
            np.empty((0, 0)), np.empty((0, 1)), np.empty((3, 0), dtype=np.int64), n_threads=1
        ),
        "weights has 0, expected at least one row",
    ),
    "huge orders of rows": (
        lambda: _core.permuted_sums(
            np.ones((2, 2)), np.ones((3, 1)), np.array([[0, 2**62]]), n_threads=1
        ),
        "orders",
    ),
    "huge starts of deviations": (
        lambda: variance_games(starts=np.array([0, 1, 2**62])),
        "starts has",
    ),
    "NaN in a column": (lambda: _core.median_distance(np.array([0.0, NAN])), "finite"),
    "NaN in the column of a mean": (lambda: _core.gauss_mean(np.array([0.0, NAN]), 1.0), "finite"),
    "length-scale of a mean": (lambda: _core.gauss_mean(np.zeros(3), 0.0), "length"),
    "moments of another mean": (
        lambda: _core.gauss_mean_at(np.zeros(3), 1.0, np.zeros(2), np.zeros(3)),
        "moments",
    ),
    "Fortran's order": (
        lambda: explained(X=np.asfortranarray(ROWS)),
        "X must be a C-contiguous array",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_direct_call_with_wrong_arguments_is_an_error(name: str) -> None:
    call, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        call()


# Empty arrays, and sizes that no coalition has.
ANSWERED: dict[str, Callable[[], object]] = {
    "an expansion without columns": lambda: _core.Expansion(EMPTY, ONES, rbf(0)).explain(
        EMPTY, game="marginal of points", method="quadrature", **OPTIONS
    ),
    "an expansion without points": lambda: expansion(
        points=ROWS[:0], coefficients=ONES[:0]
    ).explain(ROWS, game="marginal of points", method="recursion", **OPTIONS),
    "an expansion without outputs": lambda: expansion(coefficients=EMPTY).predict(ROWS, **OPTIONS),
    "no rows": lambda: explained(X=ROWS[:0]),
    "coalitions of no players": lambda: interactions(size=0),
    "coalitions larger than all players": lambda: interactions(size=2**40),
    "a sample without rows": lambda: classes(sample={"points": ROWS[:0], "groups": GROUPS[:0]}),
    "games without players": lambda: product_game(present=EMPTY),
    "games without outputs": lambda: product_game(weights=EMPTY),
    "no games": lambda: product_game(present=ROWS[:0], weights=ONES[:0]),
    "means of a sample without columns": lambda: _core.mean_factors(
        EMPTY, rbf(0), NO_PLAYERS, n_threads=1
    ),
    "rows without columns with themselves": lambda: _core.self_pairs(
        EMPTY, rbf(0), NO_PLAYERS, None
    ),
    "rectangles that there are not": lambda: _core.rectangle_sums(
        (ROWS, rbf(), PLAYERS, None, GROUPS),
        (0, None, False, True),
        univariate_in_groups=False,
        summation="compensated",
        rectangles=(2**40, 5),
    ),
    "variances without columns": lambda: variance_games(
        means=EMPTY, deviations=EMPTY, starts=np.array([0]), players=NO_PLAYERS
    ),
    "no orders": lambda: _core.permuted_sums(
        np.ones((2, 2)), np.ones((3, 1)), np.empty((0, 2), dtype=np.int64), n_threads=1
    ),
    "no values of coalitions": lambda: _core.superset_sums(
        np.ones((0, 3, 1)), 3, 2, 1, n_threads=1
    ),
    "sparse rows without points": lambda: sparse_expansion(NO_POINTS).explain(
        ONE_POINT, game="marginal of points", **OPTIONS
    ),
    "no sparse rows": lambda: sparse_expansion(ONE_POINT).explain(
        NO_POINTS, game="neutral", **OPTIONS
    ),
    "worths of no coalitions": lambda: expansion().coalition_values(
        ROWS, "neutral", np.empty((0, N_COLUMNS), dtype=np.bool_), **OPTIONS
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
def test_a_direct_call_with_empty_arguments_returns(name: str) -> None:
    result = ANSWERED[name]()
    arrays = result if isinstance(result, tuple) else (result,)
    assert all(np.isfinite(array).all() for array in arrays)


def test_large_degrees_are_computed_in_seconds() -> None:
    values = interactions(measure=(1.0, 4096, 0, 0))
    assert np.isfinite(values).all()
