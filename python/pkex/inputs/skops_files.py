"""Saving with skops: an error if the file could not be loaded again."""

from __future__ import annotations

from typing import Any, SupportsIndex


class SkopsGuard:
    """Base class of objects that are pickled by their state, and saved by skops if possible.

    skops calls ``__reduce__`` of objects; pickle, copy and joblib call ``__reduce_ex__``.
    """

    __slots__ = ()

    def _unsaved_by_skops(self) -> str:
        """Return why skops cannot save the object, after "objects"; empty if it can."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return object.__new__, (type(self),), self.__getstate__()

    def __reduce__(self) -> tuple[Any, ...]:
        reason = self._unsaved_by_skops()
        if reason:
            raise TypeError(f"skops does not save {type(self).__name__} objects{reason}")
        return self.__reduce_ex__(2)
