"""Tanimoto's kernel: an integral of products, and a closed form for bits, against brute force."""

import itertools
import re
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import pkex
from pkex.kernels import RBF, Tanimoto
from pkex.kernels.tanimoto import _exponentials

D = 5
RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, size=(12, D)).astype(float)
COUNTS = RNG.integers(0, 5, size=(12, D)).astype(float)
BITS[3] = COUNTS[3] = 0.0
ALPHAS = RNG.normal(size=12)
ROWS = np.concatenate([BITS[:2], COUNTS[4:6], np.zeros((1, D)), np.full((1, D), 40.0)])


def quotient(x, y):
    shared = sum(a * b for a, b in zip(x, y, strict=True))
    either = sum(a * a + b * b - a * b for a, b in zip(x, y, strict=True))
    return Fraction(int(shared), int(either)) if either else Fraction(0)


def shapley(worth):
    values = np.zeros(D)
    for j in range(D):
        others = [other for other in range(D) if other != j]
        for size in range(D):
            for members in itertools.combinations(others, size):
                gain = worth(tuple(sorted((*members, j)))) - worth(members)
                values[j] += gain / (D * comb(D - 1, size))
    return values


@pytest.mark.parametrize("points", [BITS, COUNTS], ids=["bits", "counts"])
def test_the_kernel_is_the_quotient(points):
    expected = [[float(quotient(x, y)) for y in points] for x in ROWS]
    np.testing.assert_allclose(Tanimoto()(ROWS, points), expected, rtol=1e-14)
    f = pkex.KernelExpansion(points, np.eye(12), Tanimoto())
    np.testing.assert_allclose(f.predict(ROWS), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Tanimoto(), 3.0 * Tanimoto()], ids=str)
@pytest.mark.parametrize("points", [BITS, COUNTS], ids=["bits", "counts"])
def test_neutral_values_equal_brute_force(points, kernel):
    f = pkex.KernelExpansion(points, np.column_stack([ALPHAS, -ALPHAS]), kernel, [0.5, 0.0])
    explanation = pkex.Explainer(f, value_function="neutral")(ROWS)
    for row, values in zip(ROWS, explanation.values, strict=True):

        def worth(members, row=row):
            own = list(members)
            return float(
                sum(a * quotient(row[own], y[own]) for a, y in zip(ALPHAS, points, strict=True))
            )

        expected = shapley(worth) * kernel(ROWS[:1], ROWS[:1])[0, 0]
        np.testing.assert_allclose(values[:, 0], expected, atol=1e-12)
        np.testing.assert_allclose(values[:, 1], -expected, atol=1e-12)
    np.testing.assert_array_equal(explanation.base_values, [[0.5, 0.0]] * len(ROWS))


@pytest.mark.parametrize("kernel", [Tanimoto(), Tanimoto() * RBF(2.0) + Tanimoto().on([0, 2])])
@pytest.mark.parametrize("points", [BITS, COUNTS], ids=["bits", "counts"])
def test_interventional_values_equal_brute_force(points, kernel):
    f, background = pkex.KernelExpansion(points, ALPHAS, kernel), COUNTS[6:9]
    explanation = pkex.Explainer(f, background)(ROWS)
    for row, values in zip(ROWS, explanation.values, strict=True):

        def worth(members, row=row):
            rows = background.copy()
            rows[:, list(members)] = row[list(members)]
            return (kernel(rows, points) @ ALPHAS).mean()

        np.testing.assert_allclose(values, shapley(worth), atol=1e-12)


@pytest.mark.parametrize("points", [BITS, COUNTS], ids=["bits", "counts"])
def test_marginal_values_equal_brute_force_over_independent_columns(points):
    f, background = pkex.KernelExpansion(points, ALPHAS, Tanimoto()), COUNTS[6:8]
    explanation = pkex.Explainer(f, background, value_function="marginal")(ROWS[:3])
    draws = [list(drawn) for drawn in itertools.product(range(2), repeat=D)]
    for row, values in zip(ROWS, explanation.values, strict=False):

        def worth(members, row=row):
            rows = np.array([background[drawn, range(D)] for drawn in draws])
            rows[:, list(members)] = row[list(members)]
            return (Tanimoto()(rows, points) @ ALPHAS).mean()

        np.testing.assert_allclose(values, shapley(worth), atol=1e-12)


def test_bits_of_the_result_do_not_depend_on_which_rows_are_explained_together():
    f = pkex.KernelExpansion(BITS, ALPHAS, Tanimoto())
    for options in ({}, {"value_function": "neutral"}):
        explainer = pkex.Explainer(f, **options)
        alone = [explainer.shap_values(row[None]) for row in ROWS]
        np.testing.assert_array_equal(explainer.shap_values(ROWS), np.concatenate(alone))


def test_the_closed_form_reports_its_progress_and_names_values_out_of_range():
    reports = []
    f = pkex.KernelExpansion(BITS, ALPHAS, Tanimoto())
    pkex.Explainer(f, value_function="neutral")(
        ROWS, progress=lambda done, total: reports.append(done / total)
    )
    assert len(reports) > 3
    assert reports == sorted(reports)
    assert reports[-1] == 1.0
    rows = np.outer([1.0, 0.0, 1.0, 0.0], np.eye(D)[0])
    huge = pkex.KernelExpansion(rows, 1.7e308 * np.array([1.0, -1.0, 1.0, -1.0]), Tanimoto())
    with pytest.raises(OverflowError, match="row 0"):
        pkex.Explainer(huge, value_function="neutral").shap_values(np.eye(D)[:1])


def test_groups_are_valued_as_bits_are_without_the_closed_form():
    f = pkex.KernelExpansion(BITS, ALPHAS, Tanimoto())
    values = pkex.Explainer(f, value_function="neutral").shap_values(ROWS)
    grouped = pkex.Explainer(f, value_function="neutral", groups={"a": [0]})
    np.testing.assert_allclose(grouped.shap_values(ROWS), values, atol=1e-13)
    pair = pkex.Explainer(f, value_function="neutral", groups={"a": [0, 1]}).shap_values(ROWS)
    np.testing.assert_allclose(pair.sum(axis=1), values.sum(axis=1), atol=1e-13)


@pytest.mark.parametrize("octaves", [1, 3, 7, 11, 16, 30])
def test_reciprocals_are_exact_to_thirteen_digits(octaves):
    rates, weights = _exponentials(octaves)
    counts = np.unique(np.round(np.geomspace(1.0, 2.0**octaves, 2000)))
    np.testing.assert_allclose(
        np.exp(-np.outer(counts, rates)) @ weights, 1.0 / counts, rtol=1.1e-13
    )


def test_large_counts_keep_their_digits():
    points = np.array([[1e12, 0.0, 5e11], [2.5e11, 1e12, 1e12]])
    row = np.array([[1e12, 5e11, 0.0]])
    f = pkex.KernelExpansion(points, [1.0, 1.0], Tanimoto())
    values = pkex.Explainer(f, value_function="neutral").shap_values(row)
    expected = sum(float(quotient(row[0], y)) for y in points)
    np.testing.assert_allclose(values.sum(), expected, rtol=1e-12)


def test_mmd_is_that_of_the_kernel():
    first, second = BITS, RNG.integers(0, 2, size=(9, D)).astype(float)
    found = pkex.mmd(first, second, kernel=Tanimoto(), estimator="biased")
    k = Tanimoto()
    expected = k(first).mean() + k(second).mean() - 2.0 * k(first, second).mean()
    assert found.statistic == pytest.approx(expected, abs=1e-13)
    assert found.values.sum() == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("entry", [-1.0, 0.5, 1e13])
def test_entries_that_are_no_counts_are_named(entry):
    wrong = BITS.copy()
    wrong[2, 3] = entry
    message = (
        "has the value "
        + re.escape(f"{entry:g}")
        + " in row 2, column 3, but the Tanimoto kernel requires counts"
    )
    with pytest.raises(ValueError, match=f"^points {message}"):
        pkex.KernelExpansion(wrong, ALPHAS, Tanimoto())
    f = pkex.KernelExpansion(BITS, ALPHAS, Tanimoto())
    with pytest.raises(ValueError, match=f"^X {message}"):
        f.predict(wrong)
    with pytest.raises(ValueError, match=f"^X {message}"):
        pkex.Explainer(f, value_function="neutral")(wrong)
    with pytest.raises(ValueError, match=f"^background {message}"):
        pkex.Explainer(f, wrong)(BITS)
