"""Writing and reading sensitivity results in JSON documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.sensitivity.draws import SensitivityDraws
from pkex.typing import Float

_DRAW, _INPUT, _OUTPUT = "draw", "input", "output"


def plain_draws(draws: SensitivityDraws) -> dict[str, Any]:
    """Return draws as plain data for JSON, by the names of their attributes."""
    return {
        name: None if numbers is None else plain_numbers(f"draws.{name}", numbers)
        for name, numbers in vars(draws).items()
    }


def sensitivity_fields(document: Document) -> dict[str, Any]:
    """Return the fields of a `SensitivityResult`, read from a document."""
    names = document.texts("names", _INPUT)
    outputs = document.texts("output_names", _OUTPUT) if document.has("output_names") else None
    by_output = () if outputs is None else (_OUTPUT,)
    variance = document.numbers("variance", *by_output)
    return {
        "variance": variance if by_output else float(variance),
        "shapley_effects": document.numbers("shapley_effects", _INPUT, *by_output),
        "first_order": document.numbers("S1", _INPUT, *by_output),
        "total": document.numbers("ST", _INPUT, *by_output),
        "second_order": _pairs(document, by_output) if document.has("S2") else None,
        "draws": _draws(document.part("draws"), by_output) if document.has("draws") else None,
        "_names": names,
        "_outputs": outputs,
        "_explained": document.text("explained"),
        "_inputs": document.text("inputs"),
        "notes": document.texts("notes", "note"),
    }


def _pairs(document: Document, by_output: tuple[str, ...]) -> Float:
    """Return symmetric indices of pairs; the document contains those above the diagonal."""
    above = document.numbers("S2", _INPUT, _INPUT, *by_output, missing=True)
    pairs: Float = np.where(np.isnan(above), above.swapaxes(0, 1), above)
    return pairs


def _draws(document: Document, by_output: tuple[str, ...]) -> SensitivityDraws:
    axes = (_DRAW, _INPUT, *by_output)
    effects, first, total = (
        document.numbers(name, *axes) for name in ("shapley_effects", "first_order", "total")
    )
    left_out = document.numbers("left_out", *by_output)
    second = None
    if document.has("second_order"):
        second = document.numbers("second_order", _DRAW, _INPUT, *axes[1:], missing=True)
    return SensitivityDraws(
        document.numbers("variance", _DRAW, *by_output),
        effects,
        first,
        total,
        second,
        left_out if by_output else float(left_out),
    )
