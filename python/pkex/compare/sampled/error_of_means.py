"""The contribution of the mean factors of absent features to the variance of values.

In the marginal convention, values are polynomials in the mean factors b, which are estimated from
the reference only. The error of b affects all values, for any number of pairs. It also affects
features that do not differ, if another feature does. Disjoint parts of the reference give
independent means. The variance of the values with these means, divided by their number, is to first
order the variance of the values with the means of the whole reference. All are computed from the
same few rows of the design, whose errors cancel in differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.pairs.pair_sums import total
from pkex.compare.sampled.block_sums import BlockStatistic
from pkex.compare.sampled.budget import pairs_among
from pkex.compare.sampled.design import Design
from pkex.execution.backends import Threads, Workers
from pkex.typing import Float

# Largest number of parts of the reference, and smallest number of rows of each.
_PARTS, _ROWS = 32, 32
# Smallest number of groups of rows, and their share of the design's pairs.
_MIN_GROUPS, _PAIR_SHARE = 32, 1 / 256


def terms_of_parts(terms: KernelTerms, reference: Float, n_threads: int) -> list[KernelTerms]:
    """Return terms with means from disjoint parts of the reference; empty without means."""
    if terms.absent is None or terms.n_players == 1:
        return []
    n_parts = min(_PARTS, len(reference) // _ROWS)
    return [
        terms.with_means(np.ascontiguousarray(reference[part::n_parts]), n_threads)
        for part in range(n_parts)
    ]


class MeansSample:
    """Groups of rows from the parts of a design, kept while the parts are read.

    Parameters
    ----------
    design : Design
    unit : tuple of int
        Numbers of rows of each sample in the smallest block.
    """

    def __init__(self, design: Design, unit: tuple[int, ...]) -> None:
        self.sizes = tuple(min(size, 2 * u) for size, u in zip(design.sizes, unit, strict=True))
        max_groups = min(
            design.n_blocks * size // group_size
            for size, group_size in zip(design.sizes, self.sizes, strict=True)
        )
        n_groups = max(
            _MIN_GROUPS, int(_PAIR_SHARE * design.n_pairs / pairs_among(sum(self.sizes)))
        )
        self._n_groups = max(1, min(max_groups, n_groups // design.n_parts))
        self._step = max(1, design.n_parts * self._n_groups // n_groups)
        self.groups: list[tuple[Float, ...]] = []

    def collect(self, parts: Iterable[tuple[Float, ...]]) -> Iterator[tuple[Float, ...]]:
        """Yield the parts, and keep some of their rows."""
        for part, rows in enumerate(parts):
            if part % self._step == 0:
                self.groups.extend(self._group(rows, number) for number in range(self._n_groups))
            yield rows

    def _group(self, rows: tuple[Float, ...], number: int) -> tuple[Float, ...]:
        """Return some of the rows of a part, which are in random order."""
        shuffled_rows = [sample.reshape(-1, sample.shape[-1]) for sample in rows]
        places = [slice(number * size, (number + 1) * size) for size in self.sizes]
        return tuple(
            sample_rows[place].copy()
            for sample_rows, place in zip(shuffled_rows, places, strict=True)
        )


def with_error_of_means(
    errors: Float,
    statistics: Sequence[BlockStatistic],
    sample: MeansSample,
    workers: Threads | Workers,
) -> Float:
    """Return standard errors (2P,) that include the error of the means.

    Parameters
    ----------
    errors : ndarray of shape (2P,)
        Standard errors for fixed means.
    statistics : list of callables
        The sums of a block with the means of each part of the reference.
    """
    if not statistics:
        return errors
    numbers = workers.map(partial(_numbers, statistics), sample.groups)
    means = np.array([total(np.array(sums)) for sums in zip(*numbers, strict=True)])
    variances = (means / len(sample.groups)).var(axis=0, ddof=1) / len(statistics)
    total_errors: Float = np.sqrt(errors**2 + variances)
    return total_errors


def _numbers(statistics: Sequence[BlockStatistic], samples: tuple[Float, ...]) -> list[Float]:
    """Return the numbers of a group of rows with the means of each part of the reference."""
    return [statistic(*samples).numbers for statistic in statistics]
