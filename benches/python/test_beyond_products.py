"""Kernels that are not products, as sums of products: their time relative to a Gaussian.

Processor times are compared, which depend less on other work on the machine.
"""

import time

import numpy as np
import pytest
from comparison import Task, slowdown

import pkex
from pkex.kernels import RBF, Additive, Matern, Polynomial, RationalQuadratic

N, D, ROWS = 1000, 20, 100
# scikit-learn's gamma="scale" for columns with variance 1.
SCALE = np.sqrt(D / 2.0)
KERNELS = {
    "Matern, ν = 1/2": Matern(SCALE, 0.5),
    "Matern, ν = 3/2": Matern(SCALE, 1.5),
    "Matern, ν = 5/2": Matern(SCALE, 2.5),
    "RationalQuadratic, α = 1": RationalQuadratic(SCALE, 1.0),
    "Polynomial, degree 3": Polynomial(3, 1.0 / D),
    "Additive, of two columns": Additive(RBF(SCALE), 2),
}
GOALS = {"Matern, ν = 5/2": "≤ 15× the time", "Polynomial, degree 3": "≤ 3× the time"}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(1).standard_normal((ROWS, D))


def expansion(kernel):
    rng = np.random.default_rng(0)
    return pkex.KernelExpansion(rng.standard_normal((N, D)), rng.standard_normal(N), kernel)


def explaining(kernel, X, value_function="neutral"):
    explainer = pkex.Explainer(expansion(kernel), value_function=value_function, n_jobs=1)
    return Task(lambda: explainer.shap_values(X), len(X), time.process_time)


def preparing(kernel):
    # A new expansion each time, because it caches the means.
    return Task(lambda: pkex.Explainer(expansion(kernel), n_jobs=1), clock=time.process_time)


def predicting(kernel, X):
    f = expansion(kernel)
    return Task(lambda: f.predict(X), len(X), time.process_time)


@pytest.mark.parametrize("name", KERNELS)
def test_values(turns, add_comparison, name, X):
    gaussian, other = turns([explaining(kernel, X) for kernel in (RBF(SCALE), KERNELS[name])])
    what = f"a row, d = {D}: {name} and RBF"
    add_comparison(what, gaussian, other, goal=GOALS.get(name, ""), show=slowdown)


def test_values_of_the_default_game(turns, add_comparison, X):
    kernels = RBF(SCALE), KERNELS["Matern, ν = 5/2"]
    gaussian, mixture = turns([explaining(kernel, X, "marginal") for kernel in kernels])
    what = f"a row, d = {D}, marginal: Matern, ν = 5/2 and RBF"
    add_comparison(what, gaussian, mixture, goal="≤ 25× the time", show=slowdown)


def test_preparation(turns, add_comparison):
    """Time to make an explainer of marginal values: means over all points."""
    gaussian, mixture = turns([preparing(RBF(SCALE)), preparing(KERNELS["Matern, ν = 5/2"])])
    what = f"an explainer of marginal values, d = {D}: Matern, ν = 5/2 and RBF"
    add_comparison(what, gaussian, mixture, show=slowdown)


def test_predictions(turns, add_comparison, X):
    kernels = RBF(SCALE), KERNELS["Matern, ν = 5/2"]
    gaussian, mixture = turns([predicting(kernel, X) for kernel in kernels])
    what = f"a prediction, d = {D}: Matern, ν = 5/2 and RBF"
    add_comparison(what, gaussian, mixture, show=slowdown)
