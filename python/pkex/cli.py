"""The command line: ``python -m pkex demo`` and ``python -m pkex --version``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
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
    # The pictures go to files: no window, and no display needed.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        from pkex import demo
    except ModuleNotFoundError as error:
        missing = (error.name or "pkex").partition(".")[0]
        if missing == "pkex":
            raise
        sys.stderr.write(
            f"The demo needs scikit-learn and matplotlib, but {missing} is not installed. "
            "Install them with: pip install 'pkex[demo]'\n"
        )
        return 1
    demo.main(output)
    return 0
