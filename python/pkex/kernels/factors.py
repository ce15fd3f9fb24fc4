"""Factors of one column each, and their products: what kernels are sums of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["Factor", "Term", "check_not_negative", "columns_not_negative"]


@dataclass(frozen=True, eq=False)
class Factor:
    """Factors of one family on some columns.

    Parameters
    ----------
    family : str
        "rbf", "laplacian", "cauchy", "categorical" or "chi2".
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1)
        For each of the columns: the length-scale, the similarity of different categories, or γ.
    """

    family: str
    columns: NDArray[np.int64]
    parameters: Float

    def evaluated(self, left: Float, right: Float) -> Iterator[tuple[int, Float]]:
        """Yield the number of each column, and its factors for all pairs of rows."""
        value = _FAMILIES[self.family]
        for column, (parameter,) in zip(self.columns.tolist(), self.parameters, strict=True):
            # Far apart, the squared distance may overflow: the factor is then 0.
            with np.errstate(over="ignore"):
                yield column, value(left[:, column, None], right[:, column], parameter)


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


def columns_not_negative(terms: Iterable[Term]) -> NDArray[np.int64]:
    """Return the numbers of the columns whose entries a factor takes only if not negative."""
    columns = [f.columns for term in terms for f in term.factors if f.family == "chi2"]
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


def _chi2(x: Float, y: Float, gamma: float) -> Float:
    # Halves, whose sum does not overflow; entries that are both 0 are alike.
    half = 0.5 * x + 0.5 * y
    ratio = np.divide(0.5 * (x - y), half, out=np.zeros_like(half), where=half > 0.0)
    return np.exp(-(gamma * (x - y)) * ratio)


# The factor as a function of x_j, y_j and its parameter.
_FAMILIES: dict[str, Callable[[Float, Float, float], Float]] = {
    "rbf": lambda x, y, length_scale: np.exp(-0.5 * ((x - y) / length_scale) ** 2),
    "laplacian": lambda x, y, length_scale: np.exp(-np.abs((x - y) / length_scale)),
    "cauchy": lambda x, y, length_scale: 1.0 / (1.0 + ((x - y) / length_scale) ** 2),
    "categorical": lambda x, y, similarity: np.where(x - y == 0.0, 1.0, similarity),
    "chi2": _chi2,
}
