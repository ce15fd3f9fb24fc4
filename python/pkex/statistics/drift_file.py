"""Detectors in files: arrays and JSON, which are read without running code."""

from __future__ import annotations

import json
import math
import os
import uuid
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pkex.games.players import Players
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.plain import kernel_of, plain_kernel
from pkex.kernels.scales import Constants
from pkex.statistics.common import Conventions, in_units, largest_spans
from pkex.statistics.drift_file_checks import (
    check_encoding,
    check_players,
    check_reference,
    check_words,
    checked_columns,
    checked_test,
)
from pkex.statistics.drift_test import DriftTest, Reference
from pkex.statistics.labels import check_labels
from pkex.statistics.pair_sums import KernelTerms
from pkex.tables.encode import Encoding
from pkex.tables.labels import Labels
from pkex.typing import Float

__all__ = ["KEPT", "Kept", "read", "write"]

# What files say of themselves; the number grows where older versions could not read them.
_FORMAT, _VERSION = "pkex.MMDDrift", 1
_HEADER, _BLOCKS = "header", "block_sums"


@dataclass(frozen=True, eq=False)
class Kept:
    """What a detector is made of, and a file keeps."""

    chosen: Conventions
    encoding: Encoding
    labels: Labels
    names: tuple[str, ...]
    constants: Constants
    players: Players
    kernel: Kernel
    bandwidth: str | None
    spans: Float | None
    unit: float
    test: DriftTest
    reference: Reference
    threshold: float | None


KEPT = tuple(item.name for item in fields(Kept))


def write(path: str | PathLike[str], kept: Kept) -> None:
    """Write what a detector is made of; a file of that name is replaced when all is written."""
    reference = kept.reference
    arrays: dict[str, Any] = {
        "rows": reference.rows,
        "row_sums": reference.row_sums,
        "alone": reference.alone,
        "squares": reference.squares,
    }
    if reference.terms.absent is not None:
        arrays["absent"] = reference.terms.absent
    for (size, number), sums in reference.block_sums.items():
        arrays[f"{_BLOCKS} {size} {number}"] = sums
    header = np.array(json.dumps(_header(kept), allow_nan=False))
    # Of its own name: others may write to the same file at once.
    part = Path(f"{os.fspath(path)}.{uuid.uuid4().hex}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, **{_HEADER: header, **arrays})
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: str | PathLike[str]) -> Kept:
    """Read what a detector is made of.

    Raises
    ------
    ValueError
        If the file is none of a detector, damaged, or newer than this version of pkex.
    """
    with Path(path).open("rb") as file:
        try:
            arrays = _arrays(file)
            header = json.loads(str(arrays.pop(_HEADER)))
            is_ours = header["format"] == _FORMAT
        except MemoryError:
            raise
        # Of a damaged file anything may be wrong, and so may be what NumPy raises.
        except Exception:
            is_ours = False
    if not is_ours:
        raise ValueError(
            f"{os.fspath(path)!r} is no file that pkex.MMDDrift.save has written, or is damaged"
        ) from None
    version = header.get("version")
    if isinstance(version, int) and version > _VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} has format {version} of a newer version of pkex; this "
            f"one reads up to {_VERSION}: update pkex"
        )
    try:
        if version != _VERSION:
            raise ValueError(f"there is no version {version!r}")
        return _made_of(header, arrays)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{os.fspath(path)!r} is damaged ({error!r}); save it again") from None


def _arrays(file: BinaryIO) -> dict[str, NDArray[Any]]:
    with np.load(file, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def _header(kept: Kept) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "conventions": asdict(kept.chosen),
        "columns": [column.to_dict() for column in kept.encoding.columns],
        "known_from": kept.encoding.known_from,
        "labels": None if kept.labels.columns is None else list(map(_plain, kept.labels.columns)),
        "names": list(kept.names),
        "constants": asdict(kept.constants),
        "players": {
            "names": list(kept.players.names),
            "of_column": kept.players.of_column.tolist(),
            "groups": sorted(kept.players.groups),
        },
        "kernel": plain_kernel(kept.kernel),
        "bandwidth": kept.bandwidth,
        "test": asdict(kept.test),
        "threshold": kept.threshold,
    }


def _made_of(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Kept:
    players, encoding = _players(header["players"]), _encoding(header)
    d = len(encoding.columns)
    kernel, rows = kernel_of(header["kernel"]), _floats(arrays["rows"], 2)
    constants = Constants(**{name: tuple(found) for name, found in header["constants"].items()})
    chosen = Conventions(**header["conventions"])
    names, bandwidth, threshold = tuple(header["names"]), header["bandwidth"], header["threshold"]
    check_encoding(encoding, rows)
    check_words(names, encoding.known_from, bandwidth, d)
    check_players(players, d, constants)
    labels = [j for j in encoding.labels if j < d]
    check_labels(kernel, labels, encoding.row_names, "X_reference", "kernel")
    domain = Domain.around(rows, ERRORS[-1])
    terms, unit = in_units(KernelTerms.of(kernel, players.with_copies(encoding.flagged), domain))
    terms = terms.for_estimator(chosen.estimator)
    if "absent" in arrays:
        terms = replace(terms, absent=_floats(arrays["absent"], 2))
    compared = kernel.engine_rows(rows, are_own=bandwidth is not None)
    reference = _reference(rows, compared, terms, arrays)
    check_reference(reference, chosen.value_function)
    return Kept(
        chosen,
        encoding,
        _labels(header["labels"], d),
        names,
        constants,
        players,
        kernel,
        bandwidth,
        largest_spans(kernel, domain, encoding.labels),
        unit,
        checked_test(header["test"], threshold, len(rows), len(players)),
        reference,
        threshold,
    )


def _players(plain: dict[str, Any]) -> Players:
    of_column = np.array(plain["of_column"], dtype=np.int64)
    return Players(tuple(plain["names"]), of_column, frozenset(plain["groups"]))


def _encoding(header: dict[str, Any]) -> Encoding:
    return Encoding(checked_columns(header["columns"]), header["known_from"])


def _labels(plain: Any, n_columns: int) -> Labels:
    if plain is not None and len(plain) != n_columns:
        raise ValueError(f"{len(plain)} labels of {n_columns} columns")
    return Labels(None if plain is None else tuple(map(_label, plain)))


def _reference(
    rows: Float, engine_rows: Float, terms: KernelTerms, arrays: dict[str, NDArray[Any]]
) -> Reference:
    row_sums, alone = _floats(arrays["row_sums"], 2), _floats(arrays["alone"], 1)
    blocks = {}
    for name in arrays:
        if name.startswith(_BLOCKS):
            size, number = map(int, name.removeprefix(_BLOCKS).split())
            blocks[size, number] = _floats(arrays[name], 2)
    squares = _floats(arrays["squares"], 1)
    return Reference(rows, engine_rows, terms, row_sums, alone, squares, blocks)


def _floats(array: NDArray[Any], n_dimensions: int) -> Float:
    if array.dtype != np.float64 or array.ndim != n_dimensions:
        raise ValueError(f"an array has dtype {array.dtype} and {array.ndim} dimensions")
    return np.ascontiguousarray(array)


def _plain(label: Any) -> Any:
    """Return the label of a column as JSON knows it."""
    if isinstance(label, tuple):
        return {"tuple": list(map(_plain, label))}
    own = label.item() if isinstance(label, np.generic) else label
    if not isinstance(own, str | int | float) or own != own or own in (math.inf, -math.inf):
        raise TypeError(
            f"a column is labelled by {label!r} ({type(label).__name__}), which cannot be written "
            "down; name the columns by strings"
        )
    return own


def _label(plain: Any) -> Any:
    return tuple(map(_label, plain["tuple"])) if isinstance(plain, dict) else plain
