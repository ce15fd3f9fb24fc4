"""Uncertainty of a Gaussian process's Shapley values, and of its prediction.

A Gaussian process predicts the alcohol of 178 wines from twelve other measurements. For the wine
with the most uncertain prediction, the picture shows each value with its 95 % interval. The values
of the predictive variance show which of its measurements lie far from the data. Needs pkex[demo];
saves uncertainty.png in the working directory.

    python examples/uncertainty.py
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pkex

plt.style.use("pkex.results.figures")

table = load_wine(as_frame=True).data
table.columns = [name.split("/")[0].replace("_", " ") for name in table]
X, y = table.drop(columns="alcohol"), table["alcohol"]

kernel = ConstantKernel() * RBF(np.full(12, 5.0), (0.5, 1e3)) + WhiteKernel()
process = GaussianProcessRegressor(kernel, normalize_y=True)
model = make_pipeline(StandardScaler(), process)
with warnings.catch_warnings():
    # The length-scale of an irrelevant measurement grows to its upper bound.
    warnings.simplefilter("ignore", ConvergenceWarning)
    model.fit(X, y)

_, deviations = model.predict(X, return_std=True)
wine = X.iloc[[np.argmax(deviations)]]
background = X.sample(50, random_state=0)

# Values of the mean with their uncertainty, and values of the variance.
explanation = pkex.Explainer(model, background)(wine, uncertainty=True)
variance = pkex.Explainer(model, background, target="predictive_variance")(wine)

print("the wine with the most uncertain prediction")
for name, value, deviation in zip(
    X.columns, explanation.values[0], explanation.standard_deviations[0], strict=True
):
    print(f"  {name:<22}{value:7.2f} ± {deviation:.2f} % of alcohol")
print(variance)
own = model.predict(wine), deviations.max() ** 2
for found, output in zip((explanation, variance), own, strict=True):
    total = found.base_values + found.values.sum(axis=1)
    error, output = np.abs(total - output).max(), np.max(output)
    print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {output:.3g})")

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6.5))
explanation[0].plot(upper, max_features=6)
upper.set_xlabel("Shapley value of the predicted alcohol, %")
variance[0].plot(lower, max_features=6)
lower.set_xlabel("Shapley value of the predictive variance of alcohol, %²")
figure.savefig("uncertainty.png")
print("picture: uncertainty.png")
