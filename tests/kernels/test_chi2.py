"""The χ² kernel: values against scikit-learn, brute force and extended precision; bad input."""

import itertools

import mpmath
import numpy as np
import pytest
from brute_force import neutral
from sklearn.metrics.pairwise import chi2_kernel

import pkex
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import RBF, Chi2

D = 5


@pytest.fixture
def counts(rng):
    """Rows of counts, many of them 0."""
    return rng.poisson(1.5, size=(40, D)).astype(float)


def test_the_kernel_is_that_of_scikit_learn(counts):
    X, Y = counts[:15], counts[15:] * 0.37
    for gamma in (1.0, 0.2, 30.0):
        np.testing.assert_allclose(
            Chi2(gamma)(X, Y), chi2_kernel(X, Y, gamma=gamma), rtol=1e-12, atol=1e-300
        )
    coefficients = np.cos(np.arange(25.0))
    expansion = pkex.KernelExpansion(Y, coefficients, Chi2(0.3), 2.0)
    own = chi2_kernel(X, Y, gamma=0.3) @ coefficients + 2.0
    np.testing.assert_allclose(expansion.predict(X), own, rtol=1e-12)


def test_neutral_values_equal_brute_force_with_scikit_learns_kernel(counts, rng):
    points, coefficients = counts[:20], rng.normal(size=20)
    expansion = pkex.KernelExpansion(points, coefficients, Chi2(0.4))
    explainer = pkex.Explainer(expansion, value_function="neutral")
    for row, found in zip(counts[26:29], explainer.shap_values(counts[26:29]), strict=True):
        neutral(lambda A, B: chi2_kernel(A, B, gamma=0.4), row, points, coefficients).assert_close(
            found
        )


def exact_factor(gamma, x, y):
    x, y = mpmath.mpf(x), mpmath.mpf(y)
    return mpmath.exp(-gamma * (x - y) ** 2 / (x + y)) if x + y else mpmath.mpf(1)


@pytest.mark.parametrize("y", [0.0, 1e-9, 0.7, 3.0, 1e6])
@pytest.mark.parametrize(
    ("x", "z"),
    [
        (1.0, 1.0 + 1e-13),
        (3.0, 3.0 - 4e-16),
        (0.0, 1e-12),
        (1e-300, 0.0),
        (1e6, 1e6 + 1e-9),
        (2.0, 5.0),
        (1e308, 1.7e308),
        (40.0, 0.0),
    ],
)
def test_one_factor_against_another_keeps_its_digits(x, z, y):
    gamma = 0.6
    with mpmath.workdps(60):
        expected = exact_factor(gamma, x, y) - exact_factor(gamma, z, y)
    expansion = pkex.KernelExpansion([[y]], [1.0], Chi2(gamma))
    value = float(pkex.Explainer(expansion, [[z]]).shap_values([[x]])[0, 0])
    assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-290)


def test_factors_near_1_keep_all_digits():
    for x, y in [(1.0, 1.0 + 1e-9), (1e-30, 0.0), (5e-324, 0.0), (1e9, 1e9 + 1.0)]:
        with mpmath.workdps(60):
            expected = exact_factor(0.5, x, y) - 1
        expansion = pkex.KernelExpansion([[y]], [1.0], Chi2(0.5))
        explainer = pkex.Explainer(expansion, value_function="neutral")
        value = float(explainer.shap_values([[x]])[0, 0])
        assert value == pytest.approx(float(expected), rel=1e-14, abs=1e-320)


def test_statistics_take_the_kernel(counts, rng):
    X, Y = counts[:20], counts[20:] + 1.0
    for convention in ("neutral", "marginal"):
        result = pkex.mmd(X, Y, kernel=Chi2(0.3), estimator="biased", value_function=convention)
        means = [chi2_kernel(A, B, gamma=0.3).mean() for A, B in ((X, X), (X, Y), (Y, Y))]
        assert result.statistic == pytest.approx(means[0] - 2.0 * means[1] + means[2], rel=1e-12)
        assert result.values.sum() == pytest.approx(result.statistic, rel=1e-12)
    y = X[:, 0] + X[:, 1]
    result = pkex.hsic(X, y, kernel=Chi2(0.3), target_kernel=Chi2(0.1), value_function="neutral")
    centre = np.eye(20) - 0.05
    K, L = chi2_kernel(X, gamma=0.3), chi2_kernel(y[:, None], gamma=0.1)
    assert result.statistic == pytest.approx(np.trace(K @ centre @ L @ centre) / 19**2, rel=1e-11)
    drift = pkex.MMDDrift(X, kernel=Chi2(0.3))
    assert drift.predict(Y).statistic == pytest.approx(
        pkex.mmd(X, Y, kernel=Chi2(0.3)).statistic, rel=1e-12
    )


def test_values_of_mmd_equal_brute_force(counts):
    X, Y = counts[:6], counts[6:13] + 1.0

    def statistic(columns):
        columns = list(columns)
        if not columns:
            return 0.0
        A, B = X[:, columns], Y[:, columns]
        within = [chi2_kernel(C, gamma=0.3).mean() for C in (A, B)]
        return sum(within) - 2.0 * chi2_kernel(A, B, gamma=0.3).mean()

    values = np.zeros(D)
    for order in itertools.permutations(range(D)):
        for place, column in enumerate(order):
            values[column] += statistic(order[: place + 1]) - statistic(order[:place])
    found = pkex.mmd(X, Y, kernel=Chi2(0.3), estimator="biased", value_function="neutral")
    np.testing.assert_allclose(found.values, values / 120.0, rtol=0, atol=1e-13)


# --- bad input ---


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "1", None, [1.0]])
def test_gamma_must_be_positive_and_finite(gamma):
    with pytest.raises(ValueError, match="gamma must be a positive and finite number"):
        Chi2(gamma)


def negative(rows):
    rows = rows.copy()
    rows[2, 3] = -0.5
    return rows


def test_negative_entries_are_refused_with_their_place_and_the_remedy(counts):
    bad = negative(counts)
    expansion = pkex.KernelExpansion(counts, np.ones(40), Chi2())
    explainer = pkex.Explainer(expansion)
    y = np.arange(40.0)
    calls = {
        "points": lambda: pkex.KernelExpansion(bad, y, Chi2()),
        "background": lambda: pkex.Explainer(expansion, bad),
        "X": lambda: explainer(bad),
        "X ": lambda: explainer.shap_values(bad),
        "X  ": lambda: explainer.interactions(bad),
        "X   ": lambda: expansion.predict(bad),
        "X    ": lambda: pkex.mmd(bad, counts, kernel=Chi2()),
        "Y": lambda: pkex.mmd(counts, bad, kernel=Chi2(), weights=None),
        "X     ": lambda: pkex.hsic(bad, y, kernel=Chi2()),
        "X_reference": lambda: pkex.MMDDrift(bad, kernel=Chi2()),
        "X      ": lambda: pkex.MMDDrift(counts, kernel=Chi2()).predict(bad),
        "Y ": lambda: pkex.witness(counts, bad, kernel=Chi2()),
        "X       ": lambda: Chi2()(bad),
        "Y  ": lambda: Chi2()(counts, bad),
    }
    for name, call in calls.items():
        message = rf"^{name.strip()} has the value -0.5 in row 2, column 3, .*at least 0$"
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"^y has the value -1 in row 0, column 0"):
        pkex.hsic(counts, y - 1.0, target_kernel=Chi2())


def test_columns_of_other_kernels_may_be_negative(counts):
    bad = negative(counts)
    kernel = Chi2().on([0, 1]) * RBF().on([2, 3, 4])
    expansion = pkex.KernelExpansion(bad, np.ones(40), kernel)
    assert pkex.Explainer(expansion, bad).shap_values(bad).shape == (40, D)


def test_probing_rows_are_not_negative(counts):
    function = KernelSum(counts[:, :2] * [1.0, 1e3], np.ones(40), Chi2().on([1]))
    assert function.probing_rows()[:, 1].min() >= 0.0
