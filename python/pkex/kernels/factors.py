"""Factors of one column each, and their products: what kernels are sums of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import check_choice
from pkex.typing import Float

__all__ = [
    "FAMILIES",
    "Factor",
    "Family",
    "PackedTerm",
    "Term",
    "add_family",
    "check_not_negative",
    "columns_not_negative",
]

# A coefficient and factors as (family, columns, parameters), for the engine.
PackedTerm: TypeAlias = tuple[float, list[tuple[str, NDArray[np.int64], Float]]]


@dataclass(frozen=True, eq=False)
class Family:
    """A formula for factors k_j(x_j, y_j), which the engine knows by its name.

    Factors of equal entries are 1: sums over pairs of rows rely on it.

    Parameters
    ----------
    name : str
    value : callable
        Returns the factors of entries x, y and the parameters.
    is_of_distance : bool, default True
        Whether factors depend on the distance in units of the parameter, a length-scale.
    compares_labels : bool, default False
        Whether entries are only told apart, and not subtracted.
    takes_negative : bool, default True
        Whether entries may be negative.
    """

    name: str
    value: Callable[..., Float]
    is_of_distance: bool = True
    compares_labels: bool = False
    takes_negative: bool = True


# All families by their names; each is added beside its kernel.
FAMILIES: dict[str, Family] = {}


def add_family(family: Family) -> str:
    """Make a family known by its name, and return the name."""
    FAMILIES[family.name] = family
    return family.name


@dataclass(frozen=True, eq=False)
class Factor:
    """Factors of one family on some columns.

    Parameters
    ----------
    family : str
        The name of a kernel's family, such as "rbf".
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1) or (k, 2)
        For each of the columns: the length-scale, the similarity of different categories, or γ; of
        "periodic" the length-scale and the period.
    """

    family: str
    columns: NDArray[np.int64]
    parameters: Float

    @property
    def definition(self) -> Family:
        """What is known of the family.

        Raises
        ------
        ValueError
            If there is no such family.
        """
        return FAMILIES[check_choice("family", self.family, list(FAMILIES))]

    def evaluated(self, left: Float, right: Float) -> Iterator[tuple[int, Float]]:
        """Yield the number of each column, and its factors for all pairs of rows."""
        value = self.definition.value
        for column, parameters in zip(self.columns.tolist(), self.parameters, strict=True):
            # Far apart, the squared distance may overflow: the factor is then 0.
            with np.errstate(over="ignore"):
                yield column, value(left[:, column, None], right[:, column], *parameters)


@dataclass(frozen=True, eq=False)
class Term:
    """A coefficient times a product of factors; columns that no factor mentions have factor 1.

    Parameters
    ----------
    coefficient : float
    factors : tuple of Factor
        A column may occur in several of them: the factors multiply.
    """

    coefficient: float
    factors: tuple[Factor, ...]

    def packed(self) -> PackedTerm:
        """Return the term in the engine's form."""
        return self.coefficient, [(f.family, f.columns, f.parameters) for f in self.factors]


def columns_not_negative(terms: Iterable[Term]) -> NDArray[np.int64]:
    """Return the numbers of the columns whose entries a factor takes only if not negative."""
    columns = [f.columns for term in terms for f in term.factors if not f.definition.takes_negative]
    return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *columns]))


def check_not_negative(rows: Float, columns: NDArray[np.int64], name: str) -> None:
    """Refuse rows with a negative entry in one of the columns.

    Raises
    ------
    ValueError
        It names the first such row and column.
    """
    negative = rows[:, columns] < 0.0
    if negative.any():
        row, place = np.argwhere(negative)[0]
        raise ValueError(
            f"{name} has the entry {rows[row, columns[place]]:g} in row {row}, column "
            f"{columns[place]}, and the Chi2 kernel compares entries that are not negative, such "
            "as counts; leave the column to another kernel with kernel.on(columns), or scale it to "
            "be at least 0"
        )
