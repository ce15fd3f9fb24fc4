"""Regression at a fine level from targets at a coarse one."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.errors import HERE, InputError, warn
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.functions.descriptions import KernelExpansion
from pkex.inputs.choices import check_choice
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.inputs.scikit_learn import validated
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.models.arguments import (
    as_columns,
    check_kernels,
    check_number,
    length_of,
    rows_as_in_fit,
)
from pkex.models.downscaling.bags import Bags
from pkex.models.downscaling.gaussian_parts import (
    FixedGram,
    FixedMediators,
    GaussianGram,
    GaussianMediators,
)
from pkex.models.downscaling.likelihood import (
    Embedding,
    Hyperparameters,
    MarginalLikelihood,
)
from pkex.models.downscaling.posterior import posterior, sparse_posterior
from pkex.tables.labels import Labels
from pkex.tables.read import as_vector
from pkex.typing import Float

# Rows, and bags and targets, from which kernels are chosen.
_MAX_ROWS, _MAX_BAGS = 2000, 500
# Of the bags of a target; 1 on average.
_MIN_WEIGHT = 0.1
# The fix for mediators that are not numbers.
_NUMBER_BAGS = (
    "number the bags, equally in mediator and target_mediator, for example by "
    "pandas.Categorical(mediator, categories=names).codes"
)


class DeconditionalRegressor(BaseEstimator):
    """Gaussian process regression of single rows from means over bags of rows (downscaling).

    A target z̃ is the mean of an unknown function f given the value of a mediating variable y, plus
    noise: z̃ = E[f(X) | Y = ỹ] + ε. The rows X and the targets need not be observed together, only
    each of them with y: for example the weather of small cells with the pressure of the large cells
    that contain them, and the temperature of other large cells with their pressure. The conditional
    means of the rows given y are estimated by kernels; f has a Gaussian process prior, and its
    posterior is explained by `pkex.Explainer`.

    An estimator in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``). Pipelines and searches, which pass one row for each target, do not
    support it.

    Parameters
    ----------
    kernel : pkex.kernels.Kernel, optional
        The prior covariance of f, in squared units of the targets. By default a Gaussian kernel
        with an amplitude and a length-scale for each column.
    mediator_kernel : pkex.kernels.Kernel, optional
        The kernel of mediators. By default a Gaussian kernel with a length-scale for each column.
        With `pkex.kernels.Categorical` and ``regularization=0``, each target is the mean over its
        own bag and nothing else.
    noise : float or array-like of shape (M,), optional
        The variance of the noise ε, above 0; an array has one for each target, such as the variance
        of a mean over few measurements.
    regularization : float, optional
        λ of the conditional means: N λ is added to the diagonal of the kernel of N mediators. The
        means are divided by one number, so that those of constants are right on average.
        Kernels, noise and regularization that are not passed maximize the marginal likelihood. With
        more than 500 bags or targets, it is the likelihood of 500 random targets, given the bags
        with the nearest mediators, and random others up to 500.
    conditional_mean : {"bags", "rows"}, default "bags"
        "bags" regresses the mean of each bag, the rows with equal mediators, on the mediator (the
        shrinkage estimator); "rows" regresses each row: with n rows instead of N bags, it takes
        O(n³).
    n_inducing : int, optional
        Number of inducing points, the centers of k-means. They approximate the posterior, which
        otherwise has as many points as rows: predictions and explanations take time proportional to
        the number of points.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed or generator: of inducing points, and of the bags, targets and rows from which
        parameters are chosen; about 2,000 rows if there are more.
    n_jobs : int or None, default -1
        Number of threads of predictions.

    Attributes
    ----------
    kernel_, mediator_kernel_ : pkex.kernels.Kernel
    noise_ : float or ndarray of shape (M,)
    regularization_ : float
        The parameters, as passed or chosen.
    kernel_expansion_ : KernelExpansion
        The posterior mean of f. Its intercept is the mean of the targets, the prior mean.
    mediators_ : ndarray of shape (bags, p)
        The mediator of each bag.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if numbers of rows do not match, values are not finite, there are fewer than two
        targets, mediator and target_mediator are tables with other columns, or parameters are out
        of range.
    ImportError
        In ``import pkex.models``: if scikit-learn is not installed.

    Notes
    -----
    With n rows in N bags and M targets, fitting takes O(n² d + N³ + M³), with inducing points O(n m
    d + N³ + N M m + m³). Only means over bags are observed, so differences within a bag are known
    as far as the rows of other bags tell them: `predict` with ``return_std=True`` says how far.

    References
    ----------
    S. L. Chau, S. Bouabid, D. Sejdinovic (2021), Deconditional downscaling with Gaussian processes,
    NeurIPS. M. K. Titsias (2009), Variational learning of inducing variables in sparse Gaussian
    processes, AISTATS.

    Examples
    --------
    The rows of a bag have a common mean of the first column. Only means over bags are observed:

    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import DeconditionalRegressor
    >>> random = np.random.default_rng(0)
    >>> mediator = np.repeat(np.linspace(-2.0, 2.0, 20), 10)
    >>> X = np.column_stack([mediator + random.normal(size=200), random.normal(size=200)])
    >>> y = X[:, 0].reshape(20, 10).mean(axis=1)
    >>> model = DeconditionalRegressor().fit(X, mediator, y, mediator[::10])
    >>> bool(np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.99)
    True
    >>> int(pkex.Explainer(model)(X).importance().argmax())
    0
    """

    def __init__(
        self,
        *,
        kernel: Kernel | None = None,
        mediator_kernel: Kernel | None = None,
        noise: float | ArrayLike | None = None,
        regularization: float | None = None,
        conditional_mean: Literal["bags", "rows"] = "bags",
        n_inducing: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.kernel = kernel
        self.mediator_kernel = mediator_kernel
        self.noise = noise
        self.regularization = regularization
        self.conditional_mean = conditional_mean
        self.n_inducing = n_inducing
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: ArrayLike, mediator: ArrayLike, y: ArrayLike, target_mediator: ArrayLike
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            Rows at the fine level.
        mediator : array-like of shape (n,) or (n, p)
            The mediating variable of each row. Rows with equal values are a bag.
        y : array-like of shape (M,)
            Targets at the coarse level.
        target_mediator : array-like of shape (M,) or (M, p)
            The mediating variable of each target. It may have values that no row has, if the
            kernel of mediators connects them with those of rows.

        Returns
        -------
        DeconditionalRegressor
            The fitted estimator.
        """
        rows = validated(self, X, dtype=np.float64, ensure_min_samples=2)
        of_rows = as_columns(mediator, "mediator", len(rows), "X", _NUMBER_BAGS)
        targets = as_vector(y, "y", n_rows=length_of(y), rows_of="target_mediator")
        of_targets = as_columns(target_mediator, "target_mediator", len(targets), "y", _NUMBER_BAGS)
        self._check(of_rows, targets, of_targets)
        labels = Labels(Labels.of(mediator).columns)
        Labels.of(target_mediator).check_same(labels, "target_mediator", "mediator")
        random = as_generator(self.random_state)
        bags = Bags.of_rows(rows, of_rows, are_single=self.conditional_mean == "rows")
        parameters = self._choose_parameters(bags, targets, of_targets, random)
        self.kernel_, self.mediator_kernel_ = parameters.kernel, parameters.mediator_kernel
        self.noise_, self.regularization_ = parameters.noise, parameters.regularization

        cross = self.mediator_kernel_(bags.mediators, of_targets)
        if self.mediator_kernel is not None:
            _check_connected(cross, of_targets)
        embedding = Embedding.of(self.mediator_kernel_(bags.mediators), cross, self.regularization_)
        _warn_of_distant(embedding.means(np.ones(len(bags.mediators))))
        mean = float(targets.mean())
        arguments = bags, embedding, self.kernel_, self.noise_, targets - mean
        if self.n_inducing is None:
            result = posterior(*arguments)
        else:
            result = sparse_posterior(*arguments, self._inducing_points(rows, random))
        self.kernel_expansion_ = KernelExpansion(
            result.points,
            result.coefficients,
            self.kernel_,
            mean,
            feature_names=feature_names(self),
        )
        self._variance = result.variance
        self.mediators_, self._mediator_labels = bags.mediators, labels
        of_bags = bags.means(self._mean_at(bags.rows)) - mean
        self._mediator_coefficients = embedding.solve(of_bags)
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> Float | tuple[Float, Float]:
        """Predict f, the target at the fine level.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        return_std, return_cov : bool, default False
            Also return the posterior standard deviation (n,), or the covariance (n, n).

        Returns
        -------
        ndarray of shape (n,), or this and a second array
        """
        check_is_fitted(self, "kernel_expansion_")
        if return_std and return_cov:
            raise ValueError("return_std and return_cov were both given. Choose one of them")
        rows = rows_as_in_fit(self, X)
        mean = self._mean_at(rows)
        if return_std:
            variance = self._variance.evaluate(rows, n_threads=thread_count(self.n_jobs))
            return mean, np.sqrt(np.maximum(variance, 0.0))
        if return_cov:
            return mean, self._variance.latent.covariance(rows)
        return mean

    def predict_mean(self, mediator: ArrayLike) -> Float:
        """Predict the target at the coarse level, E[f(X) | Y].

        Parameters
        ----------
        mediator : array-like of shape (M,) or (M, p)

        Returns
        -------
        ndarray of shape (M,)
        """
        check_is_fitted(self, "kernel_expansion_")
        columns = as_columns(mediator, "mediator", length_of(mediator), "mediator", _NUMBER_BAGS)
        if columns.shape[1] != self.mediators_.shape[1]:
            raise ValueError(
                f"mediator must have {counted(self.mediators_.shape[1], 'column')}, as in fit; got "
                f"{columns.shape[1]}. For rows of X, call predict(X)"
            )
        Labels.of(mediator).check_same(self._mediator_labels, "mediator", "the mediator of fit")
        cross = self.mediator_kernel_(columns, self.mediators_)
        means: Float = self.kernel_expansion_.intercept + cross @ self._mediator_coefficients
        return means

    def score(self, mediator: ArrayLike, y: ArrayLike) -> float:
        """Return R² of `predict_mean`: targets at the fine level are not observed.

        Parameters
        ----------
        mediator : array-like of shape (M,) or (M, p)
        y : array-like of shape (M,)
            Targets at the coarse level, best those that were not used in `fit`.

        Returns
        -------
        float
        """
        predictions = self.predict_mean(mediator)
        targets = as_vector(y, "y", n_rows=len(predictions), rows_of="mediator")
        return float(r2_score(targets, predictions))

    def _check(self, of_rows: Float, targets: Float, of_targets: Float) -> None:
        check_n_jobs(self.n_jobs)
        check_choice("conditional_mean", self.conditional_mean, ("bags", "rows"), {})
        check_kernels(self, "kernel", "mediator_kernel")
        if len(targets) < 2:
            raise ValueError(f"y must have two or more targets; got {len(targets)}")
        if of_rows.shape[1] != of_targets.shape[1]:
            raise ValueError(
                "mediator and target_mediator must have the same columns; got "
                f"{of_rows.shape[1]} and {of_targets.shape[1]} columns"
            )

    def _choose_parameters(
        self, bags: Bags, targets: Float, of_targets: Float, random: np.random.Generator
    ) -> Hyperparameters:
        """Return the parameters that were passed, and the best others."""
        fixed_noise, regularization = self._noise(len(targets)), self.regularization
        if regularization is not None:
            regularization = check_number(
                "regularization", regularization, may_be_0=True, none_is_default=True
            )
        # The likelihood is of targets with variance 1.
        variance = float(targets.var() * (np.ptp(targets) > 0.0)) or 1.0
        standardized, noise = (targets - targets.mean()) / variance**0.5, fixed_noise
        if max(len(bags.mediators), len(targets)) > _MAX_BAGS:
            sample = np.sort(
                random.choice(len(targets), min(len(targets), _MAX_BAGS), replace=False)
            )
            standardized, of_targets = standardized[sample], of_targets[sample]
            noise = noise[sample] if isinstance(noise, np.ndarray) else noise
            bags = bags.select(self._bags_of(of_targets, bags, random))
        bags = bags.thin(_MAX_ROWS, random)
        of_mediators = (bags.mediators, of_targets)
        likelihood = MarginalLikelihood(
            GaussianGram(bags)
            if self.kernel is None
            else FixedGram(bags, self.kernel * (1.0 / variance)),
            GaussianMediators(*of_mediators)
            if self.mediator_kernel is None
            else FixedMediators(*of_mediators, self.mediator_kernel),
            standardized,
            (regularization, None if noise is None else noise / variance),
        )
        parameters = likelihood.maximize()
        kernel = parameters.kernel * variance if self.kernel is None else self.kernel
        noise = parameters.noise * variance if fixed_noise is None else fixed_noise
        return Hyperparameters(kernel, parameters.mediator_kernel, parameters.regularization, noise)

    def _noise(self, n_targets: int) -> float | Float | None:
        """Return the variance of the noise: a number, or one for each target."""
        if self.noise is None:
            return None
        if np.ndim(self.noise) == 0:
            return check_number("noise", self.noise, may_be_0=False, none_is_default=True)
        noise = as_vector(self.noise, "noise", n_rows=n_targets, rows_of="y")
        if not (noise > 0.0).all():
            row = int(np.argmin(noise))
            raise InputError(
                "noise",
                (f"has {noise[row]:g}", HERE, ", but variances must be above 0"),
                "pass a small number instead",
                row=row,
            )
        return noise

    def _bags_of(
        self, of_targets: Float, bags: Bags, random: np.random.Generator
    ) -> NDArray[np.intp]:
        """Return the bags that are nearest to the targets, and random others if these are few."""
        if self.mediator_kernel is None:
            units = bags.mediators.std(axis=0)
            units[units == 0.0] = 1.0
            nearest = KDTree(bags.mediators / units).query(of_targets / units)[1]
        else:
            nearest = self.mediator_kernel(bags.mediators, of_targets).argmax(axis=0)
        numbers = np.unique(nearest)
        other_numbers = np.setdiff1d(np.arange(len(bags.mediators)), numbers)
        count = min(len(other_numbers), max(0, _MAX_BAGS - len(numbers)))
        sample = random.choice(other_numbers, count, replace=False)
        return np.sort(np.concatenate([numbers, sample]))

    def _inducing_points(self, rows: Float, random: np.random.Generator) -> Float:
        """Return the centers of k-means in columns of equal spread."""
        n_distinct = len(np.unique(rows, axis=0))
        number = as_integer("n_inducing", self.n_inducing, "a positive integer", least=1)
        if number > n_distinct:
            raise ValueError(
                f"n_inducing={number} is above the number of distinct rows of X, {n_distinct}. "
                "Leave it out for the exact posterior"
            )
        deviations = rows.std(axis=0)
        units = np.where(deviations > 0.0, deviations, 1.0)
        seed = int(random.integers(2**31))
        clusters = KMeans(number, n_init=1, random_state=seed).fit(rows / units)
        return np.asarray(clusters.cluster_centers_ * units, dtype=np.float64)

    def _mean_at(self, rows: Float) -> Float:
        function = self.kernel_expansion_._function
        return function.evaluate(rows, n_threads=thread_count(self.n_jobs))


def _warn_of_distant(sums: Float) -> None:
    """Warn of targets whose bags have hardly any weight in all, given their sums (M,)."""
    n_distant = int((sums < _MIN_WEIGHT).sum())
    if n_distant:
        warn(
            f"{n_distant} of {len(sums)} targets have a target_mediator far from the "
            "mediators of all rows of X, and hardly change the fit. Compare their units, or leave "
            "these targets out"
        )


def _check_connected(cross: Float, of_targets: Float) -> None:
    """Raise an error if the kernel between all bags and a target, cross (bags, M), is 0."""
    unconnected = np.flatnonzero(~cross.any(axis=0))
    if len(unconnected):
        value = ", ".join(f"{number:g}" for number in of_targets[unconnected[0]])
        raise InputError(
            "target_mediator",
            (
                f"has {value}",
                HERE,
                ", which the kernel of mediators does not connect with any row of X "
                f"({len(unconnected)} of {len(of_targets)} targets)",
            ),
            "leave these targets out. Numbers of bags must be the same in mediator and "
            "target_mediator",
            row=int(unconnected[0]),
        )
