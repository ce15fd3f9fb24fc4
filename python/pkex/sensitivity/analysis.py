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
from pkex.games.players import as_players
from pkex.inputs.choices import Summation
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.sensitivity.deviations import Deviations
from pkex.sensitivity.indices import check_rounding, indices_by_name, indices_of
from pkex.sensitivity.inputs import Inputs
from pkex.sensitivity.result import SensitivityResult
from pkex.sensitivity.uncertainty import draws_of, number_of_draws
from pkex.sensitivity.variance_values import VarianceValues, split_computation
from pkex.tables.kinds import Kind, kind_of

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

    For independent inputs X, v(S) = Var E[f(X) | X_S] is the variance of the output that the inputs
    in S explain. Its Shapley values, divided by the variance, are the *Shapley effects*, which add
    up to 1. v({j}) is the *first-order* Sobol index of an input, and the decrease without it is the
    *total* one. Nothing is sampled: kernel models are sums of products of functions of single
    columns, so v is a sum of product games over pairs of points.

    Parameters
    ----------
    model : fitted model, bound method or KernelExpansion
        A model that `Explainer` supports, with the same explained function (for a Gaussian process,
        the mean). Its kernel must be a sum of products over columns, or a radial kernel such as
        Matern or RationalQuadratic. A TermExpansion may have terms of one column, and tables over
        bins; a ProductExpansion any factors.
    inputs : array-like or DataFrame of shape (m, d), or dict or list of distributions
        Rows in the columns of the model: each column has the distribution of its values, and is
        assumed **independent of the others**. Or, for each column, a frozen distribution of
        ``scipy.stats``, continuous or discrete, or an array of values; by the names of columns (x0,
        x1, … by default) or in their order.
    groups : dict of str to columns, optional
        Columns that are one input, as in `Explainer`.
    weights : array-like of shape (m,), optional
        Non-negative weights of rows; equal by default.
    feature_names : sequence of str of length d, optional
        Names of the columns, as in `Explainer`, also for distributions and groups.
    order : {1, 2}, default 1
        2 adds the second-order indices of pairs.
    uncertainty : int, default 0
        For a Gaussian process, the number of posterior draws, at least 20, such as 100. The result
        then has `draws`, the indices of each draw, and credible intervals. See the notes.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        The seed of these draws; nothing else is random.
    summation : {"compensated", "plain"}, default "compensated"
        The summation over pairs of points.
    n_jobs : int or None, default -1
        Number of threads, as in `Explainer`. Results do not depend on it.
    progress : bool or callable, default False
        True shows a progress bar (requires tqdm); a callable is called with (done, total).

    Returns
    -------
    SensitivityResult

    Warns
    -----
    UserWarning
        If a column of the inputs is constant (its indices are 0), rounding errors of the indices
        exceed 1e-6, draws lack more than 1 % of the posterior variance, or the call will take more
        than ten seconds without `progress`.

    Raises
    ------
    UnsupportedModelError
        If the model is not supported, or its kernel is not a sum of products over columns; with
        `uncertainty`, if it is not a Gaussian process with a known posterior.
    ValueError, TypeError
        If the inputs do not match the columns of the model, a distribution has infinite variance,
        the output is constant, or its variance is lost in rounding errors; with `uncertainty`, if
        draws lack more than half of the posterior variance. Also if `feature_names` does not have
        one name per column.

    See Also
    --------
    hsic : Dependence of a measured output on inputs, with `HSICResult.alone_r2`.

    Notes
    -----
    Time is quadratic in the number of points (times the number of terms, for sums of products) and
    linear in the number of columns. Integrals over single columns are sums over rows or quadrature
    rules, which are doubled until no mean or second moment of a factor changes by more than 1e-13.

    If coefficients are far larger than the output and cancel, as for an interpolating Gaussian
    process, rounding errors of pairs are multiplied by their squares. To measure these errors,
    first-order indices are also computed as sums of squares, in which little cancels. If the two
    differ by more than 1e-11 of the variance, the sums over pairs are repeated in twice the
    precision. The warning reports the remaining difference.

    With `uncertainty`, the latent function of the process is drawn from its posterior, with the
    fitted kernel: jointly at up to 500 rows of the inputs (100 if the kernel is a sum of many
    products, such as Matern), where the posterior variance is largest. A draw is the mean of the
    process given these values, a sum of kernels at known points, and its indices are as exact as
    the indices of the posterior mean. ``draws.left_out`` is the remaining share of the posterior
    variance. Intervals show the uncertainty of the *function* given the data. They do not include
    the noise of observations, or uncertainty about the kernel, its length-scales, the distributions
    of inputs, or the process.

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
    order = as_integer("order", order, "1, or 2 for pairs as well", least=1)
    if order > 2:
        raise ValueError(f"order must be 1, or 2 for pairs as well; got {order}")
    # Search results of scikit-learn are mappings as well, and polynomials of chaospy are arrays.
    kinds = (Kind.ARRAY, Kind.PANDAS, Kind.POLARS, Kind.SERIES)
    is_table = kind_of(model) in kinds and not callable(model)
    if is_table or type(model) in (list, tuple, dict):
        raise UnsupportedModelError(
            f"the model comes first: pkex.sensitivity(model, inputs); got a {type(model).__name__}"
        )
    adapted_model = adapt(model)
    verify(adapted_model, model, n_threads=settings.n_threads)
    owner = model.__self__ if isinstance(model, MethodType) else model
    outputs, function = Outputs.chosen(adapted_model, None, None)
    distributions = Inputs.read(inputs, weights, ModelColumns.of(adapted_model, feature_names))
    players = as_players(groups, distributions.names)
    rows = distributions.covering_rows()
    with distributions.locate_errors(rows):
        sums = function.products(rows)
    n_draws = number_of_draws(uncertainty)
    with settings.computing(progress) as computation, advising(_FASTER):
        report, *draw_reports = parts_of(computation.progress, *((1.0, 4.0) if n_draws else (1.0,)))
        first, second = split_computation(
            computation.reporting(report), sums, distributions.marginals
        )
        deviations = Deviations.of(sums, distributions.marginals, distributions.names, first)
        values = VarianceValues.of(deviations, sums.weights, players.of_column, order, second)
        notes = [*distributions.notes, *check_rounding(values, outputs.names)]
        draws = None
        if n_draws:
            draw_settings = players.of_column, order, computation.reporting(draw_reports[0])
            draws, draw_notes = draws_of(
                adapted_model, owner, distributions, n_draws, random_state, draw_settings
            )
            notes += draw_notes
    indices = indices_by_name(indices_of(values))
    if outputs.names is None:
        indices = {name: array[..., 0] for name, array in indices.items()}
        indices["variance"] = float(indices["variance"])
    return SensitivityResult(
        **{"second_order": None, **indices},
        draws=draws,
        _names=players.names,
        _outputs=outputs.names,
        _explained=f"{adapted_model.title} of {type(owner).__name__}",
        _inputs=distributions.description,
        notes=tuple(notes),
    )
