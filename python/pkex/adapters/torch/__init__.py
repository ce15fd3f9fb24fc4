"""Adapters of GPyTorch: importing a module registers its adapters."""

from __future__ import annotations

from pkex.adapters.torch import approximate, exact

__all__ = ["approximate", "exact"]
