"""Feature values that kernels accept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError
from pkex.kernels.factors import Term
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class AllowedValues:
    """Columns that are restricted to values of at least 0, or to counts.

    Parameters
    ----------
    nonnegative_columns, count_columns : ndarray of int64
        The columns of χ² kernels, and of Tanimoto kernels, which compare counts.
    """

    nonnegative_columns: NDArray[np.int64]
    count_columns: NDArray[np.int64]

    @classmethod
    def of(cls, terms: Iterable[Term]) -> AllowedValues:
        """Return the restrictions of all factors of some terms."""
        factors = [factor for term in terms for factor in term.all_factors]
        return cls(
            _columns(f.columns for f in factors if not f.definition.takes_negative),
            _columns(f.columns for f in factors if not f.definition.takes_fractions),
        )

    def check(self, rows: Float, name: str) -> None:
        """Check that rows have allowed values only.

        Raises
        ------
        ValueError
            If a value is not allowed; the message names the first such row and column.
        """
        if not (self.count_columns.size or self.nonnegative_columns.size):
            return
        counts = rows[:, self.count_columns]
        is_not_count = (counts < 0.0) | (counts != np.floor(counts)) | (counts > _MAX_COUNT)
        _raise_if_any(is_not_count, self.count_columns, rows, name, (_COUNTS, _CONVERT_TO_COUNTS))
        is_negative = rows[:, self.nonnegative_columns] < 0.0
        _raise_if_any(
            is_negative, self.nonnegative_columns, rows, name, (_NOT_NEGATIVE, _SCALE_VALUES)
        )

    def nearest(self, rows: Float) -> Float:
        """Change rows in place to nearby allowed values, and return them."""
        # Clear of 0, so that rounding in the steps of a pipeline makes no value negative.
        positive = np.abs(rows[:, self.nonnegative_columns])
        rows[:, self.nonnegative_columns] = positive + 1e-6 * positive.max(axis=0, initial=0.0)
        rows[:, self.count_columns] = np.ceil(np.abs(rows[:, self.count_columns]))
        return rows


# Sums of squares of larger counts leave the range where the expansion of 1/D is valid.
_MAX_COUNT = 1e12
_COUNTS = "the Tanimoto kernel requires counts: 0, 1, 2, … up to 1e12, or 0 and 1 for fingerprints"
_CONVERT_TO_COUNTS = "convert it to such numbers"
_NOT_NEGATIVE = "the Chi2 kernel requires values of at least 0, such as counts"
_SCALE_VALUES = "scale it to be at least 0"


def _raise_if_any(
    is_wrong: NDArray[np.bool_],
    columns: NDArray[np.int64],
    rows: Float,
    name: str,
    what_and_fix: tuple[str, str],
) -> None:
    """Raise an error that names the first wrong value among some columns of rows."""
    if is_wrong.any():
        row, place = np.argwhere(is_wrong)[0]
        what, fix = what_and_fix
        column = int(columns[place])
        raise InputError(
            name,
            (f"has the value {rows[row, column]:g}", HERE, f", but {what}"),
            ["use another kernel for the column with kernel.on(columns)", fix],
            int(row),
            column,
            "value",
        )


def _columns(arrays: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *arrays]))
