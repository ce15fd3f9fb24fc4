"""The command line: ``python -m pkex demo`` and ``python -m pkex --version``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``python -m pkex``; those of this process by default.
    """
    parser = argparse.ArgumentParser(
        prog="python -m pkex", description="Exact Shapley values for kernel methods."
    )
    parser.add_argument("--version", action="version", version=f"pkex {version('pkex')}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser(
        "demo", help="explain three support vector machines on real data and draw the values"
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("pkex-demo"),
        metavar="DIR",
        help="where to save the pictures, made if missing (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    return _run_demo(options.output)


def _run_demo(output: Path) -> int:
    missing = [library for library in _OF_THE_DEMO if find_spec(library) is None]
    if missing:
        return _failed(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed")
    # The pictures go to files: no window, and no display needed.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        from pkex.commands import demo

        demo.main(output)
    except ImportError as error:  # as scikit-learn has it of a pandas that it cannot use
        if (error.name or "").partition(".")[0] == "pkex":
            raise
        return _failed(f"they cannot be used: {error}")
    return 0


# By the names that they are imported by, and installed by.
_OF_THE_DEMO = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "pandas": "pandas"}


def _failed(why: str) -> int:
    """Say why the demo cannot run and what to install; return the exit status."""
    libraries = list(_OF_THE_DEMO.values())
    sys.stderr.write(
        f"The demo needs {', '.join(libraries[:-1])} and {libraries[-1]}, but {why}. Install them "
        f"with: pip install {' '.join(libraries)} (that is the extra of pip install 'pkex[demo]', "
        "or in a clone of pkex of pip install '.[demo]')\n"
    )
    return 1
