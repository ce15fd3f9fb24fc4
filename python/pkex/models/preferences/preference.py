"""What models of which of two items is preferred have in common, and how they are explained."""

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
from pkex.models.preferences.sides import Sides, refuse_equal
from pkex.results.explanation import Explanation
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["Preference"]


class Preference(BaseEstimator):
    """What both have in common: the function of two items, and its explanations."""

    def _begin(self, left: Any, right: Any, context: Any) -> Preferential:
        """Read the tables of a fit, and return a function of them whose coefficients are 0."""
        check_n_jobs(self.n_jobs)
        sides = Sides.of_fit(left, context)
        items, others = sides.read_items(left, right)
        refuse_equal(items.rows, others)
        pooled = np.concatenate([items.rows, others])
        kernel = _kernel_of(self.kernel, pooled, items.names, "left and right", "kernel")
        if has_series(kernel.terms(pooled.shape[1])):
            raise ValueError(
                f"kernel: {kernel!r} is, or has in it, a power series of sums over columns, and "
                "preferences take products over columns, and sums and mixtures of such, as RBF, "
                "Laplacian, Categorical and Matern are; take one of these"
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
        """Keep the function that has these coefficients, as arrays and kernels."""
        contexts = f.contexts
        self.dual_coef_, self.kernel_ = coefficients, f.kernel
        self.left_, self.right_ = f.left, f.right
        self.context_ = None if contexts is None else contexts.rows
        self.context_kernel_ = None if contexts is None else contexts.kernel

    def _fitted(self) -> tuple[Preferential, Sides]:
        """Return the function that is fitted, and the columns of its tables."""
        check_is_fitted(self, "dual_coef_")
        contexts, n_contexts = None, 0
        if self.context_ is not None and self.context_kernel_ is not None:
            contexts = Contexts(self.context_, self.context_kernel_)
            n_contexts = self.context_.shape[1]
        f = Preferential(self.left_, self.right_, self.dual_coef_, self.kernel_, contexts)
        names = getattr(self, "feature_names_in_", None)
        return f, Sides.of_names(f.n_features, names, n_contexts, self._context_names)

    def _output(self, left: Any, right: Any, context: Any) -> Float:
        """Return f of pairs in contexts, shape (n,)."""
        f, sides = self._fitted()
        items, others = sides.read_items(left, right)
        table = sides.read_contexts(context, items.rows)
        contexts = None if table is None else table.rows
        return f.evaluate(items.rows, others, contexts, n_threads=thread_count(self.n_jobs))

    @property
    def _output_name(self) -> str | None:
        """What is positive where f is."""
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
        """Explain by the features of items which of them is preferred.

        A feature is known of both items or of neither, v(S) = E f((a_S, X), (b_S, X')): what is not
        known is that of other items X and X', independent of each other. The values are exact. They
        add up to f(a, b), and those of (b, a) are minus those of (a, b).

        Parameters
        ----------
        left : array-like or DataFrame of shape (n, d)
        right : array-like or DataFrame of shape (n, d), optional
            Without it, each left item is explained against all: values are means over the items
            of the background as right ones.
        context : array-like or DataFrame of shape (n, c), optional
            Without it, of a model with contexts, f is its mean over those that it is fitted to.
        background : array-like or DataFrame of shape (m, d), optional
            Items that X and X' are drawn from, by default those that the model is fitted to, each
            once. Where they are drawn as they are, all m² pairs count, and m may be up to 1,024.
        value_function : str or Observational, optional
            As of `pkex.Explainer`. "interventional", the default with a background, draws X and X'
            as they are; "marginal", the default without, each feature of them by itself, which is
            faster; "observational" as they follow a_S and b_S, for up to 14 features, where
            ``pkex.Observational(leave_one_out=True)`` leaves an item out of what it is drawn from;
            in the "neutral" game absent factors are 1. All of them take the items of the fit where
            there is no background.
        progress : bool or callable, default False
            True shows a progress bar (needs tqdm); a callable gets (done, total).

        Returns
        -------
        Explanation
            With ``values`` of shape (n, d), ``base_values`` 0, and as ``data`` the differences
            left − right; without right left itself.

        Raises
        ------
        ValueError, TypeError
            If a table is not finite and numeric with the columns of the fit, or has another number
            of rows.
        """
        f, sides = self._fitted()
        items, others = sides.read_items(left, left if right is None else right)
        rows = None if background is None else sides.items.read(background, "background").rows
        own = f.items, equal_weights(len(f.items))
        absent = Absent.chosen(value_function, rows, own, items.names)
        told = self._in_contexts(f, sides, context, items.rows)
        with Settings(n_jobs=self.n_jobs).computing(progress) as how:
            of_duels = item_values_against_all if right is None else item_values
            values = of_duels(f, Duels(items.rows, others, *told), absent, how)
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
        """Return the coefficients of f in each different context, and the numbers of rows'."""
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
        """Return the coefficients of f as a function of the context, and the numbers of rows'."""
        if left is None and right is None:
            means = f.of_pairs(f.left, f.right).mean(axis=1, keepdims=True)
            return means, np.zeros(len(contexts), dtype=np.intp)
        if left is None or right is None:
            raise ValueError(
                "left and right must both be given, the items that are compared, or neither, for "
                "the mean over the pairs of the fit"
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
        """Explain by the features of a context which of two items is preferred in it.

        The items are known. The values add up to f in the context, less its mean over contexts.

        Parameters
        ----------
        context : array-like or DataFrame of shape (n, c)
        left, right : array-like or DataFrame of shape (n, d), optional
            Without them, f is its mean over the pairs that the model is fitted to, with left and
            right as they were there.
        background : array-like or DataFrame of shape (m, c), optional
            Contexts that absent features are drawn from; by default those that the model is fitted
            to, as often as they occur.
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
            As in `explain_items`; and if the model is fitted without contexts.
        """
        f, sides = self._fitted()
        if f.contexts is None or sides.contexts is None:
            raise ValueError(
                "the model is fitted without contexts, so that there are none to explain; "
                "explain_items explains preferences by the features of items"
            )
        table = sides.contexts.read(context, "context")
        coefficients, numbers = self._of_duels(f, sides, left, right, table.rows)
        rows = None if background is None else sides.contexts.read(background, "background").rows
        different, counts = np.unique(f.contexts.rows, axis=0, return_counts=True)
        own = different, counts / counts.sum()
        absent = Absent.chosen(value_function, rows, own, table.names)
        with Settings(n_jobs=self.n_jobs).computing(progress) as how:
            told = coefficients, numbers, table.rows
            values, bases = context_values(f.contexts, *told, absent, how)
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
    """Return the kernel given, or the default one, of the columns that vary.

    A constant column has no length-scale: by one that is tiny all kernel values would vanish where
    the column changes.
    """
    constant = Constants.of(rows).columns
    if kernel is not None or not constant:
        return kernel_or_default(kernel, rows, names, what, argument)
    varying = [j for j in range(rows.shape[1]) if j not in constant]
    if not varying:
        remedy = f"give {argument}, such as {argument}=pkex.kernels.RBF(1.0)"
        if argument == "context_kernel":
            remedy = (
                "leave it out. What holds for left alone, such as playing at home, is a column of "
                "the items: 1 in left and 0 in right"
            )
        raise ValueError(
            f"all columns of {what} are constant, so that there is no distance to take as the "
            f"length-scale; {remedy}"
        )
    warn(
        f"{what} has {shown([names[j] for j in constant])}, constant in the fit: the default "
        f"{argument} leaves such columns out, and predictions do not depend on them; give "
        f"{argument} with length-scales if they should"
    )
    own = kernel_or_default(None, rows[:, varying], [names[j] for j in varying], what, argument)
    return own.on(varying)
