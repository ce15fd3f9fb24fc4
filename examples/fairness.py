"""Shapley-regularized regression with a protected feature and its proxy.

After section 6.3 of the RKHS-SHAP paper (Chau et al. 2022). The target depends on five Gaussian
features. The last is protected, and the fourth has a correlation of 0.9 with it. Kernel ridge
regression is fitted with a growing penalty on the Shapley values of the protected feature. A
penalty on interventional values lets the fourth feature take its place. A penalty on observational
values reduces the values of both. The picture shows the distributions of these values. Needs
pkex[demo]; saves fairness.png in the working directory.

    python examples/fairness.py
"""

import matplotlib.pyplot as plt
import numpy as np

import pkex
from pkex.models import ShapleyRegularizedRidge

plt.style.use("pkex.results.figures")

PICTURE = "fairness.png"
N = 250
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 15.0])
COVARIANCE = np.eye(5)
COVARIANCE[3, 4] = COVARIANCE[4, 3] = 0.9
# Per row, because squared errors are summed over rows.
PENALTIES = [0.0, 0.1, 1.0, 10.0, 100.0]

rng = np.random.default_rng(0)
X = rng.multivariate_normal(np.zeros(5), COVARIANCE, size=N)
y = X @ WEIGHTS + 0.1 * rng.normal(size=N)

figure, panels = plt.subplots(2, 2, figsize=(8.0, 6.0), sharey="row")
for game, axes in zip(("interventional", "observational"), panels, strict=True):
    print(f"\n{game}: mean |value| of")
    print("penalty / n       x3       x4     R²")
    for place, penalty in enumerate(PENALTIES):
        model = ShapleyRegularizedRidge(
            features=4, penalty=penalty * N, alpha=0.1, value_function=game
        )
        model.fit(X, y)
        explanation = pkex.Explainer(model, background=X, value_function=game)(X)
        sizes = np.abs(explanation.values).mean(axis=0)
        print(f"{penalty:11.1f}{sizes[3]:9.2f}{sizes[4]:9.2f}{model.score(X, y):7.3f}")
        for ax, feature in zip(axes, (3, 4), strict=True):
            parts = ax.violinplot(
                explanation.values[:, feature], [place], widths=0.8, showmedians=True
            )
            for body in parts["bodies"]:
                body.set_facecolor("C0")
            for lines in ("cbars", "cmins", "cmaxes", "cmedians"):
                parts[lines].set_color("C0")
    outputs = model.predict(X)
    error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - outputs).max()
    print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(outputs).max():.3g})")
    for ax, name in zip(axes, ("x3, its proxy", "x4, protected"), strict=True):
        ax.set_xticks(range(len(PENALTIES)), [f"{penalty:g}" for penalty in PENALTIES])
        ax.axhline(0.0, color="gray", linewidth=0.5)
        ax.set_title(f"{game.capitalize()} values of {name}")
    axes[0].set_ylabel("Shapley value, units of y")
for ax in panels[1]:
    ax.set_xlabel("penalty per row")
figure.savefig(PICTURE)
print(f"\npicture: {PICTURE}")
