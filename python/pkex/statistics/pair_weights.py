"""The weights of pairs of rows in MMD²."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pkex.statistics.standard_errors import mmd_errors
from pkex.typing import Float

__all__ = ["PairWeights"]


@dataclass(frozen=True)
class PairWeights:
    """The weights of ordered pairs in MMD²: within each sample, and between the samples.

    Parameters
    ----------
    first, second, between : float
    self_pairs : float
        The weight of all pairs of a row with itself together, in the values.
    """

    first: float
    second: float
    between: float
    self_pairs: float = 0.0

    @classmethod
    def of(cls, estimator: str, n: int, m: int) -> PairWeights:
        """Return the weights for samples of n and m rows; floats, for n² may not fit an int."""
        between = 1.0 / (float(n) * m)
        if estimator == "biased":
            return cls(1.0 / n**2, 1.0 / m**2, between, 1.0 / n + 1.0 / m)
        return cls(1.0 / (n * (n - 1.0)), 1.0 / (m * (m - 1.0)), between)

    def exchanged(self) -> PairWeights:
        """Return the weights with the second sample first."""
        return replace(self, first=self.second, second=self.first)

    def combine(self, sums: Float) -> Float:
        """Weigh sums over unordered pairs (3, P): within the first, between, within the second."""
        within = self.first * sums[0] + self.second * sums[2]
        combined: Float = 2.0 * (within - self.between * sums[1])
        return combined

    def errors(
        self,
        first: tuple[Float, Float],
        second: tuple[Float, Float],
        sizes: tuple[int, int],
        squares: tuple[Float, Float, Float],
    ) -> Float:
        """Return standard errors of the values, whose averages are weighted as these are.

        Parameters
        ----------
        first, second : tuple of two ndarrays of shape (k, P)
            For rows of each sample, all or some of them, γ summed over the sample's other rows and
            over all rows of the other sample.
        sizes : tuple of int
            The numbers of rows n, m of the samples.
        squares : tuple of three ndarrays of shape (P,)
            Mean squares of doubly centred γ: within the first sample, between, within the second.
        """
        n, m = sizes
        # The biased estimator's averages within a sample are those of the unbiased, times these.
        shrunk = self.first * n * (n - 1.0), self.second * m * (m - 1.0)
        return mmd_errors(
            (
                shrunk[0] * first[0] / (n - 1.0) - first[1] / m,
                shrunk[1] * second[0] / (m - 1.0) - second[1] / n,
            ),
            sizes,
            (shrunk[0] ** 2 * squares[0], squares[1], shrunk[1] ** 2 * squares[2]),
        )
