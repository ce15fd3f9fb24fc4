"""Exact sums over pairs on joblib's workers: the bits of one process."""

import pickle

import joblib
import numpy as np
import pytest

import pkex
from pkex.compare.pairs import pair_sums
from pkex.execution.backends import JoblibWorkers
from pkex.kernels import RBF, Matern

RNG = np.random.default_rng(0)
# Two bands of rows, whose sums are added together.
X, Y = RNG.normal(size=(2100, 3)), RNG.normal(size=(500, 3))
TARGET = X[:, 0] + RNG.normal(size=2100)
CALLS = {
    "MMD": lambda **computation: pkex.mmd(X, Y, n_permutations=9, random_state=0, **computation),
    "MMD of weighted rows": lambda **computation: pkex.mmd(
        X, Y, weights=(X[:, 0] ** 2, None), **computation
    ),
    "MMD of a mixture": lambda **computation: pkex.mmd(
        X[:200], Y[:200], kernel=Matern(2.0, nu=2.5), value_function="neutral", **computation
    ),
    "HSIC in blocks": lambda **computation: pkex.hsic(
        X, TARGET, n_permutations=9, random_state=0, **computation
    ),
    "HSIC of targets": lambda **computation: pkex.hsic(
        X, TARGET, target_kernel=RBF(1.0), estimator="unbiased", attribute="y", **computation
    ),
    "plain sums": lambda **computation: pkex.mmd(X, Y, summation="plain", **computation),
}


@pytest.fixture
def pieces(monkeypatch):
    """The pieces that workers computed, of few sums; also of few rows."""
    monkeypatch.setattr(pair_sums, "_MANY_ROWS", 100)
    monkeypatch.setattr(pair_sums, "_TASK_SIZE", 2)
    handed_out, run = [], JoblibWorkers.map

    def recorded(self, function, items):
        items = list(items)
        handed_out.extend(items)
        return run(self, function, items)

    monkeypatch.setattr(JoblibWorkers, "map", recorded)
    return handed_out


def bits(result):
    return pickle.dumps(
        [result.values, result.standard_errors, result.alone, result.permuted_values]
    )


@pytest.mark.parametrize("call", CALLS)
def test_workers_give_the_bits_of_one_process(pieces, call):
    expected = bits(CALLS[call](n_jobs=1))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert bits(CALLS[call](n_jobs=1)) == expected
        assert pieces == []
        assert bits(CALLS[call]()) == expected
    assert len(pieces) > 1
    done = []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        CALLS[call](progress=lambda part, of_all: done.append(part / of_all))
    assert done == sorted(done)
    assert done[-1] == 1.0


def test_few_rows_are_not_worth_the_way(monkeypatch):
    monkeypatch.setattr(JoblibWorkers, "map", None)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert np.isfinite(CALLS["MMD"]().values).all()


def test_what_a_worker_raises_is_raised(pieces, monkeypatch):
    def fails(self, function, items):
        raise RuntimeError("the cluster is gone")

    monkeypatch.setattr(JoblibWorkers, "map", fails)
    with (
        joblib.parallel_config(backend="loky", n_jobs=2),
        pytest.raises(RuntimeError, match="the cluster is gone"),
    ):
        CALLS["MMD"]()
