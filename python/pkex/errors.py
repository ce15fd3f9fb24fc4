"""The package's own exception, and how it warns."""

from __future__ import annotations

import sys
import warnings

__all__ = ["UnsupportedModelError", "missing_library", "warn"]


class UnsupportedModelError(TypeError, ValueError):
    """A model, kernel or function that cannot be explained exactly.

    It is both a TypeError, as shapiq has it, and a ValueError.

    The message names the part that is not supported and says what is. It is raised when an
    `Explainer` is made, never later, and also when a model's own output contradicts what its
    fitted attributes say: a wrong explanation is never returned in silence.

    Examples
    --------
    >>> import pkex
    >>> from sklearn.svm import SVR
    >>> model = SVR(kernel="sigmoid").fit([[0.0], [1.0]], [0.0, 1.0])
    >>> pkex.Explainer(model)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pkex.UnsupportedModelError: SVR with kernel 'sigmoid' is not supported...
    """

    # Where users import it from, which tracebacks show.
    __module__ = "pkex"


def missing_library(what: str, library: str, extra: str = "") -> ImportError:
    """Return the error that something needs a library, and what installs it.

    The name of the library installs it from anywhere, an extra of pkex from where pkex is.
    """
    return ImportError(
        f"{what} needs {library}: pip install {library} (or pip install 'pkex[{extra or library}]')"
    )


def warn(message: str) -> None:
    """Warn, pointing at the line outside pkex that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pkex."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level)
