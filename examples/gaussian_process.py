"""Explain a Gaussian process with a length-scale for each feature.

The target is the progression of diabetes, in its own units. The kernel is a constant times an RBF
kernel plus noise. Its twelve parameters maximize the marginal likelihood, and the model normalizes
the target. Needs pkex[demo]; saves gaussian_process.png in the working directory.

    python examples/gaussian_process.py
"""

import warnings

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import StandardScaler

import pkex

patients = load_diabetes(scaled=False)
X, y = StandardScaler().fit_transform(patients.data), patients.target

kernel = ConstantKernel() * RBF(np.full(10, 5.0), (0.5, 1e3)) + WhiteKernel()
model = GaussianProcessRegressor(kernel, normalize_y=True)
with warnings.catch_warnings():
    # The length-scale of an irrelevant feature grows to its upper bound.
    warnings.simplefilter("ignore", ConvergenceWarning)
    model.fit(X, y)

# The noise applies to training rows only, and the base value includes the mean of y.
explanation = pkex.Explainer(model, feature_names=patients.feature_names)(X)

print(model.kernel_)
print(explanation)
# A short length-scale means that f varies quickly with a feature, not that the feature matters.
print("feature  length-scale  mean |φ|")
columns = (model.kernel_.k1.k2.length_scale, explanation.importance())
for name, *numbers in zip(explanation.feature_names, *columns, strict=True):
    print("{:<7}{:14.1f}{:10.1f}".format(name, *numbers))
total = explanation.values.sum(axis=1) + explanation.base_values
error = np.abs(total - model.predict(X)).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {model.predict(X).max():.3g})")

ax = explanation.plot()
ax.set_xlabel(f"Shapley value of the predicted progression ({explanation.value_function})")
ax.figure.savefig("gaussian_process.png", dpi=200)
print("picture: gaussian_process.png")
