"""Distributions of inputs from JSON: names of scipy.stats and their parameters, no code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pkex.commands.failure import Failure, needing

__all__ = ["are_distributions", "read_distributions"]

_EXAMPLE = '{"distribution": "norm", "loc": 0, "scale": 1}'


def are_distributions(path: str) -> bool:
    """Whether a file is JSON, by its name or how it begins."""
    try:
        with Path(path).open("rb") as file:
            return path.endswith(".json") or file.read(64).lstrip()[:1] in (b"{", b"[")
    except OSError:
        return False


def read_distributions(path: str) -> dict[str, Any] | list[Any]:
    """Return what a JSON file says of each input: a frozen distribution, or an array of entries.

    Raises
    ------
    Failure
        If it is no such file, or names no distribution of scipy.stats.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise Failure(f"{path} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Failure(f"{path}, line {error.lineno}, column {error.colno}: {error.msg}") from None
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
        return np.array(item, dtype=np.float64)
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
    try:
        return generic(**parameters)
    except (TypeError, ValueError) as error:
        raise Failure(f"{where}: {error}") from None
