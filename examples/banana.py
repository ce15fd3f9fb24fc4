"""Accuracy of observational values on the banana data of RKHS-SHAP, and computing times.

X₁ and X₂ = (X₁² − 10) / b + noise lie on a curve, and the target is f = (X₁² − 10) / b + X₂. The
true observational values need E[X₁² | X₂], which is integrated numerically here. The paper prints
another formula, which is right only for b = 1 and is drawn as well. Values of kernel ridge
regressions are computed by pkex, and with conditional means of a fitted normal distribution. R²
compares them with the true values. Times are for all rows, with all rows as background. Needs
pkex[demo,shap]; saves banana.png in the working directory.

    python examples/banana.py           a quick look
    python examples/banana.py --full    sizes of the paper: the picture in docs/value-functions.md
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np
import shap
from scipy.stats import norm
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

import pkex

plt.style.use("pkex.results.figures")

VARIANCE = 10.0
PICTURE = "banana.png"
LINES = [("-", "o", 1.5), ("-", "s", 5.0), ("--", "^", 1.5), (":", "D", 1.5)]


def bent(x1, b):
    """Return g, the part of X₁ in X₂ and in f."""
    return (x1**2 - VARIANCE) / b


def banana(n, b, rng):
    """Draw rows and outputs."""
    x1, noise = rng.normal(size=(2, n)) * [[VARIANCE**0.5], [1.0]]
    rows = np.column_stack([x1, bent(x1, b) + noise])
    return rows, bent(x1, b) + rows[:, 1]


def values_given(first, second):
    """Return Shapley values of two players by v({1}), v({2}) and v({1, 2}), with v(∅) = 0."""
    return lambda whole: np.column_stack([whole + first - second, whole + second - first]) / 2.0


def true_values(rows, b):
    """Return the observational values: E[f | X₁] = 2 g, E[f | X₂] = X₂ + E[g | X₂]."""
    z = np.linspace(-8.0, 8.0, 4001) * VARIANCE**0.5
    likely = norm.pdf(z, scale=VARIANCE**0.5) * norm.pdf(rows[:, 1:] - bent(z, b))
    given = likely @ bent(z, b) / likely.sum(axis=1)
    g = bent(rows[:, 0], b)
    return values_given(2.0 * g, rows[:, 1] + given)(g + rows[:, 1])


def printed_values(rows, b):
    """Return the paper's values, which use 2 X₂ for E[f | X₂]."""
    g = bent(rows[:, 0], b)
    return values_given(2.0 * g, 2.0 * rows[:, 1])(g + rows[:, 1])


def normal_values(model, data, rows):
    """Return values with absent features drawn from a conditional normal distribution."""
    mean, covariance = data.mean(axis=0), np.cov(data.T)
    draws, base = norm.ppf((np.arange(100) + 0.5) / 100.0), model.predict(data).mean()
    given = []
    for known, other in ((0, 1), (1, 0)):
        slope = covariance[known, other] / covariance[known, known]
        left = covariance[other, other] - slope * covariance[known, other]
        mixed = np.empty((len(rows), len(draws), 2))
        mixed[..., known] = rows[:, [known]]
        center = mean[other] + slope * (rows[:, [known]] - mean[known])
        mixed[..., other] = center + left**0.5 * draws
        given.append(model.predict(mixed.reshape(-1, 2)).reshape(len(rows), -1).mean(axis=1))
    return values_given(*(np.array(given) - base))(model.predict(rows) - base)


def fitted(rows, y):
    """Return a kernel ridge regression with cross-validated settings."""
    settings = {"gamma": [0.003, 0.01, 0.03, 0.1], "alpha": [1e-4, 1e-3, 1e-2]}
    return GridSearchCV(KernelRidge(kernel="rbf"), settings, cv=3).fit(rows, y).best_estimator_


def accuracies(n, b, rng):
    """Return R² of each method's values, averaged over both features."""
    rows, y = banana(n, b, rng)
    model, wanted = fitted(rows, y), true_values(rows, b)
    found = {
        "observational": pkex.Explainer(model, rows, value_function="observational")(rows).values,
        "interventional": pkex.Explainer(model, rows).shap_values(rows),
        "normal distribution": normal_values(model, rows, rows),
        "formula in the paper": printed_values(rows, b),
    }
    explained = found["observational"].sum(axis=1) + model.predict(rows).mean()
    error = np.abs(explained - model.predict(rows)).max()
    print(f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(y).max():.3g})")
    return {name: r2_score(wanted, values) for name, values in found.items()}


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def times(n, rng):
    """Return seconds for all rows; those of shap are extrapolated from ten."""
    rows, y = banana(n, 1.0, rng)
    model = KernelRidge(kernel="rbf", gamma=0.05).fit(rows, y)
    sampled = shap.KernelExplainer(model.predict, rows)
    return {
        "observational": seconds(
            lambda: pkex.Explainer(model, rows, value_function="observational")(rows)
        ),
        "interventional": seconds(lambda: pkex.Explainer(model, rows)(rows)),
        "shap.KernelExplainer": seconds(lambda: sampled.shap_values(rows[:10], silent=True))
        * (n / 10),
    }


parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--full", action="store_true", help="the sizes of the paper")
full = parser.parse_args().full
bends = [1.0, 10.0, 20.0, 50.0, 100.0] if full else [1.0, 10.0, 50.0]
sizes = [100, 500, 1000, 1500, 3000] if full else [100, 400]
n, repetitions = (1000, 10) if full else (200, 1)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.2))
rng = np.random.default_rng(0)
curves = []
for b in bends:
    print(f"b = {b:g}:")
    found = [accuracies(n, b, rng) for _ in range(repetitions)]
    curves.append({name: np.mean([one[name] for one in found]) for name in found[0]})
    print("  R²: " + ", ".join(f"{name} {value:.2f}" for name, value in curves[-1].items()))
# Lines that nearly coincide differ in width and dashes.
for name, (dashes, marker, width) in zip(curves[0], LINES, strict=True):
    scores = [curve[name] for curve in curves]
    left.plot(bends, scores, dashes, marker=marker, linewidth=width, label=name)
left.set(xscale="log", ylim=(-1.0, 1.05), ylabel="R² of the values, true values as reference")
left.set_xlabel("b in X₂ = (X₁² − 10) / b + noise\n(the larger b, the flatter the banana)")
left.set_title(f"Accuracy, {n:,} rows")
left.legend(loc="lower left")

clocks = [times(size, rng) for size in sizes]
for name, color in zip(clocks[0], ("C0", "C1", "C4"), strict=True):  # C0 and C1 as on the left
    right.loglog(sizes, [clock[name] for clock in clocks], "o-", color=color, label=name)
    print(f"{sizes[-1]} rows, {name}: {clocks[-1][name]:.2g} s")
right.set(xlabel="explained rows = background rows", ylabel="seconds for all rows")
right.set_title("Time")
right.legend(loc="upper left")
figure.savefig(PICTURE)
print(f"picture: {PICTURE}")
