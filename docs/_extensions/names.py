"""`Names` in docstrings are links where pkex has them, and else, such as parameters, only names."""

from __future__ import annotations

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", show_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_name(
    _: Sphinx, __: BuildEnvironment, node: pending_xref, shown: nodes.Element
) -> nodes.Element | None:
    """Show a name of which there is no page; one that begins with pkex stays an error."""
    is_name = node.get("refdomain") == "py" and node.get("reftype") == "obj"
    return shown if is_name and not node["reftarget"].startswith("pkex") else None
