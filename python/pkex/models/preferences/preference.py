"""Base class of preference models, with explanations by features of items and contexts."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.errors import warn
from pkex.execution.progress import Progress
from pkex.execution.settings import Settings
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.games.observational import Observational
from pkex.games.value_functions import ValueFunction
from pkex.inputs.choices import check_choice
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.inputs.scikit_learn import keep_names
from pkex.inputs.wording import counted, shown
from pkex.kernels import Kernel
from pkex.kernels.factors import has_series
from pkex.kernels.scales import Constants
from pkex.models.arguments import check_number, check_weights, kernel_or_default
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.context_values import context_values
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.inducing_pairs import InducingPairs
from pkex.models.preferences.item_values import item_values, item_values_against_all
from pkex.models.preferences.marginal_likelihood import Loss, maximize_likelihood
from pkex.models.preferences.pair_kernel import NumberedPairs, PairKernel
from pkex.models.preferences.posterior import PairPosterior
from pkex.models.preferences.preferential import Contexts, Preferential, join_columns
from pkex.models.preferences.sides import Sides, check_distinct
from pkex.models.preferences.utility import UtilityDifference
from pkex.results.explanation import Explanation
from pkex.results.uncertainty import Uncertainty
from pkex.tables.weights import equal_weights
from pkex.typing import Float

PairKernelName: TypeAlias = Literal["preferential", "utility"]
_FUNCTIONS: dict[str, type[Preferential]] = {
    "preferential": Preferential,
    "utility": UtilityDifference,
}

# The least number of centers; with fewer pairs, all pairs are centers.
_MIN_CENTERS = 2000


@dataclass(frozen=True, eq=False)
class Training:
    """The training pairs.

    Parameters
    ----------
    pairs : Preferential
        The n pairs of positive weight, with coefficients 0.
    weights : ndarray of shape (n,)
    mask : ndarray of bool
        The rows of the tables that have positive weight.
    """

    pairs: Preferential
    weights: Float
    mask: NDArray[np.bool_]


class Preference(BaseEstimator):
    """Base class: the parameters, the fitted function of two items, and its explanations."""

    def __init__(
        self,
        *,
        alpha: float | None = None,
        kernel: Kernel | None = None,
        context_kernel: Kernel | None = None,
        pair_kernel: PairKernelName = "preferential",
        n_centers: int | Literal["auto"] | None = "auto",
        tol: float = 1e-12,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.context_kernel = context_kernel
        self.pair_kernel = pair_kernel
        self.n_centers = n_centers
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_stopping_criteria(self) -> tuple[float, int]:
        """Return tol and max_iter."""
        tol = check_number("tol", self.tol, may_be_0=False)
        return tol, as_integer("max_iter", self.max_iter, "a positive integer", least=1)

    def _begin(self, left: Any, right: Any, context: Any, weights: ArrayLike | None) -> Training:
        """Read the training tables; `weights` are those of the pairs."""
        check_n_jobs(self.n_jobs)
        pair_kernel = check_choice("pair_kernel", self.pair_kernel, get_args(PairKernelName))
        sides = Sides.of_fit(left, context)
        items, opponents = sides.read_training_items(left, right)
        check_distinct(items.rows, opponents)
        of_pairs = check_weights(weights, len(opponents), "left")
        mask = of_pairs > 0.0
        a, b = items.rows[mask], opponents[mask]
        training_items = np.concatenate([a, b])
        kernel = _kernel_of(self.kernel, training_items, items.names, "left and right", "kernel")
        if pair_kernel == "preferential" and has_series(kernel.terms(training_items.shape[1])):
            raise ValueError(
                f"kernel={kernel!r} is or contains a power series of sums over columns. Preference "
                "models require products over columns, and their sums and mixtures, such as RBF, "
                "Laplacian, Categorical or Matern, unless pair_kernel='utility'"
            )
        contexts, table = None, sides.read_contexts(context, items.rows)
        if table is not None:
            rows = table.rows[mask]
            contexts = Contexts(
                rows,
                _kernel_of(self.context_kernel, rows, table.names, "context", "context_kernel"),
            )
        keep_names(self, left, reset=True)
        self.n_features_in_ = items.rows.shape[1]
        self._context_names = None if table is None else table.known_names
        self._pair_kernel = pair_kernel
        pairs = _FUNCTIONS[pair_kernel](a, b, np.zeros(len(a)), kernel, contexts)
        return Training(pairs, of_pairs[mask], mask)

    def _choose_parameters(self, training: Training, loss: Loss) -> tuple[Training, float]:
        """Return the pairs with their kernels, and alpha, which are chosen if `alpha` is None."""
        if self.alpha is not None:
            alpha = check_number("alpha", self.alpha, may_be_0=False, none_is_default=True)
            return training, alpha
        pairs, alpha = maximize_likelihood(
            training.pairs,
            loss,
            chooses_kernel=self.kernel is None,
            chooses_context_kernel=self.context_kernel is None,
        )
        return replace(training, pairs=pairs), alpha

    def _draw_centers(self, training: Training, alpha: float) -> InducingPairs | None:
        """Return the functions of random centers; None if all pairs are centers."""
        n = len(training.weights)
        number = max(_MIN_CENTERS, math.ceil(10.0 * math.sqrt(n)))
        if self.n_centers is None:
            return None
        if not isinstance(self.n_centers, str):
            valid = "a positive integer, 'auto' or None"
            number = as_integer("n_centers", self.n_centers, valid, least=1)
        elif self.n_centers != "auto":
            raise ValueError(
                f"n_centers must be a positive integer, 'auto' or None; got {self.n_centers!r}"
            )
        random = as_generator(self.random_state)
        if number >= n:
            return None
        return InducingPairs.draw(training.pairs, training.weights, alpha, number, random)

    def _keep(
        self, training: Training, f: Preferential, posterior: tuple[Float, float] | None
    ) -> None:
        """Set the fitted arrays, kernels and means over training pairs, given the function.

        If all pairs are centers, `posterior` has the precisions and the scale of the prior of
        `PairPosterior.of`.
        """
        contexts, numbered_pairs = f.contexts, NumberedPairs.of(training.pairs)
        self.dual_coef_, self.kernel_ = f.coefficients, f.kernel
        self.left_, self.right_ = f.left, f.right
        self.n_centers_ = len(f.left)
        self.context_ = None if contexts is None else contexts.rows
        self.context_kernel_ = None if contexts is None else contexts.kernel
        self._items = numbered_pairs.items
        shares = training.weights / training.weights.sum()
        self._posterior = None if posterior is None else (*posterior, shares)
        self.prior_scale_ = None if posterior is None else posterior[1]
        if contexts is not None:
            self._contexts = numbered_pairs.contexts
            self._context_shares = np.bincount(numbered_pairs.context, shares).astype(np.float64)
            self._mean_pair, self._mean_context = PairKernel.of(numbered_pairs, f).means(shares)

    def _function_and_sides(self) -> tuple[Preferential, Sides]:
        """Return the fitted function, and the columns of its tables."""
        check_is_fitted(self, "dual_coef_")
        contexts, n_contexts = None, 0
        if self.context_ is not None and self.context_kernel_ is not None:
            contexts = Contexts(self.context_, self.context_kernel_)
            n_contexts = self.context_.shape[1]
        function = _FUNCTIONS[self._pair_kernel]
        f = function(self.left_, self.right_, self.dual_coef_, self.kernel_, contexts)
        names = feature_names(self)
        return f, Sides.of_names(f.n_features, names, n_contexts, self._context_names)

    def _output(self, left: Any, right: Any, context: Any) -> Float:
        """Return f for pairs in contexts, shape (n,)."""
        f, items, opponents, contexts = self._read_pairs(left, right, context)
        return f.evaluate(items, opponents, contexts, n_threads=thread_count(self.n_jobs))

    def _deviations(self, left: Any, right: Any, context: Any) -> Float:
        """Return the posterior standard deviations of f for pairs in contexts, shape (n,)."""
        f, items, opponents, contexts = self._read_pairs(left, right, context)
        deviations: Float = np.sqrt(self._posterior_of(f).variances(items, opponents, contexts))
        return deviations

    def _read_pairs(
        self, left: Any, right: Any, context: Any
    ) -> tuple[Preferential, Float, Float, Float | None]:
        """Return f, and the items and contexts of pairs."""
        f, sides = self._function_and_sides()
        items, opponents = sides.read_items(left, right)
        table = sides.read_contexts(context, items.rows)
        return f, items.rows, opponents, None if table is None else table.rows

    def _posterior_of(self, f: Preferential) -> PairPosterior:
        """Return the posterior of f.

        Raises
        ------
        ValueError
            If some of the training pairs are not centers.
        """
        if self._posterior is None:
            raise ValueError(
                "posterior standard deviations are for models whose centers are all training "
                f"pairs, but this one has {counted(self.n_centers_, 'center')}. Fit it with "
                "n_centers=None, or on fewer pairs"
            )
        return PairPosterior.of(f, *self._posterior)

    def utilities(
        self, items: ArrayLike, context: ArrayLike | None = None, return_std: bool = False
    ) -> Float | tuple[Float, Float]:
        """Return the utility u of items, if ``pair_kernel="utility"``: f(a, b) = u(a) − u(b).

        Parameters
        ----------
        items : array-like or DataFrame of shape (n, d)
        context : array-like or DataFrame of shape (n, c), optional
            The context of each item. By default, the mean over the training contexts, if there are
            any.
        return_std : bool, default False
            Also return the posterior standard deviation of u, for models whose centers are all
            training pairs. The prior of u has mean 0 and the covariance ``prior_scale_`` times the
            kernel. Pairs do not determine the level of u, so the deviation does not decrease to 0.
            For a difference of utilities, use the deviation of f.

        Returns
        -------
        ndarray of shape (n,), or this and a second array
            Sort by it for a ranking. Only differences of utilities have a meaning.

        Raises
        ------
        ValueError, TypeError
            If the model was fitted with another `pair_kernel`, or as in `explain_items`.
        """
        f, sides = self._function_and_sides()
        if not isinstance(f, UtilityDifference):
            raise ValueError(
                f"utilities requires a model fitted with pair_kernel='utility'; got pair_kernel="
                f"{self._pair_kernel!r}, whose preferences may have no ranking"
            )
        rows = sides.items.read(items, "items").rows
        contexts, numbers = _distinct_contexts(f, sides, context, rows)
        utilities = f.utilities(rows, self._in_contexts(f, contexts), numbers)
        if not return_std:
            return utilities
        of_rows = None if contexts is None else contexts[numbers]
        return utilities, np.sqrt(self._posterior_of(f).utility_variances(rows, of_rows))

    @property
    def _output_name(self) -> str | None:
        """The name of the output; None if it has no name."""
        return None

    @with_known_keywords
    def explain_items(
        self,
        left: ArrayLike,
        right: ArrayLike | None = None,
        context: ArrayLike | None = None,
        *,
        background: ArrayLike | None = None,
        value_function: ValueFunction | Observational | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        uncertainty: bool = False,
        progress: Progress = False,
    ) -> Explanation:
        """Explain the preference between two items by their features.

        A feature is present in both items or absent from both: v(S) = E f((a_S, X), (b_S, X')),
        where X and X' are independent items. The values are exact and add up to f(a, b). The values
        of (b, a) are the negative values of (a, b).

        Parameters
        ----------
        left : array-like or DataFrame of shape (n, d)
        right : array-like or DataFrame of shape (n, d), optional
            By default, each left item is compared with all items of the background, and values are
            means over them.
        context : array-like or DataFrame of shape (n, c), optional
            The context of each pair. By default, f is the mean over the training contexts, if there
            are any.
        background : array-like or DataFrame of shape (m, d), optional
            Items that X and X' are drawn from; by default the distinct training items. With
            "interventional", all m² pairs are used, for m up to 1,024.
        value_function : str or Observational, optional
            As in `pkex.Explainer`. "interventional" (default with a background) draws whole items;
            "marginal" (default without) draws each feature independently, which is faster;
            "observational" draws items given a_S and b_S, for up to 14 features, and
            ``pkex.Observational(leave_one_out=True)`` leaves an item out of its own background;
            "neutral" sets absent factors to 1.
        groups : dict of str to columns, optional
            Columns of items that form one feature, as in `pkex.Explainer`.
        uncertainty : bool, default False
            Also compute the posterior covariances of the values: standard deviations in
            ``explanation.standard_deviations``. For "marginal" and "interventional", given right
            items, and for models whose centers are all training pairs.
        progress : bool or callable, default False
            True shows a progress bar (requires tqdm); a callable is called with (done, total).

        Returns
        -------
        Explanation
            With ``values`` of shape (n, d), or (n, features) with groups, and ``base_values`` 0.
            ``data`` are the differences left − right, or left if right is not given.

        Raises
        ------
        ValueError, TypeError
            If a table has values that are not finite numbers, other columns than in the fit, or
            another number of rows.
        UnsupportedModelError
            If `uncertainty` is not available for the value function.
        """
        f, sides = self._function_and_sides()
        if uncertainty and right is None:
            raise ValueError(
                "uncertainty=True requires right: it is for pairs of items, not for means over "
                "opponents. Pass a right item for each row of left"
            )
        items, opponents = sides.read_items(left, left if right is None else right)
        rows = None if background is None else sides.items.read(background, "background").rows
        default_background = self._items, equal_weights(len(self._items))
        absent = Absent.of(value_function, rows, default_background, items.names, groups)
        contexts, numbers = _distinct_contexts(f, sides, context, items.rows)
        duels = Duels(items.rows, opponents, self._in_contexts(f, contexts), numbers)
        roots = None
        with Settings(n_jobs=self.n_jobs).computing(progress) as computation:
            if uncertainty:
                posterior, part = self._posterior_of(f), computation.part(0, 2)
                roots = posterior.item_roots(duels, contexts, absent, part)
                computation = computation.part(1, 2)
            of_duels = item_values_against_all if right is None else item_values
            values = of_duels(f, duels, absent, computation)
        explanation = Explanation(
            values,
            np.zeros(len(values)),
            absent.players.entries(items.rows if right is None else items.rows - opponents),
            absent.players.names,
            output_name=self._output_name,
            row_index=items.labels.rows,
            value_function=absent.value_function,
        )
        return _with_roots(explanation, roots)

    def _in_contexts(self, f: Preferential, contexts: Float | None) -> Float:
        """Return the coefficients of f in some contexts, or of its mean over the training pairs."""
        if contexts is not None:
            return f.in_contexts(contexts)
        means = f.coefficients if f.contexts is None else f.coefficients * self._mean_context
        return means[:, None]

    @with_known_keywords
    def explain_context(
        self,
        context: ArrayLike,
        left: ArrayLike | None = None,
        right: ArrayLike | None = None,
        *,
        background: ArrayLike | None = None,
        value_function: ValueFunction | Observational | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        uncertainty: bool = False,
        progress: Progress = False,
    ) -> Explanation:
        """Explain the preference between two items by the features of their context.

        The values add up to f in the context minus its mean over the background contexts.

        Parameters
        ----------
        context : array-like or DataFrame of shape (n, c)
        left, right : array-like or DataFrame of shape (n, d), optional
            The items. By default, f is the mean over the training pairs.
        background : array-like or DataFrame of shape (m, c), optional
            Contexts that absent features are drawn from; by default the training contexts, weighted
            by their counts.
        value_function : str or Observational, optional
            As in `explain_items`.
        groups : dict of str to columns, optional
            Columns of contexts that form one feature, as in `pkex.Explainer`.
        uncertainty : bool, default False
            Also compute the posterior covariances of the values, except for "neutral", and for
            models whose centers are all training pairs.
        progress : bool or callable, default False

        Returns
        -------
        Explanation
            With ``values`` and ``data`` of shape (n, c), or (n, features) with groups.

        Raises
        ------
        ValueError, TypeError
            As in `explain_items`; also if the model was fitted without contexts.
        """
        f, sides = self._function_and_sides()
        if f.contexts is None or sides.contexts is None:
            raise ValueError(
                "explain_context requires a model that was fitted with contexts. Use explain_items "
                "to explain preferences by the features of items"
            )
        table = sides.contexts.read(context, "context")
        pairs, numbers = _distinct_pairs(sides, left, right, table.rows)
        if pairs is None:
            coefficients = (f.coefficients * self._mean_pair)[:, None]
        else:
            coefficients = f.of_pairs(*pairs)
        rows = None if background is None else sides.contexts.read(background, "background").rows
        default_background = self._contexts, self._context_shares
        absent = Absent.of(value_function, rows, default_background, table.names, groups)
        roots = None
        with Settings(n_jobs=self.n_jobs).computing(progress) as computation:
            if uncertainty:
                posterior, part = self._posterior_of(f), computation.part(0, 2)
                roots = posterior.context_roots(pairs, numbers, table.rows, absent, part)
                computation = computation.part(1, 2)
            values, bases = context_values(
                f.contexts, coefficients, numbers, table.rows, absent, computation
            )
        explanation = Explanation(
            values,
            bases,
            absent.players.entries(table.rows),
            absent.players.names,
            output_name=self._output_name,
            row_index=table.labels.rows,
            value_function=absent.value_function,
        )
        return _with_roots(explanation, roots)


def _distinct_contexts(
    f: Preferential, sides: Sides, context: Any, left: Float
) -> tuple[Float | None, NDArray[np.intp]]:
    """Return the distinct contexts, and the number of each row's.

    Without a context they are None, for the mean over the training pairs.
    """
    is_mean = context is None and f.contexts is not None
    table = None if is_mean else sides.read_contexts(context, left)
    if table is None:
        return None, np.zeros(len(left), dtype=np.intp)
    distinct, numbers = np.unique(table.rows, axis=0, return_inverse=True)
    return distinct, numbers.ravel()


def _distinct_pairs(
    sides: Sides, left: Any, right: Any, contexts: Float
) -> tuple[tuple[Float, Float] | None, NDArray[np.intp]]:
    """Return the distinct pairs of items, and the number of each context's.

    Without items they are None, for the mean over the training pairs.
    """
    if left is None and right is None:
        return None, np.zeros(len(contexts), dtype=np.intp)
    if left is None or right is None:
        raise ValueError(
            "left and right must both be given, or neither, for the mean over the training pairs"
        )
    items, opponents = sides.read_items(left, right)
    sides.read_contexts(contexts, items.rows)
    pairs, numbers = np.unique(join_columns(items.rows, opponents), axis=0, return_inverse=True)
    first, second = np.split(pairs, 2, axis=1)
    return (first, second), numbers.ravel()


def _with_roots(explanation: Explanation, roots: Float | None) -> Explanation:
    """Return an explanation with the roots of the posterior covariances of its values."""
    if roots is None:
        return explanation
    uncertainty = Uncertainty.of_posterior(roots, explanation.values)
    return Explanation._of(replace(explanation._rows, uncertainty=uncertainty))


def _kernel_of(
    kernel: Any, rows: Float, names: Sequence[str], rows_name: str, argument: str
) -> Kernel:
    """Return the kernel, or the default one of the columns that are not constant.

    A constant column has no length-scale: with a tiny one, all kernel values would vanish where the
    column changes.
    """
    constant = Constants.of(rows).columns
    if kernel is not None or not constant:
        return kernel_or_default(kernel, rows, names, rows_name, argument)
    varying = [j for j in range(rows.shape[1]) if j not in constant]
    if not varying:
        fix = f"Pass {argument}, such as {argument}=pkex.kernels.RBF(1.0)"
        if argument == "context_kernel":
            fix = (
                "Leave it out. A property of left only, such as playing at home, is a column of "
                "the items: 1 in left and 0 in right"
            )
        raise ValueError(
            f"all columns of {rows_name} are constant, so the default length-scale is not defined. "
            f"{fix}"
        )
    warn(
        f"the default {argument} ignores columns {shown([names[j] for j in constant])}, which are "
        f"constant in {rows_name}, so predictions do not depend on them. To change this, pass "
        f"{argument} with length-scales"
    )
    varying_names = [names[j] for j in varying]
    default = kernel_or_default(None, rows[:, varying], varying_names, rows_name, argument)
    return default.on(varying)
