"""The Hilbert–Schmidt independence criterion: which features carry a dependence.

HSIC = Σ_ab w_ab k(x_a, x_b), the weights w made of the target's kernel by centring. Every pair of
rows is a product game, so that with γ_j its value of player j, φ_j = Σ_ab w_ab γ_j(x_a, x_b)
(M. Mohammadi, S. L. Chau, K. Muandet, PKeX-Shapley, Theorem 8 and Proposition 9).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex import _core
from pkex.execution.progress import Progress, parts_of, reporting
from pkex.games.players import Players, as_players
from pkex.inputs.arrays import read_only
from pkex.inputs.choices import (
    SIDES,
    Estimator,
    Side,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import Kernel
from pkex.kernels.factors import FAMILIES
from pkex.kernels.heuristic import evenly_random
from pkex.statistics.attribution import Parts
from pkex.statistics.common import Conventions, in_units, with_kernel
from pkex.statistics.normaliser import Normaliser
from pkex.statistics.octets import MOST_GROUPS, Octets, exchanged_sums, rounding_scale
from pkex.statistics.pair_sums import (
    KernelTerms,
    pair_matrix,
    pair_sums,
    pair_triangle,
    total,
)
from pkex.statistics.permutations import (
    as_generator,
    can_permute_rows,
    check_fits,
    check_n_permutations,
    permuted_sums,
    share_of_same_orders,
    warn_of_few_relabellings,
)
from pkex.statistics.results import HSICResult
from pkex.statistics.samples import as_sample, check_row_count
from pkex.statistics.significance import Relabelled, Significance
from pkex.statistics.standard_errors import hsic_errors, within_sample
from pkex.statistics.targets import as_target
from pkex.typing import Float, Report

__all__ = ["hsic"]

# Rows that standard errors are estimated on.
_SAMPLE = 1000


@with_known_keywords
def hsic(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: Kernel | None = None,
    target_kernel: Kernel | None = None,
    estimator: Estimator = "biased",
    value_function: StatisticsConvention = "marginal",
    attribute: Side = "x",
    groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
    n_permutations: int = 0,
    random_state: Any = None,
    summation: Summation = "compensated",
    n_jobs: int | None = -1,
    progress: Progress = False,
) -> HSICResult:
    """Divide the dependence between data and a target among features, exactly.

    HSIC is 0 in the limit exactly if X and y are independent (for Gaussian kernels). A coalition of
    features is worth the HSIC of these features with y, and the value of a feature is its Shapley
    value in this game; the values add up to HSIC. The cost grows as n² d, the memory only as the
    data.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n, d)
    y : array-like, Series, DataFrame or sparse matrix of shape (n,) or (n, dy)
        Numbers, or labels: strings, booleans, categories. Integers are numbers; give
        ``target_kernel=pkex.kernels.Categorical()`` if they are labels (of two values it is the
        same up to a factor).
    kernel : pkex.kernels.Kernel, optional
        Of X. By default ``pkex.kernels.median_heuristic(X)``: RBF of columns in units of their
        standard deviation, with the median distance between rows as length-scale: of all rows up
        to 2000, of a fixed subsample of 2000 beyond; ``result.bandwidth`` says which.
    target_kernel : pkex.kernels.Kernel, optional
        Of y. By default like `kernel` for numbers, and 1 or 0 for equal or different labels;
        ``result.target_kernel`` and ``result.target_bandwidth`` say which.
    estimator : {"biased", "unbiased"}, default "biased"
        tr(KHLH) / (n − 1)², which is a small positive number without dependence and shrinks as
        1/n, or that of Song et al. (2012), which may be negative.
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
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Of the permutations; equal seeds give equal results.
    summation, n_jobs, progress
        As in `mmd`.

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
        numbers) or labels most of which occur once, or so few relabellings differ that p-values
        cannot be as small as permutations would allow.

    Notes
    -----
    Standard errors are those of the values as estimates for the distribution, at the given kernels;
    beyond 1000 rows they are estimated on a fixed subsample of 1000. The hypothesis of
    ``alone_pvalues[j]`` is that feature j and y are independent; that of ``pvalue`` and
    ``feature_pvalues`` that X and y are.

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
    chosen = Conventions(estimator, value_function, summation, n_jobs)
    check_choice("attribute", attribute, SIDES)
    n_permutations = check_n_permutations(n_permutations)
    generator = as_generator(random_state)
    table = as_sample(X, "X")
    if estimator == "unbiased":
        check_row_count(table.rows, "X", 4, " for the unbiased estimator")
    check_row_count(table.rows, "X", 2)
    target = as_target(y, target_kernel, len(table.rows))
    rows, used, bandwidth = with_kernel(table.rows, table.names, "X", kernel)
    # Kept by the result, whatever the caller does with X and y.
    x: Float = read_only(rows)
    y_rows: Float = read_only(target.rows)

    names = table.names if attribute == "x" else target.names
    players = as_players(groups, names)
    x_terms, x_unit = in_units(KernelTerms.of(used, _players(x, players, attribute == "x")))
    y_terms, y_unit = in_units(
        KernelTerms.of(target.kernel, _players(y_rows, players, attribute == "y"))
    )
    x_side, y_side, unit = (x, x_terms), (y_rows, y_terms), x_unit * y_unit
    sides = (x_side, y_side) if attribute == "x" else (y_side, x_side)
    with reporting(progress) as report:
        (attributed, terms), other = sides
        terms, report = chosen.with_means(terms, attributed, report)
        sides = (attributed, terms), other
        reports = _reports(report, len(x), terms.n_players, n_permutations)
        problem = _Problem.of(*sides, estimator, summation, chosen.n_threads, reports)
        parts = _attributed(problem, n_permutations, generator).times(unit)
    return HSICResult(
        parts.values,
        parts.standard_errors,
        parts.alone,
        players.names,
        used,
        bandwidth,
        estimator,
        value_function,
        parts.significance,
        target.kernel,
        target.bandwidth,
        attribute,
        len(x),
        Normaliser(sides, unit, estimator, chosen.n_jobs),
    )


def _players(rows: Float, players: Players, is_attributed: bool) -> Players:
    """Return the players, or those of a side that is not attributed: its columns."""
    if is_attributed:
        return players
    d = rows.shape[1]
    return Players(tuple(f"{j}" for j in range(d)), np.arange(d, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class _Problem:
    """An HSIC to compute: the attributed side, and the other one with its centring.

    The weight of the ordered pair a, b is `scale` · (l_ab − offsets_a − offsets_b + constant) with
    l = L − L(0); `sample` are the rows that standard errors are estimated on.
    """

    rows: Float
    terms: KernelTerms
    targets: Float
    target_terms: KernelTerms
    offsets: Float
    constant: float
    scale: float
    is_biased: bool
    sample: NDArray[np.intp]
    summation: str
    n_threads: int
    reports: dict[str, Report | None]

    @classmethod
    def of(
        cls,
        attributed: tuple[Float, KernelTerms],
        other: tuple[Float, KernelTerms],
        estimator: str,
        summation: str,
        n_threads: int,
        reports: dict[str, Report | None],
    ) -> _Problem:
        """Centre the kernel of the other side by its row sums.

        They are those of L − L(0): centring loses the constant, but L near L(0) would lose digits.
        """
        targets, terms = other
        n = len(targets)
        centring = pair_sums(
            targets, n, terms.joined(), n_threads=n_threads, progress=reports["centring"]
        )
        sums = centring.rows[:, 0, 0]
        if estimator == "biased":
            offsets = sums / n
            constant, scale = math.fsum(offsets) / n, 1.0 / (n - 1.0) ** 2
        else:
            offsets = sums / (n - 2.0)
            constant, scale = math.fsum(offsets) / (n - 1.0), 1.0 / (n * (n - 3.0))
        return cls(
            *attributed,
            targets,
            terms,
            offsets,
            constant,
            scale,
            estimator == "biased",
            evenly_random(n, _SAMPLE),
            summation,
            n_threads,
            reports,
        )

    def arranged(self, order: NDArray[np.int64]) -> _Problem:
        """Return the same problem with its rows in another order."""
        return replace(
            self,
            rows=self.rows[order],
            targets=self.targets[order],
            offsets=self.offsets[order],
            sample=np.argsort(order)[self.sample],
        )

    def sums(
        self, groups: NDArray[np.int64] | None = None, exchanges: bool = False
    ) -> tuple[Float, Float, Float]:
        """Return sums over pairs: rows (n, 2, P), groups (G(G+1)/2, 1 or 64, ·), alone (P,).

        Groups' sums, if there are groups, are those of the values, then of features alone.
        """
        return _core.hsic_sums(
            self.rows,
            self.terms.terms,
            self.terms.players,
            self.targets,
            self.target_terms.terms,
            self.offsets,
            self.constant,
            self.terms.absent,
            np.zeros(len(self.rows), dtype=np.int64) if groups is None else groups,
            exchanges=exchanges,
            alone_in_groups=groups is not None,
            summation=self.summation,
            n_threads=self.n_threads,
            progress=self.reports["sums"],
        )

    def projections(self, rows: Float) -> Float:
        """Return for the sampled rows a the mean over all c of Γ_ac L̃_ac, both doubly centred.

        It is n Σ_c (Γ_ac − g_c) w_ac, g the means of the rows of Γ. The weights of a row add up to
        0, so that g may be taken from any origin.
        """
        n, sample = len(rows), self.sample
        means = rows[:, 1] / (n if self.is_biased else n - 2.0)
        means = np.ascontiguousarray(means - means.mean(axis=0))
        target = self.target_terms.joined()
        kernel = _core.Expansion(self.targets, means, target.terms, target.players)
        products = kernel.explain(
            np.ascontiguousarray(self.targets[sample]),
            game="neutral",
            method="quadrature",
            summation="compensated",
            n_threads=self.n_threads,
            progress=self.reports["projections"],
        )[:, 0]
        products -= (self.offsets[:, None] * means).sum(axis=0)
        own = (self.constant - 2.0 * self.offsets[sample])[:, None]
        if self.is_biased:
            products -= own * self.terms.self_pair()
        else:
            products -= own * means[sample]
        projections: Float = n * self.scale * (rows[sample, 0] - products)
        return projections

    def on_the_diagonal(self) -> list[Float]:
        """Return Σ_a w_aa γ_aa, and Σ_a w_aa v_aa({j}), which no relabelling changes; 2 × (P,)."""
        weight = 0.0
        if self.is_biased:
            weight = self.scale * math.fsum(self.constant - 2.0 * self.offsets)
        return [weight * self.terms.self_pair(), weight * self.terms.self_pair_alone()]

    def second_order(self) -> Float:
        """Return the mean square of Γ L̃ over pairs of independent rows, on some of them."""
        factor = (float(len(self.rows)) ** 2 * self.scale) ** 2
        means = []
        for side, terms, report in (
            (self.rows, self.terms, self.reports["sample"]),
            (self.targets, self.target_terms.joined(), self.reports["targets of the sample"]),
        ):
            sample = np.ascontiguousarray(side[self.sample])
            sums = pair_sums(sample, len(sample), terms, n_threads=self.n_threads, progress=report)
            means.append(within_sample(sums.squares[0], sums.rows[:, 0]))
        product: Float = factor * means[0] * means[1]
        return product

    def weight_matrix(self) -> Float:
        """Return the weights of all pairs (n, n); of few rows."""
        kernel = pair_matrix(self.targets, self.target_terms.joined(), self.n_threads)[:, :, 0]
        weights: Float = self.scale * (
            kernel - self.offsets[:, None] - self.offsets + self.constant
        )
        return weights


def _reports(
    report: Report | None, n: int, n_players: int, n_permutations: int
) -> dict[str, Report | None]:
    """Return the reports of a problem's passes over pairs, by what they cost."""
    n_sample = min(n, _SAMPLE)
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


def _attributed(problem: _Problem, n_permutations: int, generator: np.random.Generator) -> Parts:
    n, n_players = len(problem.rows), problem.terms.n_players
    check_fits(n_permutations, n_players)
    octets = None
    if n_permutations and not can_permute_rows(n, n_players, n_permutations):
        octets = Octets.drawn(n, 2 * n_players, generator)
        problem = problem.arranged(octets.order)
        rows, groups, alone = problem.sums(octets.groups, exchanges=True)
    else:
        rows, groups, alone = problem.sums()
    tested = None
    if octets is not None:
        tested = _tested_in_octets(problem, octets, groups, n_permutations, generator)
    elif n_permutations:
        tested = _tested_row_by_row(problem, n_permutations, generator)
    diagonals = problem.on_the_diagonal()
    return Parts(
        problem.scale * total(rows[:, 0]) + diagonals[0],
        2.0 * problem.scale * alone + diagonals[1],
        hsic_errors(problem.projections(rows), problem.second_order(), n),
        tested,
    )


def _tested_in_octets(
    problem: _Problem,
    octets: Octets,
    groups: Float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Significance:
    """Let groups of octets of rows exchange their targets, by sums over pairs of groups."""
    same = octets.share_of_same(problem.rows, problem.targets)
    warn_of_few_relabellings(n_permutations, same)
    exchanges = np.zeros((n_permutations + 1, octets.n_groups), dtype=np.uint8)
    exchanges[1:] = octets.relabelled(n_permutations, generator)
    # Of ordered pairs.
    report = problem.reports["relabelling"]
    sums = 2.0 * problem.scale * exchanged_sums(groups, exchanges, report)
    sums += np.concatenate(problem.on_the_diagonal())
    scale = 2.0 * problem.scale * rounding_scale(groups)
    return _of_both(sums, scale)


def _tested_row_by_row(
    problem: _Problem, n_permutations: int, generator: np.random.Generator
) -> Significance:
    """Permute the targets of few rows, all pairs of which fit into memory."""
    sides = ((problem.rows, problem.terms), (problem.targets, problem.target_terms))
    same = max(share_of_same_orders(rows, _are_labels(rows, terms)) for rows, terms in sides)
    warn_of_few_relabellings(n_permutations, same)
    n, n_threads = len(problem.rows), problem.n_threads
    values = pair_triangle(problem.rows, problem.terms, n_threads, with_alone=True)
    weights = problem.weight_matrix()
    report = problem.reports["relabelling"]
    sums = permuted_sums(weights, values, n_permutations, generator, n_threads, report)
    sums *= 2.0
    sums += np.concatenate(problem.on_the_diagonal())
    scale = 2.0 * np.abs(weights[np.triu_indices(n)]) @ np.abs(values)
    return _of_both(sums, scale)


def _of_both(sums: Float, scale: Float) -> Significance:
    """Test relabelled values (1 + B, 2P), each feature's, then each alone, of rounding scales."""
    of_both = zip(np.split(sums, 2, axis=1), np.split(scale, 2), strict=True)
    return Significance.of(*(Relabelled(*of) for of in of_both))


def _are_labels(rows: Float, terms: KernelTerms) -> bool:
    """Whether a kernel says no more of rows than whether they are equal."""
    families = {FAMILIES[family] for _, factors in terms.terms for family, _, _ in factors}
    compare_labels = [family.compares_labels for family in families]
    return rows.shape[1] == 1 and bool(compare_labels) and all(compare_labels)
