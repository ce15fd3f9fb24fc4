"""The gallery: a page for each script of examples/, with its pictures, its code and what it prints.

The scripts are run where the site is built, each in a folder of docs/gallery, and again only after
the script or the package has changed. An example that fails, draws nothing, or prints values that
do not add up is an error. Those of examples/papers are not run: `make reproduce` does that, and
docs/reproduction has their pictures.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "pkex"
DEMO = PACKAGE / "cli" / "demo.py"
GALLERY = ROOT / "docs" / "gallery"
PICTURES_OF_PAPERS = ROOT / "docs" / "reproduction"
# Scripts run two at a time: NumPy on one thread each, so that they do not wait for each other.
ENVIRONMENT = {
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONUTF8": "1",
}
PICTURE = re.compile(r"picture: (\S+)")
SUM = re.compile(r"largest \|base \+ Σφ - output\|: (\S+) \(outputs up to (\S+)\)")

PAGE = """\
# {title}

{text}

{pictures}

## The code

```python
{code}
```

## What it prints

```text
{printed}
```
"""

PAPER_PAGE = """\
# {title}

{text}

{pictures}

[The paper's numbers and ours](../../reproduction.md)

## The code

```python
{code}
```
"""

INDEX = """\
# Examples

Scripts to run and to copy from, with what they print. The data comes with scikit-learn, or is drawn
at random, and each takes seconds.

```{{container}} gallery
{cards}
```

## Experiments of papers

[Reproduction of the papers](../reproduction.md) compares their numbers with the papers'.

{papers}

```{{toctree}}
:hidden:

{names}
```
"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_gallery(_: Sphinx) -> None:
    """Run the scripts, and write their pages and the page that leads to them."""
    scripts = [DEMO, *sorted((ROOT / "examples").glob("*.py"))]
    GALLERY.mkdir(exist_ok=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        printed = list(pool.map(run, scripts))
    cards = []
    for script, output in zip(scripts, printed, strict=True):
        title, text, code = parts(script)
        pictures = [f"{script.stem}/{picture}" for picture in PICTURE.findall(output)]
        page = PAGE.format(
            title=title,
            text=text,
            pictures="\n\n".join(f"![What the script draws]({picture})" for picture in pictures),
            code=code,
            printed=output.strip("\n"),
        )
        write(GALLERY / f"{script.stem}.md", page)
        cards.append(f"[![]({pictures[0]})]({script.stem}.md) [{title}]({script.stem}.md)")
    papers = write_papers()
    names = [*(script.stem for script in scripts), *papers]
    for page in GALLERY.rglob("*.md"):
        if page.relative_to(GALLERY).with_suffix("").as_posix() not in [*names, "index"]:
            page.unlink()
    index = INDEX.format(
        cards="\n\n".join(cards),
        papers="\n".join(f"- [{title}]({name}.md)" for name, title in papers.items()),
        names="\n".join(names),
    )
    write(GALLERY / "index.md", index)


def write_papers() -> dict[str, str]:
    """Write the pages of the papers' experiments, and return their titles by name."""
    (GALLERY / "papers").mkdir(exist_ok=True)
    titles = {}
    for script in sorted((ROOT / "examples" / "papers").glob("*_*.py")):
        title, text, code = parts(script)
        name = f"papers/{script.stem}"
        drawn = [PICTURES_OF_PAPERS / f"{script.stem}{end}.png" for end in ("", "_full")]
        pictures = [
            f"![What the script draws](../../reproduction/{picture.name})"
            for picture in drawn
            if picture.exists()
        ][-1:]
        page = PAPER_PAGE.format(title=title, text=text, pictures="".join(pictures), code=code)
        write(GALLERY / f"{name}.md", page)
        titles[name] = title
    return titles


def run(script: Path) -> str:
    """Run a script, unless that has been done, and return what it printed."""
    printed = GALLERY / script.stem / "printed.txt"
    sources = [script, *PACKAGE.rglob("*.py"), *PACKAGE.glob("_core.*")]
    if printed.exists() and printed.stat().st_mtime > max(s.stat().st_mtime for s in sources):
        return printed.read_text(encoding="utf-8")
    printed.parent.mkdir(exist_ok=True)
    command = ["-m", "pkex", "demo", "--output", "."] if script == DEMO else [str(script)]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=printed.parent,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise ExtensionError(f"{script} failed:\n{done.stderr}")
    check(script, done.stdout)
    printed.write_text(done.stdout, encoding="utf-8")
    return done.stdout


def check(script: Path, printed: str) -> None:
    """Check that the pictures are there, and that values add up to the model's own output."""
    pictures = [GALLERY / script.stem / name for name in PICTURE.findall(printed)]
    if not pictures or not all(p.read_bytes().startswith(b"\x89PNG") for p in pictures):
        raise ExtensionError(f"{script} drew no picture")
    sums = SUM.findall(printed)
    if not sums or any(not float(error) <= 1e-10 * float(scale) for error, scale in sums):
        raise ExtensionError(f"{script}: values do not add up to the output:\n{printed}")


def parts(script: Path) -> tuple[str, str, str]:
    """Return the first line of a script's docstring, the rest of it, and the code."""
    source = script.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, text = (ast.get_docstring(tree) or "").partition("\n")
    code = source.splitlines()[tree.body[0].end_lineno :]
    return title.rstrip("."), text.strip("\n").replace("::\n", ":\n"), "\n".join(code).strip("\n")


def write(page: Path, text: str) -> None:
    """Write a page, unless it is the same already: Sphinx then need not read it again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")
