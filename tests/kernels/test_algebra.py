"""Sums, products and powers of kernels: equal values, with as few products as there are."""

import numpy as np
import pytest

from pkex.kernels import (
    RBF,
    Categorical,
    Chi2,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
)
from pkex.kernels.algebra import ONE, ZERO, KernelPolynomial, similarities

RNG = np.random.default_rng(3)
X, Y = RNG.integers(0, 3, size=(2, 6, 3)) + RNG.choice([0.0, 0.25], size=(2, 6, 3))
ALL = (0, 1, 2)

KERNELS = {
    "RBF": RBF([0.5, 1.0, 2.0]),
    "Laplacian": Laplacian([0.5, 1.0, 2.0]),
    "Chi2": Chi2(0.3),
    "Categorical": Categorical(0.3),
    "delta": Categorical(),
    "Matern": Matern([0.5, 1.0, 2.0], nu=1.5),
    "ProductMatern": ProductMatern(nu=2.5),
    "Periodic": Periodic([0.5, 1.0, 2.0], 1.7),
    "RationalQuadratic": RationalQuadratic([0.5, 1.0, 2.0], alpha=0.8),
    "Linear": Linear([0.5, 1.0, 2.0], offset=0.5),
    "dot product": Polynomial(2, gamma=0.3, coef0=0.0),
    "Polynomial": Polynomial(2, gamma=0.3, coef0=0.7),
}


def of(kernel, columns=ALL):
    return KernelPolynomial.of(kernel, columns)


def check(polynomial, expected, rtol=1e-13):
    np.testing.assert_allclose(polynomial.kernel(3)(X, Y), expected, rtol=rtol)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_squared_has_the_squared_values(name):
    kernel = KERNELS[name]
    check(of(kernel) ** 2.0, kernel(X, Y) ** 2)
    check(of(kernel) * of(kernel), kernel(X, Y) ** 2)


@pytest.mark.parametrize("left", KERNELS)
@pytest.mark.parametrize("right", sorted(set(KERNELS) - {"Linear", "dot product", "Polynomial"}))
def test_products_of_kernels_of_overlapping_columns_have_the_product_of_their_values(left, right):
    restricted = type(KERNELS[right])().on([0, 2])
    product = of(KERNELS[left]) * of(type(KERNELS[right])(), [0, 2])
    check(product, KERNELS[left](X, Y) * restricted(X, Y))


@pytest.mark.parametrize("name", ["RBF", "Laplacian", "Chi2", "Categorical", "Periodic"])
def test_any_power_of_a_single_kernel_is_a_single_kernel(name):
    kernel = KERNELS[name]
    check((2.0 * of(kernel)) ** 0.5, np.sqrt(2.0 * kernel(X, Y)))
    assert len((of(kernel) ** 0.5).kernel(3).terms(3)) == 1


@pytest.mark.parametrize(
    ("polynomial", "expected"),
    [
        (of(RBF(2.0)) * of(RBF(2.0)) ** 3.0, RBF(1.0)),
        (of(RBF(1.0), [0]) * of(RBF(2.0), [2]), RBF([1.0, 2.0]).on([0, 2])),
        (
            of(RBF([1.0, 2.0]), [2, 0]) + of(RBF([2.0, 1.0]), [0, 2]),
            2.0 * RBF([2.0, 1.0]).on([0, 2]),
        ),
        (of(Laplacian(1.0)) * of(Laplacian(1.0)), Laplacian(0.5)),
        (of(Matern(1.0, nu=0.5), [1]) * of(Laplacian(1.0), [1]), Laplacian(0.5).on([1])),
        (of(Matern(2.0, nu=np.inf)), RBF(2.0)),
        (of(Chi2(0.5)) * of(Chi2(0.25)), Chi2(0.75)),
        (
            similarities([0.5, 0.25, 1.0], ALL),
            Categorical(0.5).on([0]) * Categorical(0.25).on([1]),
        ),
        (of(Polynomial(2, coef0=0.0)) * of(Polynomial(3, coef0=0.0)), Polynomial(5, coef0=0.0)),
        (2.0 * ONE * of(RBF()) * (3.0 * ONE), 6.0 * RBF()),
        (2.0 * of(RBF()) + 3.0 * of(RBF([1.0, 1.0, 1.0])), 5.0 * RBF()),
        (of(RBF()) * of(Laplacian()) + of(Laplacian()) * of(RBF()), 2.0 * (RBF() * Laplacian())),
        (of(RBF()) + of(Constant()) + 2.0 * ONE, RBF() + 3.0 * Constant()),
        ((of(RBF()) + ZERO) * ONE, RBF()),
    ],
)
def test_equal_products_and_products_of_a_family_are_merged(polynomial, expected):
    assert polynomial.kernel(3) == expected


def test_the_order_of_factors_does_not_change_a_kernel():
    parts = [of(kernel) for kernel in KERNELS.values()]
    forwards, backwards = ONE, ONE
    for part in parts:
        forwards, backwards = forwards * part, part * backwards
    assert forwards.kernel(3) == backwards.kernel(3)


def test_zero_times_a_kernel_is_zero():
    assert not of(RBF()) * ZERO
    assert not (ZERO**2.0)
    assert ZERO**0.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: of(RBF()) ** -1.0, "the exponent of a kernel must be finite and at least 0"),
        (lambda: of(Matern()) ** 0.5, "the exponent of a Matern or dot-product kernel must be an"),
        (lambda: (of(RBF()) + ONE) ** 0.5, "the exponent of a sum of kernels must be an integer"),
        (lambda: (of(RBF()) + of(Laplacian()) + ONE) ** 50.0, "into more than 1000 products"),
        (lambda: 0.0 * ONE, r"the amplitude of a kernel must be positive and finite; got 0\.0"),
        (lambda: (1e200 * ONE * (1e200 * ONE)).kernel(3), "must be positive and finite; got inf"),
    ],
)
def test_powers_and_amplitudes_out_of_range_are_errors(build, message):
    with pytest.raises(ValueError, match=message):
        build()
