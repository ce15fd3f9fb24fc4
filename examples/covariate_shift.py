"""Shapley-regularized regression under covariate shift: a column that gets noisy.

After section 6.2 of the RKHS-SHAP paper (Chau et al. 2022). The target depends on five Gaussian
features. The last has the largest weight, and a correlation of 0.9 with the fourth; in test rows it
has noise. A penalty on its Shapley values makes the model use the fourth feature instead. The error
is then larger without noise, hardly increases with it, and is smaller from half a standard
deviation of noise on. The picture shows means and standard deviations of the error over runs, for
growing penalties. Needs pkex[demo]; saves covariate_shift.png in the working directory.

    python examples/covariate_shift.py
"""

import matplotlib.pyplot as plt
import numpy as np

import pkex
from pkex.models import ShapleyRegularizedRidge

plt.style.use("pkex.results.figures")

PICTURE = "covariate_shift.png"
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
COVARIANCE = np.eye(5)
COVARIANCE[3, 4] = COVARIANCE[4, 3] = 0.9
N_RUNS, N_TRAIN, N_TEST = 3, 210, 300
NOISES = [0.0, 0.1, 0.5, 1.0, 1.5]
# Per row, because squared errors are summed over rows.
PENALTIES = [0.0, 0.1, 0.3, 1.0, 10.0, 100.0]


def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.multivariate_normal(np.zeros(5), COVARIANCE, size=n)
    return X, X @ WEIGHTS + rng.normal(size=n)


errors = np.empty((N_RUNS, len(PENALTIES), len(NOISES)))
for run in range(N_RUNS):
    rng = np.random.default_rng(run)
    (X, y), (rows, target) = sample(rng, N_TRAIN), sample(rng, N_TEST)
    noise = rng.normal(size=N_TEST)
    for i, penalty in enumerate(PENALTIES):
        model = ShapleyRegularizedRidge(features=4, penalty=penalty * N_TRAIN, alpha=0.1)
        model.fit(X, y)
        for j, size in enumerate(NOISES):
            noisy = rows.copy()
            noisy[:, 4] += size * noise
            errors[run, i, j] = np.sqrt(np.mean((model.predict(noisy) - target) ** 2))

print("root mean squared error on test rows, by the noise of x4")
print("penalty / n" + "".join(f"{size:9.1f}" for size in NOISES))
for penalty, of_noises in zip(PENALTIES, errors.mean(axis=0), strict=True):
    print(f"{penalty:11.1f}" + "".join(f"{error:9.2f}" for error in of_noises))

# Explain the model with the largest penalty.
explanation = pkex.Explainer(model, background=X)(rows)
print(explanation)
outputs = model.predict(rows)
error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - outputs).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(outputs).max():.3g})")

_, ax = plt.subplots(figsize=(6.5, 4.0))
colors = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(PENALTIES)))
means, deviations = errors.mean(axis=0), errors.std(axis=0, ddof=1)
for i, penalty in enumerate(PENALTIES):
    # Shifted, so that error bars do not overlap.
    places = np.array(NOISES) + 0.012 * (i - 2.5)
    ax.errorbar(
        places, means[i], yerr=deviations[i], fmt="o-", markersize=4.0, capsize=2.5,
        color=colors[i], label=f"{penalty:g}",
    )  # fmt: skip
ax.set_xlabel("standard deviation of the noise of x4 in test rows")
ax.set_ylabel("root mean squared error of the target")
ax.set_title(f"Means and standard deviations of {N_RUNS} runs")
ax.legend(title="penalty per row")
plt.savefig(PICTURE)
print(f"picture: {PICTURE}")
