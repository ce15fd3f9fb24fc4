"""libsvm's coupling of probabilities of pairs of classes in NumPy, for many rows at a time."""

import itertools

import numpy as np
from scipy.special import expit

# Rows that are coupled at a time, to stay in the cache of a core.
BLOCK = 1 << 12
STEPS = 100


def coupled_probabilities(values, slopes, offsets):
    """Return the probabilities of k classes, (n, k), from decision values of pairs (n, pairs)."""
    first = np.clip(expit(-(slopes * values + offsets)), 1e-7, 1.0 - 1e-7)
    blocks = [first[start : start + BLOCK].T for start in range(0, len(first), BLOCK)]
    return np.concatenate([coupled(block) for block in blocks], axis=1).T


def coupled(first):
    """Return the probabilities of a few rows, which are the last axis."""
    k, n = round((1.0 + np.sqrt(1.0 + 8.0 * len(first))) / 2.0), first.shape[1]
    r = np.zeros((k, k, n))
    for (i, j), own in zip(itertools.combinations(range(k), 2), first, strict=True):
        r[i, j], r[j, i] = own, 1.0 - own
    q = -r * r.swapaxes(0, 1)
    q[np.arange(k), np.arange(k)] = (r * r).sum(axis=0)
    p, found, left = np.full((k, n), 1.0 / k), np.empty((k, n)), np.arange(n)
    for _ in range(max(STEPS, k)):
        products = sum(q[:, j] * p[j] for j in range(k))
        form = (p * products).sum(axis=0)
        is_rough = np.abs(products - form).max(axis=0) >= 0.005 / k
        if not is_rough.all():
            found[:, left[~is_rough]] = p[:, ~is_rough]
            left, form = left[is_rough], form[is_rough]
            p, q, products = p[:, is_rough], q[:, :, is_rough], products[:, is_rough]
        if not len(left):
            break
        p = improved(p, q, products, form)
    found[:, left] = p
    return found


def improved(p, q, products, form):
    """Return p after a step for each class, given Q p and pᵀ Q p."""
    for t in range(len(p)):
        change = (form - products[t]) / q[t, t]
        p[t] += change
        sums = 1.0 + change
        form = (form + change * (change * q[t, t] + 2.0 * products[t])) / (sums * sums)
        products = (products + change * q[t]) / sums
        p /= sums
    return p
