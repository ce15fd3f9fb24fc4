"""Prediction of time series by random weightings of adjacent lags.

Table 8 of Dubé and Marchand (2025, STAR-SHAP). Series are cut into windows of eleven numbers: ten
inputs, and the next number as the target. RWReLU is fitted to all inputs, and to sums of terms of
up to five adjacent inputs ("k-STAR"). The data are those of the UCR archive: the folder of --data
has ECG5000/ECG5000_TRAIN.tsv and so on. A Mackey-Glass series takes their place otherwise, whose
numbers cannot be compared with the table. Needs pkex[demo].

    python examples/papers/star_time_series.py          500 centers, 1 s
    python examples/papers/star_time_series.py --full   5,000 centers, with a search, 30 s
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from experiment import Experiment
from sklearn.model_selection import GridSearchCV, KFold

from pkex.models import RWReLU

LENGTH = 11
SIZES = {"all inputs": None} | {f"{k}-STAR": ("sequence", k) for k in range(1, 6)}
SIZES["[1..5]-STAR"] = "sequence"
# R² on test rows in the paper, in the order of SIZES.
PAPER = {
    "ChlorineConcentration": (0.928, 0.642, 0.805, 0.899, 0.920, 0.927, 0.906),
    "Computers": (0.851, 0.838, 0.840, 0.848, 0.847, 0.848, 0.849),
    "ECG5000": (0.882, 0.841, 0.871, 0.875, 0.879, 0.882, 0.894),
    "FacesUCR": (0.704, 0.698, 0.702, 0.705, 0.705, 0.706, 0.706),
    "LargeKitchenAppliances": (0.743, 0.724, 0.748, 0.736, 0.746, 0.745, 0.749),
    "MelbournePedestrian": (0.925, 0.888, 0.902, 0.923, 0.925, 0.924, 0.919),
}
GRID = {"concentration": [0.1, 0.5, 0.9], "alpha": [10.0**power for power in range(-9, -1)]}


def windows(series):
    """Return consecutive windows, and one from the end if more than half of a window is left."""
    parts = []
    for row in series:
        row = row[~np.isnan(row)]
        count, left = divmod(len(row), LENGTH)
        parts.append(row[: count * LENGTH].reshape(-1, LENGTH))
        if left > min(count / 2.0, 2.0):
            parts.append(row[None, -LENGTH:])
    return np.concatenate(parts)


def read(folder, name, part):
    """Return the series of one file of the archive, whose first column is a class label."""
    return np.loadtxt(folder / name / f"{name}_{part}.tsv", ndmin=2)[:, 1:]


def mackey_glass(n, rng):
    """Return one series of the delay equation dx/dt = 0.2 x(t − 17) / (1 + x(t − 17)¹⁰) − 0.1 x."""
    x = list(rng.uniform(0.5, 1.3, size=18))
    for _ in range(6 * n):
        x.append(x[-1] + 0.2 * x[-18] / (1.0 + x[-18] ** 10) - 0.1 * x[-1])
    return np.array(x[-6 * n :: 6])[None] + 0.02 * rng.normal(size=n)


def scores(train, test, star, is_full, seed):
    """Return R² on training and test windows, and the seconds of the fit."""
    X, y = train[:, :-1], train[:, -1]
    model = RWReLU(5000 if is_full else 500, star=star, alpha=1e-6, random_state=seed)
    if is_full:
        small = RWReLU(500, star=star, random_state=seed)
        folds = KFold(5, shuffle=True, random_state=0)
        model.set_params(**GridSearchCV(small, GRID, cv=folds).fit(X, y).best_params_)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    return model.score(X, y), model.score(test[:, :-1], test[:, -1]), seconds


run = Experiment(__doc__, data="of the UCR archive")
if run.data is None:
    rng = np.random.default_rng(run.seed)
    series = {"Mackey-Glass": (mackey_glass(12_000, rng), mackey_glass(12_000, rng))}
else:
    names = [name for name in PAPER if (run.data / name).is_dir()]
    series = {name: (read(run.data, name, "TRAIN"), read(run.data, name, "TEST")) for name in names}
numbers = {}
figure, ax = plt.subplots(figsize=(7.0, 3.8))
for color, (name, parts) in enumerate(series.items()):
    train, test = map(windows, parts)
    found = [scores(train, test, star, run.full, run.seed) for star in SIZES.values()]
    print(f"{name}: {len(train)} training and {len(test)} test windows\n{'R² of':14} train   test")
    for size, (known, unknown, seconds) in zip(SIZES, found, strict=True):
        print(f"{size:14} {known:.3f}  {unknown:.3f}  {seconds:.1f} s")
        numbers[f"{name} {size}".lower().replace("..", "-")] = unknown
    ax.plot([*SIZES], [own[1] for own in found], "o-", color=f"C{color}", label=name)
    if name in PAPER:
        ax.plot([*SIZES], PAPER[name], "x", color=f"C{color}", label=f"{name}, paper")
ax.set(ylabel="R² on test windows", title="Prediction of the next number of a series")
ax.legend(fontsize="small")
run.save(figure, numbers)
