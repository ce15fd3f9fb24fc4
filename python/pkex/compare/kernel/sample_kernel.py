"""The kernel of a comparison with its terms, which are found once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Argument, InputError, InputTypeError
from pkex.inputs.wording import shown
from pkex.kernels import Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.kernels.factors import Term
from pkex.typing import Float

__all__ = ["ChosenKernel", "given_kernel"]

# Of rows of which one lacks an entry, where the kernel is given: as if one length-scale apart.
_OF_MISSING = math.exp(-0.5)


@dataclass(frozen=True, eq=False)
class ChosenKernel:
    """A kernel of rows of some columns, with its terms.

    Parameters
    ----------
    kernel : Kernel
    terms : list of Term
        Of the engine's columns.
    columns : ndarray of int
        The column that each of the engine's columns belongs to.
    bandwidth : str, optional
        How length-scales were found; None if the kernel was given.
    """

    kernel: Kernel
    terms: list[Term]
    columns: NDArray[np.intp]
    bandwidth: str | None = None

    @classmethod
    def of(cls, kernel: Kernel, n_columns: int, bandwidth: str | None = None) -> ChosenKernel:
        """Return a kernel with its terms of so many columns."""
        return cls(kernel, kernel.terms(n_columns), kernel.engine_columns(n_columns), bandwidth)

    @classmethod
    def checked(cls, kernel: object, argument: str, n_columns: int) -> ChosenKernel:
        """Return a kernel of so many columns, or say what one is."""
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
        """The columns that are compared as labels."""
        return sorted(self._columns_of_factors(are_labels=True))

    def _columns_of_factors(self, *, are_labels: bool) -> set[int]:
        """Return the columns of all factors that compare labels, or that do not."""
        return {
            int(self.columns[column])
            for term in self.terms
            for factor in term.all_factors
            if factor.definition.compares_labels == are_labels
            for column in factor.columns
        }

    def check_rows(self, rows: Float, columns: slice | NDArray[np.intp], name: str) -> None:
        """Refuse rows for whose entries in some columns the kernel is not defined."""
        self.kernel.check_rows(np.ascontiguousarray(rows[:, columns]), name)

    def check_labels(
        self, labels: Sequence[int], names: Sequence[str], what: str, argument: str
    ) -> None:
        """Refuse to subtract labels.

        Parameters
        ----------
        labels : sequence of int
            The columns that hold them.
        names : sequence of str
            Of all columns.
        what, argument : str
            What messages call the rows, and the kernel.
        """
        subtracted = self._columns_of_factors(are_labels=False)
        for series in (term.series for term in self.terms if term.series is not None):
            subtracted.update(series.columns.tolist())
        wrong = [names[j] for j in labels if j in subtracted]
        if wrong:
            hold = "hold" if " and " in what else "holds"
            raise InputError(
                what,
                f"{hold} labels (column{'s' if len(wrong) > 1 else ''} {shown(wrong)}), but "
                f"{argument} is {self.kernel!r}, which is one of numbers",
                "take pkex.kernels.Categorical() for labels, or turn them into numbers",
            )

    def with_missing(self, n_columns: int, n_all: int) -> ChosenKernel:
        """Return the kernel times one of the columns behind its own that say what is missing."""
        if n_all == n_columns:
            return self
        marks = Categorical(_OF_MISSING).on(range(n_columns, n_all))
        return self.of(self.kernel.on(range(n_columns)) * marks, n_all)


def given_kernel(kernel: object, n_columns: int, **samples: Float) -> ChosenKernel | None:
    """Return the argument `kernel`, which must be defined for rows of samples; None by default."""
    if kernel is None:
        return None
    given = ChosenKernel.checked(kernel, "kernel", n_columns)
    for name, rows in samples.items():
        given.check_rows(rows, slice(n_columns), name)
    return given
