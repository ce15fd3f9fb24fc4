"""Reports of explained rows, as pages that need nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Self

import numpy as np

from pkex.explain.axes import FEATURE, OUTPUT, ROW
from pkex.explain.uncertain import Uncertain
from pkex.inputs.keywords import with_known_keywords

__all__ = ["Reported"]


class Reported(Uncertain):
    """Values of features in some rows, of which there is a report."""

    __slots__ = ()

    @with_known_keywords
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, name: str = "the model's output"
    ) -> str:
        """Return a report as one HTML page that needs nothing else; write it if a path is given.

        It shows how much each feature moves the output, and how the values of the leading ones go
        with their data: what ``pkex explain --format html`` writes.

        Parameters
        ----------
        path : str or path, optional
            Of the file, which is written whole or not at all.
        name : str, optional
            What was explained, for the title.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there are no rows.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> explanation.to_html()[:15]
        '<!DOCTYPE html>'
        """
        # Not before a report is asked for.
        from importlib.metadata import version

        from pkex.display.page import written
        from pkex.explain.findings import of_explanation

        rows = self._in_rows()
        computed = {
            "Rows": str(len(rows)),
            "Game": self.value_function or "not known",
            "Version": f"pkex {version('pkex')}",
        }
        return written(of_explanation(rows, name, computed), path)

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
