"""Tables with one planted change each: `python planted_changes.py [n_tables] [seed]`.

Six numbers and four categorical columns, 500 rows per sample. The change is a shift, a larger
spread, other frequencies of levels, a new level, a correlation, or a number that depends on a
category. For each, prints how often the result is significant, how often `pkex drift` reports the
planted column or pair, in how many tables it reports others, and how many of these have p-values
above the level, which must be 0.
"""

import sys
from collections import Counter

import numpy as np
import pandas as pd

import pkex
from pkex.compare.results.conclusion import significant_features, significant_pairs

ROWS, ALPHA, PERMUTATIONS = 500, 0.05, 999
LEVELS = np.array(list("uvwx"))
FREQUENCIES = np.array([0.4, 0.3, 0.2, 0.1])


def table(rng):
    numbers = {f"x{j}": rng.normal(size=ROWS) for j in range(6)}
    labels = {f"c{j}": rng.choice(LEVELS, ROWS, p=FREQUENCIES) for j in range(4)}
    return pd.DataFrame(numbers | labels)


def shift(rows, rng):
    rows["x0"] += 0.3
    return {"x0"}


def spread(rows, rng):
    rows["x1"] *= 1.4
    return {"x1"}


def frequency(rows, rng):
    rows.loc[rng.random(ROWS) < 0.15, "c0"] = "x"
    return {"c0"}


def new_level(rows, rng):
    rows.loc[rng.random(ROWS) < 0.05, "c1"] = "new"
    return {"c1"}


def correlation(rows, rng):
    rows["x3"] = 0.6 * rows["x2"] + 0.8 * rows["x3"]
    return {("x2", "x3")}


def number_and_label(rows, rng):
    """The number keeps its normal distribution: its order depends on the category."""
    order = np.argsort((rows["c2"] == "u") + rng.normal(scale=0.7, size=ROWS))
    rows["x4"] = np.sort(rows["x4"])[np.argsort(order)]
    return {("x4", "c2")}


CHANGES = (shift, spread, frequency, new_level, correlation, number_and_label)


def main(n_tables=60, seed=0):
    counts = {change.__name__: Counter() for change in CHANGES}
    for number in range(n_tables):
        rng = np.random.default_rng([seed, number])
        first, second = table(rng), table(rng)
        change = CHANGES[number % len(CHANGES)]
        planted = change(second, rng)
        result = pkex.mmd(first, second, n_permutations=PERMUTATIONS, random_state=number)
        columns = {result.feature_names[j] for j in significant_features(result, ALPHA)}
        pairs = set(significant_pairs(result, ALPHA))
        own = counts[change.__name__]
        own["tables"] += 1
        own["significant"] += result.pvalue <= ALPHA
        own["named"] += planted <= columns | pairs
        own["other column"] += bool(columns - planted)
        own["other pair"] += bool(pairs - planted)
        pvalues = dict(zip(result.feature_names, result.alone_familywise_pvalues, strict=True))
        own["beyond α"] += any(pvalues[name] > ALPHA for name in columns)
    titles = ("tables", "significant", "named", "other column", "other pair", "beyond α")
    print(f"{'planted':18s}" + "".join(f"{title:>14s}" for title in titles))
    total = sum(counts.values(), Counter())
    for name, own in {**counts, "all": total}.items():
        print(f"{name:18s}" + "".join(f"{own[title]:14d}" for title in titles))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
