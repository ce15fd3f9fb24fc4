"""What reports of explained rows show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from pkex.results.axes import FEATURE, OUTPUT, ROW
from pkex.results.uncertainty import Uncertain

if TYPE_CHECKING:
    from pkex.results.report import Findings

__all__ = ["Reported"]


class Reported(Uncertain):
    """Values of features in some rows, of which there is a report."""

    __slots__ = ()

    def _findings(self, name: str, computed: Mapping[str, str]) -> Findings:
        from pkex.results.explanation_report import of_explanation

        rows = self._in_rows()
        return of_explanation(rows, name, {"Rows": str(len(rows)), **computed})

    def _in_rows(self) -> Self:
        """Return the same with axes of rows and features, of a single one, too."""
        values, base_values, data = self._with_every_axis()
        outputs = () if self.output_names is None else (OUTPUT,)
        shape = values.shape if outputs else data.shape
        errors, roots = self._errors, self._roots
        return self._from_parts(
            self._parts()
            | {
                "_values": np.reshape(values, shape),
                "_base_values": base_values if outputs else np.reshape(base_values, len(data)),
                "_data": data,
                "_axes": replace(self._axes, present=(ROW, FEATURE, *outputs)),
                "_errors": None if errors is None else np.reshape(errors, shape),
                "_roots": None if roots is None else np.reshape(roots, (*shape, roots.shape[-1])),
                # Reports draw no functions from the model.
                "_joint": None,
                "_places": None,
            }
        )
