"""Shapley values of a Gaussian process, as random variables.

GP-SHAP: Chau, Muandet and Sejdinovic (2023), "Explaining the uncertain: stochastic Shapley values
for Gaussian process models". The values of a Gaussian process have a joint normal distribution: the
linear map from v(S) to Shapley values is applied to the posterior mean and to the posterior
covariance. Both are compared here with sums over all coalitions of scikit-learn's own posterior.
The Shapley prior predicts the values of other patients from those of 60.
pkex's v(S) is interventional: the mean of f over background rows with the row's present features.
The authors' code projects on conditional means instead, and explains the smoothed prediction. The
picture has the values of two patients with posterior standard deviations; it does not repeat the
settings of the paper. Saves gp_stochastic_values.json and gp_stochastic_values.png.

    python examples/papers/gp_stochastic_values.py   150 patients, 5 columns, 1 s
"""

from itertools import product
from math import comb

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

import pkex
from pkex.models import ShapleyProcess

COLUMNS = ["bmi", "bp", "s3", "s5", "s6"]
D = len(COLUMNS)
MEMBERS = np.array(list(product([False, True], repeat=D)))


def shapley_map():
    """Return the matrix (d, 2^d) from the values of coalitions to Shapley values."""
    matrix = np.zeros((D, 2**D))
    for place, members in enumerate(MEMBERS):
        for j in range(D):
            size = members.sum() - members[j]
            matrix[j, place] = (1.0 if members[j] else -1.0) / (D * comb(D - 1, size))
    return matrix


def by_coalitions(model, background, rows):
    """Return means (rows · d,) and covariances of all values, from scikit-learn's posterior."""
    imputed = np.concatenate(
        [np.where(MEMBERS[:, None, :], x, background).reshape(-1, D) for x in rows]
    )
    # Each v(S) is a mean over the background of f at imputed rows.
    means = np.kron(np.eye(2**D), np.full(len(background), 1.0 / len(background)))
    to_values = np.kron(np.eye(len(rows)), shapley_map() @ means)
    mean, covariance = model.predict(imputed, return_cov=True)
    return to_values @ mean, to_values @ covariance @ to_values.T


def error(found, expected):
    """Return the largest difference, relative to the largest value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


experiment = Experiment(__doc__, full=False)
data, y = load_diabetes(return_X_y=True, as_frame=True)
order = np.random.default_rng(experiment.seed).permutation(len(data))
X, y = data[COLUMNS].to_numpy()[order] / 0.05, y.to_numpy()[order]
kernel = ConstantKernel(1.0) * RBF(np.full(D, 2.0)) + WhiteKernel(0.5)
model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X[:150], y[:150])
# The posterior of f: the fitted noise stays in the matrix of the training rows.
latent = GaussianProcessRegressor(
    model.kernel_.k1, alpha=model.kernel_.k2.noise_level, optimizer=None, normalize_y=True
).fit(X[:150], y[:150])

background, others = X[:10], X[150:]
deviations = latent.predict(others, return_std=True)[1]
rows = others[[deviations.argmin(), deviations.argmax()]]
explainer = pkex.Explainer(model, background)
explanation = explainer(rows, uncertainty="joint")
means, covariances = by_coalitions(latent, background, rows)
numbers = {
    "mean": error(explanation.values.ravel(), means),
    "covariance": error(explanation.covariance(0), covariances[:D, :D]),
    "between_rows": error(explanation.covariance(0, 1), covariances[:D, D:]),
}

# The Shapley prior: values of other patients, predicted from those of a few.
exact = explainer.shap_values(others)
process = ShapleyProcess(kernel=pkex.kernels.RBF(model.kernel_.k1.k2.length_scale))
process.fit(others[:60], exact[:60], background=background)
predicted, spread = process.predict(others[60:], return_std=True)
numbers["prior_r2"] = process.score(others[60:], exact[60:])
numbers["prior_covered"] = 100.0 * np.mean(np.abs(predicted - exact[60:]) < 2.0 * spread)
meanings = (
    "mean of values, relative error",
    "covariance of the values of one row, relative error",
    "covariance of the values of two rows, relative error",
    "R² of values predicted by the Shapley prior",
    "share of these within two standard deviations, %",
)
for meaning, number in zip(meanings, numbers.values(), strict=True):
    print(f"{meaning:55}{number:.3g}")

figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.2), sharex=True, sharey=True)
titles = ("Most certain patient", "Least certain patient")
for ax, values, spread, title in zip(
    axes, explanation.values, explanation.standard_deviations, titles, strict=True
):
    ax.barh(COLUMNS, values, xerr=2.0 * spread, capsize=3)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set(title=title, xlabel="contribution to the progression of diabetes")
axes[0].invert_yaxis()
figure.suptitle("Shapley values ± 2 posterior standard deviations", fontsize=10.5)
experiment.save(figure, numbers)
