"""Exact Shapley values for kernel methods.

Give a fitted support vector machine or kernel ridge regression to `Explainer`, and rows to the
explainer; `KernelExpansion` and `kernels` describe models of other libraries, `adapters.register`
teaches `Explainer` to read them, and `product_game` is the engine itself.
"""

from __future__ import annotations

from pkex import adapters, kernels
from pkex.errors import UnsupportedModelError
from pkex.expansion import KernelExpansion
from pkex.explainer import Explainer
from pkex.explanation import Explanation
from pkex.games import product_game

__all__ = [
    "Explainer",
    "Explanation",
    "KernelExpansion",
    "UnsupportedModelError",
    "adapters",
    "kernels",
    "product_game",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        # Reading the installed metadata costs more than the rest of the import.
        from importlib.metadata import version

        return version("pkex")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
