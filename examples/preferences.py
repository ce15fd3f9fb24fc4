"""Explain preferences between two items without a ranking.

After the simulations of Chau, González and Sejdinovic (2022) and of Hu et al. (2022). First, 30
items have hidden states, and the preference between two items depends on the states of both. With
one state there is a ranking, and a utility of items predicts as well as the generalized
preferential kernel. With more states it does not. Second, items form three clusters, and a
different feature decides between each pair of clusters: x0 within a cluster, xAB between A and B,
and so on. The values of the preferential model show this, in all duels and in those of A and B.
Differences of two explanations of a utility do not. Needs pkex[demo]; saves preferences.png in the
working directory.

    python examples/preferences.py
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import pkex
from pkex.models import PreferenceRidge

plt.style.use("pkex.results.figures")

PICTURE = "preferences.png"
ALPHA = 0.1
NAMES = ["x0", "xAB", "xAC", "xBC", "in A", "in B", "in C"]
# The feature that decides between two clusters.
DECIDING = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])

rng = np.random.default_rng(0)


def utility(left, right, y):
    """Return a ridge regression of u(left) − u(right), with the kernel of such differences."""
    kernel = pkex.kernels.median_heuristic(left, right)
    across = kernel(left, right)
    matrix = kernel(left) + kernel(right) - across - across.T
    weights = np.linalg.solve(matrix + ALPHA * np.eye(len(y)), y)
    points = np.concatenate([left, right])
    return pkex.KernelExpansion(points, np.concatenate([weights, -weights]), kernel)


def shares_right(left, right, y, is_test):
    """Return the shares of test duels predicted by the preferential, utility and linear models."""
    known = left[~is_test], right[~is_test], y[~is_test]
    model, u = PreferenceRidge(alpha=ALPHA).fit(*known), utility(*known)
    both, mirrored = np.hstack(known[:2]), np.hstack(known[1::-1])
    linear = LogisticRegression().fit(np.vstack([both, mirrored]), np.append(known[2], -known[2]))
    outputs = (
        model.predict(left, right),
        u.predict(left) - u.predict(right),
        linear.decision_function(np.hstack([left, right])),
    )
    return [np.mean(np.sign(output[is_test]) == y[is_test]) for output in outputs]


def cyclic_duels(n_states):
    """Return all pairs of 30 items, compared by a utility that depends on both states."""
    states = rng.integers(n_states, size=30)
    items = states[:, None] + rng.normal(size=(30, 5))
    kernel = pkex.kernels.RBF(np.sqrt(5.0))(items)
    utilities = np.einsum("ij,jst->ist", kernel, rng.normal(size=(30, n_states, n_states)))
    a, b = np.triu_indices(30, 1)
    low, high = np.minimum(states[a], states[b]), np.maximum(states[a], states[b])
    return items[a], items[b], np.sign(utilities[a, low, high] - utilities[b, low, high])


def clustered_items(n):
    return np.hstack([rng.normal(size=(n, 4)), np.eye(3)[rng.integers(3, size=n)]])


def clustered_duels(items, n):
    chosen = rng.permuted(np.tile(np.arange(len(items)), (n, 1)), axis=1)[:, :2]
    left, right = items[chosen[:, 0]], items[chosen[:, 1]]
    deciding = DECIDING[left[:, 4:].argmax(axis=1), right[:, 4:].argmax(axis=1)]
    return left, right, np.sign((left - right)[np.arange(n), deciding])


figure, named = plt.subplot_mosaic([["states", "states"], ["all", "between"]], figsize=(8.0, 6.4))
axes = list(named.values())
states = [1, 2, 5]
shares = []
for n_states in states:
    runs = []
    for _ in range(10):
        duels = cyclic_duels(n_states)
        runs.append(shares_right(*duels, rng.random(len(duels[2])) < 0.3))
    shares.append(np.mean(runs, axis=0))
print("share of duels predicted, by the number of hidden states:")
print("states   preferential   utility   linear")
for n_states, row in zip(states, shares, strict=True):
    print(f"{n_states:6d}{row[0]:15.2f}{row[1]:10.2f}{row[2]:9.2f}")
for line, label in zip(np.transpose(shares), ("preferential", "utility", "linear"), strict=True):
    axes[0].plot(states, line, "o-", label=label)  # same colors as below
axes[0].set(xlabel="hidden states", ylabel="share of duels predicted", xticks=states)
axes[0].set_title("Prediction of preferences without a ranking")
axes[0].legend()

items = clustered_items(200)
left, right, y = clustered_duels(items, 1500)
model, u = PreferenceRidge(alpha=ALPHA).fit(left, right, y), utility(left, right, y)
left, right, y = clustered_duels(clustered_items(200), 150)
print(
    f"\nthree clusters: {np.mean(np.sign(model.predict(left, right)) == y):.2f} predicted, ", end=""
)
print(f"{np.mean(np.sign(u.predict(left) - u.predict(right)) == y):.2f} by a utility")
background = items[:15]
explanation = model.explain_items(left, right, background=background)
explainer = pkex.Explainer(u, background)
of_utility = explainer(left).values - explainer(right).values
is_between = np.abs(left - right)[:, 4:6].all(axis=1)
for ax, some, title in (
    (axes[1], np.ones(len(y), dtype=bool), "All duels"),
    (axes[2], is_between, "Duels of A and B"),
):
    sizes = [np.abs(values[some]).mean(axis=0) for values in (explanation.values, of_utility)]
    print(f"\n{title}, mean |value|:")
    for name, ours, theirs in zip(NAMES, *sizes, strict=True):
        print(f"{name:6}{ours:15.2f}{theirs:10.2f}")
    places = np.arange(len(NAMES))
    ax.bar(places - 0.2, sizes[0], 0.4, label="preferential")
    ax.bar(places + 0.2, sizes[1], 0.4, label="utility")
    ax.set_xticks(places, NAMES)
    ax.set_title(title)
axes[1].set_ylabel("mean |Shapley value| of the preference")
outputs = model.predict(left, right)
error = np.abs(explanation.values.sum(axis=1) - outputs).max()
print(f"\nlargest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(outputs).max():.3g})")
figure.savefig(PICTURE)
print(f"picture: {PICTURE}")
