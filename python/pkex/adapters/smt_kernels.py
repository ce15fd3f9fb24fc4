"""SMT's kernels that are objects, which only its newer versions have."""

from __future__ import annotations

from typing import Any

import numpy as np
import smt.kernels
from smt.kernels.kernels import _Constant

from pkex.adapters.smt_correlations import BY_NAME, OfRates, kernel_of_rates
from pkex.kernels.algebra import ONE, KernelPolynomial
from pkex.typing import Float

__all__ = ["kernel_of_object"]

# All get distances to the power 1.
_BY_CLASS: dict[type, OfRates] = {
    smt.kernels.PowExp: BY_NAME["abs_exp"],
    smt.kernels.Matern32: BY_NAME["matern32"],
    smt.kernels.Matern52: BY_NAME["matern52"],
    smt.kernels.SquarSinExp: BY_NAME["squar_sin_exp"],
}


def kernel_of_object(kernel: Any, scales: Float) -> KernelPolynomial:
    """Return one of `smt.kernels`, or a sum or product of such.

    Raises
    ------
    ValueError
        If one is none of those known, or a constant is not positive.
    """
    kind = type(kernel)
    if kind is smt.kernels.Sum:
        return kernel_of_object(kernel.corr1, scales) + kernel_of_object(kernel.corr2, scales)
    if kind is smt.kernels.Product:
        return kernel_of_object(kernel.corr1, scales) * kernel_of_object(kernel.corr2, scales)
    if kind in (smt.kernels.Constant, _Constant):
        value = kernel.theta if kind is smt.kernels.Constant else kernel.param
        return float(np.ravel(value)[0]) * ONE
    if kind not in _BY_CLASS:
        why = ", which is of sums of columns," if kind is smt.kernels.ActExp else ""
        known = ", ".join(one.__name__ for one in _BY_CLASS)
        raise ValueError(
            f"{kind.__name__}{why} is not known; known are {known}, Constant, and their sums and "
            "products"
        )
    return kernel_of_rates(_BY_CLASS[kind], np.asarray(kernel.theta, dtype=np.float64), scales)
