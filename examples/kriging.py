"""Explain a kriging surrogate of SMT: water flow through a borehole.

The borehole function (Harper and Gupta 1983) is a common test function for expensive simulations:
the flow between two aquifers, in cubic meters per year, from eight inputs. A kriging model of SMT
is fitted to 100 runs and explained at 1000 other inputs. Needs pkex[demo] and smt; saves
kriging.png in the working directory.

    python examples/kriging.py
"""

import numpy as np
from scipy.stats import qmc
from smt.surrogate_models import KRG

import pkex

INPUTS = {
    "radius of borehole": (0.05, 0.15),  # m
    "radius of influence": (100.0, 50000.0),  # m
    "upper transmissivity": (63070.0, 115600.0),  # m²/year
    "upper head": (990.0, 1110.0),  # m
    "lower transmissivity": (63.1, 116.0),  # m²/year
    "lower head": (700.0, 820.0),  # m
    "length of borehole": (1120.0, 1680.0),  # m
    "conductivity": (9855.0, 12045.0),  # m/year
}


def flow(rows):
    """Return the flow for rows of inputs."""
    r_w, r, t_u, h_u, t_l, h_l, length, k_w = rows.T
    log = np.log(r / r_w)
    resistance = log * (1.0 + 2.0 * length * t_u / (log * r_w**2 * k_w) + t_u / t_l)
    return 2.0 * np.pi * t_u * (h_u - h_l) / resistance


low, high = np.array(list(INPUTS.values())).T
runs = qmc.scale(qmc.LatinHypercube(8, seed=0).random(100), low, high)
surrogate = KRG(corr="matern52", nugget=1e-6, n_start=1, print_global=False)
surrogate.set_training_values(runs, flow(runs))
surrogate.train()

rows = qmc.scale(qmc.LatinHypercube(8, seed=1).random(1000), low, high)
# Without a background, each absent input is drawn from the runs.
explanation = pkex.Explainer(surrogate, feature_names=list(INPUTS))(rows)

predicted = surrogate.predict_values(rows)[:, 0]
print(f"root mean square error of the surrogate: {np.std(predicted - flow(rows)):.2f} m³/year")
print(explanation)
total = explanation.values.sum(axis=1) + explanation.base_values
error = np.abs(total - predicted).max()
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {predicted.max():.3g})")

ax = explanation.plot()
ax.set_xlabel("Shapley value, m³/year")
ax.figure.savefig("kriging.png", dpi=200, bbox_inches="tight")
print("picture: kriging.png")
