"""Warnings of tables that hold rows several times, such as after a join.

Permutations exchange rows as if all were independent draws. Copies stay together in one sample, so
that p-values are too small: of pairs of samples of one distribution, 300 rows and nine columns,
18 % seemed to differ at α = 5 % with 15 copies in each sample, and all with 150.
"""

from __future__ import annotations

import numpy as np

from pkex.errors import Argument, InputWarning, warn
from pkex.inputs.wording import counted
from pkex.typing import Float

__all__ = ["warn_of_copied_rows"]

# Rows that are looked at, and the copies among them that are warned of: as many, and as large a
# share. Fewer columns may well be equal by chance.
_MOST_ROWS, _FEWEST_COPIES, _LEAST_SHARE, _FEWEST_COLUMNS = 10_000, 3, 0.01, 3


def warn_of_copied_rows(rows: Float, n_columns: int, what: str) -> None:
    """Warn if some rows equal an earlier one, and hardly do so by chance.

    Of rows that agree in the most varied column of fractions, three in four at least then agree in
    all columns. Labels and integers alone are often equal by chance, and so are rows with missing
    numbers, which are left out.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Encoded rows: behind the columns of the table is 1 where a number is missing.
    n_columns : int
        Of the table.
    what : str
        What the message calls the rows.
    """
    rows = rows[:_MOST_ROWS]
    rows = rows[(rows[:, n_columns:] == 0.0).all(axis=1), :n_columns]
    n, k = rows.shape
    fewest = max(_FEWEST_COPIES, _LEAST_SHARE * n)
    if k < _FEWEST_COLUMNS or n <= fewest:
        return
    most_varied = 0
    for column in rows.T:
        varied = len(np.unique(column))
        # Copies are equal in each column.
        if n - varied < fewest:
            return
        if (column != np.rint(column)).any():
            most_varied = max(most_varied, varied)
    distinct = len({hash(row.tobytes()) for row in rows})
    n_copies = n - distinct
    if most_varied and n_copies >= fewest and n_copies >= 3 * (distinct - most_varied):
        warn(
            InputWarning(
                None,
                (
                    f"{n_copies} of {counted(n, 'row')} of ",
                    Argument(what),
                    " equal an earlier row in all columns",
                ),
                "if rows were copied, p-values are too small: leave copies out",
            )
        )
