"""What p-values and standard errors promise, over many seeded data sets."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import chisquare

import pkex
from pkex.compare.permutation import hsic_test
from pkex.kernels import RBF

# With B permutations p-values are multiples of 1 / (B + 1).
B = 19


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let targets be permuted row by row up to as many rows as samples are, for speed."""
    monkeypatch.setattr(hsic_test, "_MAX_ROWS", 128)


def differing(rng, n, shift=0.0, d=3, m=None, **options):
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m or n, d))
    y[:, 0] += shift
    return pkex.mmd(x, y, random_state=rng, **options)


def dependent(rng, n, slope=0.0, d=3, **options):
    x = rng.normal(size=(n, d))
    y = slope * x[:, 0] + rng.normal(size=n)
    return pkex.hsic(x, y, random_state=rng, **options)


def of_rare_labels(rng, n, shift=0.0, d=3, **options):
    """Labels of which one in thirty is of a class that column 0 is different for."""
    x, y = rng.normal(size=(n, d)), rng.permutation(n) < n / 30
    x[y, 0] += shift
    return pkex.hsic(x, y, random_state=rng, **options)


NEUTRAL, MARGINAL = ({"value_function": v} for v in ("neutral", "marginal"))
# Row by row, and in blocks or blocks: 75 + 75 and 150 rows are more than 128.
DESIGNS = {
    "MMD neutral": partial(differing, n=10, **NEUTRAL),
    "MMD biased": partial(differing, n=10, estimator="biased", **MARGINAL),
    "MMD in blocks": partial(differing, n=75, **MARGINAL),
    "HSIC neutral": partial(dependent, n=20, **NEUTRAL),
    "HSIC unbiased": partial(dependent, n=20, estimator="unbiased", **MARGINAL),
    "HSIC in blocks": partial(dependent, n=150, **MARGINAL),
    "HSIC of rare labels": partial(of_rare_labels, n=100, **MARGINAL),
    "HSIC of rare labels in blocks": partial(of_rare_labels, n=150, **MARGINAL),
}
SEEDS = 300


def mostly_slow(names):
    """Parameters of which the first is tried in the quick loop, too."""
    first, *others = names
    return [first, *(pytest.param(name, marks=pytest.mark.slow) for name in others)]


def assert_uniform(pvalues):
    """Check p-values of 1 + B permutations, one row for each data set."""
    ranks = np.array(pvalues) * (B + 1)
    np.testing.assert_allclose(ranks, np.round(ranks), rtol=0, atol=1e-9)
    for column in np.round(ranks).astype(int).T:
        counts = np.bincount(column, minlength=B + 2)
        # The least is 1 / (B + 1), not 0 as b / B would have it.
        assert counts[0] == 0
        assert chisquare(counts[1:]).pvalue > 1e-3


def assert_found_by_chance(familywise):
    """Check that any feature is found with the chance that one may be, ± 3 standard deviations."""
    found = np.mean(np.array(familywise).min(axis=1) <= 0.05)
    assert abs(found - 0.05) < 3.0 * np.sqrt(0.05 * 0.95 / len(familywise))


@pytest.mark.parametrize("design", mostly_slow(DESIGNS))
def test_pvalues_are_uniform_where_nothing_differs(design):
    rngs = map(np.random.default_rng, range(SEEDS))
    results = [DESIGNS[design](rng, n_permutations=B) for rng in rngs]
    assert_uniform([[r.pvalue, *r.feature_pvalues] for r in results])
    assert_uniform([r.alone_pvalues for r in results])
    assert_found_by_chance([r.familywise_pvalues for r in results])
    assert_found_by_chance([r.alone_familywise_pvalues for r in results])


# The hypothesis of values is that nothing differs; that of a feature alone concerns this feature.
@pytest.mark.slow
@pytest.mark.parametrize("convention", [NEUTRAL, MARGINAL], ids=str)
@pytest.mark.parametrize(
    "design",
    [partial(differing, n=15, shift=1.5), partial(dependent, n=20, slope=1.5)],
    ids=["MMD", "HSIC"],
)
def test_pvalues_alone_are_uniform_where_other_features_differ(design, convention):
    rngs = map(np.random.default_rng, range(SEEDS))
    results = [design(rng, n_permutations=B, **convention) for rng in rngs]
    assert_uniform([r.alone_pvalues[1:] for r in results])
    found = np.mean([r.alone_familywise_pvalues[1:].min() <= 0.05 for r in results])
    assert found < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / SEEDS)


WITH_ONE = {
    "MMD": partial(differing, n=30, shift=1.2),
    "MMD in blocks": partial(differing, n=200, shift=0.5),
    "HSIC": partial(dependent, n=60, slope=1.0),
    "HSIC in blocks": partial(dependent, n=300, slope=0.6),
    "HSIC of rare labels": partial(of_rare_labels, n=120, shift=3.0),
}


@pytest.mark.parametrize("convention", [NEUTRAL, MARGINAL], ids=str)
@pytest.mark.parametrize("name", mostly_slow(WITH_ONE))
def test_the_one_feature_that_differs_is_found(name, convention):
    rngs = map(np.random.default_rng, range(40))
    results = [WITH_ONE[name](rng, d=5, n_permutations=99, **convention) for rng in rngs]
    assert np.mean([r.pvalue <= 0.05 for r in results]) > 0.9
    assert np.mean([r.values.argmax() == 0 for r in results]) > 0.9
    for name in ("familywise_pvalues", "alone_familywise_pvalues"):
        pvalues = np.array([getattr(r, name) for r in results])
        assert np.mean(pvalues[:, 0] <= 0.05) > 0.9
        # And hardly any other.
        assert np.mean(pvalues[:, 1:].min(axis=1) <= 0.05) < 0.15


SIZES = {
    "MMD of 40 + 40": lambda rng, shift, **options: differing(rng, 40, shift, d=5, **options),
    "MMD neutral of 60 + 120": lambda rng, shift, **options: differing(
        rng, 60, shift, 5, m=120, **NEUTRAL, **options
    ),
    "HSIC of 50": lambda rng, shift, **options: dependent(
        rng, 50, shift, d=5, target_kernel=RBF(1.5), **options
    ),
    "HSIC neutral of 150": lambda rng, shift, **options: dependent(
        rng, 150, shift, d=5, target_kernel=RBF(1.5), **NEUTRAL, **options
    ),
}


@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("shift", [0.0, 0.8])
@pytest.mark.parametrize("size", mostly_slow(SIZES))
def test_standard_errors_are_the_spread_over_repetitions(size, shift, estimator):
    values, errors = [], []
    for seed in range(250):
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


@pytest.mark.slow
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


@pytest.mark.parametrize("design", [differing, dependent])
def test_biased_values_of_what_shows_nothing_are_small_positive_numbers_that_shrink_as_1_over_n(
    design,
):
    means = []
    for n in (20, 80):
        of_seeds = (np.random.default_rng(seed) for seed in range(100))
        means.append(np.mean([design(rng, n, estimator="biased").values for rng in of_seeds]))
    assert means[0] / means[1] == pytest.approx(4.0, rel=0.25)
