"""Mixtures of factors, and products of factors: what kernels are sums of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.domain import Domain
from pkex.kernels.family import Factor, PackedFactor
from pkex.kernels.gaussian_sums import gaussian_sum
from pkex.kernels.mixtures import Mixture
from pkex.kernels.series import PackedSeries, Series
from pkex.typing import Float

__all__ = [
    "PackedTerm",
    "Radial",
    "Term",
    "check_not_negative",
    "columns_not_negative",
    "expanded",
    "has_mixtures",
]

# A coefficient, factors, and a power series that they are multiplied with, for the engine.
PackedTerm: TypeAlias = tuple[float, list[PackedFactor], PackedSeries | None]


@dataclass(frozen=True, eq=False)
class Radial(Factor):
    """A function of the distance in several columns, which is no product but a mixture of such.

    Parameters
    ----------
    family : str
        "rbf": that of the Gaussians in the mixture.
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1)
        The length-scales ℓ_j.
    mixture : Mixture
        The function of Σ_j ((x_j − y_j) / ℓ_j)².
    """

    mixture: Mixture

    def squares(self, left: Float, right: Float) -> Float:
        """Return the squared distances in units of the length-scales, of shape (n, m)."""
        squares = np.zeros((len(left), len(right)))
        for column, (scale,) in zip(self.columns.tolist(), self.parameters, strict=True):
            with np.errstate(over="ignore"):
                squares += np.square((left[:, column, None] - right[:, column]) / scale)
        return squares

    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""
        return self.mixture.value(self.squares(left, right))

    def unit(self, domain: Domain) -> float:
        """Return what errors within a domain are relative to: the value of equal rows, or more."""
        return abs(self.mixture.unit(float(self._largest(domain).sum())))

    def _largest(self, domain: Domain) -> Float:
        """Return the largest squared distances within each column."""
        with np.errstate(over="ignore"):
            squares: Float = np.square(domain.spans[self.columns] / self.parameters[:, 0])
        return squares

    def gaussians(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield the coefficients and the factors of the Gaussians that it is a sum of there."""
        squares = self._largest(domain)
        high = float(squares.sum())
        if high == 0.0:
            yield self.mixture.at_zero, ()
            return
        # Typical distances in a column are a quarter of the largest.
        low = float(squares[squares > 0.0].min(initial=high)) / 16.0
        rates, weights = gaussian_sum(
            self.mixture, max(low, _LEAST_SHARE * high), high, domain.error
        )
        for rate, weight in zip(rates.tolist(), weights.tolist(), strict=True):
            # exp(−v r²/ℓ²) = exp(−(r/L)²/2).
            yield weight, (Factor("rbf", self.columns, self.parameters / math.sqrt(2.0 * rate)),)
        yield self.mixture.at_zero - math.fsum(weights), ()


# A column whose squares are smaller, as a part of all, does not matter beside the others.
_LEAST_SHARE = 1e-16


@dataclass(frozen=True, eq=False)
class Term:
    """A coefficient times a product of factors; columns that no factor mentions have factor 1.

    Parameters
    ----------
    coefficient : float
    factors : tuple of Factor
        A column may occur in several of them: the factors multiply.
    series : Series, optional
        A truncated power series, which they are multiplied with.
    """

    coefficient: float
    factors: tuple[Factor, ...]
    series: Series | None = None

    @property
    def all_factors(self) -> tuple[Factor, ...]:
        """Its factors, and those within its series."""
        return self.factors if self.series is None else (*self.factors, *self.series.factors)

    @property
    def of_no_column(self) -> float:
        """What the term is restricted to no column, where all factors are 1."""
        return self.coefficient * (1.0 if self.series is None else float(self.series.weights[0]))

    def unit(self, domain: Domain) -> float:
        """Return what errors within a domain are relative to."""
        units = [factor.unit(domain) for factor in self.factors if isinstance(factor, Radial)]
        return abs(self.coefficient) * math.prod(units)

    def gaussians(self, domain: Domain) -> Iterator[Term]:
        """Yield terms without mixtures, whose sum this one is within a domain."""
        products = tuple(f for f in self.factors if not isinstance(f, Radial))
        parts = [list(f.gaussians(domain)) for f in self.factors if isinstance(f, Radial)]
        for chosen in itertools.product(*parts):
            weights = [weight for weight, _ in chosen]
            factors = [factor for _, of_one in chosen for factor in of_one]
            coefficient = self.coefficient * math.prod(weights)
            yield Term(coefficient, (*products, *factors), self.series)

    def packed(self) -> PackedTerm:
        """Return the term, which has no mixtures, in the engine's form."""
        series = None if self.series is None else self.series.packed()
        return self.coefficient, [factor.packed() for factor in self.factors], series

    def on(self, columns: NDArray[np.int64]) -> Term:
        """Return the term with the columns that stand at the numbers of its own."""
        factors = tuple(factor.on(columns) for factor in self.factors)
        series = None if self.series is None else self.series.on(columns)
        return Term(self.coefficient, factors, series)

    def evaluated(self, left: Float, right: Float) -> Float:
        """Return the term for all pairs of rows."""
        product = np.full((len(left), len(right)), self.coefficient)
        for factor in self.factors:
            product *= factor.product(left, right)
        if self.series is not None:
            product *= self.series.evaluated(left, right)
        return product

    def magnitude(self, left: Float, right: Float) -> Float:
        """Return the scale of the rounding errors in the term, of shape (n, m)."""
        product = np.abs(replace(self, series=None).evaluated(left, right))
        if self.series is not None:
            product *= self.series.magnitude(left, right)
        return product

    def __mul__(self, other: Term) -> Term:
        series = other.series if self.series is None else self.series
        if self.series is not None and other.series is not None:
            series = self.series * other.series
        coefficient = self.coefficient * other.coefficient
        return Term(coefficient, (*self.factors, *other.factors), series)


def has_mixtures(terms: Iterable[Term]) -> bool:
    """Whether a sum of terms is no sum of products by itself."""
    return any(isinstance(factor, Radial) for term in terms for factor in term.factors)


def expanded(terms: Iterable[Term], domain: Domain) -> list[Term]:
    """Return terms without mixtures, whose sum is that of the terms within a domain.

    Raises
    ------
    ValueError
        If they are too many.
    """
    found: list[Term] = []
    for term in terms:
        found.extend(itertools.islice(term.gaussians(domain), MOST_TERMS + 1))
        if len(found) > MOST_TERMS:
            raise ValueError(
                f"the kernel is a sum of more than {MOST_TERMS} products: each Matern or "
                "RationalQuadratic of several columns is a sum of tens or hundreds, a product of "
                "such has as many as their numbers multiplied; take RBF or ProductMatern for "
                "all of its factors but one"
            )
    return found


# Each costs as much as a Gaussian kernel does.
MOST_TERMS = 5000


def columns_not_negative(terms: Iterable[Term]) -> NDArray[np.int64]:
    """Return the numbers of the columns whose entries a factor takes only if not negative."""
    factors = [factor for term in terms for factor in term.all_factors]
    columns = [factor.columns for factor in factors if not factor.definition.takes_negative]
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *columns]))


def check_not_negative(rows: Float, columns: NDArray[np.int64], name: str) -> None:
    """Refuse rows with a negative entry in one of the columns.

    Raises
    ------
    ValueError
        It names the first such row and column.
    """
    negative = rows[:, columns] < 0.0
    if negative.any():
        row, place = np.argwhere(negative)[0]
        raise ValueError(
            f"{name} has the entry {rows[row, columns[place]]:g} in row {row}, column "
            f"{columns[place]}, and the Chi2 kernel compares entries that are not negative, such "
            "as counts; leave the column to another kernel with kernel.on(columns), or scale it to "
            "be at least 0"
        )
