"""Optimizers of bayes_opt that were told of random points, for tests of its adapter."""

import numpy as np
import pandas as pd
from bayes_opt import BayesianOptimization
from sklearn.gaussian_process.kernels import RBF

# In the order of their names, in which versions before 3 have them.
NUMBERS = {"decay": (0.0, 4.0), "momentum": (-1.0, 1.0), "rate": (1.0, 9.0)}


def gain(decay, momentum, rate, steps=0, activation="relu"):
    extra = {"relu": 0.0, "tanh": 50.0, "identity": 90.0}[activation]
    return 1e3 + 100.0 * (np.sin(decay) - momentum**2) - rate * decay + 3.0 * steps + extra


def drawn(bound, rng):
    if isinstance(bound[0], str):
        return str(rng.choice(bound))
    return int(rng.integers(*bound[:2])) if len(bound) == 3 else rng.uniform(*bound)


def told(bounds=NUMBERS, kernel=None, n=25):
    """An optimizer without a fitted model."""
    rng = np.random.default_rng(0)
    optimizer = BayesianOptimization(gain, bounds, random_state=0, verbose=0)
    kernel = RBF(2.0) if kernel is None else kernel
    optimizer.set_gp_params(kernel=kernel, optimizer=None, alpha=1e-3)
    for _ in range(n):
        point = {name: drawn(bound, rng) for name, bound in bounds.items()}
        optimizer.register(point, gain(**point))
    return optimizer


def fitted(*args, **options):
    optimizer = told(*args, **options)
    optimizer._gp.fit(optimizer.space.params, optimizer.space.target)
    return optimizer


def table(optimizer):
    found = pd.DataFrame([found["params"] for found in optimizer.res])
    return found[list(optimizer.space.keys)]
