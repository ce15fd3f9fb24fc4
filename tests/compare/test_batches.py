"""Batches in the forms that a timeline takes, and what it warns of."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pkex


def table(rng, n, shift=0.0):
    return pd.DataFrame({"size": rng.normal(shift, size=n), "city": rng.choice(["a", "b"], n)})


@pytest.fixture
def drift(rng):
    return pkex.MMDDrift(table(rng, 100), n_permutations=199, random_state=0)


def test_too_few_permutations_for_the_batches_are_warned_of_before_any_work(rng, drift):
    with pytest.warns(UserWarning, match=r"drift in 12 batches cannot be detected.*=239 or more"):
        line = drift.timeline([table(rng, 30, 3.0) for _ in range(12)])
    assert not line.is_drift.any()
    assert "note: drift in 12 batches cannot be detected" in repr(line)
    with (
        pytest.warns(UserWarning, match="cannot be detected"),
        pytest.raises(ValueError, match="1 row"),
    ):
        drift.timeline([table(rng, 1)] * 12)


@pytest.mark.parametrize("n_batches", [6, 10])
def test_as_many_permutations_as_are_asked_for_find_drift(rng, n_batches):
    drift = pkex.MMDDrift(table(rng, 100), n_permutations=20 * n_batches - 1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        line = drift.timeline(table(rng, 60, 3.0) for _ in range(n_batches))
    assert line.is_drift.all()
    assert line.notes == ()
    assert line.batch_names == tuple(map(str, range(n_batches)))


def test_pairs_of_names_and_tables_name_the_batches(rng, drift):
    months = table(rng, 60).assign(month=["may", "june"] * 30)
    line = drift.timeline((name, own[["size", "city"]]) for name, own in months.groupby("month"))
    assert line.batch_names == ("june", "may")
    assert drift.timeline(months.groupby("month")[["size", "city"]]).batch_names == ("june", "may")
    assert drift.timeline([("a", months[["size", "city"]])] * 2).batch_names == ("a", "a")
    with pytest.raises(ValueError, match=r"batch 'june': X has other.*not expected \['month'\]"):
        drift.timeline(months.groupby("month"))
    with pytest.raises(TypeError, match=r"batches must be a list of tables.*got int"):
        drift.timeline(3)


def test_warnings_name_the_batch(rng):
    with pytest.warns(UserWarning, match="constant"):
        drift = pkex.MMDDrift(np.column_stack([rng.normal(size=50), np.ones(50)]))
    good = np.column_stack([rng.normal(size=20), np.ones(20)])
    with pytest.warns(UserWarning, match=r"^batch 'may': column 'x1' is constant"):
        drift.timeline({"april": good, "may": good + 1.0})
    with pytest.warns(UserWarning, match=r"^column 'x1' is constant"):
        drift.predict(good + 1.0)
