"""The explainer: exact Shapley values of a model's output, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.adapters.targets import Target
from pkex.execution.progress import Progress
from pkex.explain.estimated_values import estimated_values
from pkex.explain.exact_values import bare_values, exact_values, sparse_values
from pkex.explain.interaction_values import interactions
from pkex.explain.links import Transform
from pkex.explain.loss_values import loss_values
from pkex.explain.problem import Problem
from pkex.explain.selected_interactions import FeatureSelection
from pkex.explain.value_files import write_values_of_files
from pkex.functions.conditional import Conditional
from pkex.functions.linked import Link
from pkex.functions.losses import Loss
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
from pkex.typing import DaskArray, DaskRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Attributes of other libraries' explainers, and the equivalents here.
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
    model : fitted model, bound method, KernelExpansion, ProductExpansion or TermExpansion
        A fitted model of a supported kind, or one of its methods, such as ``svr.predict``,
        ``svc.decision_function`` or ``svc.predict_proba``. The user guide lists supported models.
    background : array-like, DataFrame or sparse matrix of shape (m, d), optional
        Background data, in the columns that the model expects, or documents for a Pipeline that
        begins with a vectorizer. All rows are used. Also accepts the result of ``shap.kmeans`` and
        the maskers ``shap.maskers.Independent`` and ``Partition``.
    target : {None, "probability", "log-odds", "odds", "log-mean", "hazard-ratio", "mean", \
              "variance", "predictive_variance", "std"}
        The model output to explain. For classifiers: "probability" (``predict_proba``, one output
        per class), "log-odds" or "odds" (two classes). For models with a log link: "log-mean", the
        linear predictor. For Cox's models: "hazard-ratio". For Gaussian processes: the posterior
        "mean" (default), "variance" (in squared units of y), "predictive_variance" (with the
        observation noise) or "std" (the posterior standard deviation).
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
        grow with the number of points. Those of polynomial and linear kernels at sparse points
        are always plain.
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
    values are computed from all coalitions: exactly for up to 20 features (observational: 14), and
    by `estimate` for more. Groups count as one feature. All other outputs have no such limit, nor
    have exponentials of sums over features, such as models with a log link.

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
        uncertainty: bool | Literal["joint"] = False,
        progress: Progress = False,
    ) -> Explanation:
        """Explain rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or dict
            A DataFrame must have the columns that the model was fitted on, in that order. A dict
            is one row: feature values by column name, in any order. Values may be missing (NaN)
            if a step of a Pipeline imputes them, and strings if a step encodes or drops them. A
            Pipeline that begins with a vectorizer takes a list of documents.
        uncertainty : bool or "joint", default False
            For the posterior mean of a Gaussian process, also compute the posterior covariances
            of the values, for `standard_deviations`, `covariance` and `sample` of the result. True
            computes those between values of the same row, "joint" also those between rows. They
            remain known after indexing, `centered` and pickling. There is one for each pair of
            values, for up to 4,096 values: 409 rows of ten features.
        progress : bool or callable, default False
            True shows a progress bar (needs tqdm). A callable receives (done, total), in arbitrary
            units.

        Returns
        -------
        Explanation
            With ``values`` of shape (n, d) or (n, d, outputs). For each row and output they add
            up to the explained output minus ``base_values``.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite numeric table with the right columns, or has too many rows for
            ``uncertainty="joint"``.
        UnsupportedModelError
            If `uncertainty` is not available: for models other than Gaussian processes, for
            ``value_function="neutral"``, and for kernels that are not sums of products over
            features.
        OverflowError
            If a value is too large for a float. The message names the row.
        MemoryError
            If the values are too large for memory.
        """
        return exact_values(self._problem, X, uncertainty=uncertainty, progress=progress)

    @overload
    def shap_values(  # type: ignore[overload-overlap]  # a str is an ArrayLike, too
        self,
        X: DaskRows | str | PathLike[str],
        *,
        sparse: Literal[False] = False,
        progress: Progress = False,
    ) -> DaskArray: ...

    @overload
    def shap_values(
        self,
        X: ArrayLike | Mapping[str, Any],
        *,
        sparse: Literal[False] = False,
        progress: Progress = False,
    ) -> NDArray[np.float64]: ...

    @overload
    def shap_values(
        self,
        X: ArrayLike | Mapping[str, Any],
        *,
        sparse: Literal[True],
        progress: Progress = False,
    ) -> csr_array | list[csr_array]: ...

    @with_known_keywords
    def shap_values(
        self, X: Any, *, sparse: bool = False, progress: Progress = False
    ) -> NDArray[np.float64] | DaskArray | csr_array | list[csr_array]:
        """Return the Shapley values of rows as an array.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), dict, Dask collection or path
            A Dask array or DataFrame, or the path of a Parquet file or of a directory of them, is
            explained lazily, chunk by chunk.
        sparse : bool, default False
            Return only the values that are not 0, as sparse arrays of SciPy. Only a block of rows
            is dense at a time. For sparse rows most values are 0 in the interventional game, if
            the background rows are few or sparse, and in the neutral game of a linear or
            polynomial kernel. In other games absent features have values as well, and sparse arrays
            are not smaller than a dense one.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, outputs)
            For Dask collections and files, a dask.array.Array with the same chunks of rows. With
            `sparse`, a csr_array of shape (n, d), or a list of one for each output, because sparse
            arrays have two axes.

        Raises
        ------
        ValueError, TypeError, OverflowError
            As in calling the explainer.
        """
        if sparse:
            return sparse_values(self._problem, X, progress)
        return bare_values(self._problem, X, progress)

    @with_known_keywords
    def write_parquet(
        self,
        X: str | PathLike[str],
        path: str | PathLike[str],
        *,
        uncertainty: bool = False,
        progress: Progress = False,
    ) -> None:
        """Explain the rows of Parquet files, and write their values to a Parquet file.

        Rows are read, explained and written in chunks, so that memory does not depend on their
        number. The result has a line for each row, or for each row and output if there are several
        outputs. Its columns are ``row`` (from 1), ``output`` if there are several, ``base_value``,
        and the value of each feature. Requires pyarrow (``pip install 'pkex[parquet]'``).

        Parameters
        ----------
        X : path
            A Parquet file, or a directory of them, which are read in the order of their names.
            Names that start with "." or "_" are left out. Other columns than those of the model are
            not read, if the model knows their names.
        path : path
            The file to write. It appears, or is replaced, when it is complete: after an error or
            Ctrl-C, an existing file is unchanged.
        uncertainty : bool, default False
            Also write the posterior standard deviations of values, for Gaussian processes.
        progress : bool or callable, default False
            True shows a progress bar with the number of rows per second (needs tqdm). A callable
            receives the numbers of rows done and of all rows.

        Raises
        ------
        ValueError, TypeError, OverflowError, UnsupportedModelError
            As in calling the explainer, or if `path` cannot be written. Messages count rows from 0.
        FileNotFoundError
            If there is no Parquet file.
        ImportError
            If pyarrow is not installed.

        Examples
        --------
        >>> import numpy as np, pandas as pd, pkex
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.svm import SVR
        >>> rows = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])
        >>> explainer = pkex.Explainer(SVR().fit(rows, rows["a"]))
        >>> with TemporaryDirectory() as folder:
        ...     rows.to_parquet(f"{folder}/rows.parquet")
        ...     explainer.write_parquet(f"{folder}/rows.parquet", f"{folder}/values.parquet")
        ...     values = pd.read_parquet(f"{folder}/values.parquet")
        >>> list(values)
        ['row', 'base_value', 'a', 'b']
        """
        write_values_of_files(self._problem, X, path, uncertainty=uncertainty, progress=progress)

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
        """Estimate Shapley values of outputs with too many features for exact values.

        Probabilities and other outputs that are not sums over features have exact values for up to
        20 features, from all 2^d coalitions: ``explainer(X)``. This method estimates them for any
        number of features, from random permutations of the features (each with its reverse) or,
        like KernelSHAP, from random coalitions (each with its complement). The value of each
        coalition is exact: a mean over the whole background. The estimates are unbiased, and their
        standard errors fall with the square root of the number of draws.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        n_permutations : int, optional
            Number of permutations, even and at least 20; half of them are drawn. A permutation
            takes d model outputs for each background row. The standard errors are estimated from
            n_permutations / 2 pairs: the interval of two standard errors covers the exact value in
            about 85 % of cases for 20 permutations, in 95 % for 100.
        n_coalitions : int, optional
            Number of coalitions, even and at least max(20, 4 d), instead of `n_permutations`; half
            of them are drawn. A new coalition takes one model output for each background row. For
            the same number of model outputs, the errors of the strongest features are smaller than
            with permutations, those of the weakest larger. The interval of two standard errors
            covers the exact value in about 85 % of cases for the fewest coalitions, in 95 % for
            some hundreds.
        uncertainty : bool, default False
            For the posterior mean of a Gaussian process with ``value_function="observational"``,
            also estimate `standard_deviations`, `covariance`, `sample` and
            ``importance(samples=...)`` under the posterior, from 1,000 posterior draws (a relative
            error of about 2 %). Other value functions have them with the exact values.
        random_state : int, numpy.random.Generator or RandomState, optional
            Seed or generator of the draws, which all rows share.
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
            As in calling the explainer; if not exactly one of `n_permutations` and `n_coalitions`
            is given, or it is odd or too small; or if exact values have no limit of features.
        UnsupportedModelError
            If `uncertainty` is not available.

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

    @overload
    def loss(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        loss: Loss = "squared_error",
        sample_weight: ArrayLike | None = None,
        n_permutations: None = None,
        n_coalitions: None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: Progress = False,
    ) -> Explanation: ...

    @overload
    def loss(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        loss: Loss = "squared_error",
        sample_weight: ArrayLike | None = None,
        n_permutations: int | None = None,
        n_coalitions: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: Progress = False,
    ) -> Explanation | Estimate: ...

    @with_known_keywords
    def loss(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        loss: Loss = "squared_error",
        sample_weight: ArrayLike | None = None,
        n_permutations: int | None = None,
        n_coalitions: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        progress: Progress = False,
    ) -> Explanation | Estimate:
        """Explain the loss of each row: the features that make the model's errors.

        The value of a coalition is v(S) = loss(f_S(x), y), where f_S(x) is its value in the game of
        the output. Positive values add to the loss, negative values reduce it. The method `sage` of
        the result averages values over rows, and `r2_shares` divides them by the mean loss of the
        base value.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, outputs)
            The targets: numbers in units of the output, one for each output, or the class labels
            of a classifier.
        loss : {"squared_error", "absolute_error", "log_loss", "hinge"}, default "squared_error"
            The squared and the absolute error have a value for each output; for
            ``target="probability"`` they compare it with 1 for the true class and 0 for others (the
            Brier score). "log_loss" requires ``target="probability"`` or ``"log-odds"``, "hinge"
            the decision value of two classes.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows in `sage` and `r2_shares` of the result; equal by
            default.
        n_permutations, n_coalitions : int, optional
            As in `estimate`, to estimate values where there are too many features for exact ones.
        random_state : int, numpy.random.Generator or RandomState, optional
            Seed or generator of the draws, which all rows share.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        Explanation
            For each row, the values add up to its loss minus ``base_values``, the loss of the base
            value. An `Estimate`, with ``standard_errors``, if `n_permutations` or `n_coalitions` is
            given.

        Raises
        ------
        ValueError, TypeError
            As in calling the explainer. If `y` has another length, another index of pandas than
            `X`, missing values or unknown class labels; if the loss is unknown or does not suit the
            output; or if exact values require the coalitions of too many features.
        UnsupportedModelError
            If large coefficients of the model cancel, for more than 20 features.

        Notes
        -----
        The squared error is exact for any number of features if the output is additive, such as
        that of a linear model, and for kernel expansions with ``value_function="marginal"`` or
        ``"neutral"``, by pairs of their points. In the neutral value function the prediction
        without features may be far from all targets, and signs of values do not show which
        features help: prefer ``"marginal"``. Otherwise exact values take all coalitions of up to 20
        features (observational: 14).

        References
        ----------
        I. Covert, S. Lundberg, S.-I. Lee (2020), Understanding global feature contributions with
        additive importance measures (SAGE), NeurIPS 33.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> from sklearn.svm import SVR
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> y = X[:, 0] + X[:, 1]
        >>> model = SVR().fit(X, y)
        >>> explanation = pkex.Explainer(model).loss(X, y)
        >>> total = explanation.values.sum(axis=1) + explanation.base_values
        >>> bool(abs(total - (model.predict(X) - y) ** 2).max() < 1e-12)
        True
        >>> int(np.argmin(explanation.sage().values))
        2
        """
        return loss_values(
            self._problem,
            X,
            y,
            loss=loss,
            sample_weight=sample_weight,
            n_permutations=n_permutations,
            n_coalitions=n_coalitions,
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
        features: FeatureSelection | None = None,
        progress: Progress = False,
    ) -> Interactions:
        """Compute Shapley interactions of up to `order` features.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        index : str, default "k-SII"
            Interactions that add up to the output: "k-SII" (the pairwise values that shap shows for
            trees), "STII" (Shapley–Taylor) and "FSII" (faithful Shapley). Others: "SII" (Shapley),
            "BII" (Banzhaf), "FBII" (faithful Banzhaf), "Moebius", "Co-Moebius", "CHII" (chaining).
        order : int, default 2
            Largest number of features in a coalition. Time and memory grow as C(d, order).
        features : int, or list of int or str, optional
            Features by name or number, or how many: those with the largest Shapley values, as the
            mean of their size over rows and outputs. The result has these features and one more,
            "other columns (19,934)", whose coefficients are sums over all others: rows still add up
            to the output (k-SII), and with half of each pair to the Shapley values. It requires
            order 2 and index "k-SII" or "SII". For product kernels, time grows as k² + d for k
            features; other functions compute all pairs of a row.
        progress : bool or callable, default False
            As in calling the explainer.

        Returns
        -------
        Interactions

        Raises
        ------
        ValueError
            If `index` is unknown, `order` is larger than the number of features, the result is too
            large, or the explainer's method is "recursion"; if `features` is empty, out of range or
            has a feature twice, or `index` or `order` does not support it; or as in calling the
            explainer.
        KeyError, IndexError
            If one of `features` does not exist.
        TypeError, OverflowError
            As in calling the explainer.

        References
        ----------
        Grabisch and Roubens (1999) for SII and BII; Sundararajan et al. (2020) for STII; Tsai et
        al. (2023) for FSII and FBII; Bordt and von Luxburg (2023) for k-SII.

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
        return interactions(
            self._problem, X, index=index, order=order, features=features, progress=progress
        )

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, … if neither model nor background names them."""
        return self._problem.schema.feature_names

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return self._problem.schema.outputs.axis_names

    @property
    def output_name(self) -> str | None:
        """Name of a single output, such as "b vs a" of two classes, positive for b."""
        return self._problem.schema.outputs.name

    @property
    def value_function(self) -> ValueFunction:
        """Value function: "marginal", "interventional", "neutral" or "observational"."""
        return self._problem.game.value_function

    @property
    def conditioning(self) -> Observational | None:
        """Settings of the observational value function, with the chosen kernel; else None."""
        function = self._problem.function
        return function.conditioning.settings if isinstance(function, Conditional) else None

    @property
    def background(self) -> NDArray[Any] | csr_array | None:
        """Rows that absent features are drawn from, read-only; a csr_array if they are sparse.

        The background rows of non-zero weight. Without a background, the model's stored points, if
        they are in the columns of X and shared by all components of the model. Otherwise None.
        """
        return self._problem.background

    @property
    def background_weights(self) -> NDArray[np.float64] | None:
        """Weights of the rows of `background`, which add up to 1; None if it is None."""
        return self._problem.background_weights

    @property
    def landmark_error(self) -> float | None:
        """Error of v(S) due to landmarks, relative to its spread; None without landmarks.

        Root mean square over some coalitions of background rows, compared with v(S) without
        landmarks; for more than 2,000 rows, with twice as many landmarks.
        """
        return self._problem.landmark_error

    @property
    def link(self) -> str:
        """Function applied after the mean over the background: "identity" or "logit"."""
        return self._problem.link

    @property
    def transform(self) -> Transform | None:
        """Function applied to the model's outputs before that mean; None for the identity."""
        return self._problem.transform

    @property
    def method(self) -> str:
        """Algorithm: "quadrature" or "recursion"."""
        return self._problem.settings.method

    @property
    def summation(self) -> str:
        """Summation over expansion points: "compensated" or "plain"."""
        return self._problem.settings.summation

    @property
    def n_jobs(self) -> int | None:
        """Number of threads, as passed."""
        return self._problem.settings.n_jobs

    @property
    def expected_value(self) -> float | NDArray[np.float64]:
        """Base value v(∅): a float, or an array of shape (outputs,) with an output axis.

        "interventional": the mean output over the background. "marginal": the mean output over all
        combinations of the columns of the background or of the stored points. "neutral": **not** a
        mean prediction, but the intercept plus the sum of the coefficients times the kernel's
        amplitude k(x, x) (0 for dot products).
        """
        return self._problem.expected_value

    def _unsaved_by_skops(self) -> str:
        return (
            ". Pickle it, or save the model by skops and make the explainer again when it is loaded"
        )

    def __getstate__(self) -> object:
        # Protocols 0 and 1 of pickle do not find the state of slots without it.
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
            parts += _format_changes(self.conditioning)
        if problem.game.background is not None:
            parts.append(f"background of {counted(len(problem.game.background[1]), 'row')}")
        return f"Explainer({', '.join([*parts, *problem.settings.changed_arguments()])})"


def _format_changes(settings: Observational) -> list[str]:
    """Return the settings that differ from their defaults, except the kernel."""
    values = ((field, getattr(settings, field.name)) for field in fields(settings)[1:])
    return [f"{field.name}={value!r}" for field, value in values if value != field.default]
