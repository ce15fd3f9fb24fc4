"""Polynomials in kernels: sums of products that are multiplied out, with equal products merged.

Each product of kernels of one family is a kernel of that family again: of Gaussians with
1/ℓ² = Σ 1/ℓ_a², of Laplace kernels with 1/ℓ = Σ 1/ℓ_a, of χ² kernels with γ = Σ γ_a, of kernels
exp(−γ [x ≠ y]) of categories likewise. A power t of a periodic kernel has ℓ/√t, of a rational
quadratic one ℓ/√t and αt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from pkex.kernels import (
    RBF,
    Categorical,
    Chi2,
    Constant,
    Kernel,
    Laplacian,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
)
from pkex.typing import Float

# A family of kernels, and one of them: for each feature its length-scale, of χ² kernels and those
# of categories γ; of a periodic one the length-scale and the period of the only feature; of
# Matérn's and the rational quadratic one ν or α, and then the length-scales.
Variable = tuple[str, tuple[float, ...]]
# A product of these: how often each occurs; empty for a constant.
Product = frozenset[tuple[Variable, float]]
# A sum of products with their coefficients.
KernelPolynomial = dict[Product, float]

ONE: Product = frozenset()
# Each product costs as much as a model with a single RBF does.
_MOST_PRODUCTS = 1000


def kernel_of(polynomial: KernelPolynomial) -> Kernel | None:
    """Return the kernel that a polynomial is, None if it has no terms."""
    products: dict[tuple[Variable, ...], float] = {}
    for product, coefficient in polynomial.items():
        factors = (*_merged_factors(product), *_separate_factors(product))
        products[factors] = products.get(factors, 0.0) + coefficient
    summands = [value * _kernel(factors) for factors, value in products.items()]
    return reduce(lambda left, right: left + right, summands) if summands else None


def single(family: str, parameters: tuple[float, ...]) -> KernelPolynomial:
    """Return the polynomial that is one kernel."""
    return {frozenset([((family, parameters), 1.0)]): 1.0}


def dot_product_power(constant: float, gamma: float, degree: int) -> KernelPolynomial:
    """Return (constant + γ x·y)^degree by the powers of x·y."""
    factor: Variable = ("dot product", ())
    powers = {
        frozenset([(factor, float(q))]) if q else ONE: math.comb(degree, q)
        * constant ** (degree - q)
        * gamma**q
        for q in range(degree + 1)
    }
    return {product: coefficient for product, coefficient in powers.items() if coefficient}


def added(left: KernelPolynomial, right: KernelPolynomial) -> KernelPolynomial:
    """Return the sum of two polynomials."""
    total = dict(left)
    for product, coefficient in right.items():
        total[product] = total.get(product, 0.0) + coefficient
    return total


def multiplied(left: KernelPolynomial, right: KernelPolynomial) -> KernelPolynomial:
    """Return the product of two polynomials.

    Raises
    ------
    ValueError
        If it has too many terms.
    """
    product: KernelPolynomial = {}
    for a, a_coefficient in left.items():
        for b, b_coefficient in right.items():
            exponents = dict(a)
            for factor, exponent in b:
                exponents[factor] = exponents.get(factor, 0.0) + exponent
            key = frozenset(exponents.items())
            product[key] = product.get(key, 0.0) + a_coefficient * b_coefficient
        if len(product) > _MOST_PRODUCTS:
            raise ValueError(f"it multiplies out into more than {_MOST_PRODUCTS} products")
    return product


def raised(base: KernelPolynomial, exponent: float) -> KernelPolynomial:
    """Return a power of a polynomial.

    Raises
    ------
    ValueError
        If it is no polynomial, or has too many terms.
    """
    if not 0.0 <= exponent < math.inf:
        raise ValueError("the exponent must not be negative")
    if exponent == 0.0:
        return {ONE: 1.0}
    is_counted = any(family in _REPEATED for product in base for (family, _), _ in product)
    if is_counted and not (exponent.is_integer() and exponent <= _MOST_PRODUCTS):
        raise ValueError(
            "the exponent of a Matern or a dot product must be an integer, at most "
            f"{_MOST_PRODUCTS}"
        )
    if len(base) <= 1:
        # A single product may have any power.
        return {
            frozenset((factor, exponent * times) for factor, times in product): float(
                np.float64(value) ** exponent
            )
            for product, value in base.items()
        }
    if not exponent.is_integer():
        raise ValueError("the exponent of a sum must be an integer")
    result: KernelPolynomial = {ONE: 1.0}
    for _ in range(int(exponent)):
        result = multiplied(result, base)
    return result


def _merged_factors(product: Product) -> Iterator[Variable]:
    """Yield the product of each family whose products are of that family again."""
    for family in _MERGED:
        if scales := _merged(product, family):
            yield family, scales


def _separate_factors(product: Product) -> Iterator[Variable]:
    """Yield the other factors, in an order that does not depend on hashes."""
    for (family, scales), times in sorted(product):
        if family == "periodic":
            length_scale, period = scales
            yield family, (length_scale / math.sqrt(times), period)
        elif family == "dot product":
            yield family, (times,)
        elif family == "rational quadratic":
            # (1 + r²/(2αℓ²))^(−αt), with αt in place of α and ℓ/√t in place of ℓ.
            alpha, *own = scales
            yield family, (alpha * times, *(scale / math.sqrt(times) for scale in own))
        elif family in _REPEATED:
            yield from [(family, scales)] * int(times)


def _merged(product: Product, family: str) -> tuple[float, ...]:
    """Return the parameters of the product of a family's factors, () if there are none."""
    # In an order that does not depend on hashes, so that equal kernels have equal bits.
    factors = sorted((scales, times) for (own, scales), times in product if own == family)
    if not factors:
        return ()
    if len(factors) == 1 and factors[0][1] == 1.0:
        return factors[0][0]
    scales = np.array([scales for scales, _ in factors])
    # A column: sums over rows are the same on every machine, and products of matrices are not.
    exponents = np.array([[exponent] for _, exponent in factors])
    if family in _OF_GAMMA:
        return tuple((exponents * scales).sum(axis=0).tolist())
    power = 2.0 if family == "rbf" else 1.0
    # Relative to the smallest, so that no square overflows.
    smallest = scales.min(axis=0)
    sums = (exponents * (smallest / scales) ** power).sum(axis=0)
    merged: Float = smallest / sums ** (1.0 / power)
    return tuple(merged.tolist())


def _hamming(gamma: Any) -> Kernel:
    """Return ∏_j exp(−γ_j [x_j ≠ y_j])."""
    if np.ndim(gamma) == 0:
        return Categorical(math.exp(-gamma))
    of_columns = (Categorical(math.exp(-rate)).on([j]) for j, rate in enumerate(gamma))
    return reduce(lambda left, right: left * right, of_columns)


# Families whose products are of that family again, and products of single features.
_MERGED: dict[str, Callable[[Any], Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "chi2": Chi2,
    "hamming": _hamming,
}
_OF_GAMMA = {"chi2", "hamming"}
_SEPARATE = {"matern32": 1.5, "matern52": 2.5}
# What occurs so often in a power.
_REPEATED = {"matern", "dot product", *_SEPARATE}
# By the names of those of a distance in several features, whose scales follow a shape.
_MIXTURES: dict[str, Callable[[Any, float], Kernel]] = {
    "matern": Matern,
    "rational quadratic": RationalQuadratic,
}


def _kernel(factors: tuple[Variable, ...]) -> Kernel:
    if not factors:
        return Constant()
    return reduce(lambda left, right: left * right, [_factor(*factor) for factor in factors])


def _factor(family: str, scales: tuple[float, ...]) -> Kernel:
    if family == "periodic":
        return Periodic(*scales)
    if family == "dot product":
        return Polynomial(int(scales[0]), coef0=0.0)
    if family in _MIXTURES:
        shape, *own = scales
        return _MIXTURES[family](own[0] if len(set(own)) == 1 else own, shape)
    scale = scales[0] if len(set(scales)) == 1 else scales
    return (
        ProductMatern(scale, _SEPARATE[family]) if family in _SEPARATE else _MERGED[family](scale)
    )
