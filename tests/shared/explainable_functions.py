"""Kernels and functions that are explained, one of every kind, with data to explain."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

import pkex
from pkex.functions.column_maps import Selection
from pkex.functions.composite import Combination, Stack
from pkex.functions.exponential import Exponential
from pkex.functions.gaussian_process.kriging import KrigingVariance
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.functions.polynomials import quadratic_form
from pkex.functions.product_sum import ProductSum
from pkex.functions.sparse_kernel_sum import SparseKernelSum
from pkex.functions.transformed import Transformed
from pkex.kernels import (
    ANOVA,
    RBF,
    Additive,
    Categorical,
    Cauchy,
    Chi2,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
    Tanimoto,
)

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, D))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
TWO = Y > 0.0
THREE = np.digitize(Y, [-0.5, 0.5])
TARGETS = np.column_stack([Y, Y**2])
ROWS = RNG.normal(size=(3, D))
Z = RNG.normal(size=(7, D))
WEIGHTS = np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1e-9, 4.0])


# name: kernel of D columns
KERNELS = {
    "RBF": RBF([0.3, 1.0, 2.0, 4.0, 1e4]),
    "Laplacian": Laplacian(1.5),
    "Cauchy": Cauchy(0.7),
    "Chi2": Chi2(0.4),
    "ProductMatern 3/2": ProductMatern([0.3, 1.0, 2.0, 4.0, 1e4]),
    "ProductMatern 5/2": ProductMatern(1.5, nu=2.5),
    "Matern 5/2": Matern([0.3, 1.0, 2.0, 4.0, 1e4], nu=2.5),
    "Matern 3/2": Matern(1.5),
    "Matern 1/2": Matern(1.5, nu=0.5),
    "Matern of any order": Matern(0.7, nu=3.3),
    "RationalQuadratic": RationalQuadratic([0.3, 1.0, 2.0, 4.0, 1e4], alpha=0.3),
    "Periodic": Periodic([0.5, 1.0, 2.0, 0.9, 1e3], [3.0, 1.7, 0.8, 20.0, 7.0]),
    "Categorical": Categorical(0.25),
    "Constant": Constant(),
    "scaled": 3.0 * RBF(2.0),
    "product": RBF(2.0) * Laplacian(3.0) * Chi2(0.2),
    "product of others": Periodic(2.0, 1.7) * ProductMatern(2.0) * Cauchy(3.0) * RBF(5.0),
    "product with a mixture": Matern(2.0, nu=2.5).on([0, 3]) * Laplacian(3.0),
    "sum": RBF() * Cauchy().on([1]) + 3.0 * Laplacian(2.0) + 2.0 * Constant(),
    "on columns": RBF().on([4, 0, 2]),
    "on other columns": RBF().on([0, 1]) * Categorical(0.3).on([3, 4]) * Chi2().on([1]),
    "Tanimoto": Tanimoto(),
    "Tanimoto and others": 2.0 * Tanimoto().on([0, 3, 4]) * RBF(3.0) + Tanimoto(),
    "Linear": Linear([0.3, 1.0, 2.0, 4.0, 0.1], offset=0.5),
    "Polynomial": Polynomial(3, gamma=0.2, coef0=0.7),
    "polynomial of products": 2.0 * Linear(0.5).on([0, 3]) * Linear().on([0, 3]) * RBF(2.0),
    "polynomial and others": Polynomial(4, 0.1, -0.3) * Laplacian(3.0).on([0, 1]) + Cauchy(),
    "Additive": Additive(RBF([0.3, 1.0, 2.0, 4.0, 1e4]), 3, [0.5, 0.0, 2.0]),
    "ANOVA": ANOVA(Linear(0.5), order=3, variance=0.7),
    "additive and others": ANOVA(Chi2() * Linear()) * Cauchy(3.0) + Additive(RBF().on([0, 2]), 1),
}

# Multiples of 1/2 and none below 0: equal ones for Categorical, counts for Chi2.
POINTS, COUNTS, COUNTED = (np.abs(np.round(2.0 * rows)) / 2.0 for rows in (X[:20], ROWS, Z))
ALPHAS = np.cos(np.arange(20.0))
# What entries are multiplied by for kernels that take whole numbers only.
UNITS = {"Tanimoto": 2.0, "Tanimoto and others": 2.0}


@dataclass(frozen=True)
class Formula:
    """The function Σ_i α_i k(x, x_i) + b, or one made of such, by kernels' own evaluation."""

    output: Callable[[np.ndarray], np.ndarray]
    worth: Callable[[np.ndarray, list[int]], np.ndarray]


def kept(kernel, members, n_columns):
    """The terms of a kernel, whose series are without absent columns."""
    for term in kernel.terms(n_columns):
        if term.series is None:
            yield term
        else:
            factors = [factor_of(factor, members) for factor in term.series.factors]
            yield replace(term, series=replace(term.series, factors=tuple(factors)))


def factor_of(factor, members):
    chosen = np.isin(factor.columns, members)
    return replace(factor, columns=factor.columns[chosen], parameters=factor.parameters[chosen])


def of_kernel(kernel, points=POINTS, intercept=0.5):
    """An expansion and its reference. Columns that are absent are 0, and so at no distance."""

    def worth(x, members):
        # At the same place, columns have a factor of 1; dot products, and additive kernels, have
        # none of them.
        row, others = np.zeros((1, len(x))), np.zeros_like(points)
        row[:, members], others[:, members] = x[members], points[:, members]
        values = sum(term.evaluated(row, others) for term in kept(kernel, members, len(x)))
        return values[0] @ ALPHAS + intercept

    reference = Formula(lambda rows: kernel(rows, points) @ ALPHAS + intercept, worth)
    return KernelSum(points, ALPHAS, kernel, intercept), reference


def at_sparse_points(kernel):
    """The same for points that are kept sparse."""
    dense, reference = of_kernel(kernel)
    return SparseKernelSum(sparse.csr_array(POINTS), ALPHAS, kernel, dense.intercept), reference


def linear(coefficients, intercept):
    """A linear function and its reference. A column that is absent contributes 0."""

    def worth(x, members):
        present = np.zeros(len(x))
        present[members] = x[members]
        return present @ coefficients + intercept

    reference = Formula(lambda rows: rows @ coefficients + intercept, worth)
    return LinearFunction(coefficients, intercept), reference


def quadratic(coefficients, centre, scale):
    """A quadratic form and its reference. A column that is absent is at the centre."""

    def output(rows):
        scaled = (rows - centre) / scale
        return np.einsum("ij,jk,ik->i", scaled, np.triu(coefficients), scaled)

    def worth(x, members):
        row = np.array(centre)
        row[members] = x[members]
        return output(row[None])[0]

    function = quadratic_form(coefficients, center=centre, scale=scale, points=POINTS)
    return function, Formula(output, worth)


def combination(parts, weights, intercept):
    functions, references = zip(*parts, strict=True)

    def added(values):
        return sum(w * value for w, value in zip(weights, values, strict=True)) + intercept

    reference = Formula(
        lambda rows: added([part.output(rows) for part in references]),
        lambda x, members: added([part.worth(x, members) for part in references]),
    )
    return Combination(functions, weights, intercept), reference


def stack(parts):
    functions, references = zip(*parts, strict=True)
    reference = Formula(
        lambda rows: np.stack([part.output(rows) for part in references], axis=-1),
        lambda x, members: np.stack([part.worth(x, members) for part in references]),
    )
    return Stack(functions), reference


def variance(kernel, scales, kind=None):
    """A variance and its reference. Columns that are absent are at no distance.

    The kind may be that of inducing points, or of kriging, around a constant that is estimated.
    """
    covariance = kernel(POINTS, POINTS) + 0.1 * np.eye(len(POINTS))
    factor = np.linalg.cholesky(covariance)
    middle = np.eye(len(POINTS)) - 0.1 * np.cos(np.subtract.outer(*[np.arange(len(POINTS))] * 2))
    inverse = np.linalg.inv(factor)
    known = inverse.T @ (middle if kind == "inducing" else np.eye(len(POINTS))) @ inverse
    noise = 0.0 if kind == "kriging" else 0.2

    def left(prior, cross):
        found = prior + noise - np.sum(cross * (cross @ known), axis=1)
        if kind == "kriging":
            found += (1.0 - cross @ known.sum(axis=1)) ** 2 / known.sum()
        return np.multiply.outer(found, scales)

    def output(rows):
        return left(
            np.array([kernel(row[None], row[None])[0, 0] for row in rows]), kernel(rows, POINTS)
        )

    def worth(x, members):
        row, others = np.zeros((1, len(x))), np.zeros_like(POINTS)
        row[:, members], others[:, members] = x[members], POINTS[:, members]
        return left(kernel(row, row)[0], kernel(row, others))[0]

    options = {"middle": middle} if kind == "inducing" else {}
    function = (
        KrigingVariance.of(POINTS, factor, kernel, scales)
        if kind == "kriging"
        else PosteriorVariance(POINTS, factor, kernel, scales=scales, noise=noise, **options)
    )
    return function, Formula(output, worth)


def transformed(sources, part):
    function, of_made = part
    reference = Formula(
        lambda rows: of_made.output(rows[:, sources]),
        lambda x, members: of_made.worth(
            x[sources], [j for j, source in enumerate(sources) if source in members]
        ),
    )
    return Transformed(Selection(D, sources), function), reference


def linked(parts, outputs):
    """A function of others' outputs side by side, and its reference."""
    functions, references = zip(*parts, strict=True)

    def of(values):
        found = outputs.of_rows(np.concatenate(values, axis=1))
        return found if outputs.has_axis else found[:, 0]

    reference = Formula(
        lambda rows: of([np.reshape(part.output(rows), (len(rows), -1)) for part in references]),
        lambda x, members: of([np.reshape(part.worth(x, members), (1, -1)) for part in references])[
            0
        ],
    )
    return Linked(functions, outputs), reference


def exponential(part):
    """The exponential of a function, and its reference."""
    function, log = part
    reference = Formula(
        lambda rows: np.exp(log.output(rows)), lambda x, members: np.exp(log.worth(x, members))
    )
    return Exponential(function), reference


def product_sum(factors, coefficients, intercept):
    """A sum of products and its reference. The factor of a column that is absent is 1."""

    def output(rows, members=range(D)):
        values = [
            np.prod([g(rows[:, j]) for j, g in own.items() if j in members] or [1.0], axis=0)
            for own in factors
        ]
        return intercept + sum(
            np.multiply.outer(v * np.ones(len(rows)), c)
            for v, c in zip(values, coefficients, strict=True)
        )

    function = ProductSum(factors, coefficients, intercept)
    return function, Formula(output, lambda x, members: output(x[None], members)[0])


def step(column):
    return np.where(column > 0.5, 2.0, 0.0)


def shares(values):
    """Shares of the exponentials of outputs."""
    exponentials = np.exp(0.3 * values)
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def bump(values):
    return np.exp(-0.1 * values**2)


WIDE, NARROW = of_kernel(RBF(3.0)), of_kernel(Laplacian(0.8), intercept=-2.0)
LINEAR = linear(np.array([2.0, -0.5, 0.0, 1e-3, 4.0]), 0.5)
OF_THREE = of_kernel(Cauchy([1.0, 2.0, 3.0]), points=POINTS[:, :3])

# name: (function of D columns, its reference)
FUNCTIONS = {
    "KernelSum": WIDE,
    "SparseKernelSum": at_sparse_points(2.0 * RBF(3.0) * Laplacian(2.0).on([4, 0])),
    "SparseKernelSum of several terms": at_sparse_points(
        Matern(2.0, nu=1.5) + 0.5 * Laplacian(2.0).on([4, 0]) + Linear(0.3)
    ),
    "SparseKernelSum of powers": at_sparse_points(Polynomial(3, gamma=0.2, coef0=0.7)),
    "LinearFunction": LINEAR,
    "LinearFunction of two": linear(np.arange(10.0).reshape(5, 2), np.array([1.0, -1.0])),
    "Combination": combination([WIDE, NARROW], [2.0, -0.5], 7.0),
    "Stack": stack([WIDE, combination([NARROW], [3.0], 0.0)]),
    "quadratic form": quadratic(
        np.sin(np.arange(25.0)).reshape(5, 5), np.arange(5.0), np.array([1.0, 10.0, 0.1, 3.0, 2.0])
    ),
    "Transformed": transformed([4, 0, 4], OF_THREE),
    "PosteriorVariance": variance(2.0 * RBF(2.0) * Laplacian(3.0) + 0.3 * Constant(), 1.5),
    "PosteriorVariance of two": variance(
        Matern(2.0, nu=2.5).on([0, 3]) * Chi2(0.2) + RBF().on([0, 2]), np.array([2.0, 1e-3])
    ),
    "PosteriorVariance of inducing points": variance(1.5 * RBF(2.0), 3.0, "inducing"),
    "KrigingVariance": variance(2.0 * RBF(2.0) * Laplacian(3.0), np.array(1.5), "kriging"),
    "combination of stacks": combination([stack([WIDE, NARROW]), stack([NARROW, WIDE])], [1, 2], 1),
    "stack of transformed": stack([WIDE, transformed([3, 1, 0], OF_THREE)]),
    "Linked": linked([WIDE, stack([NARROW, WIDE])], LinkedOutputs(shares, 3)),
    "combination of linked": combination(
        [linked([WIDE], LinkedOutputs(bump, 1, has_axis=False)), NARROW], [2.0, 0.5], 1.0
    ),
    "linked of transformed": linked(
        [transformed([4, 0, 4], OF_THREE)], LinkedOutputs(bump, 1, has_axis=False)
    ),
    "transformed linked": transformed(
        [4, 0, 4], linked([OF_THREE], LinkedOutputs(bump, 1, has_axis=False))
    ),
    "Exponential": exponential(LINEAR),
    "Exponential of transformed": exponential(
        transformed([3, 1, 3], linear(np.array([1.0, 0.3, -0.5]), -1.0))
    ),
    "Exponential of a kernel": exponential(NARROW),
    "ProductSum": product_sum([{0: np.exp, 2: np.sin, 3: step, 4: np.cosh}], [-2.0], 3.0),
    "ProductSum of two": product_sum(
        [{0: np.exp, 2: np.sin}, {4: np.cos}, {0: step, 1: np.square, 2: np.tanh}],
        np.array([[1.0, 0.0], [0.5, -2.0], [3.0, 1e-3]]),
        np.array([0.0, 7.0]),
    ),
    "combination with linear": combination(
        [WIDE, LINEAR, transformed([3, 1], linear(np.array([1.0, 3.0]), -1.0))], [1.0, 0.5, 2.0], 0
    ),
}


class Explained:
    """A model that is a function of pkex."""

    def __init__(self, function, output):
        self.function, self.output = function, output

    def predict(self, rows):
        return self.output(rows)


@pkex.adapters.register(Explained)
def _(model):
    return pkex.adapters.AdaptedModel(model.function, method="predict", predict=model.predict)
