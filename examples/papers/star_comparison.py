"""Shapley values of an explainable boosting machine and of a random weighting.

Figures 3 and 4 of Dubé and Marchand (2025, STAR-SHAP). An explainable boosting machine and RWReLU
3-STAR are fitted to the same rows. Both are sums of terms of few columns, so their values are
exact. Above: the values of all test rows. Below: those of one row. The paper uses California
housing, which is read from housing.csv in the folder of --data (a header, and the target in the
last column). Diabetes takes its place otherwise. Needs pkex[demo] and interpret-core.

    python examples/papers/star_comparison.py          diabetes, 500 centers, 10 s
    python examples/papers/star_comparison.py --full   5,000 centers, 1,000 background rows, 1 min
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiment import Experiment
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import pkex
from pkex.models import RWReLU

try:
    from interpret.glassbox import ExplainableBoostingRegressor
except ImportError:
    sys.exit("This script requires explainable boosting machines: pip install interpret-core")


def standardized(train, test):
    """Return both with the training columns' mean 0 and standard deviation 1."""
    return (train - train.mean()) / train.std(), (test - train.mean()) / train.std()


def read(folder):
    """Return the columns and the target of California housing, or of diabetes."""
    if folder is None:
        return load_diabetes(return_X_y=True, as_frame=True)
    table = pd.read_csv(folder / "housing.csv")
    return table.iloc[:, :-1], table.iloc[:, -1]


def draw_values(ax, explanation, order, title):
    """Draw the values of all rows, colored by the rank of the feature value."""
    spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(explanation.values))
    for place, j in enumerate(order):
        column = pd.Series(explanation.data[:, j]).rank(pct=True)
        values = explanation.values[:, j]
        dots = ax.scatter(values, place + spread, c=column, s=3.0, cmap="coolwarm", linewidths=0)
    ax.set_yticks(range(len(order)), [explanation.feature_names[j] for j in order])
    ax.axvline(0.0, color="gray", linewidth=0.5)
    ax.set(title=title, xlabel="Shapley value, standard deviations of the target")
    ax.locator_params(axis="x", nbins=6)
    ax.invert_yaxis()
    return dots


def draw_row(ax, explanation, order, row):
    """Draw the values of one row from the base value to the output."""
    values = explanation.values[row, order[::-1]]
    ends = explanation.base_values[row] + np.cumsum(values)
    colors = np.where(values > 0.0, "C1", "C0")
    ax.barh(np.arange(len(order))[::-1], values, left=ends - values, color=colors)
    ax.set_yticks(range(len(order)), [explanation.feature_names[j] for j in order])
    ax.axvline(ends[-1], color="gray", linewidth=0.5)
    ax.set(title=f"One row: output {ends[-1]:.2f}", xlabel="predicted target, standardized")
    ax.invert_yaxis()


run = Experiment(__doc__, data="of housing.csv")
X, y = read(run.data)
X, rows, y, target = train_test_split(X, y, random_state=0)
(X, rows), (y, target) = standardized(X, rows), standardized(y, target)
names = list(X.columns)
background, rows = X[:1000] if run.full else X[:100], rows[:1000]
models = {
    "Explainable boosting machine": ExplainableBoostingRegressor(
        n_jobs=1, random_state=run.seed, **({} if run.full else {"outer_bags": 4})
    ),
    "RWReLU 3-STAR": RWReLU(
        5000 if run.full else 500, star=3, concentration=0.5, alpha=1e-6, random_state=run.seed
    ),
}
explanations, scores = {}, {}
for name, model in models.items():
    model.fit(X.to_numpy(), y)
    explanations[name] = pkex.Explainer(model, background.to_numpy(), feature_names=names)(
        rows.to_numpy()
    )
    outputs = model.predict(rows.to_numpy())
    sums = explanations[name].values.sum(axis=1) + explanations[name].base_values
    assert np.allclose(sums, outputs, rtol=0.0, atol=1e-9)
    scores[name] = model.score(rows.to_numpy(), target[: len(rows)])
    print(f"{name}: R² {scores[name]:.2f} on test rows")

sizes = [explanation.importance() for explanation in explanations.values()]
order = np.argsort(-sizes[0])
row = int(
    np.abs(sum(explanation.values.sum(axis=1) for explanation in explanations.values())).argmax()
)
figure, panels = plt.subplots(2, 2, figsize=(8.0, 7.0))
for (name, explanation), own, (above, below) in zip(
    explanations.items(), sizes, panels.T, strict=True
):
    dots = draw_values(above, explanation, np.argsort(-own), name)
    draw_row(below, explanation, np.argsort(-np.abs(explanation.values[row])), row)
figure.colorbar(dots, ax=panels[0], label="rank of the feature value", ticks=[])
leading = [", ".join(names[j] for j in np.argsort(-own)[:4]) for own in sizes]
print("largest mean |value|:", *leading, sep="\n  ")
boosted, weighted = explanations.values()
numbers = {
    "machine": leading[0],
    "weighting": leading[1],
    "rank_correlation": spearmanr(*sizes).statistic,
    "correlation": np.corrcoef(boosted.values.ravel(), weighted.values.ravel())[0, 1],
    "score_machine": scores["Explainable boosting machine"],
    "score_weighting": scores["RWReLU 3-STAR"],
}
run.save(figure, numbers)
