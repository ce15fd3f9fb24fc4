r"""Formulas in plain text get subscripts and superscripts: x_ij, ∏_{j∈S} a_j, t^q (1−t)^{d−1−q}.

So pages and docstrings are readable as they are written, on a forge and in `help`, and formulas
need no scripts and no fonts of their own on the site.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

# Below, in braces, or one letter, or up to three after a single one: points_i, x_ij, unlike n_jobs.
BRACED = r"(?<=[^\W_]|[Σ∏∫})])_\{(?P<braced>[^{}]*)\}"
SHORT = r"(?<![^\W_]{2})(?<=[^\W_]|[Σ∏∫})])_(?P<short>[^\W_]{2,3})(?!\w)"
LETTER = r"(?<=[^\W_]|[Σ∏∫})])_(?P<letter>[^\W_])(?!\w)"
# Above, in braces or a word: t^q, e^{2s}.
ABOVE = r"(?<=[\w)\]}])\^(?:\{(?P<above>[^{}]*)\}|(?P<word>[^\W_]+))"
SCRIPT = re.compile(f"{BRACED}|{SHORT}|{LETTER}|{ABOVE}")
# What has underscores of its own.
LITERAL = (nodes.literal, nodes.literal_block, nodes.raw)


class Scripts(SphinxPostTransform):
    """Turns _ and ^ in running text into subscripts and superscripts."""

    default_priority = 700

    def run(self, **_: object) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if SCRIPT.search(text) and not is_literal(text):
                text.parent.replace(text, scripted(str(text)))


def is_literal(text: nodes.Text) -> bool:
    """Whether a text is code, or a part of a signature."""
    node = text.parent
    while node is not None:
        if isinstance(node, LITERAL) or node.tagname.startswith("desc_"):
            return node.tagname != "desc_content"
        node = node.parent
    return False


def scripted(text: str) -> list[nodes.Node]:
    """Return a text as nodes, with nodes for its scripts."""
    found: list[nodes.Node] = []
    end = 0
    for match in SCRIPT.finditer(text):
        kind = nodes.subscript if match[0].startswith("_") else nodes.superscript
        script = next(group for group in match.groups() if group is not None)
        found += [nodes.Text(text[end : match.start()]), kind("", "", *scripted(script))]
        end = match.end()
    return [*found, nodes.Text(text[end:])]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(Scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
