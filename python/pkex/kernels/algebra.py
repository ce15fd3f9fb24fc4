"""Sums, products and powers of kernels, multiplied out, with equal products merged.

A product of kernels of one family is often a kernel of that family. For Gaussian kernels,
1/ℓ² = Σ 1/ℓ_a²; for Laplace kernels, 1/ℓ = Σ 1/ℓ_a; for χ² kernels, γ = Σ γ_a; similarities of
categories are multiplied. A periodic kernel to the power t has the length-scale ℓ/√t, and a
rational quadratic kernel to the power t has ℓ/√t and αt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import Any, TypeVar

import numpy as np

from pkex.kernels.base import Constant, Kernel
from pkex.kernels.polynomial import Linear, Polynomial
from pkex.kernels.product_kernels import (
    RBF,
    Categorical,
    Chi2,
    Laplacian,
    Periodic,
    ProductMatern,
)
from pkex.kernels.radial import Matern, RationalQuadratic
from pkex.typing import Float

# The numbers of the columns that a kernel depends on.
Columns = tuple[int, ...]

# Each product costs as much as a model with a single RBF kernel.
_MAX_PRODUCTS = 1000


@dataclass(frozen=True)
class Elementary:
    """A kernel of some columns that is neither a sum nor a product, and has no amplitude.

    Parameters
    ----------
    kernel : Kernel
    columns : tuple of int
    """

    kernel: Kernel
    columns: Columns

    def parameter(self, name: str) -> Float:
        """Return a parameter of the kernel for each of the columns."""
        return np.broadcast_to(getattr(self.kernel, name), len(self.columns))

    @property
    def place(self) -> tuple[Any, ...]:
        """Sort key of the factors of a product: equal products then have equal bits."""
        kind = type(self.kernel)
        kinds = [*_PARAMETERS, kind]
        shape = [tuple(self.parameter(name).tolist()) for name in _PARAMETERS.get(kind, ())]
        return kinds.index(kind), shape, self.columns, repr(self.kernel)

    def on_features(self, n_features: int) -> Kernel:
        """Return the kernel as a function of all features."""
        is_of_all = self.columns == tuple(range(n_features))
        return self.kernel if is_of_all else self.kernel.on(self.columns)


_P = TypeVar("_P")
# The exponent of each elementary kernel in a product; empty for the constant 1.
Product = frozenset[tuple[Elementary, float]]


@dataclass(frozen=True)
class KernelPolynomial:
    """A linear combination of products of elementary kernels.

    Parameters
    ----------
    products : mapping of Product to float
        The coefficient of each product; empty for the kernel that is 0.
    """

    products: Mapping[Product, float]

    @classmethod
    def of(cls, kernel: Kernel, columns: Iterable[int]) -> KernelPolynomial:
        """Return the polynomial of one kernel, as a function of some columns."""
        columns = tuple(columns)
        if isinstance(kernel, Constant):
            return ONE
        if isinstance(kernel, Polynomial) and kernel.coef0 == 0.0:
            # (γ x·y)^p
            product = _product_of(_normalize(_DOT_PRODUCT, columns), float(kernel.degree))
            return cls({product: kernel.gamma**kernel.degree})
        return cls({_product_of(_normalize(kernel, columns)): 1.0})

    @classmethod
    def dot_product_power(
        cls, columns: Iterable[int], constant: float, gamma: float, degree: int
    ) -> KernelPolynomial:
        """Return (constant + γ x·y)^degree, expanded in powers of x·y."""
        dot_product = Elementary(_DOT_PRODUCT, tuple(columns))
        powers = {
            _product_of(dot_product, float(q)): math.comb(degree, q)
            * constant ** (degree - q)
            * gamma**q
            for q in range(degree + 1)
        }
        return cls({product: value for product, value in powers.items() if value})

    def __add__(self, other: KernelPolynomial) -> KernelPolynomial:
        """Return the sum of two polynomials."""
        return KernelPolynomial(_sum_equal_products(other.products.items(), self.products))

    def __mul__(self, other: KernelPolynomial) -> KernelPolynomial:
        """Return the product of two polynomials.

        Raises
        ------
        ValueError
            If it has too many terms.
        """
        pairs = (
            (_multiply_products(left, right), left_coefficient * right_coefficient)
            for left, left_coefficient in self.products.items()
            for right, right_coefficient in other.products.items()
        )
        # The number of products grows only if both sides have several.
        is_larger = min(len(self.products), len(other.products)) > 1
        return KernelPolynomial(
            _sum_equal_products(pairs, limit=_MAX_PRODUCTS if is_larger else math.inf)
        )

    def __rmul__(self, amplitude: float) -> KernelPolynomial:
        """Return the polynomial times a number.

        Raises
        ------
        ValueError
            If the number is not positive and finite.
        """
        if not 0.0 < amplitude < math.inf:
            raise ValueError(
                f"the amplitude of a kernel must be positive and finite; got {amplitude!r}"
            )
        return KernelPolynomial(
            {product: amplitude * value for product, value in self.products.items()}
        )

    def __pow__(self, exponent: float) -> KernelPolynomial:
        """Return a power of the polynomial.

        Raises
        ------
        ValueError
            If the power is not a polynomial, or has too many terms.
        """
        if not 0.0 <= exponent < math.inf:
            raise ValueError(
                f"the exponent of a kernel must be finite and at least 0, got {exponent!r}"
            )
        if exponent == 0.0:
            return ONE
        kinds = {type(factor.kernel) for product in self.products for factor, _ in product}
        is_counted = not kinds <= _MERGE_RULES.keys() | _POWER_RULES.keys()
        if is_counted and not (exponent.is_integer() and exponent <= _MAX_PRODUCTS):
            raise ValueError(
                "the exponent of a Matern or dot-product kernel must be an integer of at most "
                f"{_MAX_PRODUCTS}, got {exponent!r}"
            )
        if len(self.products) <= 1:
            # A single product can have any exponent.
            return KernelPolynomial(
                {
                    frozenset((factor, exponent * power) for factor, power in product): float(
                        np.float64(value) ** exponent
                    )
                    for product, value in self.products.items()
                }
            )
        if not exponent.is_integer():
            raise ValueError(
                f"the exponent of a sum of kernels must be an integer, got {exponent!r}"
            )
        return reduce(mul, [self] * int(exponent), ONE)

    def __bool__(self) -> bool:
        """Whether the kernel is not 0."""
        return bool(self.products)

    def kernel(self, n_features: int) -> Kernel:
        """Return the polynomial, which must not be 0, as a kernel of all features.

        Raises
        ------
        ValueError
            If a parameter of a kernel or a coefficient is out of range.
        """
        coefficients = _sum_equal_products(
            (tuple(_merge_factors(product)), value) for product, value in self.products.items()
        )
        summands = [
            value
            * reduce(mul, [factor.on_features(n_features) for factor in factors] or [Constant()])
            for factors, value in coefficients.items()
        ]
        return reduce(add, summands)


ZERO = KernelPolynomial({})
ONE = KernelPolynomial({frozenset(): 1.0})


def similarities(values: Iterable[float], columns: Iterable[int]) -> KernelPolynomial:
    """Return the categorical kernel ∏_j (1 if x_j = y_j else values_j)."""
    factors = [
        KernelPolynomial.of(Categorical(value), [column])
        for value, column in zip(values, columns, strict=True)
        # Similarity 1 is the constant factor 1.
        if value < 1.0
    ]
    return reduce(mul, factors, ONE)


_DOT_PRODUCT = Polynomial(1, coef0=0.0)


def _normalize(kernel: Kernel, columns: Columns) -> Elementary:
    """Return the normal form of a kernel of some columns: equal functions get equal kernels."""
    if isinstance(kernel, Matern) and kernel.nu == math.inf:
        kernel = RBF(kernel.length_scale)
    if isinstance(kernel, Matern) and len(columns) == 1 and kernel.nu in (0.5, 1.5, 2.5):
        scale = kernel.length_scale
        kernel = Laplacian(scale) if kernel.nu == 0.5 else ProductMatern(scale, kernel.nu)
    # Columns ascend; a parameter with the same value for all columns becomes one number.
    order = sorted(range(len(columns)), key=columns.__getitem__)
    parameters = {
        name: values[0] if len(set(values)) == 1 else tuple(values[place] for place in order)
        for name, values in vars(kernel).items()
        if isinstance(values, tuple) and len(values) == len(columns)
    }
    dataclass_kernel: Any = kernel
    normal_form = replace(dataclass_kernel, **parameters) if parameters else kernel
    return Elementary(normal_form, tuple(sorted(columns)))


def _product_of(factor: Elementary, exponent: float = 1.0) -> Product:
    return frozenset([(factor, exponent)]) if exponent else frozenset()


def _multiply_products(left: Product, right: Product) -> Product:
    """Return the product of two products."""
    exponents = dict(left)
    for factor, exponent in right:
        exponents[factor] = exponents.get(factor, 0.0) + exponent
    return frozenset(exponents.items())


def _sum_equal_products(
    terms: Iterable[tuple[_P, float]],
    start: Mapping[_P, float] | None = None,
    *,
    limit: float = math.inf,
) -> dict[_P, float]:
    """Return the coefficients of products, summed over equal products and added to `start`."""
    total = dict(start or {})
    for product, coefficient in terms:
        total[product] = total.get(product, 0.0) + coefficient
        if len(total) > limit:
            raise ValueError(f"the kernel multiplies out into more than {limit} products")
    return total


def _merge_factors(product: Product) -> Iterator[Elementary]:
    """Yield the factors of a product, merged within families that are closed under products."""
    # The order must not depend on hashes, so that equal kernels have equal bits.
    factors = sorted(product, key=lambda factor: (*factor[0].place, factor[1]))
    for kind, merge in _MERGE_RULES.items():
        members = [
            (factor, exponent) for factor, exponent in factors if isinstance(factor.kernel, kind)
        ]
        if len(members) == 1 and members[0][1] == 1.0:
            yield members[0][0]
        elif members:
            columns = tuple(sorted({column for factor, _ in members for column in factor.columns}))
            yield from merge(members, columns)
    for factor, exponent in factors:
        kernel, kind = factor.kernel, type(factor.kernel)
        if kind in _POWER_RULES:
            yield replace(factor, kernel=_POWER_RULES[kind](kernel, exponent))
        elif kernel == _DOT_PRODUCT:
            yield replace(factor, kernel=Polynomial(int(exponent), coef0=0.0))
        elif kind not in _MERGE_RULES:
            yield from [factor] * int(exponent)


_Factors = list[tuple[Elementary, float]]


def _table(factors: _Factors, columns: Columns, name: str, absent: float) -> tuple[Float, Float]:
    """Return a parameter of factors, (factors, columns), and their exponents, (factors, 1).

    `absent` is the parameter for columns that a factor does not depend on.
    """
    table = np.full((len(factors), len(columns)), absent)
    for row, (factor, _) in zip(table, factors, strict=True):
        row[np.searchsorted(columns, factor.columns)] = factor.parameter(name)
    # Exponents are a column: sums over rows, unlike matrix products, do not depend on the machine.
    return table, np.array([[exponent] for _, exponent in factors])


def _stationary(
    family: Callable[[Any], Kernel], power: float
) -> Callable[[_Factors, Columns], Iterator[Elementary]]:
    """Return the merge rule of a family in which 1/ℓ^power of a product is Σ 1/ℓ_a^power."""

    def merge(factors: _Factors, columns: Columns) -> Iterator[Elementary]:
        scales, exponents = _table(factors, columns, "length_scale", math.inf)
        # Relative to the smallest length-scale, so that powers do not overflow.
        smallest = scales.min(axis=0)
        sums = (exponents * (smallest / scales) ** power).sum(axis=0)
        kernel = family(smallest / sums ** (1.0 / power))
        yield _normalize(kernel, columns)

    return merge


def _chi2(factors: _Factors, columns: Columns) -> Iterator[Elementary]:
    gammas, exponents = _table(factors, columns, "gamma", 0.0)
    return _split_by_value(Chi2, (exponents * gammas).sum(axis=0), columns)


def _categories(factors: _Factors, columns: Columns) -> Iterator[Elementary]:
    values, exponents = _table(factors, columns, "similarity", 1.0)
    return _split_by_value(Categorical, (values**exponents).prod(axis=0), columns)


def _split_by_value(
    family: Callable[[float], Kernel], values: Float, columns: Columns
) -> Iterator[Elementary]:
    """Yield kernels with one parameter for all columns: one kernel, or one for each column."""
    numbers = values.tolist()
    if len(set(numbers)) == 1:
        yield Elementary(family(numbers[0]), columns)
        return
    for value, column in zip(numbers, columns, strict=True):
        yield Elementary(family(value), (column,))


# Families that are closed under products.
_MERGE_RULES: dict[type[Kernel], Callable[[_Factors, Columns], Iterator[Elementary]]] = {
    RBF: _stationary(RBF, 2.0),
    Laplacian: _stationary(Laplacian, 1.0),
    Chi2: _chi2,
    Categorical: _categories,
}
# Families that are closed under powers.
_POWER_RULES: dict[type[Kernel], Callable[[Any, float], Kernel]] = {
    Periodic: lambda kernel, exponent: replace(
        kernel, length_scale=np.divide(kernel.length_scale, math.sqrt(exponent))
    ),
    # (1 + r²/(2αℓ²))^(−αt), with αt in place of α and ℓ/√t in place of ℓ.
    RationalQuadratic: lambda kernel, exponent: RationalQuadratic(
        np.divide(kernel.length_scale, math.sqrt(exponent)), kernel.alpha * exponent
    ),
}
# The order of families in a product, with the parameters that sort kernels of one family. Other
# families come last.
_PARAMETERS: dict[type[Kernel], tuple[str, ...]] = {
    RBF: ("length_scale",),
    Laplacian: ("length_scale",),
    Chi2: ("gamma",),
    Categorical: ("similarity",),
    Polynomial: ("degree", "gamma", "coef0"),
    Linear: ("variance", "offset"),
    Matern: ("nu", "length_scale"),
    ProductMatern: ("nu", "length_scale"),
    Periodic: ("length_scale", "period"),
    RationalQuadratic: ("alpha", "length_scale"),
}
