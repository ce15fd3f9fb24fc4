"""What skops saves: an error at once where a file of skops could not be loaded again."""

from __future__ import annotations

from typing import Any, SupportsIndex

__all__ = ["SkopsGuard"]


class SkopsGuard:
    """An object that is pickled by its state, and that skops saves unless it says why not.

    skops calls ``__reduce__`` of what it saves. pickle, copy and joblib call ``__reduce_ex__``.
    """

    __slots__ = ()

    def _unsaved_by_skops(self) -> str:
        """Return what skops cannot save and what to do, after "objects"; empty if it can."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return object.__new__, (type(self),), self.__getstate__()

    def __reduce__(self) -> tuple[Any, ...]:
        reason = self._unsaved_by_skops()
        if reason:
            raise TypeError(f"skops does not save {type(self).__name__} objects{reason}")
        return self.__reduce_ex__(2)
