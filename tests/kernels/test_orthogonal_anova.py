"""The orthogonal ANOVA kernel: its definition, its games by brute force, and what it refuses."""

import pickle

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights
from brute_force_statistics import CenteredProduct, attributed, hsic_statistic, mmd_statistic

import pkex
from pkex.compare.permutation.significance import PermutedValues, Significance
from pkex.kernels import RBF, OrthogonalANOVA
from pkex.kernels.kernel_dicts import kernel_from_dict, kernel_to_dict

N, M = 60, 40
REFERENCE = CenteredProduct((0, 1), (2,))


@pytest.fixture
def samples(rng):
    """Two samples of two columns of numbers, one with ties and an outlier, and one of codes."""
    x, y = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
    y[:, 1] *= 1.4
    x[:, 0], y[:, 0] = x[:, 0].round(), y[:, 0].round()
    x[3, 0] = 1e4
    x[:, 2], y[:, 2] = rng.integers(0, 3, N), rng.integers(0, 4, M)
    return x, y


@pytest.fixture
def kernel(samples):
    return OrthogonalANOVA.fit(*samples, categorical=[2])


def test_it_is_its_definition_with_mean_factors_and_mean_diagonals_of_one(samples, kernel):
    pooled = np.concatenate(samples)
    np.testing.assert_allclose(kernel(pooled), REFERENCE(pooled), rtol=0, atol=1e-13)
    for j, column in enumerate(kernel.columns):
        centered = column.evaluate(pooled[:, j], pooled[:, j])
        assert abs(centered.mean(axis=1)).max() < 1e-14
        assert np.diag(centered).mean() == pytest.approx(1.0, abs=1e-14)
    assert OrthogonalANOVA.fit(pooled[::-1], categorical=[2]) == kernel


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [None, {"pair": [0, 2]}])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_mmd_by_default_equals_brute_force(rng, samples, estimator, groups, weighted):
    weights = (rng.random(N), rng.random(M)) if weighted else None
    players = [0, 1, 2] if groups is None else [0, 1, 0]
    statistic = mmd_statistic(N, estimator, weights)
    values, alone, whole = attributed(statistic, REFERENCE, np.concatenate(samples), players)
    options = {"estimator": estimator, "groups": groups, "weights": weights, "categorical": [2]}
    for convention in ("marginal", "neutral"):
        found = pkex.mmd(*samples, value_function=convention, **options)
        np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-14)
        assert found.statistic == pytest.approx(whole, abs=1e-14)


@pytest.mark.parametrize("players", [[0, 1, 2], [0, 1, 0]], ids=["single", "grouped"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_a_detector_by_default_equals_brute_force(samples, estimator, players):
    kernel = CenteredProduct((0, 1), (2,), N)
    statistic = mmd_statistic(N, estimator)
    values, alone, whole = attributed(statistic, kernel, np.concatenate(samples), players)
    groups = {"pair": [0, 2]} if max(players) == 1 else None
    options = {"estimator": estimator, "groups": groups, "categorical": [2]}
    for convention in ("marginal", "neutral"):
        drift = pkex.MMDDrift(samples[0], value_function=convention, **options)
        found = drift.predict(samples[1])
        np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-13)
        assert found.statistic == pytest.approx(whole, abs=1e-13)


def test_detectors_of_many_columns_and_few_rows_do_not_find_too_much():
    found = 0
    for seed in range(60):
        x, y = np.random.default_rng(seed).normal(size=(2, 20, 50))
        drift = pkex.MMDDrift(x, n_permutations=19, random_state=seed)
        found += drift.predict(y).statistic_pvalue <= 0.05
    # Three standard errors above 3 of 60 are 8.1; means that count own pairs find 20.
    assert found <= 8


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_hsic_by_default_equals_brute_force(rng, samples, estimator):
    x = samples[0]
    target = pkex.hsic(x, x[:, 1]).target_kernel
    statistic = hsic_statistic(target(x[:, [1]]), estimator)
    values, alone, whole = attributed(statistic, REFERENCE, x, [0, 1, 2])
    found = pkex.hsic(x, x[:, 1], estimator=estimator, categorical=[2])
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-14)
    assert found.statistic == pytest.approx(whole, abs=1e-14)
    assert found.alone_r2[1] > 0.5 > found.alone_r2[0]


def test_unbiased_hsic_keeps_its_digits_beside_an_unusual_row(rng):
    # Its pair with itself has the kernel 1e13, and no part in the estimate.
    x = rng.normal(size=(40, 100))
    y = x[:, 0] + rng.normal(size=40)
    x[0] = 1e6
    found = pkex.hsic(x, y, estimator="unbiased")
    kernels = found.kernel(x), found.target_kernel(y[:, None])
    expected = (u_centered(kernels[0]) * u_centered(kernels[1])).sum() / (40 * 37)
    assert found.statistic == pytest.approx(expected, rel=1e-11)
    assert 0.0 < found.standard_errors.max() < 0.1
    assert 0.0 < found.r2 < 1.0
    of_target = pkex.hsic(x, y, attribute="y", estimator="unbiased")
    assert of_target.statistic == pytest.approx(expected, rel=1e-11)


def u_centered(kernel):
    """A matrix centered off its diagonal, which is 0 (Székely and Rizzo 2014)."""
    n = len(kernel)
    own = kernel - np.diag(np.diag(kernel))
    rows, total = own.sum(axis=0), own.sum()
    centered = own - (rows[:, None] + rows) / (n - 2) + total / ((n - 1) * (n - 2))
    return centered - np.diag(np.diag(centered))


def test_standard_errors_do_not_depend_on_pairs_of_rows_with_themselves(rng):
    # Columns that are nearly always 0: γ(a, a) of the row that is not overflows when squared.
    x, y = np.zeros((2, 500, 150))
    for rows in (x, y):
        rows[rng.integers(0, 500, 150), np.arange(150)] = 1.0 + rng.random(150)
    x[7] = 1.5
    found, moved = pkex.mmd(x, y), pkex.mmd(np.roll(x, -8, axis=0), y)
    np.testing.assert_allclose(found.standard_errors, moved.standard_errors, rtol=1e-9)


def test_what_a_column_shows_alone_depends_on_it_alone_but_for_the_number_of_columns(rng, samples):
    x, y = samples
    options = {"n_permutations": 99, "random_state": 0, "categorical": [2]}
    few = pkex.mmd(x, y, **options)
    many = pkex.mmd(np.c_[x, rng.normal(size=N)], np.c_[y, rng.normal(size=M)], **options)
    np.testing.assert_array_equal(few.alone_pvalues, many.alone_pvalues[:3])
    np.testing.assert_allclose(np.sqrt(3 / 4) * few.alone, many.alone[:3], rtol=1e-12)


@pytest.mark.parametrize("background", [None, "rows"])
def test_explanations_of_the_witness_equal_brute_force(samples, background):
    x, y = samples
    pooled, signs = np.concatenate(samples), np.repeat([1 / N, -1 / M], [N, M])
    witness = pickle.loads(pickle.dumps(pkex.witness(x, y)))
    kernel = witness.kernel
    np.testing.assert_allclose(witness.predict(x), kernel(x, pooled) @ signs, rtol=0, atol=1e-14)
    rows, d = y[:3], 3
    others = None if background is None else x[:7]
    explained = pkex.Explainer(witness, others)(rows)
    for row, values in zip(rows, explained.values, strict=True):
        games = []
        for members in coalitions(d):
            present = np.isin(np.arange(d), members)
            if others is None:
                # A column that is absent has the mean factor 1.
                factors = [
                    1.0 + kernel.share * column.evaluate(row[[j]], pooled[:, j])[0]
                    for j, column in enumerate(kernel.columns)
                    if present[j]
                ]
                games.append(np.prod([np.ones(N + M), *factors], axis=0) @ signs)
            else:
                games.append((kernel(np.where(present, row, others), pooled) @ signs).mean())
        expected = shapley_weights(d) @ np.array(games)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)
    neutral = pkex.Explainer(witness, value_function="neutral")(rows)
    if others is None:
        np.testing.assert_allclose(explained.values, neutral.values, rtol=0, atol=1e-14)
    assert np.isfinite(pkex.Explainer(witness).interactions(rows).values).all()


def test_many_rare_categories_at_once_keep_all_digits(rng):
    # Factors of up to 21 multiply: 12 columns leave the range in which rules see them from t = 0.
    rows = np.where(rng.random((200, 12)) < 0.02, 1.0, 0.0) + np.where(
        np.arange(200)[:, None] < 4, 1, 0
    )
    rows[-1] = 0.0
    kernel = OrthogonalANOVA.fit(rows, categorical=range(12))
    f = pkex.KernelExpansion(rows, rng.normal(size=200), kernel)
    explained = pkex.Explainer(f, value_function="neutral")(rows[:8])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, f.predict(rows[:8]), rtol=1e-11)
    by_recursion = pkex.Explainer(f, value_function="neutral", method="recursion")(rows[:8])
    np.testing.assert_allclose(explained.values, by_recursion.values, rtol=1e-10)


def test_it_is_written_down_and_read_with_equal_bits(samples, kernel):
    again = kernel_from_dict(kernel_to_dict(kernel))
    assert again == kernel
    np.testing.assert_array_equal(again(samples[0]), kernel(samples[0]))


def test_changes_of_spread_of_a_rare_level_and_of_dependence_are_found(rng):
    def sample(n=300):
        numbers, codes = rng.normal(size=(n, 4)), rng.choice(3, (n, 2), p=[0.5, 0.3, 0.2])
        return np.c_[numbers, codes]

    def spread(rows):
        rows[:, 0] *= 1.6

    def new_level(rows):
        rows[rng.random(len(rows)) < 0.08, 4] = 9

    def dependence(rows):
        rows[:, 1] = 0.7 * rows[:, 0] + 0.7 * rows[:, 1]

    for change, named in ((spread, {0}), (new_level, {4}), (dependence, {0, 1})):
        x, y = sample(), sample()
        change(y)
        options = {"n_permutations": 199, "random_state": 0, "categorical": [4, 5]}
        result = pkex.mmd(x, y, **options)
        assert result.pvalue <= 0.05, change
        strongest = set(np.argsort(-result.values)[: len(named)].tolist())
        assert strongest == named, change


def test_the_pvalue_is_the_rank_of_the_smaller_of_both_among_those_of_all_permutations(rng):
    n_features, n_drawn = 4, 39
    for _ in range(20):
        numbers = rng.normal(size=(2, 1 + n_drawn, n_features)).round(1)
        values, alone = (PermutedValues(of, np.ones(n_features)) for of in numbers)
        found = Significance.of(values, alone)
        sums = numbers[0].sum(axis=1)
        largest = ((numbers[1] - numbers[1].mean(axis=0)) / numbers[1].std(axis=0)).max(axis=1)
        both = [
            [sum(other >= one - 1e-9 for other in of) / (1 + n_drawn) for one in of]
            for of in (sums, largest)
        ]
        smaller = np.min(both, axis=0)
        assert (found.statistic_pvalue, found.univariate_pvalue) == (both[0][0], both[1][0])
        assert found.pvalue == sum(smaller <= smaller[0]) / (1 + n_drawn)
        assert found.univariate_pvalue == found.alone_familywise_pvalues.min()


def test_the_level_holds_for_unequal_samples_with_and_without_ties():
    rng = np.random.default_rng(3)
    found = {"continuous": 0, "ties": 0}
    for number in range(300):
        x, y = rng.normal(size=(30, 3)), rng.normal(size=(12, 3))
        options = {"n_permutations": 39, "random_state": number, "n_jobs": 1}
        found["continuous"] += pkex.mmd(x, y, **options).pvalue <= 0.1
        found["ties"] += pkex.mmd(x.round(), y.round(), **options).pvalue <= 0.1
    # The quantiles 10⁻⁴ and 1 − 10⁻⁴ of 300 draws with probability 0.1.
    for number in found.values():
        assert 13 <= number <= 51, found


def test_it_says_what_it_cannot_do(samples, kernel):
    for combine in (
        lambda: kernel * RBF(1.0),
        lambda: 2.0 * kernel,
        lambda: kernel + RBF(1.0),
        lambda: kernel.on([0]),
    ):
        with pytest.raises(TypeError, match="cannot be combined with other kernels"):
            combine()
    with pytest.raises(ValueError, match="was fitted to 3 columns, but there are 2"):
        kernel(samples[0][:, :2])
    with pytest.raises(ValueError, match="was fitted to 3 columns, but there are 2"):
        pkex.mmd(samples[0][:, :2], samples[1][:, :2], kernel=kernel)
    with pytest.raises(ValueError, match="categorical has 7; pass column numbers from 0 to 2"):
        OrthogonalANOVA.fit(*samples, categorical=[7])
    with pytest.raises(TypeError, match=r"Use OrthogonalANOVA.fit\(X, Y\)"):
        OrthogonalANOVA([1.0])
    f = pkex.KernelExpansion(samples[0], np.ones(N), kernel)
    with pytest.raises(TypeError, match="this computation does not support"):
        pkex.sensitivity(f, samples[0])
