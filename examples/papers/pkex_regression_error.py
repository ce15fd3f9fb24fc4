"""Error of Shapley values that are estimated by regression over sampled coalitions.

Figure 1 (section 5.1, experiment 1) of the PKeX-Shapley paper. Support vector regressions are
fitted to 1,000 rows of a linear target with 10 to 50 normal features. The neutral values of test
rows are estimated as in Kernel SHAP, from paired coalitions, and compared with the exact values:
Σ_j |φ_j − φ̂_j| / |φ_j|, of which the median over rows is drawn. If C and γ are cross-validated as
the paper states, the model is nearly linear, and the errors are a million times smaller than in the
figure. With γ = 0.01 they are similar to it. Saves pkex_regression_error.json and
pkex_regression_error.png.

    python examples/papers/pkex_regression_error.py          5 rows, up to 10,000 coalitions, 5 s
    python examples/papers/pkex_regression_error.py --full   100 rows, up to 100,000, 4 min
"""

import matplotlib.pyplot as plt
import numpy as np
from coalitions import paired_coalitions, regressed_values
from experiment import Experiment
from models import tuned_regression
from sklearn.svm import SVR

import pkex

N, NOISE = 1000, 0.1
FEATURES = [10, 20, 30, 50]


def coalition_values(model, x, coalitions):
    """Return v(S), the expansion with the kernel on the columns in S: Definition 2."""
    exponents = model.gamma * (model.support_vectors_ - x) ** 2
    values = [np.exp(-(part @ exponents.T)) for part in np.array_split(coalitions, 50)]
    return np.concatenate([part @ model.dual_coef_[0] for part in values])


def errors(model, rows, budgets, rng):
    """Return relative errors (rows, budgets)."""
    exact = pkex.Explainer(model, value_function="neutral")(rows)
    intercept = model.intercept_[0]
    found = np.empty((len(rows), len(budgets)))
    for row, x in enumerate(rows):
        phi, empty = exact.values[row], exact.base_values[row] - intercept
        coalitions = paired_coalitions(budgets[-1], len(x), rng)
        gains = coalition_values(model, x, coalitions) - empty
        for place, budget in enumerate(budgets):
            estimate = regressed_values(coalitions[:budget], gains[:budget], phi.sum())
            found[row, place] = np.sum(np.abs(phi - estimate) / np.abs(phi))
    return found


experiment = Experiment(__doc__)
budgets = [200, 500, 1000, 2000, 5000, 10_000] + [20_000, 50_000, 100_000] * experiment.full
n_rows, n_searched, n_points = (100, N, 11) if experiment.full else (5, 150, 6)
numbers = {"rows": n_rows}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.8), sharey=True)
titles = {"chosen": "C and γ by cross-validation", "fixed": "C = 1, γ = 0.01"}
print("median (mean) error with" + "".join(f"{budget:>18,}" for budget in budgets) + " coalitions")
for d, marker in zip(FEATURES, "osD^", strict=True):
    rng = np.random.default_rng([experiment.seed, d])
    X, weights = rng.normal(size=(N, d)), rng.normal(size=d)
    y = X @ weights + NOISE * rng.normal(size=N)
    rows = rng.normal(size=(n_rows, d))
    models = {
        "chosen": tuned_regression(X[:n_searched], y[:n_searched], n_points).fit(X, y),
        "fixed": SVR(C=1.0, gamma=0.01).fit(X, y),
    }
    for (name, model), ax in zip(models.items(), axes, strict=True):
        found = errors(model, rows, budgets, rng)
        median, mean = np.median(found, axis=0), found.mean(axis=0)
        print(
            f"d = {d}, C = {model.C:8.3g}, γ = {model.gamma:7.2g}  "
            + "".join(f"{m:9.2g} ({a:.1e})" for m, a in zip(median, mean, strict=True))
        )
        numbers |= {f"{name}_d{d}_{b}": m for b, m in zip(budgets, median, strict=True)}
        numbers[f"{name}_d{d}_gamma"] = model.gamma
        ax.loglog(budgets, median, marker=marker, markersize=4.0, label=f"d = {d}")
        ax.set(xlabel="coalitions", title=titles[name])
axes[0].set_ylabel("relative error, median of the rows")
axes[1].legend()
experiment.save(figure, numbers)
