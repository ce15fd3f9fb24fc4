"""An explainer with the arguments and results of shapiq's own for product kernels."""

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
from pkex.integrations import as_background, as_one_row, as_rows
from pkex.integrations.arguments import (
    Check,
    LibraryVocabulary,
    check_flag,
    check_integer,
    count,
    noted,
    raise_together,
    with_checked_arguments,
)
from pkex.integrations.examination import examined

__all__ = ["ProductKernelExplainer"]

# Of interactions; and of single players, which shapiq names otherwise.
AnyIndex: TypeAlias = Index | Literal["SV", "BV"]
ApproximatorName: TypeAlias = Literal[
    "auto", "spex", "montecarlo", "svarm", "permutation", "regression"
]

# shapiq's names for these indices where they are of single players.
_OF_ORDER_ONE: dict[str, Index] = {"SV": "SII", "BV": "BII"}
_AVAILABLE = (*_OF_ORDER_ONE, *INDICES)


def _check_class_index(name: str, class_index: Any) -> None:
    if class_index is not None:
        check_integer(name, class_index, 0)


def _check_imputer(name: str, imputer: Any) -> None:
    if imputer is not None and not (isinstance(imputer, str) and imputer == "marginal"):
        raise NotImplementedError(
            f"{name} must be None or 'marginal', which draws absent features from the rows of "
            "data; for a baseline, pass it as the only row of data, and of an imputer its data; "
            f"got {imputer!r}"
        )


def _check_approximator(name: str, approximator: Any) -> None:
    if not isinstance(approximator, Approximator):
        check_choice(name, approximator, get_args(ApproximatorName))


# Checks by the names of their arguments, of a call and of the constructor.
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
# What is passed on to a `pkex.Explainer` as it is.
_VOCABULARY = LibraryVocabulary({"background": "data"})
_OPTIONS = ("background_weights", "groups", "n_jobs")


def _check_rows(self: ProductKernelExplainer, x: Any = None, X: Any = None, **_: object) -> None:
    """Refuse rows that cannot be explained."""
    if x is not None or X is not None:
        self._explainer._problem.schema.columns.read(X if x is None else as_rows(x)[0])


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
    **given: Any,
) -> None:
    """Refuse a model, a background, options and orders, with all that is wrong."""
    problems = _problems_of_orders(index, min_order, max_order)
    order = 1 if problems else max_order
    with noted(problems):
        value_function = _game(value_function, data, imputer, joint_marginal_distribution)
    options = {name: given[name] for name in _OPTIONS if name in given}
    schema = examined(
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
    """Exact Shapley values and interactions, in place of shapiq's explainer of that name.

    Without background data the values are those of shapiq's own, in the neutral game, for all
    models that pkex knows. With background data they are interventional, those that shapiq's
    TabularExplainer with a marginal imputer approximates. One error names all that is wrong with
    the arguments.

    Parameters
    ----------
    model : fitted model or its bound method
        As in `pkex.Explainer`. It must have a single output, or one chosen by `outputs`.
    data : array-like of shape (m, d) or Series, optional
        Background rows; all of them are used. A pandas Series is a single row.
    class_index : {None, 0, 1}, optional
        Of a classifier of two classes, the one that values are positive for: by default 1, the
        second. Without effect for models that are no classifiers, as in shapiq.
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
        As in `pkex.Explainer`, but without `data` the game is the neutral one. The players are
        columns and groups of columns, in the order of their first columns.
    imputer : {None, "marginal"}, optional
        How features are absent; "marginal" is what `data` means. Others are not available.
    joint_marginal_distribution : bool, default True
        False is ``value_function="marginal"``: features are drawn from `data` independently.
    verbose : bool, default False
        Whether `explain_X` shows a progress bar.
    approximator, sample_size, random_state : optional
        Without effect: nothing is approximated or sampled.

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

    # Where users import it from.
    __module__ = "pkex.integrations.shapiq"

    # The order of the arguments by position is that of `shapiq.Explainer`.
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
        how: dict[str, Any] = {
            "imputer": imputer,
            "joint_marginal_distribution": joint_marginal_distribution,
        }
        first: list[Exception] = []
        with noted(first, _VOCABULARY):
            raise_together(_problems_of_orders(**of_values))
            game = _game(value_function, data, **how)
            self._explainer = pkex.Explainer(
                model, as_background(data), value_function=game, **options
            )
            schema = self._explainer._problem.schema
            raise_together(_problems_of_schema(schema, class_index, outputs, max_order))
        if first:
            options |= {"class_index": class_index, "value_function": value_function}
            _check_construction(self, model, data, **of_values, **how, **options)
        raise_together(first)
        self._sign = _sign(class_index, outputs, schema.outputs)
        # shapiq would take the output to explain from `predict_proba`, or labels from `predict`;
        # and warn that an index of order 1 has another name.
        super().__init__(self.predict, index="SV", max_order=1)
        self.model = model
        self._shapiq_predict_function = self._predict_as_shapiq
        self._min_order, self._max_order = int(min_order), int(max_order)
        self._computed_index = check_choice("index", _OF_ORDER_ONE.get(index, index), INDICES)
        name = get_index_from_computation_index(index, self._max_order)
        self._index = name  # type: ignore[assignment]  # no other explainer of shapiq has them all
        self._verbose = verbose
        self.empty_prediction = self._sign * float(self._explainer.expected_value)

    def predict(self, x: ArrayLike) -> Float:
        """Return the explained function of rows: what their Shapley values add up to.

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
        table = as_one_row("x", x, "explain_X")
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
        """Explain rows, all at once.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_jobs, random_state, budget : int, optional
            Without effect: the number of threads is chosen when the explainer is made, and nothing
            is sampled.
        verbose : bool, default False
            Whether to show a progress bar, if not said when the explainer was made.

        Returns
        -------
        list of shapiq.InteractionValues

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling a `pkex.Explainer`.
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
        raise AttributeError("there is no imputer: values come from the model's parameters")

    @property
    def approximator(self) -> Any:
        """Raise AttributeError: values are exact."""
        raise AttributeError("there is no approximator: values are exact")

    @property
    def exact_computer(self) -> Any:
        """Raise AttributeError: coalitions are not tried one by one."""
        raise AttributeError("there is no exact computer: coalitions are not tried one by one")


def _problems_of_orders(index: Any, min_order: Any, max_order: Any) -> list[Exception]:
    """Return what is wrong with an index and the orders of its values."""
    problems: list[Exception] = []
    with noted(problems):
        _check_index(index)
    with noted(problems):
        check_integer("max_order", max_order, 1)
    with noted(problems):
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
                f"index={index!r} is of single features, max_order=1; got max_order={max_order}. "
                f"For interactions choose another index, such as {other!r}"
            )
        )
    return problems


def _check_index(index: Any) -> None:
    if index in AllIndices and index not in _AVAILABLE:
        raise NotImplementedError(
            f"index={index!r} is not available; available are {', '.join(map(repr, _AVAILABLE))}"
        )
    check_choice("index", index, _AVAILABLE)


def _problems_of_schema(
    schema: Schema, class_index: Any, outputs: Any, max_order: int
) -> list[Exception]:
    """Return errors of explanations with too many outputs, or with too few players."""
    problems: list[Exception] = []
    with noted(problems):
        _sign(class_index, outputs, schema.outputs)
    names = schema.outputs.axis_names
    # A single one that was chosen, and that there is not, has been named already.
    if names is not None and (outputs is None or not isinstance(outputs, str | int)):
        problems.append(
            pkex.UnsupportedModelError(
                f"the model has {len(names)} outputs, and interaction values are of one, as of a "
                "regressor or a binary SVM; choose it by outputs=..., its number or name"
            )
        )
    n_players = len(schema.feature_names)
    if max_order > n_players:
        problems.append(
            ValueError(f"max_order must not exceed the {n_players} players; got {max_order}")
        )
    return problems


def _game(
    given: ValueFunction | Observational | None,
    data: object,
    imputer: object,
    joint_marginal_distribution: bool,
) -> ValueFunction | Observational | None:
    """Return the value function that is meant; shapiq's own explainer has the neutral one."""
    if data is None:
        if imputer is not None or not joint_marginal_distribution:
            name = "joint_marginal_distribution" if imputer is None else "imputer"
            raise ValueError(f"{name} says how rows take the place of features; give them as data")
        return "neutral" if given is None else given
    if joint_marginal_distribution:
        return given
    if given not in (None, "marginal"):
        raise ValueError(
            f"joint_marginal_distribution=False is value_function='marginal'; got {given!r}"
        )
    return "marginal"


def _sign(class_index: object, outputs: object, of_results: Outputs) -> float:
    """Return 1 if values are positive for the class that is meant, −1 if for the other."""
    if class_index is None:
        return 1.0
    if outputs is not None:
        raise ValueError("class_index and outputs were given; outputs alone says what is explained")
    if of_results.axis_names is not None:
        raise ValueError(
            "class_index is for a classifier of two classes; choose one of the outputs by "
            f"outputs=..., its number or name, from {of_results.axis_names}"
        )
    if of_results.name is not None and class_index not in (0, 1):
        raise ValueError(
            f"class_index must be 0, 1 or None: values are of {of_results.name!r}, positive "
            f"for the second class, and for 0 minus these; got {class_index!r}"
        )
    is_first = of_results.name is not None and class_index == 0
    return -1.0 if is_first else 1.0
