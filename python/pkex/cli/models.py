"""Fitted models from files: of skops, or of pickle and joblib if their code may run."""

from __future__ import annotations

import argparse
import pickle
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from typing import IO, Any

from pkex.cli.errors import Failure, needing, reason
from pkex.cli.file_bytes import FileBytes
from pkex.cli.skops_types import safe_types
from pkex.cli.tables import TableOptions
from pkex.results.tables import shortened

__all__ = ["add_model", "in_words", "read_model", "tables_for"]

# The oldest version of skops that runs no code of a file whose types are not trusted.
_SAFE_SKOPS = (0, 12)
# Of what a model is, in characters.
_LONGEST = 300


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model, and whom to trust with it."""
    parser.add_argument("model", metavar="MODEL", help="fitted model: a file of skops, or '-'")
    group = parser.add_argument_group("model")
    group.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="TYPE",
        help="type in a skops file that is not known to be safe; may be repeated",
    )
    group.add_argument(
        "--trust-pickle",
        action="store_true",
        help="load pickle and joblib files: that runs code which they contain, "
        "so only for files that you or someone you trust made",
    )


def read_model(path: str, options: argparse.Namespace) -> Any:
    """Load a fitted model.

    Raises
    ------
    Failure
        If there is no such file, it is not trusted, or it cannot be loaded.
    """
    try:
        source = FileBytes.of(path)
        with source.opened() as file:
            if zipfile.is_zipfile(file):
                return _of_skops(source, options.trust)
            file.seek(0)
            if not options.trust_pickle:
                raise Failure(
                    f"{path} is no skops file, and loading others, of pickle or joblib, runs code "
                    "that they contain; if you trust the file: --trust-pickle. A file without "
                    "code: skops.io.dump(model, 'model.skops')"
                )
            return _of_pickle(file, path)
    except OSError as error:
        raise Failure(f"{path} cannot be read: {reason(error)}") from None


def in_words(model: Any) -> str:
    """Return what a model is, with its settings: kernels among them."""
    return shortened(repr(model), _LONGEST)


def tables_for(model: Any, options: TableOptions) -> TableOptions:
    """Return how to read tables for a model: the columns that it knows by name, if it does.

    Others are left out: a table often has the target beside the features.
    """
    known = getattr(model, "feature_names_in_", None)
    if known is None or options.columns:
        return options
    return replace(options, columns=tuple(str(name) for name in known))


def _of_skops(source: FileBytes, trusted: list[str]) -> Any:
    with needing("loading skops files", "skops"):
        import skops
        from skops import io

    if tuple(map(int, skops.__version__.split(".")[:2])) < _SAFE_SKOPS:
        raise Failure(
            f"skops {skops.__version__} runs code that a file contains: pip install 'skops>=0.12'"
        )
    path = source.name
    try:
        with source.opened() as file:
            found = io.get_untrusted_types(file=file)
            file.seek(0)
            safe = safe_types(file, found)
            _check_trusted(path, sorted(set(found) - set(trusted) - safe))
            file.seek(0)
            return io.load(file, trusted=[*trusted, *safe])
    except Failure:
        raise
    except Exception as error:  # whatever a broken file, or another version, makes of it
        raise _unloadable(path, error) from None


def _check_trusted(path: str, unknown: list[str]) -> None:
    """Refuse types that are not known to be safe."""
    if not unknown:
        return
    for name in unknown:
        # A name of other characters cannot be imported, and may run when it is pasted in a shell.
        if not all(part.isidentifier() for part in name.split(".")):
            raise Failure(f"{path} cannot be loaded: {name!r} is not a name that can be imported")
    remedy = " ".join(f"--trust {name}" for name in unknown)
    raise Failure(
        f"{path} holds types that are not known to be safe: {', '.join(unknown)}. Loading them may "
        f"run code. If you trust whoever made the file: {remedy}"
    )


def _of_pickle(file: IO[bytes], path: str) -> Any:
    try:
        if find_spec("joblib") is None:
            return pickle.load(file)
        import joblib

        return joblib.load(file)
    except Exception as error:  # whatever the code in it raises
        raise _unloadable(path, error) from None


def _unloadable(path: str, error: Exception) -> Failure:
    return Failure(f"{path} cannot be loaded: {type(error).__name__}: {error}")
