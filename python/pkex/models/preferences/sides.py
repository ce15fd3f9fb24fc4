"""Tables of two sides, row by row: left and right items, and perhaps a context of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from pkex.errors import warn
from pkex.explain.model_columns import ModelColumns
from pkex.inputs.wording import counted, shown
from pkex.tables.labels import Labels
from pkex.tables.missing import is_missing
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.tables.table import Table
from pkex.typing import Float

__all__ = ["Sides", "labels_of", "margins", "refuse_equal", "two_classes", "warn_of_labels"]


@dataclass(frozen=True)
class Sides:
    """The columns of items, and those of contexts if there are any.

    Parameters
    ----------
    items : ModelColumns
    contexts : ModelColumns, optional
    """

    items: ModelColumns
    contexts: ModelColumns | None = None

    @classmethod
    def of_fit(cls, left: Any, context: Any) -> Sides:
        """Return the columns of the tables that a model is fitted to."""
        own = None if context is None else _columns_of(context, "context", "context")
        return cls(_columns_of(left, "left", "left"), own)

    @classmethod
    def of_names(
        cls,
        n_items: int,
        names: Sequence[str] | None,
        n_contexts: int,
        context_names: Sequence[str] | None,
    ) -> Sides:
        """Return the columns of a fitted model, which has contexts if these have columns."""
        contexts = _columns(n_contexts, context_names, "the model") if n_contexts else None
        return cls(_columns(n_items, names, "the model"), contexts)

    def read_items(self, left: Any, right: Any) -> tuple[Table, Float]:
        """Read left and right items.

        Raises
        ------
        ValueError, TypeError
            If they are not finite and numeric with the right columns, or not of as many rows.
        """
        items, others = self.items.read(left, "left"), self.items.read(right, "right")
        _check_rows(items.rows, others.rows, "right")
        _check_order(items.labels, others.labels)
        return items, others.rows

    def read_contexts(self, context: Any, left: Float) -> Table | None:
        """Read the contexts of left items.

        Raises
        ------
        ValueError, TypeError
            If the model has contexts and there is no such table, or the other way round; or as
            `read_items`.
        """
        if self.contexts is None and context is not None:
            raise ValueError(
                "context was given, and the model is fitted without contexts; leave it out, or "
                "fit(left, right, y, context)"
            )
        if self.contexts is None:
            return None
        if context is None:
            raise ValueError(
                "context is missing: the model is fitted with contexts; give one of "
                f"{counted(self.contexts.number, 'column')} for each row of left"
            )
        table = self.contexts.read(context, "context")
        _check_rows(left, table.rows, "context")
        return table


def _columns_of(table: Any, argument: str, by: str) -> ModelColumns:
    names = Labels.comparable(table, argument).names
    return _columns(as_matrix(table, argument).shape[1], names, by)


def _columns(number: int, names: Sequence[str] | None, by: str) -> ModelColumns:
    known = None if names is None else tuple(map(str, names))
    return ModelColumns(number, frozenset(), False, known, known, by)


def _check_rows(left: Float, other: Float, argument: str) -> None:
    """Refuse a table that has not a row for each row of left."""
    if len(other) != len(left):
        raise ValueError(
            f"left and {argument} must have as many rows, one of each for a pair; got {len(left)} "
            f"and {len(other)}"
        )


def _check_order(left: Labels, right: Labels) -> None:
    """Refuse columns labelled by numbers, which are no names, in another order than those of left.

    Others than those of left they may be: those of the halves of one table are.
    """
    if left.columns and right.columns and set(left.columns) == set(right.columns):
        right.check_same(left, "right", "left")


def refuse_equal(left: Float, right: Float) -> None:
    """Refuse a row whose items are equal, of which nothing can be learnt."""
    equal = (left == right).all(axis=1)
    if equal.any():
        raise ValueError(
            f"row {int(np.argmax(equal))} of left and right has an item with itself, or with one "
            f"that has the same features, as {counted(int(equal.sum()), 'row')} in all: neither is "
            "preferred, whatever is fitted; leave such rows out"
        )


def margins(y: ArrayLike | None, n_rows: int) -> Float:
    """Return by how much the left items were preferred: 1 if it is not said.

    Raises
    ------
    ValueError, TypeError
        If they are not finite numbers, one for each row, or are False and True.
    """
    if y is None:
        return np.ones(n_rows)
    if {type(entry) for entry in np.asarray(y, dtype=object).flat} & {bool, np.bool_}:
        raise ValueError(
            "y has False and True, and is to say by how much left is preferred: take "
            "PreferenceLogistic, which has classes, or give 2 * y.astype(int) - 1 if False says "
            "that right is preferred, and y.astype(int) if it says that neither is"
        )
    found = as_vector_or_matrix(y, "y", n_rows=n_rows, rows_of="left")
    if found.ndim > 1:
        raise ValueError(f"y must have shape ({n_rows},), a number for each row; got {found.shape}")
    return found


def warn_of_labels(margins: Float) -> None:
    """Warn of numbers that are 0 and 1 alone, which may have been meant for classes."""
    if np.unique(margins).tolist() == [0.0, 1.0]:
        warn(
            "y has the numbers 0 and 1 alone, and 0 says that neither is preferred: of draws and "
            "wins of left that is right; if 0 is where right is preferred, give 2 * y - 1, or take "
            "PreferenceLogistic, which has classes"
        )


def labels_of(y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the labels of rows; those that are objects as what these are, such as bool.

    Raises
    ------
    ValueError
        If there is not one for each row, or one is missing.
    """
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise ValueError(
            f"y must have shape ({n_rows},), a class for each row of left; got {labels.shape}"
        )
    missing = [row for row, label in enumerate(labels) if is_missing(label)]
    if missing:
        raise ValueError(
            f"y has no label in row {missing[0]}, as in {counted(len(missing), 'row')} in all; "
            "leave such rows out"
        )
    return np.asarray(labels.tolist()) if labels.dtype == object else labels


def two_classes(y: ArrayLike | None, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the class that right was preferred and that left was, and which rows are of this.

    All are if it is not said.

    Raises
    ------
    ValueError
        If y has other than two classes, not one for each row, or such that do not say which side
        was preferred.
    """
    if y is None:
        return np.array([False, True]), np.ones(n_rows, dtype=np.bool_)
    labels = labels_of(y, n_rows)
    classes = np.unique(labels)
    if len(classes) == 1:
        raise ValueError(
            f"y must have two classes, and has one alone, {classes.tolist()[0]!r}; leave y out if "
            "left was preferred in every row"
        )
    if len(classes) > 2:
        raise ValueError(
            f"y must have two classes, one where left is preferred and one where right is, and has "
            f"{len(classes)}: {shown(classes.tolist())}; PreferenceRidge takes numbers, such as 0 "
            "for a draw"
        )
    if classes.tolist() == ["left", "right"]:
        classes = classes[::-1]
    elif classes.tolist() not in ([False, True], [-1, 1]):
        raise ValueError(
            f"y has the classes {shown(classes.tolist())}, of which it is not known which says "
            "that left was preferred; give True or 1 where it was and False, 0 or -1 where right "
            "was, or 'left' and 'right'"
        )
    return classes, labels == classes[1]
