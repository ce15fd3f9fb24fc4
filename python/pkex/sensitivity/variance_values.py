"""Values of coalitions under the variance, computed by the engine over pairs of evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.functions.products import Products
from pkex.sensitivity.deviations import Deviations
from pkex.sensitivity.distributions import Marginal
from pkex.typing import Float, Report

# The default relative error above which values are recomputed in twice the precision.
_MAX_ERROR = 1e-11


def split_computation(
    computation: Computation, products: Products, marginals: Sequence[Marginal]
) -> tuple[Computation, Computation]:
    """Return a computation for deviations, and one for values, by their rough times."""
    n, n_outputs = products.weights.shape
    rules = (
        marginal.rule(0, products.kinks(column), products.widths(column))
        for column, marginal in enumerate(marginals)
    )
    nodes = np.array([len(entries) for entries, _ in rules])
    # Nanoseconds: factors at all nodes, and covariances and games of pairs. Rows of deviations have
    # about a sixth of the numbers of nodes, up to some hundreds.
    deviations = 80.0 * n * nodes.sum()
    lengths = np.minimum(nodes / 6.0, 500.0).sum()
    values = n**2 * (0.02 * lengths + len(nodes) * (8.0 + n_outputs))
    first, second = parts_of(computation.progress, 1.0 + deviations, 1.0 + values)
    return computation.reporting(first), computation.reporting(second)


@dataclass(frozen=True, eq=False)
class VarianceValues:
    """Values for v(S) = Var E[f(X) | X_S], of shape (coalitions, outputs).

    Parameters
    ----------
    shapley, first, total : ndarray of shape (P, outputs)
    second : ndarray of shape (pairs, outputs) or None
    errors : ndarray of shape (outputs,)
        The largest difference between v({j}) of columns and sums of squares.
    """

    shapley: Float
    first: Float
    total: Float
    second: Float | None
    errors: Float

    @classmethod
    def of(
        cls,
        deviations: Deviations,
        weights: Float,
        players: NDArray[np.int64],
        order: int,
        computation: Computation,
        largest_error: float = _MAX_ERROR,
    ) -> VarianceValues:
        """Return the values for weighted evaluations.

        Parameters
        ----------
        deviations : Deviations
        weights : ndarray of shape (evaluations, outputs)
        players : ndarray of int64, shape (d,)
            The number of each column's player.
        order : {1, 2}
        computation : Computation
        largest_error : float
            The error, relative to the variance, above which values are computed in twice the
            precision.
        """
        n_players = int(players.max()) + 1
        counts = [n_players] * 3 + [math.comb(n_players, 2)] * (order - 1)
        values = np.zeros((sum(counts), weights.shape[1]))
        errors = np.zeros(weights.shape[1])
        groups = list(_group_outputs(weights))
        reports = parts_of(
            computation.progress, *(1.0 + len(evaluations) ** 2 for evaluations, _ in groups)
        )
        for (evaluations, outputs), report in zip(groups, reports, strict=True):
            evaluation_sum = _EvaluationSum(
                deviations.of_evaluations(evaluations),
                weights[np.ix_(evaluations, outputs)],
                players,
            )
            values[:, outputs], errors[outputs] = evaluation_sum.values(
                order, computation.reporting(report), largest_error
            )
        shapley, first, total, *second = np.split(values, np.cumsum(counts)[:-1])
        return cls(shapley, first, total, second[0] if second else None, errors)


def _group_outputs(
    weights: Float,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield groups of outputs that have the same evaluations, with these evaluations."""
    patterns, places = np.unique(weights != 0.0, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        yield np.flatnonzero(pattern), np.flatnonzero(places.reshape(-1) == number)


@dataclass(frozen=True, eq=False)
class _EvaluationSum:
    """A sum of products in which all evaluations have a nonzero weight."""

    deviations: Deviations
    weights: Float
    players: NDArray[np.int64]

    def values(
        self, order: int, computation: Computation, largest_error: float
    ) -> tuple[Float, Float]:
        """Return all quantities along the first axis, and the errors of outputs."""
        # Errors are measured for single columns, also if players are groups.
        column_sum = replace(self, players=np.arange(len(self.players), dtype=np.int64))
        is_single = np.array_equal(self.players, column_sum.players)

        def quantities_with_errors(twice: bool, report: Report | None) -> tuple[Float, Float]:
            run = computation.reporting(report)
            first_part = run.part(0, 1 if is_single else 2)
            quantities = column_quantities = self._quantities(order > 1, twice, first_part)
            if not is_single:
                column_quantities = column_sum._quantities(False, twice, run.part(1, 2))
            return quantities, self._errors(column_quantities[len(self.players) :])

        # Twice the precision is rarely needed.
        first_report, second_report = parts_of(computation.progress, 3.0, 1.0)
        quantities, errors = quantities_with_errors(False, first_report)
        variance = np.abs(quantities[: int(self.players.max()) + 1].sum(axis=0))
        if (errors <= largest_error * variance).all():
            return quantities, errors
        return quantities_with_errors(True, second_report)

    def _quantities(self, pairs: bool, twice: bool, computation: Computation) -> Float:
        """Return Shapley values, v({j}) − v(∅), v(D) − v(D∖j), and interactions of pairs."""
        deviations = self.deviations
        return _core.variance_games(
            deviations.means,
            deviations.vectors,
            deviations.starts,
            self.weights,
            self.players,
            with_interactions=pairs,
            twice_the_precision=twice,
            summation=computation.summation,
            n_threads=computation.n_threads,
            progress=computation.progress,
        )

    def _errors(self, first: Float) -> Float:
        """Return the differences between v({j}) of columns and sums of squares.

        Parameters
        ----------
        first : ndarray of shape (at least d, outputs)
            The first d are v({j}) of columns.
        """
        squares = self.deviations.of_single_columns(self.weights)
        errors: Float = np.abs(first[: len(squares)] - squares).max(axis=0, initial=0.0)
        return errors
