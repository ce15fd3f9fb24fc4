"""Predict preferences without a ranking.

The simulation of Chau, González and Sejdinovic (2022; Section 6.4.1 of Chau's thesis), Figure 6.2.
Thirty items have hidden states, and a different utility decides between each pair of states. With
one state there is a ranking, and a utility of items (PGP) predicts as well as the generalized
preferential kernel (GPGP). With more states it does not. PAIR-GP and PAIR-LOGREG are models of the
features of both items, fitted to each duel and its mirror image. Ridge regression takes the place
of Laplace's approximation, and the length-scale is the median distance. Needs pkex[demo].

    python examples/papers/pref_cyclic.py          5 runs, 3 s
    python examples/papers/pref_cyclic.py --full   20 runs, 10 s
"""

import matplotlib.pyplot as plt
import numpy as np
from duels import draw_runs
from experiment import Experiment
from sklearn.linear_model import LogisticRegression

import pkex
from pkex.models import PreferenceRidge, ShapleyRegularizedRidge

STATES, SHARES = [1, 2, 5], [0.2, 0.4, 0.7, 1.0]
METHODS = ["GPGP", "PGP", "PAIR-GP", "PAIR-LOGREG"]


def cyclic_duels(n_states, share, rng):
    """Return a share of all pairs of 30 items, compared by the utility of both states."""
    states = rng.integers(n_states, size=30)
    items = states[:, None] + rng.normal(size=(30, 5))
    kernel = pkex.kernels.RBF(np.sqrt(5.0))(items)
    utilities = np.einsum("ij,jst->ist", kernel, rng.normal(size=(30, n_states, n_states)))
    a, b = np.triu_indices(30, 1)
    some = rng.permutation(len(a))[: round(share * len(a))]
    a, b = a[some], b[some]
    low, high = np.minimum(states[a], states[b]), np.maximum(states[a], states[b])
    return items[a], items[b], np.sign(utilities[a, low, high] - utilities[b, low, high])


def accuracies(left, right, y, is_test):
    """Return the share of test duels that each method predicts."""
    known = left[~is_test], right[~is_test], y[~is_test]
    model, utility = (
        PreferenceRidge(alpha=0.1, pair_kernel=name).fit(*known)
        for name in ("preferential", "utility")
    )
    pairs = np.vstack([np.hstack(known[:2]), np.hstack(known[1::-1])])
    targets, both = np.append(known[2], -known[2]), np.hstack([left, right])
    outputs = (
        model.predict(left, right),
        utility.predict(left, right),
        ShapleyRegularizedRidge(alpha=0.1).fit(pairs, targets).predict(both),
        LogisticRegression().fit(pairs, targets).decision_function(both),
    )
    return [np.mean(np.sign(output[is_test]) == y[is_test]) for output in outputs]


def one_run(n_states, share, rng):
    duels = cyclic_duels(n_states, share, rng)
    return accuracies(*duels, rng.permutation(len(duels[2])) < 0.3 * len(duels[2]))


run = Experiment(__doc__)
n_runs = 20 if run.full else 5
rng = np.random.default_rng(run.seed)
figure, axes = plt.subplots(1, len(STATES), figsize=(8.0, 3.6), sharey=True)
numbers = {"n_runs": n_runs}
for ax, n_states in zip(axes, STATES, strict=True):
    found = np.array([[one_run(n_states, share, rng) for _ in range(n_runs)] for share in SHARES])
    print(f"L = {n_states}: share of test duels predicted, by the share of pairs compared")
    means = draw_runs(ax, SHARES, found, METHODS)
    for j, method in enumerate(METHODS):
        key = method.lower().replace("-", "_")
        numbers |= {
            f"{key}_{n_states}": means[:, j].mean(),
            f"{key}_{n_states}_dense": means[-1, j],
        }
    ax.set_title(f"L = {n_states} hidden states")
axes[0].set_ylabel("accuracy")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
run.save(figure, numbers)
