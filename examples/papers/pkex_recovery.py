"""Recovery of active features, and time of explanations.

Figures 2 and 3 (section 5.1, experiment 2) of the PKeX-Shapley paper. Support vector regressions
are fitted to 1,000 rows of 50 normal features. The first 17 determine the target: a polynomial of
degree 5 or 10, Σ_p Σ_j x_j^p, or exp(Σ_j x_j²). For each test row, the 17 features with the largest
absolute values are compared with these. The methods are pkex's value functions, RKHS-SHAP's
estimator for interventional values, and shap's sampling. The last two use 500 and 1,000 coalitions;
all have 100 background rows, except neutral. GEMFIX and BiSHAP of the paper are not included,
because they are not published as packages. Needs pkex[demo,shap]; saves pkex_recovery.json and
pkex_recovery.png.

    python examples/papers/pkex_recovery.py          10 rows, 6 s
    python examples/papers/pkex_recovery.py --full   100 rows as in the paper, 1 min
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import shap
from coalitions import paired_coalitions, regressed_values
from experiment import Experiment
from models import tuned_regression
from sklearn.utils import check_random_state

import pkex

N, D, ACTIVE, BACKGROUND = 1000, 50, 17, 100


def polynomial(X, degree):
    return sum((X[:, :ACTIVE] ** p).sum(axis=1) for p in range(1, degree + 1))


TARGETS = {
    "degree 5": lambda X: polynomial(X, 5),
    "degree 10": lambda X: polynomial(X, 10),
    "exponential": lambda X: np.exp((X[:, :ACTIVE] ** 2).sum(axis=1)),
}


def rkhs_shap(model, background, rows, n_coalitions, rng):
    """Return interventional values by regression over coalitions, with kernel means as v(S)."""
    coalitions = paired_coalitions(n_coalitions, D, rng)
    points, gamma = model.support_vectors_, model.gamma
    absent = sum(
        np.exp(-gamma * ((1.0 - coalitions) @ ((points - z) ** 2).T)) for z in background
    ) / len(background)
    weights = absent * model.dual_coef_[0]
    values = [
        np.sum(weights * np.exp(-gamma * (coalitions @ ((points - x) ** 2).T)), axis=1)
        for x in rows
    ]
    empty = model.predict(background).mean() - model.intercept_[0]
    totals = model.predict(rows) - model.intercept_[0] - empty
    return regressed_values(coalitions, np.stack(values, axis=1) - empty, totals).T


def methods(model, background, rng):
    """Return functions of rows that return values, by name."""
    sampling = shap.SamplingExplainer(model.predict, background)
    found = {
        "neutral (the paper)": pkex.Explainer(model, value_function="neutral").shap_values,
        "interventional": pkex.Explainer(model, background).shap_values,
        "marginal": pkex.Explainer(model, background, value_function="marginal").shap_values,
    }
    for n in (500, 1000):
        found[f"RKHS-SHAP, {n}"] = lambda rows, n=n: rkhs_shap(model, background, rows, n, rng)
        found[f"sampling, {n}"] = lambda rows, n=n: sampling.shap_values(
            rows, nsamples=n, silent=True
        )
    return found


experiment = Experiment(__doc__)
n_rows, n_searched, n_points = (100, N, 11) if experiment.full else (10, 400, 6)
recovery, seconds, scores = {}, {}, []
for place, (target, function) in enumerate(TARGETS.items()):
    rng = np.random.default_rng([experiment.seed, place])
    check_random_state(None).seed(experiment.seed)  # NumPy's global generator, which shap uses
    X, rows, others = (rng.normal(size=(n, D)) for n in (N, n_rows, N))
    y = function(X)
    y, truth = ((values - y.mean()) / y.std() for values in (y, function(others)))
    model = tuned_regression(X[:n_searched], y[:n_searched], n_points).fit(X, y)
    scores.append(np.corrcoef(model.predict(others), truth)[0, 1] ** 2)
    print(
        f"\n{target}: C = {model.C:.3g}, γ = {model.gamma:.2g}, {len(model.support_)} points, "
        f"squared correlation with the target {scores[-1]:.2f}"
    )
    for name, values in methods(model, X[:BACKGROUND], rng).items():
        start = time.perf_counter()
        largest = np.argsort(-np.abs(values(rows)), axis=1)[:, :ACTIVE]
        seconds.setdefault(name, []).append((time.perf_counter() - start) / n_rows)
        rate = np.mean(largest < ACTIVE, axis=1)
        recovery.setdefault(name, []).append((rate.mean(), rate.std()))
        print(f"  {name:<20} {rate.mean():.3f} ± {rate.std():.3f}  {seconds[name][-1]:.1e} s a row")

numbers = {"rows": n_rows} | {f"r2_{i}": score for i, score in enumerate(scores)}
for name, rates in recovery.items():
    key = "".join(c if c.isalnum() else "_" for c in name.removesuffix(" (the paper)"))
    numbers |= {f"{key}_{i}": rate for i, (rate, _) in enumerate(rates)}
    numbers |= {f"{key}_{i}_deviation": deviation for i, (_, deviation) in enumerate(rates)}
    numbers[f"{key}_seconds"] = float(np.mean(seconds[name]))

figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 4.2), width_ratios=(1.7, 1.0))
width = 0.8 / len(recovery)
for i, (name, rates) in enumerate(recovery.items()):
    color = plt.get_cmap("tab20")(i)
    places = np.arange(len(TARGETS)) + (i - 3) * width
    left.bar(places, [rate for rate, _ in rates], width, color=color, label=name)
    right.plot(seconds[name], [i] * len(TARGETS), "o", color=color)
left.axhline(ACTIVE / D, color="black", linewidth=0.8, linestyle=":", label="at random")
left.set_xticks(range(len(TARGETS)), list(TARGETS))
left.set(ylim=(0.0, 1.0), ylabel="recovered share of the 17 features", title="Figure 2")
right.set_yticks(range(len(recovery)), list(recovery))
right.invert_yaxis()
right.set(xscale="log", xlabel="seconds a row, for each target", title="Figure 3")
figure.legend(loc="outside lower center", ncols=4, fontsize=8.5)
experiment.save(figure, numbers)
