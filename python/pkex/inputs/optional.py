"""Libraries that pkex can do without."""

from __future__ import annotations

__all__ = ["missing_library"]


def missing_library(what: str, library: str, extra: str = "") -> ImportError:
    """Return the error that something needs a library, and what installs it.

    The name of the library installs it from anywhere, an extra of pkex from where pkex is.
    """
    return ImportError(
        f"{what} needs {library}: pip install {library} (or pip install 'pkex[{extra or library}]')"
    )
