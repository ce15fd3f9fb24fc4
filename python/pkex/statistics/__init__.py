"""Statistics of samples, divided among features: maximum mean discrepancy and HSIC."""

from __future__ import annotations

from pkex.statistics.drift import MMDDrift
from pkex.statistics.drift_result import DriftResult
from pkex.statistics.drift_timeline import DriftTimeline
from pkex.statistics.hsic import hsic
from pkex.statistics.hsic_result import HSICResult
from pkex.statistics.mmd import mmd, witness
from pkex.statistics.mmd_result import MMDResult

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
