"""An explainer with the arguments and results of shap's own: exact values of kernel machines."""

from __future__ import annotations

try:
    from pkex.integrations.shap.explainer import KernelMachineExplainer
except ImportError as error:
    raise ImportError("pkex.integrations.shap needs shap: pip install 'pkex[shap]'") from error

__all__ = ["KernelMachineExplainer"]
