"""Shapley-regularized regression with a protected feature and its proxy.

Experiment 4 of Chau et al. (2022, RKHS-SHAP, section 5.2), Figure 3. The target depends on five
Gaussian features. The last, X₅, is protected, and X₄ has a correlation of 0.9 with it. Kernel ridge
regression is fitted with a growing penalty on the Shapley values of X₅: on the interventional
values (ISV-REG) or on the observational ones (OSV-REG). The first lets X₄ take the place of X₅. The
second reduces the values of both. The penalties are those of the authors' code, which the paper
divides by the number of rows. Needs pkex[demo].

    python examples/papers/rkhs_fairness.py           200 training rows, 2 s
    python examples/papers/rkhs_fairness.py --full    700 training rows, 1 min
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment

import pkex
from pkex.errors import InputWarning
from pkex.models import ShapleyRegularizedRidge

WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
COVARIANCE = np.eye(5)
COVARIANCE[3, 4] = COVARIANCE[4, 3] = 0.9
# By value function: the name of the values, and the penalties per row.
GAMES = {
    "interventional": ("ISV", [0.0, 1.0, 1.5, 5.0, 20.0]),
    "observational": ("OSV", [0.0, 2.0, 5.0, 10.0, 20.0]),
}


def values_of(game, penalty, X, y):
    """Return the values of a regularized model for the training rows, and its R²."""
    model = ShapleyRegularizedRidge(
        features=4, penalty=penalty * len(X), alpha=0.01, value_function=game
    )
    model.fit(X, y)
    # The penalized values are those of the training rows, which are the background as well.
    with warnings.catch_warnings(action="ignore", category=InputWarning):
        explanation = pkex.Explainer(model, X, value_function=game)(X)
    outputs = model.predict(X)
    assert np.allclose(explanation.values.sum(axis=1) + explanation.base_values, outputs)
    return explanation.values, model.score(X, y)


def draw(ax, values, penalties, title):
    """Draw the distribution of values for each penalty, the larger the darker."""
    colors = plt.get_cmap("Blues")(np.linspace(0.3, 1.0, len(penalties)))
    for place, (own, color) in enumerate(zip(values, colors, strict=True)):
        parts = ax.violinplot(own, [place], widths=0.8, showmedians=True)
        parts["bodies"][0].set(facecolor=color, alpha=0.8)
        for lines in ("cbars", "cmins", "cmaxes", "cmedians"):
            parts[lines].set_color(color)
    ax.set_xticks(range(len(penalties)), [f"{penalty:g}" for penalty in penalties])
    ax.axhline(0.0, color="gray", linewidth=0.5)
    ax.set(title=title, xlabel="Shapley regularization λ")


run = Experiment(__doc__)
rng = np.random.default_rng(run.seed)
X = rng.multivariate_normal(np.zeros(5), COVARIANCE, size=700 if run.full else 200)
y = X @ WEIGHTS
figure, panels = plt.subplots(2, 2, figsize=(8.0, 6.0), sharey=True)
numbers = {"n_train": len(X)}
for axes, (game, (kind, penalties)) in zip(panels, GAMES.items(), strict=True):
    found = [values_of(game, penalty, X, y) for penalty in penalties]
    print(f"\n{game}: mean |value| of\n     λ       X₄       X₅     R²")
    for penalty, (values, score) in zip(penalties, found, strict=True):
        sizes = np.abs(values).mean(axis=0)
        print(f"{penalty:6.1f}{sizes[3]:9.2f}{sizes[4]:9.2f}{score:7.3f}")
    for ax, feature in zip(axes, (3, 4), strict=True):
        own = [values[:, feature] for values, _ in found]
        draw(ax, own, penalties, f"{kind} of X{'₄₅'[feature - 3]}, {kind}-REG")
        key = f"{kind.lower()}_x{feature + 1}"
        numbers |= {f"{key}_least": np.abs(own[0]).mean(), f"{key}_most": np.abs(own[-1]).mean()}
    axes[0].set_ylabel("Shapley value, units of the target")
run.save(figure, numbers)
