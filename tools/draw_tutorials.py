"""Run the code of the tutorials, and save its pictures in docs/images.

    python tools/draw_tutorials.py [PAGE ...]

Code that requires BoTorch is skipped, because it does not save pictures.
"""

import os
import re
import sys
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).parents[1] / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WITH_BOTORCH = "<!-- requires botorch -->"


def main(pages: list[str]) -> None:
    mpl.use("agg")
    paths = [Path(page).resolve() for page in pages] or sorted(DOCS.glob("tutorials/*.md"))
    os.chdir(DOCS / "images")
    files = set(Path().iterdir())
    for path in paths:
        text = path.read_text(encoding="utf-8").partition(WITH_BOTORCH)[0]
        exec(compile("\n".join(PYTHON.findall(text)), path.name, "exec"), {"__name__": "__main__"})
    for path in set(Path().iterdir()) - files:
        if path.suffix != ".png":  # the tables of the tutorial on drift
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
