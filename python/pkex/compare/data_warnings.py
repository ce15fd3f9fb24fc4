"""Warnings about rows and columns that mislead a comparison of samples.

- Duplicate rows, such as after a join. Permutations treat all rows as independent draws, but copies
  stay together in one sample, so p-values are too small. With samples of one distribution (300
  rows, nine columns), 18 % of tests rejected at α = 5 % with 15 copies a sample, all with 150.
- Columns that probably do not mean what their values are compared as. Row numbers and ids differ
  between any two samples; codes are compared as if their differences had a size; dates and numbers
  read as text are compared as categories.
- Rows that are unusual in many columns at once. The default kernel is a product over columns. For
  two rows that share unusual values in many columns, it is a product of many large factors, and one
  such pair can outweigh all others together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pkex.errors import (
    Argument,
    InputOverflowError,
    InputWarning,
    Option,
    Text,
    joined,
    warn,
)
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.tables.columns import drop
from pkex.tables.encode import Column, Encoding, categorical_columns
from pkex.typing import Float

# Largest number of rows, and of categories of a column, that are checked.
_MAX_ROWS, _MAX_LABELS = 10_000, 1000
# Smallest number and share of duplicates that are reported. With few columns, rows are often equal
# by chance.
_MIN_COPIES, _MIN_SHARE, _MIN_COLUMNS = 3, 0.01, 3
# With fewer rows, integers are often consecutive by chance, and no row is typical.
_MIN_ROWS = 10
# The probability that n independent draws among R integers are all different is at most
# exp(-n(n-1)/(2R)); exp(-8) is 0.0003.
_EXPONENT = 8.0
_ID = re.compile(r"(?:^|[\W_])(?i:id|uuid|guid)$|[a-z]I[dD]$")
_CODE = re.compile(
    r"(?:^|[\W_])(?:code|zip|zipcode|postcode|category|class|status)$", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d.*|\d{1,4}([./])\d{1,2}\1\d{1,4}")
_NUMBER = re.compile(r"[+-]?\d+\.\d+")
# Number of unusual rows whose pairs are checked, of rows they are compared with, and of rows named
# in a message.
_MAX_UNUSUAL, _MAX_USUAL, _MAX_NUMBERS = 32, 64, 3
# Sums of squares of larger kernel values over pairs may overflow.
_MAX_KERNEL = 1e130


def warn_of_duplicate_rows(rows: Float, n_columns: int, rows_name: str) -> None:
    """Warn if rows equal earlier rows, and are unlikely to be equal by chance.

    At least three in four rows that are equal in the most varied column of non-integers must be
    equal in all columns. Rows of labels and integers only, and rows with missing numbers, are not
    counted, because they are often equal by chance.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Encoded rows; columns after those of the table are 1 where a number is missing.
    n_columns : int
        The number of columns of the table.
    rows_name : str
        The name of the rows in the message.
    """
    rows = rows[:_MAX_ROWS]
    rows = rows[(rows[:, n_columns:] == 0.0).all(axis=1), :n_columns]
    n, k = rows.shape
    fewest = max(_MIN_COPIES, _MIN_SHARE * n)
    if k < _MIN_COLUMNS or n <= fewest:
        return
    max_distinct = 0
    for column in rows.T:
        n_distinct = len(np.unique(column))
        # Copies are equal in every column.
        if n - n_distinct < fewest:
            return
        if (column != np.rint(column)).any():
            max_distinct = max(max_distinct, n_distinct)
    n_distinct_rows = len({hash(row.tobytes()) for row in rows})
    n_copies = n - n_distinct_rows
    if max_distinct and n_copies >= fewest and n_copies >= 3 * (n_distinct_rows - max_distinct):
        warn(
            InputWarning(
                None,
                (
                    f"{n_copies} of {counted(n, 'row')} of ",
                    Argument(rows_name),
                    " equal an earlier row in all columns",
                ),
                "if rows were copied, p-values are too small: remove the copies",
            )
        )


def warn_of_mistyped_columns(
    rows: Float, encoding: Encoding, categorical: Iterable[int | str] | None, rows_name: str
) -> None:
    """Warn of counters, ids, numeric codes, and of dates and numbers read as text.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Encoded rows, in the order of the table.
    encoding : Encoding
    categorical : iterable of int or str, optional
        Columns that the user passed as categorical.
    rows_name : str
        The name of the rows in messages.
    """
    categorical_positions = categorical_columns(categorical, encoding.names)
    for j, column in enumerate(encoding.columns):
        warning = None
        if column.compared == "numbers":
            warning = _doubt_of_numbers(rows[:_MAX_ROWS, j], column.name, rows_name)
        elif column.type == "text" and j not in categorical_positions:
            warning = _doubt_of_texts(column, rows_name)
        if warning is not None:
            warn(warning)


def _doubt_of_numbers(entries: Float, name: str, argument: str) -> InputWarning | None:
    n = len(entries)
    if n < _MIN_ROWS or not (entries == np.rint(entries)).all():
        return None
    doubt = partial(InputWarning, argument, column=name, kind="integers")
    if (np.diff(entries) == 1.0).all():
        return doubt("increases by 1 from row to row", ("if it numbers the rows, ", drop(name)))
    n_distinct = len(np.unique(entries))
    span = float(entries.max() - entries.min()) + 1.0
    is_running = n * (n - 1.0) >= 2.0 * _EXPONENT * span
    if n_distinct == n and (is_running or _ID.search(name)):
        return doubt(
            "holds integers that are all different, like running numbers or ids",
            ("if it does not measure anything, ", drop(name)),
        )
    if 2 < n_distinct < n and _CODE.search(name):
        return doubt(
            "holds integers, which are compared as numbers",
            ("if they are codes, pass ", Option("categorical", [name])),
        )
    return None


def _doubt_of_texts(column: Column, argument: str) -> InputWarning | None:
    texts = [level for level in (column.levels or ())[:_MAX_LABELS] if isinstance(level, str)]
    for pattern, meaning, fix in (
        (_DATE, "dates", "convert them, for example with pandas.to_datetime"),
        (_NUMBER, "numbers", "convert them, for example with pandas.to_numeric"),
    ):
        matches = [text for text in texts if pattern.fullmatch(text)]
        if 2 * len(matches) > len(texts):
            return InputWarning(
                argument,
                f"holds texts such as {matches[0]!r}, which are compared as labels",
                f"if they are {meaning}, {fix}",
                column=column.name,
                kind="texts",
            )
    return None


def warn_of_unusual_rows(
    kernel: Kernel, rows: Float, samples: Mapping[str, int], statistic: str, *, is_biased: bool
) -> None:
    """Warn if a pair of rows contributes more than the sampling error of a statistic.

    With n rows, this error is about sd(K)/n, and the contribution of a pair is K(a, b)/n². Only the
    default kernel is checked, for rows whose k(a, a) is over n times the median.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray of shape (n, d)
        In the form that the kernel accepts.
    samples : mapping of str to int
        The names of the pooled samples, and their numbers of rows.
    statistic : str
        The name of the statistic in the message.
    is_biased : bool
        Whether pairs of a row with itself are included.

    Raises
    ------
    OverflowError
        If the kernel of two rows is above 1e130.
    """
    if len(rows) < _MIN_ROWS or not isinstance(kernel, OrthogonalANOVA):
        return
    n, log_diagonal = len(rows), kernel.log_diagonal(rows)
    is_unusual = log_diagonal - np.median(log_diagonal) > math.log(n)
    usual, unusual = np.flatnonzero(~is_unusual), np.flatnonzero(is_unusual)
    if not len(unusual) or len(usual) < 2:
        return
    unusual = np.sort(unusual[np.argsort(-log_diagonal[unusual], kind="stable")[:_MAX_UNUSUAL]])
    places = np.linspace(0, len(usual) - 1, min(_MAX_USUAL, len(usual)))
    usual_sample = usual[places.astype(np.intp)]
    with np.errstate(over="ignore"):
        pairs = np.abs(kernel(rows[unusual]) - 1.0)
        usual_pairs = kernel(rows[usual_sample]) - 1.0
    typical = float(np.sqrt(np.mean(usual_pairs[~np.eye(len(usual_sample), dtype=bool)] ** 2)))
    outweighs = pairs > n * typical
    is_dominant = (outweighs & ~np.eye(len(unusual), dtype=bool)).any(axis=1)
    if is_dominant.any():
        largest = float(pairs[is_dominant].max())
        reason = (
            ": unusual in so many columns at once that single pairs of these rows dominate "
            f"{statistic} and its values (kernel up to {largest:.2g}, of other pairs about "
            f"{typical:.2g}); univariate results are not affected"
        )
        option = f"kernel=pkex.kernels.median_heuristic({', '.join(samples)})"
        fixes: list[Text] = [
            "check these rows",
            ("pass ", Option("kernel", python=option), ", which bounds each pair"),
        ]
        message = joined(*_describe_rows(unusual[is_dominant], samples), reason)
        if largest > _MAX_KERNEL:
            raise InputOverflowError(None, message, fixes)
        warn(InputWarning(None, message, fixes))
    elif is_biased and outweighs.any():
        reason = (
            ": unusual in so many columns at once that pairs of a row with itself dominate the "
            f"biased {statistic} and its values"
        )
        fix = "pass ", Option("estimator", "unbiased"), ", which leaves these pairs out"
        message = joined(*_describe_rows(unusual[outweighs.any(axis=1)], samples), reason)
        warn(InputWarning(None, message, fix))


def _describe_rows(rows: NDArray[np.intp], samples: Mapping[str, int]) -> list[str | Argument]:
    """Return the names of some rows of pooled samples, in words."""
    words: list[str | Argument] = []
    start = 0
    for sample, n_rows in samples.items():
        numbers = (rows[(start <= rows) & (rows < start + n_rows)] - start).tolist()
        start += n_rows
        if numbers:
            text = ", ".join(map(str, numbers[:_MAX_NUMBERS]))
            n_more = len(numbers) - _MAX_NUMBERS
            suffix = f" and {n_more} more" if n_more > 0 else ""
            row = f"{'; ' if words else ''}{'row' if len(numbers) == 1 else 'rows'} "
            words += [f"{row}{text}{suffix} of ", Argument(sample)]
    return words
