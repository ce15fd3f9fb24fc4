"""Pages about results, as their `to_html` returns and writes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pkex.results.page import written
from pkex.results.report import Findings
from pkex.statistics import findings
from pkex.statistics.attribution import Attribution

__all__ = ["of_dependence", "of_difference"]

Path = str | os.PathLike[str] | None


def of_difference(
    result: Attribution, path: Path, X: Any, Y: Any, alpha: float, names: tuple[str, str]
) -> str:
    """Return the page of a difference of X and Y, and write it if a path is given."""
    return _page(findings.of_difference, result, path, (X, Y), alpha, names)


def of_dependence(
    result: Attribution, path: Path, X: Any, y: Any, alpha: float, names: tuple[str, str]
) -> str:
    """Return the page of a dependence, of what has values on what has none."""
    return _page(findings.of_dependence, result, path, (X, y), alpha, names)


def _page(
    find: Callable[..., Findings],
    result: Attribution,
    path: Path,
    tables: tuple[Any, Any],
    alpha: float,
    names: tuple[str, str],
) -> str:
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must be between 0 and 1, such as 0.05; got {alpha!r}")
    given = [table is not None for table in tables]
    if any(given) and not all(given):
        raise ValueError(f"{' and '.join(names)} are given together, or not at all")
    return written(find(result, alpha, names, tables if all(given) else None), path)
