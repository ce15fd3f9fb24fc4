"""The kernel of a sample: the default one, or the one given, with a warning if it shows little."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pkex.compare.kernel.sample_kernel import ChosenKernel
from pkex.errors import Argument, InputError, InputWarning, Option, warn
from pkex.inputs.wording import shown
from pkex.kernels import Kernel
from pkex.kernels.factors import has_series
from pkex.kernels.heuristic import equal_rows, evenly_random, heuristic
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.kernels.scales import ColumnScale, Constants
from pkex.tables.encode import Encoding
from pkex.tables.samples import warn_of_constant_columns
from pkex.typing import Float

__all__ = [
    "FEW",
    "chosen_kernel",
    "gaussian_kernel",
    "warn_of_extremes",
    "warn_of_many_labels",
    "warn_of_one_column",
    "with_settled_constants",
    "without_rounding",
]

# In fewer rows labels may all differ.
FEW = 10
# Outliers hide a column whose middle half has a width of less than this many standard deviations.
_NARROW = 0.025
# What to do about labels most of which occur once.
_MANY = "is it an identifier, or a number read as text? Leave it out, or turn it into numbers"
# The share of the mean squared distance that one column may have without a warning.
_MOST_OF_ALL = 0.99


def chosen_kernel(
    given: ChosenKernel | None,
    rows: Float,
    encoding: Encoding,
    what: str,
    *,
    looks_ahead: bool = False,
) -> ChosenKernel:
    """Return the kernel given, or the default one of some rows.

    Parameters
    ----------
    given : ChosenKernel, optional
        Of the columns of the table. It is multiplied by a kernel of those behind them, which say
        where entries are missing.
    rows : ndarray of shape (n, d)
    encoding : Encoding
    what : str
        What messages call the rows.
    looks_ahead : bool
        Whether other rows may differ where these are constant.

    Raises
    ------
    ValueError, TypeError
        If it subtracts labels, or none is given and all rows are equal.
    """
    names, labels = encoding.names, encoding.labels
    d = len(names)
    of_table = [j for j in labels if j < d]
    if of_table:
        warn_of_many_labels(rows, of_table, what, names, _MANY)
    if given is None:
        if (rows == rows[0]).all():
            raise equal_rows(what, "kernel")
        note = (
            f"each column centered on {len(rows)} rows of {what}; length-scales of numbers twice "
            "the median distance between the column's entries"
        )
        default = OrthogonalANOVA.of(rows, labels, looks_ahead=looks_ahead)
        return ChosenKernel.of(default, rows.shape[1], note)
    given.check_labels(of_table, names, what, "kernel")
    table = np.ascontiguousarray(rows[:, :d])
    if not isinstance(given.kernel, OrthogonalANOVA):
        warn_of_extremes(given, table, "kernel")
        warn_of_one_column(given, table, names, what, "kernel")
    elif labels:
        raise InputError(
            "kernel",
            "is an OrthogonalANOVA, which compares numbers, but some columns of "
            f"{what} are categories or have missing values, whose codes it does not know",
            f"leave out kernel: the default is an OrthogonalANOVA fitted to {what}",
        )
    return given.with_missing(d, rows.shape[1])


def warn_of_many_labels(
    rows: Float, labels: Sequence[int], argument: str, names: Sequence[str], fix: str
) -> None:
    """Warn of labels that mostly differ from each other: numbers, perhaps, read as text."""
    for j in labels:
        number = len(np.unique(rows[:, j]))
        if number > len(rows) / 2 and len(rows) >= FEW:
            what = f"has {number} different labels in {len(rows)} rows: hardly any rows are equal"
            warn(InputWarning(argument, what, fix, column=names[j] if len(names) > 1 else None))


def gaussian_kernel(
    rows: Float, names: Sequence[str], what: str, argument: str
) -> tuple[Kernel, str]:
    """Return the Gaussian kernel of all columns, and how its length-scales were found."""
    found = heuristic(rows, what, argument)
    warn_of_extremes(ChosenKernel.of(found.kernel, rows.shape[1]), rows, argument)
    _warn_of_outliers(rows, found.scales, names, what, argument)
    return found.kernel, found.note


def with_settled_constants(
    rows: Float,
    encoding: Encoding,
    what: str,
    given: ChosenKernel | None,
    *,
    later_rows: str | None = None,
) -> tuple[Float, Constants]:
    """Return rows whose constant columns are equal to the last bit, and these columns.

    They are warned of, unless a power series is given, to which they may contribute. A kernel that
    is given compares rows as they are.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
    encoding : Encoding
    what : str
        What messages call the rows.
    given : ChosenKernel, optional
    later_rows : str, optional
        What messages call other rows that will be compared with these.
    """
    names = encoding.names
    table = rows[:, : len(names)]
    if given is None or not has_series(given.terms):
        warn_of_constant_columns(table, names, what, to=later_rows)
    if given is not None:
        return rows, Constants((), ())
    constants = Constants.of(table)
    return without_rounding(rows, names, what, constants), constants


def without_rounding(rows: Float, names: Sequence[str], what: str, constants: Constants) -> Float:
    """Return rows whose columns are equal where the default kernel takes them for constant.

    Scaled by the standard deviation, what is left of a constant column in float32 would be a large
    difference from the same in float64. Columns that are not equal to the last bit are warned of.
    """
    rounded = [names[j] for j in constants.unequal(rows)]
    if rounded:
        plural = len(rounded) > 1
        warn(
            InputWarning(
                None,
                (
                    f"column{'s' if plural else ''} {shown(rounded)} of ",
                    Argument(what),
                    f" {'vary' if plural else 'varies'} by no more than rounding to float32 would, "
                    f"and count{'' if plural else 's'} as constant in the default kernel",
                ),
                "if these differences matter, subtract an offset",
            )
        )
    return constants.settled(rows)


def warn_of_extremes(chosen: ChosenKernel, rows: Float, argument: str) -> None:
    """Warn if the kernel is nearly 0, or nearly 1, between almost all rows: it shows little then.

    Looked at are up to 64 rows. Kernels that are not 1 for a row with itself, polynomials for one,
    are what they are.
    """
    kernel = chosen.kernel
    if has_series(chosen.terms):
        return
    sample = rows[evenly_random(len(rows), 64)]
    values = kernel(sample)[np.triu_indices(len(sample), 1)]
    full = math.fsum(term.coefficient for term in chosen.terms)
    low, high = np.quantile(values / full, [0.01, 0.99])
    if high < 0.01:
        warn(f"{argument} is nearly 0 between different rows (length-scales too short?): {kernel}")
    elif low > 0.99 and (rows != rows[0]).any():
        warn(f"{argument} is nearly 1 between almost all rows (length-scales too long?): {kernel}")


def _warn_of_outliers(
    rows: Float, scales: Sequence[ColumnScale], names: Sequence[str], what: str, argument: str
) -> None:
    """Warn of columns whose standard deviation a few entries make, so that the others look equal.

    Where half of the entries are equal, as in rare binary columns, the others are no outliers.
    """
    hidden = []
    for column, scale, name in zip(rows.T, scales, names, strict=True):
        low, high = np.quantile(scale.standardised(column), [0.25, 0.75])
        if 0.0 < high - low < _NARROW:
            hidden.append(name)
    if hidden:
        warn(
            InputWarning(
                None,
                (
                    f"half of the values of column{'s' if len(hidden) > 1 else ''} "
                    f"{shown(hidden)} of ",
                    Argument(what),
                    f" lie within {100.0 * _NARROW:.2g} % of a standard deviation: are there "
                    "outliers, or codes of missing values, such as -999? The default kernel scales "
                    "by the standard deviation, which they make up, and hides differences among "
                    "the rest",
                ),
                [
                    "remove, clip or transform them",
                    (
                        "give ",
                        Option(argument, python=f"{argument}=pkex.kernels.RBF(length_scales)"),
                    ),
                ],
            )
        )


def warn_of_one_column(
    chosen: ChosenKernel, rows: Float, names: Sequence[str], what: str, argument: str
) -> None:
    """Warn if one column makes up nearly all of the distances, of several that the kernel has.

    The mean squared distance of a column in units of its length-scale is twice its variance in
    these; columns that are compared as labels have none.
    """
    squares = np.zeros(rows.shape[1])
    scales = [ColumnScale.of(column) for column in rows.T]
    for term in chosen.terms:
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
        others = math.fsum(np.delete(squares, largest) / squares[largest])
    share = 1.0 / (1.0 + others)
    if share > _MOST_OF_ALL:
        warn(
            InputWarning(
                what,
                f"makes up {100.0 * share:.4g} % of the mean squared distance between rows in "
                f"units of {argument}, and hides other columns",
                "pkex.kernels.median_heuristic returns a kernel that scales each column by its "
                "standard deviation",
                column=names[largest],
            )
        )
