"""What the scripts about preferences share: random pairs, and pictures."""

import numpy as np


def random_pairs(n_items, n, rng):
    """Return two different items for each of n duels."""
    first = rng.integers(n_items, size=n)
    return first, (first + rng.integers(1, n_items, size=n)) % n_items


def draw_runs(ax, shares, found, methods):
    """Draw and print the means of several runs by the share of pairs compared; return the means.

    `found` has shape (shares, runs, methods). The bars are standard deviations.
    """
    means, deviations = found.mean(axis=1), found.std(axis=1, ddof=1)
    for j, method in enumerate(methods):
        places = np.array(shares) + 0.012 * (j - (len(methods) - 1) / 2.0)
        ax.errorbar(
            places, means[:, j], deviations[:, j], fmt="o-", ms=4.0, capsize=2.5, label=method
        )
        print(f"  {method:12}" + "".join(f"{mean:6.2f}" for mean in means[:, j]))
    ax.set_xlabel("share of pairs compared")
    return means


def draw_bars(ax, names, sizes, title):
    """Draw the mean sizes of values of the preferential and the utility model."""
    places = np.arange(len(names))
    for shift, (label, own) in zip((-0.2, 0.2), sizes.items(), strict=True):
        ax.bar(places + shift, own, 0.4, label=label)
    ax.set_xticks(places, names, rotation=45 if len(names) > 8 else 0)
    ax.set_title(title)


def draw_values(ax, names, values, differences, title):
    """Draw values of duels, colored by the difference between winner and loser."""
    spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(values))
    for j in range(len(names)):
        bound = np.abs(differences[:, j]).max() or 1.0
        dots = ax.scatter(
            values[:, j], j + spread, c=differences[:, j], s=4.0, cmap="coolwarm",
            vmin=-bound, vmax=bound, linewidths=0,
        )  # fmt: skip
    ax.axvline(0.0, color="gray", linewidth=0.5)
    ax.set_yticks(range(len(names)), names)
    ax.set(title=title, xlabel="Shapley value for the winner")
    ax.invert_yaxis()
    return dots
