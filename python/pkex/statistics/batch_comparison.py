"""How batches are compared with a reference, and how far from it they may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkex.errors import InputError
from pkex.games.players import Players
from pkex.kernels.domain import ERRORS, Domain
from pkex.statistics.chosen_kernel import ChosenKernel
from pkex.statistics.comparison import Comparison
from pkex.statistics.conventions import Conventions
from pkex.tables.encode import Encoding
from pkex.typing import Float

__all__ = ["batch_comparison", "check_distances"]


def batch_comparison(
    chosen: ChosenKernel,
    reference: Float,
    encoding: Encoding,
    players: Players,
    conventions: Conventions,
) -> tuple[Comparison, Float | None]:
    """Return the comparison, and how wide each column of reference and batch may be together.

    Kernels with mixtures are made for a domain; others, and labels, have no limits.
    """
    domain = Domain.around(reference, ERRORS[-1])
    comparison = Comparison.of(chosen, encoding, players, conventions, domain)
    if not chosen.has_mixtures:
        return comparison, None
    spans = domain.spans.copy()
    spans[encoding.labels] = np.inf
    return comparison, spans


def check_distances(batch: Float, reference: Float, largest: Float, names: Sequence[str]) -> None:
    """Refuse rows between which and a reference the kernel's mixtures are not exact.

    Parameters
    ----------
    batch, reference : ndarray of shape (m, d) and (n, d)
    largest : ndarray of shape (d,)
        How wide both may be together.
    names : sequence of str
        Of the columns.
    """
    both = np.concatenate([batch, reference])
    with np.errstate(over="ignore"):
        spans = both.max(axis=0) - both.min(axis=0)
    if (spans > largest).any():
        name = names[int(np.argmax(spans / largest))]
        raise InputError(
            "X",
            "has values thousands of times as far from X_reference as that is wide, and there the "
            "sum of products for the kernel is not exact; are they codes of missing values?",
            ["replace them", "compare with pkex.mmd"],
            column=name,
        )
