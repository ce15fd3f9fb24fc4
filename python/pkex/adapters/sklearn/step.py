"""One fitted preprocessing step, as a map of columns."""

from __future__ import annotations

import copy
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    TargetEncoder,
)

from pkex.adapters.sklearn.description import dense
from pkex.adapters.sklearn.inexact import INEXACT, STRINGS, any_inexact
from pkex.functions.column_maps import ColumnMap
from pkex.typing import Float

ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


class Step(ColumnMap):
    """A single fitted transformer."""

    def __init__(self, transformer: Any, inverse: Callable[[Step, Float], Float]) -> None:
        self.n_columns = int(transformer.n_features_in_)
        self.transformer = _for_arrays(transformer)
        self._inverse = inverse
        self.sources = np.arange(self.n_columns)
        if isinstance(transformer, (SimpleImputer, SplineTransformer, *ENCODERS)):
            # From which columns is said by the names: "2", "2_red" or "missingindicator_2".
            numbers = np.arange(self.n_columns).astype(str).astype(object)
            names = self.transformer.get_feature_names_out(numbers)
            names = [name.removeprefix("missingindicator_").partition("_")[0] for name in names]
            self.sources = np.array(names, dtype=np.intp)
        if isinstance(transformer, MissingIndicator):
            self.sources = np.array(transformer.features_, dtype=np.intp)
            self.non_numeric = frozenset(range(self.n_columns))
            if not isinstance(transformer.missing_values, Real):
                # It does not take columns of numbers. Rows to try a model out have the number 1
                # where `inverse` knows none, and so the second of these.
                entries = (transformer.missing_values, "present")
                self.categories = dict.fromkeys(range(self.n_columns), entries)
        if isinstance(transformer, ENCODERS):
            self.categories = {
                column: categories.tolist()
                for column, categories in enumerate(transformer.categories_)
                if categories.dtype.kind not in "fiub"
            }
            self.non_numeric = frozenset(self.categories)
            self.discrete = frozenset(range(self.n_columns))
        if isinstance(transformer, SimpleImputer) and transformer.statistics_.dtype.kind in "OUS":
            self.non_numeric = frozenset(range(self.n_columns))

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Map rows by the transformer's own `transform`."""
        made = self._encoded(rows) if self.discrete else self.transformer.transform(self._own(rows))
        table = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
        return table if table.dtype == object else dense(table)

    def _own(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as objects if the step was fitted on such, else as numbers."""
        return rows.astype(object if self.non_numeric else np.float64, copy=False)

    def _encoded(self, rows: NDArray[Any]) -> Any:
        if any_inexact(rows):
            raise ValueError(f"{INEXACT}; fit the encoder on {STRINGS}")
        try:
            return self.transformer.transform(self._own(rows))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"it is none of the categories that {type(self.transformer).__name__} was fitted "
                "on; remove the row, or fit the encoder with handle_unknown for such entries"
            ) from error

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        return self._inverse(self, rows)


def _for_arrays(transformer: Any) -> Any:
    """Return a copy that takes plain arrays, leaves them as they are, and returns such.

    It shares nothing with the transformer: edits of that must not reach what is explained.
    """
    own = copy.copy(transformer)
    vars(own).pop("feature_names_in_", None)
    vars(own).pop("_sklearn_output_config", None)
    if hasattr(own, "copy"):
        own.copy = True
    return copy.deepcopy(own)
