"""The options of the test of a drift detector."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from pkex.compare.permutation.permutations import check_n_permutations
from pkex.compare.permutation.significance import Significance
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.typing import Float


def check_alpha(alpha: object) -> float:
    """Return the level of a test, or raise an error."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha must be a number between 0 and 1; got {alpha!r}")
    return float(alpha)


def draw_seed(random_state: Any) -> tuple[int, ...]:
    """Draw the seed of a detector."""
    return tuple(as_generator(random_state).integers(1 << 62, size=4).tolist())


@dataclass(frozen=True)
class DriftTest:
    """Checked options of the test.

    Parameters
    ----------
    alpha : float
    n_permutations : int
    batch_size : int or None
    seed : tuple of int
    """

    alpha: float
    n_permutations: int
    batch_size: int | None
    seed: tuple[int, ...]

    @classmethod
    def of(
        cls,
        alpha: float,
        n_permutations: int,
        batch_size: int | None,
        seed: tuple[int, ...],
        n: int,
    ) -> DriftTest:
        """Check the options of a detector with n reference rows."""
        number = check_n_permutations(n_permutations)
        test = cls(check_alpha(alpha), number, None, seed)
        if number and test.rank < 1:
            raise ValueError(
                f"n_permutations={number} is too small for alpha={alpha}: p-values are at least "
                f"1/{number + 1}. Pass at least {math.ceil(1.0 / alpha) - 1}"
            )
        if batch_size is None:
            return test
        size = as_integer("batch_size", batch_size, "an integer, at least 2", least=2)
        if not number:
            raise ValueError(
                "batch_size requires n_permutations, the number of batches drawn from the "
                "reference for the threshold. Pass for example n_permutations=999"
            )
        if 2 * size > n:
            raise ValueError(
                f"batch_size={size} must be at most half of the {n} rows of X_reference, from "
                "which batches are drawn for the threshold"
            )
        return replace(test, batch_size=size)

    def generator(self) -> np.random.Generator:
        """Return a generator of random numbers, with the same seed each time."""
        return np.random.default_rng(self.seed)

    def shuffle(self, rows: Float) -> Float:
        """Return a copy of the reference, in random order if there is a test."""
        order = self.generator().permutation(len(rows)) if self.n_permutations else slice(None)
        return rows[order].copy()

    @property
    def rank(self) -> int:
        """The rank of the permuted statistic that must be exceeded for p ≤ α."""
        return math.floor(self.alpha * (self.n_permutations + 1) + 1e-9)

    def threshold(self, significance: Significance | None) -> float | None:
        """Return the permuted statistic that must be exceeded for p ≤ α."""
        if significance is None:
            return None
        return float(np.sort(significance.permuted_values.sum(axis=1))[-self.rank])

    def __str__(self) -> str:
        if not self.n_permutations:
            return "no test"
        return f"alpha {self.alpha:g}, {self.n_permutations} permutations"
