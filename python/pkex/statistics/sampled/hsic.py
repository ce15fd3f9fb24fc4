"""HSIC of large samples, by the pairs of a design: the mean of unbiased HSIC of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.execution.progress import reporting
from pkex.games.players import Players, as_players
from pkex.inputs.choices import Side
from pkex.inputs.wording import shown
from pkex.kernels import Kernel
from pkex.statistics.common import Conventions, exact_domain, in_units, with_kernel
from pkex.statistics.hsic_problem import HSICProblem
from pkex.statistics.hsic_result import HSICResult
from pkex.statistics.hsic_significance import tested_by_exchanges
from pkex.statistics.kernel_choice import check_rows
from pkex.statistics.octets import OCTET, Octets
from pkex.statistics.pair_sums import KernelTerms
from pkex.statistics.permutations import check_fits
from pkex.statistics.sampled.blocks import BlockSums, OfBlock
from pkex.statistics.sampled.budget import Sampling
from pkex.statistics.sampled.design import Design, n_reference
from pkex.statistics.sampled.estimate_over_design import estimate_over_design
from pkex.statistics.sampled.held_rows import Sample
from pkex.statistics.sampled.means import of_parts_of_reference
from pkex.statistics.sampled.reference import with_rare
from pkex.statistics.targets import Target, as_target
from pkex.tables.encode import Encoding, Missing
from pkex.tables.stream import JoinedStreams, RowStream, is_file, read_sources
from pkex.typing import Float, Report

__all__ = ["sampled_hsic"]

# Slots, whose octets exchange targets alike.
_SLOTS = 8
_UNIT = (_SLOTS * OCTET,)
# What messages call the reference.
_PART = "a random part of X"
# What an HSIC reports the progress of; blocks report none.
_SILENT: dict[str, Report | None] = dict.fromkeys(["centring", "sums", "relabelling"])


def sampled_hsic(
    X: Any,
    y: Any,
    kernels: tuple[Kernel | None, Kernel | None],
    attribute: Side,
    groups: Mapping[str, int | str | Iterable[int | str]] | None,
    chosen: Conventions,
    sampling: Sampling,
    categorical: Iterable[int | str] | None,
    missing: Missing,
) -> HSICResult:
    """Estimate `pkex.hsic` from the pairs of a design; the arguments are as there, and checked."""
    joined = _Joined.of(X, y, kernels[1], categorical, missing)
    players = as_players(groups, joined.names if attribute == "x" else joined.target_names)
    check_fits(sampling.n_permutations, len(players.names))
    sample, reference = joined.arranged(kernels[0], sampling)
    x, target = joined.of_reference(reference, kernels[1])
    _, used, bandwidth = with_kernel(x, joined.names, _PART, kernels[0], joined.encoding.labels)
    sides = [
        _Side.of(joined.columns, sample, used, joined.encoding, players, attribute == "x"),
        _Side.of(joined.targets, sample, target.kernel, target.encoding, players, attribute == "y"),
    ]
    attributed, other = sides if attribute == "x" else sides[::-1]
    with reporting(sampling.progress) as report:
        terms, how = chosen.with_means(attributed.terms, attributed.rows(reference), None)
        with_means = replace(attributed, terms=terms)
        statistic = _OfBlock(with_means, other, bool(sampling.n_permutations), how.alone())
        found = estimate_over_design(
            statistic, (sample,), reference, _UNIT, sampling, how, report, together=OCTET
        )
    of_all = found.parts
    if sampling.n_permutations:
        octets = _octets(_UNIT[0])
        tested = tested_by_exchanges(
            octets, found.groups, 0.0, sampling.n_permutations, sampling.generator, None
        )
        of_all = replace(of_all, significance=tested)
    fields = of_all.times(attributed.unit * other.unit).fields(
        players.names,
        used,
        bandwidth,
        sampling.estimator,
        chosen.value_function,
        joined.encoding.columns,
    )
    return HSICResult(
        *fields,
        target.kernel,
        target.bandwidth,
        attribute,
        joined.source.n_rows,
        None,
        n_pairs=found.design.n_pairs,
    )


@dataclass(frozen=True, eq=False)
class _Joined:
    """Rows of data and targets beside each other.

    Parameters
    ----------
    source : RowStream
    columns, targets : ndarray of int
        Which columns are data, and which targets.
    names, target_names : tuple of str
    encoding : Encoding
        Of the data.
    target : Target, optional
        If all of them are there; else their kernel is found on the reference.
    kind : type
        What a target in a file is.
    """

    source: RowStream
    columns: NDArray[np.intp]
    targets: NDArray[np.intp]
    names: tuple[str, ...]
    target_names: tuple[str, ...]
    encoding: Encoding
    target: Target | None = None
    kind: type = float

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        target_kernel: Kernel | None,
        categorical: Iterable[int | str] | None,
        missing: Missing,
    ) -> _Joined:
        """Read data and targets: a target may be a column of the file that X is in."""
        (source,), names, encoding = read_sources(
            {"X": X}, categorical, missing, compares_names=False
        )
        if not (is_file(X) and isinstance(y, str)):
            target = as_target(y, target_kernel, source.n_rows, missing)
            beside = JoinedStreams(source, target.rows)
            columns, targets = np.split(np.arange(beside.n_columns), [source.n_columns])
            return cls(beside, columns, targets, names, target.names, encoding, target)
        if y not in names or len(names) < 2:
            raise ValueError(
                f"y must be a column of X, beside others; got {y!r}, and X has {shown(names)}"
            )
        targets = np.array([names.index(y)])
        columns = np.delete(np.arange(len(names)), targets)
        others = tuple(name for name in names if name != y)
        kind = source.whole.get(y, float)
        return cls(source, columns, targets, others, (y,), Encoding.plain(others), kind=kind)

    def arranged(self, kernel: Kernel | None, sampling: Sampling) -> tuple[Sample, Float]:
        """Put the rows into a random order; return them, and those that are in no pair."""
        n = self.source.n_rows
        Design.check(sampling, (n,), _UNIT)
        check = partial(_check_chunk, kernel, self.columns[: len(self.names)])
        sample = Sample.of(self.source, check, n_reference(n, n), sampling.generator)
        names = dict(zip(self.columns.tolist(), self.names, strict=False))
        return sample, with_rare(sample.reference, sample.extremes, names, _PART)

    def of_reference(self, rows: Float, target_kernel: Kernel | None) -> tuple[Float, Target]:
        """Return the data of some rows, and the target with its kernel."""
        x = np.ascontiguousarray(rows[:, self.columns])
        if self.target is not None:
            return x, self.target
        return x, as_target(rows[:, self.targets].astype(self.kind), target_kernel, len(rows))


def _check_chunk(kernel: object, columns: NDArray[np.intp], rows: Float) -> None:
    check_rows(kernel, {"X": rows[:, columns]}, len(columns))


@dataclass(frozen=True, eq=False)
class _Side:
    """The data or the targets.

    Parameters
    ----------
    columns : ndarray of int
        Where they are in the rows of both.
    kernel : Kernel
    terms : KernelTerms
    unit : float
        What the kernel is divided by in these.
    """

    columns: NDArray[np.intp]
    kernel: Kernel
    terms: KernelTerms
    unit: float

    @classmethod
    def of(
        cls,
        columns: NDArray[np.intp],
        sample: Sample,
        kernel: Kernel,
        encoding: Encoding,
        players: Players,
        is_attributed: bool,
    ) -> _Side:
        """Expand a kernel over the players, or over the columns of a side without players."""
        if is_attributed:
            players = players.with_copies(encoding.flagged)
        else:
            numbers = np.arange(len(columns), dtype=np.int64)
            players = Players(tuple(map(str, numbers)), numbers)
        domain = exact_domain(sample.extremes[:, columns])
        terms, unit = in_units(KernelTerms.of(kernel, players, domain))
        return cls(columns, kernel, terms.for_estimator("unbiased"), unit)

    def rows(self, both: Float) -> Float:
        """Return the columns of this side, as the engine compares them."""
        return self.kernel.engine_rows(np.ascontiguousarray(both[:, self.columns]))


@dataclass(frozen=True, eq=False)
class _OfBlock:
    """What a block gives: the unbiased HSIC of its rows, divided among players.

    Parameters
    ----------
    attributed, other : _Side
    is_tested : bool
        Whether sums over pairs of slots are needed for a test.
    how : Computation
    """

    attributed: _Side
    other: _Side
    is_tested: bool
    how: Computation

    def with_parts_of(self, reference: Float, n_threads: int) -> list[OfBlock]:
        """Return the same with the means of each of some parts of the reference."""
        side = self.attributed
        others = of_parts_of_reference(side.terms, side.rows(reference), n_threads)
        sides = [replace(side, terms=other) for other in others]
        return [replace(self, attributed=side, is_tested=False) for side in sides]

    def __call__(self, *samples: Float) -> BlockSums:
        (rows,) = samples
        problem = HSICProblem.of(
            (self.attributed.rows(rows), self.attributed.terms),
            (self.other.rows(rows), self.other.terms),
            "unbiased",
            self.how,
            _SILENT,
        )
        groups = _octets(len(rows)).groups if self.is_tested else None
        of_rows, of_groups, alone = problem.sums(groups, exchanges=self.is_tested)
        # Of ordered pairs.
        numbers = [problem.scale * of_rows[:, 0].sum(axis=0), 2.0 * problem.scale * alone]
        of_groups = 2.0 * problem.scale * of_groups if self.is_tested else np.zeros(0)
        return BlockSums(np.concatenate(numbers), of_groups)


def _octets(n_rows: int) -> Octets:
    """Return a block's rows as slots of octets, all of which exchange targets."""
    places = np.arange(n_rows, dtype=np.int64)
    return Octets(places, places * _SLOTS // n_rows, _SLOTS)
