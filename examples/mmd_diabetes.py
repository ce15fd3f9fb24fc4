"""In which measurements do two groups of patients differ?

442 diabetes patients, divided by sex: the experiment of the PKeX-Shapley paper, and what it leaves
open, which of the differences are more than chance. Needs pkex[demo] and pkex[pandas]; saves
mmd_diabetes.png in the working directory.

    python examples/mmd_diabetes.py
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel

import pkex

PICTURE = "mmd_diabetes.png"

data = load_diabetes(as_frame=True).data
one, other = (group.drop(columns="sex") for _, group in data.groupby("sex"))

result = pkex.mmd(one, other, n_permutations=999, random_state=0)

print(f"{len(one)} and {len(other)} patients; {result.bandwidth}")
print(f"MMD² {result.statistic:.5f}, p-value {result.pvalue:.3f}")
print("         φ·10³  ± SE   alone   family-wise p")
columns = (result.values, result.standard_errors, result.alone, result.familywise_pvalues)
for j in np.argsort(-result.values):
    value, error, alone, pvalue = (column[j] for column in columns)
    name = result.feature_names[j]
    print(f"  {name:<4}{1e3 * value:9.2f}{1e3 * error:7.2f}{1e3 * alone:8.2f}{pvalue:10.3f}")

# The values add up to MMD² as scikit-learn's kernel matrices give it. The base, v(∅), is 0.
gamma = 0.5 / result.kernel.length_scale**2
within = [
    (rbf_kernel(s, gamma=gamma).sum() - len(s)) / (len(s) * (len(s) - 1)) for s in (one, other)
]
output = sum(within) - 2.0 * rbf_kernel(one, other, gamma=gamma).mean()
error = abs(result.values.sum() - output)
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {output:.3g})")

# Where in the data: the row that is most typical of one group, and what makes it so.
witness = pkex.witness(one, other, kernel=result.kernel)
explanation = pkex.Explainer(witness)(one)
most = explanation[int(np.argmax(witness.predict(one)))]
strongest = np.argsort(-most.values)[:3]
print("most typical of the first group by", ", ".join(one.columns[strongest]))

ax = result.plot()
ax.set_xlabel("contribution to MMD² between the sexes")
ax.figure.savefig(PICTURE, dpi=120)
print(f"picture: {PICTURE}")
