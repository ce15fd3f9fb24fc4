"""The package's own exception."""

from __future__ import annotations

__all__ = ["UnsupportedModelError"]


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
