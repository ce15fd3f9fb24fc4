"""The kernel of a comparison with its terms, which are found once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Argument, InputError, InputTypeError
from pkex.kernels import Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.kernels.factors import Term, has_mixtures, has_series
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
        Of the columns.
    bandwidth : str, optional
        How length-scales were found; None if the kernel was given.
    """

    kernel: Kernel
    terms: list[Term]
    bandwidth: str | None = None

    @classmethod
    def of(cls, kernel: Kernel, n_columns: int, bandwidth: str | None = None) -> ChosenKernel:
        """Return a kernel with its terms of so many columns."""
        return cls(kernel, kernel.terms(n_columns), bandwidth)

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
    def has_series(self) -> bool:
        """Whether it is a power series, to which a constant column may contribute."""
        return has_series(self.terms)

    @property
    def has_mixtures(self) -> bool:
        """Whether it is a sum of products within a domain only."""
        return has_mixtures(self.terms)

    def check_rows(self, rows: Float, columns: slice | NDArray[np.intp], name: str) -> None:
        """Refuse rows for whose entries in some columns the kernel is not defined."""
        self.kernel.check_rows(np.ascontiguousarray(rows[:, columns]), name)

    def with_missing(self, n_columns: int, n_all: int) -> ChosenKernel:
        """Return the kernel times one of the columns behind its own that say what is missing."""
        if n_all == n_columns:
            return self
        marks = Categorical(_OF_MISSING).on(range(n_columns, n_all))
        return self.of(self.kernel.on(range(n_columns)) * marks, n_all)


def given_kernel(kernel: object, n_columns: int) -> ChosenKernel | None:
    """Return the argument `kernel` of so many columns, checked; None for the default."""
    return None if kernel is None else ChosenKernel.checked(kernel, "kernel", n_columns)
