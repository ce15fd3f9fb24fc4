"""A small regression problem, and new rows of it."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, 0] + np.sin(X[:, 1])
ROWS = RNG.normal(size=(5, 4))
