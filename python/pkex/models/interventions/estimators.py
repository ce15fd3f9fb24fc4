"""Effects of treatments on targets that were observed in another data set."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from typing import Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.errors import warn
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.functions.descriptions import KernelExpansion
from pkex.inputs.choices import check_choice
from pkex.inputs.scikit_learn import validated
from pkex.inputs.wording import shown
from pkex.kernels import RBF, Kernel
from pkex.kernels.base import amplitude_and_kernel
from pkex.kernels.scales import Constants
from pkex.models.arguments import (
    as_columns,
    check_kernels,
    check_number,
    length_of,
    rows_as_in_fit,
)
from pkex.models.interventions.effect import Causes
from pkex.models.interventions.likelihood import EmbeddingLikelihood, TargetLikelihood
from pkex.models.interventions.moments import MediatorData, Moments
from pkex.models.interventions.nuclear_kernel import NuclearKernel, coordinates
from pkex.tables.labels import Labels, numbered
from pkex.tables.read import as_vector
from pkex.typing import Float

_Adjustment: TypeAlias = Literal["back-door", "front-door"]
_Method: TypeAlias = Literal["BayesIMP", "BayesIME", "IMP"]
_Landmarks: TypeAlias = Literal["both", "first"]

# The fixes for values that are not numbers.
_ENCODE = (
    "pass numbers, without quotes, or encode categories, for example by "
    "pandas.get_dummies(adjustment_variables)"
)
_ENCODE_EQUALLY = (
    "pass numbers, without quotes, or encode categories, equally in mediator and target_mediator, "
    "for example by sklearn.preprocessing.OneHotEncoder"
)


class InterventionalRegressor(BaseEstimator):
    """The effect E[T | do(X = x)] of a treatment on a target that another data set has.

    The first data set has treatments X, a mediating variable Y, and variables Z that adjust for
    confounding. The second one has other values of Y, with targets T. X changes T only through Y.
    The effect is then g(x) = E[f(Y) | do(X = x)] with f(y) = E[T | Y = y]. The distribution of Y
    under do(X = x) is estimated as a kernel mean embedding, and f by a Gaussian process. The
    uncertainty of either or both is propagated to g, which is explained by `pkex.Explainer`.

    An estimator in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``). Pipelines and searches, which pass one row for each target, do not
    support it.

    Parameters
    ----------
    adjustment : {"back-door", "front-door"}, default "back-door"
        "back-door": the adjustment variables block all back-door paths from X to Y; without
        variables, there are no such paths, as in a randomized experiment. "front-door": they
        intercept all directed paths from X to Y, and confounders of X and Y are not observed. See
        docs/interventions.md for all conditions, which are not checked.
    method : {"BayesIMP", "BayesIME", "IMP"}, default "BayesIMP"
        What is uncertain: f, given the second data set ("IMP"), the embedding, given the first one
        ("BayesIME"), or both.
    kernel, adjustment_kernel : pkex.kernels.Kernel, optional
        The kernels of treatments and of adjustment variables. By default Gaussian kernels with a
        length-scale for each column, of maximum marginal likelihood of the embedding. The default
        kernel of treatments ignores constant columns, with a warning.
    mediator_kernel : pkex.kernels.Kernel, optional
        The kernel of mediators; RBF, except for "IMP". By default it has a length-scale for each
        column, of maximum marginal likelihood of the targets. The amplitude of f is always chosen
        like this, so that of this kernel has no influence.
    landmarks : {"both", "first"}, default "both"
        The values of the mediating variable at which the embedding is observed: those of both data
        sets, or of the first one only, as in the thesis. "IMP" does not use them.
    regularization : float, optional
        λ of the embedding, added to the diagonal of the kernel matrix of the first data set; with
        front-door adjustment, also that of the embedding of Z given X. By default, each is of
        maximum marginal likelihood.
    noise : float, optional
        The variance of T given Y, at least 1e-8 of that of the targets. By default of maximum
        marginal likelihood.
    n_jobs : int or None, default -1
        Number of threads of predictions.

    Attributes
    ----------
    kernel_, adjustment_kernel_, mediator_kernel_ : pkex.kernels.Kernel
        As passed or chosen; `adjustment_kernel_` is None without adjustment variables.
    regularization_, noise_ : float
        As passed or chosen.
    amplitude_, embedding_amplitude_ : float
        Of the prior covariances of f and of the embedding, of maximum marginal likelihood. "IMP"
        does not have the second one.
    first_kernel_, first_regularization_ : pkex.kernels.Kernel, float
        Of the embedding of Z given X; None except with front-door adjustment.
    kernel_expansion_ : KernelExpansion
        The mean of g. Its intercept is the mean of the targets, the prior mean of f.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if numbers of rows do not match, values are not finite, the targets are equal,
        mediator and target_mediator are tables with other columns, adjustment variables are
        missing, or parameters are out of range.
    ImportError
        In ``import pkex.models``: if scikit-learn is not installed.

    See Also
    --------
    DeconditionalRegressor : From means over bags to single rows, without interventions.

    Notes
    -----
    With N rows and M targets, fitting takes O((N + M)³). The distribution of g is Gaussian, except
    for "BayesIMP", whose mean and covariance are those of a product of Gaussian vectors.

    References
    ----------
    S. L. Chau, J.-F. Ton, J. González, Y. W. Teh, D. Sejdinovic (2021), BayesIMP: uncertainty
    quantification for causal data fusion, NeurIPS.

    Examples
    --------
    The confounder z raises the treatment and lowers the mediator. The effect of the treatment on
    the target is 1 for each unit:

    >>> import numpy as np
    >>> from pkex.models import InterventionalRegressor
    >>> random = np.random.default_rng(0)
    >>> z = random.normal(size=150)
    >>> x = z + 0.5 * random.normal(size=150)
    >>> y = x - 2.0 * z + 0.1 * random.normal(size=150)
    >>> of_target = random.uniform(-3.0, 3.0, size=50)
    >>> t = of_target + 0.1 * random.normal(size=50)
    >>> model = InterventionalRegressor().fit(x[:, None], y, t, of_target, adjustment_variables=z)
    >>> low, high = model.predict([[-0.5], [0.5]])
    >>> bool(0.8 < high - low < 1.1)
    True
    """

    def __init__(
        self,
        *,
        adjustment: _Adjustment = "back-door",
        method: _Method = "BayesIMP",
        kernel: Kernel | None = None,
        adjustment_kernel: Kernel | None = None,
        mediator_kernel: Kernel | None = None,
        landmarks: _Landmarks = "both",
        regularization: float | None = None,
        noise: float | None = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.adjustment = adjustment
        self.method = method
        self.kernel = kernel
        self.adjustment_kernel = adjustment_kernel
        self.mediator_kernel = mediator_kernel
        self.landmarks = landmarks
        self.regularization = regularization
        self.noise = noise
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        mediator: ArrayLike,
        y: ArrayLike,
        target_mediator: ArrayLike,
        *,
        adjustment_variables: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Treatments of the first data set.
        mediator : array-like of shape (N,) or (N, p)
            The mediating variable of the first data set.
        y : array-like of shape (M,)
            Targets of the second data set.
        target_mediator : array-like of shape (M,) or (M, p)
            The mediating variable of the second data set.
        adjustment_variables : array-like of shape (N,) or (N, q), optional
            Variables of the first data set that adjust for confounding.

        Returns
        -------
        InterventionalRegressor
            The fitted estimator.

        Warns
        -----
        UserWarning
            If the ranges of a column of `mediator` and `target_mediator` have no value in common.
        """
        rows = validated(self, X, dtype=np.float64, ensure_min_samples=2)
        mediators = as_columns(mediator, "mediator", len(rows), "X", _ENCODE_EQUALLY)
        targets = as_vector(y, "y", n_rows=length_of(y), rows_of="target_mediator")
        target_mediators = as_columns(
            target_mediator, "target_mediator", len(targets), "y", _ENCODE_EQUALLY
        )
        adjustments = None
        if adjustment_variables is not None:
            adjustments = as_columns(
                adjustment_variables, "adjustment_variables", len(rows), "X", _ENCODE
            )
        self._check(mediators, targets, target_mediators, adjustments)
        labels, target_labels = Labels.of(mediator), Labels.of(target_mediator)
        target_labels.check_same(labels, "target_mediator", "mediator")
        self._check_kernels(rows, mediators, target_mediators, adjustments)
        _warn_of_ranges(mediators, target_mediators)

        mean = float(targets.mean())
        data, nuclear = self._mediator_data(mediators, target_mediators, targets - mean)
        self.mediator_kernel_, self.amplitude_ = data.kernel, data.amplitude
        self.noise_ = data.amplitude * data.ratio
        try:
            causes = self._causes(rows, adjustments, coordinates(data.kernel(mediators)))
        except np.linalg.LinAlgError:
            raise ValueError(
                "the kernel matrix of X and adjustment_variables, with regularization on its "
                "diagonal, has no Cholesky factor. Pass a larger regularization, or another kernel"
            ) from None
        if nuclear is not None:
            self.embedding_amplitude_ = data.embedding_amplitude(nuclear, causes.factor)
        effect = causes.effect(self._moments(data, nuclear))
        self.kernel_expansion_ = KernelExpansion(
            rows,
            effect.coefficients,
            effect.kernel,
            mean,
            feature_names=feature_names(self),
        )
        self._variance = effect.variance
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> Float | tuple[Float, Float]:
        """Predict the effect E[T | do(X = x)].

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        return_std, return_cov : bool, default False
            Also return the standard deviation of the effect (n,), or the covariance (n, n). The
            variance of single targets is not part of it.

        Returns
        -------
        ndarray of shape (n,), or this and a second array
        """
        check_is_fitted(self, "kernel_expansion_")
        if return_std and return_cov:
            raise ValueError("return_std and return_cov were both given. Choose one of them")
        rows = rows_as_in_fit(self, X)
        n_threads = thread_count(self.n_jobs)
        mean = self.kernel_expansion_._function.evaluate(rows, n_threads=n_threads)
        if return_std:
            variance = self._variance.evaluate(rows, n_threads=n_threads)
            return mean, np.sqrt(np.maximum(variance, 0.0))
        if return_cov:
            return mean, self._variance.latent.covariance(rows)
        return mean

    def _check(
        self, mediators: Float, targets: Float, target_mediators: Float, adjustments: Float | None
    ) -> None:
        check_n_jobs(self.n_jobs)
        check_choice("adjustment", self.adjustment, get_args(_Adjustment), {})
        check_choice("method", self.method, get_args(_Method), {})
        check_choice("landmarks", self.landmarks, get_args(_Landmarks), {})
        for name in ("regularization", "noise"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value, may_be_0=False, none_is_default=True)
        if mediators.shape[1] != target_mediators.shape[1]:
            raise ValueError(
                "mediator and target_mediator must have the same columns; got "
                f"{mediators.shape[1]} and {target_mediators.shape[1]} columns"
            )
        if len(targets) < 2 or not np.ptp(targets) > 0.0:
            raise ValueError("y must have two or more targets that differ")
        if adjustments is None and self.adjustment == "front-door":
            raise ValueError(
                'adjustment="front-door" requires adjustment_variables, which intercept the effect '
                "of X on the mediator. Pass them to fit"
            )
        if adjustments is None and self.adjustment_kernel is not None:
            raise ValueError(
                "adjustment_kernel was given, but no adjustment_variables. Pass them to fit, or "
                "leave the kernel out"
            )

    def _check_kernels(
        self, rows: Float, mediators: Float, target_mediators: Float, adjustments: Float | None
    ) -> None:
        check_kernels(self, "kernel", "adjustment_kernel", "mediator_kernel")
        tables = [
            ("kernel", "X", rows),
            ("adjustment_kernel", "adjustment_variables", adjustments),
            ("mediator_kernel", "mediator", mediators),
            ("mediator_kernel", "target_mediator", target_mediators),
        ]
        for argument, name, table in tables:
            kernel = getattr(self, argument)
            if kernel is not None and table is not None:
                SampleKernel.of_argument(kernel, argument, table.shape[1])
                kernel.check_rows(table, name)
        for column in (
            Constants.of(target_mediators).columns if self.mediator_kernel is None else ()
        ):
            if (mediators[:, column] != target_mediators[0, column]).any():
                raise ValueError(
                    f"column {column} of target_mediator is constant, but not that of mediator, so "
                    "y does not show the effect of its other values. Leave the column out of both, "
                    "or pass a mediator_kernel with its length-scale"
                )

    def _mediator_data(
        self, mediators: Float, target_mediators: Float, targets: Float
    ) -> tuple[MediatorData, NuclearKernel | None]:
        """Return the process of targets, and the nuclear dominant kernel of embeddings."""
        mediator_kernel = self.mediator_kernel
        if mediator_kernel is not None:
            mediator_kernel = amplitude_and_kernel(mediator_kernel)[1]
            if self.method != "IMP" and not isinstance(mediator_kernel, RBF):
                raise ValueError(
                    f"mediator_kernel must be RBF for method={self.method!r}; got "
                    f"{mediator_kernel!r}. "
                    'Pass RBF(...), or method="IMP", which supports any kernel'
                )
        all_mediators = np.concatenate([mediators, target_mediators])

        def covariance(kernel: Kernel) -> Float:
            if self.method == "BayesIMP":
                assert isinstance(kernel, RBF)
                return NuclearKernel.over(kernel, all_mediators)(target_mediators)
            return kernel(target_mediators)

        likelihood = TargetLikelihood(
            target_mediators, targets, mediator_kernel, covariance, self.noise
        )
        kernel, amplitude, noise = likelihood.maximize()
        nuclear = None
        if self.method != "IMP":
            assert isinstance(kernel, RBF)
            nuclear = NuclearKernel.over(kernel, all_mediators)
        landmarks = all_mediators if self.landmarks == "both" else mediators
        ratio = noise / amplitude
        data = MediatorData(
            mediators, target_mediators, targets, kernel, amplitude, ratio, landmarks
        )
        return data, nuclear

    def _causes(self, rows: Float, adjustments: Float | None, features: Float) -> Causes:
        """Return the causes with the parameters that were passed, and the best others."""
        varying = self._varying_columns(rows)

        def of_rows(kernel: Kernel) -> Kernel:
            return kernel if len(varying) == rows.shape[1] else kernel.on(varying)

        causes: list[tuple[Float, Kernel | None]] = [(rows[:, varying], self.kernel)]
        if adjustments is not None:
            causes.append((adjustments, self.adjustment_kernel))
        kernels, regularization = EmbeddingLikelihood(
            features, causes, self.regularization
        ).maximize()
        self.kernel_, self.regularization_ = of_rows(kernels[0]), regularization
        self.first_kernel_ = self.first_regularization_ = None
        self.adjustment_kernel_ = None if adjustments is None else kernels[1]
        if adjustments is None or self.adjustment_kernel_ is None:
            return Causes.back_door(rows, self.kernel_, None, regularization)
        gram = self.adjustment_kernel_(adjustments)
        if self.adjustment == "back-door":
            return Causes.back_door(rows, self.kernel_, gram, regularization)
        likelihood = EmbeddingLikelihood(coordinates(gram), causes[:1], self.regularization)
        (first_kernel,), first_regularization = likelihood.maximize()
        self.first_kernel_, self.first_regularization_ = of_rows(first_kernel), first_regularization
        of_variables = self.first_kernel_, first_regularization
        return Causes.front_door(rows, self.kernel_, gram, regularization, of_variables)

    def _varying_columns(self, rows: Float) -> list[int]:
        """Return the columns of treatments; without constant ones for the default kernel."""
        columns = list(range(rows.shape[1]))
        constant = Constants.of(rows).columns if self.kernel is None else ()
        if not constant:
            return columns
        if len(constant) == len(columns):
            raise ValueError(
                "all columns of X are constant, so they do not show an effect. Pass treatments "
                "that differ from row to row"
            )
        names = feature_names(self) or numbered(len(columns))
        warn(
            f"the default kernel ignores columns {shown([names[j] for j in constant])}, which "
            "are constant in X, so predictions do not depend on them. To change this, pass kernel "
            "with length-scales"
        )
        return [column for column in columns if column not in constant]

    def _moments(self, data: MediatorData, nuclear: NuclearKernel | None) -> Moments:
        if self.method == "IMP":
            return data.with_fixed_embedding()
        assert nuclear is not None
        if self.method == "BayesIME":
            return data.with_fixed_function(nuclear, self.embedding_amplitude_)
        return data.with_processes(nuclear, self.embedding_amplitude_)


def _warn_of_ranges(mediators: Float, target_mediators: Float) -> None:
    """Warn of columns of the mediating variable whose ranges in both data sets are disjoint."""
    for column, (first, second) in enumerate(zip(mediators.T, target_mediators.T, strict=True)):
        if first.max() < second.min() or second.max() < first.min():
            warn(
                f"column {column} of mediator is from {first.min():g} to {first.max():g}, that of "
                f"target_mediator from {second.min():g} to {second.max():g}, so y hardly shows the "
                "effect of X. Compare their units, and the order of y and target_mediator"
            )
