"""Maximum mean discrepancy: which features make two samples differ.

Every pair of rows of the pooled sample is a product game; with γ_j(u, v) the value of player j in
it, the unbiased estimator's values are φ_j = mean of γ_j over pairs of X + mean over pairs of Y
− 2 · mean between X and Y (M. Mohammadi, S. L. Chau, K. Muandet, PKeX-Shapley, Theorem 6 and
Proposition 7).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.compare.column_changes import column_changes
from pkex.compare.comparison import Comparison, StatisticValues
from pkex.compare.data_warnings import (
    warn_of_duplicate_rows,
    warn_of_mistyped_columns,
    warn_of_unusual_rows,
)
from pkex.compare.kernel.sample_kernel import check_user_kernel
from pkex.compare.pairs.pair_sums import pair_sums
from pkex.compare.pairs.two_sample_sums import PairWeights, TwoSampleSums
from pkex.compare.permutation.blocks import two_sample_blocks
from pkex.compare.permutation.pair_dependence import DependenceTest
from pkex.compare.permutation.permutations import warn_of_few_permutations
from pkex.compare.permutation.two_sample_test import significance_of_blocks
from pkex.compare.results.mmd import MMDResult
from pkex.compare.row_weights import RowWeights, weight_of_pairs
from pkex.compare.sampled.budget import Budget, warn_of_all_pairs
from pkex.compare.sampled.mmd import sampled_mmd
from pkex.compare.statistic_options import Conventions, StatisticOptions
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress, reporting
from pkex.inputs.choices import Estimator, SampledEstimator, StatisticsConvention, Summation
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import Kernel
from pkex.tables.encode import Missing
from pkex.tables.samples import two_samples
from pkex.tables.stream import check_in_memory
from pkex.typing import Float


@with_known_keywords
def mmd(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    kernel: Kernel | None = None,
    estimator: Estimator | SampledEstimator = "unbiased",
    value_function: StatisticsConvention = "marginal",
    groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
    weights: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    n_permutations: int = 0,
    budget: Budget = None,
    random_state: Any = None,
    summation: Summation = "compensated",
    n_jobs: int | None = -1,
    progress: Progress = False,
    categorical: Iterable[int | str] | None = None,
    missing: Missing = "error",
) -> MMDResult:
    """Attribute the squared maximum mean discrepancy of two samples to features, exactly.

    The unbiased estimator of MMD² has expectation 0 if both samples come from one distribution. The
    value of a coalition of features is the MMD² of these features; ``values`` are the Shapley
    values of this value function and add up to MMD². The run time grows as (n + m)² d, the memory
    as the data.

    Parameters
    ----------
    X, Y : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d) and (m, d)
        The samples, of at least two rows each. In a DataFrame, text, categories and booleans are
        compared as categories; dates and durations are converted to days. The estimators
        "incomplete" and "block" also accept the path of a numeric Parquet file, or of a directory
        of Parquet files, and numeric Dask collections. They read memory-mapped arrays in chunks and
        hold at most 512 MB of rows at a time.
    kernel : pkex.kernels.Kernel, optional
        By default a `pkex.kernels.OrthogonalANOVA` of both samples: a product over columns, each
        centered and scaled separately, so that it detects changes of single columns and of their
        dependence. ``pkex.kernels.median_heuristic(X, Y)`` is one Gaussian kernel of all columns. A
        kernel passed here receives the encoded columns and must not subtract category codes.
    estimator : {"unbiased", "biased", "incomplete", "block"}, default "unbiased"
        "unbiased" leaves out the pairs of a row with itself, and may be negative. "biased" includes
        them: it is never negative, and without a difference a small positive number that shrinks as
        1/n. "incomplete" and "block" estimate the unbiased statistic from randomly chosen pairs,
        for samples with too many rows to compare all pairs: see Notes.
    value_function : {"marginal", "neutral"}, default "marginal"
        The kernel factor of an absent feature. "marginal": its mean over all pairs of different
        rows of the pooled sample, so that a feature that neither differs nor is associated with one
        that does has expected value 0 under the unbiased estimator. "neutral": 1, as if all rows
        had the same value (the papers' convention). The empty coalition has the value 0 in both.
        Both are the same with the default kernel.
    groups : dict of str to columns, optional
        Columns, by name or number, that act as one player; each column in no group is a player.
    weights : tuple of two array-likes of shape (n,) and (m,), optional
        Non-negative weights of the rows; None for equal weights. Rows of weight 0 are left out. The
        weights apply to the averages of the statistic, not to the default kernel or the means of
        ``value_function="marginal"``. Weights give no standard errors and do not support
        permutations.
    n_permutations : int, default 0
        Number of random permutations for p-values; 0 for no test. Samples of more than 128 rows
        together are permuted in 32 to 128 random blocks. At most 10⁸ / P for P players.
    budget : int, datetime.timedelta or None, default None
        Largest number of pairs of rows that "incomplete" and "block" compare, or an approximate
        time limit. By default 10⁸, or 100 per row if that is more; for "block", the pairs within
        blocks of √n rows. ``result.n_pairs`` is the number of compared pairs.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of the permutations and of the choice of pairs. Equal seeds give equal results, except
        with a time budget.
    summation : {"compensated", "plain"}, default "compensated"
        Summation over pairs. With "compensated", rounding errors do not grow with their number.
    n_jobs : int, default -1
        Number of threads, as in `Explainer`. Results do not depend on it.
    progress : bool or callable, default False
        True shows a progress bar (needs tqdm); a callable gets (done, total).
    categorical : list of columns, optional
        Columns, by name or number, that are compared as categories although they hold numbers, such
        as codes. Text, categories and booleans in a DataFrame always are.
    missing : {"error", "indicator"}, default "error"
        Treatment of missing numbers and dates. "error" raises an error. "indicator" imputes the
        median and also compares where values are missing, as part of the same feature. A missing
        category is a category of its own in both.

    Returns
    -------
    MMDResult
        With ``values`` in units of the (dimensionless) kernel.

    Raises
    ------
    ValueError, TypeError
        If samples are not finite tables with the same columns and at least two rows, all their rows
        are equal and `kernel` is None, or an option has an unknown value. Errors name a column with
        mixed types, types that differ between the samples, dates with a time zone, missing or
        infinite numbers, or no values.

    Warns
    -----
    UserWarning
        If columns are constant or near-constant; if `kernel` is nearly 0 or 1 between almost all
        rows, or one column dominates its distances; if there are too few distinct permutations for
        p-values as small as `n_permutations` allows; or if apparent copies of rows make p-values
        too small.

    See Also
    --------
    witness : Function whose values show in which rows the samples differ.
    MMDDrift : Compare many batches with one reference sample.

    Notes
    -----
    ``pvalue`` tests the hypothesis that both samples come from one distribution. It combines two
    tests with the same permutations: ``statistic_pvalue``, which detects changes of many columns
    and of their dependence, and ``univariate_pvalue``, of the largest standardized `alone`, which
    detects a change of one column among many. Its level is exact.

    Standard errors describe the sampling error of the values, for a fixed kernel. The hypothesis of
    ``alone_pvalues[j]`` is that feature j has the same distribution in both samples: it answers
    whether this feature changed. The hypothesis of ``feature_pvalues`` is that the two joint
    distributions are equal; a small ``feature_pvalues[j]`` says that they differ and that feature j
    contributes.

    The estimators "incomplete" and "block" divide rows at random into blocks and compare rows
    within a block: "incomplete" uses small blocks, drawn anew in several rounds, and "block" uses
    larger blocks, once. The default kernel and the means of ``value_function="marginal"`` are
    computed on at most 10,000 rows that are in no block, so that values are unbiased for this
    kernel and p-values exact. Standard errors come from means over disjoint parts of the data.
    Samples require some thousand rows; if one is over seven times as large as the other, not all
    of its rows are used.

    References
    ----------
    A. Gretton et al. (2012), A kernel two-sample test, JMLR 13. W. Zaremba, A. Gretton, M. Blaschko
    (2013), B-tests. A. Schrab et al. (2022), Efficient aggregated kernel tests using incomplete
    U-statistics. M. Mohammadi, S. L. Chau, K. Muandet, Computing exact Shapley values in polynomial
    time for product-kernel methods (PKeX-Shapley), Proposition 7.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(100, 3)), rng.normal(size=(100, 3))
    >>> Y[:, 1] += 1.0
    >>> result = pkex.mmd(X, Y, n_permutations=199, random_state=0)
    >>> result.feature_names[int(result.values.argmax())]
    'x1'
    >>> result.pvalue
    0.005
    """
    conventions = Conventions(estimator, value_function, summation, n_jobs)
    options = StatisticOptions(
        conventions, n_permutations, budget, random_state, progress, groups, categorical, missing
    )
    if options.is_sampled:
        if weights is not None:
            raise ValueError(
                f"estimator={estimator!r} does not support weights. Omit them, or pass "
                "estimator='unbiased'"
            )
        return sampled_mmd(X, Y, kernel, options)
    if weights is not None and n_permutations:
        raise ValueError(
            "n_permutations cannot be combined with weights: weighted rows are not exchangeable. "
            "Omit one of them"
        )
    return _compute_mmd(X, Y, kernel, weights, options)


def _compute_mmd(
    X: ArrayLike,
    Y: ArrayLike,
    kernel: Kernel | None,
    weights: tuple[ArrayLike | None, ArrayLike | None] | None,
    options: StatisticOptions,
) -> MMDResult:
    """Compute `mmd` over all pairs of rows, with checked options."""
    conventions, n_permutations = options.conventions, options.n_permutations
    check_in_memory({"X": X, "Y": Y}, conventions.estimator)
    table_x, table_y, encoding = two_samples(X, Y, options.categorical, options.missing)
    x, y, names = table_x.rows, table_y.rows, encoding.names
    user_kernel, players = check_user_kernel(kernel, len(names), X=x, Y=y), options.players(names)
    row_weights = None if weights is None else RowWeights.of(weights, len(x), len(y))
    if row_weights is not None:
        x, y = x[row_weights.masks[0]], y[row_weights.masks[1]]
    warn_of_mistyped_columns(x, encoding, options.categorical, "X")
    if n_permutations:
        warn_of_duplicate_rows(x, len(names), "X")
        warn_of_duplicate_rows(y, len(names), "Y")
    rows, comparison = Comparison.prepare(
        np.concatenate([x, y]), encoding, players, user_kernel, conventions, "X and Y"
    )
    sizes, is_biased = {"X": len(x), "Y": len(y)}, conventions.is_biased
    warn_of_unusual_rows(comparison.kernel, rows, sizes, "MMD²", is_biased=is_biased)
    engine_rows = comparison.kernel.engine_rows(rows)
    computation = conventions.computation()
    warn_of_all_pairs(engine_rows, comparison.terms, computation)
    with reporting(options.progress) as report:
        comparison, computation = comparison.with_means(
            engine_rows, computation.reporting(report), "X and Y"
        )
        if row_weights is not None:
            values = _compute_weighted_values(
                engine_rows, row_weights.weights, comparison, computation
            )
        else:
            values = _compute_values(engine_rows, len(x), comparison, options, computation)
    return MMDResult(
        **comparison.fields(values),
        n_rows=(len(x), len(y)),
        column_changes=column_changes([x], [y], encoding),
        _dependence=DependenceTest.of(x, y, encoding, n_permutations, options.random_state),
    )


def _compute_values(
    rows: Float, n: int, comparison: Comparison, options: StatisticOptions, computation: Computation
) -> StatisticValues:
    """Attribute MMD² of the first n rows and the other rows to players, and test it."""
    m, terms = len(rows) - n, comparison.terms
    n_permutations, generator = options.n_permutations, options.random_state
    blocks = None
    if n_permutations:
        blocks = two_sample_blocks(n, m, terms.n_players, n_permutations, generator)
        rows = rows[blocks.order]
        warn_of_few_permutations(n_permutations, blocks.unchanged_share(rows))
    groups = None if blocks is None else blocks.groups
    sums = pair_sums(
        rows, n, terms, groups, univariate_in_groups=blocks is not None, computation=computation
    )
    weights = PairWeights.of(comparison.conventions.estimator, n, m)
    diagonal = weights.self_pairs * terms.self_pair()
    values = TwoSampleSums.of(sums, n).mmd(weights, diagonal)
    if blocks is None:
        return values
    significance = significance_of_blocks(
        sums.groups, blocks, weights, diagonal, n_permutations, generator
    )
    return replace(values, significance=significance)


def _compute_weighted_values(
    rows: Float, weights: tuple[Float, Float], comparison: Comparison, computation: Computation
) -> StatisticValues:
    """Attribute MMD² of weighted samples to players, with the means Σ w w′ k."""
    (v, w), terms = weights, comparison.terms
    n, is_biased = len(v), comparison.conventions.is_biased
    if is_biased:
        pair_weights = PairWeights(1.0, 1.0, 1.0, math.fsum(v**2) + math.fsum(w**2))
    else:
        pair_weights = PairWeights(
            1.0 / weight_of_pairs(v, "X"), 1.0 / weight_of_pairs(w, "Y"), 1.0
        )
    sums = pair_sums(rows, n, terms, weights=np.concatenate([v, w]), computation=computation)
    diagonal = pair_weights.self_pairs * terms.self_pair()
    result = TwoSampleSums.of(sums, n).mmd(pair_weights, diagonal, has_errors=False)
    if is_biased or not terms.have_self_pairs:
        return result
    values, alone = result.values, result.alone
    for name, sample, u in (("X", rows[:n], v), ("Y", rows[n:], w)):
        # The terms γ(a, a)/2 and γ(b, b)/2 subtracted from each pair do not cancel with unequal
        # weights: Σ_{a≠b} u_a u_b (f_a + f_b)/(1 − Σu²) differs from 2 Σ u_a f_a.
        factors = u * (math.fsum(u**2) - u) / weight_of_pairs(u, name)
        self_values = terms.self_pairs(sample)
        values = values + (factors[:, None] * self_values[0]).sum(axis=0)
        alone = alone + (factors[:, None] * self_values[1]).sum(axis=0)
    return StatisticValues(values, alone)
