"""An explainer with the arguments and results of shap's own: exact values of kernel machines."""

from __future__ import annotations

from pkex.inputs.optional import missing_library

try:
    from pkex.integrations.shap.explainer import KernelMachineExplainer
except ImportError as error:
    raise missing_library("pkex.integrations.shap", "shap") from error

__all__ = ["KernelMachineExplainer"]
