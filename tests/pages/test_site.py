"""What `make docs` does beside Sphinx: formulas, long names, and the check of the built site."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch):
    """Import a module from one of these folders."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    monkeypatch.syspath_prepend(ROOT / "tools")
    yield importlib.import_module
    for name in ("check_site", "forge_links", "formulas", "long_names"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Σ_i α_i k(x, x_ij)", "Σ[i] α[i] k(x, x[ij])"),
        ("∏_{j∈S} a_j · ∏_{j∉S} b_j", "∏[j∈S] a[j] · ∏[j∉S] b[j]"),
        ("h^k_q, λ^{k−1}_q", "h{k}[q], λ{k−1}[q]"),
        ("(1−t)^{δ_l}, 10^8, min_{s>0}", "(1−t){δ[l]}, 10{8}, min[s>0]"),
        ("Σ_i |coefficients_i|", "Σ[i] |coefficients[i]|"),
        ("n_jobs, X_reference, log_odds, __call__", "n_jobs, X_reference, log_odds, __call__"),
    ],
)
def test_formulas_have_scripts_and_names_have_not(load, text, shown):
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    brackets = {nodes.subscript: "[{}]", nodes.superscript: "{{{}}}"}

    def told(node):
        if isinstance(node, nodes.Text):
            return str(node)
        return brackets[type(node)].format("".join(map(told, node.children)))

    assert "".join(map(told, load("formulas").scripted(text))) == shown


def test_long_names_may_break_after_underscores_and_points(load):
    pytest.importorskip("sphinx")
    parts = load("long_names").PARTS
    assert parts.split("pkex.kernels.RBF") == ["pkex.", "kernels.", "RBF"]
    assert parts.split("Tests::test_it") == ["Tests::", "test_", "it"]
    assert parts.split("alpha=0.25, __call__") == ["alpha=0.25, __call__"]


PAGE = '<a href="other.html#place">there</a> <img src="picture.png"> <p id="here"></p>'
OTHER = (
    '<a href="index.html#here">back</a> <a href="https://example.org">out</a> <p id="place"></p>'
)


@pytest.fixture
def site(tmp_path):
    """A site without a fault."""
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "other.html").write_text(OTHER, encoding="utf-8")
    (tmp_path / "picture.png").touch()
    (tmp_path / "site.css").write_text("p { color: black }", encoding="utf-8")
    return tmp_path


def test_a_site_whose_links_lead_somewhere_passes(load, site):
    assert list(load("check_site").problems(site)) == []


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("other.html", "<p></p>", "index.html: no place for other.html#place"),
        ("index.html", '<a href="none.html">', "index.html: no file for none.html"),
        ("index.html", PAGE + '<a href="#none">', "index.html: no place for #none"),
        ("index.html", PAGE + '<img src="none.png">', "index.html: no file for none.png"),
        ("index.html", PAGE + '<script src="//cdn.org/a.js">', "index.html loads //cdn.org/a.js"),
        ("site.css", "@import 'a.css'", "site.css loads something from elsewhere"),
    ],
)
def test_a_link_to_nowhere_or_something_from_the_net_is_found(load, site, file, text, problem):
    (site / file).write_text(text, encoding="utf-8")
    assert problem in list(load("check_site").problems(site))


def test_a_site_without_pages_is_found(load, tmp_path):
    assert len(list(load("check_site").problems(tmp_path))) == 1


@pytest.mark.parametrize(
    ("document", "link", "page"),
    [
        ("limits", "../SECURITY.md#files", "project/security.md#files"),
        ("drop-in", "../examples/wine.py", "gallery/wine.md"),
        ("how-to/plots", "../../examples/wine.py", "../gallery/wine.md"),
        ("reproduction", "../examples/papers/a_b.py", "gallery/papers/a_b.md"),
        ("how-to/plots", "../limits.md", "../limits.md"),
    ],
)
def test_links_to_files_of_the_repository_lead_to_pages_of_the_site(load, document, link, page):
    pytest.importorskip("sphinx")
    source = [f"[text]({link})"]
    load("forge_links").lead_to_pages(None, document, source)
    assert source == [f"[text]({page})"]
