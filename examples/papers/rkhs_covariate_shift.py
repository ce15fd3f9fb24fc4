"""Shapley-regularized regression under covariate shift: a feature that gets noisy.

Experiment 3 of Chau et al. (2022, RKHS-SHAP, section 5.2), Figure 2b. The target depends on five
Gaussian features. The last has the largest weight and a correlation of 0.9 with the fourth, and has
noise in test rows. Kernel ridge regression is fitted with a growing penalty on its Shapley values.
The paper divides the penalty λ by the number n of training rows, so its grid has no effect on sums
of squared errors. The authors' code does not divide, which is a penalty of λ n. Both are run.
Needs pkex[demo].

    python examples/papers/rkhs_covariate_shift.py           210 training rows, 3 runs, 7 s
    python examples/papers/rkhs_covariate_shift.py --full    700 training rows, 10 runs, 6 min
"""

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment

import pkex
from pkex.models import ShapleyRegularizedRidge

WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
COVARIANCE = np.eye(5)
COVARIANCE[3, 4] = COVARIANCE[4, 3] = 0.9
NOISES = [0.0, 0.1, 0.5, 1.0, 1.5]
PENALTIES = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]


def sample(rng, n):
    """Draw rows and targets. The target has no noise, as in the paper."""
    X = rng.multivariate_normal(np.zeros(5), COVARIANCE, size=n)
    return X, X @ WEIGHTS


def errors_of(model, rows, target, noise):
    """Return the root mean squared error for each size of the noise of the last feature."""
    errors = []
    for size in NOISES:
        noisy = rows.copy()
        noisy[:, 4] += size * noise
        errors.append(np.sqrt(np.mean((model.predict(noisy) - target) ** 2)))
    return errors


def one_run(rng, n, factor):
    """Return errors by penalty and noise, with penalties of `factor` times the paper's."""
    (X, y), (rows, target) = sample(rng, round(0.7 * n)), sample(rng, round(0.3 * n))
    noise, errors = rng.normal(size=len(rows)), []
    for penalty in PENALTIES:
        model = ShapleyRegularizedRidge(features=4, penalty=penalty * factor, alpha=0.1)
        errors.append(errors_of(model.fit(X, y), rows, target, noise))
    explanation = pkex.Explainer(model, X)(rows[:50])
    outputs = model.predict(rows[:50])
    assert np.allclose(explanation.values.sum(axis=1) + explanation.base_values, outputs)
    return errors


def draw(ax, errors, title):
    """Draw means and standard deviations over runs, one line for each size of the noise."""
    colors = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(NOISES)))
    means, deviations = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    for i, size in enumerate(NOISES):
        places = np.array(PENALTIES) + 0.02 * (i - 2)  # shifted, so that bars do not overlap
        ax.errorbar(
            places, means[:, i], yerr=deviations[:, i], fmt="o-", markersize=4.0, capsize=2.5,
            color=colors[i], label=f"{size:g}",
        )  # fmt: skip
    ax.set(xlabel="Shapley regularization λ", title=title)


run = Experiment(__doc__)
n, n_runs = (1000, 10) if run.full else (300, 3)
settings = {"printed": (1.0, "penalty λ/n, as printed"), "code": (0.7 * n, "penalty λ")}
figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.8), sharey=True)
numbers = {"n_train": round(0.7 * n), "n_runs": n_runs}
for ax, (name, (factor, title)) in zip(axes, settings.items(), strict=True):
    draws = [np.random.default_rng([run.seed, i]) for i in range(n_runs)]
    errors = np.array([one_run(rng, n, factor) for rng in draws])
    draw(ax, errors, title)
    print(f"\n{title}: root mean squared error by the noise of X₅")
    print("     λ" + "".join(f"{size:9.1f}" for size in NOISES))
    for penalty, of_noises in zip(PENALTIES, errors.mean(axis=0), strict=True):
        print(f"{penalty:6.1f}" + "".join(f"{error:9.2f}" for error in of_noises))
    for place, penalty in ((0, "least"), (-1, "most")):
        numbers[f"{name}_{penalty}_clean"] = errors[:, place, 0].mean()
        numbers[f"{name}_{penalty}_noisy"] = errors[:, place, -1].mean()
axes[0].set_ylabel("root mean squared error of the target")
axes[1].legend(title="noise of X₅ (standard deviation)", ncols=2)
run.save(figure, numbers)
