"""An explainer with the arguments and results of shapiq's own for product kernels.

Examples
--------
>>> from sklearn.svm import SVR
>>> from pkex.integrations.shapiq import ProductKernelExplainer
>>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
>>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
>>> values = ProductKernelExplainer(model).explain_X(X)[2]
>>> list(values.interactions)
[(), (0,), (1,)]
>>> bool(abs(values.values.sum() - model.predict(X)[2]) < 1e-12)
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from shapiq import InteractionValues
    from shapiq.explainer.base import Explainer
    from shapiq.game_theory.indices import AllIndices
except ImportError as error:
    raise ImportError(
        "pkex.integrations.shapiq needs shapiq: pip install 'pkex[shapiq]'"
    ) from error

import pkex
from pkex.options import check_choice, with_known_keywords

__all__ = ["ProductKernelExplainer"]

_Float = NDArray[np.float64]


class ProductKernelExplainer(Explainer):
    """Exact Shapley values of a kernel machine, in place of shapiq's explainer of that name.

    Without background data the values are those of shapiq's own, in the neutral game, for all
    models that pkex knows. With background data they are interventional, those that shapiq's
    TabularExplainer with a marginal imputer approximates.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. It must have a single output, or one chosen by `outputs`.
    data : array-like of shape (m, d), optional
        Background rows. All of them are used.
    min_order : {0, 1}, default 0
        0 has the value of the empty coalition among the values, under the empty tuple.
    max_order : int, default 1
    index : str, default "SV"
        Available today are Shapley values, "SV" of order 1.
    class_index : {None, 1}, optional
        Of a classifier of two classes, values are positive for the second.
    outputs : int or str, optional
        Which of several outputs to explain, by number or name.
    value_function, background_weights, groups, n_jobs : optional
        As in `pkex.Explainer`. The players are columns and groups of columns, in the order of their
        first columns.

    Raises
    ------
    UnsupportedModelError
        If the model is not understood in every part.
    NotImplementedError
        If `index` and `max_order` ask for interactions.
    ValueError, TypeError
        If an argument has an unknown value, or `data` is no background.

    See Also
    --------
    pkex.Explainer : The explainer behind, which needs no shapiq.

    Examples
    --------
    See `pkex.integrations.shapiq`.
    """

    @with_known_keywords
    def __init__(
        self,
        model: Any,
        data: Any = None,
        *,
        min_order: int = 0,
        max_order: int = 1,
        index: str = "SV",
        class_index: int | None = None,
        outputs: int | str | None = None,
        value_function: str | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        _check_index(index, max_order, min_order)
        if class_index not in (None, 1):
            raise ValueError(
                "class_index must be 1 or None: values of a classifier of two classes are "
                "positive for its second class, and those of the first are minus these; of more "
                f"classes choose an output by outputs=...; got {class_index!r}"
            )
        self._explainer = pkex.Explainer(
            model,
            data,
            value_function=value_function,
            background_weights=background_weights,
            groups=groups,
            outputs=outputs,
            n_jobs=n_jobs,
        )
        base = self._explainer.expected_value
        if not isinstance(base, float):
            raise ValueError(
                f"the model has {len(base)} outputs, and interaction values are of one; choose it "
                "by outputs=..., its number or name"
            )
        # shapiq would take the output to explain from `predict_proba`, or labels from `predict`.
        super().__init__(self.predict, index="SV", max_order=1)
        self.model = model
        self._shapiq_predict_function = self._predict_as_shapiq
        self._min_order = min_order
        self.empty_prediction = base

    def predict(self, x: ArrayLike) -> _Float:
        """Return the explained function of rows.

        Parameters
        ----------
        x : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._explainer._expansion.predict(x).reshape(-1)

    def _predict_as_shapiq(self, _: Any, x: ArrayLike) -> _Float:
        return self.predict(x)

    def explain_function(self, x: ArrayLike | None, **_: Any) -> InteractionValues:
        """Explain one row.

        Parameters
        ----------
        x : array-like of shape (d,)

        Returns
        -------
        shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
        """
        row = np.asarray(x)
        if row.ndim != 1:
            raise ValueError(
                f"x must be one row, of shape (d,); got shape {row.shape}. For several rows there "
                "is explain_X"
            )
        return self._interaction_values(self._explainer.shap_values(row[None])[0])

    @with_known_keywords
    def explain_X(  # type: ignore[override]  # no further keywords, which would be ignored
        self,
        X: ArrayLike,
        *,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> list[InteractionValues]:
        """Explain rows, all at once.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_jobs, random_state : optional
            Without effect: the number of threads is chosen when the explainer is made, and nothing
            is random.
        verbose : bool, default False
            Whether to show a progress bar.

        Returns
        -------
        list of shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
        """
        values = self._explainer.shap_values(X, progress=verbose)
        return [self._interaction_values(row) for row in values]

    def _interaction_values(self, values: _Float) -> InteractionValues:
        interactions: dict[tuple[int, ...], float] = {}
        if self._min_order == 0:
            interactions[()] = self.empty_prediction
        for player, value in enumerate(values.tolist()):
            interactions[player,] = value
        return InteractionValues(
            interactions,
            index="SV",
            min_order=self._min_order,
            max_order=1,
            n_players=len(values),
            estimated=False,
            baseline_value=self.empty_prediction,
        )


def _check_index(index: str, max_order: int, min_order: int) -> None:
    check_choice("index", index, AllIndices)
    for name, order, least in (("max_order", max_order, 1), ("min_order", min_order, 0)):
        if order < least:
            raise ValueError(f"{name} must be at least {least}; got {order!r}")
    if index != "SV" or max_order > 1:
        raise NotImplementedError(
            f"index={index!r} with max_order={max_order} is planned, but not available yet; "
            "available today are Shapley values: index='SV' with max_order=1"
        )
    if min_order > max_order:
        raise ValueError(f"min_order must not exceed max_order; got {min_order} and {max_order}")
