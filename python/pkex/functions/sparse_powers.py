"""Polynomials in a dot product at sparse points, with the cost of the non-zero values.

f(x) = Σ_i α_i Σ_r W_r [s^r] ∏_j exp(s y_ij x_j), where y are the points times the rates of the
kernel. If each absent column j is drawn independently from values z_j with the moments m_jq, its
factor is the moment generating function Σ_q (s y_ij)^q m_jq / q!. On the diagonal of the
multilinear extension a column is present with probability t, so its factor F_ij(s) has the moments
(1 − t) m_jq + t x_j^q, and a difference D_ij(s) has the moments x_j^q − m_jq. Both are power series
in the product s y_ij alone, with coefficients that do not depend on the point. So are log F_ij and
D_ij / F_ij, with coefficients l_jq and h_jq:

    φ_j = ∫₀¹ Σ_q h_jq Σ_i y_ij^q α_i Σ_r W_r [s^(r−q)] exp(Σ_q' s^q' Σ_l l_lq' y_il^q') dt.

The integrand is a polynomial in t of a lower degree than the kernel. Values for a row of a
background, or for values of 0 (the neutral game), are the same with m_jq = z_j^q.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.games.means import column_means
from pkex.games.value_functions import Game
from pkex.kernels.series import Series
from pkex.tables.sparse import dense_rows, nonzero_columns
from pkex.typing import Float, SparseRows

# Dot products at a time.
_MAX_DOTS = 1 << 21
# Cumulants of higher degrees lose digits to cancellation.
MAX_DEGREES = 6


class PowersAtPoints:
    """The function without its intercept.

    Parameters
    ----------
    points : csr_array of shape (n, d)
        Points times the rates of the kernel.
    coefficients : ndarray of shape (n, outputs)
    weights : ndarray of shape (degree + 1,)
        W.
    """

    def __init__(self, points: SparseRows, coefficients: Float, weights: Float) -> None:
        self._points, self._coefficients, self._weights = points, coefficients, weights
        self.degree = len(weights) - 1

    @classmethod
    def of(
        cls, points: SparseRows, coefficients: Float, amplitude: float, series: Series
    ) -> PowersAtPoints:
        """Return the function of an amplitude times a series in a dot product."""
        rates = np.zeros(points.shape[1])
        rates[series.columns] = series.rates
        scaled_points = points.copy()
        scaled_points.data = scaled_points.data * rates[scaled_points.indices]
        return cls(scaled_points, coefficients, amplitude * series.weights)

    def outputs(self, rows: SparseRows, n_threads: int = 1) -> Float:
        """Evaluate the function, shape (rows, outputs)."""
        outputs = np.empty((rows.shape[0], self._coefficients.shape[1]))
        for block in blocks_of(len(outputs), _MAX_DOTS // max(1, self._points.shape[0])):
            dots = (rows[block] @ self._points.T).toarray()
            # Horner's rule, where [s^q] exp(s u) is u^q / q!.
            powers = np.full_like(dots, self._weights[-1])
            for q in range(self.degree, 0, -1):
                powers = powers * dots / q + self._weights[q - 1]
            outputs[block] = _weighted_sums(powers.T, self._coefficients)
        return outputs

    def sizes(self, rows: SparseRows, n_threads: int = 1) -> Float:
        """Return the sums of absolute summands of the function, shape (rows, outputs)."""
        absolute = (abs(part) for part in (self._points, self._coefficients, self._weights))
        return PowersAtPoints(*absolute).outputs(abs(rows))

    def base(
        self, game: Game, background: tuple[SparseRows, Float], computation: Computation
    ) -> Float:
        """Return the value of the empty coalition of a marginal game, shape (outputs,)."""
        moments = _moments_of(*background, self.degree)
        series = self._series(_logarithm(_over_factorials(moments)), self._powers())
        means: Float = _weighted_sums(
            _weighted_sums(series, self._weights[:, None]), self._coefficients
        )[0]
        return means

    def explain(
        self,
        X: SparseRows,
        game: Game,
        background: tuple[SparseRows, Float],
        computation: Computation,
    ) -> Float:
        """Return the Shapley values of columns, shape (n, d, outputs).

        Parameters
        ----------
        X : csr_array of shape (n, d)
        game : Game
        background : tuple of csr_array of shape (m, d) and ndarray of shape (m,)
            The background of the game, or the points of the function.
        computation : Computation
        """
        values = np.zeros((*X.shape, self._coefficients.shape[1]))
        # Columns that are 0 in all points add nothing to dot products.
        columns, (rows, weights) = nonzero_columns(self._points), background
        if game.is_marginal:
            function, moments = (
                self._on(columns),
                _moments_of(rows[:, columns], weights, self.degree),
            )
        for number in range(X.shape[0]):
            row = X[number : number + 1]
            if game.is_marginal:
                row_values = dense_rows(row[:, columns])[0]
                values[number, columns] = function._values(row_values, moments)
            elif game.background is None:
                self._add_joint_values(row, None, 1.0, values[number])
            else:
                for place, weight in enumerate(weights.tolist()):
                    self._add_joint_values(row, rows[place : place + 1], weight, values[number])
            computation.report(number + 1, X.shape[0])
        return values

    def _add_joint_values(
        self, row: SparseRows, other: SparseRows | None, weight: float, values: Float
    ) -> None:
        """Add the values of a row in the game of a background row, or of zeros, times a weight."""
        columns = nonzero_columns(row, other)
        present = dense_rows(row[:, columns])[0]
        absent = np.zeros_like(present) if other is None else dense_rows(other[:, columns])[0]
        moments = _powers_of(absent, self.degree)
        values[columns] += weight * self._on(columns)._values(present, moments)

    def _on(self, columns: NDArray[np.int64]) -> PowersAtPoints:
        """Return the function of rows whose other columns are 0."""
        return PowersAtPoints(self._points[:, columns], self._coefficients, self._weights)

    def _values(self, row: Float, moments: Float) -> Float:
        """Return the Shapley values of the columns of a row, shape (d, outputs).

        Parameters
        ----------
        row : ndarray of shape (d,)
        moments : ndarray of shape (degree, d)
            The moments of each absent column.
        """
        values = np.zeros((len(row), self._coefficients.shape[1]))
        absent = _over_factorials(moments)
        changes = _over_factorials(_powers_of(row, self.degree)) - absent
        powers = self._powers()
        nodes, shares = np.polynomial.legendre.leggauss((self.degree + 1) // 2)
        for node, share in zip((nodes + 1.0) / 2.0, shares / 2.0, strict=True):
            factors = absent + node * changes
            series = self._series(_logarithm(factors), powers)
            quotients = _quotient(changes, factors)
            for q in range(1, self.degree + 1):
                (point_weights,) = _weighted_sums(
                    self._weights[q:, None], series[: self.degree + 1 - q]
                )
                sums = powers[q - 1].T @ (point_weights[:, None] * self._coefficients)
                values += share * quotients[q - 1][:, None] * sums
        return values

    def _powers(self) -> list[SparseRows]:
        """Return the elementwise powers of the points, from the first one on."""
        powers = [self._points]
        for _ in range(1, self.degree):
            powers.append(powers[-1].multiply(self._points).tocsr())
        return powers

    def _series(self, logarithms: Float, powers: list[SparseRows]) -> Float:
        """Return the coefficients of exp(Σ_q s^q Σ_j l_jq y_ij^q), shape (degree + 1, n)."""
        sums = [power @ row for power, row in zip(powers, logarithms, strict=True)]
        series = np.zeros((self.degree + 1, self._points.shape[0]))
        series[0] = 1.0
        # From g' = (log g)' g.
        for q in range(1, self.degree + 1):
            terms = [k * sums[k - 1] * series[q - k] for k in range(1, q + 1)]
            series[q] = np.sum(terms, axis=0) / q
        return series


def _weighted_sums(weights: Float, values: Float) -> Float:
    """Return Σ_i weights_ik values_il, shape (k, l), in an order that no thread changes."""
    sums: Float = np.einsum("ik,il->kl", weights, values)
    return sums


def _powers_of(row: Float, degree: int) -> Float:
    """Return the powers of values from the first one on, shape (degree, d)."""
    return np.multiply.accumulate(np.broadcast_to(row, (degree, len(row))), axis=0)


def _moments_of(rows: SparseRows, weights: Float, degree: int) -> Float:
    """Return the weighted moments of columns from the first one on, shape (degree, d).

    The moments of a constant column are exactly its powers.
    """
    powers, moments = rows, [sum(column_means(rows, weights))]
    for _ in range(1, degree):
        powers = powers.multiply(rows).tocsr()
        moments.append(sum(column_means(powers, weights)))
    return np.array(moments)


def _over_factorials(moments: Float) -> Float:
    """Return m_q / q!, the coefficients of a moment generating function."""
    factorials = np.multiply.accumulate(np.arange(1.0, len(moments) + 1.0))
    return moments / factorials[:, None]


def _logarithm(series: Float) -> Float:
    """Return log(1 + Σ_q f_q u^q) as a series in u, without its constant 0.

    Parameters
    ----------
    series : ndarray of shape (degree, d)
        f, from q = 1 on.
    """
    logarithm = np.zeros_like(series)
    for q in range(1, len(series) + 1):
        terms = [k * logarithm[k - 1] * series[q - k - 1] for k in range(1, q)]
        logarithm[q - 1] = series[q - 1] - np.sum(terms, axis=0) / q
    return logarithm


def _quotient(numerator: Float, series: Float) -> Float:
    """Return Σ_q d_q u^q / (1 + Σ_q f_q u^q) as a series in u, without its constant 0."""
    quotient = np.zeros_like(series)
    for q in range(1, len(series) + 1):
        terms = [quotient[k - 1] * series[q - k - 1] for k in range(1, q)]
        quotient[q - 1] = numerator[q - 1] - np.sum(terms, axis=0)
    return quotient
