"""Links that lead to files of the repository on a forge lead to their pages on the site."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

# A link's target, relative to docs/, and its page.
PAGES = {
    r"\.\./README\.md": "index.md",
    r"\.\./CHANGELOG\.md": "project/changelog.md",
    r"\.\./CONTRIBUTING\.md": "project/contributing.md",
    r"\.\./SECURITY\.md": "project/security.md",
    r"\.\./examples/": "gallery/index.md",
    r"\.\./examples/(\w+)\.py": r"gallery/\1.md",
    r"\.\./examples/papers/(\w+)\.py": r"gallery/papers/\1.md",
}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", lead_to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def lead_to_pages(_: Sphinx, document: str, source: list[str]) -> None:
    """Replace the targets of links in one page."""
    # From the page's folder to docs/.
    up = "../" * document.count("/")
    for target, page in PAGES.items():
        link = rf"\]\({re.escape(up)}{target}(?P<place>#[^)]*)?\)"
        source[0] = re.sub(link, rf"]({up}{page}\g<place>)", source[0])
