"""Rate of false alarms without a change: `python false_alarms.py [n_pairs] [seed]`.

For several kinds of tables and sizes, draws pairs of samples of one distribution. Prints how often
`MMDDrift` and `mmd` have a p-value of at most 5 %, in percent. Then draws independent columns whose
frequencies may change, and prints how often any pair of columns is reported.
"""

import sys
import warnings

import numpy as np
import pandas as pd

import pkex

ALPHA, PERMUTATIONS = 0.05, 99


def numbers(rng, n):
    return pd.DataFrame(rng.normal(size=(n, 4)))


def mixed(rng, n):
    """Return skewed numbers, some missing, and categorical columns of 4 and 11 levels."""
    rows = pd.DataFrame(rng.lognormal(size=(n, 2)), columns=["a", "b"])
    rows.loc[rng.random(n) < 0.02, "a"] = np.nan
    rows["c"] = rng.choice(list("uvwx"), n, p=[0.4, 0.3, 0.2, 0.1])
    return rows.assign(d=rng.choice(list("pqrstuvwxyz"), n))


def ties(rng, n):
    """Return integers with few values, a rare boolean and rare levels."""
    rows = pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.poisson(1.0, n)}).astype(float)
    rows["c"] = rng.choice(list("uvwx"), n, p=[0.7, 0.2, 0.07, 0.03])
    return rows.assign(d=(rng.random(n) < 0.1).astype(float))


def many_levels(rng, n):
    levels = "l" + pd.Series(rng.zipf(1.7, n).clip(max=200)).astype(str)
    return pd.DataFrame({"a": rng.normal(size=n), "c": levels})


TABLES = (numbers, mixed, ties, many_levels)
SIZES = ((10, 10), (10, 30), (12, 60), (30, 30), (30, 300), (60, 200), (100, 1000))


def detected(first, second, seed):
    drift = pkex.MMDDrift(
        first, missing="indicator", n_permutations=PERMUTATIONS, random_state=seed, n_jobs=1
    )
    return drift.predict(second)


def compared(first, second, seed):
    return pkex.mmd(
        first,
        second,
        missing="indicator",
        n_permutations=PERMUTATIONS,
        random_state=seed,
        n_jobs=1,
    )


def booleans(share):
    return lambda rng, n: pd.DataFrame((rng.random((n, 5)) < share).astype(float))


def labels(*shares):
    return lambda rng, n: pd.DataFrame(rng.choice(list("uvw"), (n, 5), p=shares))


def counts(mean):
    return lambda rng, n: pd.DataFrame(rng.poisson(mean, (n, 5)).astype(float))


INDEPENDENT = {
    "numbers": (numbers, numbers),
    "booleans, 0.5 and 0.2": (booleans(0.5), booleans(0.2)),
    "booleans, 0.5 and 0.03": (booleans(0.5), booleans(0.03)),
    "labels": (labels(0.5, 0.3, 0.2), labels(0.88, 0.06, 0.06)),
    "counts, means 3 and 0.1": (counts(3.0), counts(0.1)),
}
PAIR_SIZES = ((60, 60), (300, 300), (1000, 100), (100, 1000))


def main(n_pairs=300, seed=0):
    warnings.simplefilter("ignore")
    print("p ≤ 5 %, in percent: combined, statistic, strongest single feature")
    for test in (detected, compared):
        for table in TABLES:
            for n, m in SIZES:
                found = np.zeros(3)
                for number in range(n_pairs):
                    rng = np.random.default_rng([seed, number, n, m])
                    result = test(table(rng, n), table(rng, m), number)
                    pvalues = result.pvalue, result.statistic_pvalue, result.univariate_pvalue
                    found += np.array(pvalues) <= ALPHA
                shares = "".join(f"{100.0 * share:6.1f}" for share in found / n_pairs)
                print(f"{test.__name__:9s} {table.__name__:12s} {n:4d} {m:5d} {shares}", flush=True)
    print("a pair of columns is named, in percent")
    for name, (first, second) in INDEPENDENT.items():
        for n, m in PAIR_SIZES:
            named = 0
            for number in range(n_pairs):
                rng = np.random.default_rng([seed, number, n, m])
                pairs = compared(first(rng, n), second(rng, m), number).pair_dependence
                named += any(pair.familywise_pvalue <= ALPHA for pair in pairs)
            print(f"{name:24s} {n:4d} {m:5d} {100.0 * named / n_pairs:6.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
