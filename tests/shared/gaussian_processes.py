"""Gaussian processes over columns of all scales, and their values by brute force."""

import numpy as np
from brute_force import coalitions, shapley_weights, weighted_games
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Exponentiation,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)

D = 5
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, D)) + 20.0  # far from the origin, compared with its spread
Z[40:50] = Z[:10]  # repeated rows
SCALES = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
X = Z * SCALES
Y = np.sin(Z - 20.0).sum(axis=1) + 0.1 * RNG.normal(size=60)
TWO = np.where(Y > 0.0, "yes", "no")
THREE = np.digitize(Y, [-0.7, 0.7])
# New rows, and one that is a training row.
ROWS = np.concatenate([X[:2] + 0.3 * SCALES, X[7:8]])

ARD = SCALES * np.array([0.5, 1.0, 2.0, 4.0, 8.0])
WIDER = SCALES * np.array([3.0, 2.0, 5.0, 1.0, 2.0])
NOISE = WhiteKernel(0.1)
SINGLE = [[j] for j in range(D)]

KERNELS = {
    "ard": RBF(ARD),
    "the usual": ConstantKernel(2.0) * RBF(ARD) + NOISE,
    "sum": ConstantKernel(2.0) * RBF(ARD) + RBF(WIDER) * ConstantKernel(0.1) + NOISE,
    "product": RBF(ARD) * RBF(WIDER) * ConstantKernel(1e-3) + WhiteKernel(1e-3),
    "constant": RBF(ARD) + ConstantKernel(4.0) + NOISE,
    "constant of zero": RBF(ARD) + ConstantKernel(0.0) * RBF(WIDER) + NOISE,
    "noise in a product": (RBF(ARD) + NOISE) * (RBF(WIDER) + WhiteKernel(0.5)),
    "noise alone in a product": RBF(ARD) + NOISE * RBF(WIDER),
    "noise in a power": (ConstantKernel(0.5) * RBF(ARD) + ConstantKernel(0.2) + NOISE) ** 3,
    "power of a sum": (RBF(ARD) + ConstantKernel(0.3) * RBF(WIDER)) ** 2 + NOISE,
    "power of a power": ((RBF(ARD) + ConstantKernel(0.5)) ** 2) ** 2 + NOISE,
    "root of a product": (ConstantKernel(2.0) * RBF(ARD) * RBF(WIDER) ** 2) ** 0.5 + NOISE,
    "power of zero": RBF(ARD) + (RBF(ARD) + NOISE) ** 0 + NOISE,
    "matern": ConstantKernel(2.0) * Matern(ARD, nu=2.5) + NOISE,
    "rough matern": Matern(WIDER, nu=0.5) + NOISE,
    "product of materns": Matern(ARD, nu=4.0) * Matern(WIDER, nu=2.5) * RBF(ARD) + NOISE,
    "power of a matern": (Matern(WIDER, nu=7.5) + ConstantKernel(0.1)) ** 2 + NOISE,
    "rational quadratic": ConstantKernel(2.0) * RationalQuadratic(3e5, 0.4) + NOISE,
    "root of a rational quadratic": RationalQuadratic(1e6, 3.0) ** 0.5 * RBF(ARD) + NOISE,
    "constant and noise": ConstantKernel(3.0) + NOISE,
    "noise": NOISE,
    "noise in all products": NOISE * RBF(ARD) + NOISE**2,
}


def on_columns(kernel, members):
    """The kernel of some columns alone: length-scales of the others are left out."""
    if isinstance(kernel, RBF):  # and so Matern
        scales = np.broadcast_to(kernel.length_scale, D)[members]
        options = {"nu": kernel.nu} if isinstance(kernel, Matern) else {}
        return type(kernel)(scales, **options) if members else ConstantKernel(1.0)
    if isinstance(kernel, RationalQuadratic):
        return kernel if members else ConstantKernel(1.0)
    if isinstance(kernel, Exponentiation):
        return Exponentiation(on_columns(kernel.kernel, members), kernel.exponent)
    if isinstance(kernel, (Sum, Product)):
        return type(kernel)(on_columns(kernel.k1, members), on_columns(kernel.k2, members))
    return kernel


def brute_force(kernel, row, points, coefficients):
    """Neutral game of Σ_i coefficients_i · kernel(row, points_i), by scikit-learn's own kernel."""
    games = np.empty((2**D, len(points)))
    for number, members in enumerate(coalitions(D)):
        games[number] = on_columns(kernel, members)(row[None, members], points[:, members])[0]
    reference = weighted_games(games, coefficients, shapley_weights(D))
    return reference, games[0] @ coefficients


def total(explanation):
    return explanation.values.sum(axis=1) + explanation.base_values


def fitted(kernel, target=Y, **options):
    with np.errstate(divide="ignore"):  # the logarithm of a constant of 0
        return GaussianProcessRegressor(kernel, optimizer=None, **options).fit(X, target)


def classifier(kernel=None, **options):
    kernel = ConstantKernel(4.0) * RBF(ARD) + NOISE if kernel is None else kernel
    return GaussianProcessClassifier(kernel, optimizer=None, **options)


def composites(row, background, weights, groups=SINGLE):
    """Rows that combine entries, and the map (players, rows) from outputs there to values."""
    of_coalitions = shapley_weights(len(groups))
    rows, maps = [], []
    for number, players in enumerate(coalitions(len(groups))):
        mixed = background.copy()
        columns = [j for player in players for j in groups[player]]
        mixed[:, columns] = row[columns]
        rows.append(mixed)
        maps.append(of_coalitions[:, [number]] * weights)
    return np.concatenate(rows), np.concatenate(maps, axis=1)


def independent(background, weights):
    """All rows that combine entries of the background's columns, and their weights."""
    chosen = np.indices((len(background),) * D).reshape(D, -1)
    rows = np.stack([background[chosen[j], j] for j in range(D)], axis=1)
    return rows, weights[chosen].prod(axis=0)


def latent_covariance(model, rows):
    """The covariance of the function at rows, through predict, less the noise at each of them."""
    noise = model.kernel_.diag(ROWS)[0] - model.kernel_(ROWS, ROWS.copy())[0, 0]
    covariance = model.predict(rows, return_cov=True)[1]
    scale = np.atleast_1d(model._y_train_std**2)
    each = np.reshape(covariance, (len(rows), len(rows), -1))
    return each - noise * np.eye(len(rows))[..., None] * scale
