"""How often `pkex.mmd` finds a change: `python power.py [repeats] [seed]`.

Six numbers and four categorical columns, 500 rows per sample, α = 5 %, 299 permutations. Compares
tests of single columns (Kolmogorov–Smirnov and χ² with Bonferroni's correction); the statistic of
one Gaussian over all columns (one-hot categories, `pkex.kernels.median_heuristic`); the statistic
of the default kernel; the largest single column; and the p-value that combines the last two.
"""

import sys

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

import pkex

ROWS, ALPHA, PERMUTATIONS = 500, 0.05, 299
NUMBERS, LABELS = range(6), range(6, 10)


def sample(rng):
    labels = rng.choice(4, (ROWS, len(LABELS)), p=[0.4, 0.3, 0.2, 0.1])
    return np.column_stack([rng.normal(size=(ROWS, len(NUMBERS))), labels])


def nothing(rows, rng):
    pass


def mean_by_a_fifth(rows, rng):
    rows[:, 0] += 0.2


def all_means_by_an_eighth(rows, rng):
    rows[:, NUMBERS] += 0.12


def spread_by_two_fifths(rows, rng):
    rows[:, 0] *= 1.4


def frequency_of_a_level(rows, rng):
    rows[rng.random(ROWS) < 0.1, 6] = 3


def new_level(rows, rng):
    rows[rng.random(ROWS) < 0.05, 6] = 9


def correlation(rows, rng):
    rows[:, 1] = 0.6 * rows[:, 0] + 0.8 * rows[:, 1]


def number_and_label(rows, rng):
    chosen = rng.random(ROWS) < 0.5
    rows[chosen, 6] = np.where(rows[chosen, 0] > 0, 0, 1)


CHANGES = (
    nothing,
    mean_by_a_fifth,
    all_means_by_an_eighth,
    spread_by_two_fifths,
    frequency_of_a_level,
    new_level,
    correlation,
    number_and_label,
)


def by_columns(x, y):
    """Return the smallest corrected p-value of a column."""
    pvalues = [ks_2samp(x[:, j], y[:, j]).pvalue for j in NUMBERS]
    for j in LABELS:
        counts = [
            [np.sum(rows[:, j] == level) for level in np.union1d(x[:, j], y[:, j])]
            for rows in (x, y)
        ]
        pvalues.append(chi2_contingency(counts).pvalue)
    return min(pvalues) * len(pvalues)


def one_hot(x, y):
    """Return both samples with one-hot categories."""
    levels = [(j, level) for j in LABELS for level in np.union1d(x[:, j], y[:, j])]
    flags = [np.column_stack([rows[:, j] == level for j, level in levels]) for rows in (x, y)]
    return [
        np.column_stack([rows[:, NUMBERS], own]) for rows, own in zip((x, y), flags, strict=True)
    ]


def found(x, y, seed):
    """Return which of the tests find a difference, by name."""
    options = {"n_permutations": PERMUTATIONS, "random_state": seed}
    coded = one_hot(x, y)
    gaussian = pkex.kernels.median_heuristic(*coded)
    one = pkex.mmd(*coded, kernel=gaussian, **options)
    result = pkex.mmd(x, y, categorical=LABELS, **options)
    pvalues = {
        "columns": by_columns(x, y),
        "one Gaussian": one.statistic_pvalue,
        "default statistic": result.statistic_pvalue,
        "single column": result.univariate_pvalue,
        "combined": result.pvalue,
    }
    return {name: pvalue <= ALPHA for name, pvalue in pvalues.items()}


def main(repeats=100, seed=0):
    rng = np.random.default_rng(seed)
    for change in CHANGES:
        hits = []
        for number in range(repeats):
            x, y = sample(rng), sample(rng)
            change(y, rng)
            hits.append(found(x, y, number))
        shares = {name: f"{np.mean([hit[name] for hit in hits]):.0%}" for name in hits[0]}
        print(f"{change.__name__}:", ", ".join(f"{name} {share}" for name, share in shares.items()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
