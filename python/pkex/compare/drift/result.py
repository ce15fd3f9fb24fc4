"""What a drift detector returns of a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.compared_rows import ComparedRows
from pkex.compare.drift.test import checked_alpha
from pkex.compare.results.mmd import MMDResult
from pkex.inputs.documents import Document
from pkex.inputs.wording import counted
from pkex.results.column_values import ColumnValues, ReportColumns
from pkex.results.tables import number
from pkex.tables.columns import DAY
from pkex.tables.encode import Column
from pkex.typing import Float

__all__ = ["DriftResult"]


@dataclass(frozen=True, eq=False, repr=False)
class DriftResult(MMDResult):
    """What a drift detector says of a batch: whether it differs from the reference, and in what.

    Returned by `pkex.MMDDrift`. It has all that an `MMDResult` has, the reference being X and the
    batch Y. What needs a test is None if the detector has no `n_permutations`.

    Attributes
    ----------
    is_drift : bool or None
        Whether ``pvalue <= alpha``; the p-value combines the statistic and the strongest feature.
    statistic : float
        MMD², the sum of the values.
    pvalue : float or None
        Of the hypothesis that reference and batch have one distribution.
    statistic_pvalue, univariate_pvalue : float or None
        The two that it combines, as of `MMDResult`.
    threshold : float or None
        What the statistic has to exceed for ``statistic_pvalue <= alpha``; of this batch, by its
        relabellings. ``pvalue`` decides, so that there may be drift below it.
    alpha : float
        The level of the test.
    values, standard_errors, alone : ndarray of shape (P,)
        As of `MMDResult`.
    shares : ndarray of shape (P,) or None
        As of `MMDResult`.
    feature_pvalues, familywise_pvalues, alone_pvalues, alone_familywise_pvalues : ndarray or None
        As of `MMDResult`: ``alone_familywise_pvalues`` say which features changed by themselves.
    n_reference, n_batch : int
        The numbers of rows.
    columns, kernel, bandwidth, feature_names
        As of `MMDResult`.
    rows : ComparedRows
        Both samples, read-only: ``rows.entries("age")`` are the entries of a column in both, and
        ``rows.new_levels`` the labels in the batch that the reference does not have.

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

    _has_share_column = True

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

    @property
    def hypothesis(self) -> str:
        """The hypothesis of the p-values of the statistic and of the values, in words."""
        return "reference and batch have one distribution"

    def _plain(self) -> dict[str, Any]:
        # What reads the installed metadata is slow to import.
        from importlib.metadata import version

        found = {
            **super()._plain(),
            "is_drift": self.is_drift,
            "alpha": self.alpha,
            "threshold": self.threshold,
            "n_reference": self.n_reference,
            "n_batch": self.n_batch,
            "new_levels": {str(key): list(new) for key, new in self.rows.new_levels.items()},
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
        plain: dict[str, Any] = _finite(found)
        return plain

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        fields = super()._fields(document)
        columns = fields["columns"]
        return {
            **fields,
            "alpha": document.read("alpha", checked_alpha),
            "threshold": document.number("threshold") if document.has("threshold") else None,
            "rows": document.read(
                "new_levels", lambda new: ComparedRows.without_rows(columns, new)
            ),
        }

    _sample_names = ("reference", "batch")

    @property
    def _level(self) -> float:
        return self.alpha

    def _samples(self) -> tuple[ReportColumns, ReportColumns] | None:
        if not len(self.rows.reference):
            return None
        columns = self.rows.encoding.columns
        pairs = [self._entries(place, column) for place, column in enumerate(columns)]
        first, second = (tuple(map(ColumnValues.of, own)) for own in zip(*pairs, strict=True))
        names = [column.name for column in columns]
        return ReportColumns(names, first), ReportColumns(names, second)

    def _entries(self, place: int, column: Column) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the entries of a column in both samples, dates as such."""
        first, second = self.rows.entries(place)
        if column.since is None:
            return first, second
        since = np.datetime64(column.since, "us")
        return _dates(first, since), _dates(second, since)

    def _title(self) -> str:
        return f"{self._conclusion()}: {super()._title()}"

    def _conclusion(self) -> str:
        if self.is_drift is None:
            return "not tested"
        return "drift" if self.is_drift else "no drift"

    def _headline(self) -> str:
        sizes = f"{self.n_batch} rows against {counted(self.n_reference, 'row')} of the reference"
        how = f"({self.estimator}, {self.value_function} values; {sizes})"
        found = f"DriftResult: {self._conclusion()}, MMD² = {number(self.statistic)}"
        if self.pvalue is None:
            return (
                f"{found} {how}\n"
                "is_drift, pvalue: give MMDDrift n_permutations, such as n_permutations=199"
            )
        return f"{found}, {self._pvalues()} at alpha {number(self.alpha)} {how}"


def _dates(days: Float, since: np.datetime64) -> NDArray[np.datetime64]:
    """Return days since a date as dates; missing ones are none."""
    is_known = np.isfinite(days)
    microseconds = np.rint(DAY * np.where(is_known, days, 0.0))
    dates: NDArray[np.datetime64] = since + microseconds.astype("timedelta64[us]")
    dates[~is_known] = np.datetime64("NaT")
    return dates


def _finite(item: Any) -> Any:
    """Return what JSON knows with None in the place of NaN and infinity."""
    if isinstance(item, dict):
        return {key: _finite(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_finite(value) for value in item]
    return None if isinstance(item, float) and not math.isfinite(item) else item
