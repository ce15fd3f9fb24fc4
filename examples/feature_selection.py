"""Feature selection by HSIC compared with other selectors.

With data of scikit-learn, in a similar way to Table 1 of the PKeX-Shapley paper, which
papers/pkex_feature_selection.py repeats. In each training fold, a fifth of the features is selected
by HSIC values (also with backward and forward selection), mutual information, Lasso, univariate
tests (K-best) or permutation importance of a forest. A support vector machine with the RBF kernel
is fitted to these features and scored on the test fold. The last data set is simulated from
products and squares. Scores are means and standard deviations over the same five folds; differences
of a few hundredths are not significant. Needs pkex[demo]; saves feature_selection.png in the
working directory.

    python examples/feature_selection.py
"""

import math
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import pkex

plt.style.use("pkex.results.figures")

PICTURE = "feature_selection.png"
SPLITS = KFold(5, shuffle=True, random_state=0)
RNG = np.random.default_rng(0)


class OfTrees(BaseEstimator):
    """Permutation importances of a forest, on the rows that it is fitted to."""

    def __init__(self, forest=None):
        self.forest = forest

    def fit(self, X, y):
        self.forest.fit(X, y)
        found = permutation_importance(self.forest, X, y, n_repeats=3, random_state=0)
        self.feature_importances_ = found.importances_mean
        return self


def selectors(is_class: bool, count: int) -> dict[str, object]:
    """Return selectors of that many features, by name."""
    information = mutual_info_classif if is_class else mutual_info_regression
    forest = (ExtraTreesClassifier if is_class else ExtraTreesRegressor)(30, random_state=0)
    lasso = LinearSVC(penalty="l1", dual=False, C=0.1) if is_class else Lasso(0.05)
    labels = pkex.kernels.Categorical() if is_class else None
    best = partial(SelectFromModel, max_features=count, threshold=-np.inf)
    return {
        "HSIC values": pkex.HSICSelector(count, target_kernel=labels),
        "HSIC, backward": pkex.HSICSelector(count, target_kernel=labels, refit="backward"),
        "HSIC, forward": pkex.HSICSelector(count, target_kernel=labels, refit="forward"),
        "mutual information": SelectKBest(partial(information, random_state=0), k=count),
        "Lasso": best(lasso),
        "K-best (F-test)": SelectKBest(f_classif if is_class else f_regression, k=count),
        "trees": best(OfTrees(forest)),
        "all features": "passthrough",
    }


def interaction(n: int = 400, d: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """Return simulated data: no single one of the three relevant features predicts the target."""
    X = RNG.normal(size=(n, d))
    return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + 0.3 * RNG.normal(size=n)


# Every third tumor, to save time.
tumours = load_breast_cancer(return_X_y=True)
problems = {
    "wine": (*load_wine(return_X_y=True), True),
    "breast cancer": (tumours[0][::3], tumours[1][::3], True),
    "diabetes": (*load_diabetes(return_X_y=True), False),
    "products": (*interaction(), False),
}

figure, panels = plt.subplots(2, 2, figsize=(8.0, 6.4), sharey=True)
for ax, (name, (X, y, is_class)) in zip(panels.flat, problems.items(), strict=True):
    count = math.ceil(X.shape[1] / 5)
    kind = "accuracy" if is_class else "R²"
    print(f"\n{name}: {count} of {X.shape[1]} features, {len(X)} rows; {kind}")
    methods = selectors(is_class, count)
    target = y if is_class else (y - y.mean()) / y.std()
    for place, (method, selector) in enumerate(methods.items()):
        machine = SVC(C=3.0) if is_class else SVR(C=3.0)
        model = make_pipeline(StandardScaler(), selector, machine)
        scores = cross_val_score(model, X, target, cv=SPLITS)
        print(f"  {method:<18} {scores.mean():.3f} ± {scores.std():.3f}")
        color = "C0" if method.startswith("HSIC") else "C6"
        ax.errorbar(scores.mean(), place, xerr=scores.std(), fmt="o", color=color, capsize=3)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_xlabel(kind)
    ax.set_title(f"{name}: {count} of {X.shape[1]} features")
panels[0, 0].invert_yaxis()
figure.supxlabel("means ± standard deviations of five folds", fontsize="medium")

# The values add up to HSIC from kernel matrices.
X, y, _ = problems["diabetes"]
result = pkex.HSICSelector(2, estimator="biased").fit(X, y).result_
targets = y[:, None] / result.target_kernel.length_scale
centered = np.eye(len(y)) - 1.0 / len(y)
matrices = result.kernel(X), rbf_kernel(targets, gamma=0.5)
output = np.trace(matrices[0] @ centered @ matrices[1] @ centered) / (len(y) - 1) ** 2
error = abs(result.values.sum() - output)
print(f"\nlargest |base + Σφ - output|: {error:.1e} (outputs up to {output:.3g})")

figure.savefig(PICTURE)
print(f"picture: {PICTURE}")
