"""Samples in random order: rows are read in chunks, and a limited number of them is held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.sampled.design import Design
from pkex.errors import Argument, InputWarning, warn
from pkex.inputs.wording import shown
from pkex.kernels.scales import Constants
from pkex.tables.stream import RowStream, counted_from
from pkex.typing import Float

_Places = NDArray[np.integer[Any]]

# Largest number of bytes of rows that are held at a time.
_MAX_BYTES = 1 << 29


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample in a random order; its first rows are the reference.

    Parameters
    ----------
    source : RowStream
    places : ndarray of int, shape (n,)
        The place of each row of the source in the random order.
    reference : ndarray of shape (n_reference, d)
        The first rows.
    extremes : ndarray of shape (2, d)
        The smallest and the largest value of each column.
    """

    source: RowStream
    places: _Places
    reference: Float
    extremes: Float

    @classmethod
    def of(
        cls,
        source: RowStream,
        check: Callable[[Float], None] | None,
        n_reference: int,
        generator: np.random.Generator,
    ) -> Sample:
        """Return a sample in random order; all chunks are read once, and passed to `check`."""
        places = generator.permutation(source.n_rows)
        if source.n_rows < 1 << 31:
            places = places.astype(np.int32)
        reference = np.empty((n_reference, source.n_columns))
        extremes = np.array([[np.inf], [-np.inf]]).repeat(source.n_columns, axis=1)
        start = 0
        for chunk, chunk_places in _chunks_with_places(source, places):
            if check is not None:
                with counted_from(start):
                    check(chunk)
            start += len(chunk)
            _put(reference, chunk, chunk_places)
            np.minimum(extremes[0], chunk.min(axis=0), out=extremes[0])
            np.maximum(extremes[1], chunk.max(axis=0), out=extremes[1])
        return cls(source, places, reference, extremes)

    def rows(self, first: int, last: int) -> Float:
        """Return the rows at places from `first` to `last`; shape (last − first, d)."""
        rows = np.empty((last - first, self.source.n_columns))
        for chunk, chunk_places in _chunks_with_places(self.source, self.places):
            _put(rows, chunk, chunk_places - first)
        return rows


def _chunks_with_places(source: RowStream, places: _Places) -> Iterator[tuple[Float, _Places]]:
    """Yield chunks of rows of a source, with their places."""
    start = 0
    for chunk in source.chunks():
        chunk_places = places[start : start + len(chunk)]
        start += len(chunk)
        if start <= len(places):
            yield chunk, chunk_places
    if start != len(places):
        raise ValueError(
            f"a sample has changed while it was read: it had {len(places)} rows, now {start}. Pass "
            "data that do not change during the call"
        )


def _put(rows: Float, chunk: Float, places: _Places) -> None:
    """Copy the rows of a chunk to their places, if these are in `rows`."""
    indices = np.flatnonzero((places >= 0) & (places < len(rows)))
    rows[places[indices]] = chunk[indices]


def parts(samples: tuple[Sample, ...], design: Design) -> Iterator[tuple[Float, ...]]:
    """Yield the rows of each part: for each sample, an array of shape (n_blocks, size, d).

    Each pass over the samples reads as many parts as fit into memory.
    """
    part_sizes = [design.n_blocks * size for size in design.sizes]
    columns = [sample.source.n_columns for sample in samples]
    n_bytes = sum(8 * rows * d for rows, d in zip(part_sizes, columns, strict=True))
    n_held = max(1, _MAX_BYTES // n_bytes)
    for start in range(0, design.n_parts, n_held):
        stop = min(start + n_held, design.n_parts)
        held_parts = [
            sample.rows(first + start * part_size, first + stop * part_size).reshape(
                stop - start, design.n_blocks, size, -1
            )
            for sample, first, size, part_size in zip(
                samples, design.n_reference, design.sizes, part_sizes, strict=True
            )
        ]
        for part in range(stop - start):
            # Copies, so that a part does not keep all held parts in memory.
            yield tuple(rows[part].copy() for rows in held_parts)
        held_parts.clear()


def with_rare_values(
    reference: Float, extremes: Float, names: Mapping[int, str], rows_name: str
) -> Float:
    """Return the reference with one value of other rows in columns that are constant in it only.

    In such a column, about one in as many rows as the reference has differs from the others, so the
    standard deviation is computed as if one row did. Extremes do not depend on the assignment of
    rows to samples, so tests are exact.

    Parameters
    ----------
    reference : ndarray of shape (k, d)
    extremes : ndarray of shape (·, d)
        The smallest and the largest values of all rows.
    names : dict of int to str
        The names of columns for the warning.
    rows_name : str
        The name of the rows in messages.
    """
    constant_columns = Constants.of(extremes).columns
    rare = [j for j in Constants.of(reference).columns if j not in constant_columns]
    if not rare:
        return reference
    result = reference.copy()
    for j in rare:
        column_extremes = extremes[:, j]
        result[0, j] = column_extremes[np.argmax(np.abs(column_extremes - reference[0, j]))]
    titles = [names[j] for j in rare if j in names]
    if titles:
        warn(
            InputWarning(
                None,
                (
                    f"columns {shown(titles)} of the {len(reference)} rows of ",
                    Argument(rows_name),
                    " are constant, but other rows differ: length-scales and means of absent "
                    "features are computed as if one of these rows had the most distant value",
                ),
            )
        )
    return result
