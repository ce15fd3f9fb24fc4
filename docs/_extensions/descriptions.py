"""The description of each page for search engines: its first paragraph, shortened."""

from __future__ import annotations

from html import escape
from textwrap import shorten

from docutils import nodes
from sphinx.application import Sphinx

# Search engines show about so many characters.
LONGEST = 160


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def describe(
    _: Sphinx, name: str, __: str, context: dict[str, object], page: nodes.document | None
) -> None:
    """Add a description to the head of a page that has text."""
    paragraph = page.next_node(nodes.paragraph) if page is not None else None
    if paragraph is not None:
        text = escape(shorten(paragraph.astext(), LONGEST, placeholder=" …"), quote=True)
        tag = f'<meta name="description" content="{text}" />'
        context["metatags"] = f"{context.get('metatags', '')}{tag}\n"
