"""An explainer with the arguments and results of shapiq's own for product kernels."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    from shapiq import InteractionValues
    from shapiq.explainer.base import Explainer
    from shapiq.game_theory.indices import AllIndices, get_index_from_computation_index
except ImportError as error:
    raise ImportError(
        "pkex.integrations.shapiq needs shapiq: pip install 'pkex[shapiq]'"
    ) from error

import pkex
from pkex.indices import INDICES
from pkex.integrations import as_row
from pkex.options import check_choice, with_known_keywords
from pkex.parallel import check_n_jobs

__all__ = ["ProductKernelExplainer"]

_Float = NDArray[np.float64]

# shapiq's names for these indices where they are of single players.
_OF_ORDER_ONE = {"SV": "SII", "BV": "BII"}
_AVAILABLE = (*_OF_ORDER_ONE, *INDICES)


class ProductKernelExplainer(Explainer):
    """Exact Shapley values and interactions, in place of shapiq's explainer of that name.

    Without background data the values are those of shapiq's own, in the neutral game, for all
    models that pkex knows. With background data they are interventional, those that shapiq's
    TabularExplainer with a marginal imputer approximates.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. It must have a single output, or one chosen by `outputs`.
    data : array-like of shape (m, d), optional
        Background rows. All of them are used.
    class_index : {None, 1}, optional
        Of a classifier of two classes, values are positive for the second.
    index : str, default "SV"
        Shapley or Banzhaf values, "SV" or "BV", which are of order 1; or interactions: "k-SII",
        "SII", "STII", "FSII", "BII", "FBII", "Moebius", "Co-Moebius" or "CHII".
    max_order : int, default 1
        The most players in a coalition that has a value.
    min_order : int, default 0
        The fewest. 0 has the value of the empty coalition among the values, under the empty tuple.
        Of SII, BII and FBII that is no worth, but an average, as in shapiq. The `baseline_value` is
        the worth of the empty coalition, but for FBII, where it is that average.
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
        If `index` is one of shapiq's that is not available.
    ValueError, TypeError
        If an argument has an unknown value, or `data` is no background.

    See Also
    --------
    pkex.Explainer.interactions : The same as arrays, for which no shapiq is needed.

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

    Interactions, here against background rows:

    >>> explainer = ProductKernelExplainer(model, X, index="k-SII", max_order=2)
    >>> values = explainer.explain([2.0, 2.0])
    >>> list(values.interactions)
    [(), (0,), (1,), (0, 1)]
    >>> bool(abs(values.values.sum() - model.predict(X)[2]) < 1e-12)
    True
    """

    # The order of the arguments by position is that of `shapiq.Explainer`.
    @with_known_keywords
    def __init__(
        self,
        model: Any,
        data: Any = None,
        class_index: int | None = None,
        index: str = "SV",
        max_order: int = 1,
        *,
        min_order: int = 0,
        outputs: int | str | None = None,
        value_function: str | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        orders = _checked_orders(index, min_order, max_order)
        self._explainer = pkex.Explainer(
            model,
            data,
            value_function=value_function,
            background_weights=background_weights,
            groups=groups,
            outputs=outputs,
            n_jobs=n_jobs,
        )
        _check_class_index(class_index, outputs, self._explainer)
        base = self._explainer.expected_value
        if not isinstance(base, float):
            raise ValueError(
                f"the model has {len(base)} outputs, and interaction values are of one; choose it "
                "by outputs=..., its number or name"
            )
        n_players = len(self._explainer.feature_names)
        if orders[1] > n_players:
            raise ValueError(f"max_order must not exceed the {n_players} players; got {max_order}")
        # shapiq would take the output to explain from `predict_proba`, or labels from `predict`;
        # and warn that an index of order 1 has another name.
        super().__init__(self.predict, index="SV", max_order=1)
        self.model = model
        self._shapiq_predict_function = self._predict_as_shapiq
        self._min_order, self._max_order = orders
        self._computed_index = _OF_ORDER_ONE.get(index, index)
        name = get_index_from_computation_index(index, self._max_order)
        self._index = name  # type: ignore[assignment]  # no other explainer of shapiq has them all
        self.empty_prediction = base

    def predict(self, x: ArrayLike) -> _Float:
        """Return the explained function of rows: what their Shapley values add up to.

        Parameters
        ----------
        x : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        totals: _Float = self._explainer.shap_values(x).sum(axis=1) + self.empty_prediction
        return totals

    def _predict_as_shapiq(self, _: Any, x: ArrayLike) -> _Float:
        return self.predict(x)

    @with_known_keywords
    def explain_function(
        self,
        x: Any,
        budget: int | None = None,
        *,
        random_state: int | None = None,
    ) -> InteractionValues:
        """Explain one row.

        Parameters
        ----------
        x : array-like or Series of shape (d,), or table of shape (1, d)
            Of a Series with names, these must be the model's.
        budget, random_state : int, optional
            Without effect: the number of evaluations that shapiq's other explainers may make, and
            the seed of their choice. Nothing is sampled here.

        Returns
        -------
        shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
        """
        _check_int("budget", budget, 1, optional=True)
        self.set_random_state(random_state)
        table = as_row(x) if np.ndim(x) == 1 else x
        if np.ndim(table) != 2 or np.shape(table)[0] != 1:
            raise ValueError(
                f"x must be one row, of shape (d,) or (1, d); got shape {np.shape(x)}. For several "
                "rows there is explain_X"
            )
        return self._interaction_values(table, progress=False)[0]

    @with_known_keywords
    def explain_X(  # type: ignore[override]  # no further keywords, which would be ignored
        self,
        X: ArrayLike,
        *,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
        budget: int | None = None,
    ) -> list[InteractionValues]:
        """Explain rows, all at once.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_jobs, random_state, budget : int, optional
            Without effect: the number of threads is chosen when the explainer is made, and nothing
            is sampled.
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
        check_n_jobs(n_jobs)
        _check_int("budget", budget, 1, optional=True)
        self.set_random_state(random_state)
        return self._interaction_values(X, progress=verbose)

    def _interaction_values(self, X: Any, progress: bool) -> list[InteractionValues]:
        interactions = self._explainer.interactions(
            X, index=self._computed_index, order=self._max_order, progress=progress
        )
        of_rows = interactions.to_shapiq()
        if self._min_order == 0:
            return of_rows
        orders = {"min_order": self._min_order, "max_order": self._max_order}
        return [values.get_n_order(**orders) for values in of_rows]

    def set_random_state(self, random_state: int | None = None) -> None:
        """Do nothing: nothing is random."""
        _check_int("random_state", random_state, 0, optional=True)

    @property
    def imputer(self) -> Any:
        """Raise AttributeError: the model is not evaluated at imputed rows."""
        raise AttributeError("there is no imputer: values come from the model's parameters")

    @property
    def approximator(self) -> Any:
        """Raise AttributeError: values are exact."""
        raise AttributeError("there is no approximator: values are exact")

    @property
    def exact_computer(self) -> Any:
        """Raise AttributeError: coalitions are not tried one by one."""
        raise AttributeError("there is no exact computer: coalitions are not tried one by one")


def _checked_orders(index: str, min_order: int, max_order: int) -> tuple[int, int]:
    """Return the least and the largest order, if there are values of these of the index."""
    if index in AllIndices and index not in _AVAILABLE:
        raise NotImplementedError(
            f"index={index!r} is not available; available are {', '.join(map(repr, _AVAILABLE))}"
        )
    check_choice("index", index, _AVAILABLE)
    largest = _check_int("max_order", max_order, 1)
    least = _check_int("min_order", min_order, 0)
    if least > largest:
        raise ValueError(f"min_order must not exceed max_order; got {least} and {largest}")
    if index in _OF_ORDER_ONE and largest > 1:
        raise ValueError(
            f"index={index!r} is of order 1; got max_order={largest}. For interactions choose "
            f"another index, such as {'k-SII' if index == 'SV' else 'BII'!r}"
        )
    return least, largest


def _check_class_index(class_index: object, outputs: object, explainer: pkex.Explainer) -> None:
    if class_index is None:
        return
    if outputs is not None:
        raise ValueError("class_index and outputs were given; outputs alone says what is explained")
    if explainer.output_names is not None:
        raise ValueError(
            "class_index is for a classifier of two classes; choose one of the outputs by "
            f"outputs=..., its number or name, from {explainer.output_names}"
        )
    if explainer.output_name is None:
        raise ValueError("class_index was given, but the model is no classifier")
    if class_index != 1 or isinstance(class_index, bool):
        raise ValueError(
            f"class_index must be 1 or None: values are of {explainer.output_name!r}, positive for "
            f"the second class, and those of the first are minus these; got {class_index!r}"
        )


def _check_int(name: str, value: Any, least: int, *, optional: bool = False) -> int:
    """Return an integer that is no smaller than `least`; `least` for None if it is optional."""
    if value is None and optional:
        return least
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{name} must be an integer, at least {least}; got {value!r}")
    return number
