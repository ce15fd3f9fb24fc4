"""Attribution of two-sample differences (MMD), drift and dependence (HSIC) to features."""

from __future__ import annotations

from pkex.compare.drift.mmd_drift import MMDDrift
from pkex.compare.drift.result import DriftResult
from pkex.compare.drift.timeline import DriftTimeline
from pkex.compare.hsic import hsic
from pkex.compare.mmd import mmd
from pkex.compare.results.hsic import HSICResult
from pkex.compare.results.mmd import MMDResult
from pkex.compare.witness import witness

__all__ = [
    "DriftResult",
    "DriftTimeline",
    "HSICResult",
    "MMDDrift",
    "MMDResult",
    "hsic",
    "mmd",
    "witness",
]
