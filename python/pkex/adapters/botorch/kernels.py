"""The kernels that BoTorch adds to those of GPyTorch."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from botorch.models.kernels import CategoricalKernel

from pkex.adapters.gpytorch.kernels import READERS, Columns, KernelReader
from pkex.kernels import Categorical, Constant, Kernel

__all__: list[str] = []


def _categorical(reader: KernelReader, kernel: Any, columns: Columns) -> Kernel:
    """Read exp(−mean_j [x_j ≠ y_j] / ℓ_j), the product of exp(−1/(d ℓ_j)) where they differ."""
    if reader.only is not None:
        raise reader.refused(kernel)
    scales = np.broadcast_to(reader.numbers(kernel.lengthscale, columns), len(columns))
    similarities = np.exp(-1.0 / (len(columns) * scales)).tolist()
    # A column in which categories do not matter has the factor 1.
    factors = [
        Categorical(similarity).on([column])
        for similarity, column in zip(similarities, columns, strict=True)
        if similarity < 1.0
    ]
    return reduce(mul, factors) if factors else Constant()


READERS[CategoricalKernel] = _categorical
