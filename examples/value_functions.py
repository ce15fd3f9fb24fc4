"""Compare value functions: do they agree on the most important features?

Four models are explained with three value functions: marginal with the model's stored points (the
default), neutral (of the PKeX-Shapley paper), and interventional with a sample of the data, which
shap estimates. The script prints the mean rank correlation with the interventional values. The
picture shows explanations of one diabetes patient with these and with the observational value
function, in which absent features depend on the present ones. Their most important features are
printed as well. Needs pkex[demo]; saves value_functions.png in the working directory.

    python examples/value_functions.py
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex

plt.style.use("pkex.results.figures")


def main() -> None:
    print(f"{'':<36}{'default':>9}{'neutral':>9}")
    for name, model, X, y in problems():
        default, neutral = agreement(model.fit(X, y), X)
        print(f"{name:<36}{default:9.2f}{neutral:9.2f}")
    draw_a_patient()


def problems() -> list[tuple[str, BaseEstimator, np.ndarray, np.ndarray]]:
    """Return names, models and the data to fit them to."""
    patients, tumours = load_diabetes(), load_breast_cancer()
    few, more = make_friedman1(300, random_state=0), make_friedman1(200, random_state=1)
    kernel = ConstantKernel(100.0) * RBF(np.full(10, 1.5)) + WhiteKernel(1.0)
    process = GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None)
    return [
        ("SVR, diabetes", SVR(C=100.0), scaled(patients.data), patients.target),
        ("SVC, breast cancer", SVC(), scaled(tumours.data), tumours.target),
        ("KernelRidge, Friedman", KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1), *few),
        ("GaussianProcessRegressor, Friedman", process, *more),
    ]


def scaled(data: np.ndarray) -> np.ndarray:
    return StandardScaler().fit_transform(data)


def agreement(model: BaseEstimator, X: np.ndarray) -> tuple[float, float]:
    """Return the rank correlations of default and of neutral values with interventional ones."""
    rows = X[::5]
    sample = X[np.random.default_rng(0).choice(len(X), 100, replace=False)]
    interventional = pkex.Explainer(model, sample).shap_values(rows)
    default = pkex.Explainer(model).shap_values(rows)
    neutral = pkex.Explainer(model, value_function="neutral").shap_values(rows)
    return rank_correlation(default, interventional), rank_correlation(neutral, interventional)


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean over rows of Spearman's rank correlation."""
    ranks = [values.argsort(axis=1).argsort(axis=1) for values in (first, second)]
    return float(np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(*ranks, strict=True)]))


def draw_a_patient() -> None:
    """Draw the values of the first diabetes patient for the four value functions."""
    patients = load_diabetes()
    X = scaled(patients.data)
    model = SVR(C=100.0).fit(X, patients.target)
    explainers = [
        pkex.Explainer(model),
        pkex.Explainer(model, background=X[1:101]),
        pkex.Explainer(model, background=X[1:101], value_function="observational"),
        pkex.Explainer(model, value_function="neutral"),
    ]
    outputs = model.predict(X)
    # All panels have the order of the default values.
    order = np.argsort(np.abs(explainers[0](X[:1]).values[0]))
    names = [patients.feature_names[j] for j in order]
    _, axes = plt.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True)
    for explainer, ax in zip(explainers, axes.flat, strict=True):
        explanation = explainer(X)
        error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - outputs).max()
        print(f"{explainer.value_function}")
        print(f"  largest |base + Σφ - output|: {error:.1e} (outputs up to {outputs.max():.3g})")
        values = explanation.values[0, order]
        ax.barh(names, values, color=np.where(values < 0.0, "C0", "C1"))
        ax.axvline(0.0, color="black", linewidth=0.8)
        base = explainer.expected_value
        ax.set_title(f"{explainer.value_function}: {base:.0f} + values = {outputs[0]:.0f}")
        if explainer.value_function == "observational":
            # Rows of the background have most of their own weight.
            sizes = np.abs(explanation[101:].values).mean(axis=0)
            first = [patients.feature_names[j] for j in sizes.argsort()[:-4:-1]]
            print(f"  most important for all other patients: {', '.join(first)}")
    for ax in axes[1]:
        ax.set_xlabel("Shapley value of the predicted progression")
    plt.savefig("value_functions.png")
    print("picture: value_functions.png")


if __name__ == "__main__":
    main()
