"""The kernel of a sample: the default one, or the one given, with a warning if it shows little."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pkex.errors import Argument, InputError, InputTypeError, InputWarning, Option, warn
from pkex.inputs.wording import shown
from pkex.kernels import Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.kernels.heuristic import equal_rows, evenly_random, heuristic
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.kernels.scales import ColumnScale, Constants
from pkex.statistics.labels import check_labels, warn_of_many_labels
from pkex.typing import Float

__all__ = [
    "check_kernel",
    "check_rows",
    "chosen_kernel",
    "default_kernel",
    "gaussian_kernel",
    "warn_of_extremes",
    "warn_of_one_column",
    "with_missing",
    "without_rounding",
]

# Outliers hide a column whose middle half has a width of less than this many standard deviations.
_NARROW = 0.025
# Of rows of which one lacks an entry, where the kernel is given: as if one length-scale apart.
_OF_MISSING = math.exp(-0.5)
# What to do about labels most of which occur once.
_MANY = "is it an identifier, or a number read as text? Leave it out, or turn it into numbers"
# The share of the mean squared distance that one column may have without a warning.
_MOST_OF_ALL = 0.99


def chosen_kernel(
    kernel: object,
    rows: Float,
    names: Sequence[str],
    what: str,
    argument: str = "kernel",
    labels: Sequence[int] = (),
    *,
    looks_ahead: bool = False,
) -> tuple[Kernel, str | None]:
    """Return the kernel given, or the default one and how it was found.

    Parameters
    ----------
    kernel : Kernel, optional
    rows : ndarray of shape (n, d)
    names : sequence of str
        Of the columns.
    what, argument : str
        What messages call the rows, and the kernel.
    labels : sequence of int
        The columns that hold labels. Behind the columns that have names they say which entries are
        missing: a given kernel is multiplied by one of these.
    looks_ahead : bool
        Whether other rows may differ where these are constant.

    Raises
    ------
    ValueError, TypeError
        If it is no kernel of so many columns or of such entries, subtracts labels, or none is given
        and all rows are equal.
    """
    d = len(names)
    of_table = [j for j in labels if j < d]
    if labels:
        warn_of_many_labels(rows, of_table, what, names, _MANY)
    if kernel is None:
        return default_kernel(rows, what, argument, labels, looks_ahead=looks_ahead)
    given = check_kernel(kernel, argument, d)
    check_labels(given, of_table, names, what, argument)
    table = np.ascontiguousarray(rows[:, :d])
    given.check_rows(table, what)
    if isinstance(given, OrthogonalANOVA):
        if labels:
            raise InputError(
                argument,
                "is an OrthogonalANOVA, which compares numbers, but some columns of "
                f"{what} are categories or have missing values, whose codes it does not know",
                f"leave out {argument}: the default is an OrthogonalANOVA fitted to {what}",
            )
        return given, None
    warn_of_extremes(given, table, argument)
    warn_of_one_column(given, table, names, what, argument)
    return with_missing(given, d, rows.shape[1]), None


def with_missing(kernel: Kernel, n_columns: int, n_all: int) -> Kernel:
    """Return a kernel of columns, times one of those behind them that say what is missing."""
    if n_all == n_columns:
        return kernel
    return kernel.on(range(n_columns)) * Categorical(_OF_MISSING).on(range(n_columns, n_all))


def default_kernel(
    rows: Float,
    what: str,
    argument: str,
    labels: Sequence[int] = (),
    *,
    looks_ahead: bool = False,
) -> tuple[Kernel, str]:
    """Return the default kernel, and how it was found.

    Raises
    ------
    ValueError
        If all rows are equal.
    """
    if (rows == rows[0]).all():
        raise equal_rows(what, argument)
    kernel = OrthogonalANOVA.of(rows, labels, looks_ahead=looks_ahead)
    note = (
        f"each column centered on {len(rows)} rows of {what}; length-scales of numbers twice the "
        "median distance between the column's entries"
    )
    return kernel, note


def gaussian_kernel(
    rows: Float, names: Sequence[str], what: str, argument: str
) -> tuple[Kernel, str]:
    """Return the Gaussian kernel of all columns, and how its length-scales were found."""
    found = heuristic(rows, what, argument)
    warn_of_extremes(found.kernel, rows, argument)
    _warn_of_outliers(rows, found.scales, names, what, argument)
    return found.kernel, found.note


def without_rounding(
    rows: Float, names: Sequence[str], what: str, constants: Constants | None = None
) -> Float:
    """Return rows whose columns are equal where the default kernel takes them for constant.

    Scaled by the standard deviation, what is left of a constant column in float32 would be a large
    difference from the same in float64. Columns that are not equal to the last bit are warned of.
    """
    constants = Constants.of(rows) if constants is None else constants
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


def check_kernel(kernel: object, argument: str, n_columns: int) -> Kernel:
    """Return a kernel of so many columns, or say what one is."""
    if not isinstance(kernel, Kernel):
        raise InputTypeError(
            argument,
            "must be a kernel of pkex.kernels, such as RBF(length_scale=1.0), which has "
            "gamma = 1/(2·length_scale²), or None for the default; "
            f"got {kernel!r} ({type(kernel).__name__}){namesake(kernel)}",
        )
    try:
        kernel.terms(n_columns)
    except ValueError as error:
        raise InputError(None, (Argument(argument), f": {error}")) from None
    return kernel


def check_rows(kernel: object, samples: Mapping[str, Float], n_columns: int) -> None:
    """Refuse samples, by name, for whose entries a kernel is not defined; None is for all."""
    for name, rows in samples.items():
        if kernel is not None:
            table = np.ascontiguousarray(rows[:, :n_columns])
            check_kernel(kernel, "kernel", n_columns).check_rows(table, name)


def warn_of_extremes(kernel: Kernel, rows: Float, argument: str) -> None:
    """Warn if the kernel is nearly 0, or nearly 1, between almost all rows: it shows little then.

    Looked at are up to 64 rows. Kernels that are not 1 for a row with itself, polynomials for one,
    are what they are.
    """
    terms = kernel.terms(rows.shape[1])
    if any(term.series is not None for term in terms):
        return
    sample = rows[evenly_random(len(rows), 64)]
    values = kernel(sample)[np.triu_indices(len(sample), 1)]
    full = math.fsum(term.coefficient for term in terms)
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
    kernel: Kernel, rows: Float, names: Sequence[str], what: str, argument: str
) -> None:
    """Warn if one column makes up nearly all of the distances, of several that the kernel has.

    The mean squared distance of a column in units of its length-scale is twice its variance in
    these; columns that are compared as labels have none.
    """
    squares = np.zeros(rows.shape[1])
    scales = [ColumnScale.of(column) for column in rows.T]
    for term in kernel.terms(rows.shape[1]):
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
