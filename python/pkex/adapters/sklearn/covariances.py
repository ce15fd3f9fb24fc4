"""The kernels of scikit-learn's Gaussian processes, as sums of products over the features.

A tree of ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel, WhiteKernel,
Sum, Product and Exponentiation, for one feature also ExpSineSquared, is a polynomial in kernels of
pkex. WhiteKernel is 0 between a new row and the training points, even if the rows are equal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels

from pkex.adapters.kernels import (
    KernelReader,
    LibraryKernel,
    check_kernel,
    scaling_rounding,
    square_rounding,
)
from pkex.adapters.sklearn.kernel_functions import APPROXIMATE, PAIRWISE, Options
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import RBF, Constant, Kernel, Matern, Periodic, RationalQuadratic
from pkex.kernels.algebra import ONE, ZERO, KernelPolynomial
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.series import MAX_ORDERS
from pkex.typing import Float


class CovarianceReader(KernelReader):
    """Reads the covariances of scikit-learn, and of libraries that add `readers`."""

    def text(self, kernel: Any) -> str:
        """Return a kernel as scikit-learn prints it."""
        return kernel_text(kernel)

    def reason(self, kernel: Any) -> str:
        """Return why a kernel is unsupported, and an alternative for its model."""
        if type(kernel).__module__.startswith("bayes_opt."):
            return f"; supported are {_SUPPORTED}. Pass the BayesianOptimization that it belongs to"
        note = ""
        if type(kernel) is sklearn_kernels.ExpSineSquared:
            note = " It is a sum of products for one column only."
        return (
            f"; supported are {_SUPPORTED}.{note} Fit the model with one of these kernels, or use "
            f"{APPROXIMATE}"
        )

    def on_features(self, kernel: Kernel) -> KernelPolynomial:
        """Return a kernel of all features as a polynomial."""
        return KernelPolynomial.of(kernel, range(self.n_features))

    def dot_product_power(self, constant: float, gamma: float, degree: int) -> KernelPolynomial:
        """Return (constant + γ x·y)^degree."""
        columns = range(self.n_features)
        return KernelPolynomial.dot_product_power(columns, constant, gamma, degree)

    def length_scales(self, kernel: Any) -> tuple[float, ...]:
        """Return the length-scale of each feature."""
        # An array of one number is an isotropic kernel.
        scales = np.squeeze(np.asarray(kernel.length_scale, dtype=np.float64))
        if scales.shape not in ((), (self.n_features,)) or not np.all(scales > 0.0):
            raise ValueError(
                "length_scale must be positive, one number or one for each of the "
                f"{self.n_features} features"
            )
        return tuple(np.broadcast_to(scales, self.n_features).tolist())


_SUPPORTED = (
    "ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel with metric 'rbf', "
    "'laplacian', 'chi2', 'linear' or 'poly', WhiteKernel, for one column also ExpSineSquared, "
    "their sums, products and powers"
)


def _constant(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    value = float(kernel.constant_value)
    if not 0.0 <= value < math.inf:
        raise ValueError("the constant must not be negative")
    return value * ONE if value else ZERO


def _rbf(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    return reader.on_features(RBF(reader.length_scales(kernel)))


def _matern(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    return reader.on_features(Matern(reader.length_scales(kernel), nu=float(kernel.nu)))


def _rational_quadratic(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    scales = reader.length_scales(kernel)
    return reader.on_features(RationalQuadratic(scales, float(kernel.alpha)))


def _periodic(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    if reader.n_features > 1:
        raise reader.unsupported_kernel(kernel, reader.reason(kernel))
    scales = (float(kernel.length_scale), float(kernel.periodicity))
    if not all(scale > 0.0 for scale in scales):
        raise ValueError("length_scale and periodicity must be positive")
    return reader.on_features(Periodic(*scales))


def _dot_product(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    return reader.dot_product_power(float(kernel.sigma_0) ** 2, 1.0, 1)


def _pairwise(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    """Read a kernel of `sklearn.metrics.pairwise`."""
    metric = kernel.metric
    if metric == "linear":
        return reader.dot_product_power(0.0, 1.0, 1)
    if not isinstance(metric, str) or metric not in PAIRWISE:
        raise reader.unsupported_kernel(kernel, reader.reason(kernel))
    gamma, options = float(kernel.gamma), kernel.pairwise_kernels_kwargs or {}
    if not 0.0 < gamma < math.inf:
        raise ValueError("gamma must be positive")
    if metric in ("rbf", "laplacian", "chi2"):
        return reader.on_features(PAIRWISE[metric](Options(gamma)))
    degree, coef0 = options.get("degree", 3), float(options.get("coef0", 1.0))
    if not (float(degree).is_integer() and 1 <= degree <= MAX_ORDERS and coef0 >= 0.0):
        raise ValueError(
            f"degree must be an integer from 1 to {MAX_ORDERS}, and coef0 must not be negative"
        )
    return reader.dot_product_power(coef0, gamma, int(degree))


# Libraries derived from scikit-learn add their classes.
READERS = CovarianceReader.readers = {
    sklearn_kernels.WhiteKernel: lambda reader, kernel: ZERO,
    sklearn_kernels.ConstantKernel: _constant,
    sklearn_kernels.RBF: _rbf,
    sklearn_kernels.Matern: _matern,
    sklearn_kernels.RationalQuadratic: _rational_quadratic,
    sklearn_kernels.ExpSineSquared: _periodic,
    sklearn_kernels.DotProduct: _dot_product,
    sklearn_kernels.PairwiseKernel: _pairwise,
    sklearn_kernels.Sum: lambda reader, kernel: (
        reader.polynomial(kernel.k1) + reader.polynomial(kernel.k2)
    ),
    sklearn_kernels.Product: lambda reader, kernel: (
        reader.polynomial(kernel.k1) * reader.polynomial(kernel.k2)
    ),
    sklearn_kernels.Exponentiation: lambda reader, kernel: (
        reader.polynomial(kernel.kernel) ** float(kernel.exponent)
    ),
}


def kernel_text(kernel: Any) -> str:
    """Return the text for a kernel in messages."""
    # scikit-learn prints a constant as the square of its root, even if it is negative.
    with np.errstate(invalid="ignore"):
        return repr(kernel)


def covariance_expansion(
    model: Any, covariance: Any, rows: Any, coefficients: Float, intercept: Any
) -> tuple[KernelSum, float]:
    """Return intercept + Σ_i coefficients_i · covariance(x, rows_i) for new rows x.

    Parameters
    ----------
    model : estimator
        Named in messages.
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
        Relative rounding error of scikit-learn's own kernel values.

    Raises
    ------
    UnsupportedModelError
        If a part of the kernel is unsupported, the kernel has other values than its parts say, or
        the rows are not numeric.
    """
    name = type(model).__name__
    try:
        points = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2:
        # Kernels that ignore rows, such as ConstantKernel, accept rows of any kind.
        raise UnsupportedModelError(
            f"X_train_ of {name} is not a numeric array. Fit the model on rows of numbers"
        )
    kernel = CovarianceReader(name, points.shape[1]).read(covariance)
    if kernel is None:
        # Neither the training rows nor the features of a new row matter.
        return KernelSum(points[:0], coefficients[:0], Constant(), intercept), 0.0
    expansion = KernelSum(points, coefficients, kernel, intercept)
    # NumPy before version 2 divides float32 by a float64 number in float32.
    table = np.asarray(rows)
    dtype = np.result_type(table, np.float64(1.0)) if table.dtype.kind == "f" else np.float64
    rounding = scaling_rounding(kernel, points, float(np.finfo(dtype).eps))
    rounding += square_rounding(points, _gamma_of_squares(covariance))
    rounding += _gap_of_equal_rows(covariance)
    check_kernel(kernel, LibraryKernel(covariance, kernel_text(covariance)), points, rounding, name)
    return expansion, rounding


def _gamma_of_squares(kernel: Any) -> float:
    """Return the sum of γ over the Gaussians that scikit-learn computes from squares of rows."""
    is_gaussian = type(kernel) is sklearn_kernels.PairwiseKernel and kernel.metric == "rbf"
    part_sum = sum(map(_gamma_of_squares, _parts(kernel)))
    return (float(kernel.gamma) if is_gaussian else 0.0) + part_sum


def _gap_of_equal_rows(kernel: Any) -> float:
    """Return the relative error of scikit-learn's kernel for equal rows.

    A Matern with a Bessel function, which has a pole at 0, treats equal rows as 2⁻⁵² apart.
    """
    gap = getattr(kernel, "exponent", 1.0) * sum(map(_gap_of_equal_rows, _parts(kernel)))
    if isinstance(kernel, sklearn_kernels.Matern) and kernel.nu not in (0.5, 1.5, 2.5, math.inf):
        square = np.finfo(np.float64).eps ** 2
        gap += float(MaternMixture(float(kernel.nu)).decay(np.array([square]))[0])
    return gap


def _parts(kernel: Any) -> list[Any]:
    """Return the kernels that a kernel combines."""
    return [getattr(kernel, name) for name in ("k1", "k2", "kernel") if hasattr(kernel, name)]
