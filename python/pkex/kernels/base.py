"""Base class of kernels, their sums, products and restrictions, and the constant kernel."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import mul

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.inputs.integers import as_integer
from pkex.kernels.allowed_values import AllowedValues
from pkex.kernels.factors import Term, evaluate_terms
from pkex.tables.read import as_matrix
from pkex.typing import Float


class Kernel(ABC):
    """Base class of kernels: combination, expansion into terms, and evaluation.

    Kernels are combined by ``a * b``, ``a + b``, ``2.0 * a``, ``a**2`` and ``a.on(columns)``.
    Subclasses define `terms`.

    Examples
    --------
    >>> from pkex.kernels import Cauchy, RBF
    >>> kernel = RBF() + 0.5 * Cauchy().on([1])
    >>> kernel([[0.0, 0.0]], [[0.0, 1.0]])
    array([[0.85653066]])
    """

    # Without this, a numpy number on the left would try to treat the kernel as an array.
    __array_ufunc__ = None

    @abstractmethod
    def terms(self, n_features: int) -> list[Term]:
        """Return the terms over `n_features` features that sum to the kernel.

        Each term is a coefficient times a product of factors of single columns. A factor may also
        be a function of the distance in several columns, which is a mixture of such products.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        list of Term

        Raises
        ------
        ValueError
            If the kernel does not fit that number of features.
        """

    def check_rows(self, rows: NDArray[np.float64], name: str) -> None:
        """Raise an error for rows where the kernel is not defined.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        name : str
            The name of the rows in messages.

        Raises
        ------
        ValueError
            If a column of `Chi2` has a negative value, or a column of `Tanimoto` a value that is
            not a count. The message names row and column.
        """
        AllowedValues.of(self.terms(rows.shape[1])).check(rows, name)

    def engine_rows(self, rows: Float, *, are_own: bool = False) -> Float:
        """Return rows in the engine's form, with the additional columns that the terms require.

        Set `are_own` if these are the rows of the sample that the kernel was fitted to.
        """
        return rows

    def engine_columns(self, n_features: int) -> NDArray[np.intp]:
        """Return, for each column of `engine_rows`, its column in the table."""
        return np.arange(n_features)

    def on(self, columns: Iterable[int]) -> Kernel:
        """Return the kernel restricted to some columns.

        Parameters
        ----------
        columns : iterable of int
            Column numbers; length-scales of the kernel refer to these columns, in this order.

        Returns
        -------
        Kernel

        Raises
        ------
        TypeError, ValueError
            If `columns` is empty, or has duplicates or values that are not column numbers.

        Examples
        --------
        >>> from pkex.kernels import RBF
        >>> RBF(length_scale=[1.0, 10.0]).on([0, 3])
        RBF(length_scale=(1.0, 10.0)).on((0, 3))
        """
        return _Restricted(self, _checked_columns(columns))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Float:
        """Evaluate the kernel for all pairs of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (m, d), optional
            By default `X`.

        Returns
        -------
        ndarray of shape (n, m)
        """
        left = as_matrix(X, "X", allow_no_rows=True)
        right = left
        if Y is not None:
            right = as_matrix(Y, "Y", n_columns=left.shape[1], allow_no_rows=True)
        self.check_rows(left, "X")
        self.check_rows(right, "Y")
        return evaluate_terms(self.terms(left.shape[1]), left, right)

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return _product(self, other)
        if isinstance(other, Real):
            return _scale_kernel(float(other), self)
        return NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return self.__mul__(other)

    def __pow__(self, exponent: int) -> Kernel:
        times = as_integer("the exponent of a kernel", exponent, "a positive integer", least=1)
        return reduce(mul, [self] * times)

    def __add__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return _Sum((*_summands(self), *_summands(other)))
        if isinstance(other, Real):
            # 0 is what Python's sum starts from.
            return self if other == 0 else self + _scale_kernel(float(other), Constant())
        return NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self.__add__(other)


@dataclass(frozen=True)
class Constant(Kernel):
    """Constant kernel: 1 for all pairs of rows.

    It depends on no feature, so in a sum of kernels it contributes to the base value only. A number
    in a sum of kernels is converted to a multiple of it.

    Examples
    --------
    >>> from pkex.kernels import RBF
    >>> RBF() + 3.0
    RBF(length_scale=1.0) + 3.0 * Constant()
    >>> (3.0 * Constant())([[0.0]], [[1.0]])
    array([[3.]])
    """

    def terms(self, n_features: int) -> list[Term]:
        """Return one term without factors, for any number of features."""
        return [Term(1.0, ())]


@dataclass(frozen=True)
class _Scaled(Kernel):
    """A kernel times a positive amplitude, which is not part of any factor."""

    amplitude: float
    kernel: Kernel

    def terms(self, n_features: int) -> list[Term]:
        return [
            replace(term, coefficient=self.amplitude * term.coefficient)
            for term in self.kernel.terms(n_features)
        ]

    def __repr__(self) -> str:
        return f"{self.amplitude!r} * {_bracket(self.kernel, _Sum)}"


@dataclass(frozen=True)
class _Product(Kernel):
    kernels: tuple[Kernel, ...]

    def terms(self, n_features: int) -> list[Term]:
        return reduce(_multiply_terms, (kernel.terms(n_features) for kernel in self.kernels))

    def __repr__(self) -> str:
        return " * ".join(_bracket(kernel, _Sum) for kernel in self.kernels)


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
                f"{self!r} refers to column {max(self.columns)}, but the data has {n_features} "
                f"columns. Use column numbers from 0 to {n_features - 1}"
            )
        columns = np.array(self.columns, dtype=np.int64)
        return [term.on(columns) for term in self.kernel.terms(len(columns))]

    def __repr__(self) -> str:
        return f"{_bracket(self.kernel, _Scaled, _Product, _Sum)}.on({self.columns!r})"


def _scale_kernel(amplitude: float, kernel: Kernel) -> Kernel:
    inner_amplitude, inner = amplitude_and_kernel(kernel)
    total = amplitude * inner_amplitude
    if not (amplitude > 0.0 and 0.0 < total < math.inf):
        raise ValueError(f"the amplitude of a kernel must be positive and finite; got {total!r}")
    return inner if total == 1.0 else _Scaled(total, inner)


def _product(left: Kernel, right: Kernel) -> Kernel:
    """Return the product of two kernels, with its amplitude in front."""
    left_amplitude, left = amplitude_and_kernel(left)
    right_amplitude, right = amplitude_and_kernel(right)
    product = _Product((*_multiplicands(left), *_multiplicands(right)))
    return _scale_kernel(left_amplitude * right_amplitude, product)


def amplitude_and_kernel(kernel: Kernel) -> tuple[float, Kernel]:
    """Return the amplitude of a kernel (1 if it has none), and the kernel without it."""
    return (kernel.amplitude, kernel.kernel) if isinstance(kernel, _Scaled) else (1.0, kernel)


def namesake(kernel: object) -> str:
    """Return the advice to use pkex's kernel of the same name, "" if there is none.

    `kernel` is a class, or a kernel of another library.
    """
    name = (kernel if isinstance(kernel, type) else type(kernel)).__name__
    return f". Pass pkex.kernels.{name}(...)" if name in _names(Kernel) else ""


def _names(kernels: type) -> set[str]:
    """Return the names of the classes derived from a class."""
    subclasses: list[type] = kernels.__subclasses__()
    return {kernel.__name__ for kernel in subclasses}.union(*map(_names, subclasses))


def _multiplicands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Product) else (kernel,)


def _summands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Sum) else (kernel,)


def _multiply_terms(left: list[Term], right: list[Term]) -> list[Term]:
    return [a * b for a in left for b in right]


def _bracket(kernel: Kernel, *weaker: type[Kernel]) -> str:
    return f"({kernel!r})" if isinstance(kernel, weaker) else repr(kernel)


def _checked_columns(columns: Iterable[int]) -> tuple[int, ...]:
    what = "a list of column numbers"
    try:
        items = list(columns)
    except TypeError:
        raise TypeError(f"columns must be {what}; got {columns!r}") from None
    numbers = tuple(as_integer("columns", column, what) for column in items)
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ValueError(
            f"columns must be one or more distinct column numbers, 0 or larger; got {list(numbers)}"
        )
    return numbers
