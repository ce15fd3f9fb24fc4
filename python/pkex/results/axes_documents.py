"""Writing and reading the axes of results in JSON documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pkex.games.value_functions import ValueFunction
from pkex.inputs.documents import Document
from pkex.inputs.optional import missing_library
from pkex.inputs.plain_data import plain_entries, read_entries
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes

if TYPE_CHECKING:
    import pandas as pd


def plain_axes(axes: Axes) -> dict[str, Any]:
    """Return the names and row labels of axes as plain data for JSON."""
    return {
        "feature_names": list(axes.features),
        "output_names": axes.output_names,
        "output_name": axes.output_name,
        "row_index": None if axes.row_index is None else _plain_index(axes.row_index),
    }


def read_axes(document: Document, present: Sequence[str]) -> Axes:
    """Return the axes that `plain_axes` has written; the names determine the lengths of axes.

    Parameters
    ----------
    document : Document
    present : sequence of str
        The axes of rows and features that are present; the axis of outputs is if it has names.
    """
    features = document.texts("feature_names", FEATURE if FEATURE in present else 1)
    outputs, axes = None, [axis for axis in (ROW, FEATURE) if axis in present]
    if document.has("output_names"):
        outputs = document.texts("output_names", OUTPUT)
        axes.append(OUTPUT)
    elif document.has("output_name"):
        outputs = (document.text("output_name"),)
    row_index = document.read("row_index", _read_index) if document.has("row_index") else None
    if row_index is not None:
        document.check_length("row_index", len(row_index), ROW if ROW in present else 1)
    return Axes(features, outputs, row_index, tuple(axes))


def read_value_function(document: Document) -> ValueFunction | None:
    """Return the value function of a document; None if the document has none."""
    if not document.has("value_function"):
        return None
    valid: tuple[ValueFunction, ...] = get_args(ValueFunction)
    return document.choice("value_function", valid)


def _plain_index(index: pd.Index) -> dict[str, Any]:
    """Return the row labels as plain data: the names of the levels, and the labels per level.

    Times of a time zone are written in UTC, next to the name of the zone.
    """
    names = np.empty(index.nlevels, dtype=object)
    names[:] = index.names
    levels = [index.get_level_values(level) for level in range(index.nlevels)]
    zones = [_zone(level) for level in levels]
    utc = (
        level if zone is None else level.tz_convert("UTC").tz_localize(None)
        for level, zone in zip(levels, zones, strict=True)
    )
    plain = {
        "names": plain_entries("row_index.names", names),
        "levels": [plain_entries("row_index", level.to_numpy()) for level in utc],
    }
    return plain if not any(zones) else {**plain, "zones": zones}


def _zone(level: Any) -> str | None:
    """Return the name of the time zone of labels; None if they are not times of a zone."""
    zone = getattr(level.dtype, "tz", None)
    if zone is None:
        return None
    name = str(zone)
    try:
        is_found = level.tz_convert(name).dtype == level.dtype
    except (LookupError, ValueError):  # such a name is not known
        is_found = False
    if not is_found:
        raise TypeError(
            f"row_index has the time zone {zone!r}, which a document cannot hold; turn it into a "
            "zone with a name, such as 'Europe/Berlin', or use pickle"
        )
    return name


def _read_index(plain: Any) -> pd.Index:
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_library("row_index of a document", "pandas") from error
    names = read_entries(plain["names"], 1).tolist()
    levels: list[Any] = [pd.Index(read_entries(level, 1)) for level in plain["levels"]]
    if "zones" in plain:
        levels = [
            level if zone is None else level.tz_localize("UTC").tz_convert(zone)
            for level, zone in zip(levels, plain["zones"], strict=True)
        ]
    if len(levels) == 1:
        return pd.Index(levels[0], name=names[0])
    return pd.MultiIndex.from_arrays(levels, names=names)
