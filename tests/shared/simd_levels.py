"""Programs run at a SIMD level, and the levels that the extension has here."""

import functools
import os
import subprocess
import sys

__all__ = ["only_native", "run_at", "simd_levels"]


def run_at(level, *command):
    """Run Python with a level, in a process of its own."""
    environment = os.environ | {"PKEX_SIMD": level}
    return subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, timeout=120
    )


@functools.cache
def simd_levels():
    """As the message lists them that answers an unknown level."""
    message = run_at("abacus", "-c", "import pkex").stderr.strip().splitlines()[-1]
    return message.rpartition("Set it to one of: ")[2].split(", ")


def only_native():
    """Whether the extension was built for this machine's level alone, as while one develops.

    `make test` builds all levels, and tools/check_wheel.py finds the portable one in the wheel.
    """
    return "portable" not in simd_levels()
