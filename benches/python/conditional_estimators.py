"""Accuracy of estimators of observational values on the banana data of RKHS-SHAP.

R² of the values by each estimator of `pkex.Observational`, compared with the true ones; and errors
of v(S) with landmarks and with random Fourier features, compared with all rows. Then times on the
diabetes data. In about twenty minutes:

    python benches/python/conditional_estimators.py
"""

import time
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import pkex
from pkex.games.landmarks import Features

VARIANCE, ROWS, DRAWS, NUMBERS = 10.0, 1000, 5, (10, 20, 50, 100)


def banana(b, n, rng):
    """Draw rows, with the outputs of f = (X₁² − 10) / b + X₂."""
    x1, noise = rng.normal(size=(2, n)) * [[VARIANCE**0.5], [1.0]]
    bent = (x1**2 - VARIANCE) / b
    return np.column_stack([x1, bent + noise]), 2.0 * bent + noise


def true_values(rows, b):
    """Return the values by E[f | X₁] = 2 g and E[f | X₂] = X₂ + E[g | X₂], g = (X₁² − 10) / b."""
    z = np.linspace(-8.0, 8.0, 4001) * VARIANCE**0.5
    bent = (z**2 - VARIANCE) / b
    likely = norm.pdf(z, scale=VARIANCE**0.5) * norm.pdf(rows[:, 1:] - bent)
    first = 2.0 * (rows[:, 0] ** 2 - VARIANCE) / b
    second = rows[:, 1] + likely @ bent / likely.sum(axis=1)
    whole = first / 2.0 + rows[:, 1]
    return np.column_stack([whole + first - second, whole + second - first]) / 2.0


def fitted(rows, y):
    settings = {"gamma": [0.003, 0.01, 0.03, 0.1], "alpha": [1e-4, 1e-3, 1e-2]}
    return GridSearchCV(KernelRidge(kernel="rbf"), settings, cv=3).fit(rows, y).best_estimator_


def compare_estimators(b):
    """Print R² by each estimator, for three samples."""
    found = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, y = banana(b, ROWS, rng)
        model, explained = fitted(rows, y), banana(b, 300, rng)[0]
        for embedding in ("absent", "rows"):
            for normalize in (True, False):
                game = pkex.Observational(normalize=normalize, embedding=embedding)
                values = pkex.Explainer(model, rows, value_function=game).shap_values(explained)
                score = r2_score(true_values(explained, b), values)
                found.setdefault(f"{embedding}, normalize={normalize}", []).append(score)
    for name, scores in found.items():
        print(f"b = {b:g}, {name}: R²", *(f"{score:.4f}" for score in scores))


def means(model, rows, explained, column, features, eta=1e-3):
    """Return v of one column, by features whose inner products approximate the kernel."""
    known, other = features(rows[:, column]), features(explained[:, column])
    gram = known @ known.T / len(rows) + eta * np.eye(len(known))
    weights = np.linalg.solve(gram, other).T @ known / len(rows)
    weights += (1.0 - weights.sum(axis=1, keepdims=True)) / len(rows)
    mixed = np.repeat(rows[None], len(explained), axis=0)
    mixed[:, :, column] = explained[:, None, column]
    outputs = model.predict(mixed.reshape(-1, 2)).reshape(weights.shape)
    return (weights * outputs).sum(axis=1)


def compare_features(b):
    """Print the error of v(S) by landmarks and by as many Fourier features."""
    rng = np.random.default_rng(0)
    rows, y = banana(b, ROWS, rng)
    model, explained = fitted(rows, y), banana(b, 50, rng)[0]
    chosen = pkex.Explainer(model, rows, value_function="observational").conditioning.kernel
    scales = np.array(chosen.length_scale)

    def landmarks(column, number, random):
        centers = rows[random.permutation(ROWS)[:number], column]

        def kernel(values):
            return np.exp(-0.5 * ((centers[:, None] - values) / scales[column]) ** 2)

        nystrom = Features(np.asfortranarray(kernel(centers)))
        return lambda values: nystrom.of(kernel(values))

    def fourier(column, number, random):
        rates = random.normal(size=number // 2) / scales[column]

        def features(values):
            angles = rates[:, None] * values
            return np.concatenate([np.cos(angles), np.sin(angles)]) * (2.0 / number) ** 0.5

        return features

    def of_columns(approximate, number, seed):
        random = np.random.default_rng(seed)
        each = (approximate(column, number, random) for column in (0, 1))
        return np.array([means(model, rows, explained, j, f) for j, f in enumerate(each)])

    whole = of_columns(landmarks, ROWS, 0)
    for number in NUMBERS:
        for approximate in (landmarks, fourier):
            found = [of_columns(approximate, number, seed) for seed in range(DRAWS)]
            errors = [np.sqrt(np.mean((values - whole) ** 2)) / whole.std() for values in found]
            print(f"b = {b:g}, {number} {approximate.__name__}: error {np.mean(errors):.2g}")


def compare_times():
    """Print the times of values for Matérn's kernel, and of uncertainty for a Gaussian one."""
    data, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(data)
    ridge = KernelRidge(kernel=Matern(3.0, nu=0.5), alpha=0.1).fit(X, y - y.mean())
    process = GaussianProcessRegressor(RBF(3.0), alpha=0.1, optimizer=None, normalize_y=True)
    process.fit(X, y)
    for embedding, n_rows in (("rows", len(X)), ("absent", 2)):
        game = pkex.Observational(embedding=embedding)
        explainer = pkex.Explainer(ridge, X, value_function=game)
        start = time.perf_counter()
        explainer.shap_values(X[:n_rows])
        print(f"{embedding}: {n_rows} rows in {time.perf_counter() - start:.1f} s")
        explainer = pkex.Explainer(process, X[:100], value_function=game)
        start = time.perf_counter()
        explainer(X[100:105], uncertainty=True)
        print(f"{embedding}: uncertainty in {(time.perf_counter() - start) / 5:.2f} s per row")


warnings.simplefilter("ignore")  # rows of the background are explained in part
for b in (1.0, 10.0, 50.0):
    compare_estimators(b)
    compare_features(b)
compare_times()
