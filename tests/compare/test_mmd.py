"""pkex.mmd: exactness, relations, groups, weights, numerics."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force_statistics import SumOfProducts, attributed, mmd_statistic
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import pkex
from pkex.compare.row_weights import RowWeights
from pkex.kernels import RBF, Categorical, Cauchy, Laplacian, median_heuristic

N, M = 13, 17  # rows of `samples`
KERNELS = {
    "RBF": (
        RBF([0.5, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0]),
        SumOfProducts(
            (
                (
                    1.0,
                    [(j, "rbf", s) for j, s in enumerate([0.5, 1.0, 2.0, 1.0, 1.0, 3.0, 1.0])],
                ),
            )
        ),
    ),
    "mixed": (
        2.0 * RBF(1.5).on([0, 1, 4]) * Laplacian(3.0).on([2, 3]) * Categorical(0.3).on([6]),
        SumOfProducts(
            (
                (
                    2.0,
                    [(j, "rbf", 1.5) for j in (0, 1, 4)]
                    + [(j, "laplacian", 3.0) for j in (2, 3)]
                    + [(6, "delta", 0.3)],
                ),
            )
        ),
    ),
    "sum": (
        0.5 * Cauchy(2.0) + RBF(1.0).on([1, 2]),
        SumOfProducts(
            (
                (0.5, [(j, "cauchy", 2.0) for j in range(7)]),
                (1.0, [(j, "rbf", 1.0) for j in (1, 2)]),
            )
        ),
    ),
}
GROUPS = {
    "single": (None, [0, 1, 2, 3, 4, 5, 6]),
    "grouped": ({"a": ["x0", 3], "b": [1, "x6"]}, [0, 1, 2, 0, 3, 4, 1]),
}


def assert_attributed(result, expected, tolerance=1e-12):
    values, alone, statistic = expected
    np.testing.assert_allclose(result.values, values, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.alone, alone, rtol=0, atol=tolerance)
    assert result.statistic == pytest.approx(statistic, rel=0, abs=tolerance)
    assert result.statistic == pytest.approx(result.values.sum(), rel=0, abs=tolerance)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("convention", ["neutral", "marginal"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_values_equal_brute_force(samples, kernel, estimator, convention, groups):
    (pkex_kernel, reference), (given, players) = KERNELS[kernel], GROUPS[groups]
    options = {"kernel": pkex_kernel, "estimator": estimator, "value_function": convention}
    expected = attributed(
        mmd_statistic(N, estimator),
        reference,
        np.concatenate(samples),
        players,
        marginal=convention == "marginal",
    )
    assert_attributed(pkex.mmd(*samples, groups=given, **options), expected)
    # Arranged in blocks, for permutations.
    tested = pkex.mmd(*samples, groups=given, n_permutations=3, random_state=0, **options)
    assert_attributed(tested, expected)


def test_weights_have_the_bits_of_shares_of_their_sum():
    relative = np.arange(50.0) / 49.0
    weights = RowWeights.of((np.arange(50.0), None), 50, 4).weights
    np.testing.assert_array_equal(weights[0], (relative / relative.sum())[1:])
    np.testing.assert_array_equal(weights[1], np.full(4, 0.25))


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("convention", ["neutral", "marginal"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_values_of_weighted_samples_equal_brute_force(
    rng, samples, kernel, estimator, convention, groups
):
    (pkex_kernel, reference), (given, players) = KERNELS[kernel], GROUPS[groups]
    weights = rng.uniform(size=N), rng.integers(1, 4, M) + 0.0
    result = pkex.mmd(
        *samples,
        kernel=pkex_kernel,
        estimator=estimator,
        value_function=convention,
        groups=given,
        weights=weights,
    )
    expected = attributed(
        mmd_statistic(N, estimator, weights),
        reference,
        np.concatenate(samples),
        players,
        marginal=convention == "marginal",
    )
    assert_attributed(result, expected)
    assert result.standard_errors is None


@pytest.mark.parametrize("convention", ["neutral", "marginal"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_a_single_feature_has_the_whole_statistic(samples, estimator, convention):
    x, y = (sample[:, :1] for sample in samples)
    options = {"kernel": RBF(1.5), "estimator": estimator, "value_function": convention}
    reference = SumOfProducts(((1.0, [(0, "rbf", 1.5)]),))
    pooled = np.concatenate([x, y])
    marginal = convention == "marginal"
    statistic = mmd_statistic(N, estimator)
    expected = attributed(statistic, reference, pooled, [0], marginal=marginal)
    result = pkex.mmd(x, y, **options)
    assert_attributed(result, expected)
    assert result.values[0] == pytest.approx(statistic(reference(pooled)), rel=0, abs=1e-14)


def test_sums_over_weighted_pairs_are_formed_as_asked_for_in_the_marginal_convention(rng):
    x, y = rng.normal(size=(2, 700, 3))
    options = {"weights": (rng.uniform(size=700), None), "kernel": RBF(2.0)}
    plain, compensated = (
        pkex.mmd(x, y, **options, summation=summation).values
        for summation in ("plain", "compensated")
    )
    assert (plain != compensated).any()
    np.testing.assert_allclose(plain, compensated, rtol=0, atol=1e-11 * abs(plain).max())


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_equal_weights_are_none(samples, estimator):
    plain = pkex.mmd(*samples, estimator=estimator)
    for weights in [(None, None), (np.full(N, 3.0), None), (None, [0.1] * M)]:
        weighted = pkex.mmd(*samples, estimator=estimator, weights=weights)
        np.testing.assert_allclose(weighted.values, plain.values, rtol=0, atol=1e-14)


@pytest.mark.parametrize("convention", ["neutral", "marginal"])
@pytest.mark.parametrize("small", [1e-9, 1e-20, 1e-120])
def test_one_weight_may_outweigh_all_others(samples, convention, small):
    # Pairs of the sample are then those with its first row, all alike.
    weights = np.full(N, small), np.full(M, small)
    weights[0][0] = weights[1][0] = 3.0
    options = {"kernel": RBF(2.0), "value_function": convention}
    result = pkex.mmd(*samples, weights=weights, **options)
    players = list(range(7))
    reference = SumOfProducts(((1.0, [(j, "rbf", 2.0) for j in players]),))
    far = [np.arange(1, N), np.arange(N + 1, N + M)]

    def statistic(matrix):
        within = matrix[0, far[0]].mean() + matrix[N, far[1]].mean()
        return within - 2.0 * matrix[0, N]

    expected = attributed(
        statistic, reference, np.concatenate(samples), players, marginal=convention == "marginal"
    )
    assert_attributed(result, expected, tolerance=100.0 * small if small > 1e-12 else 1e-12)


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("convention", ["neutral", "marginal"])
def test_rows_of_weight_zero_play_no_part_at_all(samples, estimator, convention):
    x, y = samples
    kept = np.arange(N) % 3 > 0
    options = {"estimator": estimator, "value_function": convention}
    # Not even in the default kernel, or the means of the marginal convention.
    x[~kept] += 50.0
    found = pkex.mmd(x, y, weights=(kept * 2.0, None), **options)
    expected = pkex.mmd(x[kept], y, weights=(None, None), **options)
    for name in ("values", "alone"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert (found.kernel, found.n_rows) == (expected.kernel, expected.n_rows)


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_the_statistic_equals_that_of_scikit_learns_kernels(rng, estimator):
    x, y = rng.normal(size=(150, 9)), rng.normal(size=(140, 9)) + 0.2
    pooled = np.concatenate([x, y])
    statistic = mmd_statistic(len(x), estimator)
    for kernel, matrix in [
        (RBF(3.0), rbf_kernel(pooled, gamma=1 / 18)),
        (Laplacian(5.0), laplacian_kernel(pooled, gamma=0.2)),
    ]:
        result = pkex.mmd(x, y, kernel=kernel, estimator=estimator)
        assert result.statistic == pytest.approx(statistic(matrix), rel=0, abs=1e-12)


def test_the_diabetes_experiment_of_the_paper():
    data = load_diabetes(as_frame=True).data
    x, y = (part.drop(columns="sex") for _, part in data.groupby("sex"))
    paper = {
        "kernel": median_heuristic(x, y, standardize=False),
        "value_function": "neutral",
    }
    result = pkex.mmd(x, y, **paper)
    order = ["s3", "s4", "bp", "s6", "age", "s5", "s2", "bmi", "s1"]
    values = [23.16, 16.21, 8.11, 4.59, 3.58, 1.81, 0.31, -1.64, -2.35]
    found = dict(zip(result.feature_names, 1000.0 * result.values, strict=True))
    assert sorted(found, key=found.get, reverse=True) == order
    np.testing.assert_allclose([found[name] for name in order], values, rtol=0, atol=0.005)
    assert result.statistic == pytest.approx(0.05376, abs=5e-6)
    biased = pkex.mmd(x, y, estimator="biased", **paper)
    assert biased.statistic == pytest.approx(0.05738, abs=5e-6)


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_exchanging_the_samples_changes_nothing(samples, estimator):
    one = pkex.mmd(*samples, estimator=estimator)
    other = pkex.mmd(*samples[::-1], estimator=estimator)
    for name in ("values", "alone", "standard_errors"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-15)
    assert one.kernel == other.kernel


def test_permuting_rows_changes_nothing_but_rounding_and_columns_only_the_order(rng, samples):
    plain = pkex.mmd(*samples)
    shuffled = pkex.mmd(*(rng.permutation(sample) for sample in samples))
    np.testing.assert_allclose(shuffled.values, plain.values, rtol=0, atol=1e-15)
    order = rng.permutation(7)
    turned = pkex.mmd(*(sample[:, order] for sample in samples))
    np.testing.assert_allclose(turned.values, plain.values[order], rtol=0, atol=1e-15)


def test_equal_samples_do_not_differ_by_the_biased_estimator(samples):
    result = pkex.mmd(samples[0], samples[0], estimator="biased")
    np.testing.assert_allclose(result.values, 0.0, rtol=0, atol=1e-15)


def test_an_unmentioned_feature_has_no_part(samples):
    result = pkex.mmd(*samples, kernel=RBF(1.0).on([0, 2]))
    assert result.values[1] == 0.0
    assert result.standard_errors[1] == 0.0


def test_features_in_one_group_share_a_player_whose_value_alone_is_theirs_together(samples):
    groups = {"pair": ["x0", "x4"]}
    result = pkex.mmd(*samples, kernel=RBF(2.0), groups=groups, value_function="neutral")
    assert result.feature_names == ["pair", "x1", "x2", "x3", "x5", "x6"]
    together = pkex.mmd(*(sample[:, [0, 4]] for sample in samples), kernel=RBF(2.0))
    assert result.alone[0] == pytest.approx(together.statistic, abs=1e-15)


# --- numerics ---


def test_a_common_offset_changes_next_to_nothing(rng):
    # Whole multiples of 2⁻²⁰, so that the offset itself does not round.
    x, y = (np.round(rng.normal(size=(200, 5)) * 2**20) / 2**20 for _ in range(2))
    y[:, 0] += 0.5
    near, far = pkex.mmd(x, y), pkex.mmd(x + 1e6, y + 1e6)
    scale = np.abs(near.values).max()
    np.testing.assert_allclose(far.values, near.values, rtol=0, atol=1e-9 * scale)


def test_units_may_be_tiny_or_huge(samples):
    plain = pkex.mmd(*samples)
    for unit in (2.0**-500, 2.0**500):
        scaled = pkex.mmd(*(sample * unit for sample in samples))
        np.testing.assert_allclose(scaled.values, plain.values, rtol=1e-12)


@pytest.mark.parametrize("exponent", [-1000, -600, 600, 1000])
def test_amplitudes_may_be_tiny_or_huge(samples, exponent):
    x, y = samples
    options = {"n_permutations": 19, "random_state": 0}
    for call, rows in (
        (lambda kernel: pkex.mmd(x, y, kernel=kernel, **options), "MMD"),
        (lambda kernel: pkex.mmd(x, y, kernel=kernel, weights=(np.arange(N), None)), "weighted"),
        (lambda kernel: pkex.MMDDrift(x, kernel=kernel).predict(y), "batch"),
        (lambda kernel: pkex.hsic(x, x[:, 0], kernel=kernel, **options), "HSIC"),
        (lambda kernel: pkex.hsic(x[:, 0:1], x, target_kernel=kernel, **options), "target"),
    ):
        plain, scaled = call(RBF(2.0)), call(2.0**exponent * RBF(2.0))
        for name in ("values", "alone", "standard_errors", "permuted_values"):
            of_plain, of_scaled = getattr(plain, name), getattr(scaled, name)
            if of_plain is not None:
                np.testing.assert_array_equal(of_scaled, of_plain * 2.0**exponent, rows)
        for name in ("pvalue", "feature_pvalues", "familywise_pvalues"):
            np.testing.assert_array_equal(getattr(scaled, name), getattr(plain, name))
        if rows in ("HSIC", "target"):
            assert scaled.r2 == plain.r2


@pytest.mark.parametrize("amplitude", [1e-200, 1e200])
def test_statistics_out_of_range_are_an_error(samples, amplitude):
    kernel = amplitude * RBF(2.0)
    with pytest.raises(OverflowError, match="amplitude of kernel or target_kernel"):
        pkex.hsic(samples[0], samples[0], kernel=kernel, target_kernel=kernel)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_bits_do_not_depend_on_threads(rng, n_jobs):
    x, y = rng.normal(size=(300, 4)), rng.normal(size=(200, 4))
    results = [
        pkex.mmd(x, y, n_jobs=jobs, n_permutations=20, random_state=1) for jobs in (1, n_jobs)
    ]
    for name in ("values", "standard_errors", "alone", "permuted_values"):
        np.testing.assert_array_equal(*(getattr(result, name) for result in results))


# --- results ---


def test_names_are_those_of_the_columns(samples):
    names = list("abcdefg")
    frames = [pd.DataFrame(sample, columns=names) for sample in samples]
    assert pkex.mmd(*frames).feature_names == names
    assert pkex.mmd(frames[0], samples[1]).feature_names == names
    assert pkex.mmd(samples[0], frames[1]).feature_names == names
    assert pkex.mmd(*samples).feature_names == [f"x{j}" for j in range(7)]


def test_results_are_read_only_and_survive_pickling(samples):
    result = pkex.mmd(*samples, n_permutations=9, random_state=0)
    again = pickle.loads(pickle.dumps(result))
    for item in (result, again):
        for name in ("values", "standard_errors", "alone", "feature_pvalues", "permuted_values"):
            np.testing.assert_array_equal(getattr(item, name), getattr(result, name))
            with pytest.raises(ValueError, match="read-only"):
                getattr(item, name)[0] = 1.0
        item.feature_names.append("mine")
        assert len(item.feature_names) == 7
    assert (again.kernel, again.pvalue, again.n_rows) == (result.kernel, result.pvalue, (N, M))


def test_pictures_show_values_errors_and_permutations(samples):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    result = pkex.mmd(*samples, n_permutations=19, random_state=0)
    ax = result.plot(max_features=4)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    strongest = np.argsort(-np.abs(result.values))[:4]
    assert set(labels) == {result.feature_names[j] for j in strongest}
    assert len(ax.get_legend().get_texts()) == 4
    ax.figure.canvas.draw()
    plt.close(ax.figure)
    _, given = plt.subplots()
    plain = pkex.mmd(*samples, weights=(None, None))
    assert plain.plot(given) is given
    plt.close(given.figure)
    with pytest.raises(ValueError, match="max_features"):
        result.plot(max_features=0)
    for wrong in ("a", 2.5, None):
        with pytest.raises(TypeError, match="max_features must be a positive integer; got"):
            result.plot(max_features=wrong)


def test_columns_that_are_not_named_by_strings_are_shown_as_text(rng):
    x, y = rng.normal(size=(2, 20, 2))
    numbered = [pd.DataFrame(rows, columns=[5, 7]) for rows in (x, y)]
    result = pkex.mmd(*numbered)
    assert list(result.feature_names) == ["5", "7"]
    np.testing.assert_array_equal(result.values, pkex.mmd(x, y).values)
    with pytest.raises(ValueError, match="another order than X: column 0 is 7"):
        pkex.mmd(numbered[0], numbered[1][[7, 5]])
    named = numbered[0].set_axis(["a", "b"], axis=1)
    assert list(pkex.mmd(named, numbered[1]).feature_names) == ["a", "b"]
