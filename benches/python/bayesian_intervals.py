"""Intervals of estimated values: standard errors of pkex, and the posterior of BayesSHAP.

    python benches/python/bayesian_intervals.py

Both estimate the Shapley values of a Gaussian process of the diabetes data from the same number of
coalitions. The share of exact values in 95 % intervals, the root mean square error relative to the
spread of the values, and the mean half-length of the intervals relative to that error.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import pkex
from pkex.functions.linked import as_coalitionwise

Float = NDArray[np.float64]

# The weight of the coalition of all features, as in the code of BayesGP-SHAP.
_OF_ALL = 1e3
_SEEDS, _ROWS, _COUNTS = 40, 4, (50, 200, 1000)


def bayesian(members: Float, values: Float, total: float) -> tuple[Float, Float]:
    """Return the posterior mean and standard deviation of BayesSHAP (Slack et al. 2021).

    The coalitions are drawn with the weights of KernelSHAP, so each has weight 1.

    Parameters
    ----------
    members : ndarray of shape (l, d)
    values : ndarray of shape (l,)
        v(S) − v(∅).
    total : float
        The value of all features.
    """
    count, d = members.shape
    z, v = np.concatenate([members, np.ones((1, d))]), np.append(values, total)
    weights = np.append(np.ones(count), _OF_ALL)
    inverse = np.linalg.inv((z.T * weights) @ z + np.eye(d))
    mean = inverse @ (z.T @ (weights * v))
    residuals = v - z @ mean
    scale = (weights @ residuals**2 + mean @ mean) / count
    variance = count * scale / (count - 2)
    return mean, np.sqrt(variance * np.diag(inverse))


def drawn(d: int, count: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return coalitions of random sizes, as KernelSHAP draws them, and their complements."""
    sizes = np.arange(1, d)
    weights = 1.0 / (sizes * (d - sizes))
    chosen = random.choice(sizes, count // 2, p=weights / weights.sum())
    half = random.permuted(np.tile(np.arange(d), (count // 2, 1)), axis=1) < chosen[:, None]
    return np.concatenate([half, ~half])


def main() -> None:
    X, y = load_diabetes(return_X_y=True)
    length_scales = 0.05 * np.array([4, 4, 4, 6, 16, 99, 8, 99, 3, 25])
    kernel = ConstantKernel(1.0) * RBF(length_scales) + WhiteKernel(0.5)
    model = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None).fit(X, y)
    background, rows, d = X[:20], X[20 : 20 + _ROWS], X.shape[1]
    explainer = pkex.Explainer(model, background, value_function="observational")
    exact = explainer.shap_values(rows)
    coalitions = np.array(list(product([False, True], repeat=d)))
    numbers = 1 << np.arange(d)[::-1]
    worths = coalition_values(explainer, rows, coalitions)
    for count in _COUNTS:
        found: dict[str, list[tuple[Float, Float]]] = {"pkex": [], "BayesSHAP": []}
        for seed in range(_SEEDS):
            estimate = explainer.estimate(rows, n_coalitions=count, random_state=seed)
            found["pkex"].append((estimate.values, estimate.standard_errors))
            members = drawn(d, count, np.random.default_rng(seed))
            places = members @ numbers
            each = [bayesian(1.0 * members, own[places], own[-1]) for own in worths]
            found["BayesSHAP"].append(tuple(np.stack(part) for part in zip(*each, strict=True)))
        for name, results in found.items():
            errors = np.stack([values for values, _ in results]) - exact
            deviations = 1.96 * np.stack([spread for _, spread in results])
            error = np.sqrt(np.mean(errors**2))
            print(
                f"{count:5} coalitions, {name:9}: in the intervals "
                f"{(np.abs(errors) <= deviations).mean():.1%}, error {error / exact.std():.2%}, "
                f"half-length / error {deviations.mean() / error:.2f}"
            )


def coalition_values(explainer: pkex.Explainer, rows: Float, members: NDArray[np.bool_]) -> Float:
    """Return v(S) − v(∅) of coalitions of each row, the first of which is empty."""
    problem = explainer._problem
    function = as_coalitionwise(problem.function)
    with problem.settings.computing() as computation:
        values = function.coalition_values(rows, problem.game, members, computation, str)[..., 0]
    return values - values[:, :1]


if __name__ == "__main__":
    main()
