"""The Hilbert–Schmidt independence criterion, attributed to features.

HSIC = Σ_ab w_ab k(x_a, x_b), where w is the centered kernel matrix of the target. Every pair of
rows is a product game with values γ_j of players j, so φ_j = Σ_ab w_ab γ_j(x_a, x_b)
(M. Mohammadi, S. L. Chau, K. Muandet, PKeX-Shapley, Theorem 8 and Proposition 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.compare.comparison import Comparison, StatisticValues, exact_domain
from pkex.compare.data_warnings import warn_of_duplicate_rows, warn_of_unusual_rows
from pkex.compare.kernel.sample_kernel import check_user_kernel
from pkex.compare.kernel.target import as_target
from pkex.compare.kernel.terms import KernelRows
from pkex.compare.pairs.hsic_problem import SAMPLE, HSICProblem
from pkex.compare.pairs.normalizer import Normalizer
from pkex.compare.pairs.pair_sums import total
from pkex.compare.pairs.standard_errors import hsic_errors
from pkex.compare.permutation.hsic_test import (
    can_permute_rows,
    significance_in_blocks,
    significance_row_by_row,
)
from pkex.compare.permutation.target_blocks import MAX_GROUPS, TargetBlocks
from pkex.compare.results.hsic import HSICResult
from pkex.compare.sampled.budget import Budget, warn_of_all_pairs
from pkex.compare.sampled.hsic import sampled_hsic
from pkex.compare.statistic_options import Conventions, StatisticOptions
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
from pkex.tables.encode import Missing
from pkex.tables.labels import check_same_rows, row_labels
from pkex.tables.samples import check_row_count, read_samples
from pkex.tables.stream import check_in_memory
from pkex.typing import Report


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
    """Attribute the dependence between data and a target (HSIC) to features, exactly.

    HSIC is 0 in the limit if and only if X and y are independent (for Gaussian kernels). The value
    of a coalition of features is the HSIC of these features with y; ``values`` are the Shapley
    values of this value function and add up to HSIC. The run time grows as n² d, the memory as the
    data.

    Parameters
    ----------
    X : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d)
        The features. In a DataFrame, text, categories and booleans are compared as categories, and
        dates are converted to days. The estimators "incomplete" and "block" also accept the path of
        a Parquet file or of a directory of Parquet files, as in `mmd`; `y` may then be the name of
        one of its columns.
    y : array-like, Series, DataFrame or sparse matrix of shape (n,) or (n, dy)
        The target: numbers, dates, or class labels (strings, booleans, categories). Integers are
        compared as numbers; pass ``target_kernel=pkex.kernels.Categorical()`` if they are class
        labels (for two classes, the result is the same up to a factor).
    kernel : pkex.kernels.Kernel, optional
        Kernel of X. By default a `pkex.kernels.OrthogonalANOVA` of X, as in `mmd`.
    target_kernel : pkex.kernels.Kernel, optional
        Kernel of y. By default ``pkex.kernels.median_heuristic(y)``, a Gaussian kernel, for
        numbers, and 1 for equal and 0 for different class labels; ``result.target_kernel`` and
        ``result.target_bandwidth`` describe it.
    estimator : {"biased", "unbiased", "incomplete", "block"}, optional
        "biased" is tr(KHLH) / (n − 1)²; without dependence it is a small positive number that
        shrinks as 1/n. "unbiased" is the estimator of Song et al. (2012), with mean 0 without
        dependence. The default is "biased" with a `kernel`, as in the papers, and "unbiased" with
        the default kernel, for which the pairs of a row with itself would add about e^√d/n to the
        biased estimator. "incomplete" and "block" estimate the unbiased statistic from blocks of
        rows, as in `mmd`, for data with too many rows to compare all pairs.
    value_function : {"marginal", "neutral"}, default "marginal"
        The kernel factor of an absent feature. "marginal": its mean over all pairs of different
        rows, so that a feature that neither depends on the target nor is associated with one that
        does has expected value 0 under the unbiased estimator (under the biased one, a small
        positive value that shrinks as 1/n). "neutral": 1, as if all rows had the same value (the
        papers' convention).
    attribute : {"x", "y"}, default "x"
        The side whose columns the statistic is attributed to.
    groups : dict of str to columns, optional
        Columns of X (of y with ``attribute="y"``), by name or number, that act as one player; each
        column in no group is a player.
    n_permutations : int, default 0
        Number B of random permutations for p-values; 0 for no test. Targets are permuted row by row
        for up to 64 rows; for up to 128 rows if n² P ≤ 8·10⁶; and for up to 512 rows if also
        n² P B ≤ 1.7·10¹⁰, such as 512 rows, P = 20 features and B = 3000. Otherwise targets are
        permuted within random blocks of eight rows, with nearly the same power beyond some hundred
        rows. At most 10⁸ / P for P players.
    budget : int, datetime.timedelta or None, default None
        As in `mmd`.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of the permutations and of the choice of pairs. Equal seeds give equal results, except
        with a time budget.
    summation, n_jobs, progress
        As in `mmd`.
    categorical, missing
        As in `mmd`: `categorical` refers to columns of X, `missing` to X and y. Missing class
        labels of y raise an error, or are a class of their own with ``missing="indicator"``.

    Returns
    -------
    HSICResult

    Raises
    ------
    ValueError, TypeError
        If X is not a finite table, X and y have different lengths, there are fewer than two rows
        (four for the unbiased estimator), all rows of X are equal and `kernel` is None, or an
        option has an unknown value.

    Warns
    -----
    UserWarning
        If columns are constant or near-constant; if outliers mask a column in the default kernel;
        if a kernel is nearly 0 or 1 between almost all rows, or one column dominates its distances;
        if y holds integers of few different values, which are compared as numbers, or class labels
        that mostly occur once; if there are too few distinct permutations for p-values as small as
        `n_permutations` allows; or if apparent copies of rows make p-values too small.

    Notes
    -----
    Standard errors describe the sampling error of the values, for fixed kernels; beyond 1000 rows
    they are estimated on a fixed subsample of 1000. The hypothesis of ``alone_pvalues[j]`` is that
    feature j and y are independent; the hypothesis of ``pvalue`` and ``feature_pvalues`` is that X
    and y are independent.

    The estimators "incomplete" and "block" average the unbiased HSIC of random blocks of rows, as
    in `mmd`; their tests permute targets within groups of eight rows. They do not support `r2`.

    A result converts to the array of its values, so that `hsic` is a score function for
    scikit-learn's selectors: ``SelectKBest(pkex.hsic)``.

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
    compute = sampled_hsic if options.is_sampled else _compute_hsic
    return compute(X, y, (kernel, target_kernel), attribute, options)


def _compute_hsic(
    X: ArrayLike,
    y: ArrayLike,
    kernels: tuple[Kernel | None, Kernel | None],
    attribute: Side,
    options: StatisticOptions,
) -> HSICResult:
    """Compute `hsic` over all pairs of rows, with checked options."""
    conventions, is_x = options.conventions, attribute == "x"
    check_in_memory({"X": X}, conventions.estimator)
    (table,), encoding = read_samples(
        {"X": X}, options.categorical, options.missing, compares_names=False
    )
    rows, n, d = table.rows, len(table.rows), len(encoding.names)
    if conventions.estimator == "unbiased":
        check_row_count(rows, "X", 4, " for the unbiased estimator")
    check_row_count(rows, "X", 2)
    user_kernel = check_user_kernel(kernels[0], d, X=rows)
    target = as_target(y, kernels[1], n, options.missing)
    check_same_rows(row_labels(y), row_labels(X), "y", "X")
    players = options.players(encoding.names if is_x else target.encoding.names)
    if options.n_permutations:
        joint_rows = np.column_stack([target.rows, rows])
        warn_of_duplicate_rows(joint_rows, target.rows.shape[1] + d, "X and y")
    rows, comparison_x = Comparison.prepare(
        rows, encoding, players, user_kernel, conventions, "X", is_attributed=is_x
    )
    domain = exact_domain(target.rows)
    comparison_y = Comparison.of(
        target.kernel, target.encoding, players, conventions, domain, is_attributed=not is_x
    )
    warn_of_unusual_rows(
        comparison_x.kernel, rows, {"X": n}, "HSIC", is_biased=conventions.is_biased
    )
    # Copies, because the result keeps them.
    x = KernelRows(read_only(comparison_x.kernel.engine_rows(rows)), comparison_x.terms)
    targets = KernelRows(read_only(target.rows), comparison_y.terms)
    attributed_side, other_side = (x, targets) if is_x else (targets, x)
    computation = conventions.computation()
    warn_of_all_pairs(attributed_side.rows, attributed_side.terms, computation)
    with reporting(options.progress) as report:
        comparison, computation = (comparison_x if is_x else comparison_y).with_means(
            attributed_side.rows, computation.reporting(report), "X" if is_x else "y"
        )
        attributed_side = replace(attributed_side, terms=comparison.terms)
        reports = _reports(computation.progress, n, len(players), options.n_permutations)
        problem = HSICProblem.of(
            attributed_side,
            other_side,
            computation.reporting(None),
            reports,
            is_biased=conventions.is_biased,
        )
        values = _compute_values(problem, options)
    unit = comparison_x.unit * comparison_y.unit
    return HSICResult(
        **comparison_x.fields(values, comparison_y.unit),
        target_kernel=comparison_y.kernel,
        target_bandwidth=comparison_y.bandwidth,
        attribute=attribute,
        n_rows=n,
        normaliser=Normalizer(attributed_side, other_side, unit, conventions),
    )


def _reports(
    report: Report | None, n: int, n_players: int, n_permutations: int
) -> dict[str, Report | None]:
    """Return progress reports for the passes of a problem over pairs, weighted by their cost."""
    n_sample = min(n, SAMPLE)
    # Multiplying a pair's value is about twenty times as fast as computing it; looking up sums over
    # pairs of groups is about four times as fast.
    cost = 0.25 * MAX_GROUPS**2
    if can_permute_rows(n, n_players, n_permutations):
        cost = 0.05 * n**2
    costs = {
        "centering": 2.0 * n**2,
        "sums": float(n_players) * n**2,
        "permutations": cost * n_players * n_permutations,
        "projections": 0.5 * n_players * n * n_sample,
        "sample": float(n_players) * n_sample**2,
        "targets of the sample": 2.0 * n_sample**2,
    }
    return dict(zip(costs, parts_of(report, *costs.values()), strict=True))


def _compute_values(problem: HSICProblem, options: StatisticOptions) -> StatisticValues:
    """Attribute HSIC to players, and test it."""
    n, n_players = len(problem.offsets), problem.attributed_side.terms.n_players
    n_permutations, generator = options.n_permutations, options.random_state
    blocks = None
    if n_permutations and not can_permute_rows(n, n_players, n_permutations):
        blocks = TargetBlocks.draw(n, 2 * n_players, generator)
        problem = problem.reorder(blocks.order)
        rows, groups, alone = problem.sums(blocks.groups, exchanges=True)
    else:
        rows, groups, alone = problem.sums()
    significance = None
    if blocks is not None:
        significance = significance_in_blocks(problem, blocks, groups, n_permutations, generator)
    elif n_permutations:
        significance = significance_row_by_row(problem, n_permutations, generator)
    diagonal = problem.diagonal_sums()
    return StatisticValues(
        problem.scale * total(rows[:, 0]) + diagonal[0],
        2.0 * problem.scale * alone + diagonal[1],
        hsic_errors(problem.projections(rows), problem.second_order(), n),
        significance,
    )
