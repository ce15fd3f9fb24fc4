"""The kernels of scikit-learn's Gaussian processes, as sums of products over the features.

Of a tree of ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel,
WhiteKernel, Sum, Product and Exponentiation, and of one feature ExpSineSquared, what counts between
a new row and the training points is a polynomial in kernels that pkex has: WhiteKernel is 0 there,
also within products and powers, for a new row is no training point even if it equals one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import mul
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels

from pkex.adapters.fitted_attributes import expansion_of
from pkex.adapters.kernels import OwnKernel, check_kernel, scaling_rounding, shown, square_rounding
from pkex.adapters.registry import unsupported
from pkex.adapters.sklearn.kernel_functions import APPROXIMATE, PAIRWISE, Options
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import RBF, Constant, Kernel, Matern, Periodic, RationalQuadratic
from pkex.kernels.algebra import ONE, ZERO, KernelPolynomial
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.series import MOST_ORDERS
from pkex.typing import Float

_KNOWN = (
    "ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel with metric 'rbf', "
    "'laplacian', 'chi2', 'linear' or 'poly', WhiteKernel, of one column also ExpSineSquared, "
    "their sums, products and powers"
)


class TreeReader:
    """Turns the tree into a polynomial; what it does not know, it refuses by name."""

    def __init__(self, n_features: int, model_name: str) -> None:
        self._n_features = n_features
        self._model_name = model_name

    def read(self, kernel: Any) -> KernelPolynomial:
        """Return what a kernel is between a new row and the training points."""
        # By exact type: subclasses, such as Matern of RBF, are other functions.
        kind = type(kernel)
        if kind is sklearn_kernels.WhiteKernel:
            return ZERO
        if kind is sklearn_kernels.ConstantKernel:
            return self._constant(kernel)
        if kind is sklearn_kernels.RBF:
            return self._of(RBF(self._length_scales(kernel)))
        if kind is sklearn_kernels.Matern:
            return self._of(Matern(self._length_scales(kernel), nu=float(kernel.nu)))
        if kind is sklearn_kernels.RationalQuadratic:
            return self._of(RationalQuadratic(self._length_scales(kernel), float(kernel.alpha)))
        if kind is sklearn_kernels.ExpSineSquared and self._n_features == 1:
            return self._periodic(kernel)
        if kind is sklearn_kernels.DotProduct:
            return self._dot_product_power(float(kernel.sigma_0) ** 2, 1.0, 1)
        if kind is sklearn_kernels.PairwiseKernel:
            return self._pairwise(kernel)
        if kind in OTHER_PRODUCTS:
            return OTHER_PRODUCTS[kind](self._length_scales(kernel))
        if kind is sklearn_kernels.Sum:
            return self.read(kernel.k1) + self.read(kernel.k2)
        if kind is sklearn_kernels.Product:
            return self._checked(kernel, mul, self.read(kernel.k1), self.read(kernel.k2))
        if kind is sklearn_kernels.Exponentiation:
            return self._checked(kernel, pow, self.read(kernel.kernel), float(kernel.exponent))
        raise self._refused(kernel, f"; known are {_KNOWN}.{_instead(kernel)}")

    def _of(self, kernel: Kernel) -> KernelPolynomial:
        return KernelPolynomial.of(kernel, range(self._n_features))

    def _dot_product_power(self, constant: float, gamma: float, degree: int) -> KernelPolynomial:
        columns = range(self._n_features)
        return KernelPolynomial.dot_product_power(columns, constant, gamma, degree)

    def _refused(self, part: Any, why: str) -> UnsupportedModelError:
        return unsupported(f"{self._model_name} with {shown(part)} in its kernel", why)

    def _checked(
        self, part: Any, operation: Callable[..., KernelPolynomial], *operands: Any
    ) -> KernelPolynomial:
        try:
            return operation(*operands)
        except ValueError as error:
            raise self._refused(part, f": {error}") from None

    def _constant(self, kernel: Any) -> KernelPolynomial:
        value = float(kernel.constant_value)
        if not 0.0 <= value < math.inf:
            raise self._refused(kernel, ": the constant must not be negative")
        return value * ONE if value else ZERO

    def _pairwise(self, kernel: Any) -> KernelPolynomial:
        """Read one of `sklearn.metrics.pairwise`."""
        if isinstance(kernel.metric, str) and kernel.metric in _OF_DOT_PRODUCT:
            return self._polynomial(kernel)
        if not isinstance(kernel.metric, str) or kernel.metric not in ("rbf", "laplacian", "chi2"):
            raise self._refused(kernel, f"; known are {_KNOWN}.{_instead(kernel)}")
        gamma = float(kernel.gamma)
        if not 0.0 < gamma < math.inf:
            raise self._refused(kernel, ": gamma must be positive")
        return self._of(PAIRWISE[kernel.metric](Options(gamma)))

    def _polynomial(self, kernel: Any) -> KernelPolynomial:
        """Read a linear or polynomial kernel, with options of its own."""
        if kernel.metric == "linear":
            return self._dot_product_power(0.0, 1.0, 1)
        given = kernel.pairwise_kernels_kwargs or {}
        degree, coef0 = given.get("degree", 3), float(given.get("coef0", 1.0))
        if not (float(degree).is_integer() and 1 <= degree <= MOST_ORDERS and coef0 >= 0.0):
            raise self._refused(
                kernel,
                f": degree must be an integer from 1 to {MOST_ORDERS}, and coef0 not negative",
            )
        if not 0.0 < kernel.gamma < math.inf:
            raise self._refused(kernel, ": gamma must be positive")
        return self._dot_product_power(coef0, float(kernel.gamma), int(degree))

    def _periodic(self, kernel: Any) -> KernelPolynomial:
        scales = (float(kernel.length_scale), float(kernel.periodicity))
        if not all(scale > 0.0 for scale in scales):
            raise self._refused(kernel, ": length_scale and periodicity must be positive")
        return self._of(Periodic(*scales))

    def _length_scales(self, kernel: Any) -> tuple[float, ...]:
        # An array of one number is an isotropic kernel.
        scales = np.squeeze(np.asarray(kernel.length_scale, dtype=np.float64))
        if scales.shape not in ((), (self._n_features,)) or not np.all(scales > 0.0):
            raise self._refused(
                kernel,
                ": length_scale must be positive, one number or one for each of the "
                f"{self._n_features} features",
            )
        return tuple(np.broadcast_to(scales, self._n_features).tolist())


# Kernels of libraries derived from scikit-learn, by their length-scales of all features.
OTHER_PRODUCTS: dict[type, Callable[[tuple[float, ...]], KernelPolynomial]] = {}
# Metrics of a PairwiseKernel that are polynomials in x·y.
_OF_DOT_PRODUCT = ("linear", "poly", "polynomial")


def _instead(kernel: Any) -> str:
    """Return why a kernel is unknown, if that is known, and what to do today about its model."""
    why = ""
    if type(kernel).__module__.startswith("bayes_opt."):
        return " Pass the BayesianOptimization itself, whose Gaussian process it belongs to"
    if type(kernel) is sklearn_kernels.ExpSineSquared:
        why = " Of several columns it is no sum of products, but of one column each it would be."
    return f"{why} Fit the model with a kernel of these, or take {APPROXIMATE}"


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
