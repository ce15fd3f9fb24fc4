"""Accuracy of kernels that are not products: Matérn and rational quadratic.

These kernels depend on the distance between whole rows. pkex explains them as sums of Gaussian
kernels, which are products. The pictures show the errors of these sums by the distance of a row
from a point, up to ten times the largest distance between points, and the numbers of components.
Then a Gaussian process with Matérn's kernel is explained. Needs pkex[demo]; saves
beyond_products.png in the working directory.

    python examples/beyond_products.py
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp

import pkex
from pkex.kernels import Kernel, Matern, RationalQuadratic

# Private modules, to count terms; they may change.
from pkex.kernels.domain import Domain
from pkex.kernels.factors import expand_terms

plt.style.use("pkex.results.figures")

PICTURE = "beyond_products.png"
KERNELS = {
    "Matern, ν = 1/2": Matern(nu=0.5),
    "Matern, ν = 3/2": Matern(nu=1.5),
    "Matern, ν = 5/2": Matern(nu=2.5),
    "RationalQuadratic, α = 0.1": RationalQuadratic(alpha=0.1),
    "RationalQuadratic, α = 1": RationalQuadratic(alpha=1.0),
    "RationalQuadratic, α = 100": RationalQuadratic(alpha=100.0),
}
DISTANCES = (1, 3, 10, 30, 100)


def main() -> None:
    print(f"{'components up to the distance':<30}", *(f"{r:>5}" for r in DISTANCES), "  error")
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 4.4))
    for name, kernel in KERNELS.items():
        counts = [number_of_terms(kernel, distance) for distance in DISTANCES]
        distances, errors = errors_by_distance(kernel)
        print(f"{name:<30}", *(f"{count:>5}" for count in counts), f"{errors.max():.1e}")
        left.plot(distances, np.maximum(errors, 1e-16), label=name)
        right.plot(DISTANCES, counts, marker=".", label=name)
    finish(left, right)
    explain_a_process()


def number_of_terms(kernel: Kernel, distance: float) -> int:
    """Return the number of products for rows of 20 columns up to a distance apart."""
    rows = np.outer([0.0, distance], np.full(20, 1.0 / np.sqrt(20.0)))
    return len(expand_terms(kernel.terms(20), Domain.of(rows)))


def errors_by_distance(kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """Return distances, and the largest error of the sum around each of them."""
    points = np.array([[0.0, 0.0], [10.0, 0.0]])
    f = pkex.KernelExpansion(points, [1.0, 0.0], kernel)
    distances = np.geomspace(1e-4, 100.0, 2400)
    rows = np.outer(distances, [1.0, 0.0])
    # The engine supports products only, so its prediction is the sum.
    errors = np.abs(f.predict(rows) - kernel(rows, points)[:, 0])
    # Errors oscillate around 0: take the largest in each twentieth of a decade.
    return distances[10::20], errors.reshape(-1, 20).max(axis=1)


def finish(left: plt.Axes, right: plt.Axes) -> None:
    left.axhline(1e-12, color="black", linestyle="--", linewidth=0.8)
    left.set(
        xscale="log",
        yscale="log",
        ylim=(1e-16, 1e-11),
        xlabel="distance, in length-scales",
        ylabel="error of the sum",
    )
    right.set(
        xscale="log",
        ylim=(0, None),
        xlabel="largest distance, in length-scales",
        ylabel="components of the sum",
    )
    right.figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    left.figure.savefig(PICTURE)
    print(f"picture: {PICTURE}")


def explain_a_process() -> None:
    X, y = load_diabetes(return_X_y=True)
    length_scales = [0.37, 0.35, 0.34, 0.49, 1.4, 56.0, 0.66, 100.0, 0.23, 2.0]
    kernel = gp.ConstantKernel(1.7) * gp.Matern(length_scales, nu=2.5) + gp.WhiteKernel(0.46)
    model = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None).fit(X, y)
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    error = np.abs(total - model.predict(X)).max()
    print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {model.predict(X).max():.3g})")


if __name__ == "__main__":
    main()
