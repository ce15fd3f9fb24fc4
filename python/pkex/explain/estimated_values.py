"""Estimates of Shapley values, where there are too many features for exact ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pkex.errors import InputError, Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress
from pkex.explain.estimators import CoalitionEstimator, Estimator, PermutationEstimator
from pkex.explain.joint_draws import JointDraws
from pkex.explain.problem import Problem
from pkex.explain.row_game import check_joint_draws
from pkex.explain.schema import ExplainedRows
from pkex.functions.conditional import MAX_CONDITIONED, Conditional
from pkex.results.estimate import Estimate
from pkex.results.uncertainty import Uncertainty, roots_of
from pkex.typing import Float

# Functions drawn from a posterior for the covariances of estimates: right to 2 %.
_DRAWS = 1000


def estimated_values(
    problem: Problem,
    X: ArrayLike,
    *,
    n_permutations: int | None,
    n_coalitions: int | None,
    uncertainty: bool,
    generator: np.random.Generator,
    progress: Progress,
) -> Estimate:
    """Estimate the values of rows from random orders, or from random coalitions."""
    estimator = make_estimator(problem, n_permutations, n_coalitions, generator)
    estimates = Option("n_coalitions", python="estimates: explainer(X)")
    fix = "its values are exact for any number of features without ", estimates
    check_joint_draws(problem, fix)
    explained_rows, function = problem.schema.read(X), problem.function
    posterior = None
    with problem.settings.computing(progress) as computation:
        if isinstance(function, Conditional):
            function.conditioning.warn_of_matching_rows(explained_rows.rows, function.players)
        if uncertainty:
            posterior = _estimated_roots(
                problem, estimator, explained_rows, generator, computation.part(0, 2)
            )
            computation = computation.part(1, 2)
        values, errors = estimator(function, explained_rows.rows, computation)
    if not function.has_output_axis:
        values, errors = values[..., 0], errors[..., 0]
    spread = Uncertainty(errors)
    if posterior is not None:
        spread = Uncertainty.of_posterior(posterior[0], values, posterior[1], errors)
    return Estimate._of(problem.result(explained_rows, values, spread))


def make_estimator(
    problem: Problem,
    n_permutations: int | None,
    n_coalitions: int | None,
    generator: np.random.Generator,
) -> Estimator:
    """Return the estimator of values, by permutations or by coalitions."""
    function, p = problem.function, problem.function.n_players
    if n_permutations is None and n_coalitions is None:
        alternative = ", or n_permutations, such as n_permutations=1000"
        raise TypeError(
            "Explainer.estimate() needs the number of draws, by name: "
            "n_coalitions, such as n_coalitions=1000"
            + ("" if isinstance(function, Conditional) else alternative)
        )
    if n_permutations is not None and n_coalitions is not None:
        raise ValueError("n_permutations and n_coalitions are two ways to draw; give one of them")
    if n_coalitions is not None:
        return CoalitionEstimator.draw(problem.game, p, n_coalitions, generator)
    estimator = PermutationEstimator.draw(problem.game, p, n_permutations, generator)
    if isinstance(function, Conditional):
        exact = ", or exact values: explainer(X)" if p <= MAX_CONDITIONED else ""
        raise InputError(
            "n_permutations",
            "would factor a matrix for each feature of each order, and is not for "
            "value_function='observational'",
            f"take n_coalitions, such as n_coalitions=1000{exact}",
        )
    return estimator


def _estimated_roots(
    problem: Problem,
    estimator: Estimator,
    explained_rows: ExplainedRows,
    generator: np.random.Generator,
    computation: Computation,
) -> tuple[Float, JointDraws]:
    """Return R of the covariances R Rᵀ of estimates, (n, players, outputs, players), and draws.

    Draws are of functions that are estimated from the same coalitions.
    """
    if not isinstance(problem.function, Conditional):
        raise UnsupportedModelError(
            (
                Option("uncertainty", True),
                " of estimates is for ",
                Option("value_function", "observational"),
                ". Exact values of Gaussian processes have it in other games: ",
                Option("uncertainty", True, python="explainer(X, uncertainty=True)"),
            )
        )
    joint = problem.joint_draws(explained_rows, estimator)
    functions = joint.functions(_DRAWS, generator)
    covariances = []
    for function, part_computation in computation.over(functions):
        draws, _ = estimator(function, explained_rows.rows, part_computation)
        covariances.append(draws @ draws.transpose(0, 2, 1) / _DRAWS)
    return roots_of(np.stack(covariances, axis=-1)), joint
