"""Errors of libraries that lack memory, raised as a MemoryError."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pkex.errors import UnsupportedModelError

# Messages of NumPy, SciPy, LAPACK and torch in errors of other types, which only their texts
# distinguish from other errors.
_WORDS = re.compile(
    r"(out of|not enough|insufficient|no) memory|memory (allocation|error)|memoryerror|"
    r"(unable|failed|cannot|can't|could not|couldn't) (to )?allocate|array is too big|"
    r"maximum (allowed|possible|supported) (dimension|size)",
    re.IGNORECASE,
)


def is_of_memory(error: BaseException) -> bool:
    """Return whether an error, or a cause of it, reports a lack of memory."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        if isinstance(cause, MemoryError) or _WORDS.search(str(cause)):
            return True
        causes.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return False


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise a MemoryError if a library lacks memory, for any type of its error."""
    try:
        yield
    except (MemoryError, UnsupportedModelError):
        raise
    except Exception as error:
        if not is_of_memory(error):
            raise
        raise MemoryError(
            f"not enough memory: {error}; compute fewer rows at a time, with fewer background "
            "rows, landmarks or draws"
        ) from error
