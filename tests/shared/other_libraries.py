"""Models of other libraries than scikit-learn, of those that are installed.

Where one is not, this is the place where its models are left out of the contract; the tests of its
own adapter are skipped as a whole.
"""

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.interpolate import RBFInterpolator
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

NAMES = ["decay", "depth", "rate", "seed", "width"]


class Builder:
    """What has `fit`, as scikit-learn's models have, and returns what a function builds."""

    def __init__(self, build):
        self.fit = build


def itself(model):
    return model


def interpolator(X, y):
    return RBFInterpolator(X, y, kernel="gaussian", epsilon=0.3, smoothing=0.1)


def piecewise_linear(X, y):
    return RBFInterpolator(X, y, kernel="linear", degree=1)


# --- smt ---


def kriging(X, y):
    from smt.surrogate_models import KRG

    options = {"corr": "matern52", "poly": "linear", "nugget": 0.01, "n_start": 1}
    model = KRG(**options, print_global=False)
    model.set_training_values(X, y)
    model.train()
    return model


def kriging_mean(model):
    return lambda rows: model.predict_values(rows)[:, 0]


# --- skopt ---


def skopt_regressor():
    from skopt.learning import GaussianProcessRegressor
    from skopt.learning.gaussian_process.kernels import RBF

    kernel = 2.0 * RBF([0.5, 1.0, 2.0, 4.0, 8.0])
    return GaussianProcessRegressor(kernel, optimizer=None, noise=0.1, normalize_y=True)


def skopt_optimizer(X, y):
    from skopt import Optimizer

    optimizer = Optimizer(
        [(-6.0, 6.0)] * X.shape[1],
        base_estimator=skopt_regressor(),
        acq_optimizer="sampling",
        acq_optimizer_kwargs={"n_points": 5},
        random_state=0,
    )
    optimizer.tell(X.tolist(), y.tolist())
    return optimizer


def skopt_result(X, y):
    return skopt_optimizer(X, y).get_result()


def skopt_mean(search):
    return lambda rows: search.models[-1].predict(search.space.transform(rows.tolist()))


# --- bayes_opt ---


def bayes_opt_optimizer(X, y):
    from bayes_opt import BayesianOptimization

    optimizer = BayesianOptimization(None, dict.fromkeys(NAMES, (-6.0, 6.0)), verbose=0)
    for row, target in zip(X, y, strict=True):
        optimizer.register(row, target)
    kernel = ConstantKernel(2.0) * RBF(3.0)
    optimizer.set_gp_params(kernel=kernel, optimizer=None, alpha=0.1)
    optimizer._gp.fit(optimizer.space.params, optimizer.space.target)
    return optimizer


def bayes_opt_mean(optimizer):
    return optimizer._gp.predict


# --- GPy ---


def gpy_regression(X, y):
    import GPy

    kernel = GPy.kern.RBF(X.shape[1], lengthscale=np.arange(1.0, X.shape[1] + 1.0), ARD=True)
    return GPy.models.GPRegression(X, y.reshape(len(X), -1), kernel, noise_var=0.1)


def gpy_mean(model):
    def own(rows):
        mean = model.predict(rows)[0]
        return mean if mean.shape[1] > 1 else mean[:, 0]

    return own


# --- gpytorch and botorch ---


def gpytorch_process(X, y):
    import torch
    from gpytorch import kernels, likelihoods, means
    from torch_models import Exact

    rows, targets = torch.as_tensor(X), torch.as_tensor(y)
    kernel = kernels.ScaleKernel(kernels.RBFKernel(ard_num_dims=X.shape[1]))
    kernel.base_kernel.lengthscale = torch.arange(1.0, X.shape[1] + 1.0)
    mean = means.LinearMean(X.shape[1])
    return Exact(rows, targets, mean, kernel, likelihoods.GaussianLikelihood()).double().eval()


def gpytorch_mean(model):
    from torch_models import mean_of

    return mean_of(model, model.train_targets.dtype)


def botorch_process(X, y):
    import torch
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Normalize

    rows, targets = torch.as_tensor(X), torch.as_tensor(y.reshape(len(X), -1))
    return SingleTaskGP(rows, targets, input_transform=Normalize(X.shape[1]))


def botorch_mean(model):
    from torch_models import posterior_mean_of

    return posterior_mean_of(model, model.train_targets.dtype)


def pairwise_process(X, y):
    import torch
    from botorch.models import PairwiseGP
    from botorch.models.transforms import Normalize

    order = np.argsort(-y)
    comparisons = torch.as_tensor(np.column_stack([order[:-1], order[1:]]))
    return PairwiseGP(torch.as_tensor(X), comparisons, input_transform=Normalize(X.shape[1]))


def pairwise_mean(model):
    from torch_models import posterior_mean_of

    return posterior_mean_of(model, model.datapoints.dtype)


# --- interpret and pygam ---


def boosting_machine(kind, **others):
    from interpret import glassbox

    options = {"interactions": 2, "outer_bags": 1, "max_rounds": 30, "n_jobs": 1, **others}
    return getattr(glassbox, f"ExplainableBoosting{kind}")(**options)


def additive_model(X, y):
    from pygam import LinearGAM, s, te
    from pygam import l as linear

    return LinearGAM(s(0, n_splines=6) + te(1, 4, n_splines=4) + s(2, by=3) + linear(3)).fit(X, y)


# --- statsmodels, lifelines and scikit-survival ---


def generalized_linear_model(X, y):
    import statsmodels.api as sm

    return sm.GLM(np.exp(y), X, family=sm.families.Gamma(sm.families.links.Log())).fit()


def least_squares(X, y):
    import statsmodels.api as sm

    return sm.OLS(y, X).fit()._results  # as its methods have it


def proportional_hazards(X, y):
    import lifelines
    import pandas as pd

    table = pd.DataFrame(X, columns=NAMES).assign(weeks=np.exp(-y), died=np.cos(5.0 * y) > -0.5)
    return lifelines.CoxPHFitter(penalizer=0.1).fit(table, "weeks", "died")


def log_hazard(model):
    return lambda rows: model.predict_log_partial_hazard(rows).to_numpy()


def survival_model(name, **options):
    """Return a builder of a model of survival times, some of them censored."""

    def fit(X, y):
        from sksurv import linear_model
        from sksurv.util import Surv

        times = Surv.from_arrays(np.cos(5.0 * y) > -0.5, np.exp(-y))
        return getattr(linear_model, name)(**options).fit(X, times)

    return Builder(fit)


def survival_machine(name, **options):
    """Return a builder of a machine that learns survival times, some of them censored."""

    def fit(X, y):
        from sksurv import svm
        from sksurv.util import Surv

        with warnings.catch_warnings(action="ignore"):  # of few iterations
            machine = getattr(svm, name)(**options)
            return machine.fit(X, Surv.from_arrays(np.cos(5.0 * y) > -0.5, np.exp(y)))

    return Builder(fit)


SURVIVAL_MODELS = {
    "CoxPHSurvivalAnalysis": {"alpha": 0.1},
    "CoxnetSurvivalAnalysis": {"l1_ratio": 0.5},
    "IPCRidge": {},
}

REGRESSION = {"rank_ratio": 0.5, "fit_intercept": True}
# name: builder
SURVIVAL_MACHINES = {
    "FastKernelSurvivalSVM": survival_machine("FastKernelSurvivalSVM"),
    "FastKernelSurvivalSVM of times": survival_machine(
        "FastKernelSurvivalSVM", kernel="poly", degree=2, gamma=0.1, **REGRESSION
    ),
    "FastSurvivalSVM": survival_machine("FastSurvivalSVM"),
    "FastSurvivalSVM of times": survival_machine("FastSurvivalSVM", **REGRESSION),
    "HingeLossSurvivalSVM": survival_machine("HingeLossSurvivalSVM", kernel="rbf"),
    "MinlipSurvivalAnalysis": survival_machine("MinlipSurvivalAnalysis", kernel="laplacian"),
    "NaiveSurvivalSVM": survival_machine("NaiveSurvivalSVM", random_state=0),
}

# --- polynomial chaos ---


def chaos_of_openturns(X, y):
    import openturns as ot

    d = X.shape[1]
    basis = ot.OrthogonalProductPolynomialFactory([ot.HermiteFactory()] * d)
    algorithm = ot.FunctionalChaosAlgorithm(
        ot.Sample(X),
        ot.Sample(y[:, None]),
        ot.JointDistribution([ot.Normal(0.1 * j, 1.0 + j) for j in range(d)]),
        ot.FixedStrategy(basis, 21),
        ot.LeastSquaresStrategy(),
    )
    algorithm.run()
    return algorithm.getResult()


def meta_model(result):
    return lambda rows: np.array(result.getMetaModel()(rows))[:, 0]


def chaos_of_chaospy(X, y):
    import chaospy as cp

    distribution = cp.Iid(cp.Normal(), X.shape[1])
    return cp.fit_regression(cp.generate_expansion(2, distribution), X.T, y)


def polynomial(model):
    return lambda rows: np.asarray(model(*rows.T))


OF_PRODUCTS = {"FunctionalChaosResult of openturns", "polynomial of chaospy"}
# Those that are linear, or the exponential of a linear function.
OF_LINEAR = {
    "GLM of statsmodels",
    "OLS of statsmodels",
    "CoxPHFitter of lifelines",
    *SURVIVAL_MODELS,
    *("FastSurvivalSVM", "FastSurvivalSVM of times", "NaiveSurvivalSVM"),
}

# Those that are sums of terms.
OF_TERMS = {
    "regressor of interpret",
    "log link of interpret",
    "classifier of interpret",
    "LinearGAM of pygam",
}
# The names of columns, of models that know them.
NAMED = {"BayesianOptimization": NAMES, "CoxPHFitter of lifelines": NAMES}


def models(y, targets):
    """The models as `explainable` has them: builder, target, function that gives the explained."""
    found = {
        "RBFInterpolator": (Builder(interpolator), y, itself),
        "RBFInterpolator of distances": (Builder(piecewise_linear), y, itself),
        "RBFInterpolator of two": (Builder(interpolator), targets, itself),
    }
    if find_spec("smt"):
        found["KRG of smt"] = (Builder(kriging), 100.0 * y, kriging_mean)
    if find_spec("skopt"):
        found["GP of skopt"] = (skopt_regressor(), 100.0 * y + 500.0, lambda model: model.predict)
        found["Optimizer of skopt"] = (Builder(skopt_optimizer), y, skopt_mean)
        found["result of skopt"] = (Builder(skopt_result), y, skopt_mean)
    if find_spec("bayes_opt"):
        found["BayesianOptimization"] = (Builder(bayes_opt_optimizer), y, bayes_opt_mean)
    if find_spec("GPy"):
        found["GPRegression of GPy"] = (Builder(gpy_regression), y, gpy_mean)
        found["targets of GPy"] = (Builder(gpy_regression), targets, gpy_mean)
    if find_spec("interpret"):
        found["regressor of interpret"] = (
            boosting_machine("Regressor"),
            y,
            lambda model: model.predict,
        )
        found["log link of interpret"] = (
            boosting_machine("Regressor", interactions=0, objective="poisson_deviance"),
            np.exp(0.5 * y),
            lambda model: model.predict,
        )
        found["classifier of interpret"] = (
            boosting_machine("Classifier"),
            y > 0.0,
            lambda model: model.decision_function,
        )
    if find_spec("openturns"):
        found["FunctionalChaosResult of openturns"] = (Builder(chaos_of_openturns), y, meta_model)
    if find_spec("chaospy"):
        found["polynomial of chaospy"] = (Builder(chaos_of_chaospy), y, polynomial)
    if find_spec("statsmodels"):
        found["GLM of statsmodels"] = (
            Builder(generalized_linear_model),
            0.3 * y,
            lambda model: model.predict,
        )
        found["OLS of statsmodels"] = (
            Builder(least_squares),
            y,
            lambda model: model.predict,
        )
    if find_spec("lifelines"):
        found["CoxPHFitter of lifelines"] = (Builder(proportional_hazards), y, log_hazard)
    if find_spec("sksurv"):
        for name, options in SURVIVAL_MODELS.items():
            found[name] = (survival_model(name, **options), y, lambda model: model.predict)
    if find_spec("sksurv"):
        for name, machine in SURVIVAL_MACHINES.items():
            found[name] = (machine, y, lambda model: model.predict)
    if find_spec("pygam"):
        found["LinearGAM of pygam"] = (Builder(additive_model), y, lambda model: model.predict)
    if find_spec("botorch"):
        found["ExactGP of gpytorch"] = (Builder(gpytorch_process), y, gpytorch_mean)
        found["SingleTaskGP of botorch"] = (Builder(botorch_process), y, botorch_mean)
        found["PairwiseGP of botorch"] = (Builder(pairwise_process), y, pairwise_mean)
        found["outputs of botorch"] = (Builder(botorch_process), targets, botorch_mean)
    return found
