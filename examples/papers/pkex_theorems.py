"""Theorems and algorithms of the PKeX-Shapley paper, checked by brute force.

Sections 3 and 4 and appendices B to F. The statements about a prediction, about MMD and about HSIC
are compared with sums over all coalitions of eight features. Algorithms 1 (Newton's identities) and
2 (elementary symmetric polynomials, scaled) are written out here, with the errata corrected. The
picture shows how far each leaves the exact values of `pkex.product_game` as the number of features
grows. Saves pkex_theorems.json and pkex_theorems.png.

    python examples/papers/pkex_theorems.py          up to 100 features, 3 s
    python examples/papers/pkex_theorems.py --full   up to 1,000 features, 30 s
"""

from itertools import combinations
from math import comb

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import pkex

N, D, GAMMA = 40, 8, 0.1
COALITIONS = [list(S) for size in range(D + 1) for S in combinations(range(D), size)]


def shapley(values):
    """Return the Shapley values of a game, by v(S) in the order of COALITIONS: equation (1)."""
    value = dict(zip(map(tuple, COALITIONS), values, strict=True))
    phi = np.zeros(D)
    for S in map(tuple, COALITIONS):
        for j in set(range(D)) - set(S):
            marginal = value[tuple(sorted((*S, j)))] - value[S]
            phi[j] += marginal / (D * comb(D - 1, len(S)))
    return phi


def gram(a, b, columns):
    """Return the product of the base kernels of these columns; the product of none is 1."""
    if not columns:
        return np.ones((len(a), len(b)))
    return rbf_kernel(a[:, columns], b[:, columns], gamma=GAMMA)


def component(a, b, columns):
    """Return the product of k_j − 1, the kernel of one term of a decomposition."""
    if not columns:
        return np.ones((len(a), len(b)))
    return np.prod([gram(a, b, [j]) - 1.0 for j in columns], axis=0)


def error(found, expected):
    """Return the largest difference, relative to the largest value."""
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def prediction_errors(rng):
    """Return errors of the statements about f(x) = Σ_i α_i k(x, x_i)."""
    X, x = rng.normal(size=(N, D)), rng.normal(size=(1, D))
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=0.1).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    alpha = model.dual_coef_
    single = np.column_stack([gram(X, x, [j])[:, 0] for j in range(D)])
    components = {
        tuple(S): alpha @ np.prod(single[:, S] - 1.0, axis=1) for S in COALITIONS
    }  # Theorem 1
    values = np.array([alpha @ gram(X, x, S)[:, 0] for S in COALITIONS])  # Definition 2
    sums = [sum(components[T] for T in components if set(T) <= set(S)) for S in COALITIONS]
    explainer = pkex.Explainer(model, value_function="neutral")
    explanation = explainer(x)
    phi, base = explanation.values[0], explanation.base_values[0]
    # The components of one and two features, as Möbius coefficients.
    pairs = explainer.interactions(x, index="Moebius", order=2)
    expected = [components[i, j] for i, j in combinations(range(D), 2)]
    # Proposition 11 sets v(∅) = 0 and adds αᵀ1 / d to each value.
    without_base = np.where([not S for S in COALITIONS], 0.0, values)
    return {
        "theorem_1": error(
            [*(pairs.of(i, j)[0] for i, j in combinations(range(D), 2)), values[-1]],
            np.array([*expected, model.predict(x)[0]]),
        ),
        "theorem_10": error(np.prod(single, axis=1), sum(
            np.prod(single[:, S] - 1.0, axis=1) for S in COALITIONS
        )),
        "proposition_3": error(np.array(sums), values),
        "theorem_4": error(phi, shapley(values)),
        "lemma_5": error(phi.sum() + alpha.sum(), model.predict(x)),
        "proposition_11": error(phi + base / D, shapley(without_base)),
    }  # fmt: skip


def mmd_errors(rng):
    """Return errors of the statements about the unbiased MMD²."""
    x, z = rng.normal(size=(N, D)), rng.normal(0.3, size=(N - 5, D))

    def mmd(kernel, S):
        matrices = [kernel(rows, rows, S) for rows in (x, z)]
        within = [(m.sum() - np.trace(m)) / (len(m) * (len(m) - 1)) for m in matrices]
        return sum(within) - 2.0 * kernel(x, z, S).mean()

    values = [mmd(gram, S) for S in COALITIONS]
    kernel = pkex.kernels.RBF((0.5 / GAMMA) ** 0.5)
    result = pkex.mmd(x, z, kernel=kernel, value_function="neutral")
    return {
        "theorem_6": error(result.statistic, sum(mmd(component, S) for S in COALITIONS)),
        "proposition_7": error(result.values, shapley(values)),
        "lemma_12": error(result.values.sum(), values[-1]),
    }


def hsic_errors(rng):
    """Return errors of the statements about HSIC, for numbers and for classes."""
    x, y = rng.normal(size=(N, D)), rng.normal(size=(N, D))
    y[:, 0] += x[:, 0] * x[:, 1]
    classes = (y[:, 0] > 0.0).astype(float)
    kernel = pkex.kernels.RBF((0.5 / GAMMA) ** 0.5)
    centered = np.eye(N) - 1.0 / N

    def values(first, second, kernel=gram):
        """Return HSIC for each coalition of the columns of `first`."""
        weights = centered @ second @ centered / (N - 1) ** 2
        return np.array([np.sum(weights * kernel(first, first, S)) for S in COALITIONS])

    whole = gram(y, y, range(D))
    equal = (classes[:, None] == classes).astype(float)
    settings = {"kernel": kernel, "value_function": "neutral", "estimator": "biased"}
    of_numbers = pkex.hsic(x, y, target_kernel=kernel, **settings)
    of_classes = pkex.hsic(x, classes, target_kernel=pkex.kernels.Categorical(), **settings)
    of_targets = pkex.hsic(x, y, target_kernel=kernel, attribute="y", **settings)
    return {
        "theorem_8": error(of_numbers.statistic, values(x, whole, component).sum()),
        "proposition_9": max(
            error(of_numbers.values, shapley(values(x, whole))),
            error(of_classes.values, shapley(values(x, equal))),
        ),
        "lemma_13": error(of_numbers.values.sum(), values(x, whole)[-1]),
        "appendix_f": error(of_targets.values, shapley(values(y, gram(x, x, range(D))))),
    }


def weighted(polynomials):
    """Return Σ_q μ(q) e_q for polynomials (d, n)."""
    d = len(polynomials)
    return sum(e / (d * comb(d - 1, q)) for q, e in enumerate(polynomials))


def newton(z):
    """Return Shapley values of factors z (n, d) by Algorithm 1, with (−1)^(r−1) in line 9."""
    phi = []
    for j in range(z.shape[1]):
        others = np.delete(z, j, axis=1)
        powers = [(others**r).sum(axis=1) for r in range(z.shape[1])]
        e = [np.ones(len(z))]
        for q in range(1, z.shape[1]):
            terms = ((-1.0) ** (r - 1) * e[q - r] * powers[r] for r in range(1, q + 1))
            e.append(sum(terms) / q)
        phi.append((z[:, j] - 1.0) @ weighted(e))
    return np.array(phi)


def scaled(z):
    """Return Shapley values of factors z (n, d) by Algorithm 2."""
    phi = []
    for j in range(z.shape[1]):
        others = np.delete(z, j, axis=1)
        scale = others.max() or 1.0
        coefficients = np.ones((1, len(z)))
        for factor in others.T / scale:
            grown = np.zeros((len(coefficients) + 1, len(z)))
            grown[:-1] -= factor * coefficients
            grown[1:] += coefficients
            coefficients = grown
        signs = (-1.0) ** np.arange(len(coefficients))[:, None]
        powers = scale ** np.arange(len(coefficients))[:, None]
        phi.append((z[:, j] - 1.0) @ weighted(signs * coefficients[::-1] * powers))
    return np.array(phi)


def algorithm_errors(sizes, rng):
    """Return errors of both algorithms, and of pkex's recursion, for each number of features."""
    errors = {"Algorithm 1": [], "Algorithm 2": [], "pkex, recursion": []}
    for d in sizes:
        z = np.exp(-(rng.normal(size=(20, d)) ** 2) / d)
        exact = pkex.product_game(z)
        with np.errstate(over="ignore", invalid="ignore"):
            errors["Algorithm 1"].append(error(newton(z), exact) if d <= 100 else np.nan)
        errors["Algorithm 2"].append(error(scaled(z), exact))
        errors["pkex, recursion"].append(error(pkex.product_game(z, method="recursion"), exact))
    return errors


experiment = Experiment(__doc__)
rng = np.random.default_rng(experiment.seed)
numbers = prediction_errors(rng) | mmd_errors(rng) | hsic_errors(rng)
print(f"relative errors, {D} features, all {2**D} coalitions:")
for name, size in numbers.items():
    print(f"  {name:<16}{size:.1e}")

sizes = [5, 10, 20, 30, 40, 50, 70, 100] + [200, 400, 1000] * experiment.full
errors = algorithm_errors(sizes, rng)
print("relative errors of the algorithms" + "".join(f"{d:>9}" for d in sizes))
for name, of_sizes in errors.items():
    print(f"  {name:<31}" + "".join(f"{size:9.0e}" for size in of_sizes))
for d in (20, 50, 100):
    for number in (1, 2):
        numbers[f"algorithm_{number}_d{d}"] = errors[f"Algorithm {number}"][sizes.index(d)]

figure, ax = plt.subplots(figsize=(6.5, 4.0))
for (name, of_sizes), marker in zip(errors.items(), "so^", strict=True):
    ax.loglog(sizes, of_sizes, marker=marker, label=name)
ax.axhline(1.0, color="gray", linewidth=0.8)
ax.set_xlabel("number of features d")
ax.set_ylabel("largest error, relative to the largest value")
ax.set_title("Algorithms of the paper, compared with pkex's quadrature")
ax.legend()
experiment.save(figure, numbers)
