"""The preparation that MMD, HSIC and the drift detector share.

A comparison has rows of numbers, a kernel of their columns that is expanded once, and the factors
of absent players.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pkex.compare.kernel.choice import choose_kernel, settle_constants
from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.permutation.significance import Significance
from pkex.compare.statistic_options import Conventions
from pkex.errors import InputOverflowError
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.games.players import Players
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.results.axes import FEATURE, Axes
from pkex.tables.encode import Encoding
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class StatisticValues:
    """A statistic attributed to players; see `StatisticResult`.

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
        """Return the values of the statistic multiplied by a number.

        Raises
        ------
        OverflowError
            If the result is out of the range of floats.
        """
        errors, significance = self.standard_errors, self.significance
        with np.errstate(over="ignore", invalid="ignore"):
            values = unit * self.values
        if unit == 0.0 or not np.isfinite(values).all():
            raise OverflowError(
                "the statistic is out of the range of floats, because the amplitude of kernel or "
                "target_kernel is. Multiply the kernel by a number that brings it closer to 1"
            )
        if errors is not None:
            errors = unit * errors
        if significance is not None:
            permuted_values = unit * significance.permuted_values
            significance = replace(significance, permuted_values=permuted_values)
        return StatisticValues(values, unit * self.alone, errors, significance)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of rows by a kernel, with the players that values are attributed to.

    Parameters
    ----------
    conventions : Conventions
    encoding : Encoding
        The conversion of tables to rows.
    players : Players
    kernel : Kernel
    bandwidth : str or None
        The rule that chose the length-scales; None for a kernel passed by the user.
    terms : KernelTerms
        The kernel, divided by `unit`.
    unit : float
        A power of two.
    """

    conventions: Conventions
    encoding: Encoding
    players: Players
    kernel: Kernel
    bandwidth: str | None
    terms: KernelTerms
    unit: float

    @classmethod
    def prepare(
        cls,
        rows: Float,
        encoding: Encoding,
        players: Players,
        user_kernel: SampleKernel | None,
        conventions: Conventions,
        rows_name: str,
        domain: Domain | None = None,
        *,
        is_attributed: bool = True,
    ) -> tuple[Float, Comparison]:
        """Choose and expand the kernel of rows.

        Parameters
        ----------
        rows : ndarray of shape (n, k)
        encoding : Encoding
        players : Players
        user_kernel : SampleKernel, optional
            The kernel passed by the user.
        conventions : Conventions
        rows_name : str
            The name of the rows in messages.
        domain : Domain, optional
            Domain of the rows that are compared; by default the domain of `rows`.
        is_attributed : bool, default True
            Whether the statistic is attributed to the columns of these rows.

        Returns
        -------
        rows : ndarray of shape (n, k)
            Without rounding errors in constant columns, for the default kernel.
        comparison : Comparison
        """
        rows, _ = settle_constants(rows, encoding, rows_name, user_kernel)
        sample_kernel = choose_kernel(user_kernel, rows, encoding, rows_name)
        domain = domain or exact_domain(rows)
        return rows, cls.of(
            sample_kernel, encoding, players, conventions, domain, is_attributed=is_attributed
        )

    @classmethod
    def of(
        cls,
        sample_kernel: SampleKernel,
        encoding: Encoding,
        players: Players,
        conventions: Conventions,
        domain: Domain,
        *,
        is_attributed: bool = True,
    ) -> Comparison:
        """Expand a kernel over the players, or over all columns as one; see `prepare`."""
        of_column = np.zeros(len(sample_kernel.columns), dtype=np.int64)
        if is_attributed:
            of_column = players.with_copies(encoding.flagged).of_column[sample_kernel.columns]
        terms, unit = KernelTerms.of(
            sample_kernel.terms, of_column, domain, is_biased=conventions.is_biased
        )
        return cls(
            conventions,
            encoding,
            players,
            sample_kernel.kernel,
            sample_kernel.bandwidth,
            terms,
            unit,
        )

    def with_means(
        self, rows: Float, computation: Computation, rows_name: str
    ) -> tuple[Comparison, Computation]:
        """Return the comparison with the factors of absent players, and the further computation.

        Parameters
        ----------
        rows : ndarray of shape (n, ·)
            In the engine's form.
        computation : Computation
        rows_name : str
            The name of the rows in messages.

        Raises
        ------
        OverflowError
            If the means are out of the range of floats.
        """
        # Centered kernels have mean 0 over the sample, so the factors are 1.
        if self.conventions.value_function == "neutral" or self.terms.are_centered:
            return self, computation
        # The means take at most a third of the time.
        means_report, report = parts_of(computation.progress, 1.0, 2.0)
        terms = self.terms.with_means(rows, computation.n_threads, means_report)
        if terms.absent is not None and not np.isfinite(terms.absent).all():
            raise InputOverflowError(
                rows_name,
                f"has values too large for {self.kernel}, whose mean over pairs of rows is out of "
                "the range of floats",
                "divide the columns by their standard deviations",
            )
        return replace(self, terms=terms), computation.reporting(report)

    def fields(self, values: StatisticValues, other_unit: float = 1.0) -> dict[str, Any]:
        """Return the fields of a `StatisticResult`.

        Parameters
        ----------
        values : StatisticValues
            Values for the kernel divided by its unit.
        other_unit : float
            The unit of the other side of an HSIC.
        """
        unit = self.unit * other_unit
        if unit != 1.0:
            values = values.times(unit)
        return {
            "values": values.values,
            "standard_errors": values.standard_errors,
            "alone": values.alone,
            "_axes": Axes(self.players.names, present=(FEATURE,)),
            "kernel": self.kernel,
            "bandwidth": self.bandwidth,
            "estimator": self.conventions.estimator,
            "value_function": self.conventions.value_function,
            "significance": values.significance,
            "columns": self.encoding.columns,
        }


def exact_domain(rows: Float) -> Domain:
    """Return the domain of pairs of rows, with the smallest error, because sums cancel."""
    return Domain.of(rows, ERRORS[-1])
