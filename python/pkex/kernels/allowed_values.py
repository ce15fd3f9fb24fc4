"""Which entries kernels take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError
from pkex.kernels.factors import Term
from pkex.typing import Float

__all__ = ["AllowedValues"]


@dataclass(frozen=True, eq=False)
class AllowedValues:
    """Columns whose entries may not be any numbers.

    Parameters
    ----------
    not_negative, whole : ndarray of int64
        The numbers of columns of the χ² kernel, and of those of Tanimoto's, which has counts.
    """

    not_negative: NDArray[np.int64]
    whole: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Iterable[Term]) -> AllowedValues:
        """Return what the factors of some terms take."""
        factors = [factor for term in terms for factor in term.all_factors]
        return cls(
            _columns(f.columns for f in factors if not f.definition.takes_negative),
            _columns(f.columns for f in factors if not f.definition.takes_fractions),
        )

    def check(self, rows: Float, name: str) -> None:
        """Refuse rows with another entry.

        Raises
        ------
        ValueError
            It names the first such row and column.
        """
        if not (self.whole.size or self.not_negative.size):
            return
        of_counts = rows[:, self.whole]
        is_none = (of_counts < 0.0) | (of_counts != np.floor(of_counts)) | (of_counts > _MOST)
        _refuse(is_none, self.whole, rows, name, (_OF_COUNTS, _AS_COUNTS))
        is_negative = rows[:, self.not_negative] < 0.0
        _refuse(is_negative, self.not_negative, rows, name, (_NOT_NEGATIVE, _SCALED))

    def nearest(self, rows: Float) -> Float:
        """Return rows, which are changed, with allowed entries near those they have."""
        # Clear of 0, so that rounding in the steps of a pipeline makes nothing negative.
        positive = np.abs(rows[:, self.not_negative])
        rows[:, self.not_negative] = positive + 1e-6 * positive.max(axis=0, initial=0.0)
        rows[:, self.whole] = np.ceil(np.abs(rows[:, self.whole]))
        return rows


# Sums of their squares stay where the reciprocal is known.
_MOST = 1e12
_OF_COUNTS = "the Tanimoto kernel compares counts, 0, 1, 2, …, up to 1e12; of fingerprints, 0 and 1"
_AS_COUNTS = "turn it into such numbers"
_NOT_NEGATIVE = "the Chi2 kernel compares values that are not negative, such as counts"
_SCALED = "scale it to be at least 0"


def _refuse(
    wrong: NDArray[np.bool_],
    columns: NDArray[np.int64],
    rows: Float,
    name: str,
    what_and_fix: tuple[str, str],
) -> None:
    """Name the first wrong entry among some columns of rows."""
    if wrong.any():
        row, place = np.argwhere(wrong)[0]
        what, fix = what_and_fix
        column = int(columns[place])
        raise InputError(
            name,
            (f"has the value {rows[row, column]:g}", HERE, f", but {what}"),
            ["leave the column to another kernel with kernel.on(columns)", fix],
            int(row),
            column,
            "value",
        )


def _columns(found: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))
