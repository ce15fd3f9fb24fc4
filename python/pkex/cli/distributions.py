"""Distributions of inputs from JSON: names of scipy.stats and their parameters, no code."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pkex.cli.errors import Failure, needing
from pkex.cli.file_bytes import FileBytes

__all__ = ["are_distributions", "read_distributions"]

_EXAMPLE = '{"distribution": "norm", "loc": 0, "scale": 1}'


def are_distributions(source: FileBytes) -> bool:
    """Whether a file is JSON, by its name or how it begins."""
    if source.path.endswith(".json"):
        return True
    with source.opened() as stream:
        return stream.read(64).lstrip()[:1] in (b"{", b"[")


def read_distributions(source: FileBytes) -> dict[str, Any] | list[Any]:
    """Return what JSON says of each input: a frozen distribution, or an array of entries.

    Raises
    ------
    Failure
        If it is no such file, or names no distribution of scipy.stats.
    """
    path = source.name
    try:
        with source.opened() as stream:
            found = json.loads(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Failure(f"{path} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Failure(f"{path}, line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Failure(f"{path} is nested too deeply") from None
    except ValueError as error:  # as of an integer with thousands of digits
        raise Failure(f"{path}: {error}") from None
    if isinstance(found, dict) and found:
        return {name: _read(item, f"{path}, input {name!r}") for name, item in found.items()}
    if isinstance(found, list) and found:
        return [_read(item, f"{path}, input {n}") for n, item in enumerate(found, 1)]
    raise Failure(
        f"{path} must be a list of inputs, or an object of them by name; such as {_EXAMPLE}"
    )


def _read(item: Any, where: str) -> Any:
    if isinstance(item, list):
        if not item or not all(isinstance(entry, int | float) for entry in item):
            raise Failure(f"{where}: entries must be numbers")
        return np.array([_number(entry, where) for entry in item])
    if not isinstance(item, dict) or not isinstance(item.get("distribution"), str):
        raise Failure(f"{where} must be such as {_EXAMPLE}, or a list of entries")
    with needing("reading distributions", "scipy"):
        from scipy import stats
    name = item["distribution"]
    generic = getattr(stats, name, None)
    if not isinstance(generic, stats.rv_continuous | stats.rv_discrete):
        raise Failure(f"{where}: {name!r} is no distribution of scipy.stats")
    parameters = {key: value for key, value in item.items() if key != "distribution"}
    known = [*(generic.shapes or "").replace(" ", "").split(","), "loc"]
    known += ["scale"] if isinstance(generic, stats.rv_continuous) else []
    for key, value in parameters.items():
        if key not in known:
            raise Failure(
                f"{where}: {name} has no parameter {key!r}; it has {', '.join(filter(None, known))}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Failure(f"{where}: {key} must be a number; got {value!r}")
        _number(value, f"{where}: {key}")
    lacking = [shape for shape in known if shape and shape not in {*parameters, "loc", "scale"}]
    if lacking:
        raise Failure(f"{where}: {name} needs {' and '.join(lacking)}, which must be given")
    try:
        return generic(**parameters)
    except (TypeError, ValueError, OverflowError) as error:
        raise Failure(f"{where}: {error}") from None


def _number(value: float, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Failure(f"{where} has a number that is too large") from None
