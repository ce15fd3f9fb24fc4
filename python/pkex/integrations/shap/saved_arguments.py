"""Arguments of an explainer in a file, some of them written by functions of the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import cloudpickle


def write_arguments(
    arguments: Mapping[str, Any],
    out_file: BinaryIO,
    savers: Mapping[str, str | Callable[[Any, BinaryIO], object]],
) -> None:
    """Write arguments by their savers, the others by pickle.

    Parameters
    ----------
    arguments : mapping
    out_file : binary file
    savers : mapping of str to callable or str
        Savers by the names of arguments; ".save" and "auto" stand for pickle.

    Raises
    ------
    ValueError
        If a saver is another string.
    """
    for name, saver in savers.items():
        if not callable(saver) and saver not in (".save", "auto"):
            raise ValueError(f"{name}_saver must be a function or '.save'; got {saver!r}")
    custom_savers = {name: saver for name, saver in savers.items() if callable(saver)}
    cloudpickle.dump({k: v for k, v in arguments.items() if k not in custom_savers}, out_file)
    for name, saver in custom_savers.items():
        saver(arguments[name], out_file)


def read_arguments(
    in_file: BinaryIO, loaders: Mapping[str, Callable[[BinaryIO], Any] | None]
) -> dict[str, Any]:
    """Return the arguments that `write_arguments` has written.

    Raises
    ------
    ValueError
        If an argument was written by a saver, and has no loader.
    """
    arguments: dict[str, Any] = cloudpickle.load(in_file)
    for name, loader in loaders.items():
        if name in arguments:
            continue
        if loader is None:
            raise ValueError(f"the {name} was saved by a {name}_saver. Pass its {name}_loader")
        arguments[name] = loader(in_file)
    return arguments
