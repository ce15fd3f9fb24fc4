"""Detectors in files: arrays and JSON, which are read without running code."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.games.players import Players
from pkex.inputs.columns import Labels
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.plain import kernel_of, plain_kernel
from pkex.kernels.scales import Constants
from pkex.statistics.common import Conventions, in_units, largest_spans
from pkex.statistics.drift_test import DriftTest, Reference
from pkex.statistics.encoding import Column, Encoding
from pkex.statistics.pair_sums import KernelTerms
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
    part = Path(f"{os.fspath(path)}.part")
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
    from zipfile import BadZipFile  # slow to import

    foreign = f"{os.fspath(path)!r} is no file that pkex.MMDDrift.save has written"
    try:
        with Path(path).open("rb") as own, np.load(own, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop(_HEADER)))
        is_ours = header["format"] == _FORMAT
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile):
        raise ValueError(foreign) from None
    if not is_ours:
        raise ValueError(foreign)
    if header["version"] > _VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} has format {header['version']} of a newer version of pkex; this "
            f"one reads up to {_VERSION}: update pkex"
        )
    try:
        return _made_of(header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ValueError(f"{os.fspath(path)!r} is damaged ({error!r}); save it again") from None


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
    players = Players(
        tuple(header["players"]["names"]),
        np.array(header["players"]["of_column"], dtype=np.int64),
        frozenset(header["players"]["groups"]),
    )
    columns = [
        Column(
            **{**column, "levels": None if column["levels"] is None else tuple(column["levels"])}
        )
        for column in header["columns"]
    ]
    encoding = Encoding(tuple(columns), header["known_from"])
    kernel, rows = kernel_of(header["kernel"]), _floats(arrays["rows"], 2)
    domain = Domain.around(rows, ERRORS[-1])
    terms, unit = in_units(KernelTerms.of(kernel, encoding.players(players), domain))
    if "absent" in arrays:
        terms = replace(terms, absent=_floats(arrays["absent"], 2))
    labels = header["labels"]
    return Kept(
        Conventions(**header["conventions"]),
        encoding,
        Labels(None if labels is None else tuple(map(_label, labels))),
        tuple(header["names"]),
        Constants(**{name: tuple(found) for name, found in header["constants"].items()}),
        players,
        kernel,
        header["bandwidth"],
        largest_spans(kernel, domain, encoding.labels),
        unit,
        DriftTest(**{**header["test"], "seed": tuple(header["test"]["seed"])}),
        _reference(rows, terms, arrays),
        header["threshold"],
    )


def _reference(rows: Float, terms: KernelTerms, arrays: dict[str, NDArray[Any]]) -> Reference:
    row_sums, alone = _floats(arrays["row_sums"], 2), _floats(arrays["alone"], 1)
    expected = len(rows), terms.n_players
    if row_sums.shape != expected or alone.shape != expected[1:]:
        raise ValueError(f"sums of rows have shape {row_sums.shape}; expected {expected}")
    blocks = {}
    for name in arrays:
        if name.startswith(_BLOCKS):
            size, number = map(int, name.removeprefix(_BLOCKS).split())
            blocks[size, number] = _floats(arrays[name], 2)
    return Reference(rows, terms, row_sums, alone, _floats(arrays["squares"], 1), blocks)


def _floats(array: NDArray[Any], n_dimensions: int) -> Float:
    if array.dtype != np.float64 or array.ndim != n_dimensions:
        raise ValueError(f"an array has dtype {array.dtype} and {array.ndim} dimensions")
    return np.ascontiguousarray(array)


def _plain(label: Any) -> Any:
    """Return the label of a column as JSON knows it."""
    if isinstance(label, tuple):
        return {"tuple": list(map(_plain, label))}
    own = label.item() if isinstance(label, np.generic) else label
    if not isinstance(own, str | int | float):
        raise TypeError(
            f"a column is labelled by {label!r} ({type(label).__name__}), which cannot be written "
            "down; name the columns by strings"
        )
    return own


def _label(plain: Any) -> Any:
    return tuple(map(_label, plain["tuple"])) if isinstance(plain, dict) else plain
