"""The page of reproduced papers has every statement and experiment, and the scripts' numbers."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples" / "papers").glob("*_*.py"))
# What each paper numbers, and its experiments without a number.
PAPERS = {
    "pkex": {
        *(f"Theorem {number}" for number in (1, 4, 6, 8, 10)),
        "Definition 2",
        *(f"Proposition {number}" for number in (3, 7, 9, 11)),
        *(f"Lemma {number}" for number in (5, 12, 13)),
        "Algorithm 1",
        "Algorithm 2",
        "Appendix F",
        *(f"Figure {number}" for number in range(1, 8)),
        "Table 1",
    },
    "gp": set(),  # its statements are not numbered on the page
    "thesis": {"Theorem 3.4.2", "Appendix A.3", "Table 3.1", "Table 3.2"},
    "rkhs": {
        *(f"Proposition {number}" for number in (2, 3, 4, 5, 7)),
        "Theorem 6",
        *(f"Experiment {number}" for number in range(1, 5)),
        "Figure 2a",
        "Figure 2b",
        "Figure 3",
        "Appendix C",
        "Appendix E",
    },
    "star": {
        "Theorem 3.1",
        "Theorem 4.1",
        "Algorithm 1",
        *(f"Lemma {number}" for number in ("A.1", "A.2", "B.1", "B.2", "B.3", "B.4")),
        *(f"Lemma C.{number}" for number in range(1, 5)),
        *(f"Figure {number}" for number in range(1, 5)),
        *(f"Table {number}" for number in range(2, 10)),
    },
    "pref": {
        "Theorem 6.3.2",
        "Definition 7.3.1",
        *(f"Proposition 7.3.{number}" for number in (2, 3, 4)),
        *(f"Algorithm {number}" for number in range(1, 4)),
        *(f"Figure {number}" for number in ("6.2", "6.3", "7.2", "7.3")),
        *(f"Figure E.{number}" for number in (1, 2, 4, 5, 6, 7)),
        "Table 6.1",
        "Table 7.3",
        "Table E.1",
    },
}


@pytest.fixture
def reproduce(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    yield importlib.import_module("reproduce")
    sys.modules.pop("reproduce", None)


def test_the_tables_of_the_page_are_those_of_the_rows_and_the_scripts_numbers(reproduce):
    page = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert reproduce.with_tables(page) == page
    assert [found[2] for found in reproduce.TABLE.finditer(page)] == list(PAPERS)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_numbered_statement_and_experiment_has_a_row(paper, reproduce):
    listed = [row["statement"] for row in reproduce.rows(paper)]
    numbered = [re.findall(r"[A-Z]\w+ [A-Z0-9.]+\w*", statement) for statement in listed]
    assert {name for names in numbered for name in names} >= PAPERS[paper]


def test_every_script_has_a_row_and_every_row_its_script_and_numbers(reproduce):
    used = {row["script"] for paper in PAPERS for row in reproduce.rows(paper) if "script" in row}
    assert used == {script.stem for script in SCRIPTS}
    assert [script for script in sorted(used) if "quick" not in reproduce.runs(script)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_names_its_source_and_its_times(script):
    source = script.read_text(encoding="utf-8")
    described = ast.get_docstring(ast.parse(source))
    part = r"([Ff]igures?|[Tt]ables?|[Ee]xperiments?|[Ss]ections?|[Aa]ppendi\w+) [A-Z\d]"
    assert re.search(part + r"|\(20\d\d\)", described)
    command = f"python examples/papers/{script.name}"
    assert re.search(rf"{command}  +.* \d+ (s|min|h)\b", described)
    assert ("full=False" in source) != (f"{command} --full  " in described)


@pytest.mark.slow
def test_a_script_saves_the_numbers_that_the_page_shows(tmp_path, reproduce):
    for library in ("matplotlib", "pandas", "scipy", "sklearn"):
        pytest.importorskip(library)
    script = ROOT / "examples" / "papers" / "pkex_mmd_diabetes.py"
    command = [sys.executable, str(script), "--output", str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, **reproduce.ENVIRONMENT}, timeout=300)
    saved = json.loads((tmp_path / "pkex_mmd_diabetes.json").read_text(encoding="utf-8"))
    shown = reproduce.runs(script.stem)["quick"]["numbers"]
    assert saved["numbers"].keys() == shown.keys()
    for name, number in saved["numbers"].items():
        same = number if isinstance(number, str) else pytest.approx(number, rel=1e-3)
        assert shown[name] == same
    assert (tmp_path / "pkex_mmd_diabetes.png").read_bytes().startswith(b"\x89PNG")
