"""The argument `inputs`: rows, or for each column a distribution or entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import warn
from pkex.explain.columns import Columns
from pkex.inputs.columns import check_column_names
from pkex.inputs.matrix import as_table
from pkex.inputs.weights import as_weights, equal_weights
from pkex.inputs.wording import counted, shown
from pkex.sensitivity.distributions import Atoms, Marginal, distribution_of, is_distribution

__all__ = ["Inputs"]

_INDEPENDENT = "the columns of inputs are taken as independent of each other, whatever rows say"


@dataclass(frozen=True, eq=False)
class Inputs:
    """The distributions of columns, which are independent of each other.

    Parameters
    ----------
    marginals : list of Marginal
    names : tuple of str
        Of the columns.
    description : str
        What they are, for the result.
    notes : tuple of str, default ()
        What is easily misread.
    """

    marginals: list[Marginal]
    names: tuple[str, ...]
    description: str
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, inputs: Any, weights: ArrayLike | None, columns: Columns) -> Inputs:
        """Read rows with weights, or distributions by the names of columns or in their order.

        Raises
        ------
        ValueError, TypeError
            If they do not fit the columns; the message says what is missing.
        """
        found = _of_distributions(inputs, weights, columns) or _of_rows(inputs, weights, columns)
        constant = [
            name
            for name, marginal in zip(found.names, found.marginals, strict=True)
            if isinstance(marginal, Atoms) and len(marginal.rule()[0]) == 1
        ]
        if constant:
            warn(f"inputs are constant in {shown(constant)}: the indices of such columns are 0")
        return found

    def covering_rows(self) -> NDArray[Any]:
        """Return rows with all nodes of each column's rule."""
        nodes = [marginal.rule()[0] for marginal in self.marginals]
        length = max(map(len, nodes))
        rows = np.empty((length, len(nodes)), dtype=np.result_type(*nodes))
        for column, own in enumerate(nodes):
            rows[:, column] = np.resize(own, length)
        return rows

    def sample(self, n: int, random: np.random.Generator) -> NDArray[Any]:
        """Return rows of a Latin hypercube (McKay et al. 1979), of shape (n, d)."""
        drawn = []
        for marginal in self.marginals:
            entries, weights = marginal.rule()
            shares = (random.permutation(n) + random.random(n)) / n
            places = np.searchsorted(np.cumsum(weights), shares)
            drawn.append(entries[np.minimum(places, len(entries) - 1)])
        rows = np.empty((n, len(drawn)), dtype=np.result_type(*drawn))
        for column, own in enumerate(drawn):
            rows[:, column] = own
        return rows


def _of_rows(inputs: Any, weights: ArrayLike | None, columns: Columns) -> Inputs:
    if len(columns.names) != 2 and _are_pairs(inputs, len(columns.names)):
        raise ValueError(
            "inputs has 2 entries for each column of the model; if these are bounds, give "
            "distributions: [scipy.stats.uniform(lo, hi - lo) for lo, hi in inputs]"
        )
    table = columns.read(inputs, "inputs")
    rows, n_rows = table.rows, len(table.rows)
    shares = equal_weights(n_rows)
    if weights is not None:
        shares = as_weights(weights, "weights", n_rows, "inputs")
    rows, shares = rows[shares > 0.0], shares[shares > 0.0]
    marginals: list[Marginal] = [Atoms.of_column(column, shares) for column in rows.T]
    return Inputs(marginals, table.names, counted(len(rows), "row"), (_INDEPENDENT,))


def _are_pairs(inputs: Any, number: int) -> bool:
    """Whether it is a list of as many pairs."""
    if not isinstance(inputs, Sequence) or len(inputs) != number:
        return False
    return all(isinstance(item, Sequence) and len(item) == 2 for item in inputs)


def _of_distributions(inputs: Any, weights: ArrayLike | None, columns: Columns) -> Inputs | None:
    """Read distributions, if it is these that were given."""
    names = columns.names
    given = _by_columns(inputs, names)
    if given is None:
        return None
    if weights is not None:
        raise ValueError("weights are those of rows, but inputs are distributions; leave them out")
    marginals = [
        _of_column(one, number, columns)
        if isinstance(one, np.ndarray) or hasattr(one, "to_numpy")
        else distribution_of(one, names[number])
        for number, one in enumerate(given)
    ]
    return Inputs(marginals, names, counted(len(names), "independent distribution"))


def _of_column(entries: Any, number: int, columns: Columns) -> Atoms:
    """Read the entries of one column, each of which counts as often as it occurs."""
    name = columns.names[number]
    if np.ndim(entries) != 1 or not len(entries):
        raise ValueError(
            f"inputs: the entries for {name!r} must be a column of shape (m,); got shape "
            f"{np.shape(entries)}"
        )
    table = as_table(
        np.asarray(entries)[:, None],
        "inputs",
        non_numeric={0} if number in columns.non_numeric else set(),
        names=[name],
        allow_missing=columns.allows_missing,
    )
    return Atoms.of_column(table[:, 0], equal_weights(len(table)))


def _by_columns(inputs: Any, names: tuple[str, ...]) -> list[Any] | None:
    """Return what is given for each column, or None if inputs are rows."""
    if isinstance(inputs, Mapping):
        return _by_names(inputs, names)
    if is_distribution(inputs):
        raise TypeError(
            "inputs is a single distribution; give a list with one for each column, or a dict of "
            f"them by the names {shown(names)}"
        )
    is_list = isinstance(inputs, Sequence) or getattr(inputs, "ndim", 2) == 1
    given = list(inputs) if is_list else []
    if not any(map(is_distribution, given)):
        return None
    if hasattr(inputs, "items"):  # a Series
        return _by_names(dict(inputs.items()), names)
    if len(given) != len(names):
        raise ValueError(
            f"inputs has {counted(len(given), 'distribution')}, but the model "
            f"{counted(len(names), 'column')}: {shown(names)}"
        )
    return given


def _by_names(inputs: Mapping[Any, Any], names: tuple[str, ...]) -> list[Any]:
    """Return what a dict has for each column, whose names may be numbers."""
    given = {str(name): one for name, one in inputs.items()}
    if {"num_vars", "names", "bounds"} <= given.keys() - set(names):
        raise ValueError(
            "inputs is a problem of SALib; give distributions by name: {name: scipy.stats.uniform("
            "lo, hi - lo) for name, (lo, hi) in zip(problem['names'], problem['bounds'])}"
        )
    if sorted(given) != sorted(names):
        if set(inputs) == set(range(len(names))):
            return [inputs[number] for number in range(len(names))]
        check_column_names(list(given), names, "inputs", "the model")
    return [given[name] for name in names]
