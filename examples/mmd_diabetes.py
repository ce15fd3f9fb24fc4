"""Which measurements differ between two groups of patients?

442 diabetes patients are divided by sex. Permutation tests add which of the differences are
significant. papers/pkex_mmd_diabetes.py repeats the experiment of the PKeX-Shapley paper on these
patients. Needs pkex[demo] and pkex[pandas]; saves mmd_diabetes.png in the working directory.

    python examples/mmd_diabetes.py
"""

import numpy as np
from sklearn.datasets import load_diabetes

import pkex

PICTURE = "mmd_diabetes.png"

data = load_diabetes(as_frame=True).data
one, other = (group.drop(columns="sex") for _, group in data.groupby("sex"))

result = pkex.mmd(one, other, n_permutations=999, random_state=0)

print(f"{len(one)} and {len(other)} patients")
print(result)

# The values add up to MMD² from kernel matrices. The base value v(∅) is 0.
matrices = [result.kernel(group) for group in (one, other)]
within = [(m.sum() - np.trace(m)) / (len(m) * (len(m) - 1)) for m in matrices]
output = sum(within) - 2.0 * result.kernel(one, other).mean()
error = abs(result.values.sum() - output)
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {output:.3g})")

# The most typical row of one group, and the features that make it typical.
witness = pkex.witness(one, other, kernel=result.kernel)
explanation = pkex.Explainer(witness, value_function="neutral")(one)
most = explanation[int(np.argmax(witness.predict(one)))]
strongest = np.argsort(-most.values)[:3]
print("most typical of the first group by", ", ".join(one.columns[strongest]))

ax = result.plot()
ax.set_xlabel("contribution to MMD² between the sexes")
ax.figure.savefig(PICTURE, dpi=200)
print(f"picture: {PICTURE}")
