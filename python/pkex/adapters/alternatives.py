"""Alternatives for models that are not supported, by their class."""

from __future__ import annotations


def alternative(model_class: type) -> str:
    """Return an alternative for a model of a class, "" if the class may not be a model."""
    if model_class is type(None):
        return "pass a fitted model, such as SVR().fit(X, y)"
    if hasattr(model_class, "shape") or issubclass(model_class, list | tuple | dict):
        return "it is not a model. Pass the model first: pkex.Explainer(model, background)"
    origins = [f"{base.__module__}.{base.__name__}" for base in model_class.__mro__]
    for text, prefixes in _ALTERNATIVES.items():
        if any(origin.startswith(prefixes) for origin in origins):
            return text
    return _ANY_MODEL if hasattr(model_class, "predict") else ""


# Exact values need a sum of products over the features.
_ANY_MODEL = (
    "shap.KernelExplainer estimates the values of any model. For exact values fit a model with the "
    "rbf kernel, such as SVR or SVC"
)


# By where a class or one of its parents is defined; the first that fits counts.
_ALTERNATIVES = {
    "use shap.TreeExplainer for exact values of trees": (
        "sklearn.tree.",
        "sklearn.ensemble._forest.",
        "sklearn.ensemble._gb.",
        "sklearn.ensemble._hist_gradient_boosting.",
        "xgboost.",
        "lightgbm.",
        "catboost.",
    ),
    "the supported surrogates of SMT are the kriging models KRG, KPLS, KPLSK and GEKPLS": ("smt.",),
    "the supported interpolator of SciPy is RBFInterpolator": ("scipy.interpolate.",),
    "pass the fitted model: pkex.Explainer(campaign.get_surrogate().to_botorch()). Its columns are "
    "described in docs/how-to/gpytorch.md": ("baybe.campaign.",),
    "pass the fitted model: pkex.Explainer(surrogate.to_botorch())": ("baybe.surrogates.",),
    "pass the fitted model: pkex.Explainer(strategy.adapter.generator.surrogate.model) with "
    "strategy = client.generation_strategy": ("ax.service.ax_client.",),
    "pass the fitted model: pkex.Explainer(strategy.adapter.generator.surrogate.model) with "
    "strategy = client._generation_strategy": ("ax.api.client.",),
    "it does not keep a fitted model. Fit one to the trials, GaussianProcessRegressor().fit(X, y), "
    "where X has the trial.params and y the trial.value of study.trials (example in "
    "docs/how-to/optimization.md)": ("optuna.",),
    "fit a GaussianProcessRegressor of scikit-learn with its kernel, its parameters, its rows and "
    "optimizer=None, which predicts the same (example in docs/gaussian-processes.md)": (
        "gpflow.models.gpr.",
    ),
    "it predicts Shapley values itself. Call its predict(X, return_std=True)": (
        "pkex.models.ShapleyProcess",
    ),
    "it compares two items. Call its explain_items(left, right)": ("pkex.models.Preference",),
    "it has a classifier for each target. Explain each of its estimators_, or their probabilities, "
    "pkex.Explainer(model.estimators_[0].predict_proba, background)": (
        "sklearn.multioutput.MultiOutputClassifier",
    ),
    "it votes or averages probabilities. Explain each of its estimators_, or their probabilities, "
    "pkex.Explainer(model.estimators_[0].predict_proba, background)": (
        "sklearn.ensemble._voting.VotingClassifier",
    ),
}
