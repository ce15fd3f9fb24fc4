"""What a Gaussian process was told: all forms are those of the matrix C, by its inverse."""

import pickle

import numpy as np
import pytest

from pkex.functions.gaussian_process.latent import ConditioningMatrix

RNG = np.random.default_rng(0)
N, M = 5, 7
FACTOR = np.tril(RNG.normal(size=(M, M))) + 3.0 * np.eye(M)
SQUARE = RNG.normal(size=(M, M))
SIDES = RNG.normal(size=(N, 3))
KINDS = {
    "roots of each point": (FACTOR[:N, :N], RNG.uniform(size=N), None),
    "roots that mix": (FACTOR, RNG.normal(size=(M, N)), None),
    "spread of inducing values": (FACTOR[:N, :N], np.ones(N), SQUARE[:N, :N] + SQUARE[:N, :N].T),
    "all": (FACTOR, RNG.normal(size=(M, N)), SQUARE + SQUARE.T),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_solved_for_equals_products_with_the_matrix(name):
    factor, roots, middle = KINDS[name]
    known = ConditioningMatrix(factor, roots, middle)
    inverse = np.linalg.inv(factor) @ (roots if roots.ndim == 2 else np.diag(roots))
    matrix = inverse.T @ (np.eye(len(factor)) if middle is None else middle) @ inverse
    np.testing.assert_allclose(known.matrix, matrix, atol=1e-13)
    np.testing.assert_allclose(known.times(SIDES), matrix @ SIDES, atol=1e-13)
    expected = np.einsum("ik,ij,jk->k", SIDES, matrix, SIDES)
    np.testing.assert_allclose(known.forms(SIDES), expected, atol=1e-13)


def test_the_matrix_is_not_pickled():
    known = ConditioningMatrix(*KINDS["all"])
    before = len(pickle.dumps(known))
    assert known.matrix.shape == (N, N)
    again = pickle.dumps(known)
    assert len(again) == before
    np.testing.assert_array_equal(pickle.loads(again).matrix, known.matrix)
