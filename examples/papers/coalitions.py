"""Shapley values by regression over sampled coalitions, as in Kernel SHAP."""

import numpy as np


def paired_coalitions(n, d, rng):
    """Return n coalitions (n, d) of Kernel SHAP's distribution, each followed by its complement."""
    sizes = np.arange(1, d)
    probabilities = 1.0 / (sizes * (d - sizes))
    drawn = rng.choice(sizes, size=n // 2, p=probabilities / probabilities.sum())
    ranks = rng.random((n // 2, d)).argsort(axis=1).argsort(axis=1)
    members = ranks < drawn[:, None]
    return np.stack([members, ~members], axis=1).reshape(-1, d).astype(float)


def regressed_values(coalitions, gains, total):
    """Return least-squares Shapley values (d,) or (d, rows) from gains v(S) − v(∅).

    They add up to `total`. Coalitions have equal weights, because they are drawn with the weights.
    """
    gram = coalitions.T @ coalitions
    first = np.linalg.solve(gram, coalitions.T @ gains)
    second = np.linalg.solve(gram, np.ones(len(gram)))
    excess = (first.sum(axis=0) - total) / second.sum()
    return first - np.multiply.outer(second, excess)
