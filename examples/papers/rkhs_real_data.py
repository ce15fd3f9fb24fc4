"""Observational Shapley values of two data sets: diabetes and breast tumors.

Appendix E of Chau et al. (2022, RKHS-SHAP): the experiments that need no download. Kernel ridge
regressions predict the progression of diabetes, with a Gaussian kernel and with Matérn's kernel of
ν = ½, which is not a product over columns and takes the estimator of appendix C.3. Kernel logistic
regression classifies breast tumors by 30 columns. They have 2³⁰ coalitions, so their values are
estimated from a sample, with standard errors. Each explained row is left out of the background.
Needs pkex[demo].

    python examples/papers/rkhs_real_data.py           few columns and rows of diabetes, 20 s
    python examples/papers/rkhs_real_data.py --full    all columns of diabetes, 1 min
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import pkex
from pkex.models import ShapleyRegularizedClassifier

GAME = pkex.Observational(leave_one_out=True)
# The estimator of appendix C.3, which takes kernels that are not products, and little time.
GAME_OF_ROWS = pkex.Observational(embedding="rows", normalize=False, leave_one_out=True)


def seconds(call):
    """Return the result of a call and its time."""
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def check(explanation, output):
    """Print the error of the sum of the values."""
    error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - output).max()
    print(f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(output).max():.3g})")


def ridge(kernels, X, y):
    """Return a kernel ridge regression with cross-validated settings."""
    settings = {"kernel": kernels, "alpha": [0.01, 0.1, 1.0]}
    found = GridSearchCV(KernelRidge(), settings, cv=5).fit(X, y - y.mean())
    print(f"{found.best_params_['kernel']}: R² {found.best_score_:.2f}, cross-validated")
    return found.best_estimator_


def of_diabetes(X, y, n_rows):
    """Return the mean |value| of each column by the kernel's name."""
    lengths = [2.0, 4.0, 8.0, 16.0]
    some = X.iloc[:: len(X) // n_rows][:n_rows]
    cases = {
        "Gaussian": ([RBF(length) for length in lengths], GAME, some),
        "Matérn, ν = ½": ([Matern(length, nu=0.5) for length in lengths], GAME_OF_ROWS, X),
    }
    sizes = {}
    for name, (candidates, game, rows) in cases.items():
        model = ridge(candidates, X, y)
        explainer = pkex.Explainer(model, X, value_function=game)
        explanation, took = seconds(lambda explainer=explainer, rows=rows: explainer(rows))
        check(explanation, model.predict(rows))
        print(f"  {name}: {len(rows)} rows, 2^{X.shape[1]} coalitions, {took:.1f} s")
        sizes[name] = explanation.importance()
    return sizes


def of_tumors(X, y, n_coalitions):
    """Return estimated values of the log-odds for every row."""
    model = ShapleyRegularizedClassifier(alpha=0.1).fit(X, y)
    explainer = pkex.Explainer(model, X, value_function=GAME)
    estimate, took = seconds(
        lambda: explainer.estimate(X, n_coalitions=n_coalitions, random_state=run.seed)
    )
    check(estimate, model.decision_function(X))
    n, d = X.shape
    print(f"tumors: {n} rows of {d} columns, {n_coalitions} coalitions, {took:.1f} s")
    print(estimate)
    return estimate


def draw_bars(axes, names, sizes, title):
    """Draw bars for each kernel, sorted by size."""
    order = np.argsort(-np.mean(list(sizes.values()), axis=0))
    for place, (label, own) in enumerate(sizes.items()):
        shift = (place - (len(sizes) - 1) / 2.0) * 0.4
        axes.barh(np.arange(len(order)) + shift, own[order], height=0.4, label=label)
    axes.set(yticks=np.arange(len(order)), yticklabels=[names[j] for j in order], title=title)
    axes.set_xlabel("mean |Shapley value|, progression")
    axes.invert_yaxis()
    axes.legend()


run = Experiment(__doc__)
full = run.full

scaler = StandardScaler().set_output(transform="pandas")
X, y = load_diabetes(return_X_y=True, as_frame=True)
if not full:
    X, y = X[["bmi", "bp", "s3", "s5"]][:80], y[:80]
columns = list(X.columns)
sizes = of_diabetes(scaler.fit_transform(X), y, 12 if full else 10)
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = scaler.fit_transform(X)
estimate = of_tumors(X, y, 1000)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.4))
draw_bars(left, columns, sizes, "Diabetes: predicted progression")
largest = np.argsort(-estimate.importance())[:8]
errors = estimate.standard_errors.mean(axis=0)[largest]
names = [estimate.feature_names[j] for j in largest]
right.barh(names, estimate.importance()[largest], xerr=errors, ecolor="0.3", capsize=2.5)
right.set(title="Tumors: log-odds, estimated", xlabel="mean |Shapley value|, log-odds")
right.invert_yaxis()


def leading(names, sizes, count):
    """Return the names of the largest values."""
    return ", ".join(names[j] for j in np.argsort(-sizes)[:count])


numbers = {
    "gaussian": leading(columns, sizes["Gaussian"], 3),
    "matern": leading(columns, sizes["Matérn, ν = ½"], 3),
    "tumors": leading(estimate.feature_names, estimate.importance(), 3),
}
run.save(figure, numbers)
