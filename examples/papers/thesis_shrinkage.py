"""Conditional means from rows, and from means over bags of rows.

Chau (2023), thesis, section A.4.2 and figures A.1 to A.4. Bags have y ~ N(0, 2) and rows
x ~ N(y sin y, 0.5²). The standard estimator of the embedding of x given y repeats y for each row;
the shrinkage estimator regresses the mean embedding of each bag. The script compares their values
on a grid. λ is 0.1 in both, first as a constant on the diagonal, then times the number of rows or
bags, as in equation 3.1. For bags of equal sizes, both are then equal. Saves
thesis_shrinkage.json and thesis_shrinkage.png.

    python examples/papers/thesis_shrinkage.py          5,000 rows, 10 s
    python examples/papers/thesis_shrinkage.py --full   25,000 rows as in the paper, 6 min, 6 GB
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import pdist

from pkex.kernels import RBF

REGULARIZATION = 0.1


def bags(n_bags, n_rows, random):
    """Return y of each bag and x of each row, (bags, rows)."""
    y = np.sqrt(2.0) * random.normal(size=n_bags)
    return y, (y * np.sin(y))[:, None] + 0.5 * random.normal(size=(n_bags, n_rows))


def median_kernel(values):
    """Return a Gaussian kernel whose length-scale is the median distance of up to 500 values."""
    return RBF(float(np.median(pdist(values[:500, None]))))


def weights(kernel, y, grid, diagonal):
    """Return (L + diagonal)⁻¹ ℓ(y, grid), and the seconds that it takes."""
    start = time.perf_counter()
    # In blocks of rows: all at once, the kernel takes the memory of four matrices.
    matrix = np.empty((len(y), len(y)))
    for some in np.array_split(np.arange(len(y)), 1 + len(y) // 1000):
        matrix[some] = kernel(y[some, None], y[:, None])
    matrix.flat[:: len(y) + 1] += diagonal
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True)
    found = cho_solve(factor, kernel(y[:, None], grid[:, None]))
    return found, time.perf_counter() - start


def compared(n_bags, n_rows, random, *, is_scaled):
    """Return the root mean squared difference of both estimates, and the ratio of their times."""
    y, x = bags(n_bags, n_rows, random)
    of_x, of_y = median_kernel(random.permutation(x.ravel())), median_kernel(y)
    y_grid, x_grid = np.linspace(y.min(), y.max(), 40), np.linspace(x.min(), x.max(), 40)
    at_grid = of_x(x.reshape(-1, 1), x_grid[:, None])
    of_bags = at_grid.reshape(n_bags, n_rows, -1).mean(axis=1)
    sizes = (n_bags * n_rows, n_bags) if is_scaled else (1, 1)
    own, slow = weights(of_y, np.repeat(y, n_rows), y_grid, sizes[0] * REGULARIZATION)
    shared, fast = weights(of_y, y, y_grid, sizes[1] * REGULARIZATION)
    difference = own.T @ at_grid - shared.T @ of_bags
    return float(np.sqrt(np.mean(difference**2))), slow / fast


experiment = Experiment(__doc__)
most = 25000 if experiment.full else 5000
sizes = {"few": (3, 50), "small": (50, 3), "long": (50, most // 50), "many": (500, most // 500)}
numbers: dict[str, float] = {}
for name, (n_bags, n_rows) in sizes.items():
    random = np.random.default_rng(experiment.seed)
    difference, ratio = compared(n_bags, n_rows, random, is_scaled=False)
    random = np.random.default_rng(experiment.seed)
    scaled = compared(n_bags, n_rows, random, is_scaled=True)[0]
    numbers |= {f"{name}_rmse": difference, f"{name}_scaled_rmse": scaled, f"{name}_ratio": ratio}
    print(
        f"{n_bags:3} bags of {n_rows:3} rows: difference {difference:.3f}, {scaled:.0e} with λ "
        f"times the numbers of rows and bags; time {ratio:.0f} times that of bags"
    )

figure, axis = plt.subplots(figsize=(5.0, 3.2))
labels = [f"{n_bags} × {n_rows}" for n_bags, n_rows in sizes.values()]
axis.bar(labels, [numbers[f"{name}_rmse"] for name in sizes])
axis.set(ylabel="RMSE between estimates", xlabel="bags × rows of a bag")
axis.set_title("Conditional means from rows and from bags, λ = 0.1", fontsize=10.5)
experiment.save(figure, numbers)
