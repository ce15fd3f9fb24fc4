"""The argument `inputs`: rows, or a distribution or values for each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import Argument, InputError, InputTypeError, InputWarning, warn
from pkex.explain.model_columns import ModelColumns
from pkex.inputs.wording import counted, shown
from pkex.sensitivity.distributions import Atoms, Marginal, distribution_of, is_distribution
from pkex.tables.kinds import Kind, kind_of
from pkex.tables.labels import check_column_names
from pkex.tables.missing import is_missing
from pkex.tables.read import as_table
from pkex.tables.weights import as_weights, equal_weights

_INDEPENDENT = "the columns of inputs are taken as independent of each other, whatever rows say"


@dataclass(frozen=True, eq=False)
class Inputs:
    """The distributions of independent columns.

    Parameters
    ----------
    marginals : list of Marginal
    names : tuple of str
        The names of the columns.
    description : str
        A description for the result.
    notes : tuple of str, default ()
        Notes against misreadings.
    rows : ndarray of shape (n, d), optional
        The rows, unless distributions are given.
    """

    marginals: list[Marginal]
    names: tuple[str, ...]
    description: str
    notes: tuple[str, ...] = ()
    rows: NDArray[Any] | None = None

    @classmethod
    def read(cls, inputs: Any, weights: ArrayLike | None, columns: ModelColumns) -> Inputs:
        """Return inputs from weighted rows, or from distributions by name or in order.

        Raises
        ------
        ValueError, TypeError
            If they do not match the columns of the model.
        """
        result = _from_distributions(inputs, weights, columns)
        if result is None:
            result = _from_rows(inputs, weights, columns)
        constant_columns = [
            name
            for name, marginal in zip(result.names, result.marginals, strict=True)
            if isinstance(marginal, Atoms) and len(marginal.rule()[0]) == 1
        ]
        if constant_columns:
            what = f" are constant in {shown(constant_columns)}: the indices of such columns are 0"
            warn(InputWarning(None, (Argument("inputs"), what)))
        return result

    def covering_rows(self) -> NDArray[Any]:
        """Return rows that contain all nodes of each column's rule."""
        nodes = [marginal.rule()[0] for marginal in self.marginals]
        length = max(map(len, nodes))
        rows = np.empty((length, len(nodes)), dtype=np.result_type(*nodes))
        for column, values in enumerate(nodes):
            rows[:, column] = np.resize(values, length)
        return rows

    @contextmanager
    def locate_errors(self, rows: NDArray[Any]) -> Iterator[None]:
        """Replace rows of `covering_rows` by rows of the inputs in errors."""
        try:
            yield
        except InputError as error:
            if error.row is None or error.column is None:
                raise
            column = error.column
            index = self.names.index(column) if isinstance(column, str) else column
            row, value = None, rows[error.row, index]
            if self.rows is not None:
                values = self.rows[:, index].tolist()
                matches = [x == value or (is_missing(x) and is_missing(value)) for x in values]
                row = matches.index(True)
            raise error.with_fields(row=row, column=self.names[index]) from None

    def sample(self, n: int, random: np.random.Generator) -> NDArray[Any]:
        """Return rows of a Latin hypercube (McKay et al. 1979), of shape (n, d)."""
        columns = []
        for marginal in self.marginals:
            entries, weights = marginal.rule()
            shares = (random.permutation(n) + random.random(n)) / n
            places = np.searchsorted(np.cumsum(weights), shares)
            columns.append(entries[np.minimum(places, len(entries) - 1)])
        rows = np.empty((n, len(columns)), dtype=np.result_type(*columns))
        for column, values in enumerate(columns):
            rows[:, column] = values
        return rows


def _from_rows(inputs: Any, weights: ArrayLike | None, columns: ModelColumns) -> Inputs:
    if len(columns.names) != 2 and _are_pairs(inputs, len(columns.names)):
        raise InputError(
            "inputs",
            "has 2 values for each column of the model",
            "if these are bounds, give distributions: "
            "[scipy.stats.uniform(lo, hi - lo) for lo, hi in inputs]",
        )
    table = columns.read(inputs, "inputs")
    rows, n_rows = table.rows, len(table.rows)
    shares = equal_weights(n_rows)
    if weights is not None:
        shares = as_weights(weights, "weights", n_rows, "inputs")
    rows, shares = rows[shares > 0.0], shares[shares > 0.0]
    marginals: list[Marginal] = [Atoms.of_column(column, shares) for column in rows.T]
    description = counted(len(rows), "row")
    return Inputs(marginals, table.names, description, (_INDEPENDENT,), table.rows)


def _are_pairs(inputs: Any, number: int) -> bool:
    """Whether inputs are a list of `number` pairs."""
    if not isinstance(inputs, Sequence) or len(inputs) != number:
        return False
    return all(isinstance(item, Sequence) and len(item) == 2 for item in inputs)


def _from_distributions(
    inputs: Any, weights: ArrayLike | None, columns: ModelColumns
) -> Inputs | None:
    """Return inputs from distributions; None if inputs are rows."""
    names = columns.names
    items = _items_by_column(inputs, names)
    if items is None:
        return None
    if weights is not None:
        raise ValueError("weights are those of rows, but inputs are distributions; leave them out")
    marginals = [
        _column_atoms(item, number, columns)
        if kind_of(item) in (Kind.ARRAY, Kind.SERIES)
        else distribution_of(item, names[number])
        for number, item in enumerate(items)
    ]
    return Inputs(marginals, names, counted(len(names), "independent distribution"))


def _column_atoms(entries: Any, number: int, columns: ModelColumns) -> Atoms:
    """Return the distribution of the values of one column."""
    name = columns.names[number]
    if np.ndim(entries) != 1 or not len(entries):
        what = f"must have shape (m,); got shape {np.shape(entries)}"
        raise InputError("inputs", what, column=name)
    table = as_table(
        np.asarray(entries)[:, None],
        "inputs",
        non_numeric={0} if number in columns.non_numeric else set(),
        names=[name],
        allow_missing=columns.allows_missing,
    )
    return Atoms.of_column(table[:, 0], equal_weights(len(table)))


def _items_by_column(inputs: Any, names: tuple[str, ...]) -> list[Any] | None:
    """Return a distribution or values for each column; None if inputs are rows."""
    if isinstance(inputs, Mapping):
        return _items_in_order(inputs, names)
    if is_distribution(inputs):
        raise InputTypeError(
            "inputs",
            "is a single distribution",
            f"give a list with one for each column, or a dict of them by the names {shown(names)}",
        )
    is_list = isinstance(inputs, Sequence) or getattr(inputs, "ndim", 2) == 1
    items = list(inputs) if is_list else []
    if not any(map(is_distribution, items)):
        return None
    if hasattr(inputs, "items"):  # a Series
        return _items_in_order(dict(inputs.items()), names)
    if len(items) != len(names):
        raise InputError(
            "inputs",
            f"has {counted(len(items), 'distribution')}, but the model has "
            f"{counted(len(names), 'column')}: {shown(names)}",
        )
    return items


def _items_in_order(inputs: Mapping[Any, Any], names: tuple[str, ...]) -> list[Any]:
    """Return the values of a dict in the order of columns, whose names may be numbers."""
    items = {str(name): item for name, item in inputs.items()}
    if {"num_vars", "names", "bounds"} <= items.keys() - set(names):
        raise InputError(
            "inputs",
            "is a problem of SALib",
            "give distributions by name: {name: scipy.stats.uniform(lo, hi - lo) "
            "for name, (lo, hi) in zip(problem['names'], problem['bounds'])}",
        )
    if sorted(items) != sorted(names):
        if set(inputs) == set(range(len(names))):
            return [inputs[number] for number in range(len(names))]
        check_column_names(list(items), names, "inputs", "the model")
    return [items[name] for name in names]
