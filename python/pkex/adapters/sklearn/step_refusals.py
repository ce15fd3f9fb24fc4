"""Why a preprocessing step is not supported."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.description import feature_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.inexact import INEXACT, STRINGS, any_inexact
from pkex.adapters.sklearn.step import ENCODERS
from pkex.adapters.sklearn.step_inverses import STEPS
from pkex.errors import UnsupportedModelError


def check_step(step: Any) -> None:
    """Refuse the variants of supported steps that are not understood, or not fitted."""
    name = type(step).__name__
    if isinstance(step, ENCODERS):
        _check_encoder(step)
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        raise refused(f"{name} with encode={step.encode!r}", _SEVERAL, "encode='ordinal'")
    if isinstance(step, FunctionTransformer) and not _is_elementwise(step):
        function = getattr(step.func, "__name__", repr(step.func))
        raise refused(
            f"{name} with the function {function}",
            "it is not known to act on each entry alone",
            "a NumPy function of one number without kw_args, such as func=np.log1p or, for any "
            "function f of one number, func=np.frompyfunc(f, 1, 1)",
        )
    check_fitted(step)
    check_is_fitted(step, "n_features_in_")  # some steps have nothing else to learn


def _check_encoder(step: Any) -> None:
    name = type(step).__name__
    check_fitted(step)
    if callable(getattr(step, "feature_name_combiner", None)):
        raise refused(
            f"{name} with a feature_name_combiner of its own",
            "columns are told apart by their names",
            "feature_name_combiner='concat'",
        )
    names = feature_names(step) or range(step.n_features_in_)
    for column, categories in zip(names, step.categories_, strict=True):
        if categories.dtype.kind in "mM":
            raise refused(f"{name} of the dates in column {column!r}", _DATES, STRINGS)
        if any_inexact(categories):
            raise refused(f"{name} of the numbers in column {column!r}", INEXACT, STRINGS)


_DATES = "it is not known what they are compared as"


def _is_elementwise(step: FunctionTransformer) -> bool:
    """Whether the function maps entry by entry, as NumPy's ufuncs of one argument do."""
    func = step.func
    is_ufunc = isinstance(func, np.ufunc) and func.signature is None
    return is_ufunc and (func.nin, func.nout) == (1, 1) and not step.kw_args


_SEVERAL = "it makes several columns of one, and is none of those that are known to do so"


_NAMES = ", feature_names=model[:-1].get_feature_names_out()"
_DOCUMENTS = (
    "its input has no columns. Transform the documents, and explain the last step: "
    f"rows = model[:-1].transform(documents); pkex.Explainer(model[-1], rows{_NAMES})(rows)"
)

# Why steps are refused whose input has no columns, such as documents.
_WITHOUT_COLUMNS = {
    **dict.fromkeys(("CountVectorizer", "DictVectorizer", "TfidfVectorizer"), _DOCUMENTS),
    **dict.fromkeys(("FeatureHasher", "HashingVectorizer"), _DOCUMENTS.replace(_NAMES, "")),
}
# Why others are refused, of those that do more than to mix columns.
_WHY = {
    "PolynomialFeatures": "it multiplies columns, which is supported before a linear model such as "
    "Ridge, with no other steps between the two than scalers and selectors, which stand beside it "
    "and not in a Pipeline of their own with the model",
}


def refused(what: str, why: str = "", instead: str = "") -> UnsupportedModelError:
    """Return the error that a step is not supported, why, and what may be taken instead."""
    found = f"a Pipeline with the step {what} is not supported"
    if what in _WITHOUT_COLUMNS:
        return UnsupportedModelError(f"{found}: {_WITHOUT_COLUMNS[what]}")
    why = why or _WHY.get(what, "it mixes columns, or is not known to act on each column alone")
    names = ", ".join(step.__name__ for step in STEPS)
    return UnsupportedModelError(
        f"{found}: {why}{f'; supported with {instead}' if instead else ''}. Supported steps: "
        f"{names}, "
        "feature selectors, ColumnTransformer, FeatureUnion and Pipeline of these, 'passthrough'. "
        "Or transform the data first, and explain the last step in terms of the columns that it "
        "sees"
    )
