"""Explain an acquisition function: expected yield and uncertainty of each parameter.

A chemical process with five parameters is optimized with the upper confidence bound: mean + 2
standard deviations of a Gaussian process of scikit-learn. Each trial is where the bound is largest.
Both parts of the bound, the mean and the standard deviation, are explained exactly, with points of
the whole space as background. Their values add up to the bound. Needs pkex[demo]; saves
acquisition.png in the working directory.

    python examples/acquisition.py
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import qmc
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import pkex

plt.style.use("pkex.results.figures")

NAMES = ["temperature", "time", "acid", "catalyst", "stirring"]
LOWEST, HIGHEST = np.array([[40.0, 0.5, 1.0, 0.1, 1.0], [160.0, 12.0, 7.0, 2.0, 9.0]])
ERROR = 1.0  # percent of yield, of a measurement
WIDTH = 2.0  # standard deviations that are added to the mean
rng = np.random.default_rng(0)


def measured_yield(rows):
    """Return the measured yield in percent, with noise."""
    temperature, time, acid, catalyst, _ = rows.T
    best = 110.0 - 3.0 * (time - 6.0)
    reached = 60.0 * np.exp(-(((temperature - best) / 35.0) ** 2))
    return reached - 3.0 * (acid - 4.0) ** 2 + 6.0 * catalyst + ERROR * rng.normal(size=len(rows))


def points(n, seed):
    return qmc.scale(qmc.LatinHypercube(len(NAMES), seed=seed).random(n), LOWEST, HIGHEST)


def fitted(X, y):
    widths = HIGHEST - LOWEST
    kernel = ConstantKernel(1.0, (0.1, 100.0)) * RBF(
        0.5 * widths, np.column_stack([0.2 * widths, 5.0 * widths])
    )
    model = GaussianProcessRegressor(kernel, alpha=(ERROR / y.std()) ** 2, normalize_y=True)
    with warnings.catch_warnings():
        # The length-scale of an irrelevant parameter grows to its upper bound.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def acquisition(model, rows):
    mean, deviation = model.predict(rows, return_std=True)
    return mean + WIDTH * deviation


X, everywhere, candidates = points(8, 0), points(100, 1), points(5000, 2)
y = measured_yield(X)
means, deviations = [], []
for _ in range(25):
    model = fitted(X, y)
    proposal = candidates[[np.argmax(acquisition(model, candidates))]]
    options = {"background": everywhere, "feature_names": NAMES}
    mean = pkex.Explainer(model, **options)(proposal)
    deviation = pkex.Explainer(model, target="std", **options)(proposal)
    means.append(mean.values[0])
    deviations.append(WIDTH * deviation.values[0])
    X, y = np.concatenate([X, proposal]), np.concatenate([y, measured_yield(proposal)])

for when, number in (("first", 0), ("last", -1)):
    print(f"{when} proposal  {'mean':>9}{'2 std':>9}   (percent of yield)")
    for name, *parts in zip(NAMES, means[number], deviations[number], strict=True):
        print("  {:<14}{:9.1f}{:9.1f}".format(name, *parts))
bound = acquisition(model, proposal)
total = mean.base_values + WIDTH * deviation.base_values + means[-1].sum() + deviations[-1].sum()
error = np.abs(total - bound).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {bound.max():.3g})")

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True)
trials = np.arange(len(X) - len(means), len(X)) + 1
parts = {"Mean (expected yield)": means, f"{WIDTH:g} standard deviations (uncertainty)": deviations}
for ax, (title, values) in zip(axes, parts.items(), strict=True):
    up, down = np.zeros(len(trials)), np.zeros(len(trials))
    for name, heights in zip(NAMES, np.transpose(values), strict=True):
        ax.bar(trials, heights, bottom=np.where(heights > 0.0, up, down), label=name)
        up, down = up + np.maximum(heights, 0.0), down + np.minimum(heights, 0.0)
    ax.axhline(0.0, color="0.2", linewidth=0.8)
    ax.set(title=title, xlabel="trial")
axes[0].set_ylabel("contribution to the upper bound, % of yield")
axes[1].legend()
figure.savefig("acquisition.png")
print("picture: acquisition.png")
