"""Pages, docstrings and messages use the field's words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Every page, and rooms in these words; the others follow.
FOLDERS = (".", "docs", "docs/how-to", "docs/project", "docs/tutorials")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]
PAGES += [ROOT / "docs/api.rst"]
SCRIPTS = [
    *sorted((ROOT / "examples").rglob("*.py")),
    *sorted((ROOT / "benches/python").glob("*.py")),
    *sorted((ROOT / "tools").glob("*.py")),
]
ROOMS = (
    "adapters",
    "cli",
    "compare",
    "execution",
    "explain",
    "functions",
    "games",
    "inputs",
    "integrations",
    "kernels",
    "models",
    "results",
    "sensitivity",
    "tables",
)
MODULES = [path for room in ROOMS for path in sorted((ROOT / "python/pkex" / room).rglob("*.py"))]

# Pattern: what to write in its place.
INSTEAD = {
    r"(?<!there )\b(is|are|was|were) no\b(?! (longer|more|less|fewer))": "is not (a)",
    r"(^|[.:] )Of an? ": "begin with the subject: 'For a …, pkex …'",
    r"\bworths?\b(?! :)": "value of the coalition, v(S)",
    r"\bown points\b": "stored points (support vectors or training rows)",
    r"\btruth values\b": "booleans",
    r"\b(refuses?|refused|takes? no notice|told to)\b": "raises, ignores, does not support",
    r"\bbut for\b": "except",
    r"\balike\b": "similar, equally",
    r"\b(how sure|surest|sure of)\b": "uncertainty, most certain",
    r"\b(family p|alone p)\b": "family-wise adjusted p-value, univariate p-value",
    r"\bgoes together with\b": "is associated with",
    r"\bhardly varies\b": "near-constant",
    r"\b(by itself|on its own)\b": "separately, independently",
    r"\b(relabell?ings?|relabell?ed)\b": "permutation, permuted",
    r"\b(ladder|rung|shelf|remedy)\b": "describe the operation",
    r"(^|[.:] )(Compared|Counted|Drawn|Explained|Printed) (is|are)\b": "begin with the subject",
    r"\b(unknown|left-out) (features?|columns?|players?)\b": "absent features",
    r"\bwhat is known\b": "name it: the present features, the training data",
    r"\bmissing entr(y|ies)\b": "missing values",
    r"\bentries of (a|the|its) (row|column)s?\b": "values of the column",
    r"\bthe paper's (formula|game)\b": "cite the paper and its equation",
    r"\brows that features are drawn from\b": "background data",
    r"\bbeside\b": "next to, compared with",
    r", too\b": "also, as well",
    r"\b(verdicts?|findings)\b": "result, conclusion",
    r"\b(lets?|letting) go\b": "releases, removes",
    r"\bnot to be told\b": "not distinguishable",
}
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of prose of a page, or the docstrings and messages of a module."""
    source = path.read_text(encoding="utf-8")
    if path.suffix in (".md", ".rst"):
        prose = CODE.sub(lambda code: "\n" * code.group().count("\n"), source)
        yield from enumerate(prose.splitlines(), start=1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            prose = CODE.sub("", node.value)
            yield from enumerate(prose.splitlines(), start=node.lineno)


@pytest.mark.parametrize(
    "path", [*PAGES, *MODULES, *SCRIPTS], ids=lambda path: str(path.relative_to(ROOT))
)
def test_texts_are_in_the_words_of_the_field(path):
    wrong = [
        f"{path.name}:{line}: {found.group().strip()!r}: write {instead}"
        for line, text in texts(path)
        for pattern, instead in INSTEAD.items()
        for found in re.finditer(pattern, text.strip())
    ]
    assert not wrong, "\n".join(wrong)
