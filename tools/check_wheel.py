"""Try the installed package: explain two models and check the values."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.svm import SVR

import pkex

site = Path(sysconfig.get_path("platlib")).resolve()
if not Path(pkex.__file__).resolve().is_relative_to(site):
    sys.exit(f"pkex comes from {pkex.__file__}, not from {site}")

# It contains all instruction sets, not only those of the machine that built it.
portable = {**os.environ, "PKEX_SIMD": "portable"}
subprocess.run([sys.executable, "-I", "-c", "import pkex"], env=portable, check=True)

X, y = load_diabetes(return_X_y=True)
X /= X.std(axis=0)

# All features: with the base value, the values add up to the predictions.
model = SVR(gamma=0.1, C=100.0).fit(X, y)
explanation = pkex.Explainer(model)(X)
total = explanation.base_values + explanation.values.sum(axis=1)
np.testing.assert_allclose(total, model.predict(X), rtol=1e-10)

# Two features: the value of the first is the mean of its contributions to the empty coalition and
# to the second feature. Absent features have the mean factor over the support vectors.
model = SVR(gamma=0.1, C=100.0).fit(X[:, [2, 8]], y)


def factors(rows):
    differences = rows[:, None] - model.support_vectors_
    return np.moveaxis(np.exp(-model.gamma * differences**2), -1, 0)


first, second = factors(X[:, [2, 8]])
no_first, no_second = factors(model.support_vectors_).mean(axis=1)
expected = ((first - no_first) * (no_second + second) / 2) @ model.dual_coef_[0]
values = pkex.Explainer(model)(X[:, [2, 8]]).values
np.testing.assert_allclose(values[:, 0], expected, rtol=0, atol=1e-9 * abs(expected).max())

print(f"pkex from {site}: values are exact, on Python {sys.version.split()[0]}")
