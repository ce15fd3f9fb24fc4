"""Base class of preference models, with explanations by features of items and contexts."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pkex.errors import warn
from pkex.execution.progress import Progress
from pkex.execution.settings import Settings
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.games.observational import Observational
from pkex.games.value_functions import ValueFunction
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.scikit_learn import keep_names
from pkex.inputs.wording import shown
from pkex.kernels import Kernel
from pkex.kernels.factors import has_series
from pkex.kernels.scales import Constants
from pkex.models.arguments import kernel_or_default
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.context_values import context_values
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.item_values import item_values, item_values_against_all
from pkex.models.preferences.preferential import Contexts, Preferential, joined
from pkex.models.preferences.sides import Sides, check_distinct
from pkex.results.explanation import Explanation
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["Preference"]


class Preference(BaseEstimator):
    """Base class: the parameters, the fitted function of two items, and its explanations."""

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        kernel: Kernel | None = None,
        context_kernel: Kernel | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.context_kernel = context_kernel
        self.n_jobs = n_jobs

    def _begin(self, left: Any, right: Any, context: Any) -> Preferential:
        """Read the training tables, and return a function whose coefficients are 0."""
        check_n_jobs(self.n_jobs)
        sides = Sides.of_fit(left, context)
        items, others = sides.read_items(left, right)
        check_distinct(items.rows, others)
        pooled = np.concatenate([items.rows, others])
        kernel = _kernel_of(self.kernel, pooled, items.names, "left and right", "kernel")
        if has_series(kernel.terms(pooled.shape[1])):
            raise ValueError(
                f"kernel={kernel!r} is or contains a power series of sums over columns. Preference "
                "models require products over columns, and their sums and mixtures, such as RBF, "
                "Laplacian, Categorical or Matern"
            )
        contexts, table = None, sides.read_contexts(context, items.rows)
        if table is not None:
            own = _kernel_of(
                self.context_kernel, table.rows, table.names, "context", "context_kernel"
            )
            contexts = Contexts(table.rows.copy(), own)
        keep_names(self, left, reset=True)
        self.n_features_in_ = items.rows.shape[1]
        self._context_names = None if table is None else table.known_names
        zeros = np.zeros(len(items.rows))
        return Preferential(items.rows.copy(), others.copy(), zeros, kernel, contexts)

    def _keep(self, f: Preferential, coefficients: Float) -> None:
        """Set the fitted arrays and kernels, given the coefficients of the function."""
        contexts = f.contexts
        self.dual_coef_, self.kernel_ = coefficients, f.kernel
        self.left_, self.right_ = f.left, f.right
        self.context_ = None if contexts is None else contexts.rows
        self.context_kernel_ = None if contexts is None else contexts.kernel

    def _fitted(self) -> tuple[Preferential, Sides]:
        """Return the fitted function, and the columns of its tables."""
        check_is_fitted(self, "dual_coef_")
        contexts, n_contexts = None, 0
        if self.context_ is not None and self.context_kernel_ is not None:
            contexts = Contexts(self.context_, self.context_kernel_)
            n_contexts = self.context_.shape[1]
        f = Preferential(self.left_, self.right_, self.dual_coef_, self.kernel_, contexts)
        names = getattr(self, "feature_names_in_", None)
        return f, Sides.of_names(f.n_features, names, n_contexts, self._context_names)

    def _output(self, left: Any, right: Any, context: Any) -> Float:
        """Return f for pairs in contexts, shape (n,)."""
        f, sides = self._fitted()
        items, others = sides.read_items(left, right)
        table = sides.read_contexts(context, items.rows)
        contexts = None if table is None else table.rows
        return f.evaluate(items.rows, others, contexts, n_threads=thread_count(self.n_jobs))

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
        progress : bool or callable, default False
            True shows a progress bar (requires tqdm); a callable is called with (done, total).

        Returns
        -------
        Explanation
            With ``values`` of shape (n, d) and ``base_values`` 0. ``data`` are the differences
            left − right, or left if right is not given.

        Raises
        ------
        ValueError, TypeError
            If a table has values that are not finite numbers, other columns than in the fit, or
            another number of rows.
        """
        f, sides = self._fitted()
        items, others = sides.read_items(left, left if right is None else right)
        rows = None if background is None else sides.items.read(background, "background").rows
        own = f.items, equal_weights(len(f.items))
        absent = Absent.chosen(value_function, rows, own, items.names)
        weights = self._in_contexts(f, sides, context, items.rows)
        with Settings(n_jobs=self.n_jobs).computing(progress) as computation:
            of_duels = item_values_against_all if right is None else item_values
            values = of_duels(f, Duels(items.rows, others, *weights), absent, computation)
        return Explanation(
            values,
            np.zeros(len(values)),
            items.rows if right is None else items.rows - others,
            items.names,
            output_name=self._output_name,
            row_index=items.labels.rows,
            value_function=absent.value_function,
        )

    def _in_contexts(
        self, f: Preferential, sides: Sides, context: Any, left: Float
    ) -> tuple[Float, NDArray[np.intp]]:
        """Return the coefficients of f in each distinct context, and the column of each row."""
        if context is None and f.contexts is not None:
            means = f.in_contexts(f.contexts.rows).mean(axis=1, keepdims=True)
            return means, np.zeros(len(left), dtype=np.intp)
        table = sides.read_contexts(context, left)
        if table is None:
            return f.coefficients[:, None], np.zeros(len(left), dtype=np.intp)
        different, numbers = np.unique(table.rows, axis=0, return_inverse=True)
        return f.in_contexts(different), numbers.ravel()

    def _of_duels(
        self, f: Preferential, sides: Sides, left: Any, right: Any, contexts: Float
    ) -> tuple[Float, NDArray[np.intp]]:
        """Return the coefficients of f as a function of the context, and the column of each row."""
        if left is None and right is None:
            means = f.of_pairs(f.left, f.right).mean(axis=1, keepdims=True)
            return means, np.zeros(len(contexts), dtype=np.intp)
        if left is None or right is None:
            raise ValueError(
                "left and right must both be given, or neither, for the mean over the training "
                "pairs"
            )
        items, others = sides.read_items(left, right)
        sides.read_contexts(contexts, items.rows)
        pairs, numbers = np.unique(joined(items.rows, others), axis=0, return_inverse=True)
        return f.of_pairs(*np.split(pairs, 2, axis=1)), numbers.ravel()

    @with_known_keywords
    def explain_context(
        self,
        context: ArrayLike,
        left: ArrayLike | None = None,
        right: ArrayLike | None = None,
        *,
        background: ArrayLike | None = None,
        value_function: ValueFunction | Observational | None = None,
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
        progress : bool or callable, default False

        Returns
        -------
        Explanation
            With ``values`` and ``data`` of shape (n, c).

        Raises
        ------
        ValueError, TypeError
            As in `explain_items`; also if the model was fitted without contexts.
        """
        f, sides = self._fitted()
        if f.contexts is None or sides.contexts is None:
            raise ValueError(
                "explain_context requires a model that was fitted with contexts. Use explain_items "
                "to explain preferences by the features of items"
            )
        table = sides.contexts.read(context, "context")
        coefficients, numbers = self._of_duels(f, sides, left, right, table.rows)
        rows = None if background is None else sides.contexts.read(background, "background").rows
        different, counts = np.unique(f.contexts.rows, axis=0, return_counts=True)
        own = different, counts / counts.sum()
        absent = Absent.chosen(value_function, rows, own, table.names)
        with Settings(n_jobs=self.n_jobs).computing(progress) as computation:
            values, bases = context_values(
                f.contexts, coefficients, numbers, table.rows, absent, computation
            )
        return Explanation(
            values,
            bases,
            table.rows,
            table.names,
            output_name=self._output_name,
            row_index=table.labels.rows,
            value_function=absent.value_function,
        )


def _kernel_of(kernel: Any, rows: Float, names: Sequence[str], what: str, argument: str) -> Kernel:
    """Return the kernel, or the default one of the columns that are not constant.

    A constant column has no length-scale: with a tiny one, all kernel values would vanish where the
    column changes.
    """
    constant = Constants.of(rows).columns
    if kernel is not None or not constant:
        return kernel_or_default(kernel, rows, names, what, argument)
    varying = [j for j in range(rows.shape[1]) if j not in constant]
    if not varying:
        fix = f"Pass {argument}, such as {argument}=pkex.kernels.RBF(1.0)"
        if argument == "context_kernel":
            fix = (
                "Leave it out. A property of left only, such as playing at home, is a column of "
                "the items: 1 in left and 0 in right"
            )
        raise ValueError(
            f"all columns of {what} are constant, so the default length-scale is not defined. {fix}"
        )
    warn(
        f"the default {argument} ignores columns {shown([names[j] for j in constant])}, which are "
        f"constant in {what}, so predictions do not depend on them. To change this, pass "
        f"{argument} with length-scales"
    )
    own = kernel_or_default(None, rows[:, varying], [names[j] for j in varying], what, argument)
    return own.on(varying)
