"""Adapters for the models of GPyTorch, importable only where it is."""

from __future__ import annotations

from pkex.adapters.gpytorch import approximate, exact

__all__ = ["approximate", "exact"]
