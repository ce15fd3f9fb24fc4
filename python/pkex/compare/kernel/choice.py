"""The choice of a kernel for samples: the default or the user's, with warnings."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.errors import Argument, InputError, InputWarning, Option, warn
from pkex.inputs.wording import columns_named
from pkex.kernels import Kernel
from pkex.kernels.factors import has_series
from pkex.kernels.heuristic import equal_rows, evenly_random, heuristic
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.kernels.scales import ColumnScale, Constants
from pkex.tables.encode import Encoding
from pkex.tables.samples import warn_of_constant_columns
from pkex.typing import Float

# With fewer rows, all labels may differ.
_FEW_ROWS = 10
# A column is hidden by outliers if its interquartile range is below this many standard deviations.
_NARROW_RANGE = 0.025
# Advice about labels of which most occur once.
_LABEL_ADVICE = (
    "is it an identifier, or a number read as text? Leave it out, or convert it to numbers"
)
# Largest share of the mean squared distance that one column has without a warning.
_LARGE_SHARE = 0.99


def choose_kernel(
    user_kernel: SampleKernel | None,
    rows: Float,
    encoding: Encoding,
    rows_name: str,
    *,
    looks_ahead: bool = False,
) -> SampleKernel:
    """Return the user's kernel, or the default kernel of some rows.

    Parameters
    ----------
    user_kernel : SampleKernel, optional
        The user's kernel of the columns of the table. It is multiplied by a kernel of the further
        columns, which flag missing values.
    rows : ndarray of shape (n, d)
    encoding : Encoding
    rows_name : str
        The name of the rows in messages.
    looks_ahead : bool
        Whether other rows may vary in columns that are constant here.

    Raises
    ------
    ValueError, TypeError
        If the kernel subtracts labels, or none is passed and all rows are equal.
    """
    names, labels = encoding.names, encoding.labels
    d = len(names)
    table_labels = [j for j in labels if j < d]
    if table_labels:
        warn_of_many_labels(rows, table_labels, rows_name, names, _LABEL_ADVICE)
    if user_kernel is None:
        if (rows == rows[0]).all():
            raise equal_rows(rows_name, "kernel")
        note = (
            f"each column centered on {len(rows)} rows of {rows_name}; length-scales of numbers "
            "twice the median distance between the column's entries"
        )
        default = OrthogonalANOVA.of(rows, labels, looks_ahead=looks_ahead)
        return SampleKernel.of(default, rows.shape[1], note)
    user_kernel.check_labels(table_labels, names, rows_name, "kernel")
    table = np.ascontiguousarray(rows[:, :d])
    if not isinstance(user_kernel.kernel, OrthogonalANOVA):
        warn_of_extremes(user_kernel, table, "kernel")
        warn_of_one_column(user_kernel, table, names, rows_name, "kernel")
    elif labels:
        raise InputError(
            "kernel",
            "is an OrthogonalANOVA, which compares numbers, but some columns of "
            f"{rows_name} are categories or have missing values, whose codes it cannot compare",
            f"omit kernel: the default is an OrthogonalANOVA fitted to {rows_name}",
        )
    return user_kernel.with_missing(d, rows.shape[1])


def warn_of_many_labels(
    rows: Float, labels: Sequence[int], argument: str, names: Sequence[str], fix: str
) -> None:
    """Warn if most labels of a column differ: they may be numbers read as text."""
    for j in labels:
        number = len(np.unique(rows[:, j]))
        if number > len(rows) / 2 and len(rows) >= _FEW_ROWS:
            reason = f"has {number} different labels in {len(rows)} rows: hardly any rows are equal"
            warn(InputWarning(argument, reason, fix, column=names[j] if len(names) > 1 else None))


def gaussian_kernel(
    rows: Float, names: Sequence[str], rows_name: str, argument: str
) -> tuple[Kernel, str]:
    """Return the Gaussian kernel of all columns, and the rule that chose its length-scales."""
    result = heuristic(rows, rows_name, argument)
    warn_of_extremes(SampleKernel.of(result.kernel, rows.shape[1]), rows, argument)
    _warn_of_outliers(rows, result.scales, names, rows_name, argument)
    return result.kernel, result.note


def settle_constants(
    rows: Float,
    encoding: Encoding,
    rows_name: str,
    user_kernel: SampleKernel | None,
    *,
    later_rows: str | None = None,
) -> tuple[Float, Constants]:
    """Return rows whose constant columns are exactly equal, and these columns, with a warning.

    Kernels with a power series do not warn, because constant columns may contribute to it. A kernel
    passed by the user compares rows unchanged.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
    encoding : Encoding
    rows_name : str
        The name of the rows in messages.
    user_kernel : SampleKernel, optional
    later_rows : str, optional
        The name in messages of other rows that will be compared with these.

    Raises
    ------
    ValueError
        If all rows are equal up to rounding.
    """
    names = encoding.names
    table = rows[:, : len(names)]
    if user_kernel is None or not has_series(user_kernel.terms):
        warn_of_constant_columns(table, names, rows_name, to=later_rows)
    if user_kernel is not None:
        return rows, Constants((), ())
    constants = Constants.of(table)
    settled_rows = constants.settled(rows)
    if constants.unequal(rows) and (settled_rows == settled_rows[0]).all():
        raise InputError(
            None,
            (
                "rows of ",
                Argument(rows_name),
                " differ by no more than rounding to float32 would, so the default kernel compares "
                "them as equal",
            ),
            [
                "subtract an offset from the columns",
                ("give ", Option("kernel", python="kernel, such as kernel=pkex.kernels.RBF(1.0)")),
            ],
        )
    return without_rounding(rows, names, rows_name, constants), constants


def without_rounding(
    rows: Float, names: Sequence[str], rows_name: str, constants: Constants
) -> Float:
    """Return rows with exactly equal values in columns that the default kernel treats as constant.

    After scaling by the standard deviation, the rounding errors of a constant column in float32
    would be large. Columns that are not exactly equal are reported in a warning.
    """
    near_constant = [names[j] for j in constants.unequal(rows)]
    if near_constant:
        plural = len(near_constant) > 1
        warn(
            InputWarning(
                None,
                (
                    f"{columns_named(near_constant)} of ",
                    Argument(rows_name),
                    f" {'vary' if plural else 'varies'} by no more than rounding to float32 would, "
                    f"and count{'' if plural else 's'} as constant in the default kernel",
                ),
                "if these differences matter, subtract an offset",
            )
        )
    return constants.settled(rows)


def warn_of_extremes(sample_kernel: SampleKernel, rows: Float, argument: str) -> None:
    """Warn if the kernel is nearly 0, or nearly 1, between almost all of up to 64 rows.

    Kernels with power series, such as polynomials, are not checked, because they are not 1 for a
    row with itself.
    """
    kernel = sample_kernel.kernel
    if has_series(sample_kernel.terms):
        return
    sample = rows[evenly_random(len(rows), 64)]
    values = kernel(sample)[np.triu_indices(len(sample), 1)]
    full = math.fsum(term.coefficient for term in sample_kernel.terms)
    low, high = np.quantile(values / full, [0.01, 0.99])
    if high < 0.01:
        warn(f"{argument} is nearly 0 between different rows (length-scales too short?): {kernel}")
    elif low > 0.99 and (rows != rows[0]).any():
        warn(f"{argument} is nearly 1 between almost all rows (length-scales too long?): {kernel}")


def _warn_of_outliers(
    rows: Float, scales: Sequence[ColumnScale], names: Sequence[str], rows_name: str, argument: str
) -> None:
    """Warn of columns whose standard deviation is due to a few values, so that others look equal.

    If half of the values are equal, as in rare binary columns, the others are not outliers.
    """
    hidden_columns = []
    for column, scale, name in zip(rows.T, scales, names, strict=True):
        low, high = np.quantile(scale.standardize(column), [0.25, 0.75])
        if 0.0 < high - low < _NARROW_RANGE:
            hidden_columns.append(name)
    if hidden_columns:
        warn(
            InputWarning(
                None,
                (
                    f"half of the values of {columns_named(hidden_columns)} of ",
                    Argument(rows_name),
                    f" lie within {100.0 * _NARROW_RANGE:.2g} % of a standard deviation: are there "
                    "outliers, or codes of missing values, such as -999? The default kernel scales "
                    "by the standard deviation, which they dominate, and hides differences among "
                    "the other values",
                ),
                [
                    "remove or transform them",
                    (
                        "pass ",
                        Option(argument, python=f"{argument}=pkex.kernels.RBF(length_scales)"),
                    ),
                ],
            )
        )


def warn_of_one_column(
    sample_kernel: SampleKernel, rows: Float, names: Sequence[str], rows_name: str, argument: str
) -> None:
    """Warn if one of several columns dominates the distances of the kernel.

    The mean squared distance of a column in units of its length-scale is twice its variance in
    these units. Columns that are compared as categories do not count.
    """
    squares = np.zeros(rows.shape[1])
    scales = [ColumnScale.of(column) for column in rows.T]
    for term in sample_kernel.terms:
        for factor in (f for f in term.factors if f.definition.is_of_distance):
            for column, length in zip(
                factor.columns.tolist(), factor.parameters[:, 0], strict=True
            ):
                with np.errstate(over="ignore"):
                    squares[column] += np.square(scales[column].over(float(length)))
    largest = int(squares.argmax())
    if np.count_nonzero(squares) < 2:
        return
    with np.errstate(under="ignore", invalid="ignore"):
        other_share = math.fsum(np.delete(squares, largest) / squares[largest])
    share = 1.0 / (1.0 + other_share)
    if share > _LARGE_SHARE:
        warn(
            InputWarning(
                rows_name,
                f"makes up {100.0 * share:.4g} % of the mean squared distance between rows in "
                f"units of {argument}, and hides other columns",
                "pkex.kernels.median_heuristic returns a kernel that scales each column by its "
                "standard deviation",
                column=names[largest],
            )
        )
