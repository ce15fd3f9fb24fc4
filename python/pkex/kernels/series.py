"""Truncated power series, such as polynomial and additive kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.family import Factor, PackedFactor
from pkex.typing import Float

# Weights, form, columns, rates and factors of a power series, for the engine.
PackedSeries: TypeAlias = tuple[Float, str, NDArray[np.int64], Float, list[PackedFactor]]

# The highest power of s that the engine supports.
MAX_ORDERS = 128


@dataclass(frozen=True, eq=False)
class Series:
    """A power series in one variable s, truncated: Σ_q w_q [s^q] ∏_j F_j(s).

    [s^q] is the coefficient of s^q, and F_j a function of the argument g_j(x_j, y_j) of column j;
    columns without an argument have F_j = 1. The coefficient of s^q in ∏_j exp(s g_j) is
    (Σ_j g_j)^q/q!, so any polynomial in a dot product is such a series. The elementary symmetric
    polynomials, the coefficients of ∏_j (1 + s g_j), are as well.

    Parameters
    ----------
    weights : ndarray of shape (p + 1,)
        The weights w of s^0, s^1, …, s^p.
    form : {"exponential", "linear"}
        F_j = exp(s g_j) or 1 + s g_j.
    columns : ndarray of int64, shape (k,)
        Distinct columns whose argument has the factor x_j y_j.
    rates : ndarray of shape (k,)
        The multiples of x_j y_j.
    factors : tuple of Factor
        Other factors of arguments; all factors of a column are multiplied.
    """

    weights: Float
    form: str
    columns: NDArray[np.int64]
    rates: Float
    factors: tuple[Factor, ...] = ()

    def packed(self) -> PackedSeries:
        """Return the series in the engine's form."""
        return self.weights, self.form, self.columns, self.rates, [f.packed() for f in self.factors]

    def on(self, columns: NDArray[np.int64]) -> Series:
        """Return the series with each column j replaced by ``columns[j]``."""
        factors = tuple(factor.on(columns) for factor in self.factors)
        return replace(self, columns=columns[self.columns], factors=factors)

    def arguments(self, left: Float, right: Float) -> dict[int, Float]:
        """Return the arguments g_j of all pairs of rows, by column number."""
        arguments: dict[int, Float] = {}
        for column, rate in zip(self.columns.tolist(), self.rates.tolist(), strict=True):
            arguments[column] = np.multiply.outer(rate * left[:, column], right[:, column])
        for factor in self.factors:
            for column, values in factor.evaluated(left, right):
                arguments[column] = arguments.get(column, 1.0) * values
        return arguments

    def evaluate(self, left: Float, right: Float) -> Float:
        """Return the series for all pairs of rows."""
        return self._sum_series(list(self.arguments(left, right).values()), (len(left), len(right)))

    def magnitude(self, left: Float, right: Float) -> Float:
        """Return the series of absolute weights and arguments, of shape (n, m).

        This is the scale of the rounding errors in the series.
        """
        sizes = [np.abs(argument) for argument in self.arguments(left, right).values()]
        series = replace(self, weights=np.abs(self.weights))
        return series._sum_series(sizes, (len(left), len(right)))

    def _sum_series(self, arguments: list[Float], shape: tuple[int, int]) -> Float:
        """Return the series of arguments of one shape."""
        if self.form == "exponential":
            # Horner's rule: w_0 + (w_1 + (w_2 + …) g/2) g/1.
            total: Float = sum(arguments, np.zeros(shape))
            value = np.full_like(total, self.weights[-1])
            for q in range(len(self.weights) - 1, 0, -1):
                value *= total / q
                value += self.weights[q - 1]
            return value
        symmetric = np.zeros((len(self.weights), *shape))
        symmetric[0] = 1.0
        for argument in arguments:
            symmetric[1:] += argument * symmetric[:-1]
        values: Float = np.tensordot(self.weights, symmetric, axes=1)
        return values

    def __mul__(self, other: Series) -> Series:
        """Multiply polynomials in one dot product.

        Raises
        ------
        ValueError
            If the series are not polynomials in one dot product, or the degree is too large.
        """
        ratio = self._ratio_of_rates(other)
        if ratio is None:
            raise ValueError(
                "products of Linear, Polynomial and Additive kernels are supported only for "
                "polynomials in one dot product, such as Linear() * Polynomial(2). Use the same "
                "columns, and variances or gamma that differ by a constant factor, or multiply "
                "kernels such as RBF instead"
            )
        # Coefficients of powers of the dot product, instead of [s^q].
        left, right = (w / _factorials(len(w)) for w in (self.weights, other.weights))
        weights = convolve(left, right * powers(ratio, len(right)))
        if len(weights) > MAX_ORDERS + 1:
            raise ValueError(
                f"the product of polynomial kernels has degree {len(weights) - 1}; at most "
                f"{MAX_ORDERS} is supported: take lower degrees"
            )
        return replace(self, weights=weights * _factorials(len(weights)))

    def _ratio_of_rates(self, other: Series) -> float | None:
        """Return the constant ratio of the other dot product to this one; None if there is none."""
        are_of_dots = all(
            series.form == "exponential" and not series.factors for series in (self, other)
        )
        if not are_of_dots or not np.array_equal(self.columns, other.columns):
            return None
        ratios = other.rates / self.rates
        is_constant = np.allclose(ratios, ratios[0], rtol=4.0 * np.finfo(float).eps, atol=0.0)
        return float(ratios[0]) if is_constant else None


def powers(number: float, count: int) -> Float:
    """Return the powers 0, 1, … of a number, by products with the same bits on every machine."""
    factors = np.full(count, number, dtype=np.float64)
    factors[:1] = 1.0
    result: Float = np.multiply.accumulate(factors)
    return result


def convolve(left: Float, right: Float) -> Float:
    """Return the coefficients of a product of polynomials, summed in a fixed order."""
    coefficients = np.zeros(len(left) + len(right) - 1)
    for order, coefficient in enumerate(left.tolist()):
        coefficients[order : order + len(right)] += coefficient * right
    return coefficients


def _factorials(count: int) -> Float:
    return np.array([math.factorial(q) for q in range(count)], dtype=np.float64)
