"""The probabilities of classes as libsvm couples them from those of pairs, row by row."""

import itertools

import numpy as np


def coupled(first):
    """Return the probabilities of k classes (n, k), given those of pairs, (n, k (k − 1) / 2).

    This is libsvm's `multiclass_probability`, with the names of Wu, Lin and Weng (2004, algorithm
    2), and its stopping rule.
    """
    k = round((1.0 + np.sqrt(1.0 + 8.0 * first.shape[1])) / 2.0)
    return np.array([coupled_row(row, k) for row in np.clip(first, 1e-7, 1.0 - 1e-7)])


def coupled_row(pairs, k):
    r = np.zeros((k, k))
    for (i, j), share in zip(itertools.combinations(range(k), 2), pairs, strict=True):
        r[i, j], r[j, i] = share, 1.0 - share
    q = -r * r.T
    q[np.arange(k), np.arange(k)] = (r * r).sum(axis=0)
    p = np.full(k, 1.0 / k)
    for _ in range(max(100, k)):
        products = q @ p
        form = p @ products
        if np.abs(products - form).max() < 0.005 / k:
            break
        for t in range(k):
            change = (form - products[t]) / q[t, t]
            p[t] += change
            form = (form + change * (change * q[t, t] + 2.0 * products[t])) / (1.0 + change) ** 2
            products = (products + change * q[t]) / (1.0 + change)
            p /= 1.0 + change
    return p
