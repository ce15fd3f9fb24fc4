"""Kernels as dicts for JSON, of the names of classes and of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pkex.kernels.base import Kernel
from pkex.kernels.centered import CenteredColumn


def kernel_to_dict(kernel: Kernel | CenteredColumn) -> dict[str, Any]:
    """Return a kernel of this package as a dict of its class name and its parameters.

    Raises
    ------
    TypeError
        If its class is not defined in this package.
    """
    class_name = type(kernel).__name__
    if _classes().get(class_name) is not type(kernel):
        raise TypeError(
            f"kernel {kernel!r} is not an instance of a class of pkex.kernels, so it cannot be "
            "converted to JSON. Save it with pickle"
        )
    # Kernels are dataclasses: their attributes are their parameters.
    parameters = {name: _plain_parameter(value) for name, value in vars(kernel).items()}
    return {"class": class_name, "parameters": parameters}


def kernel_from_dict(plain: Any) -> Kernel:
    """Return the kernel that a dict describes; only classes of pkex are created.

    Raises
    ------
    ValueError
        If there is no such kernel.
    """
    try:
        kind, parameters = plain["class"], plain["parameters"]
        kernel: Kernel = _classes()[kind](
            **{name: _read_parameter(p) for name, p in parameters.items()}
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"there is no kernel {plain!r} ({error})") from None
    return kernel


def _plain_parameter(parameter: Any) -> Any:
    if isinstance(parameter, Kernel | CenteredColumn):
        return kernel_to_dict(parameter)
    if isinstance(parameter, tuple):
        return [_plain_parameter(item) for item in parameter]
    return parameter


def _read_parameter(parameter: Any) -> Any:
    if isinstance(parameter, Mapping):
        return kernel_from_dict(parameter)
    if isinstance(parameter, list):
        return tuple(_read_parameter(item) for item in parameter)
    return parameter


def _classes() -> dict[str, Any]:
    """Return the classes of kernels that this package defines, by name."""
    classes: dict[str, Any] = {}
    pending: list[Any] = [Kernel, CenteredColumn]
    while pending:
        for kind in pending.pop().__subclasses__():
            if kind.__module__.startswith("pkex."):
                classes[kind.__name__] = kind
                pending.append(kind)
    return classes
