"""Find clusters of comparable items from preferences.

The simulation of Chau, González and Sejdinovic (2022; Section 6.4.2 of Chau's thesis), Figure 6.3.
Thirty items have hidden states. A utility of each state decides between items of the same state,
and a coin between others. k-means finds the states from singular vectors of the matrix of all
predicted preferences (GPGP-CLUS) or of known results (SVD-CLUS), or from the features of the items
without any results. Needs pkex[demo].

    python examples/papers/pref_clusters.py          5 runs, 20 s
    python examples/papers/pref_clusters.py --full   20 runs, 60 s
"""

import matplotlib.pyplot as plt
import numpy as np
from duels import draw_runs
from experiment import Experiment
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import confusion_matrix

import pkex
from pkex.models import PreferenceLogistic

N_ITEMS, STATES, SHARES = 30, [2, 3], [0.2, 0.4, 0.7, 1.0]
METHODS = ["GPGP-CLUS", "SVD-CLUS", "features"]


def duels_of_states(n_states, share, rng):
    """Return items, their states, the numbers of a share of all pairs, and 1 if the first wins."""
    states = rng.integers(n_states, size=N_ITEMS)
    items = states[:, None] + rng.normal(size=(N_ITEMS, 5))
    kernel = pkex.kernels.RBF(np.sqrt(5.0))(items)
    utilities = kernel @ rng.normal(size=(N_ITEMS, n_states))
    a, b = np.triu_indices(N_ITEMS, 1)
    some = rng.permutation(len(a))[: round(share * len(a))]
    a, b = a[some], b[some]
    decided = np.sign(utilities[a, states[a]] - utilities[b, states[a]])
    coins = rng.choice([-1.0, 1.0], size=len(a))
    return items, states, a, b, np.where(states[a] == states[b], decided, coins)


def skew(values, a, b):
    """Return the skew-symmetric matrix with values at the places (a, b)."""
    matrix = np.zeros((N_ITEMS, N_ITEMS))
    matrix[a, b] = values
    return matrix - matrix.T


def found_share(rows, states, n_states, seed):
    """Return the share of items that k-means puts into the cluster of their state."""
    found = KMeans(n_states, n_init=10, random_state=seed).fit_predict(rows)
    counts = confusion_matrix(states, found, labels=range(n_states))
    return counts[linear_sum_assignment(-counts)].sum() / N_ITEMS


def one_run(n_states, share, rng):
    """Return the share of items that each method puts into the right cluster."""
    items, states, a, b, y = duels_of_states(n_states, share, rng)
    model = PreferenceLogistic(alpha=None).fit(items[a], items[b], y > 0)
    left, right = np.triu_indices(N_ITEMS, 1)
    predicted = skew(model.decision_function(items[left], items[right]), left, right)
    vectors = [np.linalg.svd(matrix)[0][:, : 2 * n_states] for matrix in (predicted, skew(y, a, b))]
    return [found_share(rows, states, n_states, run.seed) for rows in (*vectors, items)]


run = Experiment(__doc__)
n_runs = 20 if run.full else 5
rng = np.random.default_rng(run.seed)
figure, axes = plt.subplots(1, len(STATES), figsize=(8.0, 3.6), sharey=True)
numbers = {"n_runs": n_runs}
for ax, n_states in zip(axes, STATES, strict=True):
    found = np.array([[one_run(n_states, share, rng) for _ in range(n_runs)] for share in SHARES])
    print(f"L = {n_states}: share of items in the right cluster, by the share of pairs compared")
    means = draw_runs(ax, SHARES, found, METHODS)
    for j, method in enumerate(METHODS):
        key = f"{method.partition('-')[0].lower()}_{n_states}"
        numbers |= {key: means[:, j].mean(), f"{key}_dense": means[-1, j]}
    numbers[f"wins_{n_states}"] = np.mean(found[..., 0] > found[..., 1])
    ax.set_title(f"L = {n_states} clusters")
axes[0].set_ylabel("share of items in the right cluster")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
run.save(figure, numbers)
