"""Run the experiments of the papers, and write their numbers into docs/reproduction.md.

    python tools/reproduce.py                   all scripts of examples/papers, then the tables
    python tools/reproduce.py NAME ...          these scripts, such as pkex_theorems
    python tools/reproduce.py --full NAME ...   these, with the settings of the paper
    python tools/reproduce.py --tables          only the tables

docs/reproduction has the rows of the tables (a TOML file per paper), and the numbers and pictures
that the scripts save there.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "papers"
PAGE = ROOT / "docs" / "reproduction.md"
RECORDS = ROOT / "docs" / "reproduction"
ENVIRONMENT = {"MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
HEADINGS = ("In the paper", "In pkex", "Paper's result", "Result here", "Script", "Remarks")


def script_names() -> list[str]:
    """Return the names of the experiments, each with the paper in front."""
    return sorted(path.stem for path in SCRIPTS.glob("*_*.py"))


def rows(paper: str) -> list[dict[str, str]]:
    """Return the rows of a paper's table."""
    return tomllib.loads((RECORDS / f"{paper}.toml").read_text(encoding="utf-8"))["row"]


def runs(script: str) -> dict[str, dict]:
    """Return what the script saved: "quick", and "full" if it ran with the paper's settings."""
    files = {"quick": RECORDS / f"{script}.json", "full": RECORDS / f"{script}_full.json"}
    return {
        kind: json.loads(file.read_text(encoding="utf-8"))
        for kind, file in files.items()
        if file.exists()
    }


def duration(seconds: float) -> str:
    if seconds >= 100.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1.0 else "1 s"


def cells(row: dict[str, str]) -> list[str]:
    """Return the cells of one row, with the numbers of the script's runs."""
    script = row.get("script")
    results, settings = [], [f"[script](../examples/papers/{script}.py)"]
    for kind, run in runs(script).items() if script else ():
        template = row.get("full", row["here"]) if kind == "full" else row["here"]
        prefix = "`--full`: " if kind == "full" else ""
        numbers = template.format_map(run["numbers"])
        # Lines do not break after a minus sign.
        results.append(prefix + re.sub(r"(?<=\de)-(?=\d)|(?<!\w)-(?=\d)", "−", numbers))
        settings.append(f"{prefix}seed {run['seed']}, {duration(run['cpu_seconds'])}")
    return [
        f"{row['statement']}: {row['subject']}",
        row["pkex"],
        row.get("paper", ""),
        "<br>".join(results) if script else row.get("here", ""),
        "<br>".join(settings) if script else "",
        row.get("remarks", ""),
    ]


def table(paper: str) -> str:
    """Return a paper's table in Markdown."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *map(cells, rows(paper))]
    escaped = ([" ".join(cell.split()).replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def with_tables(page: str) -> str:
    """Return the text of the page, with its tables made again."""
    return TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], page)


def run(script: str, full: bool) -> None:
    """Run one script, which saves its numbers and picture."""
    command = [sys.executable, str(SCRIPTS / f"{script}.py"), "--output", str(RECORDS)]
    print(f"{script}:", flush=True)
    subprocess.run(command + ["--full"] * full, check=True, env={**os.environ, **ENVIRONMENT})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts; all if there is none")
    parser.add_argument("--full", action="store_true", help="with the settings of the paper")
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    settings = parser.parse_args()
    if settings.full and not settings.names:
        parser.error("--full takes hours for all scripts: name the scripts to run")
    for name in [] if settings.tables else settings.names or script_names():
        run(name, settings.full)
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
