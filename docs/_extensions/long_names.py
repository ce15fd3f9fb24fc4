"""Long names in text may break after an underscore or a point, so that tables fit the page."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

LONG = 16
PARTS = re.compile(r"(?<=[a-z][_.])(?=[^\W_])|(?<=::)")


class Breaks(SphinxPostTransform):
    """Marks where code in text may go on in the next line; what is copied stays the same."""

    default_priority = 700
    formats = ("html",)

    def run(self, **_: object) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            if len(literal.astext()) >= LONG and len(literal) == 1:
                first, *others = PARTS.split(literal.astext())
                literal.children = []
                literal += nodes.Text(first)
                for part in others:
                    literal += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(Breaks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
