"""Numbers and lists in messages."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, thing: str) -> str:
    """Return "1 row", or "2 rows"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def shown(names: Sequence[object], most: int = 12) -> str:
    """Return a list of names for messages, with the first `most` of them."""
    listed = ", ".join(map(repr, names[:most]))
    return f"[{listed}]" if len(names) <= most else f"[{listed}, … {len(names) - most} more]"


def columns_named(names: Sequence[object]) -> str:
    """Return "column 'a'", or "columns ['a', 'b']"."""
    return f"column {names[0]!r}" if len(names) == 1 else f"columns {shown(names)}"
