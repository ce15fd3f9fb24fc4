"""Explain why a Bayesian optimization of BoTorch proposes a trial.

An alloy is cast with five parameters. Its strength depends mostly on the temperature, then on the
share of magnesium, on the time, which shifts the best temperature, slightly on the logarithm of the
cooling rate, and not on the speed of stirring. Each proposal of BoTorch is explained. The values
divide the strength that its Gaussian process expects there, minus the mean over the whole space,
among the parameters. Needs pkex[botorch,plots]; saves botorch_optimization.png in the working
directory.

    python examples/torch/botorch_optimization.py
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import ChainedInputTransform, Log10, Normalize
from botorch.optim import optimize_acqf
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood

import pkex

plt.style.use("pkex.results.figures")

NAMES = ["temperature, °C", "magnesium, %", "time, h", "cooling, K/min", "stirring, 1/s"]
BOUNDS = torch.tensor(
    [[650.0, 0.1, 1.0, 1.0, 1.0], [800.0, 2.0, 24.0, 1000.0, 9.0]], dtype=torch.float64
)
torch.manual_seed(0)


def measured_strength(X):
    """Return the measured strength in megapascals, with noise."""
    temperature, magnesium, time, cooling, _ = X.T
    best = 735.0 - 2.0 * (time - 8.0)
    cast = 90.0 * torch.exp(-(((temperature - best) / 40.0) ** 2))
    hardened = 50.0 * magnesium * torch.exp(1.0 - magnesium)
    return 150.0 + cast + hardened + 6.0 * torch.log10(cooling) + torch.randn(len(X))


def fitted(X, Y):
    """Return a Gaussian process of the parameters, with one of them in logarithms."""
    logarithms = BOUNDS.clone()
    logarithms[:, 3] = logarithms[:, 3].log10()
    columns = ChainedInputTransform(
        logarithm=Log10(indices=[3]),
        unit=Normalize(d=5, bounds=logarithms),
    )
    model = SingleTaskGP(X, Y, input_transform=columns)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


X = draw_sobol_samples(BOUNDS, n=10, q=1, seed=0).squeeze(1)
Y = measured_strength(X).unsqueeze(-1)
everywhere = draw_sobol_samples(BOUNDS, n=256, q=1, seed=1).squeeze(1)
reasons = []
for _ in range(15):
    model = fitted(X, Y)
    improvement = LogExpectedImprovement(model, best_f=Y.max())
    proposal, _ = optimize_acqf(improvement, BOUNDS, q=1, num_restarts=2, raw_samples=32)
    # The background is points of the whole space.
    explainer = pkex.Explainer(model, everywhere, value_function="marginal", feature_names=NAMES)
    reasons.append(explainer(proposal))
    X = torch.cat([X, proposal])
    Y = torch.cat([Y, measured_strength(proposal).unsqueeze(-1)])

last = reasons[-1]
print(last)
total = last.values.sum(axis=1) + last.base_values
with torch.no_grad():
    own = model.posterior(proposal).mean[:, 0].numpy()
error = np.abs(total - own).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {np.abs(own).max():.3g})")

values = np.concatenate([explanation.values for explanation in reasons])
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4), sharex=True, width_ratios=(2, 3))
trials = np.arange(len(X) - len(reasons), len(X)) + 1
left.xaxis.get_major_locator().set_params(integer=True)
best = np.maximum.accumulate(Y[:, 0].numpy())
left.plot(trials, Y[-len(trials) :, 0], "o", color="0.6", label="measured")
left.plot(trials, best[-len(trials) :], color="0.2", label="the best so far")
left.set(xlabel="trial", ylabel="strength, MPa")
left.legend()
for name, own_values in zip(NAMES, values.T, strict=True):
    right.plot(trials, own_values, label=name.partition(",")[0])
right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
right.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
right.set(xlabel="trial", ylabel="Shapley value of the\nexpected strength, MPa")
figure.savefig("botorch_optimization.png")
print("picture: botorch_optimization.png")
