"""The default kernel of samples: a product over columns of kernels centered on the sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.inputs.choices import places_of
from pkex.kernels.base import Kernel
from pkex.kernels.centered import (
    CenteredCategories,
    CenteredColumn,
    CenteredNumber,
    centered_column,
)
from pkex.kernels.factors import Term
from pkex.kernels.heuristic import pool_samples
from pkex.tables.read import as_matrix
from pkex.typing import Float


@dataclass(frozen=True, repr=False)
class OrthogonalANOVA(Kernel):
    """Orthogonal ANOVA kernel of a sample: ∏_j (1 + λ k̃_j(x_j, y_j)), λ = 1/√(number of columns).

    Each k̃_j is a kernel of column j, centered on the sample and scaled to a mean diagonal of 1. For
    numbers it is a Gaussian whose length-scale is twice the median distance between the values of
    the column; for categories it is 1/p(x_j) if both are equal, with the share p of the category,
    and 0 otherwise. It is the default kernel of `pkex.mmd`, `pkex.hsic`, `pkex.witness` and
    `pkex.MMDDrift`, created by `fit`.

    Multiplied out, the kernel is a sum over sets of columns: 1 for the empty set, λ k̃_j for single
    columns, λ² k̃_i k̃_j for pairs, and so on. So MMD² and HSIC are sums of the contributions of
    single columns, of pairs in addition to these, and so on; the contribution of a set depends only
    on the columns in it. Because k̃_j has mean 0 over the sample, the mean factor of a column is 1,
    and the marginal and the neutral value functions are equal.

    The kernel cannot be combined with others. `KernelExpansion`, its values and its interactions
    are supported; sensitivity, variances and the observational value function are not.

    Parameters
    ----------
    columns : tuple of CenteredNumber, CenteredCategories or None
        The kernel of each column; None for a constant one, whose factor is 1.

    Raises
    ------
    TypeError, ValueError
        If an item is of another type.

    References
    ----------
    N. Durrande, D. Ginsbourger, O. Roustant, L. Carraro (2013), ANOVA kernels and RKHS of zero mean
    functions for model-based sensitivity analysis, Journal of Multivariate Analysis 115.
    S. da Veiga (2021), Kernel-based ANOVA decomposition and Shapley effects.

    Examples
    --------
    >>> import numpy as np
    >>> from pkex.kernels import OrthogonalANOVA
    >>> rows = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [4.0, 1.0]])
    >>> kernel = OrthogonalANOVA.fit(rows, categorical=[1])
    >>> kernel
    OrthogonalANOVA(2 columns: 1 of numbers, 1 of categories)
    >>> bool(abs(kernel(rows).mean() - 1.0) < 0.5)
    True
    """

    columns: tuple[CenteredNumber | CenteredCategories | None, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        for column in self.columns:
            if column is not None and not isinstance(column, CenteredColumn):
                raise TypeError(
                    "OrthogonalANOVA requires kernels of columns centered on a sample; got "
                    f"{column!r}. Use OrthogonalANOVA.fit(X, Y) to make them from samples"
                )

    @classmethod
    def fit(cls, *samples: ArrayLike, categorical: Iterable[int] = ()) -> OrthogonalANOVA:
        """Return the kernel of the rows of samples, pooled.

        Parameters
        ----------
        *samples : array-likes of shape (n, d) or (n,)
            Samples with the same columns, of numbers.
        categorical : iterable of int
            The numbers of columns that hold codes of categories.

        Raises
        ------
        ValueError, TypeError
            If samples are not finite numeric tables with the same columns, or `categorical` has an
            invalid column number.
        """
        rows = pool_samples(samples, "OrthogonalANOVA.fit")
        names = [f"x{j}" for j in range(rows.shape[1])]
        labels = []
        for column in categorical:
            places = places_of(column, names)
            if places is None or len(places) != 1:
                raise ValueError(
                    f"categorical has {column!r}; pass column numbers from 0 to {len(names) - 1}"
                )
            labels.append(places[0])
        return cls.of(rows, labels)

    @classmethod
    def of(
        cls, rows: Float, labels: Sequence[int] = (), *, looks_ahead: bool = False
    ) -> OrthogonalANOVA:
        """Return the kernel of rows of shape (n, d), with the numbers of columns of categories.

        Set `looks_ahead` if these rows are compared with new ones.
        """
        label_columns = frozenset(labels)
        return cls(
            tuple(
                centered_column(column, is_label=j in label_columns, looks_ahead=looks_ahead)
                for j, column in enumerate(rows.T)
            )
        )

    @property
    def share(self) -> float:
        """λ, one over the square root of the number of columns that vary in the sample."""
        n_varying = sum(1 for column in self.columns if _varies(column))
        return 1.0 / math.sqrt(max(1, n_varying))

    def engine_rows(self, rows: Float, *, are_own: bool = False) -> Float:
        """Return rows with offsets after the values of each column."""
        # Memory for all columns is allocated first, so that errors are raised here.
        result = np.empty((len(rows), len(self.engine_columns(rows.shape[1]))))
        share, place = self.share, 0
        for kernel, entries in zip(self.columns, rows.T, strict=True):
            columns = [entries]
            if kernel is not None:
                columns = kernel.engine_columns(entries, share, are_own=are_own)
            for column in columns:
                result[:, place] = column
                place += 1
        return result

    def engine_columns(self, n_features: int) -> NDArray[np.intp]:
        """Return, for each column of `engine_rows`, its column in the table."""
        self._check_width(n_features)
        widths = [1 if kernel is None else kernel.n_columns for kernel in self.columns]
        return np.repeat(np.arange(n_features), widths)

    def terms(self, n_features: int) -> list[Term]:
        """Return the one product, in the engine's columns."""
        share, factors = self.share, []
        first = np.searchsorted(self.engine_columns(n_features), np.arange(n_features))
        for kernel, place in zip(self.columns, first.tolist(), strict=True):
            if kernel is not None:
                factors.append(kernel.factor(place, share))
        return [Term(1.0, tuple(factors))]

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Float:
        """Evaluate the kernel for all pairs of rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (m, d), optional
            `X` by default.

        Returns
        -------
        ndarray of shape (n, m)
        """
        left = as_matrix(X, "X", allow_no_rows=True)
        self._check_width(left.shape[1])
        right = left
        if Y is not None:
            right = as_matrix(Y, "Y", n_columns=left.shape[1], allow_no_rows=True)
        product, share = np.ones((len(left), len(right))), self.share
        for kernel, x, y in zip(self.columns, left.T, right.T, strict=True):
            if kernel is not None:
                product *= 1.0 + share * kernel.evaluate(x, y)
        return product

    def log_diagonal(self, rows: Float) -> Float:
        """Return the logarithm of the kernel of each row with itself, of shape (n,)."""
        self._check_width(rows.shape[1])
        logarithms, share = np.zeros(len(rows)), self.share
        for kernel, entries in zip(self.columns, rows.T, strict=True):
            if kernel is not None:
                logarithms += np.log1p(share * kernel.diagonal(entries))
        return logarithms

    def _check_width(self, n_features: int) -> None:
        if n_features != len(self.columns):
            raise ValueError(
                f"OrthogonalANOVA was fitted to {len(self.columns)} columns, but there are "
                f"{n_features}. Fit it to rows with these columns"
            )

    def _cannot_combine(self, _: object) -> NoReturn:
        raise TypeError(
            "OrthogonalANOVA cannot be combined with other kernels or restricted to columns. Fit "
            "it to rows of the columns to be compared, and use it without other kernels"
        )

    __mul__ = __rmul__ = __add__ = __radd__ = __pow__ = _cannot_combine

    def on(self, columns: Iterable[int]) -> NoReturn:
        """Raise a TypeError: the kernel compares all columns that it was fitted to."""
        self._cannot_combine(columns)

    def __repr__(self) -> str:
        n_numbers = sum(isinstance(kernel, CenteredNumber) for kernel in self.columns)
        n_categories = sum(isinstance(kernel, CenteredCategories) for kernel in self.columns)
        n_constant = len(self.columns) - n_numbers - n_categories
        kinds = [
            f"{count} {kind}"
            for count, kind in (
                (n_numbers, "of numbers"),
                (n_categories, "of categories"),
                (n_constant, "constant"),
            )
            if count
        ]
        plural = "s" if len(self.columns) != 1 else ""
        return f"OrthogonalANOVA({len(self.columns)} column{plural}: {', '.join(kinds)})"


def _varies(kernel: CenteredColumn | None) -> bool:
    return not (
        kernel is None or (isinstance(kernel, CenteredCategories) and len(kernel.codes) == 1)
    )
