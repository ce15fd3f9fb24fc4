"""The commands on their page print what it says."""

import re
import shlex
from pathlib import Path

import pytest

from pkex.commands.main import main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
# Python, or a command and what it prints.
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.M | re.S)


@pytest.mark.slow
def test_commands_print_what_their_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    commands = 0
    for kind, code, said in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, str(PAGE), "exec"), {})
        elif code.startswith("pkex"):
            assert main(shlex.split(code)[1:]) == (3 if "--fail-on-drift" in code else 0)
            out, err = capsys.readouterr()
            assert err == ""
            # Of what is long, the page has the first line.
            assert (out.splitlines()[0] + "\n" if "--format csv" in code else out) == said
            commands += 1
    assert commands == 5
