"""Problems of sparse rows like those of TF-IDF vectors, and implementations by others."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.svm import SVR


def documents(count, columns, words, seed):
    """Return rows of length 1 with so many words of a vocabulary, frequent ones less weighted.

    The frequency of a word falls with the root of its rank, as after stop words are left out.
    """
    rng = np.random.default_rng(seed)
    frequencies = np.arange(1.0, columns + 1.0) ** -0.5
    frequencies /= frequencies.sum()
    found = [
        np.sort(rng.choice(columns, words, replace=False, p=frequencies)) for _ in range(count)
    ]
    indices = np.concatenate(found)
    values = -np.log(frequencies[indices]) * rng.uniform(0.5, 1.5, indices.size)
    parts = values, indices.astype(np.int32), np.arange(0, indices.size + 1, words, dtype=np.int32)
    rows = csr_array(parts, (count, columns))
    lengths = np.sqrt(rows.power(2).sum(axis=1))
    return csr_array(rows.multiply(1.0 / lengths[:, None]))


def regression(points, columns, words, is_dense=False):
    """Return an SVR fitted on sparse rows, or on the same as dense ones.

    All rows are support vectors.
    """
    X = documents(points, columns, words, seed=0)
    y = np.sin(np.arange(points)) + X[:, :50].sum(axis=1)
    return SVR(epsilon=1e-6, C=0.1, gamma=1.0).fit(X.toarray() if is_dense else X, y)


class LogarithmQuadrature:
    """Neutral values of an SVR by sums of logarithms at the nodes, as QuadraSHAP computes them.

    The product of all factors but one at a node is exp(Σ log F − log F_j), for all columns.
    """

    def __init__(self, model, nodes=10):
        self.points, self.weights = model.support_vectors_.toarray(), model.dual_coef_.toarray()[0]
        self.gamma = model._gamma
        x, w = np.polynomial.legendre.leggauss(nodes)
        self.nodes, self.node_weights = (1.0 + x) / 2.0, w / 2.0

    def shap_values(self, X):
        return np.array([self._values(x) for x in X])

    def _values(self, x):
        difference = np.expm1(-self.gamma * (self.points - x) ** 2)
        values = np.zeros(len(x))
        for t, weight in zip(self.nodes, self.node_weights, strict=True):
            factors = 1.0 + t * difference
            logarithms = np.log(factors).sum(axis=1)
            products = self.weights * np.exp(logarithms) * weight
            values += (products[:, None] * difference / factors).sum(axis=0)
        return values
