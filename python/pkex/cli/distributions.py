"""Distributions of inputs from JSON: names of scipy.stats with parameters. No code is executed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pkex.cli.errors import CommandError, missing_libraries
from pkex.cli.file_bytes import FileBytes

_EXAMPLE = '{"distribution": "norm", "loc": 0, "scale": 1}'


def are_distributions(source: FileBytes) -> bool:
    """Whether a file is JSON, by its extension or its first bytes."""
    if source.path.endswith(".json"):
        return True
    with source.open() as stream:
        return stream.read(64).lstrip()[:1] in (b"{", b"[")


def read_distributions(source: FileBytes) -> dict[str, Any] | list[Any]:
    """Return a frozen distribution, or an array of values, for each input in a JSON file.

    Raises
    ------
    CommandError
        If the file is not such JSON, or names a distribution that scipy.stats does not have.
    """
    path = source.name
    try:
        with source.open() as stream:
            inputs = json.loads(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not UTF-8") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CommandError(f"{path}, {place}: {error.msg}") from None
    except RecursionError:
        raise CommandError(f"{path} is nested too deeply") from None
    except ValueError as error:  # for example an integer with thousands of digits
        raise CommandError(f"{path}: {error}") from None
    if isinstance(inputs, dict) and inputs:
        return {name: _read(item, f"{path}, input {name!r}") for name, item in inputs.items()}
    if isinstance(inputs, list) and inputs:
        return [_read(item, f"{path}, input {n}") for n, item in enumerate(inputs, 1)]
    raise CommandError(
        f"{path} must be a list of inputs, or an object of inputs by name, such as "
        f'{{"x": {_EXAMPLE}}}'
    )


def _read(item: Any, where: str) -> Any:
    if isinstance(item, list):
        if not item or not all(isinstance(value, int | float) for value in item):
            raise CommandError(f"{where}: the values in a list must be numbers")
        return np.array([_number(value, where) for value in item])
    if not isinstance(item, dict) or not isinstance(item.get("distribution"), str):
        raise CommandError(f"{where} must be an object such as {_EXAMPLE}, or a list of values")
    with missing_libraries("reading distributions", "scipy"):
        from scipy import stats
    name = item["distribution"]
    distribution = getattr(stats, name, None)
    if not isinstance(distribution, stats.rv_continuous | stats.rv_discrete):
        raise CommandError(f"{where}: {name!r} is not a distribution of scipy.stats")
    parameters = {key: value for key, value in item.items() if key != "distribution"}
    parameter_names = [*(distribution.shapes or "").replace(" ", "").split(","), "loc"]
    parameter_names += ["scale"] if isinstance(distribution, stats.rv_continuous) else []
    for key, value in parameters.items():
        if key not in parameter_names:
            raise CommandError(
                f"{where}: {name} has no parameter {key!r}; it has "
                f"{', '.join(filter(None, parameter_names))}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CommandError(f"{where}: {key} must be a number; got {value!r}")
        _number(value, f"{where}: {key}")
    missing_names = [
        shape for shape in parameter_names if shape and shape not in {*parameters, "loc", "scale"}
    ]
    if missing_names:
        raise CommandError(f"{where}: {name} requires {' and '.join(missing_names)}")
    try:
        return distribution(**parameters)
    except (TypeError, ValueError, OverflowError) as error:
        raise CommandError(f"{where}: {error}") from None


def _number(value: float, where: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise CommandError(f"{where}: a number is too large for a float") from None
