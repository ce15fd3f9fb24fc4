"""Explain preferences that depend on two of ten features.

Simulation A of Hu et al. (2022, Pref-SHAP; Figure E.2 of Chau's thesis). The outcomes of duels are
those of a generalized preferential model (GPM) of the first two features. A GPM and a utility model
(UPM) are fitted to all ten. Needs pkex[demo].

    python examples/papers/pref_simulation.py          200 items, 1,500 duels, 4 s
    python examples/papers/pref_simulation.py --full   1,000 items, 5,000 duels, 20 s
"""

import matplotlib.pyplot as plt
import numpy as np
from duels import draw_bars, draw_values, random_pairs
from experiment import Experiment
from sklearn.metrics import roc_auc_score

import pkex
from pkex.models import PreferenceRidge

NAMES = [f"x{j}" for j in range(1, 11)]


def true_preference(items, rng):
    """Return a generalized preferential model of the first two features, as a function of duels."""
    a, b = random_pairs(len(items), 30, rng)
    weights, kernel = rng.normal(size=len(a)), pkex.kernels.RBF(0.3)

    def preference(left, right):
        (aa, ab), (ba, bb) = (
            [kernel(side[:, :2], items[some, :2]) for some in (a, b)] for side in (left, right)
        )
        return (aa * bb - ab * ba) @ weights

    return preference


run = Experiment(__doc__)
rng = np.random.default_rng(run.seed)
n_items, n_duels = (1000, 5000) if run.full else (200, 1500)
items = rng.normal(scale=0.1**0.5, size=(n_items, 10))
preference = true_preference(items, rng)
a, b = random_pairs(n_items, n_duels + 500, rng)
left, right = items[a], items[b]
y = np.sign(preference(left, right))
known, test = slice(n_duels), slice(n_duels, None)
model, utility = (
    PreferenceRidge(alpha=0.1, pair_kernel=name, n_centers=None).fit(
        left[known], right[known], y[known]
    )
    for name in ("preferential", "utility")
)
left, right, y = left[test], right[test], y[test]
outputs = {"gpm": model.predict(left, right), "upm": utility.predict(left, right)}
numbers = {f"auc_{name}": roc_auc_score(y, output) for name, output in outputs.items()}

winners, losers = np.where(y[:, None] > 0, left, right), np.where(y[:, None] > 0, right, left)
winners, losers, background = winners[:150], losers[:150], items[:15]
explanation = model.explain_items(winners, losers, background=background)
assert np.allclose(explanation.values.sum(axis=1), model.predict(winners, losers))
values = {
    "preferential (GPM)": explanation.values,
    "utility (UPM)": utility.explain_items(winners, losers, background=background).values,
}
sizes = {label: np.abs(own).mean(axis=0) for label, own in values.items()}
for name, own in zip(("gpm", "upm"), sizes.values(), strict=True):
    numbers[f"{name}_share"] = own[:2].sum() / own.sum()
    numbers[f"{name}_leading"] = ", ".join(NAMES[j] for j in np.argsort(-own)[:2])
    print(
        f"{name}: AUC {numbers[f'auc_{name}']:.2f}, largest {numbers[f'{name}_leading']}, ", end=""
    )
    print(f"x1 and x2 have {numbers[f'{name}_share']:.0%} of the mean |value|")

figure, (bars, *bees) = plt.subplots(1, 3, figsize=(8.0, 3.8))
draw_bars(bars, NAMES, sizes, "")
bars.set_ylabel("mean |Shapley value|")
bars.legend(fontsize="x-small")
for ax, (label, own) in zip(bees, values.items(), strict=True):
    dots = draw_values(ax, NAMES, own, winners - losers, label)
figure.colorbar(dots, ax=bees, ticks=[], label="feature of the winner − of the loser")
run.save(figure, numbers)
