"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write bytes, or a text as UTF-8, beside the place, and put it there when it is whole.

    A link stays, and so do the permissions of a file that is there. What is there and no regular
    file, such as a pipe or a device, is written straight into.

    Raises
    ------
    OSError
        If that cannot be done; then nothing has changed.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    place = Path(path)
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    place = Path(os.path.realpath(place))
    # The name of the file may be as long as names can be.
    beside = place.with_name(f".{place.name[:40]}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        if place.exists():
            beside.chmod(stat.S_IMODE(place.stat().st_mode))
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
