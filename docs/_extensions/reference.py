"""What the API reference shows otherwise than Sphinx would."""

from __future__ import annotations

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", show_name)
    app.connect("autodoc-process-signature", hide_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def show_name(
    _: Sphinx, __: BuildEnvironment, node: pending_xref, shown: nodes.Element
) -> nodes.Element | None:
    """Show `names` in docstrings that have no page, such as parameters, without a link.

    One that begins with pkex is an error.
    """
    is_name = node.get("refdomain") == "py" and node.get("reftype") == "obj"
    return shown if is_name and not node["reftarget"].startswith("pkex") else None


def hide_signature(
    _: Sphinx, what: str, __: str, found: object, *signature: object
) -> tuple[str, None] | None:
    """Hide how a class is made that pkex makes for users: its docstring tells no parameters."""
    return ("", None) if what == "class" and "Parameters\n" not in (found.__doc__ or "") else None
