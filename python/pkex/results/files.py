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
    target = Path(path)
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    with replacing(target) as temporary_path:
        temporary_path.write_bytes(content)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file, which is moved to the path at the end.

    Links and the permissions of an existing file are kept. After an exception, the temporary file
    is removed and an existing file is unchanged.
    """
    target = Path(os.path.realpath(path))
    # Shortened, because the name may already have the largest length that is allowed.
    temporary_path = target.with_name(f".{target.name[:40]}.{os.getpid()}.part")
    try:
        yield temporary_path
        if target.exists():
            temporary_path.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary_path.replace(target)
    finally:
        temporary_path.unlink(missing_ok=True)
