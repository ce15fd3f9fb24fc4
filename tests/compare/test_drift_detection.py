"""MMDDrift as a detector: tests, thresholds, and what a DriftResult says."""

import json
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pkex
from pkex.compare.drift.reference import Plan
from pkex.kernels import RBF, Categorical
from pkex.results import tables

mpl.use("Agg")
TESTED = {"n_permutations": 39, "random_state": 0}


def squared_mmd(matrix, is_batch, estimator):
    """MMD² by its definition, of a kernel matrix."""
    within = [matrix[np.ix_(side, side)] for side in (is_batch, ~is_batch)]
    if estimator == "biased":
        means = [block.mean() for block in within]
    else:
        means = [(b.sum() - np.trace(b)) / (len(b) * (len(b) - 1.0)) for b in within]
    return means[0] + means[1] - 2.0 * matrix[np.ix_(is_batch, ~is_batch)].mean()


# Row by row; blocks with rows left over on both sides, on one, and where the batch is the larger.
@pytest.mark.parametrize(("n", "m"), [(20, 15), (205, 70), (192, 64), (100, 300)])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_permuted_statistics_equal_those_of_the_kernel_matrix(rng, n, m, estimator):
    x, y = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + 0.3
    kernel = 1.7 * RBF(1.5)
    drift = pkex.MMDDrift(x, kernel=kernel, estimator=estimator, **TESTED)
    result = drift.predict(y)
    plan, generator = Plan.of(n, m, 2), drift._detector.test.generator()
    pooled = np.concatenate([y[generator.permutation(m)], drift._detector.reference.rows])
    assert sorted(map(tuple, pooled[m:])) == sorted(map(tuple, x))
    blocks = plan.blocks(n, m)
    assert plan.size * plan.n_reference <= n
    assert plan.size * plan.n_batch <= m
    labels = blocks.draw_labels(39, generator)
    matrix = kernel(pooled)
    expected = [squared_mmd(matrix, own[blocks.groups], estimator) for own in labels]
    np.testing.assert_allclose(result.permuted_values.sum(axis=1), expected, rtol=0, atol=1e-12)
    observed = squared_mmd(matrix, np.arange(n + m) < m, estimator)
    assert result.statistic == pytest.approx(observed, abs=1e-13)
    assert result.statistic_pvalue == (1 + sum(e >= observed for e in expected)) / 40.0


def test_a_batch_is_drift_by_its_pvalue_and_its_statistic_has_a_threshold(rng):
    drift = pkex.MMDDrift(rng.normal(size=(60, 2)), alpha=0.2, n_permutations=24, random_state=1)
    results = [drift.predict(rng.normal(size=(20, 2)) + shift) for shift in np.linspace(0, 0.5, 20)]
    assert {result.is_drift for result in results} == {True, False}
    # Drift may be that of a single feature, below the threshold, and there may be none above it.
    assert any(result.is_drift != (result.statistic > result.threshold) for result in results)
    for result in results:
        verdict, _, rest = repr(result).partition(", MMD² = ")
        assert verdict == f"DriftResult: {'drift' if result.is_drift else 'no drift'}"
        assert rest.startswith(f"{result.statistic:.5g}, p-value {result.pvalue:.3g} (all features")
        assert result.is_drift == (result.pvalue <= 0.2)
        assert (result.statistic_pvalue <= 0.2) == (result.statistic > result.threshold)
        assert result.alpha == 0.2
        # The text has the p-value that decides, and no threshold that may contradict it.
        said = "drift" if result.is_drift else "no drift"
        statistic = tables.number(result.statistic)
        start = f"DriftResult: {said}, MMD² = {statistic}, p-value {result.pvalue:g} "
        assert repr(result).startswith(start)
    assert any(result.is_drift != (result.statistic > result.threshold) for result in results)


@pytest.mark.slow
def test_false_alarms_are_as_many_as_alpha_says_and_a_shift_is_found():
    rng = np.random.default_rng(7)
    alarms = {"default": 0, "given": 0, "threshold": 0}
    found = 0
    for number in range(300):
        x, y = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))
        options = {"n_permutations": 19, "random_state": number, "n_jobs": 1}
        drift = pkex.MMDDrift(x, batch_size=20, **options)
        result = drift.predict(y)
        alarms["default"] += result.is_drift
        alarms["threshold"] += result.statistic > drift.threshold
        alarms["given"] += pkex.MMDDrift(x, kernel=RBF(2.0), **options).predict(y).is_drift
        found += number % 5 == 0 and drift.predict(y + 1.0).is_drift
    low, high = binom.ppf([1e-4, 1.0 - 1e-4], 300, 0.05)
    for number in alarms.values():
        assert low <= number <= high, alarms
    assert found > 50


@pytest.mark.slow
def test_false_alarms_over_many_batches_of_a_mixed_table():
    rng = np.random.default_rng(8)

    def rows(n):
        city = rng.choice(["a", "b", "c"], n).astype(object)
        size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
        return pd.DataFrame({"size": size, "city": city, "member": rng.random(n) < 0.5})

    alarms = 0
    for number in range(10):
        drift = pkex.MMDDrift(
            rows(300), missing="indicator", n_permutations=19, random_state=number
        )
        alarms += sum(drift.predict(rows(50)).is_drift for _ in range(30))
    low, high = binom.ppf([1e-5, 1.0 - 1e-5], 300, 0.05)
    assert low <= alarms <= high


def test_the_power_is_that_of_a_test_that_permutes_both_samples(rng):
    found = np.zeros(2)
    for number in range(40):
        x, y = rng.normal(size=(300, 3)), rng.normal([0.45, 0.0, 0.0], size=(60, 3))
        drift = pkex.MMDDrift(x, kernel=RBF(2.0), n_permutations=99, random_state=number)
        whole = pkex.mmd(x, y, kernel=RBF(2.0), n_permutations=99, random_state=number)
        found += drift.predict(y).is_drift, whole.pvalue <= 0.05
    assert found[0] >= found[1] - 6
    assert found[1] >= 20


def test_without_permutations_nothing_is_decided(rng):
    result = pkex.MMDDrift(rng.normal(size=(50, 2))).predict(rng.normal(size=(20, 2)))
    assert result.is_drift is result.pvalue is result.threshold is None
    assert isinstance(result, pkex.MMDResult)
    assert "pass n_permutations to pkex.MMDDrift, such as n_permutations=199" in repr(result)
    assert repr(result).startswith("DriftResult: not tested, MMD² = ")
    assert result.to_dict()["data"]["is_drift"] is None


def test_a_result_is_plain_json_with_the_keys_of_alibi_detect_too(rng):
    drift = pkex.MMDDrift(rng.normal(size=(50, 2)), **TESTED)
    for batch in (rng.normal(size=(20, 2)) + 2.0, rng.normal(size=(3, 2))):
        result = drift.predict(batch)
        found = result.to_dict()
        # Of three rows there are no standard errors: null, for NaN is not JSON.
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert found["data"] == {
            "is_drift": int(result.is_drift),
            "distance": result.statistic,
            "p_val": result.pvalue,
            "threshold": 0.05,
            "distance_threshold": result.threshold,
        }
        assert found["meta"]["name"] == "MMDDrift"
        assert (found["n_reference"], found["n_batch"]) == (50, len(batch))
    assert found["standard_errors"] == [None, None]


def test_shares_add_up_to_1_and_stand_in_the_table(rng):
    drift = pkex.MMDDrift(rng.normal(size=(50, 3)), **TESTED)
    result = drift.predict(rng.normal([1.0, 0.0, 0.5], size=(20, 3)))
    assert result.shares.sum() == pytest.approx(1.0, abs=1e-12)
    frame = result.to_frame()
    np.testing.assert_allclose(frame["share"], frame["value"] / result.statistic)
    assert result.plot().get_title().startswith("drift: MMD² = ")
    same = drift.predict(np.asarray(drift._detector.reference.rows))
    assert same.statistic < 0.0
    assert same.shares is None
    assert "share" not in same.to_frame()


def test_a_detector_gives_equal_results_for_equal_batches_and_seeds(rng):
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(70, 3))
    drift = pkex.MMDDrift(x, **TESTED)
    first = drift.predict(y)
    drift.predict(y[:30])
    again = pickle.loads(pickle.dumps(drift))
    for other in (drift, again, pkex.MMDDrift(x, **TESTED), pkex.MMDDrift(x, n_jobs=1, **TESTED)):
        result = other.predict(y)
        np.testing.assert_array_equal(result.values, first.values)
        np.testing.assert_array_equal(result.permuted_values, first.permuted_values)
    other = pkex.MMDDrift(x, n_permutations=39, random_state=2).predict(y)
    assert (other.permuted_values != first.permuted_values).any()
    np.testing.assert_allclose(other.values, first.values, rtol=1e-9)
    plain = pkex.MMDDrift(x).predict(y)
    np.testing.assert_allclose(plain.values, first.values, rtol=1e-9)


def test_the_threshold_of_a_size_is_near_the_batches_own(rng):
    drift = pkex.MMDDrift(
        rng.normal(size=(600, 2)), n_permutations=199, batch_size=50, random_state=0
    )
    own = [drift.predict(rng.normal(size=(50, 2))).threshold for _ in range(10)]
    assert 0.7 < drift.threshold / np.mean(own) < 1.4
    assert pkex.MMDDrift(rng.normal(size=(60, 2)), **TESTED).threshold is None
    assert (drift.alpha, drift.n_permutations, drift.batch_size) == (0.05, 199, 50)


@pytest.mark.parametrize("exponent", [-600, 600])
def test_the_threshold_has_the_unit_of_the_kernel(rng, exponent):
    rows, options = (
        rng.normal(size=(60, 2)),
        {"batch_size": 20, "n_permutations": 99, "random_state": 0},
    )
    plain, scaled = (
        pkex.MMDDrift(rows, kernel=amplitude * pkex.kernels.RBF(2.0), **options)
        for amplitude in (1.0, 2.0**exponent)
    )
    assert scaled.threshold == plain.threshold * 2.0**exponent


def test_both_samples_can_be_looked_at(rng):
    x = pd.DataFrame({"size": [1.0, np.nan, 3.0, 4.0], "city": ["a", "b", None, "a"]})
    y = pd.DataFrame({"size": [np.nan, 7.0], "city": ["c", "a"]})
    drift = pkex.MMDDrift(x, missing="indicator", n_permutations=39, random_state=0)
    with pytest.warns(UserWarning, match="so few permutations"):
        result = drift.predict(y)
    reference, batch = result.rows.entries("city")
    assert sorted(reference.tolist(), key=str) == [None, "a", "a", "b"]
    assert batch.tolist() == ["c", "a"]
    np.testing.assert_array_equal(result.rows.entries("size")[1], y["size"])
    np.testing.assert_array_equal(np.sort(result.rows.entries(0)[0]), [1.0, 3.0, 4.0, np.nan])
    assert result.rows.new_levels == {"city": ("c",)}
    assert "city: new levels: 'c' (1 row)" in repr(result)
    assert result.to_dict()["new_levels"] == {"city": ["c"]}
    with pytest.raises(
        ValueError, match=r"there is not exactly one column 'when'\. Pass a number from 0"
    ):
        result.rows.entries("when")
    for same in (result, pickle.loads(pickle.dumps(result))):
        assert same.to_dict() == result.to_dict()
        with pytest.raises(ValueError, match="read-only"):
            same.rows.batch[0, 0] = 1.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alpha": 0.0}, ValueError, "alpha must be a number between 0 and 1; got 0.0"),
        ({"alpha": True}, ValueError, "alpha must be a number between 0 and 1; got True"),
        ({"n_permutations": 18}, ValueError, "too small for alpha=0.05.*1/19. Pass at least 19"),
        ({"n_permutations": 10**9}, ValueError, "too large: .* 1 features. Pass at most 100000000"),
        ({"n_permutations": -1}, ValueError, "n_permutations must be an integer"),
        ({"batch_size": 10}, ValueError, "batch_size requires n_permutations"),
        ({"batch_size": 1, "n_permutations": 19}, ValueError, "batch_size must be an integer, at"),
        ({"batch_size": 26, "n_permutations": 19}, ValueError, "at most half of the 50 rows"),
        ({"random_state": "a"}, TypeError, "random_state must be None, a non-negative integer"),
    ],
)
def test_options_of_the_test_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        pkex.MMDDrift(np.arange(50.0)[:, None] / 2.0, **options)


def test_a_reference_with_labels_alone_is_tested_too(rng):
    x, y = (
        pd.DataFrame({"c": rng.choice(list("ab"), n, p=p)})
        for n, p in ((200, [0.9, 0.1]), (60, [0.5, 0.5]))
    )
    assert pkex.MMDDrift(x, kernel=Categorical(), **TESTED).predict(y).is_drift
    assert pkex.MMDDrift(x, **TESTED).predict(y).is_drift
