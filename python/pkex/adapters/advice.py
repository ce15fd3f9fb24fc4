"""What to do about a model that is not supported, by its class."""

from __future__ import annotations

__all__ = ["LOG_LINK", "advice"]


def advice(model_class: type) -> str:
    """Return what explains a model of a class instead, "" if it may be no model."""
    if model_class is type(None):
        return "pass a fitted model, such as SVR().fit(X, y)"
    if hasattr(model_class, "shape") or issubclass(model_class, list | tuple | dict):
        return "it is no model, which comes first: pkex.Explainer(model, background)"
    origins = [f"{base.__module__}.{base.__name__}" for base in model_class.__mro__]
    for text, prefixes in _INSTEAD.items():
        if any(origin.startswith(prefixes) for origin in origins):
            return text
    return _ANY_MODEL if hasattr(model_class, "predict") else ""


# Exact values need a sum of products over the features.
_ANY_MODEL = (
    "shap.KernelExplainer estimates the values of any model; exact ones have models with the rbf "
    "kernel, such as SVR and SVC, fitted in its place"
)


LOG_LINK = (
    "it predicts the exponential of a linear function, no sum; explain the logarithm: "
    "LinearRegression().fit(X, np.log(model.predict(X)))"
)


# By where a class or one of its parents is defined; the first that fits counts.
_INSTEAD = {
    "shap.TreeExplainer has exact values for trees": (
        "sklearn.tree.",
        "sklearn.ensemble._forest.",
        "sklearn.ensemble._gb.",
        "sklearn.ensemble._hist_gradient_boosting.",
        "xgboost.",
        "lightgbm.",
        "catboost.",
    ),
    "of SMT's surrogates its kriging models KRG, KPLS, KPLSK and GEKPLS are": ("smt.",),
    "of SciPy's interpolators RBFInterpolator is": ("scipy.interpolate.",),
    LOG_LINK: ("sklearn.linear_model._glm.",),
    "it compares two items, and explains by itself what speaks for one of them: "
    "model.explain_items(left, right)": ("pkex.models.Preference",),
    "it has class labels and probabilities, which are no sums over features; explain each of its "
    "estimators_": ("sklearn.multioutput.MultiOutputClassifier",),
    "it votes or averages probabilities, which are no sums over features; explain each of its "
    "estimators_": ("sklearn.ensemble._voting.VotingClassifier",),
}
