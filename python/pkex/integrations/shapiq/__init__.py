"""An explainer with shapiq's arguments and results, and a game for everything else of shapiq."""

from __future__ import annotations

from pkex.inputs.optional import missing_library

try:
    from pkex.integrations.shapiq.explainer import ProductKernelExplainer
    from pkex.integrations.shapiq.game import KernelGame
except ImportError as error:
    raise missing_library("pkex.integrations.shapiq", "shapiq") from error

__all__ = ["KernelGame", "ProductKernelExplainer"]
