"""One report of the whole call, whatever passes over the pairs it takes."""

import numpy as np
import pytest

import pkex


def weights(x):
    return np.arange(1.0, len(x) + 1.0), None


# On one thread, so that a call takes many times as long as it waits between reports.
ONE = {"n_jobs": 1}
CALLS = {
    "plain": lambda x, y, p: pkex.mmd(x, y, progress=p, **ONE),
    "marginal": lambda x, y, p: pkex.mmd(x, y, value_function="marginal", progress=p, **ONE),
    "weights": lambda x, y, p: pkex.mmd(x, y, weights=weights(x), progress=p, **ONE),
    "weights, marginal": lambda x, y, p: pkex.mmd(
        x, y, weights=weights(x), value_function="marginal", progress=p, **ONE
    ),
    "groups": lambda x, y, p: pkex.mmd(x, y, groups={"a": [0, 1]}, progress=p, **ONE),
    "permutations": lambda x, y, p: pkex.mmd(x, y, n_permutations=50, progress=p, **ONE),
    "hsic": lambda x, y, p: pkex.hsic(x, y[:, 0], progress=p, **ONE),
    "hsic, permutations": lambda x, y, p: pkex.hsic(
        x, y[:, 0], n_permutations=50, progress=p, **ONE
    ),
    "hsic, labels": lambda x, y, p: pkex.hsic(x, y[:, 0] > 0.0, progress=p, **ONE),
    "hsic of the target": lambda x, y, p: pkex.hsic(x, y, attribute="y", progress=p, **ONE),
    "reference": lambda x, y, p: pkex.MMDDrift(np.concatenate([x, y]), progress=p, **ONE),
    "batch": lambda x, y, p: pkex.MMDDrift(x, **ONE).predict(y, progress=p),
}


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("plain", "hsic", "batch") else pytest.param(name, marks=pytest.mark.slow)
        for name in CALLS
    ],
)
def test_progress_rises_once_from_the_start_to_the_whole(rng, name):
    n = 5000 if name.startswith("hsic") else 2500  # as many pairs of one sample as of two
    x, y = rng.normal(size=(2, n, 20))
    shares = []
    CALLS[name](x, y, lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    assert len(shares) > 2
    assert 0.0 <= shares[0] < 0.6
    assert shares[-1] == 1.0
    assert shares.count(1.0) == 1


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_short_calls_report_that_they_are_done(rng, call):
    x, y = rng.normal(size=(2, 40, 3))
    shares = []
    call(x, y, lambda done, total: shares.append(done / total))
    assert shares.count(1.0) == 1
    assert shares[-1] == 1.0


@pytest.mark.parametrize(("n", "number"), [(128, 50_000), (600, 100_000)])
def test_permutation_has_its_share(rng, n, number):
    x = rng.normal(size=(n, 3))
    shares = []
    pkex.hsic(
        x, x[:, 0], n_permutations=number, progress=lambda done, total: shares.append(done / total)
    )
    assert shares == sorted(shares)
    # It is most of the work, and reports more than that it is done.
    assert sum(0.3 < share < 1.0 for share in shares) > 2


@pytest.mark.parametrize("convention", ["marginal", "neutral"])
def test_progress_does_not_go_back_where_rows_are_permuted_one_by_one(rng, convention):
    x = rng.normal(size=(512, 30))
    kernel = pkex.kernels.Cauchy(5.0)
    for length_scale in range(6, 18):  # the values of all pairs take a while
        kernel = kernel + pkex.kernels.Cauchy(float(length_scale))
    shares = []
    pkex.hsic(
        x,
        x[:, 0],
        kernel=kernel,
        value_function=convention,
        n_permutations=60,
        progress=lambda done, total: shares.append(done / total),
        **ONE,
    )
    assert shares == sorted(shares)
    assert shares.count(1.0) == 1


def test_an_exception_from_progress_ends_the_call_without_another_report(rng):
    x, y = rng.normal(size=(2, 3000, 10))
    reports = []

    def fail(done, total):
        reports.append(done)
        raise ZeroDivisionError

    for call in CALLS.values():
        reports.clear()
        with pytest.raises(ZeroDivisionError):
            call(x, y, fail)
        assert len(reports) == 1
