"""Explainers for code that is written for other libraries, in modules named after these.

`pkex.integrations.shap` and `pkex.integrations.shapiq` have subclasses of these libraries' own
explainers, which take their arguments and return their objects. A library is imported only together
with its module here, never by ``import pkex``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_row"]


def as_row(row: Any) -> Any:
    """Return one row as a table; of a pandas Series with the names that it has for the columns."""
    is_series = hasattr(row, "to_frame") and hasattr(row, "index")
    return row.to_frame().T if is_series else np.asarray(row)[None]
