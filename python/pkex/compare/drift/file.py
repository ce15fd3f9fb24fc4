"""Files of detectors: arrays and JSON, which are read without running code."""

from __future__ import annotations

import json
import math
import os
import uuid
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pkex.compare.comparison import Comparison
from pkex.compare.drift.detector import Detector, batch_comparison
from pkex.compare.drift.file_checks import (
    check_encoding,
    check_players,
    check_reference,
    check_words,
    parse_test,
)
from pkex.compare.drift.reference import Reference
from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.compare.results.columns import parse_columns
from pkex.compare.statistic_options import Conventions
from pkex.games.players import Players
from pkex.kernels.kernel_dicts import kernel_from_dict, kernel_to_dict
from pkex.kernels.scales import Constants
from pkex.tables.encode import Encoding
from pkex.tables.labels import Labels
from pkex.typing import Float

# The format of files, and its version, which increases if older versions of pkex cannot read it.
_FORMAT, _VERSION = "pkex.MMDDrift", 1
_HEADER, _BLOCKS = "header", "block_sums"


def write(path: str | PathLike[str], detector: Detector) -> None:
    """Write a detector; an existing file is replaced at the end."""
    reference, absent = detector.reference, detector.comparison.terms.absent
    arrays: dict[str, Any] = {
        "rows": reference.rows,
        "row_sums": reference.row_sums,
        "alone": reference.alone,
        "squares": reference.squares,
    }
    if absent is not None:
        arrays["absent"] = absent
    for (size, number), sums in reference.block_sums.items():
        arrays[f"{_BLOCKS} {size} {number}"] = sums
    header = np.array(json.dumps(_header(detector), allow_nan=False))
    # A unique name, as other processes may write to the same file.
    part = Path(f"{os.fspath(path)}.{uuid.uuid4().hex}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **{_HEADER: header, **arrays})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: str | PathLike[str]) -> Detector:
    """Read a detector.

    Raises
    ------
    ValueError
        If the file is not a detector, is damaged, or was written by a newer version of pkex.
    """
    with Path(path).open("rb") as file:
        try:
            arrays = _arrays(file)
            header = json.loads(str(arrays.pop(_HEADER)))
            is_ours = header["format"] == _FORMAT
        except MemoryError:
            raise
        # NumPy may raise any exception for a damaged file.
        except Exception:
            is_ours = False
    if not is_ours:
        raise ValueError(
            f"{os.fspath(path)!r} is damaged, or was not written by pkex.MMDDrift.save"
        ) from None
    version = header.get("version")
    if isinstance(version, int) and version > _VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} has format {version} of a newer version of pkex, but this "
            f"version reads formats up to {_VERSION}. Update pkex"
        )
    try:
        if version != _VERSION:
            raise ValueError(f"unknown version {version!r}")
        return _detector(header, arrays)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)!r} is damaged ({error!r}). Save it again") from None


def _arrays(file: BinaryIO) -> dict[str, NDArray[Any]]:
    with np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _header(detector: Detector) -> dict[str, Any]:
    comparison, labels = detector.comparison, detector.labels.columns
    encoding, players = comparison.encoding, comparison.players
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "conventions": asdict(comparison.conventions),
        "columns": [column.to_dict() for column in encoding.columns],
        "known_from": encoding.known_from,
        "labels": None if labels is None else list(map(_plain, labels)),
        "names": list(encoding.names),
        "constants": asdict(detector.constants),
        "players": {
            "names": list(players.names),
            "of_column": players.of_column.tolist(),
            "groups": sorted(players.groups),
        },
        "kernel": kernel_to_dict(comparison.kernel),
        "bandwidth": comparison.bandwidth,
        "test": asdict(detector.test),
        "threshold": detector.threshold,
    }


def _detector(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Detector:
    encoding = Encoding(parse_columns(header["columns"]), header["known_from"])
    players, d = _players(header["players"]), len(encoding.columns)
    kernel, rows = kernel_from_dict(header["kernel"]), _floats(arrays["rows"], 2)
    constants = Constants(**{name: tuple(items) for name, items in header["constants"].items()})
    conventions = Conventions(**header["conventions"])
    check_encoding(encoding, rows)
    check_words(header, encoding)
    check_players(players, d, constants)
    sample_kernel = SampleKernel.of(kernel, rows.shape[1], header["bandwidth"])
    labels = [j for j in encoding.labels if j < d]
    sample_kernel.check_labels(labels, encoding.row_names, "X_reference", "kernel")
    comparison, spans = batch_comparison(sample_kernel, rows, encoding, players, conventions)
    if "absent" in arrays:
        terms = replace(comparison.terms, absent=_floats(arrays["absent"], 2))
        comparison = replace(comparison, terms=terms)
    reference, threshold = _reference(comparison, rows, arrays), header["threshold"]
    check_reference(reference)
    test = parse_test(header["test"], threshold, len(rows), len(players))
    return Detector(reference, _labels(header["labels"], d), constants, spans, test, threshold)


def _players(plain: dict[str, Any]) -> Players:
    of_column = np.array(plain["of_column"], dtype=np.int64)
    return Players(tuple(plain["names"]), of_column, frozenset(plain["groups"]))


def _labels(plain: Any, n_columns: int) -> Labels:
    if plain is not None and len(plain) != n_columns:
        raise ValueError(f"{len(plain)} labels of {n_columns} columns")
    return Labels(None if plain is None else tuple(map(_label, plain)))


def _reference(comparison: Comparison, rows: Float, arrays: dict[str, NDArray[Any]]) -> Reference:
    are_own = comparison.bandwidth is not None
    engine_rows = comparison.kernel.engine_rows(rows, are_own=are_own)
    row_sums, alone = _floats(arrays["row_sums"], 2), _floats(arrays["alone"], 1)
    blocks = {}
    for name in arrays:
        if name.startswith(_BLOCKS):
            size, number = map(int, name.removeprefix(_BLOCKS).split())
            blocks[size, number] = _floats(arrays[name], 2)
    squares = _floats(arrays["squares"], 1)
    return Reference(comparison, rows, engine_rows, row_sums, alone, squares, blocks)


def _floats(array: NDArray[Any], n_dimensions: int) -> Float:
    if array.dtype != np.float64 or array.ndim != n_dimensions:
        raise ValueError(f"an array has dtype {array.dtype} and {array.ndim} dimensions")
    return np.ascontiguousarray(array)


def _plain(label: Any) -> Any:
    """Return the label of a column as JSON data."""
    if isinstance(label, tuple):
        return {"tuple": list(map(_plain, label))}
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float) or value != value or value in (math.inf, -math.inf):
        raise TypeError(
            f"the column label {label!r} ({type(label).__name__}) cannot be written to a file. "
            "Use strings as column names"
        )
    return value


def _label(plain: Any) -> Any:
    return tuple(map(_label, plain["tuple"])) if isinstance(plain, dict) else plain
