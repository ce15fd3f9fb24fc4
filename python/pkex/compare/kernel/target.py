"""The target of HSIC: one or more columns of numbers or class labels, with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.kernel.choice import (
    gaussian_kernel,
    warn_of_extremes,
    warn_of_many_labels,
    warn_of_one_column,
    without_rounding,
)
from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.errors import InputError, InputWarning, Option, Text, warn
from pkex.kernels import Categorical, Kernel
from pkex.kernels.scales import Constants
from pkex.tables.columns import holds_times, read_column, table_labels
from pkex.tables.encode import Encoding, Missing
from pkex.tables.kinds import Kind, columns_of, dense, kind_of
from pkex.tables.missing import is_missing
from pkex.tables.read import unmask
from pkex.tables.samples import as_rows, warn_of_constant_columns
from pkex.typing import Float

# Largest number of different integers that may be class labels.
_FEW_VALUES = 10
# Advice about labels of which most occur once.
_LABEL_ADVICE = "are they numbers? Pass them as floats, without target_kernel=Categorical()"


@dataclass(frozen=True, eq=False)
class Target:
    """A target in the engine's form.

    Parameters
    ----------
    rows : ndarray of shape (n, dy)
        Labels are numbered.
    kernel : SampleKernel
        Its bandwidth is the rule that chose the length-scale, or says that labels are compared.
    encoding : Encoding
        The conversion of dates and missing values to numbers.
    """

    rows: Float
    kernel: SampleKernel
    encoding: Encoding


def as_target(y: Any, kernel: Kernel | None, n_rows: int, missing: Missing = "error") -> Target:
    """Return the target and its kernel.

    Strings, booleans and categories are labels. Integers are numbers, unless `kernel` compares them
    as labels.

    Parameters
    ----------
    y : array-like, Series, DataFrame or sparse matrix of shape (n,) or (n, dy)
    kernel : Kernel, optional
    n_rows : int
        The required number of rows n.
    missing : {"error", "indicator"}, default "error"
        Missing labels raise an error, or are a separate label.

    Raises
    ------
    ValueError
        For another number of rows, missing values, no columns, or labels with a kernel that
        subtracts them.
    TypeError
        For values that are neither numbers nor labels.
    """
    columns, names = _columns(y)
    _check_length(columns, n_rows)
    rows, encoding, is_label = _as_numbers(columns, names, missing)
    d, labels = len(names), encoding.labels or [j for j, label in enumerate(is_label) if label]
    warn_of_constant_columns(rows[:, :d], names, "y")
    if kernel is None:
        warn_of_many_labels(rows, [j for j in labels if j < d], "y", names, _LABEL_ADVICE)
        _warn_of_integers(columns, is_label, names)
        numbers = [j for j in range(d) if j not in labels]
        numeric_names = [names[j] for j in numbers]
        numeric_rows = rows[:, numbers]
        rows[:, numbers] = without_rounding(
            numeric_rows, numeric_names, "y", Constants.of(numeric_rows)
        )
        default, bandwidth = _default_kernel(rows, numbers, names)
        return Target(rows, SampleKernel.of(default, rows.shape[1], bandwidth), encoding)
    sample_kernel = SampleKernel.of_argument(kernel, "target_kernel", d)
    sample_kernel.check_labels([j for j in labels if j < d], names, "y", "target_kernel")
    warn_of_many_labels(rows, sample_kernel.label_columns, "y", names, _LABEL_ADVICE)
    table = np.ascontiguousarray(rows[:, :d])
    sample_kernel.check_rows(table, slice(d), "y")
    # With equal labels, because many different labels are not worth a warning.
    numbers_only = table.copy()
    numbers_only[:, sample_kernel.label_columns] = 0.0
    warn_of_extremes(sample_kernel, numbers_only, "target_kernel")
    warn_of_one_column(sample_kernel, table, names, "y", "target_kernel")
    return Target(rows, sample_kernel.with_missing(d, rows.shape[1]), encoding)


def _as_numbers(
    columns: list[Any], names: tuple[str, ...], missing: Missing
) -> tuple[Float, Encoding, list[bool]]:
    """Return rows of numbers, their encoding, and which columns hold labels.

    Without dates and missing values the encoding is plain, also for labels.
    """
    if missing == "indicator" or any(map(holds_times, columns)):
        values = [
            read_column(column, name, "y") for column, name in zip(columns, names, strict=True)
        ]
        encoding = Encoding.fit({"y": values}, frozenset(), missing)
        return encoding.rows(values, "y"), encoding, [c.is_label for c in encoding.columns]
    is_label = [_holds_labels(column) for column in columns]
    parts = [
        _encode_labels(column, name if len(names) > 1 else None)
        if label
        else as_rows(np.asarray(column)[:, None], "y", names=(name,))[:, 0]
        for column, name, label in zip(columns, names, is_label, strict=True)
    ]
    return np.ascontiguousarray(np.column_stack(parts)), Encoding.plain(names), is_label


def _holds_integers(array: NDArray[Any]) -> bool:
    """Return whether values are integers by type, including objects, as in nullable columns."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "iu"
    return all(isinstance(entry, int | np.integer) for entry in array.tolist())


def _warn_of_integers(columns: list[Any], is_label: list[bool], names: tuple[str, ...]) -> None:
    """Warn of integers with few different values, which may be labels."""
    for column, label, name in zip(columns, is_label, names, strict=True):
        array = np.asarray(column)
        if label or not _holds_integers(array):
            continue
        number = len(np.unique(array))
        # For two numbers, the centered Gaussian kernel equals that of labels up to a factor.
        if 2 < number <= _FEW_VALUES and 3 * number <= len(array):
            kernel = "target_kernel=pkex.kernels.Categorical()"
            fix = (
                "if they are class labels, pass ",
                Option("categorical", name, python=f"{kernel}, or the labels as strings"),
                "; if they are numbers, write them with a decimal point, such as 1.0",
            )
            reason = (
                f"holds integers of only {number} different values, which are compared as numbers"
            )
            column_name = name if len(names) > 1 else None
            warn(InputWarning("y", reason, fix, column=column_name, kind="integers"))


def _check_length(columns: list[Any], n_rows: int) -> None:
    length = len(columns[0])
    if length == n_rows:
        return
    is_row = (length, len(columns)) == (1, n_rows)
    fix = "pass its only row, y[0], if that is the target" if is_row else ""
    raise InputError("y", f"must have as many rows as X; got {length}, expected {n_rows}", fix)


def _default_kernel(rows: Float, numbers: list[int], names: tuple[str, ...]) -> tuple[Kernel, str]:
    """Return the Gaussian kernel of the numbers times the delta kernel of the labels."""
    labels = [j for j in range(rows.shape[1]) if j not in numbers]
    label_note = "labels: 1 if equal, else 0"
    numeric_rows = np.ascontiguousarray(rows[:, numbers])
    if (numeric_rows == numeric_rows[0]).all():
        # Without numbers, or with constant ones, for which any kernel is constant.
        return Categorical(), label_note if labels else "none: y is constant"
    kernel, note = gaussian_kernel(numeric_rows, [names[j] for j in numbers], "y", "target_kernel")
    if not labels:
        return kernel, note
    return kernel.on(numbers) * Categorical().on(labels), f"{note}; {label_note}"


def _columns(y: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Return the columns of a target, and their names."""
    if isinstance(y, str):
        raise InputError(
            "y",
            f"must be an array, a Series or a table; got {y!r} (str)",
            f"pass the column, such as X[{y!r}], and drop it from X",
        )
    columns = columns_of(y)
    if columns is not None:
        names = table_labels(y, None).texts or ()
    elif kind_of(y) is Kind.SERIES:
        columns, names = [y], (_name(y),)
    else:
        array = _as_array(y)
        if array.ndim not in (1, 2):
            raise InputError(
                "y", f"must have shape (n,) or (n, n_columns); got shape {array.shape}"
            )
        columns = [array] if array.ndim == 1 else list(array.T)
        names = ("y",) if array.ndim == 1 else tuple(f"y{j}" for j in range(len(columns)))
    if not columns or len(columns[0]) == 0:
        raise InputError("y", "is empty")
    return columns, names


def _as_array(y: Any) -> NDArray[Any]:
    if isinstance(y, np.ma.MaskedArray):
        return unmask(y, "y")
    try:
        array = np.asarray(dense(y, "y"))
        # NumPy would convert numbers next to strings to strings.
        is_mixed = array.dtype.kind in "US" and not isinstance(y, np.ndarray)
        return np.asarray(y, dtype=object) if is_mixed else array
    except ValueError as error:
        raise InputError("y", f"must have rows of equal length ({error})") from None


def _name(series: Any) -> str:
    name = getattr(series, "name", None)
    return name if isinstance(name, str) and name else "y"


def _holds_labels(column: Any) -> bool:
    dtype = str(getattr(column, "dtype", ""))
    if dtype.startswith(("category", "Categorical", "Enum", "Boolean", "boolean")):
        return True
    array = np.asarray(column)
    if array.dtype.kind != "O":
        return array.dtype.kind in "bUST"
    return any(isinstance(item, str | bytes | bool | np.bool_) for item in array.flat)


def _encode_labels(column: Any, name: str | None) -> Float:
    """Return labels as numbers, in the order of their first occurrence."""
    numbers: dict[Any, int] = {}
    codes = np.empty(len(column))
    for row, label in enumerate(np.asarray(column, dtype=object).tolist()):
        if is_missing(label):
            option = Option("missing", "indicator")
            fix: list[Text] = ["fill or remove it", ("pass ", option, ", which makes it a label")]
            raise InputError("y", "has a missing label", fix, row, name, kind="missing")
        codes[row] = numbers.setdefault(label, len(numbers))
    return codes
