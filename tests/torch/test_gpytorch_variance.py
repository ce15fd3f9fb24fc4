"""Variances of GPyTorch's models, and how sure values are, by brute force through themselves."""

import gpytorch
import numpy as np
import pytest
import torch
from gpytorch import kernels, likelihoods, means, variational
from torch_models import (
    TOLERANCES,
    Approximate,
    D,
    Exact,
    assert_explained,
    assert_sure,
    moved,
    rows_near,
    variance_of,
)

import pkex
from pkex.explain import posterior

ONE, THREE = torch.Size([]), torch.Size([3])


def rbf(shape=ONE):
    base = kernels.RBFKernel(ard_num_dims=D, batch_shape=shape)
    return kernels.ScaleKernel(base, batch_shape=shape)


def data(dtype):
    generator = torch.Generator().manual_seed(0)
    x = 2.0 * torch.rand(30, D, generator=generator)
    return x.to(dtype), (5.0 + 3.0 * torch.sin(x.sum(dim=1))).to(dtype)


def built(dtype, covar, likelihood=None, outputs=None, n_outputs=1, mean=None):
    x, y = data(dtype)
    if n_outputs > 1:
        y = torch.stack([y + i * x[:, i] for i in range(n_outputs)], dim=-1 if outputs else 0)
    likelihood = likelihood or likelihoods.GaussianLikelihood()
    mean = mean or means.ConstantMean()
    return moved(Exact(x, y, mean, covar, likelihood, outputs).to(dtype)).eval()


def given_noise(dtype):
    noise = torch.linspace(0.01, 0.1, 30, dtype=dtype)
    return built(dtype, rbf(), likelihoods.FixedNoiseGaussianLikelihood(noise))


def batch(dtype):
    likelihood = likelihoods.GaussianLikelihood(batch_shape=THREE)
    mean = means.ConstantMean(batch_shape=THREE)
    return built(dtype, rbf(THREE), likelihood, n_outputs=3, mean=mean)


def tasks(dtype):
    likelihood = likelihoods.MultitaskGaussianLikelihood(num_tasks=3)
    mean = means.ConstantMean(batch_shape=THREE)
    return built(dtype, rbf(THREE), likelihood, "tasks", 3, mean)


def coupled(dtype, covar=None, rank=0):
    likelihood = likelihoods.MultitaskGaussianLikelihood(num_tasks=3, rank=rank)
    covar = covar or kernels.MultitaskKernel(kernels.RBFKernel(), num_tasks=3, rank=2)
    mean = means.MultitaskMean([means.ConstantMean()] * 3, num_tasks=3)
    return built(dtype, covar, likelihood, "coupled", 3, mean)


EXACT = {
    "RBF": lambda dtype: built(dtype, rbf()),
    "Matern": lambda dtype: built(dtype, kernels.MaternKernel(2.5, ard_num_dims=D)),
    "Linear": lambda dtype: built(dtype, rbf() + kernels.LinearKernel()),
    "given noise": given_noise,
    "batch": batch,
    "tasks": tasks,
    "coupled tasks": coupled,
    "coupled tasks and noise": lambda dtype: coupled(dtype, rank=2),
}
VARIATIONAL = {
    "whitened": variational.VariationalStrategy,
    "not whitened": variational.UnwhitenedVariationalStrategy,
}
WRAPPED = {
    "tasks": lambda base: variational.IndependentMultitaskVariationalStrategy(base, num_tasks=3),
    "mixed": lambda base: variational.LMCVariationalStrategy(base, num_tasks=5, num_latents=3),
}


def approximate(dtype, kind, shape=ONE, wrap=None):
    generator = torch.Generator().manual_seed(0)
    points = 2.0 * torch.rand(*shape, 12, D, generator=generator)

    def strategy(model):
        distribution = variational.CholeskyVariationalDistribution(12, batch_shape=shape)
        base = kind(model, points, distribution)
        return wrap(base) if wrap else base

    torch.manual_seed(0)
    model = Approximate(strategy, means.ConstantMean(batch_shape=shape), rbf(shape)).to(dtype)
    model(torch.ones(3, D, dtype=dtype))
    return moved(model).eval()


# Of sums with a LinearKernel GPyTorch takes roots of singular matrices.
@pytest.mark.filterwarnings("ignore:A not p.d., added jitter")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, torch.float64) for name in EXACT), ("batch", torch.float32), ("RBF", torch.float32)],
)
def test_variances_equal_brute_force_through_the_model(name, dtype):
    model = EXACT[name](dtype)
    rows, background = rows_near(model.train_inputs[0])
    options = {"batch_first": name == "batch"}
    own = variance_of(model, dtype, **options)
    assert_explained(model, own, rows, background, TOLERANCES[dtype], "variance")
    if name != "given noise":
        own = variance_of(model, dtype, predictive=True, **options)
        assert_explained(model, own, rows, background, TOLERANCES[dtype], "predictive_variance")


@pytest.mark.parametrize(
    ("name", "several", "dtype"),
    [
        ("whitened", None, torch.float64),
        ("whitened", None, torch.float32),
        ("not whitened", None, torch.float64),
        ("not whitened", "batch", torch.float64),
        ("whitened", "tasks", torch.float64),
        ("whitened", "mixed", torch.float64),
    ],
)
def test_variances_of_variational_models_equal_brute_force(name, several, dtype):
    shape = ONE if several is None else THREE
    model = approximate(dtype, VARIATIONAL[name], shape, WRAPPED.get(several))
    rows, background = rows_near(2.0 * torch.rand(12, D))
    own = variance_of(model, dtype, batch_first=several == "batch")
    assert_explained(model, own, rows, background, TOLERANCES[dtype], "variance")


def own_covariance(model):
    def covariance(rows):
        with torch.no_grad(), gpytorch.settings.debug(False):
            found = model(torch.as_tensor(rows)).covariance_matrix.detach().numpy()
        n = len(rows)
        return found if len(found) == n else np.einsum("itjt->ijt", found.reshape(n, -1, n, 5))

    return covariance


@pytest.mark.parametrize("name", ["RBF", "whitened", "not whitened", "mixed"])
def test_values_are_as_sure_as_the_covariance_of_the_function_says(name):
    if name == "RBF":
        model = EXACT[name](torch.float64)
    elif name == "mixed":
        kind = variational.VariationalStrategy
        model = approximate(torch.float64, kind, THREE, WRAPPED[name])
    else:
        model = approximate(torch.float64, VARIATIONAL[name])
    rows, background = rows_near(2.0 * torch.rand(12, D))
    # Theirs has jitter on its diagonal.
    assert_sure(model, own_covariance(model), rows, background, 1e-4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: given_noise(torch.float64), "the noise of new rows is unknown"),
        (
            lambda: approximate(torch.float64, variational.VariationalStrategy),
            "the model does not include its likelihood",
        ),
        (
            lambda: coupled(
                torch.float64, kernels.LCMKernel([rbf(), kernels.RBFKernel()], num_tasks=3)
            ),
            "with a sum of kernels of tasks is not supported",
        ),
    ],
)
def test_predictive_variances_that_are_not_known_are_refused_with_the_reason(build, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(build(), target="predictive_variance")


def test_the_standard_deviation_is_the_root_of_the_variance():
    model = EXACT["RBF"](torch.float64)
    rows, background = rows_near(model.train_inputs[0])
    own = variance_of(model, torch.float64)
    assert_explained(model, lambda x: np.sqrt(own(x)), rows, background, 1e-9, "std")


def test_the_uncertainty_of_many_rows_is_refused_with_their_number(monkeypatch):
    model = EXACT["RBF"](torch.float64)
    rows, background = rows_near(model.train_inputs[0])
    monkeypatch.setattr(posterior, "_MAX_FACTORED", 29)
    explainer = pkex.Explainer(model, background)
    assert explainer(rows).standard_deviations is None
    with pytest.raises(pkex.UnsupportedModelError, match=r"up to 29 training rows.*has 30$"):
        explainer(rows, uncertainty=True)
    assert pkex.Explainer(model, background, target="variance")
