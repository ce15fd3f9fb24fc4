"""Optional libraries."""

from __future__ import annotations


def missing_library(feature: str, library: str, extra: str = "") -> ImportError:
    """Return the error that something requires a library, with commands that install it."""
    return ImportError(
        f"{feature} needs {library}: pip install {library} "
        f"(or pip install 'pkex[{extra or library}]')"
    )
