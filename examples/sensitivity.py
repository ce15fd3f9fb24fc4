"""Global sensitivity analysis of two test functions with known indices.

Surrogates are fitted to Ishigami's function (a Gaussian process) and to Sobol's g-function (kernel
ridge regression), and analyzed by pkex.sensitivity. The script prints how much the exact indices of
the surrogates differ from those of the functions, and draws them. Needs pkex[demo] and SciPy; saves
sensitivity.png in the working directory.

    python examples/sensitivity.py
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

import pkex

plt.style.use("pkex.results.figures")

PICTURE = "sensitivity.png"
# Ishigami's function (Ishigami and Homma 1990), and the g-function (Saltelli and Sobol 1995).
A, B = 7.0, 0.1
WEIGHTS = np.array([0.0, 1.0, 4.5, 9.0])


def ishigami(X: np.ndarray) -> np.ndarray:
    return np.sin(X[:, 0]) * (1.0 + B * X[:, 2] ** 4) + A * np.sin(X[:, 1]) ** 2


def g(X: np.ndarray) -> np.ndarray:
    return np.prod((np.abs(4.0 * X - 2.0) + WEIGHTS) / (1.0 + WEIGHTS), axis=1)


def of_ishigami() -> tuple[float, np.ndarray, np.ndarray]:
    """Return variance, first-order and total indices in closed form."""
    both = B**2 * np.pi**8 * (1 / 18 - 1 / 50)
    parts = np.array([0.5 * (1 + B * np.pi**4 / 5) ** 2, A**2 / 8, 0.0])
    variance = parts.sum() + both
    return variance, parts / variance, (parts + both * np.array([1.0, 0.0, 1.0])) / variance


def of_g() -> tuple[float, np.ndarray, np.ndarray]:
    parts = 1.0 / (3.0 * (1.0 + WEIGHTS) ** 2)
    variance = np.prod(1.0 + parts) - 1.0
    return variance, parts / variance, parts * (variance + 1.0) / (1.0 + parts) / variance


# A process that nearly interpolates 1,536 runs.
runs = np.pi * (2.0 * stats.qmc.Sobol(3, seed=0).random(2048)[:1536] - 1.0)
kernel = ConstantKernel(100.0) * RBF([2.5, 1.7, 3.5])
process = GaussianProcessRegressor(kernel, alpha=1e-11, optimizer=None, normalize_y=True)
process.fit(runs, ishigami(runs))

# The g-function is linear between 0, ½ and 1, as this kernel nearly is between its points.
corners = np.array(list(itertools.product([0.0, 0.5, 1.0], repeat=4)))
ridge = KernelRidge(kernel="laplacian", gamma=1 / 60, alpha=1e-13).fit(corners, g(corners))

cube, box = [stats.uniform(0.0, 1.0)] * 4, [stats.uniform(-np.pi, 2.0 * np.pi)] * 3
problems = {
    "Ishigami": (process, ishigami, box, of_ishigami()),
    "g-function": (ridge, g, cube, of_g()),
}

figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.2))
for ax, (name, (model, function, inputs, known)) in zip(panels, problems.items(), strict=True):
    variance, first, total = known
    rows = np.column_stack([own.rvs(2000, random_state=j) for j, own in enumerate(inputs)])
    error = np.sqrt(np.mean((model.predict(rows) - function(rows)) ** 2) / variance)
    result = pkex.sensitivity(model, inputs)
    worst = np.abs([result.first_order - first, result.total - total]).max()
    print(f"{name}: error of the surrogate {error:.0e}, of its indices {worst:.0e}")
    print(result.to_frame().round(4))
    result.plot(ax).set_title(name)
    ax.set_xlabel("share of the variance of the output")

# The effects add up to the variance of the surrogate. The columns of the corners are independent,
# so the variance over all combinations is the variance over the rows.
machine = SVR(C=10.0).fit(corners, g(corners))
result = pkex.sensitivity(machine, corners)
variance = machine.predict(corners).var()
error = abs((result.shapley_effects * result.variance).sum() - variance)
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {variance:.3g})")

figure.savefig(PICTURE)
print(f"picture: {PICTURE}")
