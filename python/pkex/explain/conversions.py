"""Values in the objects of other libraries, which are imported when first needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pkex.explain.layout import FEATURE, OUTPUT
from pkex.inputs.optional import missing_library
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd
    import shap

__all__ = ["frame", "shap_explanation"]


def frame(
    values: Float,
    feature_names: Sequence[str],
    output_names: Sequence[str] | None,
    row_index: pd.Index | None,
) -> pd.DataFrame:
    """Return a copy of values (n, d[, outputs]) with a line per row, outputs side by side."""
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_library("Explanation.to_frame", "pandas") from error
    columns: pd.Index = pd.Index(feature_names, name=FEATURE)
    if output_names is not None:
        columns = pd.MultiIndex.from_product([output_names, feature_names], names=[OUTPUT, FEATURE])
        values = values.transpose(0, 2, 1)  # the columns of an output stand together
    table = values.reshape(len(values), len(columns)).copy()
    return pd.DataFrame(table, index=row_index, columns=columns)


def shap_explanation(
    values: Float,
    base_values: Float,
    data: NDArray[Any],
    feature_names: Sequence[str],
    output_names: Sequence[str] | None,
) -> shap.Explanation:
    """Return a copy of arrays with every axis, (n, d[, outputs]), for shap's plots."""
    try:
        import shap
    except ImportError as error:
        raise missing_library("Explanation.to_shap", "shap") from error
    return shap.Explanation(
        values=values.copy(),
        base_values=base_values.copy(),
        data=data.copy(),
        feature_names=list(feature_names),
        output_names=None if output_names is None else list(output_names),
    )
