"""The kernels of scikit-learn's Gaussian processes, as sums of products over the features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels

from pkex.adapters.attributes import expansion_of
from pkex.adapters.kernel_check import OwnKernel, check_kernel, shown
from pkex.adapters.registry import unsupported
from pkex.adapters.rounding import scaling_rounding, square_rounding
from pkex.adapters.sklearn.kernel_trees import TreeReader
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Constant, Kernel
from pkex.kernels.mixtures import MaternMixture
from pkex.typing import Float


def covariance_expansion(
    model: Any, covariance: Any, rows: Any, coefficients: Float, intercept: Any
) -> tuple[KernelSum, float]:
    """Return intercept + Σ_i coefficients_i · covariance(x, rows_i) for new rows x.

    Parameters
    ----------
    model : estimator
        To which all of this belongs, for messages.
    covariance : sklearn.gaussian_process.kernels.Kernel
        With fitted hyperparameters.
    rows : array-like of shape (n, d)
        The training rows.
    coefficients : ndarray of shape (n,) or (n, outputs)
    intercept : float or ndarray of shape (outputs,)

    Returns
    -------
    expansion : KernelSum
    rounding : float
        The relative rounding error of scikit-learn's own kernel values.

    Raises
    ------
    UnsupportedModelError
        If a part of the kernel is unknown, or its values are not those that its parts say, or the
        rows are not of numbers.
    """
    name = type(model).__name__
    try:
        points = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2:
        # Kernels that take no part of a row, such as ConstantKernel, take rows of anything.
        raise UnsupportedModelError(
            f"{name} is supported for training rows of numbers, and its X_train_ holds something "
            "else"
        )
    kernel = kernel_to_training_points(covariance, points.shape[1], name)
    if kernel is None:
        # No training row matters, and no feature of a new one.
        return expansion_of(model, points[:0], coefficients[:0], Constant(), intercept), 0.0
    expansion = expansion_of(model, points, coefficients, kernel, intercept)
    # NumPy before version 2 divides float32 by a float64 number in float32.
    given = np.asarray(rows)
    quotient = np.result_type(given, np.float64(1.0)) if given.dtype.kind == "f" else np.float64
    rounding = scaling_rounding(kernel, points, float(np.finfo(quotient).eps))
    rounding += square_rounding(points, _gamma_of_squares(covariance))
    rounding += _gap_of_equal_rows(covariance)
    check_kernel(kernel, OwnKernel(covariance, shown(covariance)), points, rounding, name)
    return expansion, rounding


def kernel_to_training_points(kernel: Any, n_features: int, model_name: str) -> Kernel | None:
    """Return a Gaussian process' kernel between new rows and training points.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        With fitted hyperparameters.
    n_features : int
    model_name : str
        What messages call its owner.

    Returns
    -------
    pkex.kernels.Kernel or None
        None if it is zero there, as a WhiteKernel alone.

    Raises
    ------
    UnsupportedModelError
        Naming the part of the kernel that is none of those known, or whose parameters are none
        that it may have.
    """
    try:
        polynomial = TreeReader(n_features, model_name).read(kernel)
        return polynomial.kernel(n_features) if polynomial else None
    except UnsupportedModelError:
        raise
    except ValueError as error:
        raise unsupported(f"{model_name} with the kernel {shown(kernel)}", f" ({error})") from None


def _gamma_of_squares(kernel: Any) -> float:
    """Return the sum of γ over the Gaussians that scikit-learn forms from squares of rows."""
    is_gaussian = type(kernel) is sklearn_kernels.PairwiseKernel and kernel.metric == "rbf"
    of_parts = sum(map(_gamma_of_squares, _parts(kernel)))
    return (float(kernel.gamma) if is_gaussian else 0.0) + of_parts


def _gap_of_equal_rows(kernel: Any) -> float:
    """Return by which part scikit-learn's kernel of equal rows may be too small.

    Where a Matern takes a Bessel function, which has a pole at 0, equal rows are 2⁻⁵² apart.
    """
    gap = getattr(kernel, "exponent", 1.0) * sum(map(_gap_of_equal_rows, _parts(kernel)))
    if type(kernel) is sklearn_kernels.Matern and kernel.nu not in (0.5, 1.5, 2.5, math.inf):
        square = np.finfo(np.float64).eps ** 2
        gap += float(MaternMixture(float(kernel.nu)).decay(np.array([square]))[0])
    return gap


def _parts(kernel: Any) -> list[Any]:
    """Return the kernels of which one is made."""
    return [getattr(kernel, name) for name in ("k1", "k2", "kernel") if hasattr(kernel, name)]
