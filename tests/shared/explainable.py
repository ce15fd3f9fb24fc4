"""All that is explained, one of every kind: kernels, functions and models.

What is new needs one line in `KERNELS` or `FUNCTIONS` of explainable_functions.py, or in `MODELS`
of explainable_models.py, and has then the whole contract of tests/contracts/test_explainable.py to
keep.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import other_libraries
from explainable_functions import (
    COUNTED,
    COUNTS,
    FUNCTIONS,
    KERNELS,
    POINTS,
    ROWS,
    UNITS,
    Explained,
    Z,
    of_kernel,
)
from explainable_models import MODELS, OF_TERMS, WITHOUT_POINTS, fitted

import pkex


@dataclass(frozen=True)
class Explainable:
    """What is passed to an Explainer, and the function explained, computed without the engine.

    Parameters
    ----------
    model : object
    output : callable
        From rows (n, d) to outputs (n,) or (n, outputs).
    rows, background : ndarray of shape (n, d)
    worth : callable, optional
        From a row and the columns of a coalition to its worth in the neutral game.
    keeps_points : bool
        Whether absent features can be drawn from points of the model's own.
    is_neutral : bool
        Whether there is a neutral game; sums of functions of columns have none.
    names : list of str, optional
        What the model calls the columns.
    """

    model: Any
    output: Callable[[np.ndarray], np.ndarray]
    rows: np.ndarray
    background: np.ndarray
    worth: Callable[[np.ndarray, list[int]], np.ndarray] | None = None
    keeps_points: bool = True
    names: list[str] | None = None
    is_neutral: bool = True


NAMES = [
    *(f"kernel {name}" for name in KERNELS),
    *(f"function {name}" for name in FUNCTIONS),
    *(f"model {name}" for name in MODELS),
]


@functools.cache
def explainable(name):
    kind, _, name = name.partition(" ")
    if kind == "model":
        names = other_libraries.NAMED.get(name)
        return Explainable(
            *fitted(name),
            ROWS,
            Z,
            keeps_points=name not in WITHOUT_POINTS,
            names=names,
            is_neutral=name not in OF_TERMS,
        )
    unit = UNITS.get(name, 1.0)
    of_its_kind = of_kernel(KERNELS[name], unit * POINTS) if kind == "kernel" else FUNCTIONS[name]
    function, reference = of_its_kind
    model = Explained(function, reference.output)
    if kind == "kernel":
        model = pkex.KernelExpansion._of(function)
    keeps_points = name not in WITHOUT_POINTS
    rows, background = unit * COUNTS, unit * COUNTED
    return Explainable(model, reference.output, rows, background, reference.worth, keeps_points)
