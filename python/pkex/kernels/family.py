"""Factors of single columns, and the families that define their formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import check_choice
from pkex.kernels.mixing import Mixing, combine_columns
from pkex.typing import Float

# Family, columns and parameters of factors, for the engine.
PackedFactor: TypeAlias = tuple[str, NDArray[np.int64], Float]


@dataclass(frozen=True, eq=False)
class Family:
    """A formula for factors k_j(x_j, y_j), identified by name in the engine.

    Factors of equal values are 1, except within a `Series`: sums over pairs of rows rely on it.

    Parameters
    ----------
    name : str
    formula : callable
        Returns the factors of feature values x and y, given the parameters.
    is_exponential : bool, default False
        Whether `formula` returns the logarithms of the factors instead.
    is_of_distance : bool, default True
        Whether factors depend on |x − y| in units of the parameter, a length-scale.
    compares_labels : bool, default False
        Whether values are categories, compared for equality only.
    takes_negative, takes_fractions : bool, default True
        Whether negative values, and values other than 0, 1, 2, …, are allowed.
    has_kinks : bool, default False
        Whether factors are not differentiable at equal values.
    reach : float, default inf
        The distance, in length-scales, beyond which factors are below 1e-17.
    """

    name: str
    formula: Callable[..., Float]
    is_exponential: bool = False
    is_of_distance: bool = True
    compares_labels: bool = False
    takes_negative: bool = True
    takes_fractions: bool = True
    has_kinks: bool = False
    reach: float = math.inf

    def value(self, x: Float, y: Float, *parameters: float) -> Float:
        """Return the factors of feature values x and y."""
        values = self.formula(x, y, *parameters)
        return np.exp(values) if self.is_exponential else values


# All families by name; each is added in the module of its kernel.
FAMILIES: dict[str, Family] = {}


def add_family(family: Family) -> str:
    """Add a family to `FAMILIES`, and return its name."""
    FAMILIES[family.name] = family
    return family.name


@dataclass(frozen=True, eq=False)
class Factor:
    """Product over some columns of factors k_j(x_j, y_j) of one family.

    Parameters
    ----------
    family : str
        The name of the formula, such as "rbf".
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1) or (k, 2)
        One row for each column: the length-scale, the similarity of different categories, or γ.
        For "periodic", the length-scale and the period.

    Examples
    --------
    >>> from pkex.kernels import RBF
    >>> term, = RBF(length_scale=[1.0, 2.0]).terms(n_features=2)
    >>> factor, = term.factors
    >>> factor.family, factor.columns.tolist(), factor.parameters.tolist()
    ('rbf', [0, 1], [[1.0], [2.0]])
    """

    family: str
    columns: NDArray[np.int64]
    parameters: Float

    @property
    def definition(self) -> Family:
        """The family's formula and properties.

        Raises
        ------
        ValueError
            If there is no family of that name.
        """
        return FAMILIES[check_choice("family", self.family, list(FAMILIES))]

    def on(self, columns: NDArray[np.int64]) -> Factor:
        """Return the factors with each column j replaced by ``columns[j]``."""
        return replace(self, columns=columns[self.columns])

    def times(self, other: Factor) -> Factor | None:
        """Return the product with another factor as a single factor, or None if it is not one."""
        return None

    def packed(self) -> PackedFactor:
        """Return the factors in the engine's form."""
        return self.family, self.columns, self.parameters

    def product(self, left: Float, right: Float) -> Float:
        """Return the product over columns for all pairs of rows, of shape (n, m)."""
        family = self.definition
        combine = np.add if family.is_exponential else np.multiply
        product = np.full((len(left), len(right)), combine.identity, dtype=np.float64)
        for _, values in self._by_column(family.formula, left, right):
            combine(product, values, out=product)
        return np.exp(product, out=product) if family.is_exponential else product

    def mixing(self, row: Float, background: Float, points: Float) -> Mixing:
        """Return the function that maps coalitions to products between mixed rows and points.

        Parameters
        ----------
        row : ndarray of shape (d,)
        background : ndarray of shape (n, d)
        points : ndarray of shape (m, d)
        """
        row_values = [values[0] for _, values in self.evaluated(row[None], points)]
        background_values = [values for _, values in self.evaluated(background, points)]
        return combine_columns(self.columns, row_values, background_values, np.multiply)

    def evaluated(self, left: Float, right: Float) -> Iterator[tuple[int, Float]]:
        """Yield each column's number and its factors for all pairs of rows, of shape (n, m)."""
        return self._by_column(self.definition.value, left, right)

    def _by_column(
        self, function: Callable[..., Float], left: Float, right: Float
    ) -> Iterator[tuple[int, Float]]:
        for column, parameters in zip(self.columns.tolist(), self.parameters, strict=True):
            # Squared distances may overflow: the factor is then 0.
            with np.errstate(over="ignore"):
                yield column, function(left[:, column, None], right[:, column], *parameters)
