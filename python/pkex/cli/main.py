"""The command line: ``pkex``, or ``python -m pkex``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from pkex.cli import drift, explain, hsic, sensitivity
from pkex.cli.errors import CommandError, flush, reason, say

# Exit statuses: the command cannot be executed; Ctrl-C, as in shells.
_FAILED, _INTERRUPTED = 2, 130
# Libraries that the demo imports, and their names for pip.
_DEMO_LIBRARIES = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "pandas": "pandas"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The status is 0 after success, 3 if `drift` was asked to fail on drift and has found some, 2 if
    the command cannot be executed, and 130 after Ctrl-C.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``pkex``; by default those of this process.
    """
    command = "pkex"
    try:
        try:
            parser, commands = _parser()
            options, unknown = parser.parse_known_args(arguments)
            command = f"pkex {options.command}"
            if unknown:
                parser = commands.choices[options.command]
                parser.error(_unknown_argument(unknown[0], parser.format_usage()))
            status: int = options.run(options)
        finally:
            flush()
    except KeyboardInterrupt:
        say("\n")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe
        return 0
    except CommandError as error:
        return _fail(command, str(error))
    except (OSError, UnicodeError, RecursionError, MemoryError) as error:
        name = getattr(error, "filename", None)
        return _fail(command, reason(error) if name is None else f"{name}: {reason(error)}")
    return status


def _fail(command: str, why: str) -> int:
    """Write why a command failed, on one line, and return its status."""
    say(f"{command}: {' '.join(why.split())}\n")
    return _FAILED


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        say(f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")
        sys.exit(_FAILED)


def _unknown_argument(word: str, usage: str) -> str:
    """Return the error of a word that is not an argument, with the option that was meant."""
    options = [option.strip("[]") for option in usage.split() if option.startswith("[--")]
    near = [option for option in options if option.endswith(f"={word}")]
    near += get_close_matches(word.partition("=")[0], options, 1)
    return f"the argument {word!r} is not known" + (f", did you mean {near[0]}?" if near else "")


def _parser() -> tuple[_Parser, argparse._SubParsersAction[_Parser]]:
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
        help="directory of the pictures, created if necessary (default: %(default)s)",
    )
    demo.set_defaults(run=_run_demo)
    return parser, commands


def _run_demo(options: argparse.Namespace) -> int:
    missing = [library for library in _DEMO_LIBRARIES if find_spec(library) is None]
    if missing:
        raise _demo_error(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        )
    # Pictures are written to files; no display is necessary.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        from pkex.cli import demo

        demo.main(options.output)
    except ImportError as error:  # raised by scikit-learn for an unsuitable version of pandas
        if (error.name or "").partition(".")[0] == "pkex":
            raise
        raise _demo_error(f"they cannot be used: {error}") from None
    return 0


def _demo_error(why: str) -> CommandError:
    """Return the error that the demo cannot run, with the libraries to install."""
    libraries = list(_DEMO_LIBRARIES.values())
    return CommandError(
        f"The demo requires {', '.join(libraries[:-1])} and {libraries[-1]}, but {why}. Install "
        f"them by: pip install {' '.join(libraries)} (or pip install 'pkex[demo]'; in a clone of "
        "pkex, pip install '.[demo]')"
    )
