"""Shapley effects and Sobol indices of a kernel model over independent inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.adapters import adapt, verify
from pkex.errors import UnsupportedModelError
from pkex.execution.progress import Progress, advising, parts_of
from pkex.execution.settings import Settings
from pkex.explain.model_columns import ModelColumns
from pkex.explain.outputs import Outputs
from pkex.functions.products import products
from pkex.games.players import as_players
from pkex.inputs.choices import Summation
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.sensitivity.deviations import Deviations
from pkex.sensitivity.indices import Indices, checked
from pkex.sensitivity.inputs import Inputs
from pkex.sensitivity.result import SensitivityResult
from pkex.sensitivity.uncertainty import draws_of, number_of_draws
from pkex.sensitivity.worths import Worths
from pkex.tables.kinds import Kind, kind_of

__all__ = ["sensitivity"]

_FASTER = (
    "a model that is fitted on fewer rows; the RBF kernel instead of a sum of products, such as "
    "Matern; with uncertainty, fewer draws"
)


@with_known_keywords
def sensitivity(
    model: Any,
    inputs: Any,
    *,
    groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
    weights: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    order: int = 1,
    uncertainty: int = 0,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
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
        and RationalQuadratic; a TermExpansion of terms of one column and tables over bins.
    inputs : array-like or DataFrame of shape (m, d), or dict or list of distributions
        Rows, in the columns that the model is given: each column is distributed as its entries are,
        and **independent of the others**, whatever the rows say. Or for each column a frozen
        distribution of ``scipy.stats``, continuous or discrete, or an array of values, of which
        each counts as often as it occurs; by the columns' names (x0, x1, … where the model knows
        none) or in their order.
    groups : dict of str to columns, optional
        Columns that are one input, as in `Explainer`.
    weights : array-like of shape (m,), optional
        The weights of rows, not negative; equal if not given.
    feature_names : sequence of str of length d, optional
        Names of the columns, as in `Explainer`; distributions and groups are given by these names.
    order : {1, 2}, default 1
        With 2, the second-order indices of pairs are computed as well.
    uncertainty : int, default 0
        For a Gaussian process, the number of posterior draws, at least 20, such as 100. The result
        has the indices of each draw as `draws`, and intervals. See the notes.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        The seed of these draws; nothing else is random.
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
        If a column of the inputs is constant (its indices are 0), if rounding errors of the indices
        are above 1e-6, if draws are without more than a hundredth of the posterior variance, or if
        the call is going to take more than ten seconds and does not show its progress.

    Raises
    ------
    UnsupportedModelError
        If the model is not supported, or its kernel is not a sum of products over columns; with
        ``uncertainty``, if it is not a Gaussian process with a known posterior.
    ValueError, TypeError
        If the inputs do not fit the model's columns, a distribution's variance is infinite, the
        output does not vary, or its variance is lost in rounding errors; with ``uncertainty``, if
        draws are without more than half of the posterior variance. Also if `feature_names` has not
        one name for each column.

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

    With ``uncertainty``, the latent function of the process is drawn given its training rows,
    under the kernel that was fitted: jointly at up to 500 rows of the inputs (100 if the kernel
    is a sum of many products, such as Matern), chosen where the posterior variance is largest. A
    draw is the mean of the process given these values as well: a sum of kernels at known points,
    whose indices are computed as exactly as those of the posterior mean. ``draws.left_out`` is
    the remaining share of the posterior variance. So intervals say how far the data leave the
    *function* open. They do not have the noise of observations, nor doubt about the kernel and its
    length-scales, about the distributions of inputs, or whether the process fits at all.

    References
    ----------
    A. B. Owen (2014), Sobol' indices and Shapley value, SIAM/ASA J. Uncertainty Quantification 2.
    I. M. Sobol (1993), Sensitivity estimates for nonlinear mathematical models.
    J. E. Oakley and A. O'Hagan (2004), Probabilistic sensitivity analysis of complex models, J. R.
    Statistical Society B 66: indices of draws of a Gaussian process.

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
    most = as_integer("order", order, "1, or 2 for pairs as well", least=1)
    if most > 2:
        raise ValueError(f"order must be 1, or 2 for pairs as well; got {most}")
    # Results of searches are mappings, too.
    is_table = kind_of(model) in (Kind.ARRAY, Kind.PANDAS, Kind.POLARS, Kind.SERIES)
    if is_table or type(model) in (list, tuple, dict):
        raise UnsupportedModelError(
            f"the model comes first: pkex.sensitivity(model, inputs); got a {type(model).__name__}"
        )
    adapted = adapt(model)
    verify(adapted, model, n_threads=settings.n_threads)
    owner = model.__self__ if isinstance(model, MethodType) else model
    outputs, function = Outputs.chosen(adapted, None, None)
    read = Inputs.read(inputs, weights, ModelColumns.of(adapted, feature_names))
    players = as_players(groups, read.names)
    covering = read.covering_rows()
    with read.located(covering):
        sums = products(function, covering)
    n_draws = number_of_draws(uncertainty)
    with settings.computing(progress) as how, advising(_FASTER):
        shares = (0.1, 0.9, 4.0) if n_draws else (0.1, 0.9)
        first_part, second_part, *last_part = parts_of(how.progress, *shares)
        deviations = Deviations.of(sums, read.marginals, read.names, first_part)
        worths = Worths.of(
            deviations, sums.weights, players.of_column, most, how.reporting(second_part)
        )
        notes = [*read.notes, *checked(worths, outputs.names)]
        draws = None
        if n_draws:
            computed = players.of_column, most, how.reporting(last_part[0])
            draws, more = draws_of(adapted, owner, read, n_draws, random_state, computed)
            notes += more
    indices = Indices.of(worths)

    def of_outputs(values: Any) -> Any:
        return values if values is None or outputs.names is not None else values[..., 0]

    return SensitivityResult(
        variance=indices.variance if outputs.names is not None else float(indices.variance[0]),
        shapley_effects=of_outputs(indices.shapley_effects),
        first_order=of_outputs(indices.first_order),
        total=of_outputs(indices.total),
        second_order=of_outputs(indices.second_order),
        draws=draws,
        _names=players.names,
        _outputs=outputs.names,
        _explained=f"{adapted.title} of {type(owner).__name__}",
        _inputs=read.description,
        notes=tuple(notes),
    )
