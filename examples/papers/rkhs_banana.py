"""Interventional and observational values of the banana data, and computing times.

Experiments 1 and 2 of Chau et al. (2022, RKHS-SHAP), Figure 2a. X₁ and X₂ = (X₁² − 10) / b + noise
lie on a curve, and the target is f = (X₁² − 10) / b + X₂. Values of kernel ridge regressions are
compared with the true values of f: by pkex, by shap.KernelExplainer (KSHAP), and with absent
features from a conditional normal distribution (GSHAP). The true observational values need
E[X₁² | X₂], which is integrated numerically here. The paper uses E[f | X₂] = 2 X₂, which holds only
for b = 1; R² with its formula as the reference is drawn as well. Needs pkex[demo,shap].

    python examples/papers/rkhs_banana.py           200 rows, one run, 2 s
    python examples/papers/rkhs_banana.py --full    3,000 rows, 10 runs, up to 5,000 rows, an hour
"""

import logging
import time

import matplotlib.pyplot as plt
import numpy as np
import shap
from experiment import Experiment
from scipy.spatial.distance import pdist
from scipy.stats import norm
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

import pkex

VARIANCE = 10.0
# R² is computed from so many rows. The times of methods that explain row by row are measured on the
# first rows, and multiplied.
N_EXPLAINED, N_TIMED = 100, {"RKHS-ISV": 100, "KSHAP-ISV": 10, "GSHAP-OSV": 10}
COLORS = {"RKHS-ISV": "C0", "KSHAP-ISV": "C1", "RKHS-OSV": "C2", "GSHAP-OSV": "C4"}
COLORS["Proposition 3"] = "C5"


logging.getLogger("shap").setLevel(logging.ERROR)  # many background rows are slow


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


def interventional_values(rows, b):
    """Return the true values if absent features do not depend on the others."""
    return np.column_stack([bent(rows[:, 0], b), rows[:, 1]])


def observational_values(rows, b):
    """Return the true values: E[f | X₁] = 2 g, E[f | X₂] = X₂ + E[g | X₂]."""
    z = np.linspace(-8.0, 8.0, 4001) * VARIANCE**0.5
    likely = norm.pdf(z, scale=VARIANCE**0.5) * norm.pdf(rows[:, 1:] - bent(z, b))
    given = likely @ bent(z, b) / likely.sum(axis=1)
    g = bent(rows[:, 0], b)
    return values_given(2.0 * g, rows[:, 1] + given)(g + rows[:, 1])


def printed_values(rows, b):
    """Return the observational values by the printed formula, which uses 2 X₂ for E[f | X₂]."""
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


def pkex_values(game):
    """Return the function from a model, its data and rows to values by pkex."""
    return lambda model, data, rows: pkex.Explainer(model, data, value_function=game)(rows).values


def proposition_3(model, data, rows):
    """Return interventional values by Proposition 3, with matrices of all pairs of rows."""

    def kernel(column, others):
        one = RBF(model.kernel.length_scale[column])
        return one(others[:, [column]], data[:, [column]])

    present, absent = ([kernel(j, some) for j in (0, 1)] for some in (rows, data))
    weighted = [absent[j].mean(axis=0) * model.dual_coef_ for j in (0, 1)]
    base = (absent[0] * absent[1]).mean(axis=0) @ model.dual_coef_
    first, second = (present[j] @ weighted[1 - j] - base for j in (0, 1))
    return values_given(first, second)(model.predict(rows) - base)


def kernel_shap_values(model, data, rows):
    return shap.KernelExplainer(model.predict, data).shap_values(rows, silent=True)


METHODS = {
    "RKHS-ISV": pkex_values("interventional"),
    "KSHAP-ISV": kernel_shap_values,
    "RKHS-OSV": pkex_values("observational"),
    "GSHAP-OSV": normal_values,
}


def fitted(rows, y):
    """Return a kernel ridge regression: length-scales by medians, cross-validated penalty."""
    lengths = [np.median(pdist(column[:, None])) for column in rows[:1000].T]
    settings = {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}
    return (
        GridSearchCV(KernelRidge(kernel=RBF(lengths)), settings, cv=3).fit(rows, y).best_estimator_
    )


def accuracies(n, b, rng):
    """Return R² of each method's values, and of RKHS-OSV and GSHAP-OSV by the printed formula."""
    data, y = banana(n, b, rng)
    model, rows = fitted(data, y), data[:N_EXPLAINED]
    values = {name: method(model, data, rows) for name, method in METHODS.items()}
    true = {"ISV": interventional_values(rows, b), "OSV": observational_values(rows, b)}
    scores = {name: r2_score(true[name[-3:]], own) for name, own in values.items()}
    scores |= {
        f"{name} (formula)": r2_score(printed_values(rows, b), values[name])
        for name in ("RKHS-OSV", "GSHAP-OSV")
    }
    scores["formula"] = r2_score(true["OSV"], printed_values(rows, b))
    others = np.array([values["KSHAP-ISV"], proposition_3(model, data, rows)])
    scores["difference"] = np.abs(values["RKHS-ISV"] - others).max()
    return scores


def times(n, rng):
    """Return seconds for all rows, with all rows as background."""
    data, y = banana(n, 1.0, rng)
    model, seconds = KernelRidge(kernel=RBF([3.0, 9.0])).fit(data, y), {}
    for name, method in {**METHODS, "Proposition 3": proposition_3}.items():
        rows = data[: N_TIMED.get(name)]
        start = time.perf_counter()
        method(model, data, rows)
        seconds[name] = (time.perf_counter() - start) * len(data) / len(rows)
    return seconds


def draw_scores(ax, bends, curves, kind, title):
    """Draw R² by b of the methods for one kind of values."""
    for name in (name for name in curves[0] if kind in name):
        printed = name.endswith("(formula)")
        scores = [curve[name] for curve in curves]
        label = f"{name.removesuffix(' (formula)')}, printed formula" if printed else name
        color = COLORS[name.removesuffix(" (formula)")]
        dashes = ":" if printed else "--" if name == "KSHAP-ISV" else "-"
        ax.plot(bends, scores, dashes, marker="o", markersize=4.0, color=color, label=label)
    ax.set(xscale="log", xlabel="b", ylabel="R²", title=title)


run = Experiment(__doc__)
bends = [1.0, 10.0, 20.0, 50.0, 100.0] if run.full else [1.0, 10.0, 100.0]
sizes = [100, 500, 1000, 1500, 3000, 5000] if run.full else [100, 200, 500]
n, n_runs = (3000, 10) if run.full else (200, 1)
rng = np.random.default_rng(run.seed)

curves = []
for b in bends:
    found = [accuracies(n, b, rng) for _ in range(n_runs)]
    curves.append({name: np.mean([one[name] for one in found]) for name in found[0]})
    print(f"b = {b:g}, R²: " + ", ".join(f"{name} {own:.2g}" for name, own in curves[-1].items()))
clocks = [times(size, rng) for size in sizes]
print(f"{sizes[-1]} rows: " + ", ".join(f"{name} {own:.2g} s" for name, own in clocks[-1].items()))

figure, axes = plt.subplots(1, 3, figsize=(8.0, 3.6))
draw_scores(axes[0], bends, curves, "ISV", "(i) Estimating ISVs")
draw_scores(axes[1], bends, curves, "OSV", "(ii) Estimating OSVs")
for name, color in COLORS.items():
    logarithms = np.log10([clock[name] for clock in clocks])
    axes[2].plot(sizes, logarithms, "o-", markersize=4.0, color=color, label=name)
axes[2].set(xlabel="number of rows", ylabel="log₁₀ seconds", title="(iii) Run time")
handles = {
    label: handle
    for ax in axes
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
}
figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)

by_b = {
    f"{name.lower().replace('-', '_')}_{b:g}": curve[name]
    for b, curve in zip(bends, curves, strict=True)
    for name in (*METHODS, "formula")
}
last = {
    f"seconds_{name.lower().replace('-', '_').replace(' ', '_')}": own
    for name, own in clocks[-1].items()
}
difference = max(curve["difference"] for curve in curves)
run.save(figure, by_b | last | {"difference": difference, "n_timed": sizes[-1]})
