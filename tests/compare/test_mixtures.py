"""MMD, HSIC, witness and detector with kernels of the distance of rows."""

import numpy as np
import pytest

import pkex
from pkex.kernels import RBF, Matern, RationalQuadratic

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = RNG.normal(size=(30, 4)) + np.array([0.7, 0.0, 0.0, 0.0])
KERNELS = [Matern(2.0, 2.5), Matern([1.0, 2.0, 3.0, 1e3], 0.5), RationalQuadratic(1.5, 0.7)]


def off_diagonal_mean(matrix):
    n = len(matrix)
    return (matrix.sum() - np.trace(matrix)) / (n * (n - 1))


@pytest.mark.parametrize("value_function", ["marginal", "neutral"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_statistics_are_those_of_the_kernel_itself(kernel, value_function):
    found = pkex.mmd(X, Y, kernel=kernel, value_function=value_function)
    expected = off_diagonal_mean(kernel(X)) + off_diagonal_mean(kernel(Y)) - 2 * kernel(X, Y).mean()
    assert found.statistic == pytest.approx(expected, abs=1e-13)
    assert found.values.sum() == pytest.approx(expected, abs=1e-13)
    centred = np.eye(40) - 1 / 40
    target = RBF()(X[:, :1] ** 2)
    hsic = pkex.hsic(X, X[:, 0] ** 2, kernel=kernel, target_kernel=RBF())
    trace = np.trace(centred @ kernel(X) @ centred @ target) / 39**2
    assert hsic.statistic == pytest.approx(trace, abs=1e-13)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_witness_and_detector_agree_with_mmd(kernel):
    witness = pkex.witness(X, Y, kernel=kernel)
    expected = kernel(Y, X).mean(axis=1) - kernel(Y, Y).mean(axis=1)
    np.testing.assert_allclose(witness.predict(Y), expected, atol=1e-12)
    detector = pkex.MMDDrift(X, kernel=kernel, value_function="neutral").predict(Y)
    mmd = pkex.mmd(X, Y, kernel=kernel, value_function="neutral")
    np.testing.assert_allclose(detector.values, mmd.values, atol=1e-13)


def test_a_detector_refuses_rows_where_its_mixture_is_not_exact():
    detector = pkex.MMDDrift(X, kernel=RationalQuadratic(1.5, 0.2))
    far = Y.copy()
    far[3, 2] = 1e3
    assert detector.predict(far).statistic > 0.0
    far[3, 2] = -1e6
    with pytest.raises(ValueError, match="column 'x2' of X has values that are thousands of times"):
        detector.predict(far)
    assert pkex.MMDDrift(X, kernel=RBF(1.5)).predict(far).statistic > 0.0
