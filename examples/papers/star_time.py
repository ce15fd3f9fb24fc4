"""Computing time of exact values for sums of terms of few features.

Figures 1 and 2 of Dubé and Marchand (2025, STAR-SHAP), with functions whose values are known: each
term is a number if all of its k features are 1, and 0 otherwise. Left: time for ten rows and ten
background rows with 50 terms of five features, by the number of features, for pkex, all coalitions,
and estimates of shapiq with 256 evaluations per row. Right: for 100 terms, the error of SHAP-IQ by
its time, and the times of pkex, whose values are exact. Needs pkex[demo,shapiq].

    python examples/papers/star_time.py           few sizes, 3 s
    python examples/papers/star_time.py --full    the sizes of the paper, 3 runs, 2 min
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import shapiq
from experiment import Experiment
from matplotlib.ticker import NullFormatter

import pkex

N_ROWS = 10


class AllOnes:
    """A number if all columns are 1, else 0."""

    def __init__(self, number):
        self.number = number

    def __call__(self, *columns):
        return self.number * np.logical_and.reduce([column == 1.0 for column in columns])


def drawn(n_features, n_terms, size, random):
    """Return a sum of random terms, and rows of zeros and ones."""
    terms = [
        (random.choice(n_features, size, replace=False), AllOnes(random.random()))
        for _ in range(n_terms)
    ]
    names = [f"x{j}" for j in range(n_features)]
    rows = random.integers(0, 2, size=(N_ROWS, n_features)).astype(float)
    return pkex.TermExpansion(terms, feature_names=names), rows


def exact(function, rows):
    """Return values computed from the terms."""
    return pkex.Explainer(function, rows).shap_values(rows)


def value_function_of(function, row, background):
    """Return the function from coalitions (count, n) of a row to their values v(S)."""

    def value_function(coalitions):
        mixed = np.where(coalitions[:, None], row, background)
        outputs = function.predict(mixed.reshape(-1, len(row)))
        return outputs.reshape(len(coalitions), -1).mean(axis=1)

    return value_function


def by_all_coalitions(function, rows):
    """Return values computed from all coalitions of all features."""
    return pkex.Explainer(function, rows, transform=np.array).shap_values(rows)


def estimated(method, budget):
    """Return an estimator of shapiq with that many evaluations per row."""

    def estimate(function, rows):
        estimator = method(function.n_features)
        games = (value_function_of(function, row, rows) for row in rows)
        found = [estimator.approximate(budget, game).get_n_order_values(1) for game in games]
        return np.array(found)

    return estimate


def shap_iq(n):
    return shapiq.SHAPIQ(n=n, max_order=1, index="SV", random_state=0)


def kernel_shap(n):
    return shapiq.KernelSHAP(n=n, random_state=0)


def unbiased_kernel_shap(n):
    return shapiq.UnbiasedKernelSHAP(n=n, random_state=0)


def seconds(compute, *arguments):
    """Return the processor time and the values."""
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):  # the budget is not used up
        values = compute(*arguments)
    return time.process_time() - start, values


def unexplained(values, reference):
    """Return 1 − R² of values."""
    return np.sum((values - reference) ** 2) / np.sum((reference - reference.mean()) ** 2)


# --- left: time by the number of features (H1) ---

METHODS = {
    "pkex": exact,
    "pkex, n-STAR": exact,
    "all coalitions": by_all_coalitions,
    "KernelSHAP": estimated(kernel_shap, 256),
    "Unbiased KernelSHAP": estimated(unbiased_kernel_shap, 256),
    "SHAP-IQ": estimated(shap_iq, 256),
}
# Colors of methods, in both pictures.
COLORS = dict(zip(METHODS, ("C0", "C5", "C6", "C2", "C3", "C1"), strict=True))


def time_of(method, n, n_runs):
    """Return the median time for 50 terms of five features, or of all features."""
    size = n if method == "pkex, n-STAR" else min(n, 5)
    draws = [drawn(n, 50, size, np.random.default_rng(run)) for run in range(n_runs)]
    return np.median([seconds(METHODS[method], *draw)[0] for draw in draws])


def draw_times(ax, numbers, largest, n_runs):
    """Draw the time of each method, up to its largest number of features, and return the last."""
    last = {}
    for method in METHODS:
        own = [n for n in numbers if n <= largest.get(method, n)]
        times = [time_of(method, n, n_runs) for n in own]
        print(
            f"  {method}: {own[0]} features {times[0]:.2g} s, {own[-1]} features {times[-1]:.2g} s"
        )
        ax.plot(own, times, ".-", color=COLORS[method], label=method)
        name = method.lower().replace(", n-", "_").replace(" ", "_").replace("-", "_")
        last |= {f"{name}_n": own[-1], f"{name}_seconds": times[-1], f"{name}_first": times[0]}
    ax.set(xscale="log", yscale="log", xlabel="features", ylabel="seconds of CPU")
    ax.set_title("50 terms of 5 features")
    ax.legend(fontsize="small")
    return last


# --- right: error by time (H2) ---

# By number of features: the marker, the sizes of terms, and the height of pkex's times.
PROBLEMS = {
    10: ("o", (2, 3, 4), 1.2e-5),
    100: ("s", (3, 5, 7), 3e-6),
    500: ("^", (6, 8, 10), 7e-7),
}
BAND = (3e-7, 3e-5)


def draw_errors(ax, budgets, runs):
    """Draw SHAP-IQ's error by its time, and in a band below it the times of pkex.

    Return the last of them for each number of features.
    """
    last = {}
    ax.axhspan(*BAND, color="whitesmoke")
    for n, (marker, sizes, height) in PROBLEMS.items():
        times = [
            seconds(exact, *drawn(n, 100, size, np.random.default_rng(0)))[0] for size in sizes
        ]
        found = np.array([error_of(n, sizes[1], budget, runs) for budget in budgets[n]])
        print(
            f"  {n} features: pkex {times[1]:.2g} s, SHAP-IQ {found[-1, 0]:.2g} s with 1 − R² of "
            f"{found[-1, 1]:.1g}"
        )
        last |= {f"exact_{n}": times[1], f"iq_{n}": found[-1, 0], f"iq_{n}_error": found[-1, 1]}
        errors, color = np.maximum(found[:, 1], BAND[1]), COLORS["SHAP-IQ"]
        ax.plot(found[:, 0], errors, marker=marker, color=color, markersize=5.0)
        ax.plot(times, [height] * 3, marker, color=COLORS["pkex"], markersize=5.0)
        ax.plot([], [], marker, color="0.3", markersize=5.0, label=f"{n} features")
        name = f"  k = {', '.join(map(str, sizes))}"
        place = max(times), height
        ax.annotate(name, place, va="center", color=COLORS["pkex"])
    ax.set(xscale="log", yscale="log", xlabel="seconds of CPU", ylabel="1 − R² of SHAP-IQ")
    ax.set_ylim(bottom=BAND[0])
    ax.set_xlim(right=3.0 * ax.get_xlim()[1])  # for the annotations
    ax.set_yticks([1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.text(0.98, 0.2, "pkex: exact", ha="right", transform=ax.transAxes, color=COLORS["pkex"])
    ax.set_title("100 terms of k features")
    ax.legend(loc="center right")
    return last


def error_of(n, size, budget, runs):
    """Return the median time and error of SHAP-IQ over runs."""
    found = []
    for run in range(runs):
        function, rows = drawn(n, 100, size, np.random.default_rng(run))
        taken, values = seconds(estimated(shap_iq, budget), function, rows)
        found.append((taken, unexplained(values, exact(function, rows))))
    return np.median(found, axis=0)


def check():
    """Compare with all coalitions."""
    function, rows = drawn(10, 50, 5, np.random.default_rng(0))
    explanation = pkex.Explainer(function, rows)(rows)
    assert np.allclose(explanation.values, by_all_coalitions(function, rows), rtol=0, atol=1e-12)
    output = function.predict(rows)
    error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - output).max()
    print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {output.max():.3g})")


run = Experiment(__doc__)
check()
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.4))
if run.full:
    numbers = draw_times(
        left,
        [*range(5, 20, 2), *range(20, 1021, 200)],
        {"all coalitions": 15, "pkex, n-STAR": 11},
        3,
    ) | draw_errors(
        right, {10: (50, 100, 200, 400, 800), 100: (200, 600, 2000), 500: (600, 2000)}, 3
    )
else:
    shortened = {name: 60 for name in METHODS if "SHAP" in name}
    shortened |= {"all coalitions": 9, "pkex, n-STAR": 9}
    numbers = draw_times(left, [5, 9, 60, 1020], shortened, 1) | draw_errors(
        right, {10: (50, 400), 100: (100, 200), 500: (60,)}, 1
    )
run.save(figure, numbers)
