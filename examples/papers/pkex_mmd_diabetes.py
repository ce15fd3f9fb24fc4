"""Shapley values of MMD² between the sexes of diabetes patients.

Figures 6 and 7 (appendix G.2) of the PKeX-Shapley paper, with its settings: the neutral value
function, the unbiased estimator, and one length-scale by the median heuristic for all nine columns
of scikit-learn's data. examples/mmd_diabetes.py has pkex's default and tests of significance for
the same patients. Saves pkex_mmd_diabetes.json and pkex_mmd_diabetes.png.

    python examples/papers/pkex_mmd_diabetes.py   the settings of the paper, 2 s
"""

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from scipy.stats import gaussian_kde
from sklearn.datasets import load_diabetes

import pkex

experiment = Experiment(__doc__, full=False)
data = load_diabetes(as_frame=True).data
groups = [group.drop(columns="sex") for _, group in data.groupby("sex")]
kernel = pkex.kernels.median_heuristic(*groups, standardize=False)
result = pkex.mmd(*groups, kernel=kernel, value_function="neutral")
print(result)
names = np.array(result.feature_names)
order = np.argsort(-result.values)
positive = [names[j] for j in order if result.values[j] > 0.0]
negative = [names[j] for j in order if result.values[j] <= 0.0]
numbers = {"positive": ", ".join(positive), "negative": ", ".join(negative)}
numbers |= {f"{name}_times_1000": 1e3 * result.values[j] for j, name in enumerate(names)}
numbers["mmd"] = result.statistic

figure = plt.figure(figsize=(8.0, 4.4))
left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.4))
ax = left.subplots()
ax.barh(names[order], 1e3 * result.values[order])
ax.invert_yaxis()
ax.axvline(0.0, color="black", linewidth=0.8)
ax.set(xlabel="Shapley value of MMD² × 1000", title="Figure 6")
for ax, name in zip(right.subplots(3, 3).flat, names, strict=True):
    grid = np.linspace(data[name].min(), data[name].max(), 200)
    for number, group in enumerate(groups, start=1):
        density = gaussian_kde(group[name])(grid)
        ax.plot(grid, density, label=f"sex {number}" if name == names[0] else None)
    ax.set_title(name)
    ax.set(xticks=[-0.1, 0.0, 0.1], yticks=[])
right.suptitle("Figure 7: density of each variable", fontsize=10.5)
right.legend(loc="outside lower center", ncols=2)
experiment.save(figure, numbers)
