"""Kernels in general: how they combine, expand into terms and evaluate; and the constant one."""

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
from pkex.kernels.factors import Term
from pkex.tables.read import as_matrix
from pkex.typing import Float

__all__ = ["Constant", "Kernel", "amplitude_and_kernel", "namesake"]


class Kernel(ABC):
    """Base of all kernels: what they share is how they combine, expand into terms and evaluate."""

    # Without this, a numpy number on the left would try to treat the kernel as an array.
    __array_ufunc__ = None

    @abstractmethod
    def terms(self, n_features: int) -> list[Term]:
        """Return the terms over `n_features` features whose sum the kernel is.

        Each is a coefficient times a product of factors of single columns, or of functions of a
        distance in several, which are mixtures of such products.

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
            If `Chi2` would compare a negative entry, or `Tanimoto` one that is no count; the
            message names row and column.
        """
        AllowedValues.of(self.terms(rows.shape[1])).check(rows, name)

    def engine_rows(self, rows: Float, *, are_own: bool = False) -> Float:
        """Return rows as the engine compares them: with what the terms need beside the entries.

        `are_own` says that these are the rows of the sample that the kernel was fitted to.
        """
        return rows

    def engine_columns(self, n_features: int) -> NDArray[np.intp]:
        """Return the column of the table that each column of these rows belongs to."""
        return np.arange(n_features)

    def on(self, columns: Iterable[int]) -> Kernel:
        """Restrict the kernel to some columns; its length-scales then refer to these, in order.

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
            total += term.evaluated(left, right)
        return total

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return _product(self, other)
        if isinstance(other, Real):
            return _scaled(float(other), self)
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
            return self if other == 0 else self + _scaled(float(other), Constant())
        return NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self.__add__(other)


@dataclass(frozen=True)
class Constant(Kernel):
    """The kernel that is 1 everywhere: an empty product, in which no feature takes part.

    In a sum with others, what it adds to a function belongs to the base value. A number in a sum of
    kernels stands for it.

    Examples
    --------
    >>> RBF() + 3.0
    RBF(length_scale=1.0) + 3.0 * Constant()
    >>> (3.0 * Constant())([[0.0]], [[1.0]])
    array([[3.]])
    """

    def terms(self, n_features: int) -> list[Term]:
        """Return the one product, of no factors, whatever the number of features."""
        return [Term(1.0, ())]


@dataclass(frozen=True)
class _Scaled(Kernel):
    """A kernel times a positive amplitude; the amplitude stays out of the game's factors."""

    amplitude: float
    kernel: Kernel

    def terms(self, n_features: int) -> list[Term]:
        return [
            replace(term, coefficient=self.amplitude * term.coefficient)
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
        return [term.on(columns) for term in self.kernel.terms(len(columns))]

    def __repr__(self) -> str:
        return f"{_bracketed(self.kernel, _Scaled, _Product, _Sum)}.on({self.columns!r})"


def _scaled(amplitude: float, kernel: Kernel) -> Kernel:
    inner_amplitude, inner = amplitude_and_kernel(kernel)
    total = amplitude * inner_amplitude
    if not (amplitude > 0.0 and 0.0 < total < math.inf):
        raise ValueError(f"the amplitude of a kernel must be positive and finite; got {total!r}")
    return inner if total == 1.0 else _Scaled(total, inner)


def _product(left: Kernel, right: Kernel) -> Kernel:
    """Multiply kernels, amplitudes in front, so that equal products are equal objects."""
    left_amplitude, left = amplitude_and_kernel(left)
    right_amplitude, right = amplitude_and_kernel(right)
    product = _Product((*_multiplicands(left), *_multiplicands(right)))
    return _scaled(left_amplitude * right_amplitude, product)


def amplitude_and_kernel(kernel: Kernel) -> tuple[float, Kernel]:
    """Return the number in front of a kernel, 1 if there is none, and the kernel without it."""
    return (kernel.amplitude, kernel.kernel) if isinstance(kernel, _Scaled) else (1.0, kernel)


def namesake(given: object) -> str:
    """Return what to give in place of a class of kernels, or of another library's kernel."""
    name = (given if isinstance(given, type) else type(given)).__name__
    return f"; give pkex.kernels.{name}(...)" if name in _names(Kernel) else ""


def _names(kernels: type) -> set[str]:
    """Return the names of the classes derived from a class."""
    derived: list[type] = kernels.__subclasses__()
    return {kernel.__name__ for kernel in derived}.union(*map(_names, derived))


def _multiplicands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Product) else (kernel,)


def _summands(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.kernels if isinstance(kernel, _Sum) else (kernel,)


def _multiplied(left: list[Term], right: list[Term]) -> list[Term]:
    return [a * b for a in left for b in right]


def _bracketed(kernel: Kernel, *weaker: type[Kernel]) -> str:
    return f"({kernel!r})" if isinstance(kernel, weaker) else repr(kernel)


def _checked_columns(columns: Iterable[int]) -> tuple[int, ...]:
    what = "a list of column numbers"
    try:
        listed = list(columns)
    except TypeError:
        raise TypeError(f"columns must be {what}; got {columns!r}") from None
    checked = tuple(as_integer("columns", column, what) for column in listed)
    if not checked or min(checked) < 0 or len(set(checked)) < len(checked):
        raise ValueError(
            "columns must be one or more column numbers, each from 0 and only once; "
            f"got {list(checked)}"
        )
    return checked
