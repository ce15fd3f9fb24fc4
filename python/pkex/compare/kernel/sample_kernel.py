"""The kernel of a comparison with its terms, which are computed once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Argument, InputError, InputTypeError
from pkex.inputs.wording import columns_named
from pkex.kernels import Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.kernels.factors import Term
from pkex.typing import Float

# Kernel of two rows of which one has a missing value: as if one length-scale apart.
_MISSING_SIMILARITY = math.exp(-0.5)


@dataclass(frozen=True, eq=False)
class SampleKernel:
    """A kernel of rows, with its terms for a number of columns.

    Parameters
    ----------
    kernel : Kernel
    terms : list of Term
        Terms over the engine's columns.
    columns : ndarray of int
        The column that each of the engine's columns belongs to.
    bandwidth : str, optional
        The rule that chose the length-scales; None for a kernel passed by the user.
    """

    kernel: Kernel
    terms: list[Term]
    columns: NDArray[np.intp]
    bandwidth: str | None = None

    @classmethod
    def of(cls, kernel: Kernel, n_columns: int, bandwidth: str | None = None) -> SampleKernel:
        """Return a kernel with its terms for `n_columns` columns."""
        return cls(kernel, kernel.terms(n_columns), kernel.engine_columns(n_columns), bandwidth)

    @classmethod
    def of_argument(cls, kernel: object, argument: str, n_columns: int) -> SampleKernel:
        """Return the kernel of an argument for `n_columns` columns, or raise an error."""
        if not isinstance(kernel, Kernel):
            raise InputTypeError(
                argument,
                "must be a kernel of pkex.kernels, such as RBF(length_scale=1.0), which has "
                "gamma = 1/(2·length_scale²), or None for the default; "
                f"got {kernel!r} ({type(kernel).__name__}){namesake(kernel)}",
            )
        try:
            return cls.of(kernel, n_columns)
        except ValueError as error:
            raise InputError(None, (Argument(argument), f": {error}")) from None

    @property
    def label_columns(self) -> list[int]:
        """The columns that are compared as categories."""
        return sorted(self._columns_of_factors(are_labels=True))

    def _columns_of_factors(self, *, are_labels: bool) -> set[int]:
        """Return the columns of all factors that compare categories, or numbers."""
        return {
            int(self.columns[column])
            for term in self.terms
            for factor in term.all_factors
            if factor.definition.compares_labels == are_labels
            for column in factor.columns
        }

    def check_rows(self, rows: Float, columns: slice | NDArray[np.intp], name: str) -> None:
        """Raise an error if the kernel is not defined for some columns of rows."""
        self.kernel.check_rows(np.ascontiguousarray(rows[:, columns]), name)

    def check_labels(
        self, labels: Sequence[int], names: Sequence[str], rows_name: str, argument: str
    ) -> None:
        """Raise an error if the kernel subtracts category codes.

        Parameters
        ----------
        labels : sequence of int
            The categorical columns.
        names : sequence of str
            The names of all columns.
        rows_name, argument : str
            The names of the rows and of the kernel in messages.
        """
        numeric_columns = self._columns_of_factors(are_labels=False)
        for series in (term.series for term in self.terms if term.series is not None):
            numeric_columns.update(series.columns.tolist())
        wrong = [names[j] for j in labels if j in numeric_columns]
        if wrong:
            hold = "hold" if " and " in rows_name else "holds"
            raise InputError(
                rows_name,
                f"{hold} labels ({columns_named(wrong)}), but "
                f"{argument} is {self.kernel!r}, which compares numbers",
                "pass pkex.kernels.Categorical() for labels, or convert them to numbers",
            )

    def with_missing(self, n_columns: int, n_all: int) -> SampleKernel:
        """Return the kernel times a kernel of the further columns, which flag missing values."""
        if n_all == n_columns:
            return self
        flags = Categorical(_MISSING_SIMILARITY).on(range(n_columns, n_all))
        return self.of(self.kernel.on(range(n_columns)) * flags, n_all)


def check_user_kernel(kernel: object, n_columns: int, **samples: Float) -> SampleKernel | None:
    """Return the argument `kernel`, checked for the rows of samples; None by default."""
    if kernel is None:
        return None
    sample_kernel = SampleKernel.of_argument(kernel, "kernel", n_columns)
    for name, rows in samples.items():
        sample_kernel.check_rows(rows, slice(n_columns), name)
    return sample_kernel
