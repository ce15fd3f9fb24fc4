"""Explain class probabilities and log-odds of a support vector machine.

A support vector machine with calibrated probabilities classifies three kinds of wine. For one wine,
the picture shows the exact values of the probability and of the log-odds of its class. A second
model classifies tumors by thirty features, which have too many coalitions. Their values are
estimated, with standard errors. Needs pkex[demo]; saves probabilities.png in the working directory.

    python examples/probabilities.py
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pkex

plt.style.use("pkex.results.figures")


def calibrated(data, target) -> CalibratedClassifierCV:
    machine = make_pipeline(StandardScaler(), SVC(C=3.0))
    return CalibratedClassifierCV(machine, ensemble=False).fit(data, target)


def main() -> None:
    _, axes = plt.subplots(3, 1, figsize=(7.5, 10))
    draw_a_wine(axes[:2])
    draw_a_tumour(axes[2])
    for ax in axes:
        ax.margins(x=0.5)  # room for the numbers next to the bars
    plt.savefig("probabilities.png")
    print("picture: probabilities.png")


def draw_a_wine(axes) -> None:
    """Draw the values of one wine for the probability and the log-odds."""
    wine = load_wine(as_frame=True)
    model = calibrated(wine.data, wine.target)
    p = model.predict_proba(wine.data)
    row = int(np.abs(p[:, 1] - 0.7).argmin())
    scales = {"identity": p, "logit": np.log(p / (1.0 - p))}
    for (link, outputs), ax in zip(scales.items(), axes, strict=True):
        explainer = pkex.Explainer(model.predict_proba, wine.data[::9], link=link)
        explanation = explainer(wine.data[row : row + 1])
        total = explanation.values.sum(axis=1) + explanation.base_values
        error, size = np.abs(total - outputs[row]).max(), np.abs(outputs[row]).max()
        print(f"{explainer}")
        print(f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {size:.3g})")
        explanation[0, :, "1"].plot(ax=ax, max_features=8)
        scale = "probability" if link == "identity" else "log-odds"
        ax.set_xlabel(f"Shapley value of the {scale} of class 1")


def draw_a_tumour(ax) -> None:
    """Draw estimated values of a probability with thirty features."""
    tumours = load_breast_cancer(as_frame=True)
    model = calibrated(tumours.data, tumours.target)
    explainer = pkex.Explainer(model.predict_proba, tumours.data[::15], outputs="1")
    p = model.predict_proba(tumours.data)[:, 1]
    row = int(np.abs(p - 0.7).argmin())
    estimate = explainer.estimate(tumours.data[row : row + 1], n_permutations=200, random_state=0)
    print(estimate)
    estimate[0].plot(ax=ax, max_features=8)
    ax.set_xlabel("estimated Shapley value of the probability of benign")


if __name__ == "__main__":
    main()
