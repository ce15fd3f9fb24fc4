"""The explainer: exact Shapley values of a model's output, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.adapters.targets import Target
from pkex.execution.progress import Progress
from pkex.explain.estimated_values import estimated_values
from pkex.explain.exact_values import bare_values, exact_values
from pkex.explain.interaction_values import interactions
from pkex.explain.links import Transform
from pkex.explain.problem import Problem
from pkex.functions.conditional import Conditional
from pkex.functions.linked import Link
from pkex.games.indices import Index
from pkex.games.observational import Observational
from pkex.games.value_functions import ValueFunction
from pkex.inputs.choices import Method, Summation
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import counted
from pkex.results.estimate import Estimate
from pkex.results.explanation import Explanation
from pkex.results.hints import AttributeHints
from pkex.results.interactions import Interactions

if TYPE_CHECKING:
    import dask.array
    import dask.dataframe

__all__ = ["Explainer"]

# What users of other explainers look for, and what to do instead.
_HINTS = {
    "explain": "call the explainer: explanation = explainer(X)",
    "plot": "explanations have it: explainer(X).plot()",
    "values": "explanations have them: explainer(X).values",
    "importance": "explanations have it: explainer(X).importance()",
    "fit": "it needs none: pkex.Explainer(model, background) takes a fitted model, and no target",
    "shap_interaction_values": "explainer.interactions(X).to_shap().values",
}


class Explainer(SkopsGuard, AttributeHints):
    """Explain the predictions of a kernel machine by exact Shapley values.

    The Shapley value of a feature is its average contribution to the value function v(S) over all
    orders in which features can join the coalition S. For each row, the values and the base value
    add up to the model's own output.

    Parameters
    ----------
    model : fitted model, bound method, KernelExpansion or TermExpansion
        A fitted model of a supported kind, or one of its methods, such as ``svr.predict``,
        ``svc.decision_function`` or ``svc.predict_proba``. The user guide lists supported models.
    background : array-like, DataFrame or sparse matrix of shape (m, d), optional
        Background data, in the columns that the model expects. All rows are used. Also accepts the
        result of ``shap.kmeans`` and the maskers ``shap.maskers.Independent`` and ``Partition``.
    target : {None, "probability", "log-odds", "mean", "variance", "predictive_variance", "std"}
        The model output to explain. For classifiers: "probability" (``predict_proba``, one output
        per class) or "log-odds" (two classes). For Gaussian processes: the posterior "mean"
        (default), "variance" (in squared units of y), "predictive_variance" (with the observation
        noise) or "std" (the posterior standard deviation).
    value_function : {"marginal", "interventional", "neutral", "observational"} or Observational
        How absent features are treated. "marginal": each is drawn independently, from the
        background or else from the model's stored points. "interventional": all are drawn jointly,
        as rows of the background. "neutral": their kernel factors are 1 (the PKeX-Shapley paper).
        "observational": conditional expectations given the present features, with the settings of
        `Observational`. Default: "interventional" with a background, else "marginal".
    background_weights : array-like of shape (m,), optional
        Non-negative weights of the background rows, normalized to sum 1. Equal by default.
    groups : dict of str to columns, optional
        Columns that form one feature, by name or number:
        ``{"origin": ["origin_us", "origin_eu"]}``. Other columns stay features of their own.
    outputs : int, str or list of these, optional
        Outputs to explain, by number or name. A list keeps the output axis, a single one drops it.
    link : {"identity", "logit"}, default "identity"
        Applied to the mean over the background: v(S) = link(mean), as in shap.
    transform : callable, optional
        Applied to the model's outputs before the mean: takes an array of shape (k,) or
        (k, outputs) and returns one of the same shape.
    feature_names, output_names : sequence of str, optional
        Names to use instead of the model's own or a DataFrame's.
    method : {"quadrature", "recursion"}, default "quadrature"
        Gauss–Legendre quadrature of the multilinear extension, or the recursion over coalition
        sizes, of quadratic cost in d. Both are exact up to rounding.
    summation : {"compensated", "plain"}, default "compensated"
        How sums over expansion points are formed. The rounding error of compensated sums does not
        grow with the number of points.
    n_jobs : int or None, default -1
        Number of threads, as in joblib. Results do not depend on it.

    Raises
    ------
    UnsupportedModelError
        If the model is not supported, or its fitted attributes contradict its output.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError, TypeError
        If an argument is invalid or contradicts another one.
    OverflowError
        If the expected value is too large for a float.

    See Also
    --------
    KernelExpansion : Describe a kernel model of another library.
    pkex.adapters.register : Add support for a class of models.

    Notes
    -----
    Probabilities, standard deviations, outputs behind a `link` or `transform`, and observational
    values are computed from all coalitions: exactly for up to 16 features (observational: 14), and
    by `estimate` for more. Groups count as one feature. All other outputs have no such limit.

    Explainers are immutable and can be pickled and shared between threads. For Gaussian processes
    they hold the 8 n² bytes of the covariance factor, for ``uncertainty=True``.

    References
    ----------
    M. Mohammadi, S. L. Chau, K. Muandet, Computing exact Shapley values in polynomial time for
    product-kernel methods (PKeX-Shapley), Theorem 4. G. Owen (1972), Multilinear extensions of
    games, Management Science 18(5).

    Examples
    --------
    >>> import pkex
    >>> from sklearn.svm import SVR
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    >>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
    >>> explainer = pkex.Explainer(model, background=X)
    >>> explanation = explainer(X)
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(abs(total - model.predict(X)).max() < 1e-12)
    True
    """

    # Without a dictionary, an attribute that is misspelt is an error.
    __slots__ = ("_problem",)

    _problem: Problem
    _hints = _HINTS

    @with_known_keywords
    def __init__(
        self,
        model: Any,
        background: Any = None,
        *,
        target: Target | None = None,
        value_function: ValueFunction | Observational | None = None,
        background_weights: ArrayLike | None = None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        outputs: int | str | Sequence[int | str] | None = None,
        link: Link = "identity",
        transform: Transform | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        method: Method = "quadrature",
        summation: Summation = "compensated",
        n_jobs: int | None = -1,
    ) -> None:
        self._problem = Problem.of(
            model,
            background,
            target=target,
            value_function=value_function,
            background_weights=background_weights,
            groups=groups,
            outputs=outputs,
            link=link,
            transform=transform,
            feature_names=feature_names,
            output_names=output_names,
            method=method,
            summation=summation,
            n_jobs=n_jobs,
        )

    @with_known_keywords
    def __call__(
        self,
        X: ArrayLike | Mapping[str, Any],
        *,
        uncertainty: bool = False,
        progress: Progress = False,
    ) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or dict
            The columns of a DataFrame must be those that the model was fitted on, in that order.
            A dict is one row: the entry of each column by name, in any order.
            Entries may be missing (NaN) where a step of a Pipeline fills them, and strings where
            one encodes them or drops their column.
        uncertainty : bool, default False
            Whether the covariances of the values are computed, too, under the posterior of a
            Gaussian process whose mean is explained: for the explanation's
            `standard_deviations`, `covariance` and `sample`.
        progress : bool or callable, default False
            True shows a progress bar (needs tqdm); a callable gets (done, total), in arbitrary
            units.

        Returns
        -------
        Explanation
            With ``values`` of shape (n, d) or (n, d, outputs); for each row and output they add up
            to the explained output minus ``base_values``.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite numeric table with the right columns.
        UnsupportedModelError
            If there is no `uncertainty`: of models other than Gaussian processes, in the neutral
            game, and of kernels that are no products over features or sums of such.
        OverflowError
            If a value is too large for a float; the message names the row.
        MemoryError
            If the values are too large for memory.
        """
        return exact_values(self._problem, X, uncertainty=uncertainty, progress=progress)

    @overload
    def shap_values(  # type: ignore[overload-overlap]  # a str is an ArrayLike, too
        self,
        X: dask.array.Array | dask.dataframe.DataFrame | str | PathLike[str],
        *,
        progress: Progress = False,
    ) -> dask.array.Array: ...

    @overload
    def shap_values(
        self, X: ArrayLike | Mapping[str, Any], *, progress: Progress = False
    ) -> NDArray[np.float64]: ...

    @with_known_keywords
    def shap_values(
        self, X: Any, *, progress: Progress = False
    ) -> NDArray[np.float64] | dask.array.Array:
        """Return the bare Shapley values of rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or dict
            Or an array or table of Dask's, or the path of Parquet files (a directory of them, too),
            whose rows are explained when the result is computed.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, outputs)
            Of Dask's collections and files a dask.array with as many chunks of rows.

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling the explainer.
        """
        return bare_values(self._problem, X, progress)

    @with_known_keywords
    def estimate(
        self,
        X: ArrayLike,
        *,
        n_permutations: int | None = None,
        n_coalitions: int | None = None,
        uncertainty: bool = False,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: Progress = False,
    ) -> Estimate:
        """Estimate the values of rows, where there are too many features for exact ones.

        Exact values of what is no sum over features, such as probabilities, take all coalitions of
        up to 16 features. Of any number they are estimated here, either from random orders in which
        features arrive, each with its reverse, or from random coalitions, each with its complement,
        as KernelSHAP does. The estimates are unbiased, and their standard errors fall as one over
        the root of the number that is drawn. Each coalition is worth exactly what it is, averaged
        over the whole background. Of few features take the exact values, ``explainer(X)``: they
        take 2^d coalitions, and have no errors.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_permutations : int, optional
            The number of orders, even and at least 20: half of them are drawn, the others are their
            reverses. An order takes d outputs of the model for each background row. Standard errors
            are themselves estimated, from n_permutations / 2 pairs: of 20 orders, two standard
            errors cover the exact value in some 85 of 100 cases, of 100 orders in 95.
        n_coalitions : int, optional
            In its place the number of coalitions, even and at least 20 and 4 d: half of them are
            drawn, the others are their complements. A coalition takes one output of the model for
            each background row, or none if it was drawn before. For equally many outputs, errors
            of the strongest features are smaller than those of orders, and of the weakest larger.
            Two standard errors cover the exact value in some 85 of 100 cases of the fewest
            coalitions, in 95 of some hundreds.
        uncertainty : bool, default False
            In the observational game of the mean of a Gaussian process, whether the estimate has
            its `standard_deviations`, `covariance`, `sample` and ``importance(samples=...)`` under
            the posterior, too. The first three are those of the estimates of 1,000 functions that
            are drawn from it, and so right to 2 % or so. Of other games take exact values.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed, or where random numbers are taken from. All rows have the same draws.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        Estimate
            With ``standard_errors``. For each row and output the values add up to the explained
            output minus ``base_values``, exactly.

        Raises
        ------
        ValueError, TypeError
            As in calling the explainer; if not exactly one number is given, or it is odd or too
            small; or if the game is "marginal" and its values are exact for any number of features.
        UnsupportedModelError
            If there is no `uncertainty`.

        References
        ----------
        R. Mitchell, J. Cooper, E. Frank, G. Holmes (2022), Sampling permutations for Shapley value
        estimation, JMLR 23(43). I. Covert, S.-I. Lee (2021), Improving KernelSHAP: practical
        Shapley value estimation using linear regression, AISTATS.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> from sklearn.svm import SVR
        >>> X = np.random.default_rng(0).normal(size=(30, 20))
        >>> model = SVR().fit(X, X[:, 0] * X[:, 1])
        >>> explainer = pkex.Explainer(model, background=X[:5], transform=np.tanh)
        >>> estimate = explainer.estimate(X[:1], n_coalitions=1000, random_state=0)
        >>> estimate.standard_errors.shape
        (1, 20)
        >>> total = estimate.values.sum(axis=1) + estimate.base_values
        >>> bool(abs(total - np.tanh(model.predict(X[:1])))[0] < 1e-12)
        True
        """
        return estimated_values(
            self._problem,
            X,
            n_permutations=n_permutations,
            n_coalitions=n_coalitions,
            uncertainty=uncertainty,
            generator=as_generator(random_state),
            progress=progress,
        )

    @with_known_keywords
    def interactions(
        self,
        X: ArrayLike,
        *,
        index: Index = "k-SII",
        order: int = 2,
        progress: Progress = False,
    ) -> Interactions:
        """Explain rows by interactions: coefficients of all coalitions of up to `order` features.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        index : str, default "k-SII"
            "k-SII", the pairwise values that shap shows for trees; "STII" (Shapley–Taylor) and
            "FSII" (faithful Shapley), which add up to the output, too; "SII" (Shapley), "BII"
            (Banzhaf) and "FBII" (faithful Banzhaf); "Moebius" and "Co-Moebius"; "CHII" (chaining).
        order : int, default 2
            The largest number of features in a coalition. There are C(d, order) coalitions of that
            size, each a number and a step of the computation.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        Interactions

        Raises
        ------
        ValueError
            If `index` is unknown, `order` larger than the number of features, or the result too
            large; or as in calling the explainer. If the explainer's method is "recursion", which
            has Shapley values only.
        TypeError, OverflowError
            As in calling the explainer.

        References
        ----------
        Grabisch and Roubens (1999) for SII and BII; Sundararajan et al. (2020) for STII; Tsai et
        al. (2023) for FSII and FBII; Bordt and von Luxburg (2023) for k-SII. Their integrals are in
        the documentation's page on the mathematics.

        Examples
        --------
        >>> import pkex
        >>> from sklearn.svm import SVR
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
        >>> model = SVR(gamma=0.5).fit(X, [0.0, 1.0, 3.0])
        >>> interactions = pkex.Explainer(model).interactions(X)
        >>> interactions.of(0, 1).shape
        (3,)
        >>> total = interactions.values.sum(axis=1) + interactions.base_values
        >>> bool(abs(total - model.predict(X)).max() < 1e-12)
        True
        """
        return interactions(self._problem, X, index=index, order=order, progress=progress)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, … where only the explained rows can name them."""
        return self._problem.schema.feature_names

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return self._problem.schema.outputs.axis_names

    @property
    def output_name(self) -> str | None:
        """Name of the single output: of two classes "b vs a", positive for b; or the one chosen."""
        return self._problem.schema.outputs.name

    @property
    def value_function(self) -> ValueFunction:
        """The game: "marginal", "interventional", "neutral" or "observational"."""
        return self._problem.game.value_function

    @property
    def conditioning(self) -> Observational | None:
        """The settings of the observational game, with the kernel that was found; else None."""
        function = self._problem.function
        return function.conditioning.settings if isinstance(function, Conditional) else None

    @property
    def background(self) -> NDArray[Any] | None:
        """The rows that absent features are drawn from, read-only.

        Those of the background whose weight is not 0; without one the model's own points, if they
        are in the columns of X and the same for all parts of the model. Else, and in the neutral
        game, None.
        """
        return self._problem.background

    @property
    def background_weights(self) -> NDArray[np.float64] | None:
        """The weights of these rows, which add up to 1; None if there are no such rows."""
        return self._problem.background_weights

    @property
    def landmark_error(self) -> float | None:
        """How far what coalitions are worth is from what it is without landmarks, of its spread.

        The root mean square over some coalitions of rows of the background; of more than 2,000
        rows beside twice as many landmarks, which is less. None without landmarks.
        """
        return self._problem.landmark_error

    @property
    def link(self) -> str:
        """What is done to worths after the mean over a background: "identity" or "logit"."""
        return self._problem.link

    @property
    def transform(self) -> Transform | None:
        """What is done to the model's outputs before that mean; None for nothing."""
        return self._problem.transform

    @property
    def method(self) -> str:
        """The algorithm: "quadrature" or "recursion"."""
        return self._problem.settings.method

    @property
    def summation(self) -> str:
        """How sums over expansion points are formed: "compensated" or "plain"."""
        return self._problem.settings.summation

    @property
    def n_jobs(self) -> int | None:
        """The number of threads, as it was given."""
        return self._problem.settings.n_jobs

    @property
    def expected_value(self) -> float | NDArray[np.float64]:
        """The value of the empty coalition, which the Shapley values start from.

        With a background, the mean output over it; in the marginal game, over all rows that combine
        entries of the background's columns, or of the model's points. In the neutral game it is
        **not** a mean prediction: it is the model's output where every kernel value is that of a
        row with itself, the sum of the coefficients times the kernel's amplitude, plus the
        intercept. (Kernels of dot products are those of rows of zeros.)

        A float; of shape (outputs,) if there is an output axis.
        """
        return self._problem.expected_value

    def _unsaved_by_skops(self) -> str:
        return (
            ". Pickle it, or save the model by skops and make the explainer again when it is loaded"
        )

    def __getstate__(self) -> object:
        # The usual state, which pickle's protocols 0 and 1 do not find by themselves for slots.
        return super().__getstate__()

    def __repr__(self) -> str:
        problem = self._problem
        parts = [problem.title, counted(problem.function.n_players, "feature")]
        if self.output_names is not None:
            parts.append(counted(len(self.output_names), "output"))
        elif self.output_name is not None:
            parts.append(f"output {self.output_name!r}")
        parts.append(f"value_function={self.value_function!r}")
        if self.conditioning is not None:
            parts += _unusual(self.conditioning)
        if problem.game.background is not None:
            parts.append(f"background of {counted(len(problem.game.background[0]), 'row')}")
        return f"Explainer({', '.join([*parts, *problem.settings.unusual()])})"


def _unusual(settings: Observational) -> list[str]:
    """Return the settings that are not the default ones, but for the kernel."""
    given = ((field, getattr(settings, field.name)) for field in fields(settings)[1:])
    return [f"{field.name}={value!r}" for field, value in given if value != field.default]
