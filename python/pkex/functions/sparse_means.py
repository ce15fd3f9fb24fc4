"""Means of product kernels over a sparse background, with the cost of the non-zero values.

Absent players are drawn independently in the marginal game: the factor of player p at the point x_i
is b_ip = Σ_l w_l ∏_{j∈p} k_j(z_lj, x_ij), and the value of the empty coalition is
Σ_i α_i ∏_p b_ip. A column that is 0 in the background and in the point has the factor 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.factors import Term
from pkex.typing import Float, SparseRows

__all__ = ["logarithms_at_zero", "logarithms_of_means"]

# Smaller logarithms are those of 0.
_LEAST_LOGARITHM = -2000.0
# Pairs of background rows and points at a time.
_MOST_PAIRS = 1 << 21


class _Columns:
    """The product of the factors of each column of a term.

    Parameters
    ----------
    term : Term
        A product, without mixtures and a series.
    d : int
        The number of columns.
    """

    def __init__(self, term: Term, d: int) -> None:
        self._factors = []
        for factor in term.factors:
            places = np.full(d, -1)
            places[factor.columns] = np.arange(len(factor.columns))
            self._factors.append((factor.definition.value, places, factor.parameters))

    def logarithms(self, columns: NDArray[np.intp], left: Float, right: Float) -> Float:
        """Return log k_j(x, y) of values in columns, element by element."""
        total = np.zeros(np.broadcast_shapes(left.shape, right.shape))
        with np.errstate(over="ignore", divide="ignore"):
            for value, places, parameters in self._factors:
                place = places[columns]
                values = value(left, right, *parameters[place].T)
                total += np.where(place < 0, 0.0, np.log(values))
        return np.maximum(total, _LEAST_LOGARITHM)


def logarithms_at_zero(term: Term, rows: SparseRows) -> SparseRows:
    """Return log k_j(0, x_ij) in place of each value of rows that is not 0."""
    logarithms = rows.copy()
    columns = _Columns(term, rows.shape[1])
    logarithms.data = columns.logarithms(rows.indices, np.zeros(1), rows.data)
    return logarithms


def logarithms_of_means(
    term: Term,
    points: SparseRows,
    rows: SparseRows,
    weights: Float,
    players: NDArray[np.int64],
) -> Float:
    """Return Σ_p log b_ip of each point, shape (n,).

    Parameters
    ----------
    term : Term
        A product, without mixtures and a series.
    points : csr_array of shape (n, d)
    rows : csr_array of shape (m, d)
        The background.
    weights : ndarray of shape (m,)
        Weights with sum 1.
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    """
    step = max(1, _MOST_PAIRS // rows.shape[0])
    starts = range(0, points.shape[0], step)
    columns = _Columns(term, points.shape[1])
    background = _Table(term, rows)
    blocks = [
        _of_players(
            columns, _Table(term, points[start : start + step]), background, weights, players
        )
        for start in starts
    ]
    return np.concatenate([np.zeros(0), *blocks])


class _Table:
    """Sparse values by column, with log k_j(0, ·) of each."""

    def __init__(self, term: Term, rows: SparseRows) -> None:
        self.shape = rows.shape
        self.logarithms = logarithms_at_zero(term, rows)
        by_column = rows.tocsc()
        self._ends, self._rows, self._values = by_column.indptr, by_column.indices, by_column.data
        self._logarithms = self.logarithms.tocsc().data

    def __call__(self, column: int) -> tuple[NDArray[np.intp], Float, Float]:
        """Return the rows that are not 0 in a column, their values and their logarithms."""
        own = slice(self._ends[column], self._ends[column + 1])
        return self._rows[own], self._values[own], self._logarithms[own]

    def counts(self) -> NDArray[np.intp]:
        """Return the number of values of each column."""
        return np.asarray(np.diff(self._ends))


def _of_players(
    columns: _Columns, points: _Table, rows: _Table, weights: Float, players: NDArray[np.int64]
) -> Float:
    """Return Σ_p log b_ip, where players are groups of columns."""
    total = np.zeros(points.shape[0])
    is_shared = (rows.counts() > 0) & (points.counts() > 0)
    for player in range(int(players.max()) + 1):
        own = players == player
        if not (own & (rows.counts() > 0)).any():
            total += points.logarithms @ own.astype(np.float64)
            continue
        # log ∏_j k_j(z_lj, x_ij): both at 0, and corrections where neither is 0.
        pairs = (rows.logarithms @ own.astype(np.float64))[:, None] + (
            points.logarithms @ own.astype(np.float64)
        )
        for column in np.flatnonzero(own & is_shared).tolist():
            numbers, values, logarithms = points(column)
            some, others, of_rows = rows(column)
            joint = columns.logarithms(np.array([column]), others[:, None], values)
            pairs[np.ix_(some, numbers)] += joint - of_rows[:, None] - logarithms
        with np.errstate(divide="ignore"):
            total += np.maximum(np.log(weights @ np.exp(pairs)), _LEAST_LOGARITHM)
    return total
