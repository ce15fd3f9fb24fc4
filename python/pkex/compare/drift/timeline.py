"""The result of comparing many batches with one reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.batches import batches_in_words, few_permutations_note
from pkex.compare.drift.result import DriftResult
from pkex.inputs.documents import Document
from pkex.results.heat_map import draw_heat_map
from pkex.results.options import PlotOptions, ReportOptions
from pkex.results.result import Result
from pkex.results.summary import Summary, SummaryTable
from pkex.results.tables import numbers, shortened
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

    from pkex.results.report import PageContent


@dataclass(frozen=True, eq=False, repr=False)
class DriftTimeline(Result):
    """Comparisons of many batches with one reference.

    Returned by `MMDDrift.timeline`. It is a sequence of the batches' `DriftResult`.

    Attributes
    ----------
    results : tuple of DriftResult
    batch_names : tuple of str
    feature_names : list of str
    statistics : ndarray of shape (T,)
        MMD² of each batch.
    values : ndarray of shape (T, P)
        The Shapley value of each feature in each batch.
    pvalues : ndarray of shape (T,) or None
        The p-value of each batch, unadjusted; None without permutations.
    corrected_pvalues : ndarray of shape (T,) or None
        P-values adjusted for the number of batches: the probability that any batch without drift
        has one of at most α is at most α, for any dependence between batches (Holm 1979).
    is_drift : ndarray of bool, shape (T,), or None
        Which adjusted p-values are at most the detector's alpha.
    notes : tuple of str
        A note if there are too few permutations to detect drift in any batch.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> rng = np.random.default_rng(0)
    >>> drift = pkex.MMDDrift(rng.normal(size=(400, 2)), n_permutations=199, random_state=0)
    >>> weeks = [rng.normal([0.0, shift], size=(100, 2)) for shift in (0.0, 0.0, 0.7, 1.0)]
    >>> line = drift.timeline(weeks)
    >>> line.is_drift
    array([False, False,  True,  True])
    >>> line.values.argmax(axis=1)[line.is_drift]
    array([1, 1])
    """

    results: tuple[DriftResult, ...]
    batch_names: tuple[str, ...]

    _kinds = ("heatmap",)
    _shown_lines = 20

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[DriftResult]:
        return iter(self.results)

    def __getitem__(self, place: int) -> DriftResult:
        return self.results[place]

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return self.results[0].feature_names

    @property
    def statistics(self) -> Float:
        """MMD² of each batch, shape (T,)."""
        return np.array([result.statistic for result in self.results])

    @property
    def values(self) -> Float:
        """The value of each feature in each batch, shape (T, P)."""
        return np.array([result.values for result in self.results])

    @property
    def pvalues(self) -> Float | None:
        """The unadjusted p-value of each batch, shape (T,); None without permutations."""
        pvalues = [result.pvalue for result in self.results]
        return None if None in pvalues else np.array(pvalues, dtype=np.float64)

    @property
    def corrected_pvalues(self) -> Float | None:
        """P-values adjusted for the number of batches, shape (T,); None without permutations."""
        return None if self.pvalues is None else _holm(self.pvalues)

    @property
    def is_drift(self) -> NDArray[np.bool_] | None:
        """Which batches differ by their adjusted p-values; None without permutations."""
        pvalues = self.corrected_pvalues
        return None if pvalues is None else pvalues <= self.results[0].alpha * (1.0 + 1e-12)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if there are too few permutations to detect drift in any batch."""
        permuted_values = self.results[0].permuted_values
        n_permutations = 0 if permuted_values is None else len(permuted_values)
        note = few_permutations_note(len(self), n_permutations, self.results[0].alpha)
        return () if note is None else (note,)

    def _plain(self) -> dict[str, Any]:
        pvalues, is_drift = self.corrected_pvalues, self.is_drift
        return {
            "names": list(self.batch_names),
            "corrected_pvalues": None if pvalues is None else pvalues.tolist(),
            "is_drift": None if is_drift is None else is_drift.tolist(),
            "batches": [result.to_dict() for result in self.results],
        }

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        names = document.texts("names", "batch")
        results = document.read("batches", lambda plain: tuple(map(DriftResult.from_dict, plain)))
        document.check_length("batches", len(results), "batch")
        if len({(*result.feature_names, result.alpha) for result in results}) != 1:
            raise document.error("the batches differ in features or alpha, or there are none")
        return cls(results, names)

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        import pandas as pd

        if errors:
            raise ValueError(
                "to_frame(errors=True) is not supported for timelines. Call timeline[0].to_frame() "
                "for the standard errors of a batch"
            )
        frame = pd.DataFrame(
            self.values, index=pd.Index(self.batch_names, name="batch"), columns=self.feature_names
        )
        for title, column in reversed(self._columns().items()):
            frame.insert(0, title, column, allow_duplicates=True)
        return frame

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        options.check_single_output(type(self).__name__)
        is_drift = self.is_drift
        mark_label = None if is_drift is None else f"drift, adjusted p ≤ {self.results[0].alpha:g}"
        return draw_heat_map(
            options.ax,
            options.max_features,
            values=self.values.T,
            names=self.feature_names,
            columns=self.batch_names,
            is_marked=is_drift,
            mark_label=mark_label,
            title="MMD² to the reference, attributed to features",
        )

    def _report(self, options: ReportOptions) -> PageContent:
        # Imported only if needed.
        from pkex.compare.drift.timeline_report import report_timeline

        title = options.title(type(self).__name__, batches_in_words(len(self)))
        pvalues, is_drift = self.corrected_pvalues, self.is_drift
        batches = self.batch_names
        return report_timeline(self.results, batches, pvalues, is_drift, self.notes, title)

    def _columns(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {"MMD²": self.statistics}
        pvalues, corrected_pvalues, is_drift = self.pvalues, self.corrected_pvalues, self.is_drift
        if pvalues is not None and corrected_pvalues is not None and is_drift is not None:
            conclusions = {"drift": is_drift, "p (adjusted)": corrected_pvalues}
            columns = {**conclusions, **columns, "p": pvalues}
        return columns

    def _summary(self, n_lines: int) -> Summary:
        """Return the batches, those with drift with their largest value, and the notes."""
        lines = slice(0, n_lines)
        values, names = self.values[lines], self.feature_names
        cells = [["batch", *(shortened(name) for name in self.batch_names[lines])]]
        for title, column in self._columns().items():
            entries = column[lines]
            words = ["yes" if entry else "no" for entry in entries.tolist()]
            cells.append([title, *(words if entries.dtype == bool else numbers(entries))])
        # The largest value of a batch without drift is noise.
        is_named = np.ones(len(self), dtype=bool) if self.is_drift is None else self.is_drift
        largest = zip(values.argmax(axis=1).tolist(), is_named[lines].tolist(), strict=True)
        cells.append(
            [
                "largest value",
                *(shortened(names[j]) if is_named else "–" for j, is_named in largest),
            ]
        )
        n_drifts = "" if self.is_drift is None else f", {int(self.is_drift.sum())} with drift"
        n_hidden = len(self) - len(values)
        note = f"({n_hidden} more)" if n_hidden else ""
        table = SummaryTable(cells, self.statistics[lines], note=note)
        head = f"DriftTimeline: batches: {len(self)}{n_drifts}"
        return Summary(head, [table], [f"note: {text}" for text in self.notes])


def _holm(pvalues: Float) -> Float:
    """Return adjusted p-values: the maximum of (T − rank) p over smaller ones."""
    order = np.argsort(pvalues, kind="stable")
    factors = np.arange(len(pvalues), 0, -1)
    corrected_pvalues = np.empty_like(pvalues)
    corrected_pvalues[order] = np.minimum(1.0, np.maximum.accumulate(factors * pvalues[order]))
    return corrected_pvalues
