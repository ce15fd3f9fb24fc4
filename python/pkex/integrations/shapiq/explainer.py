"""An explainer with the arguments and results of shapiq's explainer for product kernels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from numpy.typing import ArrayLike

from pkex.inputs.optional import missing_library
from pkex.typing import Float

try:
    from shapiq import InteractionValues
    from shapiq.approximator.base import Approximator
    from shapiq.explainer.base import Explainer
    from shapiq.game_theory.indices import AllIndices, get_index_from_computation_index
except ImportError as error:
    raise missing_library("pkex.integrations.shapiq", "shapiq") from error

import pkex
from pkex.execution.threads import check_n_jobs
from pkex.explain.outputs import Outputs
from pkex.explain.schema import Schema
from pkex.games.indices import INDICES, Index
from pkex.games.observational import Observational
from pkex.games.value_functions import ValueFunction
from pkex.inputs.choices import check_choice
from pkex.integrations import as_background, as_one_row
from pkex.integrations.arguments import (
    Check,
    LibraryVocabulary,
    check_flag,
    check_integer,
    collect_errors,
    count,
    raise_together,
    with_checked_arguments,
)
from pkex.integrations.examination import examine

# Indices of interactions, and of single players, which have other names in shapiq.
AnyIndex: TypeAlias = Index | Literal["SV", "BV"]
ApproximatorName: TypeAlias = Literal[
    "auto", "spex", "montecarlo", "svarm", "permutation", "regression"
]

# shapiq's names of indices of single players.
_OF_ORDER_ONE: dict[str, Index] = {"SV": "SII", "BV": "BII"}
_AVAILABLE = (*_OF_ORDER_ONE, *INDICES)


def _check_class_index(name: str, class_index: Any) -> None:
    if class_index is not None:
        check_integer(name, class_index, 0)


def _check_imputer(name: str, imputer: Any) -> None:
    if imputer is not None and not (isinstance(imputer, str) and imputer == "marginal"):
        raise NotImplementedError(
            f"{name} must be None or 'marginal', which draws absent features from the rows of "
            f"data; got {imputer!r}. Pass a baseline as the only row of data, or the data of an "
            "imputer as data"
        )


def _check_approximator(name: str, approximator: Any) -> None:
    if not isinstance(approximator, Approximator):
        check_choice(name, approximator, get_args(ApproximatorName))


# Checks of the arguments of calls and of the constructor, by their names.
_CALL: dict[str, Check] = {
    "budget": count(None),
    "random_state": count(None, least=0),
    "n_jobs": lambda _, n_jobs: check_n_jobs(n_jobs),
    "verbose": check_flag,
}
_CONSTRUCTOR: dict[str, Check] = {
    "class_index": _check_class_index,
    "imputer": _check_imputer,
    "joint_marginal_distribution": check_flag,
    "approximator": _check_approximator,
    "sample_size": count(),
    "random_state": count(None, least=0),
    "verbose": check_flag,
}
_VOCABULARY = LibraryVocabulary({"background": "data"})
# Arguments that are passed to `pkex.Explainer` unchanged.
_OPTIONS = ("background_weights", "groups", "n_jobs")


def _check_rows(self: ProductKernelExplainer, x: Any = None, X: Any = None, **_: object) -> None:
    """Raise the errors of rows."""
    if x is not None or X is not None:
        columns = self._explainer._problem.schema.columns
        table = X if x is None else as_one_row("x", x, "explain_X", columns)
        columns.read(table)


def _check_construction(
    self: object,
    model: Any,
    data: Any = None,
    class_index: Any = None,
    index: Any = "SV",
    max_order: Any = 1,
    *,
    min_order: Any = 0,
    outputs: Any = None,
    value_function: Any = None,
    imputer: Any = None,
    joint_marginal_distribution: Any = True,
    **arguments: Any,
) -> None:
    """Raise all errors of a model, background data, options and orders."""
    problems = _problems_of_orders(index, min_order, max_order)
    order = 1 if problems else max_order
    with collect_errors(problems):
        value_function = _game(value_function, data, imputer, joint_marginal_distribution)
    options = {name: arguments[name] for name in _OPTIONS if name in arguments}
    schema = examine(
        problems,
        model,
        as_background(data),
        value_function=value_function,
        outputs=outputs,
        vocabulary=_VOCABULARY,
        **options,
    )
    if schema is not None:
        problems += _problems_of_schema(schema, class_index, outputs, order)
    raise_together(problems)


class ProductKernelExplainer(Explainer):
    """Exact Shapley values and interactions, instead of shapiq's explainer of the same name.

    Without background data, the values are those of shapiq's explainer (the neutral value
    function), for all models that pkex supports. With background data, they are the interventional
    values that shapiq's TabularExplainer approximates with ``imputer="marginal"``. One error names
    all invalid arguments.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. It must have a single output, or one chosen by `outputs`.
    data : array-like of shape (m, d) or Series, optional
        Background rows; all of them are used. A pandas Series is a single row.
    class_index : {None, 0, 1}, optional
        For classifiers of two classes, the class that positive values favor: by default 1, the
        second. Without effect for other models, as in shapiq.
    index : str, default "SV"
        Shapley or Banzhaf values, "SV" or "BV", with order 1; or interactions: "k-SII",
        "SII", "STII", "FSII", "BII", "FBII", "Moebius", "Co-Moebius" or "CHII".
    max_order : int, default 1
        The largest number of players in a coalition.
    min_order : int, default 0
        The smallest number. 0 includes the coefficient of the empty coalition, with the key ``()``.
        For SII, BII and FBII it is an average, as in shapiq. `baseline_value` is the value of the
        empty coalition, except for FBII, where it is this average.
    outputs : int or str, optional
        The output to explain if there are several, by number or name.
    value_function, background_weights, groups, n_jobs : optional
        As in `pkex.Explainer`, except that the default without `data` is "neutral". The players are
        columns and groups of columns, in the order of their first columns.
    imputer : {None, "marginal"}, optional
        "marginal" draws absent features from the rows of `data`. Others are not supported.
    joint_marginal_distribution : bool, default True
        False stands for ``value_function="marginal"``: features are drawn from `data`
        independently.
    verbose : bool, default False
        Whether `explain_X` shows a progress bar.
    approximator, sample_size, random_state : optional
        Without effect: nothing is approximated or sampled.

    Raises
    ------
    UnsupportedModelError
        If a part of the model is not supported.
    NotImplementedError
        If pkex does not support this `index` of shapiq.
    ValueError, TypeError
        If an argument has an unknown value, or `data` is invalid.

    See Also
    --------
    pkex.Explainer.interactions : Interactions as arrays, without shapiq.

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

    Interactions with background data:

    >>> explainer = ProductKernelExplainer(model, X, index="k-SII", max_order=2)
    >>> values = explainer.explain([2.0, 2.0])
    >>> list(values.interactions)
    [(), (0,), (1,), (0, 1)]
    >>> bool(abs(values.values.sum() - model.predict(X)[2]) < 1e-12)
    True
    """

    # Where users import it from.
    __module__ = "pkex.integrations.shapiq"

    # Positional arguments are in the order of `shapiq.Explainer`.
    @with_checked_arguments(_CONSTRUCTOR, finds_more=_check_construction)
    def __init__(
        self,
        model: Any,
        data: Any = None,
        class_index: Literal[0, 1] | None = None,
        index: AnyIndex = "SV",
        max_order: int = 1,
        *,
        min_order: int = 0,
        outputs: int | str | None = None,
        value_function: ValueFunction | Observational | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        n_jobs: int | None = -1,
        imputer: Literal["marginal"] | None = None,
        joint_marginal_distribution: bool = True,
        approximator: ApproximatorName | Approximator[Any] = "auto",
        sample_size: int = 100,
        random_state: int | None = None,
        verbose: bool = False,
    ) -> None:
        options: dict[str, Any] = {
            "background_weights": background_weights,
            "groups": groups,
            "outputs": outputs,
            "n_jobs": n_jobs,
        }
        of_values: dict[str, Any] = {"index": index, "min_order": min_order, "max_order": max_order}
        imputation: dict[str, Any] = {
            "imputer": imputer,
            "joint_marginal_distribution": joint_marginal_distribution,
        }
        problems: list[Exception] = []
        with collect_errors(problems, _VOCABULARY):
            raise_together(_problems_of_orders(**of_values))
            game = _game(value_function, data, **imputation)
            self._explainer = pkex.Explainer(
                model, as_background(data), value_function=game, **options
            )
            schema = self._explainer._problem.schema
            raise_together(_problems_of_schema(schema, class_index, outputs, max_order))
        if problems:
            options |= {"class_index": class_index, "value_function": value_function}
            _check_construction(self, model, data, **of_values, **imputation, **options)
        raise_together(problems)
        self._sign = _sign(class_index, outputs, schema.outputs)
        # shapiq would explain `predict_proba`, or the labels of `predict`, and warn that an index
        # of order 1 has another name.
        super().__init__(self.predict, index="SV", max_order=1)
        self.model = model
        self._shapiq_predict_function = self._predict_as_shapiq
        self._min_order, self._max_order = int(min_order), int(max_order)
        self._computed_index = check_choice("index", _OF_ORDER_ONE.get(index, index), INDICES)
        name = get_index_from_computation_index(index, self._max_order)
        self._index = name  # type: ignore[assignment]  # shapiq has no type for all
        self._verbose = verbose
        self.empty_prediction = self._sign * float(self._explainer.expected_value)

    def predict(self, x: ArrayLike) -> Float:
        """Return the explained function at rows, the sum of Shapley values and the base value.

        Parameters
        ----------
        x : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        totals: Float = self._sign * self._explainer.shap_values(x).sum(axis=1)
        return totals + self.empty_prediction

    def _predict_as_shapiq(self, _: Any, x: ArrayLike) -> Float:
        return self.predict(x)

    @with_checked_arguments(_CALL, finds_more=_check_rows)
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
            The names of a Series must be those of the model.
        budget, random_state : int, optional
            Without effect: the number of evaluations of shapiq's other explainers, and their seed.
            Nothing is sampled.

        Returns
        -------
        shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As for a call of `pkex.Explainer`.
        """
        columns = self._explainer._problem.schema.columns
        table = as_one_row("x", x, "explain_X", columns)
        return self._interaction_values(table, progress=False)[0]

    @with_checked_arguments(_CALL, finds_more=_check_rows)
    def explain_X(  # type: ignore[override]  # no further keywords, which would be ignored
        self,
        X: ArrayLike,
        *,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
        budget: int | None = None,
    ) -> list[InteractionValues]:
        """Explain several rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_jobs, random_state, budget : int, optional
            Without effect: the number of threads is an argument of the constructor, and nothing is
            sampled.
        verbose : bool, default False
            Whether to show a progress bar, unless the constructor was called with
            ``verbose=True``, which always shows one.

        Returns
        -------
        list of shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As for a call of `pkex.Explainer`.
        """
        return self._interaction_values(X, progress=bool(verbose or self._verbose))

    def _interaction_values(self, X: Any, progress: bool) -> list[InteractionValues]:
        interactions = self._explainer.interactions(
            X, index=self._computed_index, order=self._max_order, progress=progress
        )
        of_rows = interactions.to_shapiq()
        if self._sign < 0:
            of_rows = [-values for values in of_rows]
        if self._min_order == 0:
            return of_rows
        orders = {"min_order": self._min_order, "max_order": self._max_order}
        return [values.get_n_order(**orders) for values in of_rows]

    def set_random_state(self, random_state: int | None = None) -> None:
        """Do nothing: nothing is random."""
        _CALL["random_state"]("random_state", random_state)

    @property
    def imputer(self) -> Any:
        """Raise AttributeError: the model is not evaluated at imputed rows."""
        raise AttributeError("there is no imputer: values are computed from the model's parameters")

    @property
    def approximator(self) -> Any:
        """Raise AttributeError: values are exact."""
        raise AttributeError("there is no approximator: values are exact")

    @property
    def exact_computer(self) -> Any:
        """Raise AttributeError: coalitions are not evaluated one by one."""
        raise AttributeError("there is no exact computer: coalitions are not evaluated one by one")


def _problems_of_orders(index: Any, min_order: Any, max_order: Any) -> list[Exception]:
    """Return the errors of an index and its orders."""
    problems: list[Exception] = []
    with collect_errors(problems):
        _check_index(index)
    with collect_errors(problems):
        check_integer("max_order", max_order, 1)
    with collect_errors(problems):
        check_integer("min_order", min_order, 0)
    if problems:
        return problems
    if min_order > max_order:
        problems.append(
            ValueError(f"min_order must not exceed max_order; got {min_order} and {max_order}")
        )
    if index in _OF_ORDER_ONE and max_order > 1:
        other = "k-SII" if index == "SV" else "BII"
        problems.append(
            ValueError(
                f"index={index!r} requires max_order=1; got max_order={max_order}. For "
                f"interactions choose another index, such as {other!r}"
            )
        )
    return problems


def _check_index(index: Any) -> None:
    if index in AllIndices and index not in _AVAILABLE:
        raise NotImplementedError(
            f"index={index!r} is not supported. Use one of {', '.join(map(repr, _AVAILABLE))}"
        )
    check_choice("index", index, _AVAILABLE)


def _problems_of_schema(
    schema: Schema, class_index: Any, outputs: Any, max_order: int
) -> list[Exception]:
    """Return the errors of too many outputs, or too few players."""
    problems: list[Exception] = []
    with collect_errors(problems):
        _sign(class_index, outputs, schema.outputs)
    names = schema.outputs.axis_names
    # A single output that does not exist is already an error.
    if names is not None and (outputs is None or not isinstance(outputs, str | int)):
        problems.append(
            pkex.UnsupportedModelError(
                f"the model has {len(names)} outputs, but interaction values are of one output. "
                "Choose it by outputs=..., its number or name"
            )
        )
    n_players = len(schema.feature_names)
    if max_order > n_players:
        problems.append(
            ValueError(f"max_order must not exceed the {n_players} players; got {max_order}")
        )
    return problems


def _game(
    value_function: ValueFunction | Observational | None,
    data: object,
    imputer: object,
    joint_marginal_distribution: bool,
) -> ValueFunction | Observational | None:
    """Return the value function; the default of shapiq's explainer is "neutral"."""
    if data is None:
        if imputer is not None or not joint_marginal_distribution:
            name = "joint_marginal_distribution" if imputer is None else "imputer"
            raise ValueError(
                f"{name} requires the rows that absent features are drawn from. Pass data"
            )
        return "neutral" if value_function is None else value_function
    if joint_marginal_distribution:
        return value_function
    if value_function not in (None, "marginal"):
        raise ValueError(
            "joint_marginal_distribution=False requires value_function='marginal'; got "
            f"{value_function!r}"
        )
    return "marginal"


def _sign(class_index: object, outputs: object, of_results: Outputs) -> float:
    """Return 1 if positive values favor the chosen class, −1 if they favor the other."""
    if class_index is None:
        return 1.0
    if outputs is not None:
        raise ValueError("class_index and outputs were both given. Pass only outputs")
    if of_results.axis_names is not None:
        raise ValueError(
            "class_index requires a classifier of two classes. Choose one of the outputs by "
            f"outputs=..., its number or name, from {of_results.axis_names}"
        )
    if of_results.name is not None and class_index not in (0, 1):
        raise ValueError(
            f"class_index must be 0, 1 or None; got {class_index!r}. Positive values of "
            f"{of_results.name!r} favor the second class, or the first with class_index=0"
        )
    is_first = of_results.name is not None and class_index == 0
    return -1.0 if is_first else 1.0
