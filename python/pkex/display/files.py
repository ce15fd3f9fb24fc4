"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8 beside the place, and put it there when it is whole.

    Raises
    ------
    OSError
        If that cannot be done; then nothing has changed.
    """
    place = Path(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="")
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
