"""Numbers and lists in messages."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return "1 row", or "2 rows"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shown(names: Sequence[object], max_names: int = 12) -> str:
    """Return a list of names for messages, with the first `max_names` of them."""
    text = ", ".join(map(repr, names[:max_names]))
    return f"[{text}]" if len(names) <= max_names else f"[{text}, … {len(names) - max_names} more]"


def columns_named(names: Sequence[object]) -> str:
    """Return "column 'a'", or "columns ['a', 'b']"."""
    return f"column {names[0]!r}" if len(names) == 1 else f"columns {shown(names)}"
