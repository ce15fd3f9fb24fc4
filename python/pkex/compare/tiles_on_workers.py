"""Sums over pairs of rows, whose tiles joblib's workers compute where they were switched on.

A worker returns the plain sums of its tiles, and these are added here, one tile after the other, as
threads' are: the bits are the same. All rows travel to the workers with each piece of work, and
some kilobytes come back for each tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.backends import Workers
from pkex.execution.computation import Computation
from pkex.typing import Float

__all__ = ["sums_over_pairs"]

# Rows of which there are enough pairs to be worth the way, many seconds of one core.
_MANY_ROWS = 20_000
# Tiles of a piece of work, and pieces that each worker has before the next ones are handed out.
_OF_PIECE, _OF_WORKER = 256, 4

# Rows, terms, players, absent factors and groups; and what pairs weigh: see `_core.tile_sums`.
_Sample: TypeAlias = tuple[Float, list[Any], NDArray[np.int64], Float | None, NDArray[np.int64]]
_Weighting: TypeAlias = tuple[Any, ...]


def sums_over_pairs(
    sample: _Sample, weighting: _Weighting, how: Computation, *, alone_in_groups: bool
) -> tuple[Float, Float, Float, Float]:
    """Return sums over pairs: of rows, of groups (·, weights, ·), alone and squares."""
    rows = sample[0]
    if how.workers is None or len(rows) < _MANY_ROWS:
        return _core.pair_sums(
            sample,
            weighting,
            univariate_in_groups=alone_in_groups,
            summation=how.summation,
            n_threads=how.n_threads,
            progress=how.progress,
        )
    work = partial(_tile_sums, sample, weighting, alone_in_groups)
    return _core.sums_of_parts(
        sample,
        weighting,
        partial(_parts, how.workers, work, how),
        univariate_in_groups=alone_in_groups,
        summation=how.summation,
    )


def _tile_sums(
    sample: _Sample, weighting: _Weighting, alone_in_groups: bool, tiles: tuple[int, int]
) -> Float:
    return _core.tile_sums(sample, weighting, univariate_in_groups=alone_in_groups, tiles=tiles)


def _parts(
    workers: Workers, work: partial[Float], how: Computation, n_tiles: int
) -> Iterator[Float]:
    """Yield the sums of all tiles, piece after piece."""
    pieces = [(start, min(start + _OF_PIECE, n_tiles)) for start in range(0, n_tiles, _OF_PIECE)]
    at_once = _OF_WORKER * workers.number
    for first in range(0, len(pieces), at_once):
        some = pieces[first : first + at_once]
        for part in workers.map(work, some):
            # What comes over a network may lie at an odd address.
            yield np.require(part, requirements=("C_CONTIGUOUS", "ALIGNED"))
        if how.progress is not None:
            how.progress(some[-1][1], n_tiles)
