"""Explainers for code that is written for other libraries, in modules named after these.

`pkex.integrations.shap` and `pkex.integrations.shapiq` have subclasses of these libraries' own
explainers, which take their arguments and return their objects. A library is imported only together
with its module here, never by ``import pkex``.
"""

from __future__ import annotations

__all__: list[str] = []
