"""Atomic writing of files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write bytes, or a text as UTF-8, to a temporary file and move it to the path.

    Links and the permissions of an existing file are kept. A path that exists and is not a regular
    file, such as a pipe or a device, is written to directly.

    Raises
    ------
    OSError
        If the file cannot be written; an existing file is then unchanged.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    place = Path(path)
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    with replacing(place) as beside:
        beside.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file, which is moved to the path at the end.

    Links and the permissions of an existing file are kept. After an exception, the temporary file
    is removed and an existing file is unchanged.
    """
    place = Path(os.path.realpath(path))
    # Shortened, because the name may already have the largest length that is allowed.
    beside = place.with_name(f".{place.name[:40]}.{os.getpid()}.part")
    try:
        yield beside
        if place.exists():
            beside.chmod(stat.S_IMODE(place.stat().st_mode))
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
