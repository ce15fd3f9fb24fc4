"""The Python code in README.md and docs/ runs, and prints what the page says it prints.

The ``python`` blocks of a page run in order, as one script. A ``text`` block right after one holds
what it prints.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)|src=\"([^\"]+)\"")


def _blocks(page: str) -> list[tuple[str, str, int]]:
    """Python blocks of a page, each with what it should print and the line it starts at."""
    found = list(BLOCK.finditer(page))
    blocks = []
    for number, block in enumerate(found):
        if block[1] != "python":
            continue
        printed = ""
        if number + 1 < len(found) and found[number + 1][1] == "text":
            between = page[block.end() : found[number + 1].start()]
            printed = found[number + 1][2] if not between.strip() else ""
        blocks.append((block[2], printed, page[: block.start()].count("\n") + 1))
    return blocks


def _without_blank_lines_and_spacing(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_on_the_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    for library in ("sklearn", "shap", "shapiq", "pandas"):
        pytest.importorskip(library)
    pytest.importorskip("matplotlib").use("agg")
    # Pages show pictures on screen, which are then gone.
    monkeypatch.setattr(
        plt := pytest.importorskip("matplotlib.pyplot"), "show", lambda: plt.close("all")
    )
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    namespace: dict[str, object] = {"__name__": "__main__"}
    for code, expected, line in _blocks(text):
        # Padded, so that a traceback names the line of the page.
        program = compile("\n" * line + code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)
        assert _without_blank_lines_and_spacing(
            printed.getvalue()
        ) == _without_blank_lines_and_spacing(expected), f"{page.name}, line {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_of_the_project_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    targets = [match[1] or match[3] for match in LINK.finditer(text)]
    local = [target for target in targets if "://" not in target]
    assert local, "the page has no link to another page"
    for target in local:
        assert (page.parent / target).exists(), target


def test_the_readme_has_python_code_to_run():
    assert _blocks((ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_tables_of_the_peers_tests_list_ours():
    page = (ROOT / "docs" / "drop-in.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(test_\w+)`", row[3])}
    files = sorted((ROOT / "tests" / "integrations").glob("test_peers_*.py"))
    ours = [re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE) for file in files]
    assert listed == {name for names in ours for name in names}
