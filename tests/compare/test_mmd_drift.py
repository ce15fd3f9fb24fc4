"""MMDDrift: the same as mmd, at the cost of the new rows' pairs."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from brute_force_statistics import SumOfProducts, attributed, mmd_statistic

import pkex
from pkex.kernels import RBF, Cauchy, Laplacian

KERNELS = [RBF(2.0), Laplacian(4.0), 0.5 * Cauchy(3.0) + RBF(2.0).on([0, 1])]
GROUPS = [None, {"pair": ["x0", "x3"]}]


@pytest.fixture
def reference(rng):
    return rng.normal(size=(300, 4))


@pytest.fixture
def batch(rng):
    return rng.normal(loc=[0.0, 0.0, 0.8, 0.0], size=(70, 4))


@pytest.mark.parametrize("groups", GROUPS, ids=["single", "grouped"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_results_are_those_of_mmd(reference, batch, kernel, estimator, groups):
    options = {"estimator": estimator, "groups": groups, "value_function": "neutral"}
    drift = pkex.MMDDrift(reference, kernel=kernel, **options)
    found = drift.predict(batch)
    expected = pkex.mmd(reference, batch, kernel=found.kernel, **options)
    for name in ("values", "alone", "standard_errors"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-15
        )
    assert found.feature_names == expected.feature_names
    assert found.n_rows == expected.n_rows == (300, 70)
    assert found.pvalue is None
    assert found.bandwidth is None


@pytest.mark.parametrize("players", [[0, 1, 2, 3], [0, 1, 2, 0]], ids=["single", "grouped"])
@pytest.mark.parametrize("estimator", ["unbiased", "biased"])
def test_marginal_values_are_those_of_means_over_the_reference(
    reference, batch, estimator, players
):
    reference, batch = reference[:30], batch[:20]
    groups = {"x0": [0, 3]} if max(players) == 2 else None
    drift = pkex.MMDDrift(reference, kernel=RBF(2.0), estimator=estimator, groups=groups)
    found = drift.predict(batch)
    kernel = SumOfProducts(((1.0, [(j, "rbf", 2.0) for j in range(4)]),))
    values, alone, statistic = attributed(
        mmd_statistic(30, estimator),
        kernel,
        np.concatenate([reference, batch]),
        players,
        marginal=slice(0, 30),
    )
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.alone, alone, rtol=0, atol=1e-13)
    assert found.statistic == pytest.approx(statistic, abs=1e-13)
    assert found.value_function == "marginal"


def test_a_detector_shows_what_it_compares_with(reference, batch):
    frame = pd.DataFrame(reference, columns=list("abcd"))
    drift = pkex.MMDDrift(frame, groups={"ab": ["a", "b"]}, estimator="biased")
    result = drift.predict(batch)
    for name in ("kernel", "bandwidth", "feature_names", "value_function", "estimator"):
        assert getattr(drift, name) == getattr(result, name)
    assert drift.feature_names == ["ab", "c", "d"]
    assert drift.value_function == "marginal"
    with pytest.raises(AttributeError):
        drift.kernel = RBF()


def test_standard_errors_are_those_of_all_rows_of_a_large_reference(rng, batch):
    reference = rng.normal(size=(2000, 4))
    drift = pkex.MMDDrift(reference, kernel=RBF(2.5), value_function="neutral")
    neutral = {"kernel": RBF(2.5), "value_function": "neutral"}
    expected = pkex.mmd(reference, batch, **neutral).standard_errors
    np.testing.assert_allclose(drift.predict(batch).standard_errors, expected, rtol=1e-9)


@pytest.mark.alone
def test_the_reference_is_not_paired_again(rng):
    # 32 million pairs of the reference, half a million new ones.
    drift = pkex.MMDDrift(rng.normal(size=(8000, 10)), kernel=RBF(4.0))
    start = time.perf_counter()
    pkex.MMDDrift(rng.normal(size=(8000, 10)), kernel=RBF(4.0))
    whole = time.perf_counter() - start
    batch = rng.normal(size=(64, 10))
    start = time.perf_counter()
    drift.predict(batch)
    assert time.perf_counter() - start < whole / 3


def test_one_detector_gives_equal_bits_for_equal_batches_and_after_pickling(reference, batch):
    drift = pkex.MMDDrift(reference)
    first = drift.predict(batch)
    drift.predict(batch[:10] + 1.0)
    for again in (drift, pickle.loads(pickle.dumps(drift))):
        result = again.predict(batch)
        for name in ("values", "alone", "standard_errors"):
            np.testing.assert_array_equal(getattr(result, name), getattr(first, name))
        assert result.kernel == first.kernel
        with pytest.raises(ValueError, match="read-only"):
            again._detector.reference.rows[0] = 0.0
    assert repr(drift).startswith("MMDDrift(300 reference rows, 4 features, marginal values, ")


def test_changing_the_reference_afterwards_changes_nothing(reference, batch):
    given = reference.copy()
    drift = pkex.MMDDrift(given)
    expected = drift.predict(batch).values
    given += 1.0
    np.testing.assert_array_equal(drift.predict(batch).values, expected)


def test_columns_must_be_those_of_the_reference(reference, batch):
    names = list("abcd")
    drift = pkex.MMDDrift(pd.DataFrame(reference, columns=names))
    result = drift.predict(pd.DataFrame(batch, columns=names))
    assert result.feature_names == names
    np.testing.assert_array_equal(result.values, drift.predict(batch).values)
    with pytest.raises(ValueError, match="another order than X_reference"):
        drift.predict(pd.DataFrame(batch, columns=names[::-1]))
    with pytest.raises(ValueError, match="expected 4, got 3"):
        drift.predict(batch[:, :3])
    with pytest.raises(ValueError, match=r"NaN.*row 0, column 'b'"):
        drift.predict(np.where(np.arange(4) == 1, np.nan, batch))
    with pytest.raises(ValueError, match="X must have at least 2 rows; got 1 row"):
        drift.predict(batch[:1])
    with pytest.raises(ValueError, match="X_reference must have at least 2 rows"):
        pkex.MMDDrift(reference[:1])


def test_a_column_that_only_the_reference_holds_constant_counts(reference, batch):
    reference[:, 1] = 4.0
    with pytest.warns(
        UserWarning,
        match=r"column 'x1' of X_reference is constant .* to batches that have the same value",
    ):
        drift = pkex.MMDDrift(reference)
    batch[:, 2] = 0.0
    for other in (batch[:, 1], 4.0 * (1.0 + 1e-5)):
        batch[:, 1] = other
        message = r"column 'x1' is constant in X_reference and different in X: for the def"
        with pytest.warns(UserWarning, match=message):
            assert drift.predict(batch).values[1] > 0.1
    for same in (4.0, np.nextafter(4.0, 5.0), 4.0 * (1.0 + 5e-8)):
        batch[:, 1] = same
        assert drift.predict(batch).values[1] == 0.0
    with pytest.warns(UserWarning, match="constant"):
        given = pkex.MMDDrift(reference, kernel=RBF([2.0, 1e-7, 2.0, 2.0]))
    assert given.predict(batch).values[1] > 0.1


def test_unknown_arguments_are_refused(reference):
    drift = pkex.MMDDrift(reference)
    with pytest.raises(TypeError, match="has no argument 'n_permutations'; it takes X, progress"):
        drift.predict(reference, n_permutations=10)
    with pytest.raises(ValueError, match="estimator must be one of"):
        pkex.MMDDrift(reference, estimator="U")


@pytest.mark.parametrize("estimator", ["incomplete", "block"])
def test_a_detector_says_which_estimators_it_has(estimator):
    with pytest.raises(
        ValueError, match=f"estimator='{estimator}' is only supported by pkex.mmd and"
    ):
        pkex.MMDDrift(np.zeros((9, 2)), estimator=estimator)
