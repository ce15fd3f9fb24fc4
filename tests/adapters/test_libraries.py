"""Adapters of libraries are imported with these libraries' first model, and never before."""

import subprocess
import sys

# What adapters of other libraries, and what they share, are called.
OTHERS = (
    *("bayes_opt", "chaospy", "GPy", "interpret", "lifelines", "openturns"),
    *("proportional_hazards", "pygam", "scikit_survival", "scipy", "search_space", "skopt"),
    *("smt", "statsmodels", "torch"),
)

EXPLAINED = """
import sys
import numpy as np
import pkex
from sklearn.svm import SVR
rows = np.arange(6.0)[:, None]
pkex.Explainer(SVR().fit(rows, rows[:, 0]))
try:
    pkex.Explainer(object())
except pkex.UnsupportedModelError:
    pass
libraries = ["pkex.adapters.", "bayes_opt", "botorch", "gpytorch", "lifelines", "numpoly"]
libraries += ["openturns", "skopt", "sksurv", "smt", "statsmodels", "torch"]
print(*(name for name in sys.modules if name.startswith(tuple(libraries))))
"""

INTERPOLATED = """
import sys
import pkex
from scipy.interpolate import RBFInterpolator
rows = [[0.0], [1.0], [2.0]]
pkex.Explainer(RBFInterpolator(rows, [0.0, 1.0, 3.0], kernel="gaussian", epsilon=1.0))
print("sklearn" in sys.modules)
"""


def output(script):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_other_libraries_are_not_imported():
    names = output(EXPLAINED).split()
    own = {name.split(".")[2] for name in names if name.startswith("pkex.")}
    assert "sklearn" in own
    assert not [name for name in own if name.startswith(OTHERS)]
    assert not [name for name in names if not name.startswith("pkex.")]


def test_an_interpolator_of_scipy_needs_no_scikit_learn():
    assert output(INTERPOLATED) == "False\n"
