"""Titles and descriptions for search engines: the first paragraph of each page, shortened."""

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
    """Add a description to the head of a page that has text, and the heading to the first title."""
    if name == "index":
        context["docstitle"] = f"pkex: {context['title']}"
    paragraph = page.next_node(nodes.paragraph) if page is not None else None
    if paragraph is not None:
        plain = "".join(text for text in paragraph.findall(nodes.Text) if not _is_html(text))
        text = escape(shorten(plain, LONGEST, placeholder=" …"), quote=True)
        tag = f'<meta name="description" content="{text}" />'
        context["metatags"] = f"{context.get('metatags', '')}{tag}\n"


def _is_html(text: nodes.Text) -> bool:
    return isinstance(text.parent, nodes.raw)
