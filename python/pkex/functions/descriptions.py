"""Public descriptions of functions that `Explainer` explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.column_functions import ProductArgument, TermArgument
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.product_sum import ProductSum
from pkex.functions.sparse_kernel_sum import SparseKernelSum, kernel_sum
from pkex.functions.term_sum import TermSum
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import Kernel
from pkex.typing import Float

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_F = TypeVar("_F", bound=KernelSum | SparseKernelSum | ProductSum | TermSum)


class Description(Generic[_F]):
    """A function as its parts define it. It is immutable and can be pickled."""

    __slots__ = ("_function",)

    _function: _F

    @classmethod
    def _of(cls, function: _F) -> Self:
        """Return the description of a function."""
        description = cls.__new__(cls)
        description._function = function
        return description

    @property
    def intercept(self) -> float | Float:
        """The constant: a float, or read-only of shape (outputs,)."""
        return self._function.intercept

    @property
    def n_features(self) -> int:
        """The number of features d."""
        return self._function.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, which a DataFrame must have; None if unknown."""
        return self._function.feature_names

    def predict(self, X: ArrayLike) -> Float:
        """Evaluate the function.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, outputs)

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite numeric table with d columns, or a DataFrame whose columns have
            other names.
        OverflowError
            If a result is too large for a float; the message names the row.
        MemoryError
            If the result is too large for memory.
        """
        return self._function.predict(X)

    # A state of plain parts, which skops also saves.
    def __getstate__(self) -> dict[str, Any]:
        return {"function": self._function}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._function = state["function"]

    def __repr__(self) -> str:
        return repr(self._function)


class KernelExpansion(Description[KernelSum | SparseKernelSum]):
    """The function f(x) = intercept + Σ_i coefficients_i · kernel(x, points_i).

    It is what support vector machines, kernel ridge regression and Gaussian processes predict.

    Parameters
    ----------
    points : array-like or sparse matrix of shape (n, d)
        The expansion points: support vectors or training rows. There may be none: shape (0, d).
        Sparse points remain sparse for a product of stationary kernels (`RBF`, `Laplacian`,
        `Cauchy`, `ProductMatern`, `Periodic`) or a `Linear` or `Polynomial` kernel, with an
        amplitude. For other kernels they are made dense, up to 1 GB.
    coefficients : array-like of shape (n,) or (n, outputs)
        The weight of each point; the second shape gives the function an output axis.
    kernel : pkex.kernels.Kernel
    intercept : float or array-like of shape (outputs,), default 0.0
    feature_names : sequence of str of length d, optional
        Names of the columns, which a DataFrame must have.

    Raises
    ------
    ValueError
        If shapes do not fit together, or numbers are missing or infinite.
    TypeError
        If `kernel` is not a kernel of `pkex.kernels`, or arrays do not hold real numbers.

    Examples
    --------
    >>> import pkex
    >>> f = pkex.KernelExpansion([[0.0, 0.0], [1.0, 1.0]], [1.0, -1.0], pkex.kernels.RBF())
    >>> f
    KernelExpansion(2 points, 2 features, kernel=RBF(length_scale=1.0))
    >>> f.predict([[0.0, 0.0]])
    array([0.63212056])
    """

    __slots__ = ()

    @with_known_keywords
    def __init__(
        self,
        points: ArrayLike,
        coefficients: ArrayLike,
        kernel: Kernel,
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self._function = kernel_sum(points, coefficients, kernel, intercept, feature_names)

    @property
    def points(self) -> NDArray[np.float64] | csr_array:
        """The expansion points, read-only, shape (n, d); a csr_array if they remain sparse."""
        return self._function.points

    @property
    def coefficients(self) -> Float:
        """The weights, read-only, shape (n,) or (n, outputs)."""
        return self._function.coefficients

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._function.kernel


class ProductExpansion(Description[ProductSum]):
    """The function f(x) = intercept + Σ_k coefficients_k ∏_j g_kj(x_j), a sum of products.

    Relative risks, likelihoods and polynomial chaos expansions are such sums. Values are exact for
    any number of columns, and their cost grows linearly with it. In the neutral value function, the
    factor of an absent feature is 1.

    Parameters
    ----------
    factors : sequence of dict
        For each product, its factors g_kj by column: a column's number from 0 (or its name, with
        `feature_names`), and a function or a table. A function takes an array of shape (n,) and
        returns one of shape (n,). It must treat rows independently and, to be pickled, be
        importable by its name. A table over bins is a pair of ascending `edges` and `values`, with
        one more bin than edges; a number equal to an edge belongs to the bin above it. The factors
        of other columns are 1. Factors may be 0, negative or larger than 1, but must be finite.
    coefficients : array-like of shape (products,) or (products, outputs)
        The weight of each product; the second shape gives the function an output axis.
    intercept : float or array-like of shape (outputs,), default 0.0
    feature_names : sequence of str, optional
        The names of all columns. By default there are as many columns as the factors use.

    Raises
    ------
    ValueError, TypeError
        If a factor or its column is invalid, or shapes do not match. The message names the factor.

    References
    ----------
    G. Owen (1972), Multilinear extensions of games, Management Science 18(5).

    Examples
    --------
    A rate that doubles with each unit of column 0, and is 1.5 times as high where column 1 is
    positive:

    >>> import numpy as np
    >>> import pkex
    >>> f = pkex.ProductExpansion([{0: np.exp2, 1: ([0.0], [1.0, 1.5])}], [10.0])
    >>> f.predict([[1.0, 3.0]])
    array([30.])
    >>> pkex.Explainer(f, [[0.0, -1.0]]).shap_values([[1.0, 3.0]])
    array([[12.5,  7.5]])
    """

    __slots__ = ()

    @with_known_keywords
    def __init__(
        self,
        factors: Iterable[ProductArgument],
        coefficients: ArrayLike,
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self._function = ProductSum(factors, coefficients, intercept, feature_names=feature_names)

    @property
    def coefficients(self) -> Float:
        """The weights, read-only, shape (products,) or (products, outputs)."""
        return self._function.coefficients


class TermExpansion(Description[TermSum]):
    """The function f(x) = intercept + Σ_I f_I(x_I), a sum of functions of few columns.

    Generalized additive models and explainable boosting machines are such sums. The cost of values
    grows as 2^k for a term of k columns, up to 14, and does not depend on the number of other
    columns.

    Parameters
    ----------
    terms : iterable of (columns, function) or (columns, edges, values)
        `columns` is a column's number from 0 (or its name, with `feature_names`), or a sequence of
        these. `function` takes an array of shape (n,) for each column and returns one of shape
        (n,) or (n, outputs). It must treat rows independently and, to be pickled, be importable by
        its name. A table over bins has an ascending array of `edges` for the column, or a sequence
        of arrays for several columns, and `values` with one more bin than edges along each column;
        a number equal to an edge belongs to the bin above it.
    intercept : float or array-like of shape (outputs,), default 0.0
        An array gives the function an output axis.
    feature_names : sequence of str, optional
        The names of all columns. By default there are as many columns as the terms use.

    Raises
    ------
    ValueError, TypeError
        If a term or one of its columns is invalid. The message names the term.

    References
    ----------
    G. Dubé, M. Marchand (2025), Shapley values of structured additive regression models and
    application to RKHS weightings of functions, Transactions on Machine Learning Research.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> f = pkex.TermExpansion([(0, np.sin), ([1, 2], np.multiply), (1, [0.0], [-1.0, 1.0])], 10.0)
    >>> f.predict([[0.0, 2.0, 3.0]])
    array([17.])
    >>> pkex.Explainer(f, [[0.0, -1.0, 1.0]]).shap_values([[0.0, 2.0, 3.0]])
    array([[0., 8., 1.]])
    """

    __slots__ = ()

    @with_known_keywords
    def __init__(
        self,
        terms: Iterable[TermArgument],
        intercept: ArrayLike = 0.0,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self._function = TermSum(terms, intercept, feature_names=feature_names)
