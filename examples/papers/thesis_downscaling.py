"""From means over slices of a Swiss roll to single points.

Chau (2023), thesis, section 3.5.1 and table 3.1; also Chau, Bouabid and Sejdinovic (2021). The
height of a Swiss roll is cut into slices. Only the mean position of a slice along the roll is
observed, with noise; the position of single points is predicted. "Direct": each slice has its
points and its mean. "Indirect": one half of the slices has points, the other half means, and only
the height connects them. The numbers of slices and points and the noise are not in the thesis; here
there are 50 slices of 20 points on average. The picture has the errors of each method. Saves
thesis_downscaling.json and thesis_downscaling.png.

    python examples/papers/thesis_downscaling.py          3 repetitions, 50 s
    python examples/papers/thesis_downscaling.py --full   20 repetitions, as in the paper, 5 min
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from pkex.kernels import Categorical
from pkex.models import DeconditionalRegressor

# Of parameters at their bounds, for columns without influence.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

N_SLICES, N_POINTS, NOISE = 50, 1000, 0.05
METHODS = {
    "CMP": {"conditional_mean": "rows"},
    "S-CMP": {},
    "VARCMP": {"n_inducing": 100},
    "BAGG-GP": {"mediator_kernel": Categorical(), "regularization": 0.0},
}


def roll(seed):
    """Return standardized points, their position, the height of their slice, and all means."""
    points, position = make_swiss_roll(N_POINTS, random_state=seed)
    position = (position - position.mean()) / position.std()
    edges = np.linspace(points[:, 1].min(), points[:, 1].max(), N_SLICES + 1)
    place = np.clip(np.searchsorted(edges, points[:, 1], side="right") - 1, 0, N_SLICES - 1)
    height = (edges[1:] + edges[:-1]) / 2.0
    kept = np.unique(place)
    means = np.array([position[place == one].mean() for one in kept])
    means += NOISE * np.random.default_rng(seed).normal(size=len(kept))
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return points, position, height[place], height[kept], means


def gaussian_process(rows, targets):
    """Return a Gaussian process whose parameters maximize the marginal likelihood."""
    kernel = ConstantKernel(1.0) * RBF(np.ones(rows.shape[1])) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True).fit(rows, targets)


def centers(points, height, heights):
    """Return the mean point of each slice."""
    return np.array([points[height == one].mean(axis=0) for one in heights])


def errors(points, position, height, heights, means, target_heights):
    """Return the root mean squared error of each method at the points."""
    predicted = {
        name: DeconditionalRegressor(**options, random_state=0)
        .fit(points, height, means, target_heights)
        .predict(points)
        for name, options in METHODS.items()
        if name != "BAGG-GP"
    }
    # Methods without a mediator predict the means of the slices with points first.
    own = means
    if not np.array_equal(heights, target_heights):
        own = gaussian_process(target_heights[:, None], means).predict(heights[:, None])
    bags = DeconditionalRegressor(**METHODS["BAGG-GP"]).fit(points, height, own, heights)
    predicted["BAGG-GP"] = bags.predict(points)
    of_centers = gaussian_process(centers(points, height, heights), own)
    predicted["GPR"] = of_centers.predict(points)
    return {name: np.sqrt(np.mean((f - position) ** 2)) for name, f in predicted.items()}


experiment = Experiment(__doc__)
found = {"direct": [], "indirect": []}
for repetition in range(20 if experiment.full else 3):
    seed = experiment.seed + repetition
    points, position, height, heights, means = roll(seed)
    found["direct"].append(errors(points, position, height, heights, means, heights))
    order = np.random.default_rng(seed).permutation(len(heights))
    with_points, with_means = np.sort(order[::2]), np.sort(order[1::2])
    some = np.isin(height, heights[with_points])
    found["indirect"].append(
        errors(
            points[some],
            position[some],
            height[some],
            heights[with_points],
            means[with_means],
            heights[with_means],
        )
    )

numbers, figure = {}, plt.figure(figsize=(8.0, 3.2))
for place, (matching, runs) in enumerate(found.items()):
    ax = figure.add_subplot(1, 2, place + 1)
    names = list(runs[0])
    table = np.array([[run[name] for name in names] for run in runs])
    ax.boxplot(table, tick_labels=names)
    ax.set(title=f"{matching} matching", ylabel="RMSE" if place == 0 else None, ylim=(0.0, 1.6))
    for name, mean, deviation in zip(names, table.mean(axis=0), table.std(axis=0), strict=True):
        numbers[f"{matching}_{name}"] = mean
        numbers[f"{matching}_{name}_deviation"] = deviation
        print(f"{matching:9} {name:8} {mean:.2f} ± {deviation:.2f}")
figure.suptitle("Error of single positions, given means over slices of the roll", fontsize=10.5)
experiment.save(figure, numbers)
