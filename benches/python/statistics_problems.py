"""Samples for MMD and HSIC, and the statistics computed with other libraries."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import pkex


def two_samples(n, d=20):
    """Return two samples of n rows with small differences in half of the features."""
    x, y = np.random.default_rng(0).standard_normal((2, n, d))
    y[:, : d // 2] += 0.1
    return x, y


def dependent(n, d=20):
    """Return rows, and a target that depends on the first two features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + np.abs(X[:, 1]) + rng.standard_normal(n)


def pairs(n_rows):
    """Return the number of distinct pairs of rows."""
    return n_rows * (n_rows - 1) / 2


def mmd(x, y, **options):
    result = pkex.mmd(x, y, **options)
    assert abs(result.values.sum() - result.statistic) < 1e-12
    return np.array([result.statistic])


def mmd_by_matrices(x, y, kernel):
    """Return the unbiased MMD² from three kernel matrices of scikit-learn."""
    return unbiased(lambda a, b: rbf_kernel(a, b, gamma=gamma(kernel)).sum(), x, y)


def mmd_by_chunks(x, y, kernel, rows=1024):
    """Return the unbiased MMD² from kernel matrices of a thousand rows."""

    def kernel_sum(a, b):
        starts = range(0, len(a), rows)
        return sum(rbf_kernel(a[i : i + rows], b, gamma=gamma(kernel)).sum() for i in starts)

    return unbiased(kernel_sum, x, y)


def unbiased(kernel_sum, x, y):
    n, m = len(x), len(y)
    within = (kernel_sum(x, x) - n) / (n * (n - 1)) + (kernel_sum(y, y) - m) / (m * (m - 1))
    return np.array([within - 2.0 * kernel_sum(x, y) / (n * m)])


def hsic_by_matrices(X, y, kernel, target_kernel):
    """Return the biased HSIC from n×n matrices, the sum of K ∘ HLH over (n − 1)²."""
    K = rbf_kernel(X, gamma=gamma(kernel))
    L = rbf_kernel(y[:, None], gamma=gamma(target_kernel))
    means = L.mean(axis=0)
    L -= means[:, None]
    L -= means
    L += means.mean()
    return np.array([np.vdot(K, L) / (len(X) - 1.0) ** 2])


def gamma(kernel):
    return 0.5 / kernel.length_scale**2
