"""Explain a Bayesian optimization of scikit-optimize while it runs.

A chemical process has five parameters. Its yield depends mostly on the temperature, then on the
solvent, on the time, which shifts the best temperature, slightly on the catalyst, and not on the
stirring. After each trial, the posterior mean of the optimizer's Gaussian process (Matérn 5/2) is
explained over the whole search space. Needs pkex[demo] and scikit-optimize; saves
bayesian_optimization.png in the working directory.

    python examples/bayesian_optimization.py
"""

import matplotlib.pyplot as plt
import numpy as np
from skopt import Optimizer
from skopt.space import Categorical, Integer, Real

import pkex

plt.style.use("pkex.results.figures")

SPACE = [
    Real(40.0, 160.0, name="temperature"),  # °C
    Real(0.5, 12.0, name="time"),  # hours
    Categorical(["water", "ethanol", "toluene"], name="solvent"),
    Real(0.01, 1.0, prior="log-uniform", name="catalyst"),  # mol %
    Integer(1, 9, name="stirring"),  # hundred rounds per minute
]
rng = np.random.default_rng(0)


def measured_loss(temperature, time, solvent, catalyst, stirring):
    """Return the percentage missing to the full yield, with noise."""
    best = 110.0 - 3.0 * (time - 6.0)
    reached = 65.0 * np.exp(-(((temperature - best) / 45.0) ** 2))
    dissolved = {"water": 0.0, "ethanol": 11.0, "toluene": 22.0}[solvent]
    return 100.0 - reached - dissolved - 4.0 * np.log10(100.0 * catalyst) + rng.normal()


search = Optimizer(SPACE, n_initial_points=10, acq_optimizer="sampling", random_state=0)
everywhere = np.array(search.space.rvs(100, random_state=1), dtype=object)
importance = []
for _ in range(40):
    point = search.ask()
    search.tell(point, measured_loss(*point))
    if search.models:
        # The last model is explained in the parameters of the search.
        explainer = pkex.Explainer(search, everywhere, value_function="marginal")
        explanation = explainer(everywhere)
        importance.append(explanation.importance())

print(search.models[-1].kernel_)
print(explanation)
total = explanation.values.sum(axis=1) + explanation.base_values
own = search.models[-1].predict(search.space.transform(everywhere.tolist()))
error = np.abs(total - own).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(own).max():.3g})")

figure, ax = plt.subplots(figsize=(7, 4))
trials = np.arange(len(search.Xi) - len(importance), len(search.Xi)) + 1
for name, strengths in zip(explanation.feature_names, np.transpose(importance), strict=True):
    (line,) = ax.plot(trials, strengths)
    ax.annotate(f" {name}", (trials[-1], strengths[-1]), color=line.get_color(), va="center")
ax.set(
    xlabel="trials",
    ylabel="mean |Shapley value| of the posterior mean, %",
    xlim=trials[[0, -1]],
    ylim=(0.0, None),
)
figure.savefig("bayesian_optimization.png")
print("picture: bayesian_optimization.png")
