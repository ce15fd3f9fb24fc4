"""Two-sample simulations of the PKeX-Shapley paper: which variables differ?

Two samples have 1000 rows and 20 variables. In the first experiment, variables 11 to 20 of the
second sample have a Student-t distribution (three degrees of freedom, same mean and scale) instead
of a normal one. In the second experiment nothing differs. The samples are drawn repeatedly until
the time is used up. The picture shows the distribution of each variable's value. Needs pkex[demo];
saves mmd_experiments.png in the working directory.

    python examples/mmd_experiments.py                  a quick look
    python examples/mmd_experiments.py --seconds 600    the picture in docs/benchmarks.md
"""

import argparse
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import gaussian_kde
from sklearn.metrics.pairwise import rbf_kernel

import pkex

plt.style.use("pkex.results.figures")

N, D = 1000, 20
GROUPS = ("variables 1 to 10", "variables 11 to 20")
PICTURE = "mmd_experiments.png"


def heavy_tails(rng):
    """Variables 11 to 20 have heavier tails in the second sample."""
    x, z = rng.normal(size=(2, N, D))
    z[:, 10:] = rng.standard_t(3, size=(N, 10))
    return x, z


def nothing_differs(rng):
    """Both samples have one distribution."""
    return rng.normal(size=(2, N, D))


def attributed(x, z):
    """Return MMD² as in the paper, with the neutral convention and one length-scale."""
    kernel = pkex.kernels.median_heuristic(x, z, standardize=False)
    return pkex.mmd(x, z, kernel=kernel, value_function="neutral")


def repeated(draw, seconds):
    """Return values (repetitions, 20) of as many pairs of samples as the time allows."""
    end = time.perf_counter() + seconds
    values = []
    while len(values) < 3 or time.perf_counter() < end:
        values.append(attributed(*draw(np.random.default_rng(len(values)))).values)
    return np.array(values)


def check(draw):
    """Compare a sum of values with MMD² from scikit-learn's kernel matrices."""
    x, z = draw(np.random.default_rng(0))
    result = attributed(x, z)
    gamma = 0.5 / result.kernel.length_scale**2
    within = [(rbf_kernel(s, gamma=gamma).sum() - N) / (N * (N - 1)) for s in (x, z)]
    output = sum(within) - 2.0 * rbf_kernel(x, z, gamma=gamma).mean()
    # The base value v(∅) is 0.
    error = abs(result.values.sum() - output)
    print(f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {sum(within):.3g})")


def densities(ax, values, title):
    """Draw the distribution of each variable's value."""
    grid = np.linspace(values.min(), values.max(), 400)
    for variable in range(D):
        group = int(variable >= 10)
        ax.plot(
            1e3 * grid,
            gaussian_kde(values[:, variable])(grid) / 1e3,
            color=("C0", "C1")[group],
            linewidth=0.8,
            label=GROUPS[group] if variable % 10 == 0 else None,
        )
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_title(title)
    ax.set_xlabel("Shapley value of MMD², times 1000")
    ax.set_ylabel("density, one line per variable")
    ax.legend()


TITLES = {heavy_tails: "Variables 11 to 20 differ", nothing_differs: "No variable differs"}
parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--seconds", type=float, default=6.0, help="for both experiments together")
seconds = parser.parse_args().seconds

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8))
for ax, draw in zip(axes, (heavy_tails, nothing_differs), strict=True):
    values = repeated(draw, seconds / 2.0)
    print(f"{draw.__doc__.removesuffix('.')}: {len(values)} repetitions")
    for name, part in zip(GROUPS, (values[:, :10], values[:, 10:]), strict=True):
        print(
            f"  {name}: mean {part.mean():.2e}, from {part.min():.1e} to "
            f"{part.max():.1e}, positive {100 * np.mean(part > 0):.1f} %"
        )
    check(draw)
    densities(ax, values, f"{TITLES[draw]}\n{len(values)} repetitions")
figure.savefig(PICTURE)
print(f"picture: {PICTURE}")
