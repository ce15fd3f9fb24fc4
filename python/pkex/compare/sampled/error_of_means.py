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
from pkex.compare.sampled.block_sums import OfBlock
from pkex.compare.sampled.budget import pairs_among
from pkex.compare.sampled.design import Design
from pkex.execution.backends import Threads, Workers
from pkex.typing import Float

# Largest number of parts of the reference, and smallest number of rows of each.
_PARTS, _ROWS = 32, 32
# Smallest number of groups of rows, and their share of the design's pairs.
_LEAST, _SHARE = 32, 1 / 256


def of_parts_of_reference(
    terms: KernelTerms, reference: Float, n_threads: int
) -> list[KernelTerms]:
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
        most = min(
            design.n_blocks * size // own
            for size, own in zip(design.sizes, self.sizes, strict=True)
        )
        wanted = max(_LEAST, int(_SHARE * design.n_pairs / pairs_among(sum(self.sizes))))
        self._of_part = max(1, min(most, wanted // design.n_parts))
        self._step = max(1, design.n_parts * self._of_part // wanted)
        self.kept: list[tuple[Float, ...]] = []

    def of(self, parts: Iterable[tuple[Float, ...]]) -> Iterator[tuple[Float, ...]]:
        """Yield the parts, and keep some of their rows."""
        for part, rows in enumerate(parts):
            if part % self._step == 0:
                self.kept.extend(self._of_rows(rows, number) for number in range(self._of_part))
            yield rows

    def _of_rows(self, rows: tuple[Float, ...], number: int) -> tuple[Float, ...]:
        """Return some of the rows of a part, which are in random order."""
        flat = [of_sample.reshape(-1, of_sample.shape[-1]) for of_sample in rows]
        places = [slice(number * size, (number + 1) * size) for size in self.sizes]
        return tuple(of[place].copy() for of, place in zip(flat, places, strict=True))


def with_error_of_means(
    errors: Float, of_parts: Sequence[OfBlock], sample: MeansSample, run: Threads | Workers
) -> Float:
    """Return standard errors (2P,) that include the error of the means.

    Parameters
    ----------
    errors : ndarray of shape (2P,)
        Standard errors for fixed means.
    of_parts : list of callables
        The sums of a block with the means of each part of the reference.
    """
    if not of_parts:
        return errors
    numbers = run.map(partial(_numbers, of_parts), sample.kept)
    means = np.array([total(np.array(of_part)) for of_part in zip(*numbers, strict=True)])
    variances = (means / len(sample.kept)).var(axis=0, ddof=1) / len(of_parts)
    both: Float = np.sqrt(errors**2 + variances)
    return both


def _numbers(of_parts: Sequence[OfBlock], samples: tuple[Float, ...]) -> list[Float]:
    """Return the numbers of a group of rows with the means of each part of the reference."""
    return [of_block(*samples).numbers for of_block in of_parts]
