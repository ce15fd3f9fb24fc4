"""The order of the package's rooms: a file imports only from rooms above its own; no circles."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pkex

ROOT = Path(pkex.__file__).parent
# From the bottom up: what stands in a line knows nothing of the lines below it.
ROOMS = [
    "errors",
    "typing",
    "inputs",
    "tables",
    "execution",
    "kernels",
    "games",
    "functions",
    "results",
    "adapters",
    "explain",
    "compare",
    "sensitivity",
    "models",
    "",  # the package itself, as users see it
    "integrations",
    "cli",
    "__main__",
]


def _module(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {_module(path): path for path in ROOT.rglob("*.py")}


def _room(module):
    return module.split(".")[1] if "." in module else ""


def _imported(module):
    """Return the modules of the package that one imports, wherever it does, types included."""
    found = set()
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{alias.name}" for alias in node.names} - {"pkex._core"}
            found |= {name if name in FILES else node.module for name in named}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & set(FILES) - {module}


def test_every_file_stands_in_a_room():
    assert {_room(module) for module in FILES} == set(ROOMS)


def test_a_room_imports_only_from_rooms_above_it():
    wrong = [
        f"{module} imports {other}"
        for module in FILES
        for other in _imported(module)
        if ROOMS.index(_room(other)) > ROOMS.index(_room(module))
    ]
    assert not wrong, wrong


def test_no_files_import_each_other_in_a_circle():
    # The sorter raises CycleError, which names the circle.
    assert list(TopologicalSorter({module: _imported(module) for module in FILES}).static_order())
