"""The explainer: exact Shapley values of a model's output, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.adapters import verify
from pkex.adapters.targets import Target, adapted_to
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress
from pkex.execution.settings import Settings
from pkex.explain.dask_rows import on_dask_rows, opened
from pkex.explain.estimating import Estimating
from pkex.explain.explained_rows import ExplainedRows
from pkex.explain.interacting import Interacting
from pkex.explain.links import Transform, behind_link
from pkex.explain.model_columns import ModelColumns
from pkex.explain.observational import given_background, landmark_error, warn_of_constant_players
from pkex.explain.outputs import Outputs
from pkex.explain.posterior import Posterior
from pkex.explain.rows_on_workers import row_by_row
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.functions.linked import LINKS, Link
from pkex.games.observational import Observational
from pkex.games.players import as_players
from pkex.games.value_functions import (
    Game,
    ValueFunction,
    check_points,
    chosen_value_function,
    game_of_points,
)
from pkex.inputs.choices import Method, Summation, check_choice
from pkex.inputs.keywords import with_known_keywords
from pkex.results.explanation import Explanation
from pkex.results.uncertainty import Uncertainty
from pkex.tables.stream import is_lazy
from pkex.typing import Float

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


class Explainer(Estimating, Interacting):
    """Explain the output of a kernel machine by exact Shapley values.

    The Shapley value of a feature is its average contribution to v over all orders in which
    features can arrive, where v(S) is what the model is worth while only the features in S are
    present. It is computed exactly.

    In the *marginal* game, the default, that is the mean of the model's output while each feature
    outside S is drawn, on its own, from the points that the model keeps of its training data (its
    support vectors or training rows). In the *interventional* game, the default with a background,
    it is the model's output with the features outside S replaced by those of a background row,
    averaged over the background. The *neutral* game is that of the PKeX-Shapley paper: every factor
    of the kernel outside S is 1, v(S) = intercept + Σ_i α_i ∏_{j∈S} k_j(x_j, x_ij). In the
    *observational* game absent features follow the present ones, as they do in the background.

    Parameters
    ----------
    model : fitted model, bound method, KernelExpansion or TermExpansion
        A fitted model of a supported kind (see Notes); or its method that is explained, such as
        ``svr.predict`` or ``svc.decision_function``.
    background : array-like, DataFrame or sparse matrix of shape (m, d), optional
        Rows that absent features are drawn from, in the columns that the model is given; all of
        them are used. Also what ``shap.kmeans`` returns, or a masker ``shap.maskers.Independent``
        or ``Partition``, whose rows are taken (shap itself keeps 100 of them unless told
        otherwise; a clustering is not used).
    target : {None, "probability", "log-odds", "mean", "variance", "predictive_variance", "std"}
        Of a classifier "probability" is its ``predict_proba``, which may also be given as the
        model, with an output for each class; "log-odds" those of the second of two classes,
        where they are a sum. Of a Gaussian process it is the mean, as without a target; the
        variance of its function at a row, in squared units of y; or that and the noise of an
        observation, which no feature has a part in. In the neutral game v(S) is no variance, and
        may be far below 0. "std" is the standard deviation of the function, the root of the
        variance, in units of y, which is not for the neutral game; with the noise it is
        ``target="predictive_variance", transform=numpy.sqrt``.
    value_function : str or Observational, optional
        The game. "marginal" is as "interventional", but draws each absent feature from the
        background on its own, as if features were independent of each other; without a background,
        from the model's own points, all of the same weight. "neutral" needs no background either.
        Its values are comparable from row to row, and no more than that: as all absent factors
        are 1, a feature that hardly matters may have a large value in every row. "observational"
        weighs background rows by how alike they are to the explained one in the features that are
        present, as `Observational` says, which has its settings; a feature that the model ignores
        may then have a value. None is "marginal" without and "interventional" with a background.
    background_weights : array-like of shape (m,), optional
        The weights of the background rows, not negative; they are divided by their sum. Equal if
        not given.
    groups : dict of str to columns, optional
        Columns that are one feature, by name or number: ``{"origin": ["origin_us", "origin_eu"]}``.
        Columns in no group are features of their own. The explanation's features are then in the
        order of their first columns; its ``data`` is a text for those of several columns, which
        shap's plots draw in grey.
    outputs : int, str or list of these, optional
        Which of the model's outputs to explain, by number from 0 or by name; all by default. A list
        keeps the output axis, a single one removes it.
    link : {"identity", "logit"}, default "identity"
        What is done to the mean over the background: v(S) is its log-odds, as shap has it.
    transform : callable, optional
        A function of the model's outputs, an array of shape (k,) or (k, outputs), that returns as
        many numbers: what is explained in their place. It is applied before the mean over the
        background, to blocks of rows.
    feature_names : sequence of str of length d, optional
        Names of the columns, and of the features in the explanation, instead of those that the
        model or the explained DataFrame knows. Column names that are numbers or tuples are shown
        as text, and not compared with the model's.
    output_names : sequence of str, optional
        Names of all the model's outputs, instead of its own.
    method : {"quadrature", "recursion"}, default "quadrature"
        Gauss–Legendre quadrature of the multilinear extension, or the recursion over the sizes of
        coalitions, of quadratic cost in d. Both are exact up to rounding. For polynomial and
        additive kernels, which few nodes are exact for, both are the quadrature.
    summation : {"compensated", "plain"}, default "compensated"
        How sums over expansion points are formed. Compensated, the rounding error does not grow
        with their number.
    n_jobs : int or None, default -1
        Number of threads: -1 for all cores that the process may use, -2 for all but one, and so
        on, but one within a joblib worker; None for one, or as many as ``joblib.parallel_config``
        says. Results do not depend on it.

    Raises
    ------
    UnsupportedModelError
        If the model is not understood in every part, or contradicts its fitted attributes.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError, TypeError
        If an argument has an unknown value, if arguments contradict each other, or if `background`
        is not a finite numeric table with the model's columns.
    OverflowError
        If the expected value is too large for a float.

    See Also
    --------
    KernelExpansion : Describe a model of which pkex knows nothing.
    pkex.adapters.register : Teach pkex a class of models.

    Notes
    -----
    Explained are, of scikit-learn, ``predict`` of SVR, NuSVR and KernelRidge, and
    ``decision_function`` of OneClassSVM, SVC and NuSVC. Of two classes it is positive for
    ``classes_[1]``, which ``output_name`` names first; of more, there is an output for every pair,
    as ``decision_function`` has with ``decision_function_shape="ovo"``, named "a vs b" and positive
    for a. The kernel must be rbf, poly or linear, or laplacian or chi2 for KernelRidge, or for
    machines one of scikit-learn's functions of these.

    Of a GaussianProcessRegressor it is ``predict``, the mean, in units of y; of a
    GaussianProcessClassifier the latent mean, on the scale of log-odds, positive for
    ``classes_[1]`` or with an output for each class or pair. Their kernel, which KernelRidge may
    have too, may be any sum, product and power of ConstantKernel, RBF, Matern,
    RationalQuadratic, DotProduct, PairwiseKernel (rbf, laplacian, chi2, linear, poly) and
    WhiteKernel, and of one column ExpSineSquared. Of KernelPCA it is ``transform`` (rbf, poly,
    linear), of a Nystroem feature map (as KernelRidge) and a linear model the output of that, and
    of KernelDensity (gaussian) the density, the exponential of ``score_samples``.

    Of a Pipeline, the last step is explained in terms of the columns that the first step gets; the
    steps before it must make each of their columns from a single one. Searches and other models
    that pass a model on are explained as that model, and those that are linear in their models as
    the same combination of explanations. The documentation lists all of them.

    Of other libraries it is ``predict_values`` of SMT's kriging models, the mean of the last model
    of scikit-optimize's searches and that of bayes_opt's ``BayesianOptimization``, both in the
    parameters of the search, SciPy's ``RBFInterpolator`` itself, and the posterior mean of Gaussian
    processes of GPy, GPyTorch and BoTorch, in the units of a user's columns and outcomes.

    Of additive models it is ``predict`` of interpret's ExplainableBoostingRegressor, the
    ``decision_function`` of its Classifier, and the linear predictor of pyGAM's models.

    A probability, a standard deviation, and what is behind a `link` or `transform` is no sum over
    features. Its values are exact up to 16 features (groups count as one), by all coalitions; of
    more, `estimate` has estimates. Absent features are drawn as whole rows of the background or,
    without one, of the model's own points.

    The observational game is none of these sums either: it takes all coalitions, of up to 14
    features, and a factorisation of an m × m matrix for each; of more features, and of values that
    are sure of less, `estimate` has estimates. It needs SciPy.

    A model's own points are those of its kernel expansion: of an SVM the support vectors, of other
    models all training rows, of a Nystroem map its components. A linear model keeps none, and asks
    for a background, also where it is part of another. Of several models that are combined, each
    has its own; of a Pipeline they are in the columns that its last step gets, and
    the columns that are made of one input column stay together. All count alike, whatever weight
    they had in fitting: so do rows that a bootstrap of bagging left out by a weight of 0, where the
    model keeps them.

    Time grows as the number of expansion points times the number of features; in the
    interventional game also as the number of background rows, in the marginal game hardly. The
    marginal game of the model's own points is prepared when the explainer is made, in a time that
    grows as the square of their number; a process that unpickles it does so at its first call. A
    background of some dozens of rows, from ``shap.kmeans`` or a sample, is often enough; which
    rows and how many is for the user to choose.

    An explainer never changes: it may be shared between threads, and be pickled. Its options are
    attributes that can be read; for others, make another explainer. That of a Gaussian process has
    the factor of its n × n covariances, too, for `uncertainty`: 8 n² bytes of its pickle.

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
    >>> explainer = pkex.Explainer(model)
    >>> explainer
    Explainer(predict of SVR, 2 features, value_function='marginal')
    >>> explanation = explainer(X)
    >>> explanation.values.shape
    (3, 2)
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(abs(total - model.predict(X)).max() < 1e-12)
    True

    Against a background, values start from the mean output over it:

    >>> explainer = pkex.Explainer(model, background=X)
    >>> bool(abs(explainer.expected_value - model.predict(X).mean()) < 1e-12)
    True
    """

    # Without a dictionary, an attribute that is misspelt is an error.
    __slots__ = (
        "_base",
        "_columns",
        "_explained",
        "_function",
        "_game",
        "_landmark_error",
        "_link",
        "_outputs",
        "_players",
        "_posterior",
        "_settings",
        "_transform",
    )

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
        owner = model.__self__ if isinstance(model, MethodType) else model
        name = type(owner).__name__
        adapted = adapted_to(model, target)
        self._settings = Settings(method, summation, n_jobs)
        self._link, self._transform = check_choice("link", link, LINKS), transform
        chosen_game = chosen_value_function(value_function, background, background_weights)
        check_points(chosen_game, background, adapted.expansion.keeps_points)
        verify(adapted, model, n_threads=self._settings.n_threads)
        adapted = behind_link(adapted, self._link, transform)
        self._explained = f"{adapted.title} of {name}"

        self._outputs, self._function = Outputs.chosen(adapted, outputs, output_names)
        self._posterior = Posterior.of(adapted, owner, outputs, output_names)
        self._columns = ModelColumns.of(adapted, feature_names)
        rows = None
        if background is not None:
            rows, self._columns = self._columns.read_background(background, background_weights)
        self._game = Game(chosen_game, rows)
        if chosen_game == "observational":
            given = given_background(
                self._function, value_function, self._game, self._columns, link
            )
            self._function = given
            self._posterior = replace(self._posterior, conditioning=given.conditioning)
        if value_function is None and rows is None and self._function.draws_rows:
            self._game = game_of_points(self._function.own_points())
        self._players = None
        if groups is not None:
            self._players = as_players(groups, self._columns.names)
            self._function = self._function.grouped(self._players.of_column)
            self._posterior = self._posterior.grouped(self._players.of_column)
        with self._settings.computing() as how:
            self._base = self._function.base(self._game, how)
            self._landmark_error = None
            if isinstance(self._function, Conditional):
                warn_of_constant_players(self._function)
                self._landmark_error = landmark_error(self._function, how)

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
        explained = ExplainedRows.read(X, self._columns, self._players)
        roots = uncertainty_of_values = None
        with self._settings.computing(progress) as how:
            if uncertainty:
                roots = self._posterior.roots(explained.rows, self._game, how.part(0, 2))
                how = how.part(1, 2)
            values = self._values(explained.rows, how)
        if roots is not None:
            told = (self._game, self.background, self._players, self._settings)
            draws = self._posterior.joint_draws(explained.rows, *told)
            uncertainty_of_values = Uncertainty.of_posterior(roots, values, draws)
        return Explanation._of(self._result(explained, values, uncertainty_of_values))

    @with_known_keywords
    def shap_values(
        self, X: ArrayLike | Mapping[str, Any], *, progress: Progress = False
    ) -> NDArray[np.float64]:
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
        X = opened(X, self._columns)
        if is_lazy(X):
            one_thread = Computation(self._settings.method, self._settings.summation)
            of_chunk = partial(self._bare_values, how=one_thread)
            lazy: NDArray[np.float64] = on_dask_rows(of_chunk, X, self._columns, self._shape_of_row)
            return lazy
        with self._settings.computing(progress) as how:
            return self._bare_values(X, how)

    def __getstate__(self) -> object:
        # The usual state, which pickle's protocols 0 and 1 do not find by themselves for slots.
        return super().__getstate__()

    def _values(self, rows: Float, how: Computation) -> Float:
        """Return values of shape (n, players), or (n, players, outputs) with an output axis."""
        explain = partial(_explained, self._function, self._game)
        values = row_by_row(explain, rows, how, self._settings.n_jobs)
        return values if self._function.has_output_axis else values[..., 0]

    def _bare_values(self, X: Any, how: Computation) -> Float:
        """Return values of the rows of a table, without an output axis that goes."""
        values = self._values(self._columns.read(X).rows, how)
        return values[..., 0] if self._outputs.drops_axis else values

    @property
    def _shape_of_row(self) -> tuple[int, ...]:
        """The shape of the values of one row."""
        n_players, n_outputs = self._function.n_players, self._function.n_outputs
        has_axis = self._function.has_output_axis and not self._outputs.drops_axis
        return (n_players, n_outputs) if has_axis else (n_players,)


def _explained(function: Function, game: Game, rows: Float, how: Computation) -> Float:
    return function.explain(rows, game=game, how=how)
