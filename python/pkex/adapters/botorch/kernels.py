"""The kernels that BoTorch adds to those of GPyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from botorch.models.kernels import CategoricalKernel

from pkex.adapters.gpytorch.kernels import READERS, KernelReader
from pkex.kernels.algebra import Columns, KernelPolynomial, similarities

__all__: list[str] = []


def _categorical(reader: KernelReader, kernel: Any, columns: Columns) -> KernelPolynomial:
    """Read exp(−mean_j [x_j ≠ y_j] / ℓ_j), the product of exp(−1/(d ℓ_j)) where they differ."""
    if reader.only is not None:
        raise reader.refused(kernel)
    scales = np.broadcast_to(reader.numbers(kernel.lengthscale, columns), len(columns))
    return similarities(np.exp(-1.0 / (len(columns) * scales)).tolist(), columns)


READERS[CategoricalKernel] = _categorical
