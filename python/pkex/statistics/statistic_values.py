"""The numbers that are found of a statistic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pkex.statistics.significance import Significance
from pkex.typing import Float

__all__ = ["StatisticValues"]


@dataclass(frozen=True, eq=False)
class StatisticValues:
    """A statistic divided among players; see `StatisticResult`.

    Parameters
    ----------
    values, alone : ndarray of shape (P,)
    standard_errors : ndarray of shape (P,), optional
    significance : Significance, optional
    """

    values: Float
    alone: Float
    standard_errors: Float | None = None
    significance: Significance | None = None

    def times(self, unit: float) -> StatisticValues:
        """Return the same of a multiple of the statistic.

        Raises
        ------
        OverflowError
            If it is too large for a float, or too small.
        """
        if unit == 1.0:
            return self
        errors, tested = self.standard_errors, self.significance
        with np.errstate(over="ignore", invalid="ignore"):
            values = unit * self.values
        if unit == 0.0 or not np.isfinite(values).all():
            raise OverflowError(
                "the statistic is out of the range of floats, for the amplitude of kernel or "
                "target_kernel is; multiply the kernel by a number that brings it closer to 1"
            )
        return StatisticValues(
            values,
            unit * self.alone,
            None if errors is None else unit * errors,
            None
            if tested is None
            else replace(tested, permuted_values=unit * tested.permuted_values),
        )
