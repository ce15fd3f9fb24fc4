"""Tables of pairs: left and right items, and optionally the context of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from pkex.errors import InputError, warn
from pkex.explain.model_columns import ModelColumns
from pkex.inputs.wording import counted, shown
from pkex.tables.labels import Labels
from pkex.tables.missing import is_missing
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.tables.table import Table
from pkex.typing import Float


@dataclass(frozen=True)
class Sides:
    """The columns of items, and of contexts if there are any.

    Parameters
    ----------
    items : ModelColumns
    contexts : ModelColumns, optional
    """

    items: ModelColumns
    contexts: ModelColumns | None = None

    @classmethod
    def of_fit(cls, left: Any, context: Any) -> Sides:
        """Return the columns of training tables."""
        contexts = None if context is None else _columns_of(context, "context", "context")
        return cls(_columns_of(left, "left", "left"), contexts)

    @classmethod
    def of_names(
        cls,
        n_items: int,
        names: Sequence[str] | None,
        n_contexts: int,
        context_names: Sequence[str] | None,
    ) -> Sides:
        """Return the columns of a fitted model, which has contexts if `n_contexts` is positive."""
        contexts = _columns(n_contexts, context_names, "the model") if n_contexts else None
        return cls(_columns(n_items, names, "the model"), contexts)

    def read_items(self, left: Any, right: Any) -> tuple[Table, Float]:
        """Read left and right items.

        Raises
        ------
        ValueError, TypeError
            If values are not finite numbers, or columns or numbers of rows do not match.
        """
        items, opponents = self.items.read(left, "left"), self.items.read(right, "right")
        _check_rows(items.rows, opponents.rows, "right")
        _check_order(items.labels, opponents.labels)
        return items, opponents.rows

    def read_training_items(self, left: Any, right: Any) -> tuple[Table, Float]:
        """Read left and right items of `fit`, as `read_items`; y in place of right is an error."""
        try:
            return self.read_items(left, right)
        except InputError as error:
            is_vector = error.kind in ("vector", "documents")
            if error.argument != "right" or not is_vector or self.items.number == 1:
                raise
            fix = (
                "pass the items that left was compared with, in the columns of left, and y after "
                "them: fit(left, right, y)"
            )
            raise error.with_fields(fix=fix) from None

    def read_contexts(self, context: Any, left: Float) -> Table | None:
        """Read the contexts of left items.

        Raises
        ------
        ValueError, TypeError
            If a model with contexts has no such table, or a model without contexts has one; or as
            in `read_items`.
        """
        if self.contexts is None and context is not None:
            raise ValueError(
                "context was given, but the model was fitted without contexts. Leave it out, or "
                "call fit(left, right, y, context)"
            )
        if self.contexts is None:
            return None
        if context is None:
            raise ValueError(
                "context is missing, but the model was fitted with contexts. Pass a table of "
                f"{counted(self.contexts.number, 'column')} with a row for each row of left"
            )
        table = self.contexts.read(context, "context")
        _check_rows(left, table.rows, "context")
        return table


def _columns_of(table: Any, argument: str, owner: str) -> ModelColumns:
    names = Labels.comparable(table, argument).names
    return _columns(as_matrix(table, argument).shape[1], names, owner)


def _columns(number: int, names: Sequence[str] | None, owner: str) -> ModelColumns:
    texts = None if names is None else tuple(map(str, names))
    return ModelColumns(number, frozenset(), False, texts, texts, owner)


def _check_rows(left: Float, other: Float, argument: str) -> None:
    """Raise ValueError unless a table has a row for each row of left."""
    if len(other) != len(left):
        raise ValueError(
            f"left and {argument} must have the same number of rows; got {len(left)} and "
            f"{len(other)}"
        )


def _check_order(left: Labels, right: Labels) -> None:
    """Raise InputError if right has the columns of left, labeled by numbers, in another order.

    Different numbers are allowed, for the halves of one table.
    """
    if left.columns and right.columns and set(left.columns) == set(right.columns):
        right.check_same(left, "right", "left")


def check_distinct(left: Float, right: Float) -> None:
    """Raise ValueError for rows whose items are equal, which have no preference."""
    mask = (left == right).all(axis=1)
    if mask.any():
        raise ValueError(
            f"row {int(np.argmax(mask))} of left and right compares items with equal features "
            f"({counted(int(mask.sum()), 'such row')} in all). Remove these rows, in which "
            "neither item is preferred"
        )


def margins(y: ArrayLike | None, n_rows: int) -> Float:
    """Return the degrees of preference for the left items; 1 by default.

    Raises
    ------
    ValueError, TypeError
        If they are not finite numbers, one for each row, or are booleans.
    """
    if y is None:
        return np.ones(n_rows)
    if {type(entry) for entry in np.asarray(y, dtype=object).flat} & {bool, np.bool_}:
        raise ValueError(
            "y must be degrees of preference; got booleans. Use PreferenceLogistic for classes, or "
            "pass 2 * y.astype(int) - 1 if False means that right is preferred, or y.astype(int) "
            "if it means a draw"
        )
    degrees = as_vector_or_matrix(y, "y", n_rows=n_rows, rows_of="left")
    if degrees.ndim > 1:
        raise ValueError(
            f"y must have shape ({n_rows},), a number for each row; got {degrees.shape}"
        )
    return degrees


def warn_of_labels(margins: Float) -> None:
    """Warn of degrees that are all 0 or 1, which may be meant as classes."""
    if np.unique(margins).tolist() == [0.0, 1.0]:
        warn(
            "y has only the values 0 and 1, where 0 means a draw. If 0 means that right is "
            "preferred, pass 2 * y - 1, or use PreferenceLogistic for classes"
        )


def labels_of(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the class labels of rows; objects are converted to their type, such as bool.

    Raises
    ------
    ValueError
        If there is not one for each row, or one is missing.
    """
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise ValueError(
            f"y must have shape ({n_rows},), a label for each row of left; got {labels.shape}"
        )
    missing = [row for row, label in enumerate(labels) if is_missing(label)]
    if missing:
        raise ValueError(
            f"y has no label in row {missing[0]} ({counted(len(missing), 'such row')} in all). "
            "Remove these rows"
        )
    return np.asarray(labels.tolist()) if labels.dtype == object else labels


def two_classes(y: ArrayLike | None, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the labels of "right is preferred" and "left is preferred", and the latter's rows.

    By default, left was preferred in all rows.

    Raises
    ------
    ValueError
        If y does not have two classes, a label for each row, or labels that tell which item was
        preferred.
    """
    if y is None:
        return np.array([False, True]), np.ones(n_rows, dtype=np.bool_)
    labels = labels_of(y, n_rows)
    classes = np.unique(labels)
    if len(classes) == 1:
        raise ValueError(
            f"y must have two classes; got only {classes.tolist()[0]!r}. Leave y out if left was "
            "preferred in all rows"
        )
    if len(classes) > 2:
        raise ValueError(
            f"y must have two classes, for left and right; got {len(classes)}: "
            f"{shown(classes.tolist())}. Use PreferenceRidge for degrees of preference, such as 0 "
            "for a draw"
        )
    if classes.tolist() == ["left", "right"]:
        classes = classes[::-1]
    elif classes.tolist() not in ([False, True], [-1, 1]):
        raise ValueError(
            f"y has the classes {shown(classes.tolist())}, which do not tell which item was "
            "preferred. Pass True or 1 for left and False, 0 or -1 for right, or 'left' and 'right'"
        )
    return classes, labels == classes[1]
