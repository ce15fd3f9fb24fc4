"""The scripts in examples/torch/ run, draw what they say, and their values add up.

`make docs` runs the others, and checks the same (docs/_extensions/examples.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
# These libraries have an environment of their own.
EXAMPLES = sorted(FOLDER.glob("torch/*.py")) if find_spec("botorch") else []


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_the_example_runs_and_draws_what_it_says(script, tmp_path):
    pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={"PYTHONUTF8": "1", "MPLBACKEND": "agg"},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pictures = re.findall(r"picture: (\S+)", done.stdout)
    assert pictures
    for picture in pictures:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    sums = re.findall(
        r"largest \|base \+ Σφ - output\|: (\S+) \(outputs up to (\S+)\)", done.stdout
    )
    assert sums
    for error, scale in sums:
        assert float(error) <= 1e-10 * float(scale)
