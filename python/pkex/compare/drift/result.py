"""The result of comparing a batch with the reference of a drift detector."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.compared_rows import ComparedRows
from pkex.compare.drift.test import check_alpha
from pkex.compare.results.mmd import MMDResult
from pkex.inputs.documents import Document
from pkex.inputs.wording import counted
from pkex.results.column_values import ColumnValues, ReportColumns
from pkex.results.tables import number
from pkex.tables.columns import DAY
from pkex.tables.encode import Column
from pkex.typing import Float


@dataclass(frozen=True, eq=False, repr=False)
class DriftResult(MMDResult):
    """Whether, and in which features, a batch differs from a reference sample.

    Returned by `pkex.MMDDrift`. It has all attributes of `MMDResult`: X is the reference and Y is
    the batch. Attributes of the test are None if the detector has no `n_permutations`.

    Attributes
    ----------
    is_drift : bool or None
        Whether ``pvalue <= alpha``.
    statistic : float
        MMD², the sum of the values.
    pvalue : float or None
        P-value of the hypothesis that reference and batch come from one distribution.
    statistic_pvalue, univariate_pvalue : float or None
        The two p-values that `pvalue` combines, as in `MMDResult`.
    threshold : float or None
        The statistic must exceed it for ``statistic_pvalue <= alpha``; computed from the
        permutations of this batch. ``pvalue`` decides, so there may be drift below it.
    alpha : float
        The level of the test.
    values, standard_errors, alone : ndarray of shape (P,)
        As in `MMDResult`.
    shares : ndarray of shape (P,) or None
        As in `MMDResult`.
    feature_pvalues, familywise_pvalues, alone_pvalues, alone_familywise_pvalues : ndarray or None
        As in `MMDResult`. ``alone_familywise_pvalues`` test whether a feature changed.
    n_reference, n_batch : int
        The numbers of rows.
    columns, kernel, bandwidth, feature_names
        As in `MMDResult`.
    rows : ComparedRows
        Both samples, read-only: ``rows.entries("age")`` are the values of a column in both, and
        ``rows.new_levels`` the categories of the batch that are not in the reference.

    Notes
    -----
    `to_dict` also has, under ``data`` and ``meta``, the keys of alibi-detect: ``is_drift`` (1 or
    0), ``distance``, ``p_val``, ``threshold`` (there the level alpha) and ``distance_threshold``.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> rng = np.random.default_rng(0)
    >>> drift = pkex.MMDDrift(rng.normal(size=(500, 3)), n_permutations=199, random_state=0)
    >>> result = drift.predict(rng.normal(size=(100, 3)) + [0.0, 0.0, 1.0])
    >>> result.is_drift, result.pvalue
    (True, 0.005)
    >>> result.feature_names[int(result.values.argmax())]
    'x2'
    >>> result.to_dict()["data"]["is_drift"]
    1
    """

    alpha: float
    threshold: float | None
    rows: ComparedRows = field(repr=False)

    _origin = "pkex.MMDDrift"
    _has_share_column = True
    _sample_names = ("reference", "batch")

    @property
    def is_drift(self) -> bool | None:
        """Whether the p-value is at most alpha; None without permutations."""
        return None if self.pvalue is None else self.pvalue <= self.alpha

    @property
    def n_reference(self) -> int:
        """The number of rows of the reference."""
        return self.n_rows[0]

    @property
    def n_batch(self) -> int:
        """The number of rows of the batch."""
        return self.n_rows[1]

    def _plain(self) -> dict[str, Any]:
        # Slow to import.
        from importlib.metadata import version

        fields = {
            **super()._plain(),
            "is_drift": self.is_drift,
            "alpha": self.alpha,
            "threshold": self.threshold,
            "n_reference": self.n_reference,
            "n_batch": self.n_batch,
            "new_levels": {str(key): list(levels) for key, levels in self.rows.new_levels.items()},
            "data": {
                "is_drift": None if self.is_drift is None else int(self.is_drift),
                "distance": self.statistic,
                "p_val": self.pvalue,
                "threshold": self.alpha,
                "distance_threshold": self.threshold,
            },
            "meta": {
                "name": "MMDDrift",
                "detector_type": "offline",
                "online": False,
                "data_type": "tabular",
                "version": version("pkex"),
            },
        }
        plain: dict[str, Any] = _replace_non_finite(fields)
        return plain

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        fields = super()._fields(document)
        columns = fields["columns"]
        return {
            **fields,
            "alpha": document.read("alpha", check_alpha),
            "threshold": document.number("threshold") if document.has("threshold") else None,
            "rows": document.read(
                "new_levels", lambda new_levels: ComparedRows.without_rows(columns, new_levels)
            ),
        }

    @property
    def _level(self) -> float:
        return self.alpha

    def _samples(self) -> tuple[ReportColumns, ReportColumns] | None:
        if not len(self.rows.reference):
            return None
        columns = self.rows.encoding.columns
        pairs = [self._entries(place, column) for place, column in enumerate(columns)]
        reference, batch = (
            tuple(map(ColumnValues.of, values)) for values in zip(*pairs, strict=True)
        )
        names = [column.name for column in columns]
        return ReportColumns(names, reference), ReportColumns(names, batch)

    def _entries(self, place: int, column: Column) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the values of a column in both samples, with days as dates."""
        reference, batch = self.rows.entries(place)
        if column.since is None:
            return reference, batch
        since = np.datetime64(column.since, "us")
        return _dates(reference, since), _dates(batch, since)

    def _title(self) -> str:
        return f"{self._conclusion()}: {super()._title()}"

    def _conclusion(self) -> str:
        if self.is_drift is None:
            return "not tested"
        return "drift" if self.is_drift else "no drift"

    def _headline(self) -> str:
        sizes = f"{self.n_batch} rows against {counted(self.n_reference, 'row')} of the reference"
        settings = f"({self.estimator}, {self.value_function} values; {sizes})"
        head = f"DriftResult: {self._conclusion()}, MMD² = {number(self.statistic)}"
        if self.pvalue is None:
            return f"{head} {settings}"
        return f"{head}, {self._pvalues()} at alpha {number(self.alpha)} {settings}"


def _dates(days: Float, since: np.datetime64) -> NDArray[np.datetime64]:
    """Return days since a date as dates; NaT for missing values."""
    is_known = np.isfinite(days)
    microseconds = np.rint(DAY * np.where(is_known, days, 0.0))
    dates: NDArray[np.datetime64] = since + microseconds.astype("timedelta64[us]")
    dates[~is_known] = np.datetime64("NaT")
    return dates


def _replace_non_finite(item: Any) -> Any:
    """Return JSON data with None instead of NaN and infinity."""
    if isinstance(item, dict):
        return {key: _replace_non_finite(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_replace_non_finite(value) for value in item]
    return None if isinstance(item, float) and not math.isfinite(item) else item
