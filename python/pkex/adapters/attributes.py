"""The functions of fitted attributes, which a model's owner may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pkex.errors import UnsupportedModelError
from pkex.functions.expansion import KernelExpansion
from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["expansion_of", "usable"]


def expansion_of(
    model: Any, points: Float, coefficients: Any, kernel: Kernel, intercept: Any
) -> KernelExpansion:
    """Return the expansion of fitted attributes, or say that they are unusable."""
    with usable(model):
        return KernelExpansion(points, coefficients, kernel, intercept)


@contextmanager
def usable(model: Any) -> Iterator[None]:
    """Say that a model's fitted attributes are unusable where a function of them is refused."""
    try:
        yield
    except ValueError as error:
        raise UnsupportedModelError(
            f"{type(model).__name__} has unusable fitted attributes: {error}"
        ) from error
