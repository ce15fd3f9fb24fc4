"""Product kernels at sparse points, with groups of columns as players.

The factor of a group p at a row x and a point x_i is ∏_{j∈p} k_j(x_j, x_ij). Its logarithm is a sum
over the columns that are not 0 in x or in x_i. Columns that are 0 in x are summed in advance, and
columns that are 0 in x_i have the same logarithms for all points. So the factors of a row are a
table of points and groups, and each point has a product game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import Text
from pkex.execution.computation import Computation
from pkex.games.value_functions import Game
from pkex.kernels.factors import Term
from pkex.tables.kinds import check_dense_size
from pkex.typing import Float, SparseRows

# Groups of a row, and the logarithms of their factors at all points.
_RowLogarithms: TypeAlias = tuple[NDArray[np.int64], Float]
# Logarithms of a background that are kept for other rows.
_MAX_KEPT = 1 << 24
# The groups are the columns of a table of factors.
_FIXES: list[Text] = ["join more columns in groups", "fit the model to fewer rows"]
# Smaller logarithms are replaced by this one, whose exponential is 0.
_MIN_LOGARITHM = -2000.0
# Below this, series of logarithms have errors below 1e-15, relative.
_SMALL = 2e-4


def _matern32(r: Float, scale: Float) -> Float:
    z = np.sqrt(3.0) * np.abs(r / scale)
    # log(1 + z) − z = −z²/2 + z³/3 − …
    series = z * z * (-1.0 / 2.0 + z * (1.0 / 3.0 - z * (1.0 / 4.0 - z / 5.0)))
    return np.asarray(np.where(z < _SMALL, series, np.log1p(z) - z))


def _matern52(r: Float, scale: Float) -> Float:
    z = np.sqrt(5.0) * np.abs(r / scale)
    # log(1 + z + z²/3) − z = −z²/6 + z⁴/36 − z⁵/45 + …
    series = z * z * (-1.0 / 6.0 + z * z * (1.0 / 36.0 - z / 45.0))
    return np.asarray(np.where(z < _SMALL, series, np.log1p(z + z * z / 3.0) - z))


def _periodic(r: Float, scale: Float, period: Float) -> Float:
    sine = np.sin(np.pi * (np.fmod(r, period) / period))
    return np.asarray(-2.0 * (sine / scale) ** 2)


# The logarithms of factors that are positive, with k(0, 0) = 1, as functions of the difference. The
# logarithm of a rounded factor near 1 would have few digits.
FAMILIES: dict[str, Callable[..., Float]] = {
    "rbf": lambda r, scale: -0.5 * (r / scale) ** 2,
    "laplacian": lambda r, scale: -np.abs(r / scale),
    "cauchy": lambda r, scale: -np.log1p((r / scale) ** 2),
    "matern32": _matern32,
    "matern52": _matern52,
    "periodic": _periodic,
}


class _Columns:
    """The factors of single columns of a term, a product without mixtures and a series."""

    def __init__(self, term: Term, d: int) -> None:
        self._factors = []
        for factor in term.factors:
            places = np.full(d, -1)
            places[factor.columns] = np.arange(len(factor.columns))
            self._factors.append((FAMILIES[factor.family], places, factor.parameters))

    def logarithms(self, columns: NDArray[np.intp], left: Float, right: Float) -> Float:
        """Return log k_j(x, y) of values in columns, element by element."""
        total = np.zeros(np.broadcast_shapes(left.shape, right.shape))
        with np.errstate(over="ignore"):
            for logarithm, places, parameters in self._factors:
                place = places[columns]
                values = logarithm(left - right, *parameters[place].T)
                total += np.where(place < 0, 0.0, values)
        return np.maximum(total, _MIN_LOGARITHM)


class GroupFactors:
    """The function without its intercept, by the factors of groups of columns.

    Parameters
    ----------
    points : csr_array of shape (n, d)
    coefficients : ndarray of shape (n, outputs)
    term : Term
        A product of factors of `FAMILIES`.
    players : ndarray of int64, shape (d,)
        The number of each column's group.

    Raises
    ------
    InputError
        If a table of points and groups takes more than a gigabyte.
    """

    def __init__(
        self,
        points: SparseRows,
        coefficients: Float,
        term: Term,
        players: NDArray[np.int64],
    ) -> None:
        self._players, self._coefficients = players, term.coefficient * coefficients
        self._columns = _Columns(term, points.shape[1])
        self._n_groups = int(players.max()) + 1
        check_dense_size((points.shape[0], self._n_groups), "points", _FIXES)
        logarithms = points.copy()
        logarithms.data = self._columns.logarithms(points.indices, np.zeros(1), points.data)
        self._at_zero = self._by_group(logarithms)
        columns = points.tocsc()
        self._ends, self._rows, self._values = columns.indptr, columns.indices, columns.data
        self._logarithms = logarithms.tocsc().data
        self._means: tuple[Game, Float] | None = None
        self._joint: tuple[Game, list[_RowLogarithms]] | None = None

    def _by_group(self, logarithms: SparseRows) -> Float:
        """Return the sums over the columns of each group, shape (rows, groups)."""
        n_rows = logarithms.shape[0]
        numbers = np.repeat(np.arange(n_rows), np.diff(logarithms.indptr))
        cells = numbers * self._n_groups + self._players[logarithms.indices]
        sums = np.zeros(n_rows * self._n_groups)
        np.add.at(sums, cells, logarithms.data)
        return sums.reshape(n_rows, self._n_groups)

    def _logarithms_of(self, row: SparseRows) -> _RowLogarithms:
        """Return the groups with a column that is not 0 in a row, and their factors' logarithms.

        The factors of other groups are those at 0.

        Parameters
        ----------
        row : csr_array of shape (1, d)

        Returns
        -------
        groups : ndarray of int64, shape (k,)
        logarithms : ndarray of shape (n, k)
        """
        groups, places = np.unique(self._players[row.indices], return_inverse=True)
        row_logarithms = self._columns.logarithms(row.indices, np.zeros(1), row.data)
        total = self._at_zero[:, groups] + np.bincount(
            places, row_logarithms, minlength=len(groups)
        )
        for column, value, row_logarithm, place in zip(
            row.indices, row.data, row_logarithms, places, strict=True
        ):
            entries = slice(self._ends[column], self._ends[column + 1])
            joint = self._columns.logarithms(
                np.array([column]), np.array([value]), self._values[entries]
            )
            # Where neither is 0, instead of the factors at 0.
            total[self._rows[entries], place] += joint - row_logarithm - self._logarithms[entries]
        return groups, np.minimum(total, 0.0)

    def _changes_of_means(self, game: Game, background: tuple[SparseRows, Float]) -> Float:
        """Return b_ip − 1 of the mean factors over a background, shape (n, groups)."""
        cache = self._means  # other threads may replace it
        if cache is None or cache[0] is not game:
            rows, weights = background
            changes, shares = np.zeros_like(self._at_zero), np.zeros(self._n_groups)
            counts = np.zeros(self._n_groups, dtype=np.intp)
            for number, weight in enumerate(weights.tolist()):
                groups, logarithms = self._logarithms_of(rows[number : number + 1])
                changes[:, groups] += weight * np.expm1(logarithms)
                shares[groups] += weight
                counts[groups] += 1
            zero_shares = np.where(counts == len(weights), 0.0, 1.0 - shares)
            changes += zero_shares * np.expm1(self._at_zero)
            cache = self._means = game, np.maximum(changes, -1.0)
        return cache[1]

    def base(
        self, game: Game, background: tuple[SparseRows, Float], computation: Computation
    ) -> Float:
        """Return the value of the empty coalition of a marginal game, shape (outputs,)."""
        with np.errstate(divide="ignore"):
            logarithms = np.log1p(self._changes_of_means(game, background))
        products = np.exp(logarithms.sum(axis=1))
        sums: Float = np.einsum("i,ik->k", products, self._coefficients)
        return sums

    def explain(
        self,
        X: SparseRows,
        game: Game,
        background: tuple[SparseRows, Float],
        computation: Computation,
    ) -> Float:
        """Return the Shapley values of groups, shape (rows, groups, outputs).

        Parameters
        ----------
        X : csr_array of shape (rows, d)
        game : Game
        background : tuple of csr_array of shape (m, d) and ndarray of shape (m,)
            The background of the game, or the points of the function.
        computation : Computation
        """
        values = np.zeros((X.shape[0], self._n_groups, self._coefficients.shape[1]))
        for number in range(X.shape[0]):
            row = self._logarithms_of(X[number : number + 1])
            if game.is_marginal:
                changes = self._changes_of_means(game, background)
                values[number] = self._values_of_changes(row, changes, computation)
            elif game.background is None:
                changes = np.zeros_like(self._at_zero)
                values[number] = self._values_of_changes(row, changes, computation)
            else:
                self._add_joint_values(row, game, background, computation, values[number])
            computation.report(number + 1, X.shape[0])
        return values

    def _values_of_changes(
        self, row: _RowLogarithms, changes: Float, computation: Computation
    ) -> Float:
        """Return the values of a row whose absent groups have factors 1 + changes."""
        groups, logarithms = row
        present = self._at_zero.copy()
        present[:, groups] = logarithms
        with np.errstate(divide="ignore"):
            absent = np.maximum(np.log1p(changes), _MIN_LOGARITHM)
        maximum = np.maximum(present, absent)
        # Near 1, the differences from 1 have more digits than the factors.
        near_difference = (np.expm1(present) - changes) * np.exp(-np.maximum(maximum, -1.0))
        far_difference = np.exp(present - maximum) - np.exp(absent - maximum)
        difference = np.where(maximum > -1.0, near_difference, far_difference)
        return _product_values(present, absent, difference, self._coefficients, computation)

    def _add_joint_values(
        self,
        row: _RowLogarithms,
        game: Game,
        background: tuple[SparseRows, Float],
        computation: Computation,
        values: Float,
    ) -> None:
        """Add the values of a row against each background row, times its weight."""
        background_logarithms = self._background_logarithms(game, background[0])
        for absent_row, weight in zip(background_logarithms, background[1].tolist(), strict=True):
            # Other groups have the factors at 0 in both rows.
            groups = np.union1d(row[0], absent_row[0])
            if not len(groups):
                continue
            present = np.take(self._at_zero, groups, axis=1)
            absent = present.copy()
            for table, (row_groups, logarithms) in ((present, row), (absent, absent_row)):
                table[:, np.searchsorted(groups, row_groups)] = logarithms
            is_other = np.ones(self._n_groups)
            is_other[groups] = 0.0
            other_products = np.exp(np.einsum("ip,p->i", self._at_zero, is_other))
            change = np.expm1(-np.abs(present - absent))
            difference = np.where(present < absent, change, -change)
            weights = weight * other_products[:, None] * self._coefficients
            values[groups] += _product_values(present, absent, difference, weights, computation)

    def _background_logarithms(self, game: Game, rows: SparseRows) -> Iterable[_RowLogarithms]:
        """Return the logarithms of background rows, which are kept if they are small."""
        cache = self._joint  # other threads may replace it
        if cache is not None and cache[0] is game:
            return cache[1]
        all_logarithms = (
            self._logarithms_of(rows[place : place + 1]) for place in range(rows.shape[0])
        )
        if rows.shape[0] * self._at_zero.size > _MAX_KEPT:
            return all_logarithms
        logarithms = list(all_logarithms)
        self._joint = game, logarithms
        return logarithms


def _product_values(
    present: Float, absent: Float, difference: Float, coefficients: Float, computation: Computation
) -> Float:
    """Return the values of products, shape (players, outputs).

    Parameters
    ----------
    present, absent : ndarray of shape (n, players)
        The logarithms of factors.
    difference : ndarray of shape (n, players)
        The present less the absent factors, relative to the larger one.
    coefficients : ndarray of shape (n, outputs)
    computation : Computation
    """
    # Products of the larger factors are weights, so that the others are in [0, 1].
    maximum = np.maximum(present, absent)
    values: Float = _core.product_game(
        np.exp(present - maximum),
        np.exp(absent - maximum),
        np.ascontiguousarray(difference),
        np.ascontiguousarray(np.exp(maximum.sum(axis=1))[:, None] * coefficients),
        index="SV",
        method=computation.method,
        summation=computation.summation,
        n_threads=computation.n_threads,
    )
    return values
