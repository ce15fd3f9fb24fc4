"""MMD attributed to all features: pairs per second, growth, and alternatives."""

import time

import numpy as np
from comparison import Task, assert_agree, drop, slowdown, spread
from scipy.stats import ks_2samp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from statistics_problems import mmd, mmd_by_chunks, mmd_by_matrices, pairs, two_samples
from threadpoolctl import threadpool_limits

import pkex

ALL_FEATURES = "MMD of all features, n = m ="


def attributing(x, y, **options):
    """Return a task whose time is per pair of rows of the pooled sample."""
    clock = options.pop("clock", time.perf_counter)
    return Task(lambda: mmd(x, y, **options), pairs(len(x) + len(y)), clock)


def test_pairs_a_second(turns, add_row):
    ours = attributing(*two_samples(5000))
    cores = attributing(*two_samples(5000), clock=time.process_time)
    of_cores, of_clock = turns([cores, ours])
    what = f"{ALL_FEATURES} 5000, d = 20: distinct pairs a second"
    add_row(what, "", spread(1.0 / of_clock, millions), "", "≥ 60 M/s")
    add_row("the same, a second of one core", "", spread(1.0 / of_cores, millions), "", "")


def test_against_rbf_kernel(turns, add_comparison):
    x, y = two_samples(5000)
    kernel = one_length_scale(x, y)
    tasks = [
        Task(lambda: mmd_by_matrices(x, y, kernel)),
        Task(lambda: mmd(x, y, kernel=kernel)),
        Task(lambda: mmd(x, y, kernel=kernel, n_permutations=999, random_state=0)),
    ]

    def agree(theirs, *ours):
        for values in ours:
            assert_agree(theirs, values)

    theirs, *ours = turns(tasks, seconds=30.0, check=agree)
    what = f"{ALL_FEATURES} 5000, d = 20: `rbf_kernel` whole, the statistic alone"
    add_comparison(what, theirs, ours[0], goal="≤ 1.2× the time", show=slowdown)
    what += ", against univariate values and 999 permutations"
    add_comparison(what, theirs, ours[1], goal="≤ 1.5× the time", show=slowdown)


def test_against_rbf_kernel_in_chunks(compare):
    x, y = two_samples(5000)
    kernel = one_length_scale(x, y)
    what = f"{ALL_FEATURES} 5000, d = 20: `rbf_kernel` in chunks of 1024 rows, the statistic alone"
    theirs = Task(lambda: mmd_by_chunks(x, y, kernel))
    compare(what, theirs, Task(lambda: mmd(x, y, kernel=kernel)), show=slowdown)


def one_length_scale(x, y):
    """Return a Gaussian kernel with one length-scale, as scikit-learn's kernel has."""
    return pkex.kernels.median_heuristic(x[:1000], y[:1000], standardize=False)


def test_growth_in_rows(turns, add_comparison):
    sizes = [1000, 2000, 4000, 8000]
    first, *others = turns([attributing(*two_samples(n)) for n in sizes])
    for n, seconds in zip(sizes[1:], others, strict=True):
        what = f"growth in n: a pair, n = m = {n} against {sizes[0]}, d = 20"
        add_comparison(what, first, seconds, goal="1×", show=slowdown)


def test_growth_in_features(turns, add_comparison):
    sizes = [20, 5, 10, 50, 100]
    tasks = [attributing(*two_samples(2000, d)) for d in sizes]
    base, *others = turns(tasks, seconds=20.0) / np.array(sizes)[:, None]
    for d, seconds in zip(sizes[1:], others, strict=True):
        what = f"growth in d: a pair and feature, d = {d} against {sizes[0]}, n = m = 2000"
        add_comparison(what, base, seconds, goal="1×", show=slowdown)


def test_threads(compare):
    x, y = two_samples(5000)
    one, two = (attributing(x, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    compare("MMD, n = m = 5000, d = 20: a pair, one thread against two", one, two, goal="2×")


def test_domain_classifier(compare):
    x, y = two_samples(2000)
    what = f"{ALL_FEATURES} 2000: permutation importance of a boosted domain classifier, one thread"
    compare(what, Task(lambda: drop(domain_classifier(x, y))), Task(lambda: mmd(x, y)))


@threadpool_limits.wrap(limits=1, user_api="openmp")
def domain_classifier(x, y):
    """Return the importance of each feature for classifying held-out rows of x and y.

    It uses one thread, because waiting threads take seconds on a busy machine.
    """
    X, domain = np.concatenate([x, y]), np.repeat([0, 1], [len(x), len(y)])
    X, held_out, domain, held_out_domain = train_test_split(X, domain, random_state=0)
    classifier = HistGradientBoostingClassifier(random_state=0).fit(X, domain)
    return permutation_importance(classifier, held_out, held_out_domain, random_state=0)


def test_kolmogorov_smirnov(compare):
    x, y = two_samples(2000)
    what = f"{ALL_FEATURES} 2000, 999 permutations: Kolmogorov–Smirnov, feature by feature"
    theirs = Task(lambda: drop([ks_2samp(a, b) for a, b in zip(x.T, y.T, strict=True)]))
    ours = Task(lambda: mmd(x, y, n_permutations=999, random_state=0))
    compare(what, theirs, ours, show=slowdown)


def millions(rate):
    return f"{rate / 1e6:.3g} M"
