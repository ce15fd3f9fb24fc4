"""Explain preferences of three clusters without a ranking.

The synthetic experiment of Hu et al. (2022, Pref-SHAP; chapter 7 of Chau's thesis): Table 7.3,
Figures 7.2, 7.3, E.1, E.5 and E.6. A different feature decides between each pair of clusters: x0
within a cluster, xAB between A and B, and so on. The generalized preferential model (GPM) predicts
this and a utility (UPM) does not. The values of the GPM show the deciding features, in all duels
and in those of two clusters. A model of both items side by side has two values for each feature.
SpecR of the duels is small with or without a ranking, because few pairs are compared. Needs
pkex[demo].

    python examples/papers/pref_synthetic.py          200 items, 1,500 duels, 3 runs, 8 s
    python examples/papers/pref_synthetic.py --full   1,000 items, 40,000 duels, 5 runs, 55 s
"""

import matplotlib.pyplot as plt
import numpy as np
from duels import draw_bars, draw_values, random_pairs
from experiment import Experiment
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score

import pkex
from pkex.models import PreferenceRidge

NAMES = ["x0", "xAB", "xAC", "xBC", "in A", "in B", "in C"]
# The feature that decides between two clusters.
DECIDING = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
CLUSTERS = {"ab": (4, 5), "ac": (4, 6), "bc": (5, 6)}


def duels(items, n, rng):
    """Return the items of n duels, and 1 if left wins and −1 otherwise."""
    a, b = random_pairs(len(items), n, rng)
    left, right = items[a], items[b]
    deciding = DECIDING[left[:, 4:].argmax(axis=1), right[:, 4:].argmax(axis=1)]
    return left, right, np.sign((left - right)[np.arange(n), deciding])


def one_run(rng):
    """Return the items, both models, test duels and the AUC of both models."""
    items = np.hstack([rng.normal(size=(n_items, 4)), np.eye(3)[rng.integers(3, size=n_items)]])
    known, test = duels(items, n_duels, rng), duels(items, 500, rng)
    model, utility = (
        PreferenceRidge(alpha=0.1, pair_kernel=name, random_state=run.seed).fit(*known)
        for name in ("preferential", "utility")
    )
    left, right, y = test
    outputs = model.predict(left, right), utility.predict(left, right)
    return items, (model, utility), known, test, [roc_auc_score(y, output) for output in outputs]


def spectral_rankability(left, right, y):
    """Return SpecR of the graph of duels, 1 for the complete graph of a ranking.

    The Laplacian of a complete ranking of n items has the eigenvalues 0, ..., n − 1, and so do the
    numbers of items that each item beats (Cameron, Langville and Smith 2020).
    """
    _, numbers = np.unique(np.vstack([left, right]), axis=0, return_inverse=True)
    a, b = np.split(numbers.ravel(), 2)
    n = 1 + max(a.max(), b.max())
    beats = np.zeros((n, n))
    beats[np.where(y > 0, a, b), np.where(y > 0, b, a)] = 1.0
    degrees = beats.sum(axis=1)
    eigenvalues = np.linalg.eigvals(np.diag(degrees) - beats)
    of_ranking = np.arange(n)
    distances = [
        np.abs(own[:, None] - of_ranking).min(axis=axis).max()
        for own in (eigenvalues, degrees)
        for axis in (0, 1)
    ]
    return 1.0 - (max(distances[:2]) + max(distances[2:])) / (2.0 * (n - 1))


def side_by_side_values(known, left, right):
    """Return values of a model of the features of both items, for left and for right.

    It is fitted to at most 5,000 duels.
    """
    left_known, right_known, y = (own[:5000] for own in known)
    both, mirrored = np.hstack([left_known, right_known]), np.hstack([right_known, left_known])
    rows, y = np.vstack([both, mirrored]), np.append(y, -y)
    model = KernelRidge(kernel="rbf", alpha=0.1, gamma=0.05).fit(rows, y)
    values = pkex.Explainer(model, both[:30]).shap_values(np.hstack([left, right]))
    return values[:, : len(NAMES)], values[:, len(NAMES) :]


def mean_size(values):
    return np.abs(values).mean(axis=0)


run = Experiment(__doc__)
n_items, n_duels, n_runs = (1000, 40_000, 5) if run.full else (200, 1500, 3)
runs = [one_run(np.random.default_rng([run.seed, i])) for i in range(n_runs)]
scores = np.array([own[-1] for own in runs])
numbers = {"n_items": n_items, "n_duels": n_duels, "n_runs": n_runs}
for name, own in zip(("gpm", "upm"), scores.T, strict=True):
    numbers |= {f"auc_{name}": own.mean(), f"auc_{name}_deviation": own.std(ddof=1)}
# Results of the same duels with a ranking by x0 for comparison.
rankability = {
    "specr": [spectral_rankability(*known) for _, _, known, _, _ in runs],
    "specr_ranked": [
        spectral_rankability(a, b, np.sign(a[:, 0] - b[:, 0])) for _, _, (a, b, _), _, _ in runs
    ],
}
numbers |= {name: np.mean(own) for name, own in rankability.items()}

items, (model, utility), known, (left, right, y), _ = runs[0]
# The winner is left; winners and losers are explained with 15 items as background.
winners, losers = np.where(y[:, None] > 0, left, right), np.where(y[:, None] > 0, right, left)
winners, losers, background = winners[:150], losers[:150], items[:15]
explanation = model.explain_items(winners, losers, background=background)
assert np.allclose(explanation.values.sum(axis=1), model.predict(winners, losers))
values = {
    "preferential (GPM)": explanation.values,
    "utility (UPM)": utility.explain_items(winners, losers, background=background).values,
}
differences = winners - losers
kinds = {"all": np.ones(len(winners), dtype=bool)} | {
    name: np.abs(differences)[:, columns].all(axis=1) for name, columns in CLUSTERS.items()
}
for name, some in kinds.items():
    for short, own in zip(("gpm", "upm"), values.values(), strict=True):
        sizes = mean_size(own[some])
        numbers[f"{short}_{name}"] = NAMES[sizes.argmax()]
        numbers |= {f"{short}_{name}_{n}": size for n, size in zip(NAMES, sizes, strict=True)}
sides = [mean_size(own) for own in side_by_side_values(known, winners, losers)]
numbers |= {f"{side}_xAC": own[2] for side, own in zip(("left", "right"), sides, strict=True)}
print("AUC of the GPM and the UPM: " + ", ".join(f"{own:.2f}" for own in scores.mean(axis=0)))
print(f"SpecR: {numbers['specr']:.2f}, with a ranking {numbers['specr_ranked']:.2f}")
for name in kinds:
    print(f"{name} duels: largest for GPM {numbers[f'gpm_{name}']}, UPM {numbers[f'upm_{name}']}")

figure, panels = plt.subplots(2, 3, figsize=(8.0, 6.4))
for axes, name, title in zip(
    panels.T, ("all", "ab"), ("All duels", "Duels of A and B"), strict=False
):
    some = kinds[name]
    own = {label: mean_size(each[some]) for label, each in values.items()}
    draw_bars(axes[0], NAMES, own, title)
    dots = draw_values(axes[1], NAMES, explanation.values[some], differences[some], f"GPM: {title}")
draw_bars(panels[0, 2], NAMES, dict(zip(("winner", "loser"), sides, strict=True)), "Side by side")
draw_values(
    panels[1, 2],
    NAMES,
    values["utility (UPM)"][kinds["ab"]],
    differences[kinds["ab"]],
    "UPM: Duels of A and B",
)
for ax in panels[0]:
    ax.tick_params(axis="x", rotation=60)
    ax.legend(fontsize="x-small")
panels[0, 0].set_ylabel("mean |Shapley value|")
bar = figure.colorbar(dots, ax=panels[1], ticks=[])
bar.set_label("feature of the winner − of the loser")
run.save(figure, numbers)
