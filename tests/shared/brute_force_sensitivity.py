"""Global sensitivity by brute force: conditional means of a model's output on a grid."""

from itertools import product
from math import factorial

import numpy as np


class Grid:
    """All combinations of some entries of each column, which are independent of each other.

    Parameters
    ----------
    predict : callable
        Returns the output of rows, of shape (n,) or (n, outputs).
    entries, weights : lists of arrays of shape (m_j,)
        Of each column.
    groups : list of lists of columns, optional
        The players; by default each column is one.
    """

    def __init__(self, predict, entries, weights, groups=None):
        self.groups = groups or [[j] for j in range(len(entries))]
        self.shape = tuple(map(len, entries))
        rows = np.array(list(product(*entries)), dtype=np.result_type(*entries))
        output = np.asarray(predict(rows))
        self.outputs = output.reshape(*self.shape, -1)
        self.weights = weights
        self.worths = {
            chosen: self.worth(chosen) for chosen in product([False, True], repeat=self.p)
        }

    @property
    def p(self):
        return len(self.groups)

    def mean(self, values, columns):
        """Average over some columns, whose axes are then of length 1."""
        for j in columns:
            weights = self.weights[j].reshape(-1, *[1] * (values.ndim - j - 1))
            values = (weights * values).sum(axis=j, keepdims=True)
        return values

    def worth(self, chosen):
        """Var E[f | X_S], of each output."""
        columns = range(len(self.shape))
        members = {j for own, is_in in zip(self.groups, chosen, strict=True) if is_in for j in own}
        deviations = self.outputs - self.mean(self.outputs, columns)
        conditional = self.mean(deviations, set(columns) - members)
        return self.mean(conditional**2, members).ravel()

    def coalition(self, *members):
        return self.worths[tuple(player in members for player in range(self.p))]

    @property
    def variance(self):
        return self.coalition(*range(self.p))

    def shapley_effects(self):
        effects = np.zeros((self.p, len(self.variance)))
        for chosen, worth in self.worths.items():
            size = sum(chosen)
            for j, is_in in enumerate(chosen):
                s = size - is_in
                weight = factorial(s) * factorial(self.p - s - 1) / factorial(self.p)
                effects[j] += weight * worth if is_in else -weight * worth
        return effects / self.variance

    def first_order(self):
        return np.stack([self.coalition(j) for j in range(self.p)]) / self.variance

    def total(self):
        without = [self.coalition(*(k for k in range(self.p) if k != j)) for j in range(self.p)]
        return 1.0 - np.stack(without) / self.variance

    def second_order(self, i, j):
        both = self.coalition(i, j) - self.coalition(i) - self.coalition(j)
        return both / self.variance

    def assert_close(self, result, tolerance=1e-10):
        """Assert that a result has these indices; errors are shares of the variance."""
        pairs = [
            (result.variance / self.variance, np.ones_like(self.variance)),
            (result.shapley_effects, self.shapley_effects()),
            (result.first_order, self.first_order()),
            (result.total, self.total()),
        ]
        if result.second_order is not None:
            for i in range(self.p):
                for j in range(i):
                    pairs += [(result.second_order[i, j], self.second_order(i, j))]
                    pairs += [(result.second_order[j, i], self.second_order(i, j))]
        for found, expected in pairs:
            found = np.reshape(found, np.shape(expected))
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


def grid_of_rows(predict, rows, weights=None, groups=None):
    """The grid of the columns of rows, taken as independent."""
    shares = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    shares = shares / shares.sum()
    return Grid(predict, list(rows.T), [shares] * rows.shape[1], groups)
