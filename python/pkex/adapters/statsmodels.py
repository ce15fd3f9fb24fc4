"""The adapter for statsmodels' results of regressions: linear functions and their exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from statsmodels.base.model import Results
from statsmodels.base.wrapper import ResultsWrapper
from statsmodels.discrete import discrete_model
from statsmodels.genmod.families import links
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import GLS, OLS, WLS
from statsmodels.regression.quantile_regression import QuantReg

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.errors import Option, UnsupportedModelError
from pkex.functions.exponential import Exponential
from pkex.functions.linear import LinearFunction
from pkex.typing import Float

_LINEAR = (GLS, OLS, WLS, QuantReg)
# Models of counts, with the mean exp(x · params), and parameters of the variance at the end.
_COUNTS = (
    discrete_model.GeneralizedPoisson,
    discrete_model.NegativeBinomial,
    discrete_model.Poisson,
)


@register(Results)
@register(ResultsWrapper)
def adapt_results(model: Any) -> AdaptedModel:
    """Read the linear predictor, behind the identity or a logarithm as link."""
    results = getattr(model, "_results", model)
    is_product = _has_log_link(type(model).__name__, results.model)
    predictor, names = _predictor(results)
    return AdaptedModel(
        Exponential(predictor) if is_product else predictor,
        method="predict",
        predict=_predict_function(results, names),
        feature_names=names,
    )


def _has_log_link(name: str, model: Any) -> bool:
    """Whether the mean is the exponential of the linear predictor, rather than the predictor."""
    kind = type(model)
    if kind in _LINEAR or kind in _COUNTS:
        return kind in _COUNTS
    if issubclass(kind, discrete_model.MultinomialModel):
        raise unsupported_model(
            f"{name} of {kind.__name__}",
            (
                ": its probabilities are a softmax of several linear predictors. "
                "LogisticRegression(C=numpy.inf) of scikit-learn is the same model; pkex explains "
                "its probabilities by ",
                Option("target", "probability"),
            ),
        )
    if issubclass(kind, discrete_model.BinaryModel):
        raise _link_error(name, kind.__name__, "model.model.cdf")
    if kind is not GLM:
        raise unsupported_model(f"{name} of {kind.__name__}")
    link = model.family.link
    if isinstance(link, links.Log):
        return True
    if isinstance(link, links.Power) and link.power == 1:
        return False
    raise _link_error(name, type(link).__name__, "model.model.family.link.inverse")


def _link_error(name: str, link: str, inverse: str) -> UnsupportedModelError:
    return unsupported_model(
        f"{name} with the link {link}",
        ": its predict is not a product over features. The linear predictor is "
        "linear = pkex.KernelExpansion([model.params], [1.0], pkex.kernels.Linear()), in the "
        f"columns of model.model.exog. pkex.Explainer(linear, background, transform={inverse}) "
        "explains predict, exactly for up to 20 features",
    )


def _predictor(results: Any) -> tuple[LinearFunction, tuple[str, ...] | None]:
    """Return the linear predictor in the columns that `predict` takes, and the names of these.

    Without a formula, these are the columns of the design matrix, including the constant.
    """
    data, n_columns = results.model.data, results.model.exog.shape[1]
    names = list(map(str, results.model.exog_names))[:n_columns]
    coefficients = np.array(results.params, dtype=np.float64)[:n_columns]
    if not hasattr(results.model, "formula"):
        is_frame = hasattr(data.orig_exog, "columns")
        return LinearFunction(coefficients), tuple(names) if is_frame else None
    frame_columns = {str(name) for name in data.frame.columns}
    is_constant = np.array([name in ("Intercept", "const") for name in names])
    columns = [name for name in names if name not in ("Intercept", "const")]
    if unknown_terms := [name for name in columns if name not in frame_columns]:
        raise unsupported_model(
            f"the term {unknown_terms[0]!r} of a formula",
            ": only columns of numbers are supported. Fit the model without a formula, to the "
            "design matrix pandas.DataFrame(model.model.exog, columns=model.model.exog_names), "
            "and pass the columns of one variable as a group",
        )
    intercept = float(coefficients[is_constant].sum())
    return LinearFunction(coefficients[~is_constant], intercept), tuple(columns)


def _predict_function(results: Any, names: tuple[str, ...] | None) -> Callable[[Float], Any]:
    """Return the function from rows to the predictions of statsmodels."""
    if not hasattr(results.model, "formula"):
        return lambda rows: results.predict(rows)

    def predict(rows: Float) -> Float:
        import pandas as pd

        return np.asarray(results.predict(pd.DataFrame(rows, columns=names)))

    return predict
