"""Feature selection by HSIC for Gaussian processes.

Table 1 (section 5.3) of the PKeX-Shapley paper. Each method ranks the features of nine tenths of
the rows. A Gaussian process with the RBF kernel is fitted to the best fifth of the features and
scored in five folds: accuracy for classes, mean absolute percentage error for numbers. Features are
not scaled, as in the authors' code. Wisconsin is scikit-learn's breast cancer data. The other
columns of the table need their data sets: --data is a folder with sonar.csv, ionosphere.csv,
breast_cancer.csv, skillcraft.csv, sml.csv or parkinson.csv, each with a header and with the target
as its last column. Means replace missing values. Needs pkex[demo] and pkex[pandas]; saves
pkex_feature_selection.json and pkex_feature_selection.png.

    python examples/papers/pkex_feature_selection.py               Wisconsin, 5 s
    python examples/papers/pkex_feature_selection.py --data DATA   with the other data sets
"""

import math
from warnings import simplefilter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiment import Experiment
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import (
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LassoCV, lars_path_gram
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, cross_val_score, train_test_split
from sklearn.preprocessing import scale

import pkex

CLASSES = ["wisconsin", "sonar", "ionosphere"]
NAMES = [*CLASSES, "breast_cancer", "skillcraft", "sml", "parkinson"]
SPLIT_SEED = 42  # of the authors' code


def hsic(X, y, is_class, seed):
    """Return Shapley values of HSIC: the neutral value function and one length-scale."""
    return pkex.hsic(
        X,
        y,
        kernel=pkex.kernels.median_heuristic(X, standardize=False),
        target_kernel=pkex.kernels.Categorical() if is_class else None,
        estimator="biased",
        value_function="neutral",
    ).values


def hsic_lasso(X, y, is_class, seed):
    """Return importances by the order in which features enter the path of the HSIC Lasso."""

    def normalized(kernel):
        centered = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
        return centered.ravel() / max(np.linalg.norm(centered), 1e-12)

    kernels = np.array(
        [normalized(rbf_kernel(column[:, None], gamma=0.5)) for column in scale(X).T]
    )
    target = (
        (y[:, None] == y).astype(float) if is_class else rbf_kernel(scale(y)[:, None], gamma=0.5)
    )
    _, entered, _ = lars_path_gram(
        Xy=kernels @ normalized(target), Gram=kernels @ kernels.T, n_samples=1,
        method="lasso", positive=True,
    )  # fmt: skip
    importances = np.zeros(X.shape[1])
    importances[entered] = np.arange(len(entered), 0, -1)
    return importances


def mutual_information(X, y, is_class, seed):
    return (mutual_info_classif if is_class else mutual_info_regression)(X, y, random_state=seed)


def lasso(X, y, is_class, seed):
    return np.abs(LassoCV(random_state=seed).fit(scale(X), y).coef_)


def k_best(X, y, is_class, seed):
    return (f_classif if is_class else f_regression)(X, y)[0]


def trees(X, y, is_class, seed):
    forest = (ExtraTreesClassifier if is_class else ExtraTreesRegressor)(50, random_state=seed)
    forest.fit(X, y)
    return permutation_importance(forest, X, y, n_repeats=5, random_state=seed).importances_mean


METHODS = {
    "PKeX-Shapley": hsic,
    "HSIC Lasso": hsic_lasso,
    "mutual information": mutual_information,
    "Lasso": lasso,
    "K-best": k_best,
    "trees": trees,
}


def data_sets(folder):
    """Yield the name, the features and the target of each data set that is there."""
    files = {name: folder / f"{name}.csv" for name in NAMES[1:]} if folder else {}
    if folder and not any(file.exists() for file in files.values()):
        raise FileNotFoundError(
            f"{folder} has none of " + ", ".join(f.name for f in files.values())
        )
    X, y = load_breast_cancer(return_X_y=True)
    yield "wisconsin", X, y.astype(float)
    for name, file in files.items():
        if file.exists():
            table = pd.read_csv(file)
            columns, target = table.iloc[:, :-1], table.iloc[:, -1]
            y = pd.factorize(target)[0] if name in CLASSES else target
            X = columns.fillna(columns.mean()).to_numpy(dtype=float)
            yield name, X, np.asarray(y, dtype=float)


experiment = Experiment(__doc__, full=False, data="CSV files of the table's other data sets")
simplefilter("ignore", ConvergenceWarning)  # settings at the bounds of their ranges
covariance = ConstantKernel(1.0, (1e-4, 1e1)) * RBF(1.0, (1e-4, 10.0))
numbers, results = {}, {}
for name, X, y in data_sets(experiment.data):
    is_class = name in CLASSES
    score = "accuracy" if is_class else "neg_mean_absolute_percentage_error"
    process = (GaussianProcessClassifier if is_class else GaussianProcessRegressor)(covariance)
    count = math.ceil(X.shape[1] / 5)
    print(f"\n{name}: {count} of {X.shape[1]} features, {len(X)} rows, {score}")
    ranked, _, ranked_y, _ = train_test_split(X, y, test_size=0.1, random_state=SPLIT_SEED)
    folds = KFold(5, shuffle=True, random_state=SPLIT_SEED)
    for method, importances in METHODS.items():
        best = np.argsort(-importances(ranked, ranked_y, is_class, experiment.seed))[:count]
        scores = np.abs(cross_val_score(process, X[:, best], y, cv=folds, scoring=score))
        results.setdefault(name, {})[method] = scores.mean(), scores.std()
        key = f"{name}_{method}".lower().replace(" ", "_").replace("-", "_")
        numbers |= {key: scores.mean(), f"{key}_deviation": scores.std()}
        print(f"  {method:<20}{scores.mean():.3f} ± {scores.std():.3f}", flush=True)

figure, axes = plt.subplots(1, len(results), figsize=(min(8.0, 2.0 + 3.0 * len(results)), 3.2),
                            sharey=True, squeeze=False)  # fmt: skip
for ax, (name, of_methods) in zip(axes[0], results.items(), strict=True):
    for place, (mean, deviation) in enumerate(of_methods.values()):
        color = "C0" if place == 0 else "C6"
        ax.errorbar(mean, place, xerr=deviation, fmt="o", color=color, capsize=3)
    ax.set_title(f"Table 1: {name}" if len(results) == 1 else name)
    ax.set_xlabel("accuracy" if name in CLASSES else "percentage error")
axes[0, 0].set_yticks(range(len(METHODS)), list(METHODS))
axes[0, 0].invert_yaxis()
experiment.save(figure, numbers)
