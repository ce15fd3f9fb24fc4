"""Interaction coefficients of one output: ranking and names of coalitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalition_of_any_size_at, ranks
from pkex.results.sizes import mean_size
from pkex.results.tables import shortened
from pkex.typing import Float

# The number of strongest coalitions whose features enter a matrix of pairs.
_MAX_SEARCHED = 20


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Interaction coefficients of one output.

    Parameters
    ----------
    values : ndarray of shape (n, coalitions)
        The coefficients of the coalitions of 1 to `order` features.
    features : sequence of str of length d
    order : int
    value_function : str or None
    """

    values: Float
    features: Sequence[str]
    order: int
    value_function: str | None

    @property
    def thing(self) -> str:
        """The word for the ranked coalitions: "feature", "pair" or "coalition"."""
        return {1: "feature", 2: "pair"}.get(self.order, "coalition")

    @property
    def label(self) -> str:
        """The label of `sizes`."""
        if len(self.values) == 1:
            return "coefficient"
        mean = " − its mean" if self.value_function == "neutral" else ""
        return f"mean |coefficient{mean}|"

    @cached_property
    def sizes(self) -> Float:
        """The mean absolute value of each coefficient; for a single row, its coefficients."""
        is_row = len(self.values) == 1
        sizes: Float = self.values[0] if is_row else mean_size(self.values, self.value_function)
        return sizes

    def strongest(self, count: int, *, are_single: bool = False) -> NDArray[np.intp]:
        """Return the places of the strongest coalitions, or of the strongest features."""
        d = len(self.features)
        places = slice(0, d) if are_single or self.order == 1 else slice(d, None)
        sizes = np.abs(self.sizes[places])
        return int(places.start) + np.argsort(-sizes, kind="stable")[:count]

    def members(self, place: int) -> tuple[int, ...]:
        """Return the numbers of the features of a coalition, given its place."""
        return coalition_of_any_size_at(place, len(self.features))

    def name(self, place: int, *, longest: int | None = None) -> str:
        """Return the name of a coalition, such as "age × bmi", with shortened feature names."""
        names = [self.features[j] for j in self.members(place)]
        return " × ".join(names if longest is None else [shortened(n, longest) for n in names])

    def pairs(self, count: int) -> tuple[list[int], NDArray[np.intp], Float]:
        """Return the pairs among the features of the strongest coalitions, as a matrix.

        Parameters
        ----------
        count : int
            The largest number of features.

        Returns
        -------
        features : list of int
        places : ndarray of shape (pairs,)
            The places of the pairs of these features.
        sizes : ndarray of shape (features, features)
            The sizes of the pairs, with 0 on the diagonal.
        """
        d = len(self.features)
        strongest = self.strongest(_MAX_SEARCHED)
        members = dict.fromkeys(j for k in strongest.tolist() for j in self.members(k))
        features = list(members)[:count]
        one, other = np.triu_indices(len(features), 1)
        places = d + ranks(np.sort(np.array(features)[np.stack([one, other], axis=1)]), d)
        sizes = np.zeros((len(features), len(features)))
        sizes[one, other] = sizes[other, one] = self.sizes[places]
        return features, places, sizes
