"""The argument `inputs`: rows, or a distribution for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import warn
from pkex.explain.columns import Columns
from pkex.inputs.columns import check_column_names
from pkex.inputs.weights import as_weights, equal_weights
from pkex.inputs.wording import counted, shown
from pkex.sensitivity.distributions import Atoms, Marginal, distribution_of

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


def _of_rows(inputs: Any, weights: ArrayLike | None, columns: Columns) -> Inputs:
    table = columns.read(inputs, "inputs")
    rows, n_rows = table.rows, len(table.rows)
    shares = equal_weights(n_rows)
    if weights is not None:
        shares = as_weights(weights, "weights", n_rows, "inputs")
    rows, shares = rows[shares > 0.0], shares[shares > 0.0]
    marginals: list[Marginal] = [Atoms.of_column(column, shares) for column in rows.T]
    return Inputs(marginals, table.names, counted(n_rows, "row"), (_INDEPENDENT,))


def _of_distributions(inputs: Any, weights: ArrayLike | None, columns: Columns) -> Inputs | None:
    """Read distributions, if it is these that were given."""
    names = columns.names
    if isinstance(inputs, Mapping):
        given = dict(inputs)
        if sorted(map(str, given)) != sorted(names):
            check_column_names([str(name) for name in given], names, "inputs", "the model")
        frozen = [given[name] for name in names]
    elif isinstance(inputs, Sequence) and any(hasattr(item, "ppf") for item in inputs):
        frozen = list(inputs)
        if len(frozen) != len(names):
            raise ValueError(
                f"inputs has {counted(len(frozen), 'distribution')}, but the model "
                f"{counted(len(names), 'column')}: {shown(names)}"
            )
    elif hasattr(inputs, "ppf"):
        raise TypeError(
            "inputs is a single distribution; give a list with one for each column, or a dict of "
            f"them by the names {shown(names)}"
        )
    else:
        return None
    if weights is not None:
        raise ValueError("weights are those of rows, but inputs are distributions; leave them out")
    marginals = [distribution_of(one, name) for one, name in zip(frozen, names, strict=True)]
    return Inputs(marginals, names, f"{counted(len(names), 'distribution')}")
