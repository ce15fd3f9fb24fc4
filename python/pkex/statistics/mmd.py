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

from pkex.execution.computation import Computation
from pkex.execution.progress import Progress, reporting
from pkex.functions.descriptions import KernelExpansion
from pkex.functions.encoded import EncodedKernelSum
from pkex.games.players import as_players
from pkex.inputs.choices import (
    ESTIMATORS,
    SAMPLED_ESTIMATORS,
    Estimator,
    SampledEstimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.kernels import Kernel
from pkex.statistics.block_significance import tested
from pkex.statistics.column_changes import column_changes
from pkex.statistics.common import Conventions, exact_domain, in_units, with_kernel
from pkex.statistics.copied_rows import warn_of_copied_rows
from pkex.statistics.dependence import DependenceTest
from pkex.statistics.doubtful_columns import warn_of_doubtful_columns
from pkex.statistics.encoded_columns import EncodedColumns
from pkex.statistics.kernel_choice import check_rows, chosen_kernel
from pkex.statistics.mmd_result import MMDResult
from pkex.statistics.pair_sums import KernelTerms, PairSums, pair_sums, total
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.permutations import (
    check_fits,
    check_n_permutations,
    two_sample_blocks,
    warn_of_few_relabellings,
)
from pkex.statistics.sampled.budget import (
    Budget,
    Sampling,
    check_budget,
    warn_of_all_pairs,
)
from pkex.statistics.sampled.mmd import sampled_mmd
from pkex.statistics.standard_errors import between_samples, within_sample
from pkex.statistics.statistic_result import Parts
from pkex.statistics.unusual_rows import warn_of_unusual_rows
from pkex.statistics.weights import RowWeights, weight_of_pairs
from pkex.tables.encode import Missing, categorical_columns
from pkex.tables.samples import two_samples
from pkex.tables.stream import refuse_files
from pkex.typing import Float

__all__ = ["mmd", "witness"]


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
    """Divide the difference between two samples among features, exactly.

    The squared maximum mean discrepancy MMD² is 0 in expectation, by its unbiased estimator, if
    both samples come from one distribution. A coalition of features is worth the MMD² that these
    features alone show, and the value of a feature is its Shapley value in this game; the values
    add up to MMD². The cost grows as (n + m)² d, the memory only as the data.

    Parameters
    ----------
    X, Y : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d) and (m, d)
        The samples, of at least two rows each. Columns of a DataFrame may hold text, categories and
        truth values, which are labels, and dates and durations, which become days. The estimators
        "incomplete" and "block" also take the path of a Parquet file of numbers, or of a directory
        of such, and Dask's collections of numbers, and read memory-mapped arrays as they are: 512
        MB of rows are held at a time.
    kernel : pkex.kernels.Kernel, optional
        By default a `pkex.kernels.OrthogonalANOVA` of both samples: a product over columns, each
        centered and compared in its own units, so that changes of single columns and of their
        dependence are seen alike. ``pkex.kernels.median_heuristic(X, Y)`` is one Gaussian kernel of
        all columns. A given kernel works on the columns as they are numbered, and must not subtract
        labels.
    estimator : {"unbiased", "biased", "incomplete", "block"}, default "unbiased"
        Whether averages within a sample leave out (may be negative) or include the pairs of a row
        with itself (never negative; where nothing differs a small positive number that shrinks as
        1/n). Of more rows than all pairs of which can be compared, the last two estimate what the
        first does from some pairs, chosen at random: see Notes.
    value_function : {"marginal", "neutral"}, default "marginal"
        What the factor of an absent feature is: its mean over all pairs of rows of the pooled
        sample, so that a feature which neither differs nor is associated with one that does has
        the value 0 in expectation of the unbiased estimator; or 1, as if all rows agreed in it (the
        paper's). In both, no features at all have the value 0. With the default kernel both are
        the same.
    groups : dict of str to columns, optional
        Columns, by name or number, that act as one player; a column in no group is its own.
    weights : tuple of two array-likes of shape (n,) and (m,), optional
        Non-negative weights of the rows; None for equal ones. Rows of weight 0 are left out. The
        weights are in the averages of the statistic, not in the default kernel or the marginal
        convention's means. Standard errors are None then, and permutations an error.
    n_permutations : int, default 0
        Number of relabellings for p-values, drawn at random; 0 for none. Samples of more than 128
        rows together are permuted in random blocks, 32 to 128 of them. At most 10⁸ / P.
    budget : int, datetime.timedelta or None, default None
        How many pairs of rows the estimators "incomplete" and "block" compare, at most; or about
        how long they may take. By default 10⁸, and 100 for each row if that is more; of "block" as
        many as blocks of √n rows have. ``result.n_pairs`` is the number.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Of the permutations and of the choice of pairs; equal seeds give equal results, but with a
        budget of time.
    summation : {"compensated", "plain"}, default "compensated"
        How sums over pairs are formed. Compensated, rounding errors do not grow with their number.
    n_jobs : int, default -1
        Number of threads, as in `Explainer`. Results do not depend on it.
    progress : bool or callable, default False
        True shows a progress bar (needs tqdm); a callable gets (done, total).
    categorical : list of columns, optional
        Columns, by name or number, that are compared as labels although they hold numbers, such as
        codes of classes. Text, categories and truth values in a DataFrame always are.
    missing : {"error", "indicator"}, default "error"
        What to do about missing numbers and dates: refuse them; or put the median of the others in
        their place, and also compare where entries are missing, as part of the same feature.
        Missing labels are a label of their own in both.

    Returns
    -------
    MMDResult
        With ``values`` in units of the kernel, which has none.

    Raises
    ------
    ValueError, TypeError
        If samples are not finite tables with the same columns and two rows, all their rows are
        equal and no kernel is given, or an option has an unknown value. Errors name the column that
        holds entries of several kinds or of others than the other sample's, dates with a time zone,
        missing or infinite numbers, or nothing.

    Warns
    -----
    UserWarning
        If columns are constant, or vary by rounding only, a given kernel is nearly 0 or 1 between
        almost all rows, one column makes up nearly all distances in it, so few relabelings differ
        that p-values cannot be as small as permutations would allow, or rows that seem to be copies
        make p-values too small.

    See Also
    --------
    witness : The function whose values tell which rows differ.
    MMDDrift : Compare many batches with one reference sample.

    Notes
    -----
    ``pvalue`` tests the hypothesis that both samples come from one distribution. It combines two
    tests by the same permutations: ``statistic_pvalue``, of the statistic, which finds changes of
    many columns and of their dependence, and ``univariate_pvalue``, of the largest standardized
    `alone`, which finds a change of one column among many. Its level is exact.

    Standard errors are those of the values as estimates for the distributions, at the given kernel.
    The hypothesis of ``alone_pvalues[j]`` is that feature j is distributed alike in both samples:
    it answers whether this feature changed. That of ``feature_pvalues`` is that the two
    distributions are equal in all; a small ``feature_pvalues[j]`` says that they differ, and
    that feature j shows it.

    The estimators "incomplete" and "block" divide rows at random into blocks, and compare those of
    a block: small blocks, made anew in several rounds, or larger ones, once. The kernel, if it is
    not given, and the means of the marginal convention are found on at most 10,000 rows that are in
    no block, so that the values are unbiased for these, and p-values exact. Standard errors are
    those of means over parts of the data that share no rows. Samples must have some thousand rows;
    of one that is over seven times as large as the other, not all rows are used.

    References
    ----------
    A. Gretton et al. (2012), A kernel two-sample test, JMLR 13. W. Zaremba, A. Gretton, M. Blaschko
    (2013), B-tests. A. Schrab et al. (2022), Efficient aggregated kernel tests using incomplete
    U-statistics. M. Mohammadi, S. L. Chau,
    K. Muandet, Computing exact Shapley values in polynomial time for product-kernel methods
    (PKeX-Shapley), Proposition 7.

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
    check_choice("estimator", estimator, (*ESTIMATORS, *SAMPLED_ESTIMATORS))
    n_permutations = check_n_permutations(n_permutations)
    budget = check_budget(budget, estimator)
    generator = as_generator(random_state)
    if estimator == "incomplete" or estimator == "block":
        if weights is not None:
            raise ValueError(f"estimator={estimator!r} takes no weights; leave them out")
        chosen = Conventions("unbiased", value_function, summation, n_jobs)
        sampling = Sampling(estimator, budget, n_permutations, generator, progress)
        return sampled_mmd(X, Y, kernel, groups, chosen, sampling, categorical, missing)
    chosen = Conventions(estimator, value_function, summation, n_jobs)
    if weights is not None and n_permutations:
        raise ValueError(
            "n_permutations cannot be combined with weights: weighted rows are not exchangeable"
        )
    refuse_files({"X": X, "Y": Y}, estimator)
    of_x, of_y, encoding = two_samples(X, Y, categorical, missing)
    x, y, names = of_x.rows, of_y.rows, of_x.names
    check_rows(kernel, {"X": x, "Y": y}, len(names))
    of_rows = None if weights is None else RowWeights.of(weights, len(x), len(y))
    if of_rows is not None:
        x, y = x[of_rows.kept[0]], y[of_rows.kept[1]]
    warn_of_doubtful_columns(x, encoding.columns, categorical_columns(categorical, names), "X")
    if n_permutations:
        for rows, name in ((x, "X"), (y, "Y")):
            warn_of_copied_rows(rows, len(encoding.columns), name)
    changes = column_changes([x], [y], encoding)
    players = as_players(groups, names)
    pooled, used, bandwidth = with_kernel(
        np.concatenate([x, y]), names, "X and Y", kernel, encoding.labels
    )
    sizes = {"X": len(x), "Y": len(y)}
    warn_of_unusual_rows(used, pooled, sizes, "MMD²", is_biased=estimator == "biased")
    encoded = players.with_copies(encoding.flagged)
    terms, unit = in_units(KernelTerms.of(used, encoded, exact_domain(pooled)))
    terms = terms.for_estimator(estimator)
    compared = used.engine_rows(pooled)
    warn_of_all_pairs(compared, terms, chosen.computation())
    with reporting(progress) as report:
        terms, how = chosen.with_means(terms, compared, report)
        if of_rows is not None:
            first, second = np.split(compared, [len(x)])
            parts = _weighted(first, second, of_rows, terms, estimator, how)
        else:
            parts = _unweighted(compared, len(x), terms, estimator, n_permutations, generator, how)
    fields = parts.times(unit).fields(
        players.names, used, bandwidth, estimator, value_function, encoding.columns
    )
    dependence = DependenceTest.of(x, y, encoding, n_permutations, generator)
    return MMDResult(*fields, (len(x), len(y)), column_changes=changes, _dependence=dependence)


@with_known_keywords
def witness(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    kernel: Kernel | None = None,
    categorical: Iterable[int | str] | None = None,
    missing: Missing = "error",
) -> KernelExpansion:
    """Return the function that tells rows of two samples apart: mean k(·, X) − mean k(·, Y).

    It is large where X has more rows than Y, and negative where Y has more. Its mean over X minus
    that over Y is the biased MMD²; `Explainer` says which features make it large at a row. In the
    neutral convention the biased values of `mmd` are the mean of its explanations over X minus that
    over Y.

    Parameters
    ----------
    X, Y : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d) and (m, d)
    kernel, categorical, missing
        As in `mmd`.

    Returns
    -------
    KernelExpansion
        With the names of the columns, if they have any. Where columns hold more than numbers, its
        `predict` and an `Explainer` take tables with the same columns; `points` are what rows
        became, a column for each of the table and one for each in which entries may be missing.

    Raises
    ------
    ValueError, TypeError
        As `mmd`.

    Examples
    --------
    >>> import pkex
    >>> f = pkex.witness([[0.0], [1.0]], [[4.0], [5.0]], kernel=pkex.kernels.RBF())
    >>> f.predict([[0.5], [4.5]]).round(2)
    array([ 0.88, -0.88])
    >>> pkex.Explainer(f, value_function="neutral").shap_values([[0.5]]).round(2)
    array([[0.88]])
    """
    of_x, of_y, encoding = two_samples(X, Y, categorical, missing)
    x, y, names = of_x.rows, of_y.rows, of_x.names
    check_rows(kernel, {"X": x, "Y": y}, len(names))
    pooled = np.concatenate([x, y])
    used, _ = chosen_kernel(kernel, pooled, names, "X and Y", labels=encoding.labels)
    signs = np.repeat([1.0 / len(x), -1.0 / len(y)], [len(x), len(y)])
    if encoding.is_plain:
        shown = of_x.labels.names or of_y.labels.names
        return KernelExpansion(pooled, signs, used, feature_names=shown)
    labels = of_x.labels if of_x.labels.columns else of_y.labels
    columns = EncodedColumns(encoding, replace(labels, rows=None))
    return KernelExpansion._of(EncodedKernelSum(pooled, signs, used, columns))


def _unweighted(
    pooled: Float,
    n: int,
    terms: KernelTerms,
    estimator: Estimator,
    n_permutations: int,
    generator: np.random.Generator,
    how: Computation,
) -> Parts:
    """Attribute MMD² of the first n rows and the others, and test it."""
    m = len(pooled) - n
    blocks = None
    if n_permutations:
        check_fits(n_permutations, terms.n_players)
        blocks = two_sample_blocks(n, m, terms.n_players, n_permutations, generator)
        pooled = pooled[blocks.order]
        warn_of_few_relabellings(n_permutations, blocks.share_of_same(pooled))
    sums = pair_sums(
        pooled,
        n,
        terms,
        None if blocks is None else blocks.groups,
        alone_in_groups=blocks is not None,
        how=how,
    )
    weights = PairWeights.of(estimator, n, m)
    diagonals = [weights.self_pairs * g for g in (terms.self_pair(), terms.self_pair_alone())]
    values = weights.combine(_by_class(sums, n)) + diagonals[0]
    alone = weights.combine(sums.alone) + diagonals[1]
    significance = None
    if blocks is not None:
        significance = tested(sums.groups, blocks, weights, diagonals, n_permutations, generator)
    return Parts(values, alone, _errors(sums, n, weights), significance)


def _by_class(sums: PairSums, n: int) -> Float:
    """Return sums over unordered pairs (3, P), from those of the rows."""
    first, second = sums.rows[:n], sums.rows[n:]
    return np.array([total(first[:, 0]) / 2.0, total(first[:, 1]), total(second[:, 1]) / 2.0])


def _errors(sums: PairSums, n: int, weights: PairWeights) -> Float:
    first, second = sums.rows[:n], sums.rows[n:]
    return weights.errors(
        (first[:, 0], first[:, 1]),
        (second[:, 1], second[:, 0]),
        (n, len(second)),
        (
            within_sample(sums.squares[0], first[:, 0]),
            between_samples(sums.squares[1], first[:, 1], second[:, 0]),
            within_sample(sums.squares[2], second[:, 1]),
        ),
    )


def _weighted(
    x: Float,
    y: Float,
    weights: RowWeights,
    terms: KernelTerms,
    estimator: Estimator,
    how: Computation,
) -> Parts:
    """Attribute MMD² of weighted samples, with the means Σ w w′ k."""
    v, w = weights.weights
    if estimator == "biased":
        of_pairs = PairWeights(1.0, 1.0, 1.0, math.fsum(v**2) + math.fsum(w**2))
    else:
        of_pairs = PairWeights(1.0 / weight_of_pairs(v, "X"), 1.0 / weight_of_pairs(w, "Y"), 1.0)
    sums = pair_sums(
        np.concatenate([x, y]),
        len(x),
        terms,
        weights=np.concatenate([v, w]),
        how=how,
    )
    values = of_pairs.combine(_by_class(sums, len(x))) + of_pairs.self_pairs * terms.self_pair()
    alone = of_pairs.combine(sums.alone) + of_pairs.self_pairs * terms.self_pair_alone()
    if estimator == "unbiased" and terms.have_own_pairs:
        for rows, u in ((x, v), (y, w)):
            # What γ(a, a)/2 and γ(b, b)/2, less in each pair, do not cancel: with unequal weights
            # Σ_{a≠b} u_a u_b (f_a + f_b)/(1 − Σu²) differs from 2 Σ u_a f_a.
            lacking = u * (math.fsum(u**2) - u) / weight_of_pairs(u, "X")
            own = terms.self_pairs(rows)
            values += (lacking[:, None] * own[0]).sum(axis=0)
            alone += (lacking[:, None] * own[1]).sum(axis=0)
    return Parts(values, alone)
