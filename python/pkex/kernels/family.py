"""Factors of one column each, and the families that they are of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import check_choice
from pkex.typing import Float

__all__ = ["FAMILIES", "Factor", "Family", "PackedFactor", "add_family"]

# Family, columns and parameters of factors, for the engine.
PackedFactor: TypeAlias = tuple[str, NDArray[np.int64], Float]


@dataclass(frozen=True, eq=False)
class Family:
    """A formula for factors k_j(x_j, y_j), which the engine knows by its name.

    Factors of equal entries are 1: sums over pairs of rows rely on it, but for those of a `Series`.

    Parameters
    ----------
    name : str
    value : callable
        Returns the factors of entries x, y and the parameters.
    is_of_distance : bool, default True
        Whether factors depend on the distance in units of the parameter, a length-scale.
    compares_labels : bool, default False
        Whether entries are only told apart, and not subtracted.
    takes_negative, takes_fractions : bool, default True
        Whether entries may be negative, and other than 0, 1, 2, ….
    has_kinks : bool, default False
        Whether factors are not smooth at equal entries.
    reach : float, default inf
        From how many length-scales of distance on factors are below 1e-17.
    """

    name: str
    value: Callable[..., Float]
    is_of_distance: bool = True
    compares_labels: bool = False
    takes_negative: bool = True
    takes_fractions: bool = True
    has_kinks: bool = False
    reach: float = math.inf


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

    def on(self, columns: NDArray[np.int64]) -> Factor:
        """Return the factors for a table that has its columns elsewhere, at these places."""
        return replace(self, columns=columns[self.columns])

    def times(self, other: Factor) -> Factor | None:
        """Return the product with others if it is known as one, else None: both stay apart."""
        return None

    def packed(self) -> PackedFactor:
        """Return the factors in the engine's form."""
        return self.family, self.columns, self.parameters

    def product(self, left: Float, right: Float) -> Float:
        """Return the product over columns for all pairs of rows, of shape (n, m)."""
        product = np.ones((len(left), len(right)))
        for _, values in self.evaluated(left, right):
            product *= values
        return product

    def evaluated(self, left: Float, right: Float) -> Iterator[tuple[int, Float]]:
        """Yield the number of each column, and its factors for all pairs of rows."""
        value = self.definition.value
        for column, parameters in zip(self.columns.tolist(), self.parameters, strict=True):
            # Far apart, the squared distance may overflow: the factor is then 0.
            with np.errstate(over="ignore"):
                yield column, value(left[:, column, None], right[:, column], *parameters)
