"""Print the path of the newest installed Python that pyproject.toml supports.

Searches the commands on PATH and pyenv's versions.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
# A released Python that can make an environment; pyenv's commands may lead to none.
PROBE = """
import ensurepip, sys, venv
assert sys.version_info.releaselevel == "final"
print(*sys.version_info[:3])
"""


def supported():
    """Return the commands of supported Pythons: python3.11 and so on."""
    classifiers = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["classifiers"]
    matches = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c) for c in classifiers)
    return [f"python{match[1]}" for match in matches if match]


def version(path):
    """Return the version as numbers, or nothing if that Python does not run."""
    probed = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, check=False)
    return None if probed.returncode else tuple(map(int, probed.stdout.split()))


pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
folders = [*map(Path, os.get_exec_path()), *pyenv.glob("versions/*/bin")]
found = {sys.executable: version(sys.executable)}
for path in (folder / command for folder in folders for command in supported()):
    if path.is_file() and (of_path := version(path)):
        found[str(path)] = of_path
print(max(found, key=found.get))
