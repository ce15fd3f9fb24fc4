"""The Python code of the pages runs and prints what they say; links and names lead somewhere.

The ``python`` blocks of a page run in order, as one script. A ``text`` block right after one holds
what it prints. `make docs` checks the rest, on the site that it builds.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import pkex

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted(DOCS.glob("tutorials/*.md"))
GUIDES = sorted(DOCS.glob("how-to/*.md"))
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(DOCS.glob("*.md")),
    *GUIDES,
    *TUTORIALS,
    *sorted(DOCS.glob("project/*.md")),
]
WITH_CODE = [page for page in PAGES if "\n```python\n" in page.read_text(encoding="utf-8")]
# What the code of a page needs; all others share one environment.
LIBRARIES = {
    "gpytorch.md": ("botorch",),
    "optimization.md": ("skopt",),
    "surrogates.md": ("smt", "scipy"),
    "additive-models.md": ("interpret", "pandas"),
    "gaussian-process.md": ("sklearn",),
}
# The code below this line of a page runs only where BoTorch is installed.
WITH_BOTORCH = "<!-- requires botorch -->"
# The README and each tutorial are read in one sitting.
MAX_WORDS = 900
MAX_WORDS_OF_A_GUIDE = 1100
SAVED = re.compile(r"savefig\(\"([\w.]+)\"")
# Reports, which tools/draw_tutorials.py photographs.
REPORTS = re.compile(r"to_html\(\"([\w.]+)\.html\"")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)#?([^)\s]*)\)|src=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _name_with_library(page: Path) -> str:
    """The page's name, which `make test-torch` selects if the page has code for BoTorch."""
    return _name(page) + ("-torch" if WITH_BOTORCH in page.read_text(encoding="utf-8") else "")


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


@pytest.mark.parametrize(
    "page",
    [
        page if page.name == "README.md" else pytest.param(page, marks=pytest.mark.slow)
        for page in WITH_CODE
    ],
    ids=_name_with_library,
)
def test_the_code_on_the_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    for library in LIBRARIES.get(page.name, ("sklearn", "shap", "shapiq", "pandas")):
        pytest.importorskip(library)
    pytest.importorskip("matplotlib").use("agg")
    # Pages show pictures on screen, which are then gone.
    monkeypatch.setattr(
        plt := pytest.importorskip("matplotlib.pyplot"), "show", lambda: plt.close("all")
    )
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if not find_spec("botorch"):
        text = text.partition(WITH_BOTORCH)[0]
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
    for picture in SAVED.findall(text):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("page", TUTORIALS, ids=_name)
def test_a_tutorial_shows_the_pictures_that_its_code_saves(page):
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"\]\(\.\./images/([\w.]+)\)", text)
    assert sorted(shown) == sorted(
        [*SAVED.findall(text), *(f"{report}.png" for report in REPORTS.findall(text))]
    )
    assert shown


@pytest.mark.parametrize("page", [ROOT / "README.md", *TUTORIALS], ids=_name)
def test_the_page_is_short(page):
    assert len(page.read_text(encoding="utf-8").split()) <= MAX_WORDS


@pytest.mark.parametrize("page", GUIDES, ids=_name)
def test_a_how_to_guide_is_short(page):
    assert len(page.read_text(encoding="utf-8").split()) <= MAX_WORDS_OF_A_GUIDE


# Pages about the project and its theory.
_WITHOUT_EXAMPLE = {"api-design", "architecture", "benchmarks", "engine-benchmarks", "index"}
_WITHOUT_EXAMPLE |= {"mathematics"}
USED = [page for page in sorted(DOCS.glob("*.md")) if page.stem not in _WITHOUT_EXAMPLE]


@pytest.mark.parametrize("page", [*USED, *GUIDES], ids=_name)
def test_a_page_starts_with_code_that_runs(page):
    start = page.read_text(encoding="utf-8").partition("\n## ")[0]
    assert re.search(r"^```(python|sh)$", start, re.MULTILINE)


def _places(page: Path) -> set[str]:
    """Names of a page's headings, as a forge makes them for links."""
    headings = HEADING.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_to_files_of_the_project_and_their_headings_lead_somewhere(page):
    text = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for target, place, source in LINK.findall(text):
        if "://" in target:
            continue
        file = page.parent / (target or source) if target or source else page
        assert file.exists(), target or source
        assert not place or place in _places(file), f"{target}#{place}"


def test_no_page_is_without_a_link_to_another():
    linked = {
        (page.parent / match[1]).resolve()
        for page in PAGES
        for match in LINK.finditer(page.read_text(encoding="utf-8"))
        if match[1]
    }
    # Those that the site alone has, and leads to by itself.
    of_the_site = {DOCS / "index.md", *DOCS.glob("project/*.md")}
    of_a_forge = {ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"}
    assert not {page for page in PAGES if page not in linked | of_the_site | of_a_forge}


def test_the_readme_names_how_to_try_and_to_test_a_clone():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in page
    assert "make test" in page


def test_the_readme_states_the_times_of_the_benchmarks():
    speed = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Speed")[2]
    measured = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    stated = re.findall(r"(\d+) (µs|ms)", speed.partition("\n## ")[0])
    assert stated
    for number, unit in stated:
        assert re.search(rf"\b{number}(\.\d)? {unit}", measured), f"{number} {unit}"


def test_the_glossary_is_in_alphabetical_order_and_each_term_has_a_link():
    _, *terms = (DOCS / "glossary.md").read_text(encoding="utf-8").split("\n## ")
    names = [re.sub(r"[^\w ]", "", term.partition("\n")[0].casefold()) for term in terms]
    assert names == sorted(names)
    assert [term.partition("\n")[0] for term in terms if not LINK.search(term)] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_underscores_of_formulas_are_no_emphasis(page):
    text = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    # To some forges ∏_{j} … ∏_{j} is emphasis, as ∏ is no letter; ∏\\_{j} is none to any.
    assert not re.findall(r"[^\w\s\\]_[\w{]", text)


REFERENCE = re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text("utf-8"), re.MULTILINE)


def _public_classes() -> list[str]:
    return [name for name in pkex.__all__ if isinstance(getattr(pkex, name), type)]


def test_the_reference_has_every_public_name():
    listed = [name for name in REFERENCE if name.partition(".")[0] not in _public_classes()]
    listed += [name for name in REFERENCE if name in _public_classes()]
    modules = {"adapters", "kernels", "models"}
    public = {*pkex.__all__, *pkex.kernels.__all__, *pkex.adapters.__all__} - modules
    public |= set(pkex.models.__all__)
    public |= {f"shapiq.{name}" for name in ("KernelGame", "ProductKernelExplainer")}
    public |= {"shap.KernelMachineExplainer"}
    assert sorted(listed) == sorted(public)


def _methods(name: str) -> list[str]:
    """Return the public methods of a class of pkex that are not those of another library."""
    methods = []
    for method in dir(public := getattr(pkex, name)):
        found = inspect.getattr_static(public, method)
        function = getattr(found, "__func__", found)
        if not method.startswith("_") and inspect.isfunction(function):
            methods += [method] * function.__module__.startswith("pkex.")
    return methods


def test_the_reference_has_every_public_method():
    listed = [name for name in REFERENCE if name.partition(".")[0] in _public_classes()]
    # The page says this in a sentence.
    assert {*_methods("Estimate"), "by_class"} == set(_methods("Explanation"))
    described = [name for name in _public_classes() if name != "Estimate"]
    public = [f"{name}.{method}" for name in described for method in _methods(name)]
    assert sorted(listed) == sorted([*_public_classes(), *public])


def test_public_names_and_methods_begin_with_a_sentence():
    for name in REFERENCE:
        found = pkex
        for part in name.split("."):
            homes = (found, pkex.kernels, pkex.adapters, pkex.models)
            found = next((getattr(home, part) for home in homes if hasattr(home, part)), None)
        if found is not None:  # what stands in for other libraries' explainers is tested there
            first = inspect.getdoc(found).splitlines()[0]
            assert first.endswith("."), name


@pytest.mark.parametrize("folder", ["rust/pkex-core/src", "python/pkex"])
def test_the_rooms_that_contributors_read_of_are_those_of_the_code(folder):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.partition(f"| `{folder}/` |")[2].partition("\n\n")[0]
    rooms = [row.split("|")[1] for row in table.splitlines()[2:]]
    listed = {name for names in rooms for name in re.findall(r"`(\w+)/?`", names)}
    found = {path.stem for path in (ROOT / folder).iterdir() if path.suffix in ("", ".py", ".rs")}
    assert listed == {name for name in found if not name.startswith("_")} - {"lib"}


def test_the_readme_has_python_code_to_run():
    assert _blocks((ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_tables_of_the_peers_tests_list_ours():
    page = (ROOT / "docs" / "project" / "peer-tests.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(test_\w+)`", row[3])}
    files = sorted((ROOT / "tests" / "integrations").glob("test_peers_*.py"))
    ours = [re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE) for file in files]
    assert listed == {name for names in ours for name in names}
