"""Kernels as what JSON knows, and back: by the names of classes and of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkex.kernels.base import Kernel
from pkex.kernels.centered import CenteredColumn

__all__ = ["kernel_of", "plain_kernel"]


def plain_kernel(kernel: Kernel | CenteredColumn) -> dict[str, Any]:
    """Return a kernel of this package as a dict of its class's name and its parameters.

    Raises
    ------
    TypeError
        If it is of a class that this package does not define.
    """
    name = type(kernel).__name__
    if _classes().get(name) is not type(kernel):
        raise TypeError(
            f"kernel {kernel!r} is of no class of pkex.kernels, and cannot be written down; keep "
            "it with pickle"
        )
    # Kernels are dataclasses: they have nothing but their parameters.
    parameters = {own: _plain(value) for own, value in vars(kernel).items()}
    return {"class": name, "parameters": parameters}


def kernel_of(plain: Any) -> Kernel:
    """Return the kernel that `plain_kernel` has written down; only classes of pkex are made.

    Raises
    ------
    ValueError
        If there is no such kernel.
    """
    try:
        kind, parameters = plain["class"], plain["parameters"]
        made: Kernel = _classes()[kind](**{name: _read(p) for name, p in parameters.items()})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"there is no kernel {plain!r} ({error})") from None
    return made


def _plain(parameter: Any) -> Any:
    if isinstance(parameter, Kernel | CenteredColumn):
        return plain_kernel(parameter)
    if isinstance(parameter, tuple):
        return [_plain(item) for item in parameter]
    return parameter


def _read(parameter: Any) -> Any:
    if isinstance(parameter, Mapping):
        return kernel_of(parameter)
    if isinstance(parameter, list):
        return tuple(_read(item) for item in parameter)
    return parameter


def _classes() -> dict[str, Any]:
    """Return the classes of kernels that this package defines, by name."""
    found: dict[str, Any] = {}
    waiting: list[Any] = [Kernel, CenteredColumn]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind.__module__.startswith("pkex."):
                found[kind.__name__] = kind
                waiting.append(kind)
    return found
