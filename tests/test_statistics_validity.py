"""What p-values and standard errors promise, over many seeded data sets."""

import numpy as np
import pytest
from scipy.stats import chisquare

import pkex
from pkex.kernels import RBF

# With B permutations p-values are multiples of 1 / (B + 1).
B = 19


def differing(rng, n, shift=0.0, d=3, m=None, **options):
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m or n, d))
    y[:, 0] += shift
    return pkex.mmd(x, y, random_state=rng, **options)


def dependent(rng, n, slope=0.0, d=3, **options):
    x = rng.normal(size=(n, d))
    y = slope * x[:, 0] + rng.normal(size=n)
    return pkex.hsic(x, y, random_state=rng, **options)


# Row by row, and in blocks: 80 + 80 and 150 rows are more than 128.
DESIGNS = {
    "MMD": lambda rng, **options: differing(rng, 10, **options),
    "MMD biased marginal": lambda rng, **options: differing(
        rng, 10, estimator="biased", value_function="marginal", **options
    ),
    "MMD in blocks": lambda rng, **options: differing(rng, 80, **options),
    "HSIC": lambda rng, **options: dependent(rng, 20, **options),
    "HSIC in pairs": lambda rng, **options: dependent(rng, 150, **options),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_pvalues_are_uniform_where_nothing_differs(design):
    found, familywise = [], []
    for seed in range(500):
        result = DESIGNS[design](np.random.default_rng(seed), n_permutations=B)
        found.append([result.pvalue, *result.feature_pvalues])
        familywise.append(result.familywise_pvalues.min())
    ranks = np.array(found) * (B + 1)
    np.testing.assert_allclose(ranks, np.round(ranks), rtol=0, atol=1e-9)
    for column in np.round(ranks).astype(int).T:
        counts = np.bincount(column, minlength=B + 2)
        # The least is 1 / (B + 1), not 0 as b / B would have it.
        assert counts[0] == 0
        assert chisquare(counts[1:]).pvalue > 1e-3
    # Any feature at all is found with the chance that one may be: 5 % ± 3 standard deviations.
    assert abs(np.mean(np.array(familywise) <= 0.05) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 500)


@pytest.mark.parametrize(
    "design",
    [
        lambda rng: differing(rng, 30, shift=1.2, d=5, n_permutations=99),
        lambda rng: differing(rng, 200, shift=0.5, d=5, n_permutations=99),
        lambda rng: dependent(rng, 60, slope=1.0, d=5, n_permutations=99),
        lambda rng: dependent(rng, 300, slope=0.6, d=5, n_permutations=99),
    ],
    ids=["MMD", "MMD in blocks", "HSIC", "HSIC in pairs"],
)
def test_the_one_feature_that_differs_is_found(design):
    results = [design(np.random.default_rng(seed)) for seed in range(100)]
    assert np.mean([result.pvalue <= 0.05 for result in results]) > 0.9
    assert np.mean([result.familywise_pvalues[0] <= 0.05 for result in results]) > 0.9
    assert np.mean([result.values.argmax() == 0 for result in results]) > 0.95
    # And hardly any other.
    others = np.array([result.familywise_pvalues[1:].min() for result in results])
    assert np.mean(others <= 0.05) < 0.1


SIZES = {
    "MMD of 40 + 40": lambda rng, shift, **options: differing(rng, 40, shift, d=5, **options),
    "MMD of 50 + 150": lambda rng, shift, **options: differing(rng, 50, shift, 5, m=150, **options),
    "MMD marginal of 60 + 120": lambda rng, shift, **options: differing(
        rng, 60, shift, 5, m=120, value_function="marginal", **options
    ),
    "HSIC of 50": lambda rng, shift, **options: dependent(
        rng, 50, shift, d=5, target_kernel=RBF(1.5), **options
    ),
    "HSIC of 200": lambda rng, shift, **options: dependent(
        rng, 200, shift, d=5, target_kernel=RBF(1.5), **options
    ),
}


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("shift", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("size", SIZES)
def test_standard_errors_are_the_spread_over_repetitions(size, shift, estimator):
    values, errors = [], []
    for seed in range(400):
        result = SIZES[size](
            np.random.default_rng(seed), shift, kernel=RBF(3.0), estimator=estimator
        )
        values.append(result.values)
        errors.append(result.standard_errors)
    values, errors = np.array(values), np.array(errors)
    spread = values.std(axis=0, ddof=1)
    covered = np.abs(values - values.mean(axis=0)) <= 1.96 * errors
    # Features that are alike say more together.
    alike = (slice(0, 1), slice(1, None)) if shift else (slice(None),)
    for features in alike:
        of_all = np.sqrt(np.mean(spread[features] ** 2))
        assert 0.8 < errors[:, features].mean() / of_all < 1.2
        assert 0.8 < np.sqrt(np.mean(errors[:, features] ** 2)) / of_all < 1.3
        assert covered[:, features].mean() > 0.84


def test_unbiased_estimators_are_unbiased():
    for design, other in ((differing, {}), (dependent, {"target_kernel": RBF(1.5)})):
        values = np.array(
            [
                design(
                    np.random.default_rng(seed),
                    12,
                    kernel=RBF(3.0),
                    estimator="unbiased",
                    **other,
                ).values
                for seed in range(500)
            ]
        )
        standard_error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert np.all(np.abs(values.mean(axis=0)) < 3.5 * standard_error)
