"""The commands on their page print what it says."""

import re
import shlex
from pathlib import Path

import pytest

from pkex.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
# Pages, and how many commands each has.
PAGES = {"command-line.md": 5, "tutorials/drift.md": 2}
# Python, or a command and what it prints.
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.M | re.S)


# The last line of an output of which the page has only the beginning.
MORE = "…\n"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_their_page_says(page, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    commands = 0
    namespace: dict[str, object] = {}
    for kind, code, said in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, page, "exec"), namespace)
            capsys.readouterr()
        elif code.startswith("pkex"):
            assert main(shlex.split(code)[1:]) == (3 if "--fail-on-drift" in code else 0)
            out, err = capsys.readouterr()
            assert err == ""
            if said.endswith(MORE):
                assert out.startswith(said.removesuffix(MORE))
            else:
                # Of what is long, the page has the first line.
                assert (out.splitlines()[0] + "\n" if "--format csv" in code else out) == said
            commands += 1
    assert commands == PAGES[page]
