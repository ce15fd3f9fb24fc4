"""Effects of interventions whose targets are in another data set: calibration and optimization.

Chau (2023), thesis, sections 4.4 and B.4; also Chau, Ton, González, Teh and Sejdinovic (2021),
BayesIMP. Calibration: the mean target under do(x) for y = x cos(πx) + noise and t = y cos(y) / 2 +
noise, where targets with y below −2 are not observed. Optimization: the largest effect of the
simple graph of figure 4.6, by Bayesian optimization with expected improvement. Each method is the
prior of a Gaussian process of the effect. "sampling" is that of Aglietti et al. (2020): a Gaussian
process of y given its causes and one of t given y; "GP" has no prior from the data sets. The thesis
does not say the variances of the noise, the distribution of x in the first experiment, nor the
range of x in the second; here they are as in the code. The picture has coverages, and the regret
after each step. Saves thesis_interventions.json and thesis_interventions.png.

    python examples/papers/thesis_interventions.py          3 repetitions, 10 s
    python examples/papers/thesis_interventions.py --full   10 repetitions, as in the paper, 30 s
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from pkex.models import InterventionalRegressor

# Of parameters at their bounds, for variables without influence.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

METHODS = ("IMP", "BayesIME", "BayesIMP")
LEVELS = np.arange(0.1, 1.0, 0.1)
N_STEPS, NOISE = 15, 0.5
GRAPHS = {
    "front_door": ("front-door", 0.5),
    "back_door": ("back-door", 0.5),
    "unimodal": ("back-door", 0.0),
}


def process(rows, targets):
    """Return a Gaussian process whose parameters maximize the marginal likelihood."""
    kernel = ConstantKernel(1.0) * RBF(rows.std(axis=0)) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True).fit(rows, targets)


def moments_of_targets(of_targets, mediators):
    """Return the mean and standard deviation of f(y) for draws of y, shape (n, draws)."""
    mean, deviation = of_targets.predict(mediators.reshape(-1, 1), return_std=True)
    # Of f, without the noise of the targets.
    noise = of_targets.kernel_.k2.noise_level * of_targets._y_train_std**2
    variance = np.maximum(deviation**2 - noise, 0.0).reshape(mediators.shape).mean(axis=1)
    mean = mean.reshape(mediators.shape)
    return mean.mean(axis=1), np.sqrt(variance + mean.var(axis=1))


def draws_of(model, rows, rng):
    """Return one draw of the predictive distribution of each row."""
    mean, deviation = model.predict(rows, return_std=True)
    return mean + deviation * rng.normal(size=len(mean))


def calibration(rng):
    """Return the coverage of central intervals of the effect, for each method and level."""
    x = 2.5 * rng.normal(size=100)
    y = x * np.cos(np.pi * x) + 0.3 * rng.normal(size=100)
    other_y = rng.uniform(-2.0, 6.0, size=100)
    t = 0.5 * other_y * np.cos(other_y) + 0.1 * rng.normal(size=100)
    new = 2.5 * rng.normal(size=400)
    mediators = new[:, None] * np.cos(np.pi * new[:, None]) + 0.3 * rng.normal(size=(400, 500))
    effect = (0.5 * mediators * np.cos(mediators)).mean(axis=1)
    found = {}
    for method in METHODS:
        model = InterventionalRegressor(method=method).fit(x[:, None], y, t, other_y)
        found[method] = model.predict(new[:, None], return_std=True)
    of_y, of_targets = process(x[:, None], y), process(other_y[:, None], t)
    drawn = draws_of(of_y, np.repeat(new, 50)[:, None], rng).reshape(-1, 50)
    found["sampling"] = moments_of_targets(of_targets, drawn)
    widths = norm.ppf(0.5 + LEVELS / 2.0)
    return {
        name: (np.abs(mean - effect)[:, None] <= widths * deviation[:, None]).mean(axis=0)
        for name, (mean, deviation) in found.items()
    }


def causes(x, z, share, rng):
    """Return U and Y of the simple graph, whose second mode has a share."""
    second = rng.uniform(size=x.shape) < share
    u = 2.0 * (x - second) - 3.0 * second + NOISE * rng.normal(size=x.shape)
    return u, u + np.exp(-z) + NOISE * rng.normal(size=x.shape)


def target(y):
    return np.cos(y) - np.exp(-y / 20.0)


def optimization(adjustment, share, rng):
    """Return the regret after each step of each method, relative to the range of the effect."""
    z = rng.uniform(-4.0, 4.0, size=100)
    x = 3.0 * np.cos(z) + NOISE * rng.normal(size=100)
    u, y = causes(x, z, share, rng)
    other_y = rng.uniform(-10.0, 10.0, size=50)
    t = target(other_y) + NOISE * rng.normal(size=50)
    grid = np.linspace(-4.0, 4.0, 161)
    at = np.repeat(grid[:, None], 20_000, axis=1)
    effect = target(causes(at, rng.uniform(-4.0, 4.0, size=20_000), share, rng)[1]).mean(axis=1)
    adjusting = u if adjustment == "front-door" else z
    priors = {}
    for method in METHODS:
        model = InterventionalRegressor(adjustment=adjustment, method=method)
        model.fit(x[:, None], y, t, other_y, adjustment_variables=adjusting)
        priors[method] = model.predict(grid[:, None], return_cov=True)
    of_y, of_targets = process(np.column_stack([x, adjusting]), y), process(other_y[:, None], t)
    some = rng.integers(100, size=(len(grid), 50))
    if adjustment == "front-door":
        between = draws_of(process(x[:, None], u), np.repeat(grid, 50)[:, None], rng)
        rows = np.column_stack([x[some].ravel(), between])
    else:
        rows = np.column_stack([np.repeat(grid, 50), z[some].ravel()])
    sampled = moments_of_targets(of_targets, draws_of(of_y, rows, rng).reshape(some.shape))
    start = int(rng.integers(len(grid)))
    regrets = {name: regret(effect, with_prior(*prior)) for name, prior in priors.items()}
    regrets["sampling"] = regret(effect, with_residual(grid, *sampled))
    regrets["GP"] = regret(effect, with_residual(grid, *np.zeros((2, len(grid)))), start)
    return regrets


def with_prior(mean, covariance):
    """Return the posterior for a prior mean and covariance on the grid."""

    def posterior(chosen, values):
        if not chosen:
            return mean, np.sqrt(np.diag(covariance))
        own = covariance[np.ix_(chosen, chosen)]
        own = own + 1e-6 * np.trace(own) / len(own) * np.eye(len(chosen))
        gain = np.linalg.solve(own, covariance[chosen]).T
        variance = np.diag(covariance) - (gain * covariance[:, chosen]).sum(axis=1)
        return mean + gain @ (values - mean[chosen]), np.sqrt(np.maximum(variance, 0.0))

    return posterior


def with_residual(grid, mean, deviation):
    """Return the posterior for the causal kernel: an RBF kernel plus deviation · deviation'."""

    def posterior(chosen, values):
        if not chosen:
            return mean, deviation
        residuals = values - mean[chosen]
        scale = max(float(np.square(residuals).mean()), 1e-6)
        lengths = (0.3, 0.6, 1.2, 2.4)
        processes = [
            GaussianProcessRegressor(
                ConstantKernel(scale) * RBF(length), alpha=1e-6 * scale, optimizer=None
            ).fit(grid[chosen, None], residuals)
            for length in lengths
        ]
        best = max(processes, key=lambda one: one.log_marginal_likelihood_value_)
        covariance = best.kernel_(grid[:, None]) + np.outer(deviation, deviation)
        return with_prior(mean, covariance)(chosen, values)

    return posterior


def regret(effect, posterior, start=None):
    """Return the regret of expected improvement after each step."""
    chosen = [] if start is None else [start]
    for _ in range(N_STEPS - len(chosen)):
        values = effect[chosen]
        mean, deviation = posterior(chosen, values)
        if chosen:
            gain, deviation = mean - values.max(), np.maximum(deviation, 1e-12)
            score = gain * norm.cdf(gain / deviation) + deviation * norm.pdf(gain / deviation)
            score[chosen] = -np.inf
        else:
            score = mean
        chosen.append(int(np.argmax(score)))
    best = np.maximum.accumulate(effect[chosen])
    return (effect.max() - best) / np.ptp(effect)


experiment = Experiment(__doc__)
repetitions = range(10 if experiment.full else 3)
numbers, figure = {}, plt.figure(figsize=(8.0, 6.4))

runs = [calibration(np.random.default_rng([experiment.seed, r])) for r in repetitions]
ax = figure.add_subplot(2, 2, 1)
ax.plot([0.0, 1.0], [0.0, 1.0], color="0.7", linestyle=":")
for name in runs[0]:
    coverage = np.mean([run[name] for run in runs], axis=0)
    ax.plot(LEVELS, coverage, label=name)
    numbers[f"{name}_calibration"] = np.abs(coverage - LEVELS).mean()
    numbers[f"{name}_coverage"] = coverage[-1]
    print(f"{name:9} 90% intervals cover {coverage[-1]:.0%} of effects")
ax.set(title="calibration", xlabel="nominal coverage", ylabel="coverage")
ax.legend()

for place, (graph, (adjustment, share)) in enumerate(GRAPHS.items()):
    runs = [
        optimization(adjustment, share, np.random.default_rng([experiment.seed, r, place]))
        for r in repetitions
    ]
    ax = figure.add_subplot(2, 2, place + 2)
    for name in runs[0]:
        mean = np.mean([run[name] for run in runs], axis=0)
        ax.plot(np.arange(1, N_STEPS + 1), mean, label=name)
        steps = [int(np.argmax(np.append(run[name], 0.0) <= 0.05)) + 1 for run in runs]
        numbers[f"{graph}_{name}_steps"] = np.mean(steps)
        print(f"{graph:10} {name:9} steps to a regret of 5%: {np.mean(steps):.1f}")
    modes = "two modes" if share else "one mode"
    ax.set(title=f"{adjustment}, {modes}", xlabel="step", ylabel="regret / range of the effect")
    ax.legend()
experiment.save(figure, numbers)
