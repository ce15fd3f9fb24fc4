"""Shapley effects and Sobol indices of a kernel model over independent inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.adapters import adapt, verify
from pkex.errors import UnsupportedModelError, warn
from pkex.execution.progress import Progress, parts_of
from pkex.execution.settings import Settings
from pkex.explain.columns import Columns
from pkex.explain.outputs import Outputs
from pkex.functions.products import products
from pkex.games.players import as_players
from pkex.inputs.choices import Summation
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.sensitivity.deviations import Deviations
from pkex.sensitivity.inputs import Inputs
from pkex.sensitivity.result import SensitivityResult
from pkex.sensitivity.worths import Worths
from pkex.typing import Float

__all__ = ["sensitivity"]

# Measured rounding errors, of the variance: from here on they are said, and refused.
_NOTABLE, _TOO_LARGE = 1e-6, 1e-2


@with_known_keywords
def sensitivity(
    model: Any,
    inputs: Any,
    *,
    groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
    weights: ArrayLike | None = None,
    order: int = 1,
    summation: Summation = "compensated",
    n_jobs: int | None = -1,
    progress: Progress = False,
) -> SensitivityResult:
    """Divide the variance of a model's output among its inputs, exactly.

    For inputs X that are independent of each other, v(S) = Var E[f(X) | X_S] is how much of the
    variance of the output the inputs in S explain. Its Shapley values, divided by the variance, are
    the *Shapley effects*, which add up to 1; v of one input alone is its *first-order* Sobol index,
    and what is missing without it the *total* one. Nothing is sampled: for a sum of products of
    functions of single columns, as kernel models are, v is a sum of product games over pairs of
    their points.

    Parameters
    ----------
    model : fitted model, bound method or KernelExpansion
        A model that `Explainer` takes; what is analysed is what it explains (of a Gaussian process
        the mean). It must be made of products over columns, or of radial kernels such as Matern
        and RationalQuadratic.
    inputs : array-like or DataFrame of shape (m, d), or dict or list of distributions
        Rows, in the columns that the model is given: each column is distributed as its entries are,
        and **independent of the others**, whatever the rows say. Or for each column a frozen
        distribution of ``scipy.stats``, continuous or discrete, or beside such an array of entries,
        of which each counts as often as it occurs; by the columns' names (x0, x1, … where the model
        knows none) or in their order.
    groups : dict of str to columns, optional
        Columns that are one input, as in `Explainer`.
    weights : array-like of shape (m,), optional
        The weights of rows, not negative; equal if not given.
    order : {1, 2}, default 1
        With 2, there are the second-order indices of pairs, too.
    summation : {"compensated", "plain"}, default "compensated"
        How sums over pairs of points are formed.
    n_jobs : int or None, default -1
        Number of threads, as in `Explainer`. Results do not depend on it.
    progress : bool or callable, default False
        True shows a progress bar (needs tqdm); a callable gets (done, total).

    Returns
    -------
    SensitivityResult

    Warns
    -----
    UserWarning
        If a column of the inputs is constant (its indices are 0), or if rounding errors of the
        indices are above 1e-6.

    Raises
    ------
    UnsupportedModelError
        If the model is not supported, or its kernel is no sum of products over columns.
    ValueError, TypeError
        If the inputs do not fit the model's columns, a distribution's variance is infinite, the
        output does not vary, or its variance is lost in rounding errors.

    See Also
    --------
    hsic : Which inputs a measured output depends on, with `HSICResult.alone_r2`.

    Notes
    -----
    Time grows as the square of the number of points (times that of terms, for kernels that are sums
    of products) and with the number of columns. Integrals over single columns are quadrature rules
    or the sums over rows themselves; rules are doubled until no mean or second moment of a factor
    changes by more than 1e-13.

    Where coefficients are far larger than the output and cancel, as of a Gaussian process that
    interpolates, rounding errors of pairs are multiplied by their squares. They are measured:
    first-order indices are computed a second time as sums of squares, in which little cancels.
    Where these differ by more than 1e-11 of the variance, the sums over pairs are repeated in twice
    the precision, and the difference that is left is what the warning says.

    References
    ----------
    A. B. Owen (2014), Sobol' indices and Shapley value, SIAM/ASA J. Uncertainty Quantification 2.
    I. M. Sobol (1993), Sensitivity estimates for nonlinear mathematical models.

    Examples
    --------
    >>> import pkex
    >>> from scipy import stats
    >>> f = pkex.KernelExpansion([[0.0, 0.0], [1.0, 1.0]], [1.0, 2.0], pkex.kernels.RBF([1.0, 5.0]))
    >>> result = pkex.sensitivity(f, [stats.uniform(0.0, 1.0), stats.norm(0.0, 1.0)], order=2)
    >>> result.first_order.round(3), result.total.round(3)
    (array([0.673, 0.324]), array([0.676, 0.327]))
    """
    settings = Settings(summation=summation, n_jobs=n_jobs)
    most = as_integer("order", order, "1, or 2 for pairs, too", least=1)
    if most > 2:
        raise ValueError(f"order must be 1, or 2 for pairs, too; got {most}")
    # Results of searches are mappings, too.
    if type(model) in (np.ndarray, list, tuple, dict) or hasattr(model, "to_numpy"):
        raise UnsupportedModelError(
            f"the model comes first: pkex.sensitivity(model, inputs); got a {type(model).__name__}"
        )
    adapted = adapt(model)
    verify(adapted, model, n_threads=settings.n_threads)
    outputs, function = Outputs.chosen(adapted, None, None)
    read = Inputs.read(inputs, weights, Columns.of(adapted, None))
    players = as_players(groups, read.names)
    sums = products(function, read.covering_rows())
    with settings.computing(progress) as how:
        first_part, second_part = parts_of(how.progress, 0.1, 0.9)
        deviations = Deviations.of(sums, read.marginals, read.names, first_part)
        worths = Worths.of(
            deviations, sums.weights, players.of_column, most, how.reporting(second_part)
        )
    owner = model.__self__ if isinstance(model, MethodType) else model
    variance = worths.shapley.sum(axis=0)
    notes = [*read.notes, *_checked(variance, worths.errors, outputs.names)]
    has_axis = outputs.names is not None

    def shares(values: Float) -> Float:
        found: Float = values / variance
        return found if has_axis else found[..., 0]

    return SensitivityResult(
        variance=variance if has_axis else float(variance[0]),
        shapley_effects=shares(worths.shapley),
        first_order=shares(worths.first),
        total=shares(worths.total),
        second_order=None if worths.second is None else shares(_of_pairs(worths.second)),
        _names=players.names,
        _outputs=outputs.names,
        _explained=f"{adapted.explained} of {type(owner).__name__}",
        _inputs=read.description,
        notes=tuple(notes),
    )


def _of_pairs(values: Float) -> Float:
    """Return values of pairs, of shape (pairs, outputs), as symmetric matrices (P, P, outputs)."""
    n_players = (1 + math.isqrt(1 + 8 * len(values))) // 2
    table = np.full((n_players, n_players, values.shape[1]), np.nan)
    one, other = np.triu_indices(n_players, k=1)
    table[one, other] = table[other, one] = values
    return table


def _checked(variance: Float, errors: Float, outputs: tuple[str, ...] | None) -> list[str]:
    """Refuse variances that are 0, or lost in rounding errors; say what is left of these."""
    notes = []
    for place, (own, error) in enumerate(zip(variance, errors, strict=True)):
        of_output = "" if outputs is None else f" {outputs[place]!r}"
        if own == 0.0:
            raise ValueError(
                f"the variance of the output{of_output} is 0: nothing that varies in inputs "
                "changes it, so that there is nothing to divide"
            )
        share = abs(error / own)
        if own < 0.0 or share > _TOO_LARGE:
            raise ValueError(
                f"the variance of the output{of_output} is lost in rounding errors ({error:.1e} "
                f"beside {own:.1e}): the model's coefficients are huge and cancel; fit it with "
                "more noise or regularization, for instance a larger alpha"
            )
        if share > _NOTABLE:
            notes.append(
                f"rounding errors of the indices{of_output} are about {share:.0e}, as the model's "
                "coefficients are huge and cancel; more noise or regularization makes them smaller"
            )
            warn(notes[-1])
    return notes
