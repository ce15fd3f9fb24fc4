"""Fitted models from files of skops, and from pickle and joblib files if they are trusted."""

from __future__ import annotations

import argparse
import pickle
import shlex
import zipfile
from dataclasses import replace
from importlib.util import find_spec
from typing import IO, Any

from pkex.cli.errors import CommandError, missing_libraries, reason
from pkex.cli.file_bytes import FileBytes
from pkex.cli.skops_types import check_sparse_matrices, safe_types
from pkex.cli.tables import TableOptions, is_table
from pkex.results.tables import shortened

# The oldest version of skops that does not execute code from files with untrusted types.
_SAFE_SKOPS = (0, 12)
# The largest length of the text of a model, in characters.
_MAX_LENGTH = 300


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model, and options to trust its file."""
    parser.add_argument("model", metavar="MODEL", help="fitted model: a skops file, or '-'")
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
        help="load pickle and joblib files; this executes code in the file, so load only files "
        "from sources that you trust",
    )


def read_model(options: argparse.Namespace, rows: str) -> Any:
    """Load a fitted model.

    Parameters
    ----------
    options : Namespace
        The arguments of the command.
    rows : str
        The path of the table, which follows the path of the model.

    Raises
    ------
    CommandError
        If there is no such file, it is a table, it is not trusted, or it cannot be loaded.
    """
    path = options.model
    try:
        source = FileBytes.of(path)
        with source.open() as file:
            if zipfile.is_zipfile(file):
                return _load_skops(source, options.trust)
            if is_table(source):
                command = shlex.join(["pkex", options.command, rows, path])
                raise CommandError(
                    f"{path} is a table, and the model comes first. If model and table are "
                    f"swapped, pass: {command}"
                )
            file.seek(0)
            if not options.trust_pickle:
                raise CommandError(
                    f"{path} is not a skops file. Loading pickle and joblib files executes code in "
                    "the file: if you trust it, pass --trust-pickle. To save a model without code, "
                    "use skops.io.dump(model, 'model.skops')"
                )
            return _load_pickle(file, path)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {reason(error)}") from None


def model_text(model: Any) -> str:
    """Return a model with its settings as text."""
    return shortened(repr(model), _MAX_LENGTH)


def options_for_model(model: Any, options: TableOptions) -> TableOptions:
    """Return options of reading tables, with the columns that the model was fitted on by name.

    Other columns, such as the target, are not read.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None or options.columns:
        return options
    return replace(options, columns=tuple(str(name) for name in names))


def _load_skops(source: FileBytes, trusted_types: list[str]) -> Any:
    with missing_libraries("loading skops files", "skops"):
        import skops
        from skops import io

    if tuple(map(int, skops.__version__.split(".")[:2])) < _SAFE_SKOPS:
        raise CommandError(
            f"skops {skops.__version__} executes code in the file. Update it by: "
            "pip install 'skops>=0.12'"
        )
    path = source.name
    try:
        with source.open() as file:
            unknown_types = io.get_untrusted_types(file=file)
            file.seek(0)
            types = safe_types(file, unknown_types)
            _check_trusted(path, sorted(set(unknown_types) - set(trusted_types) - types))
            check_sparse_matrices(file)
            file.seek(0)
            return io.load(file, trusted=[*trusted_types, *types])
    except CommandError:
        raise
    except Exception as error:  # any error, because files may be damaged
        raise _load_error(path, error) from None


def _check_trusted(path: str, unknown_types: list[str]) -> None:
    """Raise CommandError for types that are not known to be safe."""
    if not unknown_types:
        return
    for name in unknown_types:
        # Other characters cannot be imported, and may be executed if pasted into a shell.
        if not all(part.isidentifier() for part in name.split(".")):
            raise CommandError(
                f"{path} cannot be loaded: {name!r} is not a name that can be imported"
            )
    fix = " ".join(f"--trust {name}" for name in unknown_types)
    raise CommandError(
        f"{path} contains types that are not known to be safe: {', '.join(unknown_types)}. Loading "
        f"them may execute code. If you trust the file, pass {fix}"
    )


def _load_pickle(file: IO[bytes], path: str) -> Any:
    try:
        if find_spec("joblib") is None:
            return pickle.load(file)
        import joblib

        return joblib.load(file)
    except Exception as error:  # any error of the code in the file
        raise _load_error(path, error) from None


def _load_error(path: str, error: Exception) -> CommandError:
    return CommandError(f"{path} cannot be loaded: {type(error).__name__}: {error}")
