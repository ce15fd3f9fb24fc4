"""How rows are compared, and the values of a comparison divided among players.

MMD, HSIC and the drift detector prepare the same: rows of numbers, a kernel of their columns that
is expanded once, and the factors of absent players.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from pkex.compare.kernel.choice import chosen_kernel, with_settled_constants
from pkex.compare.kernel.sample_kernel import ChosenKernel
from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.permutation.significance import Significance
from pkex.compare.statistic_options import Conventions
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.games.players import Players
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.results.axes import FEATURE, Axes
from pkex.tables.encode import Column, Encoding
from pkex.typing import Float, Report

__all__ = ["Comparison", "StatisticValues", "exact_domain"]


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
        """Return the values of a multiple of the statistic.

        Raises
        ------
        OverflowError
            If it is too large for a float, or too small.
        """
        errors, tested = self.standard_errors, self.significance
        with np.errstate(over="ignore", invalid="ignore"):
            values = unit * self.values
        if unit == 0.0 or not np.isfinite(values).all():
            raise OverflowError(
                "the statistic is out of the range of floats, for the amplitude of kernel or "
                "target_kernel is; multiply the kernel by a number that brings it closer to 1"
            )
        if errors is not None:
            errors = unit * errors
        if tested is not None:
            tested = replace(tested, permuted_values=unit * tested.permuted_values)
        return StatisticValues(values, unit * self.alone, errors, tested)


class _SharedFields(TypedDict):
    """The fields of a `StatisticResult`, by their names."""

    values: Float
    standard_errors: Float | None
    alone: Float
    _axes: Axes
    kernel: Kernel
    bandwidth: str | None
    estimator: str
    value_function: str
    significance: Significance | None
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How rows are compared with each other.

    Parameters
    ----------
    conventions : Conventions
    encoding : Encoding
        How tables become rows.
    players : Players
        Among whom a statistic is divided.
    kernel : Kernel
        Of rows.
    bandwidth : str or None
        How its length-scales were found; None if it was given.
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
        given: ChosenKernel | None,
        conventions: Conventions,
        what: str,
        domain: Domain | None = None,
        *,
        is_divided: bool = True,
    ) -> tuple[Float, Comparison]:
        """Choose and expand the kernel of some rows.

        Parameters
        ----------
        rows : ndarray of shape (n, k)
        encoding : Encoding
        players : Players
        given : ChosenKernel, optional
            The kernel that users give.
        conventions : Conventions
        what : str
            What messages call the rows.
        domain : Domain, optional
            Of the rows that are compared; by default of these.
        is_divided : bool, default True
            Whether the columns of these rows are the players'.

        Returns
        -------
        rows : ndarray of shape (n, k)
            With constant columns that do not vary by rounding, if no kernel is given.
        comparison : Comparison
        """
        rows, _ = with_settled_constants(rows, encoding, what, given)
        chosen = chosen_kernel(given, rows, encoding, what)
        domain = domain or exact_domain(rows)
        return rows, cls.of(chosen, encoding, players, conventions, domain, is_divided=is_divided)

    @classmethod
    def of(
        cls,
        chosen: ChosenKernel,
        encoding: Encoding,
        players: Players,
        conventions: Conventions,
        domain: Domain,
        *,
        is_divided: bool = True,
    ) -> Comparison:
        """Expand a kernel over the players' columns, or over all as one; see `prepare`."""
        of_column = np.zeros(len(chosen.columns), dtype=np.int64)
        if is_divided:
            of_column = players.with_copies(encoding.flagged).of_column[chosen.columns]
        terms, unit = KernelTerms.of(
            chosen.terms, of_column, domain, is_biased=conventions.is_biased
        )
        return cls(conventions, encoding, players, chosen.kernel, chosen.bandwidth, terms, unit)

    def with_means(self, rows: Float, report: Report | None) -> tuple[Comparison, Computation]:
        """Return the same with the factors of absent players, and how what is left is computed.

        Parameters
        ----------
        rows : ndarray of shape (n, ·)
            As the engine compares them.
        report : callable, optional
        """
        how = self.conventions.computation(report)
        # Centered kernels have mean 0 over the sample, so that the factors are 1.
        if self.conventions.value_function == "neutral" or self.terms.are_centered:
            return self, how
        # The means take a third of the time, or next to none of Gaussian kernels.
        of_means, report = parts_of(report, 1.0, 2.0)
        terms = self.terms.with_means(rows, how.n_threads, of_means)
        return replace(self, terms=terms), how.reporting(report)

    def fields(self, values: StatisticValues, of_other: float = 1.0) -> _SharedFields:
        """Return the fields that results share.

        Parameters
        ----------
        values : StatisticValues
            Of the kernel divided by its unit.
        of_other : float
            The unit of the other side of a dependence.
        """
        unit = self.unit * of_other
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
    """Return the domain of pairs of rows, with the smallest error: what is summed cancels."""
    return Domain.of(rows, ERRORS[-1])
