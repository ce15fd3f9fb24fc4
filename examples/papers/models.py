"""Models that several experiments fit."""

from warnings import simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR


def tuned_regression(X, y, n_points):
    """Return a support vector regression with cross-validated settings.

    C and γ are from the ranges in appendix G.1 of the PKeX-Shapley paper, on a grid of `n_points`
    by `n_points` − 2.
    """
    grid = {"C": np.logspace(-5, 5, n_points), "gamma": np.logspace(-5, 3, n_points - 2)}
    # Some of the settings would take minutes each. They stop early, with a large error.
    simplefilter("ignore", ConvergenceWarning)
    search = GridSearchCV(SVR(max_iter=20_000), grid, scoring="neg_mean_squared_error")
    return SVR(**search.fit(X, y).best_params_)
