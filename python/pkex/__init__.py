"""Exact Shapley values for kernel methods.

Give a fitted support vector machine or kernel ridge regression to `Explainer`, and rows to the
explainer; `KernelExpansion` and `kernels` describe models of other libraries, `adapters.register`
teaches `Explainer` to read them, and `product_game` is the engine itself. `mmd` says which features
make two samples differ, `hsic` which carry a dependence.
"""

from __future__ import annotations

from pkex import adapters, kernels
from pkex.errors import UnsupportedModelError
from pkex.expansion import KernelExpansion
from pkex.explainer import Explainer
from pkex.explanation import Explanation
from pkex.games import product_game
from pkex.interactions import Interactions
from pkex.statistics import HSICResult, MMDDrift, MMDResult, hsic, mmd, witness

__all__ = [
    "Explainer",
    "Explanation",
    "HSICResult",
    "Interactions",
    "KernelExpansion",
    "MMDDrift",
    "MMDResult",
    "UnsupportedModelError",
    "adapters",
    "hsic",
    "kernels",
    "mmd",
    "product_game",
    "witness",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        # Reading the installed metadata costs more than the rest of the import.
        from importlib.metadata import version

        return version("pkex")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
