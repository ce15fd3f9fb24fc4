"""Adapters for the models of BoTorch, importable only where it is."""

from __future__ import annotations

from pkex.adapters.botorch import kernels, models, pairwise

__all__ = ["kernels", "models", "pairwise"]
