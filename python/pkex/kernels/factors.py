"""Terms of kernels: products of factors, and mixtures of such products."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.kernels.domain import Domain
from pkex.kernels.family import Factor, PackedFactor
from pkex.kernels.mixing import Mixing, mixed_rows
from pkex.kernels.series import PackedSeries, Series
from pkex.typing import Float

# Values computed at a time, which fit into the second-level cache.
TILE = 1 << 15
# Products with their coefficients.
_Sum: TypeAlias = list[tuple[float, tuple[Factor, ...]]]
# A coefficient, factors, and a power series that multiplies them, for the engine.
PackedTerm: TypeAlias = tuple[float, list[PackedFactor], PackedSeries | None]


@dataclass(frozen=True, eq=False)
class MixtureFactor(Factor, ABC):
    """A function of several columns that is a mixture of products over columns."""

    @property
    @abstractmethod
    def of_no_column(self) -> float:
        """Value of the function when all columns are absent."""

    @abstractmethod
    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""

    def mixing(self, row: Float, background: Float, points: Float) -> Mixing:
        """Return the function that maps coalitions to values between mixed rows and points."""

        def values(members: NDArray[np.bool_]) -> Float:
            products = self.product(mixed_rows(row, background, members), points)
            return products.reshape(len(members), len(background), len(points))

        return values

    @abstractmethod
    def unit(self, domain: Domain) -> float:
        """Return the scale of relative errors within a domain: the value of equal rows, or more."""

    @abstractmethod
    def parts(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield coefficients and factors of the products that sum to it within a domain."""


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of a kernel: a coefficient times a product of factors.

    Columns that occur in no factor have factor 1. `Kernel.terms` returns the terms of a kernel.

    Parameters
    ----------
    coefficient : float
    factors : tuple of Factor
        The factors; a column may occur in several.
    series : Series, optional
        A truncated power series that multiplies the factors, as in `Polynomial`.

    Examples
    --------
    >>> from pkex.kernels import RBF
    >>> term, = (3.0 * RBF(length_scale=[1.0, 2.0])).terms(n_features=2)
    >>> term.coefficient
    3.0
    >>> [factor.family for factor in term.factors]
    ['rbf']
    """

    coefficient: float
    factors: tuple[Factor, ...]
    series: Series | None = None

    @property
    def all_factors(self) -> tuple[Factor, ...]:
        """The factors of the term, followed by the factors of its series."""
        return self.factors if self.series is None else (*self.factors, *self.series.factors)

    @property
    def of_no_column(self) -> float:
        """Value of the term when all columns are absent: factors of single columns are 1."""
        mixtures = [
            factor.of_no_column for factor in self.factors if isinstance(factor, MixtureFactor)
        ]
        series = 1.0 if self.series is None else float(self.series.weights[0])
        return self.coefficient * series * math.prod(mixtures)

    def unit(self, domain: Domain) -> float:
        """Return the scale of relative errors within a domain."""
        units = [
            factor.unit(domain) for factor in self.factors if isinstance(factor, MixtureFactor)
        ]
        return abs(self.coefficient) * math.prod(units)

    def packed(self) -> PackedTerm:
        """Return the term, which must not have mixtures, in the engine's form."""
        series = None if self.series is None else self.series.packed()
        return self.coefficient, [factor.packed() for factor in self.factors], series

    def on(self, columns: NDArray[np.int64]) -> Term:
        """Return the term with each column j replaced by ``columns[j]``."""
        factors = tuple(factor.on(columns) for factor in self.factors)
        series = None if self.series is None else self.series.on(columns)
        return Term(self.coefficient, factors, series)

    def evaluated(self, left: Float, right: Float) -> Float:
        """Return the term for all pairs of rows."""
        product = np.full((len(left), len(right)), self.coefficient)
        for factor in self.factors:
            product *= factor.product(left, right)
        if self.series is not None:
            product *= self.series.evaluate(left, right)
        return product

    def mixing(self, row: Float, background: Float, points: Float) -> Mixing:
        """Return the function that maps coalitions to the term between mixed rows and points.

        Parameters
        ----------
        row : ndarray of shape (d,)
        background : ndarray of shape (n, d)
        points : ndarray of shape (m, d)
        """
        mixings = [factor.mixing(row, background, points) for factor in self.factors]

        def values(members: NDArray[np.bool_]) -> Float:
            shape = (len(members), len(background), len(points))
            product = np.full(shape, self.coefficient)
            for mixing in mixings:
                product *= mixing(members)
            if self.series is not None:
                rows = mixed_rows(row, background, members)
                product *= self.series.evaluate(rows, points).reshape(shape)
            return product

        return values

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
        return Term(coefficient, _multiply_factors(self.factors, other.factors), series)


def evaluate_terms(terms: Sequence[Term], left: Float, right: Float) -> Float:
    """Return the sum of terms for all pairs of rows, of shape (n, m)."""
    total = np.zeros((len(left), len(right)))
    for tile in blocks_of(len(left), TILE // max(1, len(right))):
        for term in terms:
            total[tile] += term.evaluated(left[tile], right)
    return total


def _multiply_factors(left: tuple[Factor, ...], right: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """Return the factors of the product of two products, merged where possible."""
    factors = list(left)
    for factor in right:
        for place, left_factor in enumerate(factors):
            if (product := left_factor.times(factor)) is not None:
                factors[place] = product
                break
        else:
            factors.append(factor)
    return tuple(factors)


def has_mixtures(terms: Iterable[Term]) -> bool:
    """Whether a term has a mixture of products as a factor."""
    return any(isinstance(factor, MixtureFactor) for term in terms for factor in term.factors)


def has_series(terms: Iterable[Term]) -> bool:
    """Whether a term is multiplied by a power series."""
    return any(term.series is not None for term in terms)


def restrict_term(term: Term, present: NDArray[np.bool_]) -> Term:
    """Return a term restricted to the present columns: factors of absent columns are left out.

    Sums over columns in a series are restricted in the same way.

    Parameters
    ----------
    present : ndarray of bool, shape (d,)
    """

    def restrict(factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        masks = [present[factor.columns] for factor in factors]
        return tuple(
            replace(factor, columns=factor.columns[mask], parameters=factor.parameters[mask])
            for factor, mask in zip(factors, masks, strict=True)
        )

    series = term.series
    if series is not None:
        mask = present[series.columns]
        columns, rates = series.columns[mask], series.rates[mask]
        series = replace(series, columns=columns, rates=rates, factors=restrict(series.factors))
    return replace(term, factors=restrict(term.factors), series=series)


def expand_terms(terms: Iterable[Term], domain: Domain) -> list[Term]:
    """Return terms without mixtures that have the same sum within a domain.

    Raises
    ------
    ValueError
        If there are more than 5,000 such terms.
    """
    expansion: list[Term] = []
    for term in terms:
        sums = [list(f.parts(domain)) for f in term.factors if isinstance(f, MixtureFactor)]
        counts = [len(products) for products in sums]
        if len(expansion) + math.prod(counts) > MAX_TERMS:
            numbers = " · ".join(map(str, counts))
            raise ValueError(
                f"the kernel expands into more than {MAX_TERMS} products. A Matern, "
                "RationalQuadratic or Tanimoto kernel of several columns expands into tens or "
                f"hundreds of products, and one product of such kernels here into {numbers}. "
                "Use RBF or ProductMatern for all factors except one, or give all factors the same "
                "columns and length-scales that differ by a constant factor, so that their product "
                "is a function of a single distance"
            )
        expansion.extend(_multiply_out(term, sums))
    return expansion


def _multiply_out(term: Term, sums: list[_Sum]) -> Iterator[Term]:
    """Yield the terms of `term` with its mixtures replaced by sums of products."""
    other_factors = tuple(f for f in term.factors if not isinstance(f, MixtureFactor))
    for summands in itertools.product(*sums):
        weights = [weight for weight, _ in summands]
        factors = [factor for _, product in summands for factor in product]
        coefficient = term.coefficient * math.prod(weights)
        yield Term(coefficient, (*other_factors, *factors), term.series)


# Each term costs as much as a Gaussian kernel.
MAX_TERMS = 5000
