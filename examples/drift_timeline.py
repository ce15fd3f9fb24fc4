"""Monitor drift over time: weekly batches of orders compared with a reference.

A table with numbers, text, booleans and dates is monitored for ten weeks. In week six more orders
come from one city. In week eight a device stops reporting weights. In week nine amounts begin to
depend on membership, which no single column shows. Needs pkex[demo] and pkex[pandas]; saves
drift_timeline.png in the working directory.

    python examples/drift_timeline.py
"""

import numpy as np
import pandas as pd

import pkex

PICTURE = "drift_timeline.png"
rng = np.random.default_rng(0)


def orders(n, week=0):
    """Return n orders of a week."""
    shares = [0.3, 0.3, 0.4] if week < 6 else [0.15, 0.55, 0.3]
    noise = rng.normal(size=n)
    member = (noise > 0.3 if week >= 9 else rng.normal(size=n) > 0.3) ^ (rng.random(n) < 0.02)
    weight = rng.gamma(4.0, size=n)
    weight[rng.random(n) < (0.05 if week < 8 else 0.25)] = np.nan
    return pd.DataFrame(
        {
            "amount": 50.0 + 10.0 * noise,
            "weight": weight,
            "items": rng.poisson(3.0, n),
            "city": rng.choice(["Lima", "Oslo", "Rome"], n, p=shares),
            "member": member,
        }
    )


reference = orders(2000)
drift = pkex.MMDDrift(reference, missing="indicator", n_permutations=999, random_state=0)
line = drift.timeline({f"week {week}": orders(400, week) for week in range(1, 11)})
print(line)

last = line[-1]
print(last)
for column in last.columns:
    print(f"{column.name} ({column.type}) is compared as {column.compared}")

# The values add up to MMD² from kernel matrices. This uses mmd, because the detector centers each
# row of its reference by the others. The base value v(∅) is 0.
plain = pkex.mmd(last.rows.reference, last.rows.batch, kernel=last.kernel)
blocks = [last.kernel(rows) for rows in (last.rows.reference, last.rows.batch)]
within = [(block.sum() - np.trace(block)) / (len(block) * (len(block) - 1)) for block in blocks]
output = sum(within) - 2.0 * last.kernel(last.rows.reference, last.rows.batch).mean()
error = abs(plain.values.sum() - output)
print(f"largest |base + Σφ - output|: {error:.1e} (outputs up to {output:.3g})")

ax = line.plot()
ax.figure.savefig(PICTURE, dpi=200)
print(f"picture: {PICTURE}")
