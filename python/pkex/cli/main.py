"""The command line: ``pkex``, which is ``python -m pkex`` as well."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from pkex.cli import drift, explain, hsic, sensitivity
from pkex.cli.errors import Failure, flush, reason, say

# Exit statuses: what was asked for cannot be done; Ctrl-C, as shells have it.
_FAILED, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0 if it is done, whatever was found, but for 3 where `drift` was told to fail on drift; 2 if it
    cannot be done; 130 after Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``pkex``; those of this process by default.
    """
    command = "pkex"
    try:
        try:
            options = _parser().parse_args(arguments)
            command = f"pkex {options.command}"
            status: int = options.run(options)
        finally:
            flush()
    except KeyboardInterrupt:
        say("\n")
        return _INTERRUPTED
    except BrokenPipeError:  # nobody reads any more
        return 0
    except Failure as failure:
        return _failing(command, str(failure))
    except (OSError, UnicodeError, RecursionError, MemoryError) as error:
        return _failing(command, _located(error))
    return status


def _failing(command: str, why: str) -> int:
    """Say in one line why a command failed, and return its status."""
    say(f"{command}: {' '.join(why.split())}\n")
    return _FAILED


def _located(error: Exception) -> str:
    """Return why something failed, and with which file."""
    name = getattr(error, "filename", None)
    return reason(error) if name is None else f"{name}: {reason(error)}"


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with options."""

    def error(self, message: str) -> NoReturn:
        say(f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")
        sys.exit(_FAILED)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="pkex", description="Exact Shapley values for kernel methods.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"pkex {version('pkex')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (drift, hsic, explain, sensitivity):
        command.add(commands)
    demo = commands.add_parser(
        "demo",
        help="explain three support vector machines on real data and draw the values",
        allow_abbrev=False,
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("pkex-demo"),
        metavar="DIR",
        help="where to save the pictures, made if missing (default: %(default)s)",
    )
    demo.set_defaults(run=_run_demo)
    return parser


def _run_demo(options: argparse.Namespace) -> int:
    missing = [library for library in _OF_THE_DEMO if find_spec(library) is None]
    if missing:
        raise _failed(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed")
    # The pictures go to files: no window, and no display needed.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        from pkex.cli import demo

        demo.main(options.output)
    except ImportError as error:  # as scikit-learn has it of a pandas that it cannot use
        if (error.name or "").partition(".")[0] == "pkex":
            raise
        raise _failed(f"they cannot be used: {error}") from None
    return 0


# By the names that they are imported by, and installed by.
_OF_THE_DEMO = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "pandas": "pandas"}


def _failed(why: str) -> Failure:
    """Return why the demo cannot run, and what to install."""
    libraries = list(_OF_THE_DEMO.values())
    return Failure(
        f"The demo needs {', '.join(libraries[:-1])} and {libraries[-1]}, but {why}. Install them "
        f"with: pip install {' '.join(libraries)} (that is the extra of pip install 'pkex[demo]', "
        "or in a clone of pkex of pip install '.[demo]')"
    )
