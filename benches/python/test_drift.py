"""Power and time of the drift detector and of other common methods.

The detector of alibi-detect is included if it is installed with torch, in an environment with
NumPy 1.
"""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from comparison import Task, drop, slowdown
from scipy.stats import chi2_contingency, ks_2samp, mannwhitneyu
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

import pkex

ALPHA, REPEATS, REFERENCE, BATCH = 0.05, 100, 500, 100
NUMBERS, LABELS = ["a", "b", "c", "d"], ["kind", "city"]


def rows(rng, n, change=None):
    """Return four numbers and two categories; a and b are independent, and so are kind and city."""
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=NUMBERS)
    frame["kind"], frame["city"] = rng.choice(list("xy"), n), rng.choice(list("uvw"), n)
    if change == "the mean of a column, by 0.4":
        frame["a"] += 0.4
    elif change == "the frequency of a level":
        frame.loc[rng.random(n) < 0.25, "city"] = "u"
    elif change == "the dependence of two numbers":
        frame["b"] = 0.6 * frame["a"] + 0.8 * frame["b"]
    elif change == "the dependence of a number and a label":
        frame["a"] = np.abs(frame["a"]) * np.where(frame["kind"] == "x", 1.0, -1.0)
    elif change == "the means of all numbers, by 0.2":
        frame[NUMBERS] += 0.2
    return frame


CHANGES = [
    None,
    "the mean of a column, by 0.4",
    "the means of all numbers, by 0.2",
    "the frequency of a level",
    "the dependence of two numbers",
    "the dependence of a number and a label",
]


def by_columns(x, y):
    """Return whether Kolmogorov–Smirnov and χ² tests find drift, with Bonferroni's correction."""
    pvalues = [ks_2samp(x[name], y[name]).pvalue for name in NUMBERS]
    source = np.repeat([0, 1], [len(x), len(y)])
    for name in LABELS:
        table = pd.crosstab(source, np.concatenate([x[name], y[name]]))
        pvalues.append(chi2_contingency(table).pvalue)
    return min(pvalues) * len(pvalues) <= ALPHA


@threadpool_limits.wrap(limits=1, user_api="openmp")
def by_classifier(x, y):
    """Return whether a rank test finds drift in boosted trees' scores of held-out rows."""
    both = pd.concat([x, y], ignore_index=True).astype(dict.fromkeys(LABELS, "category"))
    source = np.repeat([0, 1], [len(x), len(y)])
    train = np.arange(len(both)) % 2 == 0
    model = HistGradientBoostingClassifier(max_iter=50, categorical_features="from_dtype")
    model.fit(both[train], source[train])
    scores, held_out = model.predict_proba(both[~train])[:, 1], source[~train]
    ranks = mannwhitneyu(scores[held_out == 1], scores[held_out == 0], alternative="greater")
    return ranks.pvalue <= ALPHA


def by_one_length_scale(x, y):
    """Return whether MMD with alibi-detect's formulas, not its code, finds drift.

    Categories are one-hot. The length-scale is the square root of half the median squared distance
    in the reference.
    """
    both = coded(x, y)
    median = pkex.kernels.median_heuristic(both[0], standardize=False).length_scale
    kernel = pkex.kernels.RBF(median / 2.0**0.5)
    result = pkex.mmd(*both, kernel=kernel, n_permutations=199, random_state=0)
    return result.statistic_pvalue <= ALPHA


def by_alibi_detect(x, y):
    """Return whether alibi-detect's detector, with its defaults, finds drift."""
    from alibi_detect.cd import MMDDrift

    reference, batch = (rows.astype(np.float32) for rows in coded(x, y))
    drift = MMDDrift(reference, backend="pytorch", p_val=ALPHA, n_permutations=199, device="cpu")
    return bool(drift.predict(batch)["data"]["is_drift"])


def coded(x, y):
    """Return numbers unchanged and one-hot categories."""
    both = pd.get_dummies(pd.concat([x, y], ignore_index=True), dtype=float).to_numpy()
    return both[: len(x)], both[len(x) :]


def by_detector(x, y):
    """Return whether a detector with a new reference finds drift."""
    return pkex.MMDDrift(x, n_permutations=199, random_state=0).predict(y).is_drift


PEERS = {
    "tests by columns, corrected": by_columns,
    "a domain classifier": by_classifier,
    "MMD with one length-scale": by_one_length_scale,
}
if find_spec("alibi_detect"):
    PEERS["MMD by alibi-detect"] = by_alibi_detect


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_power(benchmark, add_row, change):
    def found(detects, rng):
        pairs = ((rows(rng, REFERENCE), rows(rng, BATCH, change)) for _ in range(REPEATS))
        return np.mean([detects(*pair) for pair in pairs])

    ours = benchmark.pedantic(found, (by_detector, np.random.default_rng(0)), rounds=1)
    for name, detects in PEERS.items():
        theirs = found(detects, np.random.default_rng(0))
        what = f"drift found, {change or 'nothing changed'}: {name}"
        add_row(what, f"{theirs:.0%}", f"{ours:.0%}", "", "")


@pytest.mark.parametrize("detects", PEERS.values(), ids=PEERS)
def test_time_of_a_batch(compare, detects):
    rng = np.random.default_rng(0)
    x, y = rows(rng, 2000), rows(rng, 200)
    drift = pkex.MMDDrift(x, n_permutations=199, random_state=0)
    drift.predict(y)
    names = {function: name for name, function in PEERS.items()}
    compare(
        f"a batch of 200 rows, 2000 of the reference: {names[detects]}",
        Task(lambda: drop(detects(x, y))),
        Task(lambda: drop(drift.predict(y))),
        show=slowdown,
    )
