"""Mixtures of factors, and products of factors: what kernels are sums of."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.kernels.domain import Domain
from pkex.kernels.family import Factor, PackedFactor
from pkex.kernels.series import PackedSeries, Series
from pkex.typing import Float

__all__ = [
    "Mixed",
    "PackedTerm",
    "Term",
    "expanded",
    "has_mixtures",
    "has_series",
    "restricted",
]

# Products with their coefficients.
_Sum: TypeAlias = list[tuple[float, tuple[Factor, ...]]]
# A coefficient, factors, and a power series that they are multiplied with, for the engine.
PackedTerm: TypeAlias = tuple[float, list[PackedFactor], PackedSeries | None]


@dataclass(frozen=True, eq=False)
class Mixed(Factor, ABC):
    """A function of several columns together, which is no product but a mixture of such."""

    @property
    @abstractmethod
    def of_no_column(self) -> float:
        """What the function is of no column."""

    @abstractmethod
    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""

    @abstractmethod
    def unit(self, domain: Domain) -> float:
        """Return what errors within a domain are relative to: the value of equal rows, or more."""

    @abstractmethod
    def parts(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield the coefficients and the factors of products whose sum it is within a domain."""


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
        """What the term is restricted to no column, where factors of single columns are 1."""
        mixed = [factor.of_no_column for factor in self.factors if isinstance(factor, Mixed)]
        series = 1.0 if self.series is None else float(self.series.weights[0])
        return self.coefficient * series * math.prod(mixed)

    def unit(self, domain: Domain) -> float:
        """Return what errors within a domain are relative to."""
        units = [factor.unit(domain) for factor in self.factors if isinstance(factor, Mixed)]
        return abs(self.coefficient) * math.prod(units)

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
        return Term(coefficient, _multiplied(self.factors, other.factors), series)


def _multiplied(left: tuple[Factor, ...], right: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """Return the factors of the product of two products, as few as there may be."""
    factors = list(left)
    for factor in right:
        for place, own in enumerate(factors):
            if (product := own.times(factor)) is not None:
                factors[place] = product
                break
        else:
            factors.append(factor)
    return tuple(factors)


def has_mixtures(terms: Iterable[Term]) -> bool:
    """Whether a sum of terms is no sum of products by itself."""
    return any(isinstance(factor, Mixed) for term in terms for factor in term.factors)


def has_series(terms: Iterable[Term]) -> bool:
    """Whether a term is multiplied with a power series, or a mixture of such."""
    return any(term.series is not None for term in terms)


def restricted(term: Term, present: NDArray[np.bool_]) -> Term:
    """Return a term of some of the columns alone: without the factors of others.

    What a series adds up over columns it adds up over these.

    Parameters
    ----------
    present : ndarray of bool, shape (d,)
    """

    def kept(factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        rows = [present[factor.columns] for factor in factors]
        return tuple(
            replace(factor, columns=factor.columns[own], parameters=factor.parameters[own])
            for factor, own in zip(factors, rows, strict=True)
        )

    series = term.series
    if series is not None:
        own = present[series.columns]
        columns, rates = series.columns[own], series.rates[own]
        series = replace(series, columns=columns, rates=rates, factors=kept(series.factors))
    return replace(term, factors=kept(term.factors), series=series)


def expanded(terms: Iterable[Term], domain: Domain) -> list[Term]:
    """Return terms without mixtures, whose sum is that of the terms within a domain.

    Raises
    ------
    ValueError
        If they are too many.
    """
    found: list[Term] = []
    for term in terms:
        parts = [list(f.parts(domain)) for f in term.factors if isinstance(f, Mixed)]
        counts = [len(of_one) for of_one in parts]
        if len(found) + math.prod(counts) > MOST_TERMS:
            multiplied = " · ".join(map(str, counts))
            raise ValueError(
                f"the kernel is a sum of more than {MOST_TERMS} products: a Matern, "
                "RationalQuadratic or Tanimoto of several columns is a sum of tens or hundreds, "
                f"and here one product of such is a sum of {multiplied}; take RBF or ProductMatern "
                "for all of its factors but one, or for all the same columns, and length-scales "
                "that differ by a constant: their product is a single function of the distance"
            )
        found.extend(_multiplied_out(term, parts))
    return found


def _multiplied_out(term: Term, parts: list[_Sum]) -> Iterator[Term]:
    """Yield the terms that one is a sum of with such sums in the place of its mixtures."""
    products = tuple(f for f in term.factors if not isinstance(f, Mixed))
    for chosen in itertools.product(*parts):
        weights = [weight for weight, _ in chosen]
        factors = [factor for _, of_one in chosen for factor in of_one]
        coefficient = term.coefficient * math.prod(weights)
        yield Term(coefficient, (*products, *factors), term.series)


# Each costs as much as a Gaussian kernel does.
MOST_TERMS = 5000
