"""The package's own exception, and how it warns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["UnsupportedModelError", "subject", "warn"]

# What warnings begin with: which of several things they are about.
_SUBJECT: ContextVar[str] = ContextVar("subject", default="")


class UnsupportedModelError(TypeError, ValueError):
    """A model, kernel or function that cannot be explained exactly.

    It is both a TypeError, as shapiq has it, and a ValueError.

    The message names the part that is not supported and says what is. It is raised when an
    `Explainer` is made, and also when a model's own output contradicts what its fitted attributes
    say; later only where a calibrated probability steps within rounding error of a decision value.
    A wrong explanation is never returned in silence.

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


@contextmanager
def subject(words: str) -> Iterator[None]:
    """Have warnings begin with words that say what they are about."""
    token = _SUBJECT.set(words)
    try:
        yield
    finally:
        _SUBJECT.reset(token)


def warn(message: str) -> None:
    """Warn, pointing at the line outside pkex that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pkex."):
        frame = frame.f_back
        level += 1
    warnings.warn(_SUBJECT.get() + message, UserWarning, stacklevel=level)
