"""Everything public, name by name: what users may rely on. Run as a script, it renews the snapshot.

Each line says what a name is; under a callable stands a line for each parameter.
"""

import importlib
import inspect
from functools import cached_property
from pathlib import Path

MODULES = (
    "pkex",
    "pkex.adapters",
    "pkex.integrations.shap",
    "pkex.integrations.shapiq",
    "pkex.kernels",
    "pkex.models",
)
# Special methods that users call by an operator or a statement.
OPERATORS = ("__add__", "__call__", "__getitem__", "__iter__", "__len__", "__mul__", "__rmul__")
SNAPSHOT = Path(__file__).parents[1] / "public_surface.txt"


def _annotation(annotation):
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _parameters(function):
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:  # of a builtin class, as exceptions are
        return
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    keyword_only = False
    for parameter in found:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            keyword_only = True
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "    *"
        if parameter.name in ("self", "cls"):
            continue
        line = stars.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            line += f": {_annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            default = parameter.default
            line += f" = {default.__name__ if callable(default) else repr(default)}"
        yield f"    {line}"


def _returned(function):
    annotation = inspect.get_annotations(function).get("return")
    return "" if annotation is None else f" -> {_annotation(annotation)}"


def _method(name, kind, function):
    library = function.__module__.partition(".")[0]
    if library == "pkex":
        yield f"{name}: {kind}{_returned(function)}"
        yield from _parameters(function)
    else:  # another library's own, whose versions differ
        yield f"{name}: {kind} of {library}"


def _member(name, member, annotation):
    if isinstance(member, cached_property):
        yield f"{name}: property{_returned(member.func)}"
    elif isinstance(member, property):
        yield f"{name}: property{_returned(member.fget)}"
    elif isinstance(member, classmethod | staticmethod):
        yield from _method(name, type(member).__name__, member.__func__)
    elif inspect.isfunction(member):
        yield from _method(name, "method", member)
    else:
        yield f"{name}: attribute" + (f" of type {annotation}" if annotation else "")


def _class(name, cls, public):
    """A class: its public bases, and all members that are not those of its public bases."""
    own = [cls, *(base for base in cls.__mro__[1:] if base.__module__.startswith("pkex"))]
    bases = sorted(public[base] for base in own[1:] if base in public)
    yield f"{name}: class" + (f" ({', '.join(bases)})" if bases else "")
    yield from _parameters(cls)
    members, annotations = {}, {}
    for base in reversed([cls, *(base for base in own[1:] if base not in public)]):
        annotations |= inspect.get_annotations(base)
        members |= dict.fromkeys(inspect.get_annotations(base)) | dict(vars(base))
    for member in sorted(members):
        if member in OPERATORS or not member.startswith("_"):
            yield from _member(f"{name}.{member}", members[member], annotations.get(member))


def public_surface():
    """The lines of the snapshot."""
    modules = [importlib.import_module(name) for name in MODULES]
    names = {
        f"{m.__name__}.{name}": getattr(m, name)
        for m in modules
        for name in (*m.__all__, *getattr(m, "_ON_DEMAND", ()))
    }
    public = {found: name for name, found in names.items() if inspect.isclass(found)}
    for name, found in sorted(names.items()):
        if inspect.isclass(found):
            yield from _class(name, found, public)
        elif inspect.ismodule(found):
            yield f"{name}: module"
        else:
            yield f"{name}: function{_returned(found)}"
            yield from _parameters(found)


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_surface()) + "\n", encoding="utf-8")
