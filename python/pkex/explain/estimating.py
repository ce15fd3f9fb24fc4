"""Explainers that estimate values, where there are too many features for exact ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress
from pkex.execution.settings import Settings
from pkex.explain.described import Described
from pkex.explain.estimation import Estimator, RowGame, estimated, linked
from pkex.explain.explained_rows import ExplainedRows
from pkex.explain.from_coalitions import check_coalitions, from_coalitions, of_rows_together
from pkex.explain.from_orders import check_permutations, from_orders
from pkex.explain.joint_draws import JointDraws
from pkex.functions.conditional import MOST_CONDITIONED, Conditional
from pkex.functions.own_rows import warn_of_own_rows
from pkex.games.sampled_coalitions import SampledCoalitions
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.results.estimate import Estimate
from pkex.results.uncertainty import Uncertainty, roots_of
from pkex.typing import Float

__all__ = ["Estimating"]

# Functions whose estimates tell how sure those of their mean are: to 2 %.
_DRAWS = 1000


class Estimating(Described):
    """An explainer's estimates."""

    __slots__ = ()

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
        generator = as_generator(random_state)
        estimator = self._estimator(n_permutations, n_coalitions, generator)
        self._check_draws_rows("its values are exact for any number of features: explainer(X)")
        explained = ExplainedRows.read(X, self._columns, self._players)
        posterior = None
        with self._settings.computing(progress) as how:
            if isinstance(self._function, Conditional):
                function = self._function
                warn_of_own_rows(explained.rows, function.conditioning, function.players)
            if uncertainty:
                posterior = self._estimated_roots(
                    estimator, explained.rows, generator, how.part(0, 2)
                )
                how = how.part(1, 2)
            values, errors = estimator(self._function, explained.rows, how)
        if not self._function.has_output_axis:
            values, errors = values[..., 0], errors[..., 0]
        spread = Uncertainty(errors)
        if posterior is not None:
            spread = Uncertainty.of_posterior(posterior[0], values, posterior[1], errors)
        return Estimate._of(self._result(explained, values, spread))

    def _estimator(
        self, n_permutations: int | None, n_coalitions: int | None, generator: np.random.Generator
    ) -> Estimator:
        """Return what estimates values."""
        function, p = self._function, self._function.n_players
        if n_permutations is None and n_coalitions is None:
            of_orders = ", or n_permutations, such as n_permutations=1000"
            raise TypeError(
                f"{type(self).__name__}.estimate() needs the number of draws, by name: "
                "n_coalitions, such as n_coalitions=1000"
                + ("" if isinstance(function, Conditional) else of_orders)
            )
        if n_permutations is not None and n_coalitions is not None:
            raise ValueError(
                "n_permutations and n_coalitions are two ways to draw; give one of them"
            )
        if n_coalitions is not None:
            count = check_coalitions(n_coalitions, p)
            drawn = SampledCoalitions.drawn(p, count, generator)
            if isinstance(function, Conditional):
                return partial(of_rows_together, drawn)
            return partial(estimated, self._game, from_coalitions(drawn))
        count = check_permutations(n_permutations, p)
        if isinstance(function, Conditional):
            exact = ", or exact values: explainer(X)" if p <= MOST_CONDITIONED else ""
            raise InputError(
                "n_permutations",
                "would factor a matrix for each feature of each order, and is not for "
                "value_function='observational'",
                f"take n_coalitions, such as n_coalitions=1000{exact}",
            )
        return partial(estimated, self._game, from_orders(p, count, generator))

    def _estimated_roots(
        self, estimator: Estimator, rows: Float, generator: np.random.Generator, how: Computation
    ) -> tuple[Float, JointDraws]:
        """Return R of the covariances R Rᵀ of estimates, (n, players, outputs, players), and draws.

        Draws are of functions that are estimated from the same coalitions.
        """
        if not isinstance(self._function, Conditional):
            raise UnsupportedModelError(
                (
                    Option("uncertainty", True),
                    " of estimates is for ",
                    Option("value_function", "observational"),
                    ". Exact values of Gaussian processes have it in other games: ",
                    Option("uncertainty", True, python="explainer(X, uncertainty=True)"),
                )
            )
        joint = self._posterior.joint_draws(rows, self._game, None, self._players, self._settings)
        functions = joint.functions(_DRAWS, generator)
        covariances = []
        for output, function in enumerate(functions):
            drawn, _ = estimator(function, rows, how.part(output, len(functions)))
            covariances.append(drawn @ drawn.transpose(0, 2, 1) / _DRAWS)
        return roots_of(np.stack(covariances, axis=-1)), replace(joint, estimator=estimator)

    def _game_of(self, row: ArrayLike) -> Callable[[NDArray[np.bool_]], Float]:
        """Return the function from coalitions of features of a row to their worths.

        Parameters
        ----------
        row : array-like of shape (1, d)

        Returns
        -------
        callable
            From an array of shape (count, features), whether a feature is in a coalition, to one
            of shape (count, outputs).

        Raises
        ------
        ValueError
            If the game draws each feature on its own.
        """
        self._check_draws_rows("take value_function='interventional' or 'neutral'")
        explained = ExplainedRows.read(row, self._columns, self._players)
        first, function = explained.rows[0], self._function
        if isinstance(function, Conditional):
            return _WorthsGiven(function, first, self._settings)
        return _Worths(RowGame(linked(function), first, "the row", self._game), self._settings)

    def _check_draws_rows(self, instead: str) -> None:
        if self._game.is_marginal and not self._function.draws_rows:
            raise InputError(
                Option("value_function", "marginal"),
                "draws each absent feature independently, and its coalitions are not evaluated "
                "one by one",
                instead,
            )


@dataclass(frozen=True, eq=False)
class _Worths:
    """The function from coalitions of a row's game to their worths."""

    of_row: RowGame
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            return self.of_row.worths(members, how)


@dataclass(frozen=True, eq=False)
class _WorthsGiven:
    """Likewise of a row's observational game."""

    function: Conditional
    row: Float
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            worths: Float = self.function.worths(self.row[None], members, how)[0]
        return worths
