"""Hints in AttributeErrors: where to find an attribute known from other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Never


class AttributeHints:
    """Base class of objects whose AttributeErrors have hints."""

    __slots__ = ()

    # Hints by the names of attributes that are missing here.
    _hints: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Never:
        """Raise AttributeError, with a hint if there is one for the name."""
        hint = f"; {self._hints[name]}" if name in self._hints else ""
        message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=self)
