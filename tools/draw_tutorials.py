"""Run the code of the tutorials, and save its pictures in docs/images.

    python tools/draw_tutorials.py [PAGE ...]

Code that requires BoTorch is skipped, because it does not save pictures. The beginning of a report,
such as review.html, becomes the picture review.png if Chromium is installed.
"""

import os
import re
import shutil
import subprocess
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
    for report in Path().glob("*.html"):
        photograph(report)
    for path in set(Path().iterdir()) - files:
        if path.suffix != ".png":  # the tables of the tutorial on drift
            path.unlink()


def photograph(report: Path) -> None:
    """Save a picture of the first part of an HTML page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"{report.stem}.png is not drawn: there is no Chromium")
        return
    size = ["--window-size=760,435", "--force-device-scale-factor=2", "--hide-scrollbars"]
    picture = f"--screenshot={report.with_suffix('.png').resolve()}"
    command = [browser, "--headless", "--no-sandbox", *size, picture, report.resolve().as_uri()]
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main(sys.argv[1:])
