"""Product kernels and their combinations, as specifications: immutable, comparable, readable.

A kernel over features 1..d is here a sum of *terms*, each a coefficient times a product of one
factor per feature: k(x, y) = Σ_t c_t ∏_j k_tj(x_j, y_j). That is the form in which Shapley values
are exact. Kernels are built from `RBF`, `Laplacian`, `Cauchy`, `Chi2`, `Categorical` and `Constant`
by ``a * b``, ``a + b``, ``2.0 * a`` and ``a.on(columns)``.

Examples
--------
>>> from pkex.kernels import RBF, Laplacian
>>> 2.0 * RBF(length_scale=0.5) * Laplacian().on([0, 2])
2.0 * RBF(length_scale=0.5) * Laplacian(length_scale=1.0).on((0, 2))
>>> RBF()([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]])
array([[1.        , 0.36787944]])
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.factors import Factor, Term, check_not_negative, columns_not_negative
from pkex.length_scales import checked_length_scale, converting_gamma
from pkex.validation import as_matrix

__all__ = [
    "RBF",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Constant",
    "Factor",
    "Kernel",
    "Laplacian",
    "Term",
    "median_heuristic",
]

_Float = NDArray[np.float64]


class Kernel(ABC):
    """Base of all kernels: what they share is how they combine, expand into terms and evaluate."""

    # Without this, a numpy number on the left would try to treat the kernel as an array.
    __array_ufunc__ = None

    @abstractmethod
    def terms(self, n_features: int) -> list[Term]:
        """Expand the kernel over `n_features` features into a sum of products.

        Raises
        ------
        ValueError
            If the kernel does not fit that number of features.
        """

    def check_rows(self, rows: NDArray[np.float64], name: str) -> None:
        """Refuse rows for which the kernel is not defined.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        name : str
            What messages call them.

        Raises
        ------
        ValueError
            If `Chi2` would compare a negative entry; the message names row and column.
        """
        check_not_negative(rows, columns_not_negative(self.terms(rows.shape[1])), name)

    def on(self, columns: Iterable[int]) -> Kernel:
        """Restrict the kernel to some columns; its length-scales then refer to these, in order.

        Examples
        --------
        >>> RBF(length_scale=[1.0, 10.0]).on([0, 3])
        RBF(length_scale=(1.0, 10.0)).on((0, 3))
        """
        return _Restricted(self, _checked_columns(columns))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> _Float:
        """Evaluate the kernel for all pairs of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (m, d), optional
            The rows of `X` if not given.

        Returns
        -------
        ndarray of shape (n, m)
        """
        left = as_matrix(X, "X", allow_no_rows=True)
        right = left
        if Y is not None:
            right = as_matrix(Y, "Y", n_columns=left.shape[1], allow_no_rows=True)
        total = np.zeros((len(left), len(right)))
        self.check_rows(left, "X")
        self.check_rows(right, "Y")
        for term in self.terms(left.shape[1]):
            product = np.full_like(total, term.coefficient)
            for factor in term.factors:
                for _, values in factor.evaluated(left, right):
                    product *= values
            total += product
        return total

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return _product(self, other)
        if isinstance(other, Real):
            return _scaled(float(other), self)
        return NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return self.__mul__(other)

    def __add__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return _Sum((*_summands(self), *_summands(other)))
        return NotImplemented


@dataclass(frozen=True)
class _Stationary(Kernel):
    """A product over features of one function of (x_j − y_j) / length-scale."""

    length_scale: float | tuple[float, ...] = 1.0

    family: ClassVar[str]
    # The length-scale that scikit-learn's gamma stands for.
    _of_gamma: ClassVar[str] = ""

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))

    def terms(self, n_features: int) -> list[Term]:
        if isinstance(self.length_scale, tuple) and len(self.length_scale) != n_features:
            raise ValueError(
                f"length_scale of {type(self).__name__} has {len(self.length_scale)} values; "
                f"expected {n_features}, one for each feature, or a single number for all"
            )
        length_scales = np.full(n_features, self.length_scale, dtype=np.float64)
        columns = np.arange(n_features, dtype=np.int64)
        return [Term(1.0, (Factor(self.family, columns, length_scales[:, None]),))]


@dataclass(frozen=True, init=False)
class RBF(_Stationary):
    """Gaussian kernel: ∏_j exp(−((x_j − y_j) / ℓ_j)² / 2).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / (2 ℓ²).

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> RBF(length_scale=[0.5, 2.0])
    RBF(length_scale=(0.5, 2.0))
    """

    family = "rbf"
    _of_gamma = "(2 * gamma) ** -0.5, since gamma = 1 / (2 * length_scale**2)"


@dataclass(frozen=True, init=False)
class Laplacian(_Stationary):
    """Laplace kernel: ∏_j exp(−|x_j − y_j| / ℓ_j).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / ℓ.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Laplacian()([[0.0]], [[1.0]])
    array([[0.36787944]])
    """

    family = "laplacian"
    _of_gamma = "1 / gamma"


@dataclass(frozen=True, init=False)
class Cauchy(_Stationary):
    """Cauchy kernel: ∏_j 1 / (1 + ((x_j − y_j) / ℓ_j)²).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Cauchy(length_scale=2.0)([[0.0]], [[2.0]])
    array([[0.5]])
    """

    family = "cauchy"


@dataclass(frozen=True, init=False)
class Chi2(Kernel):
    """χ² kernel of counts and histograms: ∏_j exp(−γ (x_j − y_j)² / (x_j + y_j)).

    Where both entries are 0 the factor is 1. Entries must not be negative.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, as of scikit-learn's ``chi2_kernel``.

    Raises
    ------
    ValueError
        If `gamma` is not positive and finite.

    Examples
    --------
    >>> Chi2(gamma=0.5)([[0.0, 3.0]], [[0.0, 1.0]])
    array([[0.60653066]])
    """

    gamma: float = 1.0

    def __init__(self, gamma: float = 1.0) -> None:
        given: object = gamma
        if not isinstance(given, Real) or not 0.0 < float(given) < math.inf:
            raise ValueError(f"gamma must be a positive and finite number; got {given!r}")
        object.__setattr__(self, "gamma", float(given))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        columns = np.arange(n_features, dtype=np.int64)
        return [Term(1.0, (Factor("chi2", columns, np.full((n_features, 1), self.gamma)),))]


@dataclass(frozen=True, init=False)
class Categorical(Kernel):
    """Kernel of categories, given as numbers: ∏_j (1 if x_j = y_j else `similarity`).

    Parameters
    ----------
    similarity : float, default 0.0
        Of different categories, from 0 (nothing in common; the delta kernel) to below 1.

    Raises
    ------
    ValueError
        If `similarity` is not in [0, 1).

    Examples
    --------
    >>> Categorical()([[0.0], [1.0]])
    array([[1., 0.],
           [0., 1.]])
    >>> RBF().on([0]) * Categorical(similarity=0.5).on([1])
    RBF(length_scale=1.0).on((0,)) * Categorical(similarity=0.5).on((1,))
    """

    similarity: float = 0.0

    def __init__(self, similarity: float = 0.0) -> None:
        given: object = similarity
        if not isinstance(given, Real) or not 0.0 <= float(given) < 1.0:
            raise ValueError(f"similarity must be a number from 0 to below 1; got {given!r}")
        object.__setattr__(self, "similarity", float(given))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        columns = np.arange(n_features, dtype=np.int64)
        similarities = np.full((n_features, 1), self.similarity)
        return [Term(1.0, (Factor("categorical", columns, similarities),))]


@dataclass(frozen=True)
class Constant(Kernel):
    """The kernel that is 1 everywhere: an empty product, in which no feature takes part.

    In a sum with others, what it adds to a function belongs to the base value.

    Examples
    --------
    >>> 3.0 * Constant() + RBF()
    3.0 * Constant() + RBF(length_scale=1.0)
    >>> (3.0 * Constant())([[0.0]], [[1.0]])
    array([[3.]])
    """

    def terms(self, n_features: int) -> list[Term]:
        """Return the one product, of no factors, whatever the number of features."""
        return [Term(1.0, ())]


def median_heuristic(*samples: ArrayLike, standardize: bool = True) -> Kernel:
    """Return the Gaussian kernel whose length-scale is the median distance between rows.

    Parameters
    ----------
    *samples : array-likes of shape (n, d) or (n,)
        Samples with the same columns, pooled; a target may be of one dimension.
    standardize : bool, default True
        Whether each column is first divided by its standard deviation over all rows, so that its
        unit does not matter: its length-scale is then the standard deviation times the median
        distance of the rows so scaled. That is the default kernel of `pkex.mmd`, `pkex.hsic`,
        `pkex.witness` and `pkex.MMDDrift`. Else one length-scale for all columns.

    Returns
    -------
    RBF

    Raises
    ------
    ValueError, TypeError
        If samples are not finite numeric tables with the same columns, or all their rows are equal.

    Notes
    -----
    Of more than 2000 rows the median is that of a fixed subsample of 2000. If it is 0, because more
    than half of all pairs are of equal rows, the mean of the positive distances stands in.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [1.0, 1000.0], [2.0, 2000.0]])
    >>> median_heuristic(rows)
    RBF(length_scale=(1.414213562373095, 1414.213562373095))
    >>> median_heuristic(rows, standardize=False).length_scale
    1000.000499999875
    """
    # Imported here, for it imports this module.
    from pkex.statistics.bandwidth import heuristic, pooled

    return heuristic(pooled(samples), standardize=standardize).kernel


@dataclass(frozen=True)
class _Scaled(Kernel):
    """A kernel times a positive amplitude; the amplitude stays out of the game's factors."""

    amplitude: float
    kernel: Kernel

    def terms(self, n_features: int) -> list[Term]:
        return [
            Term(self.amplitude * term.coefficient, term.factors)
            for term in self.kernel.terms(n_features)
        ]

    def __repr__(self) -> str:
        return f"{self.amplitude!r} * {_bracketed(self.kernel, _Sum)}"


@dataclass(frozen=True)
class _Product(Kernel):
    kernels: tuple[Kernel, ...]

    def terms(self, n_features: int) -> list[Term]:
        return reduce(_multiplied, (kernel.terms(n_features) for kernel in self.kernels))

    def __repr__(self) -> str:
        return " * ".join(_bracketed(kernel, _Sum) for kernel in self.kernels)


@dataclass(frozen=True)
class _Sum(Kernel):
    kernels: tuple[Kernel, ...]

    def terms(self, n_features: int) -> list[Term]:
        return [term for kernel in self.kernels for term in kernel.terms(n_features)]

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


@dataclass(frozen=True)
class _Restricted(Kernel):
    kernel: Kernel
    columns: tuple[int, ...]

    def terms(self, n_features: int) -> list[Term]:
        if max(self.columns) >= n_features:
            raise ValueError(
                f"{self!r} refers to column {max(self.columns)}; "
                f"expected 0 to {n_features - 1}, got data with {n_features} columns"
            )
        columns = np.array(self.columns, dtype=np.int64)
        return [
            Term(
                term.coefficient,
                tuple(Factor(f.family, columns[f.columns], f.parameters) for f in term.factors),
            )
            for term in self.kernel.terms(len(columns))
        ]

    def __repr__(self) -> str:
        return f"{_bracketed(self.kernel, _Scaled, _Product, _Sum)}.on({self.columns!r})"


def _scaled(amplitude: float, kernel: Kernel) -> Kernel:
    inner_amplitude, inner = _amplitude_and_kernel(kernel)
    total = amplitude * inner_amplitude
    if not (amplitude > 0.0 and 0.0 < total < math.inf):
        raise ValueError(f"the amplitude of a kernel must be positive and finite; got {total!r}")
    return inner if total == 1.0 else _Scaled(total, inner)


def _product(left: Kernel, right: Kernel) -> Kernel:
    """Multiply kernels, amplitudes in front, so that equal products are equal objects."""
    left_amplitude, left = _amplitude_and_kernel(left)
    right_amplitude, right = _amplitude_and_kernel(right)
    product = _Product((*_multiplicands(left), *_multiplicands(right)))
    return _scaled(left_amplitude * right_amplitude, product)


def _amplitude_and_kernel(kernel: Kernel) -> tuple[float, Kernel]:
    return (kernel.amplitude, kernel.kernel) if isinstance(kernel, _Scaled) else (1.0, kernel)


def _multiplicands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Product) else (kernel,)


def _summands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Sum) else (kernel,)


def _multiplied(left: list[Term], right: list[Term]) -> list[Term]:
    return [
        Term(a.coefficient * b.coefficient, (*a.factors, *b.factors)) for a in left for b in right
    ]


def _bracketed(kernel: Kernel, *weaker: type[Kernel]) -> str:
    return f"({kernel!r})" if isinstance(kernel, weaker) else repr(kernel)


def _checked_columns(columns: Iterable[int]) -> tuple[int, ...]:
    try:
        checked = tuple(operator.index(column) for column in columns)
    except TypeError:
        raise TypeError(f"columns must be a list of column numbers; got {columns!r}") from None
    if not checked or min(checked) < 0 or len(set(checked)) < len(checked):
        raise ValueError(
            "columns must be one or more column numbers, each from 0 and only once; "
            f"got {list(checked)}"
        )
    return checked
