"""The demo: explanations of three tuned models on data sets of scikit-learn.

The essential part, for any model::

    explanation = pkex.Explainer(model, feature_names=names)(X)
    print(explanation)
    explanation.plot()

The value function is the default one: absent features are averaged over the model's stored training
points.
"""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex


def main(output: Path) -> None:
    """Explain the three models, print their explanations, and save the figures in `output`."""
    output.mkdir(parents=True, exist_ok=True)
    regression(output)
    two_classes(output)
    three_classes(output)


def regression(output: Path) -> None:
    """Explain the disease progression predicted for 442 diabetes patients."""
    patients = load_diabetes(scaled=False)
    X = StandardScaler().fit_transform(patients.data)
    grid = {"C": [10, 100, 1000], "gamma": [0.001, 0.01, 0.1], "epsilon": [1, 10]}
    search = GridSearchCV(SVR(), grid, cv=KFold(5, shuffle=True, random_state=0))
    model = search.fit(X, patients.target).best_estimator_

    explainer = pkex.Explainer(model, feature_names=patients.feature_names)
    explanation = explainer(X)

    report("Diabetes: SVR, predicted disease progression", model, explanation)
    report_quality(explainer, explanation, model.predict(X))
    save_picture(explanation, "predicted progression", output / "diabetes.png")


def two_classes(output: Path) -> None:
    """Explain the decision values of 569 tumours, positive for benign ones."""
    tumours = load_breast_cancer()
    X = StandardScaler().fit_transform(tumours.data)
    grid = {"C": [1, 10, 100], "gamma": [0.001, 0.01, 0.1]}
    search = GridSearchCV(SVC(), grid, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    model = search.fit(X, tumours.target).best_estimator_

    explainer = pkex.Explainer(model, feature_names=list(tumours.feature_names))
    explanation = explainer(X)

    report("Breast cancer: SVC, decision value (positive: benign)", model, explanation)
    report_quality(explainer, explanation, model.decision_function(X))
    save_picture(explanation, "decision value, positive: benign", output / "breast_cancer.png")


def three_classes(output: Path) -> None:
    """Explain the three one-versus-one decision values of 178 wines."""
    wines = load_wine(as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(wines.data)
    cultivars = wines.target_names[wines.target]
    grid = {"C": [1, 10, 100], "gamma": [0.001, 0.01, 0.1]}
    search = GridSearchCV(
        SVC(decision_function_shape="ovo"),
        grid,
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    model = search.fit(X, cultivars).best_estimator_

    explainer = pkex.Explainer(model)  # the feature names are those of the DataFrame
    explanation = explainer(X)

    report("Wine: SVC, one-versus-one decision values", model, explanation)
    report_quality(explainer, explanation, model.decision_function(X))
    pair = "class_0 vs class_1"
    save_picture(explanation[..., pair], f"decision value of {pair}", output / "wine.png")


def report(title: str, model: Any, explanation: pkex.Explanation) -> None:
    """Print the model, the size of its explanation, and the features that matter most."""
    print(f"\n{title}")
    print(f"  {model}, {len(model.support_)} support vectors")
    print(textwrap.indent(repr(explanation), "  "))


def report_quality(
    explainer: pkex.Explainer, explanation: pkex.Explanation, outputs: NDArray[np.float64]
) -> None:
    """Print the error of the sums of values, compared with the model's outputs, and the time."""
    error = np.abs(explanation.base_values + explanation.values.sum(axis=1) - outputs).max()
    print(
        f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(outputs).max():.3g})"
    )
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        explainer(explanation.data)
        seconds.append(time.perf_counter() - start)
    print(f"  time per row: {1e6 * min(seconds) / len(explanation):.1f} µs (best of 3 runs)")


def save_picture(explanation: pkex.Explanation, what: str, path: Path) -> None:
    """Draw the values of all rows and features."""
    explanation.plot()
    plt.xlabel(f"Shapley value of the {what} ({explanation.value_function})")
    plt.savefig(path, dpi=200)
    plt.close()
    print(f"  picture: {path}")
