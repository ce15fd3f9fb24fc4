"""Statistics of samples, divided among features: maximum mean discrepancy and HSIC."""

from __future__ import annotations

from pkex.compare.drift import MMDDrift
from pkex.compare.drift_result import DriftResult
from pkex.compare.drift_timeline import DriftTimeline
from pkex.compare.hsic import hsic
from pkex.compare.hsic_result import HSICResult
from pkex.compare.mmd import mmd, witness
from pkex.compare.mmd_result import MMDResult

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
