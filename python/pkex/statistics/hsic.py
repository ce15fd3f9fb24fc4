"""The Hilbert–Schmidt independence criterion: which features carry a dependence.

HSIC = Σ_ab w_ab k(x_a, x_b), the weights w made of the target's kernel by centring. Every pair of
rows is a product game, so that with γ_j its value of player j, φ_j = Σ_ab w_ab γ_j(x_a, x_b)
(M. Mohammadi, S. L. Chau, K. Muandet, PKeX-Shapley, Theorem 8 and Proposition 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.execution.progress import Progress, parts_of, reporting
from pkex.inputs.arrays import read_only
from pkex.inputs.choices import (
    SIDES,
    Estimator,
    SampledEstimator,
    Side,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import Kernel
from pkex.statistics.chosen_kernel import given_kernel
from pkex.statistics.comparison import Comparison, StatisticValues, exact_domain
from pkex.statistics.copied_rows import warn_of_copied_rows
from pkex.statistics.hsic_problem import SAMPLE, HSICProblem
from pkex.statistics.hsic_result import HSICResult
from pkex.statistics.hsic_significance import significance_in_octets, significance_row_by_row
from pkex.statistics.kernel_terms import KernelRows
from pkex.statistics.normaliser import Normaliser
from pkex.statistics.octets import MOST_GROUPS, Octets
from pkex.statistics.pair_sums import total
from pkex.statistics.permutations import can_permute_rows
from pkex.statistics.sampled.budget import Budget, warn_of_all_pairs
from pkex.statistics.sampled.hsic import sampled_hsic
from pkex.statistics.standard_errors import hsic_errors
from pkex.statistics.statistic_options import Conventions, StatisticOptions
from pkex.statistics.targets import as_target
from pkex.statistics.unusual_rows import warn_of_unusual_rows
from pkex.tables.encode import Missing
from pkex.tables.samples import check_row_count, read_samples
from pkex.tables.stream import refuse_files
from pkex.typing import Report

__all__ = ["hsic"]


@with_known_keywords
def hsic(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: Kernel | None = None,
    target_kernel: Kernel | None = None,
    estimator: Estimator | SampledEstimator | None = None,
    value_function: StatisticsConvention = "marginal",
    attribute: Side = "x",
    groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
    n_permutations: int = 0,
    budget: Budget = None,
    random_state: Any = None,
    summation: Summation = "compensated",
    n_jobs: int | None = -1,
    progress: Progress = False,
    categorical: Iterable[int | str] | None = None,
    missing: Missing = "error",
) -> HSICResult:
    """Divide the dependence between data and a target among features, exactly.

    HSIC is 0 in the limit exactly if X and y are independent (for Gaussian kernels). A coalition of
    features is worth the HSIC of these features with y, and the value of a feature is its Shapley
    value in this game; the values add up to HSIC. The cost grows as n² d, the memory only as the
    data.

    Parameters
    ----------
    X : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d)
        Of a DataFrame text, categories and truth values are labels, and dates become days.
        The estimators "incomplete" and "block" also take the path of a Parquet file, or of a
        directory of such, as `mmd`; `y` may be the name of a column in it.
    y : array-like, Series, DataFrame or sparse matrix of shape (n,) or (n, dy)
        Numbers, dates, or labels: strings, booleans, categories. Integers are numbers; give
        ``target_kernel=pkex.kernels.Categorical()`` if they are labels (of two values it is the
        same up to a factor).
    kernel : pkex.kernels.Kernel, optional
        Of X. By default a `pkex.kernels.OrthogonalANOVA` of X, as in `mmd`.
    target_kernel : pkex.kernels.Kernel, optional
        Of y. By default ``pkex.kernels.median_heuristic(y)`` for numbers, a Gaussian kernel, and 1
        or 0 for equal or different labels;
        ``result.target_kernel`` and ``result.target_bandwidth`` say which.
    estimator : {"biased", "unbiased", "incomplete", "block"}, optional
        "biased" is tr(KHLH) / (n − 1)², a small positive number without dependence that shrinks as
        1/n. "unbiased" is the estimator of Song et al. (2012), 0 on average without dependence. By
        default it is "biased" with a `kernel`, as in the papers, and "unbiased" with the default
        kernel, of d columns, whose pairs of a row with itself would add some e^√d/n to the biased
        one. "incomplete" and "block" estimate the unbiased statistic from blocks of rows, as in
        `mmd`, where there are too many rows to compare all pairs.
    value_function : {"marginal", "neutral"}, default "marginal"
        What the factor of an absent feature is: its mean over all pairs of rows, so that a feature
        which neither depends on the target nor goes together with one that does is worth 0 in
        expectation of the unbiased estimator, and biased a small positive number that shrinks as
        1/n; or 1, as if all rows agreed in it (the paper's).
    attribute : {"x", "y"}, default "x"
        Whose columns share the statistic.
    groups : dict of str to columns, optional
        Columns of X (of y with ``attribute="y"``), by name or number, that act as one player; a
        column in no group is its own.
    n_permutations : int, default 0
        Number of relabellings B for p-values, drawn at random; 0 for none. Up to 64 rows the
        targets are permuted; up to 128 if n² P ≤ 8·10⁶; and up to 512 if n² P B ≤ 1.7·10¹⁰ as well,
        as with 512 rows, P = 20 features and B = 3000. Else rows put in octets at random exchange
        theirs, which has nearly the same power beyond some hundred rows. At most 10⁸ / P.
    budget : int, datetime.timedelta or None, default None
        As in `mmd`.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Of the permutations and of the choice of pairs; equal seeds give equal results, but with a
        budget of time.
    summation, n_jobs, progress
        As in `mmd`.
    categorical, missing
        As in `mmd`: `categorical` of columns of X, `missing` of both. Missing labels of y are
        refused as well, or with ``missing="indicator"`` a label of their own.

    Returns
    -------
    HSICResult

    Raises
    ------
    ValueError, TypeError
        If X is not a finite numeric table, X and y have different lengths, there are fewer than two
        rows (four for the unbiased estimator), all rows of X are equal and no kernel is given, or
        an option has an unknown value.

    Warns
    -----
    UserWarning
        If columns are constant, or vary by rounding only, outliers hide a column in a default
        kernel, a kernel is nearly 0 or 1 between almost all rows, one column makes up nearly all
        distances in a given kernel, y holds integers of few different values (which are taken for
        numbers) or labels most of which occur once, so few relabellings differ that p-values cannot
        be as small as permutations would allow, or rows that seem to be copies make p-values too
        small.

    Notes
    -----
    Standard errors are those of the values as estimates for the distribution, at the given kernels;
    beyond 1000 rows they are estimated on a fixed subsample of 1000. The hypothesis of
    ``alone_pvalues[j]`` is that feature j and y are independent; that of ``pvalue`` and
    ``feature_pvalues`` that X and y are.

    The estimators "incomplete" and "block" average the unbiased HSIC of blocks of rows, divided at
    random as in `mmd`; their tests exchange targets within octets of each block. They have no `r2`.

    To NumPy a result is its values, so that `hsic` is a score function of scikit-learn's selectors:
    ``SelectKBest(pkex.hsic)``.

    References
    ----------
    A. Gretton et al. (2005), Measuring statistical dependence with Hilbert–Schmidt norms. L. Song
    et al. (2012), Feature selection via dependence maximization, JMLR 13. M. Mohammadi, S. L. Chau,
    K. Muandet, Computing exact Shapley values in polynomial time for product-kernel methods
    (PKeX-Shapley), Proposition 9.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> result = pkex.hsic(X, np.abs(X[:, 2]), n_permutations=199, random_state=0)
    >>> result.feature_names[int(result.values.argmax())]
    'x2'
    >>> result.pvalue
    0.005
    """
    if estimator is None:
        estimator = "unbiased" if kernel is None else "biased"
    check_choice("attribute", attribute, SIDES)
    conventions = Conventions(estimator, value_function, summation, n_jobs)
    options = StatisticOptions(
        conventions, n_permutations, budget, random_state, progress, groups, categorical, missing
    )
    of_pairs = sampled_hsic if options.is_sampled else _hsic_of_all_pairs
    return of_pairs(X, y, (kernel, target_kernel), attribute, options)


def _hsic_of_all_pairs(
    X: ArrayLike,
    y: ArrayLike,
    kernels: tuple[Kernel | None, Kernel | None],
    attribute: Side,
    options: StatisticOptions,
) -> HSICResult:
    """Compute `hsic`, whose options are checked."""
    conventions, is_x = options.conventions, attribute == "x"
    refuse_files({"X": X}, conventions.estimator)
    (table,), encoding = read_samples(
        {"X": X}, options.categorical, options.missing, compares_names=False
    )
    rows, n, d = table.rows, len(table.rows), len(encoding.names)
    if conventions.estimator == "unbiased":
        check_row_count(rows, "X", 4, " for the unbiased estimator")
    check_row_count(rows, "X", 2)
    given = given_kernel(kernels[0], d, X=rows)
    target = as_target(y, kernels[1], n, options.missing)
    players = options.players(encoding.names if is_x else target.encoding.names)
    if options.n_permutations:
        both = np.column_stack([target.rows, rows])
        warn_of_copied_rows(both, target.rows.shape[1] + d, "X and y")
    rows, of_x = Comparison.prepare(
        rows, encoding, players, given, conventions, "X", is_divided=is_x
    )
    domain = exact_domain(target.rows)
    of_y = Comparison.of(
        target.chosen, target.encoding, players, conventions, domain, is_divided=not is_x
    )
    warn_of_unusual_rows(of_x.kernel, rows, {"X": n}, "HSIC", is_biased=conventions.is_biased)
    # Kept by the result, whatever the caller does with X and y.
    x = KernelRows(read_only(of_x.kernel.engine_rows(rows)), of_x.terms)
    targets = KernelRows(read_only(target.rows), of_y.terms)
    attributed, other = (x, targets) if is_x else (targets, x)
    warn_of_all_pairs(attributed.rows, attributed.terms, conventions.computation())
    with reporting(options.progress) as report:
        divided, how = (of_x if is_x else of_y).with_means(attributed.rows, report)
        attributed = replace(attributed, terms=divided.terms)
        reports = _reports(how.progress, n, len(players), options.n_permutations)
        problem = HSICProblem.of(
            attributed, other, how.reporting(None), reports, is_biased=conventions.is_biased
        )
        values = _divided(problem, options)
    return HSICResult(
        **of_x.fields(values, of_y.unit),
        target_kernel=of_y.kernel,
        target_bandwidth=of_y.bandwidth,
        attribute=attribute,
        n_rows=n,
        normaliser=Normaliser(attributed, other, of_x.unit * of_y.unit, conventions),
    )


def _reports(
    report: Report | None, n: int, n_players: int, n_permutations: int
) -> dict[str, Report | None]:
    """Return the reports of a problem's passes over pairs, by what they cost."""
    n_sample = min(n, SAMPLE)
    # A pair's value is multiplied some twenty times as fast as it is found; sums of pairs of groups
    # are looked up four times as fast.
    relabelling = 0.25 * MOST_GROUPS**2
    if can_permute_rows(n, n_players, n_permutations):
        relabelling = 0.05 * n**2
    costs = {
        "centring": 2.0 * n**2,
        "sums": float(n_players) * n**2,
        "relabelling": relabelling * n_players * n_permutations,
        "projections": 0.5 * n_players * n * n_sample,
        "sample": float(n_players) * n_sample**2,
        "targets of the sample": 2.0 * n_sample**2,
    }
    return dict(zip(costs, parts_of(report, *costs.values()), strict=True))


def _divided(problem: HSICProblem, options: StatisticOptions) -> StatisticValues:
    """Divide HSIC among players, and test it."""
    n, n_players = len(problem.offsets), problem.attributed.terms.n_players
    n_permutations, generator = options.n_permutations, options.random_state
    octets = None
    if n_permutations and not can_permute_rows(n, n_players, n_permutations):
        octets = Octets.drawn(n, 2 * n_players, generator)
        problem = problem.arranged(octets.order)
        rows, groups, alone = problem.sums(octets.groups, exchanges=True)
    else:
        rows, groups, alone = problem.sums()
    tested = None
    if octets is not None:
        tested = significance_in_octets(problem, octets, groups, n_permutations, generator)
    elif n_permutations:
        tested = significance_row_by_row(problem, n_permutations, generator)
    own = problem.on_the_diagonal()
    return StatisticValues(
        problem.scale * total(rows[:, 0]) + own[0],
        2.0 * problem.scale * alone + own[1],
        hsic_errors(problem.projections(rows), problem.second_order(), n),
        tested,
    )
