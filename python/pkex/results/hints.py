"""Hints where that is which users look for under another name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Never

__all__ = ["AttributeHints"]


class AttributeHints:
    """An object whose errors of missing attributes say where to find what users look for."""

    __slots__ = ()

    # By the names that are looked for.
    _hints: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Never:
        """Raise the error that there is no such attribute, with a hint if there is one."""
        hint = f"; {self._hints[name]}" if name in self._hints else ""
        message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=self)
