"""Theorems and constants of the STAR-SHAP paper, checked by brute force and by sampling.

Theorems 3.1 and 4.1 and Lemmas C.3 and C.4 of Dubé and Marchand (2025). Theorem 3.1, which is
Algorithm 1, is compared with all coalitions of eight features. Theorem 4.1, the expected output of
a random ReLU weighted by a Gaussian kernel, is compared with means of random draws, and the
constants κ² and θ² with their bounds. The main text of the paper leaves a factor ‖x‖ out of Theorem
4.1. The picture shows how the mean of draws approaches the formula with and without it. Needs
pkex[demo].

    python examples/papers/star_theorems.py          1e6 draws, 1 s
    python examples/papers/star_theorems.py --full   3e7 draws, 10 s
"""

import itertools
from math import comb

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from scipy.stats import norm

import pkex

N, SIGMA, GAMMA = 4, 1.3, 0.9


def product_of(number):
    """Return a function of some columns."""
    return lambda *columns: number * np.prod(np.sin(columns), axis=0)


def star_error(rng):
    """Return the largest relative error of pkex's values against all coalitions (Theorem 3.1)."""
    n = 8
    sets = [rng.choice(n, size, replace=False) for size in (1, 2, 2, 3, 3, 4)]
    function = pkex.TermExpansion([(columns, product_of(rng.normal())) for columns in sets])
    background, row = rng.normal(size=(20, n)), rng.normal(size=n)
    found = pkex.Explainer(function, background).shap_values(row[None])[0]
    present = np.array(list(itertools.product([False, True], repeat=n)))
    mixed = np.where(present[:, None], row, background).reshape(-1, n)
    value = function.predict(mixed).reshape(len(present), -1).mean(axis=1)
    expected = np.zeros(n)
    for place, coalition in enumerate(present):
        size = coalition.sum()
        for j in np.flatnonzero(~coalition):
            gain = value[place + 2 ** (n - 1 - j)] - value[place]
            expected[j] += gain / (n * comb(n - 1, size))
    return np.abs(found - expected).max() / np.abs(expected).max()


def formula(u, x):
    """Return E[𝒦(u, w) max(0, w·x)] by Theorem 4.1 with the factor ‖x‖."""
    zeta = (1.0 / GAMMA**2 + 1.0 / SIGMA**2) ** -0.5
    scale = (1.0 + SIGMA**2 / GAMMA**2) ** (-N / 2.0)
    scale *= np.exp(-(u @ u) / (2.0 * SIGMA**2 + 2.0 * GAMMA**2))
    length = np.linalg.norm(x)
    r = u @ x / length / (1.0 + GAMMA**2 / SIGMA**2)
    return scale * length * (zeta * norm.pdf(r / zeta) + r * norm.cdf(r / zeta))


def similarity(u, w):
    return np.exp(-np.sum((u - w) ** 2, axis=-1) / (2.0 * GAMMA**2))


run = Experiment(__doc__)
rng = np.random.default_rng(run.seed)
u, x = rng.normal(size=(2, N))
x *= 3.0 / np.linalg.norm(x)
n_draws, n_parts = (30_000_000, 60) if run.full else (1_000_000, 20)
means, squares, pairs = [], [], []
for _ in range(n_parts):
    w, other = rng.normal(scale=SIGMA, size=(2, n_draws // n_parts, N))
    output, second = np.maximum(0.0, w @ x), np.maximum(0.0, other @ x)
    means.append(np.mean(similarity(u, w) * output))
    squares.append(np.mean(output**2))
    pairs.append(np.mean(similarity(w, other) * output * second))
exact, spread = formula(u, x), np.std(means, ddof=1) / n_parts**0.5
kappa = SIGMA**2 * 3.0**2 / 2.0
theta = 3.0**2 * (1.0 + 2.0 * SIGMA**2 / GAMMA**2) ** (-(N - 1) / 2.0) * SIGMA**2 / (2.0 * np.pi)
numbers = {
    "theorem_3_1": star_error(rng),
    "theorem_4_1": (np.mean(means) - exact) / spread,
    "theorem_4_1_error": spread / exact,
    "printed": exact / 3.0 / np.mean(means),
    "kappa": np.mean(squares) / kappa,
    "theta": np.mean(pairs) / theta,
}
meanings = (
    "theorem 3.1: relative error",
    "theorem 4.1: difference from the mean of draws, in standard errors",
    "             standard error of this mean, relative",
    "             formula as printed, divided by this mean",
    "lemma C.3:   mean of draws divided by κ²",
    "lemma C.4:   mean of draws divided by the bound on θ²",
)
for meaning, number in zip(meanings, numbers.values(), strict=True):
    print(f"{meaning:70}{number:.3g}")

figure, ax = plt.subplots(figsize=(6.0, 3.6))
counts = np.arange(1, n_parts + 1) * (n_draws // n_parts)
running = np.cumsum(means) / np.arange(1, n_parts + 1)
ax.plot(counts, running, "o", markersize=4.0, zorder=3, label="mean of draws")
ax.axhline(exact, color="C1", label="Theorem 4.1 with ‖x‖ (appendix)")
ax.axhline(exact / 3.0, color="C2", linestyle="--", label="as printed in the main text")
ax.set(xscale="log", xlabel="draws of w", ylabel="E[K(u, w) max(0, w·x)]", ylim=(0.0, 1.4 * exact))
ax.set_title(f"Expected output of a random ReLU, ‖x‖ = 3, {N} features")
ax.legend(loc="center right")
run.save(figure, numbers)
