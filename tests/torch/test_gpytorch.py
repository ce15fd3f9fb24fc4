"""Exact Gaussian processes of GPyTorch: their means, by brute force through their own posterior."""

import copy
import pickle

import gpytorch
import numpy as np
import pytest
import torch
from gpytorch import kernels, means
from gpytorch.likelihoods import (
    FixedNoiseGaussianLikelihood,
    GaussianLikelihood,
    MultitaskGaussianLikelihood,
)
from torch_models import TOLERANCES, D, Exact, assert_explained, mean_of, moved, rows_near

import pkex
from pkex.adapters import adapt

THREE = torch.Size([3])


def ard(kernel, *args, **options):
    return kernel(*args, ard_num_dims=D, **options)


def scaled(kernel, **options):
    return kernels.ScaleKernel(kernel, **options)


def product():
    first = scaled(kernels.RBFKernel(active_dims=[0, 2]))
    second = kernels.MaternKernel(1.5, active_dims=[1])
    return first * second * kernels.PeriodicKernel(active_dims=[3])


def added():
    inner = scaled(kernels.RBFKernel(active_dims=[0, 2]) + kernels.LinearKernel(active_dims=[3]))
    return inner + kernels.ConstantKernel() + scaled(kernels.RQKernel(active_dims=[1]))


def nested():
    """The second and third of the last three columns."""
    inner = kernels.AdditiveKernel(kernels.RBFKernel(active_dims=[1, 2]))
    inner.active_dims = torch.tensor([1, 2, 3])
    return scaled(inner)


KERNELS = {
    "RBF": lambda: scaled(ard(kernels.RBFKernel)),
    "RBF of one length-scale": kernels.RBFKernel,
    "Matern 5/2": lambda: scaled(ard(kernels.MaternKernel, 2.5)),
    "Matern 3/2": lambda: scaled(kernels.MaternKernel(1.5)),
    "Matern 1/2": lambda: scaled(ard(kernels.MaternKernel, 0.5)),
    "RQ": lambda: scaled(ard(kernels.RQKernel)),
    "Periodic": lambda: scaled(ard(kernels.PeriodicKernel)),
    "Periodic of one period": lambda: scaled(kernels.PeriodicKernel()),
    "Linear": lambda: scaled(ard(kernels.LinearKernel)),
    "Linear of one variance": kernels.LinearKernel,
    "Polynomial": lambda: scaled(kernels.PolynomialKernel(3)),
    "product": product,
    "sum": added,
    "columns of columns": nested,
}
STRUCTURES = {
    "product of columns": (kernels.ProductStructureKernel, lambda: kernels.MaternKernel(1.5)),
    "scaled product": (kernels.ProductStructureKernel, lambda: scaled(ard(kernels.RBFKernel))),
    "sum of columns": (kernels.AdditiveStructureKernel, lambda: scaled(kernels.RQKernel())),
    "sum of periods": (kernels.AdditiveStructureKernel, lambda: ard(kernels.PeriodicKernel)),
}
# Where distances are the roots of differences with rounding errors.
ROUGH = {"Matern 1/2": {torch.float64: 1e-7, torch.float32: 1e-3}}


def data(dtype, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = 2.0 * torch.rand(30, D, generator=generator)
    return x.to(dtype), (5.0 + 3.0 * torch.sin(x.sum(dim=1))).to(dtype)


def fitted(mean, covar, dtype=torch.float64, **options):
    x, y = data(dtype)
    return moved(Exact(x, y, mean, covar, **options).to(dtype)).eval()


def check(model, dtype, tolerance=None, **options):
    rows, background = rows_near(model.train_inputs[0].reshape(-1, D))
    own = mean_of(model, dtype, **options)
    assert_explained(model, own, rows, background, tolerance or TOLERANCES[dtype])


# Of sums with a LinearKernel GPyTorch takes roots of singular matrices.
@pytest.mark.filterwarnings("ignore:A not p.d., added jitter")
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_through_the_posterior(name, dtype):
    model = fitted(means.ConstantMean(), KERNELS[name](), dtype)
    check(model, dtype, ROUGH.get(name, TOLERANCES)[dtype])


@pytest.mark.filterwarnings("ignore::DeprecationWarning:gpytorch")
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", STRUCTURES)
def test_values_of_kernels_of_columns_equal_brute_force(name, dtype):
    kind, base = STRUCTURES[name]
    check(fitted(means.ZeroMean(), kind(base(), num_dims=D), dtype), dtype)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:gpytorch")
def test_products_of_a_family_and_scales_are_merged():
    gaussian = scaled(ard(kernels.RBFKernel)) * kernels.RBFKernel(active_dims=[0])
    model = fitted(
        means.ZeroMean(),
        scaled(gaussian + kernels.ProductStructureKernel(kernels.RBFKernel(), num_dims=D)),
    )
    terms = adapt(model).function.kernel.terms(D)
    assert [len(term.factors) for term in terms] == [1, 1]
    check(model, torch.float64)


@pytest.mark.parametrize(
    "mean", [means.ZeroMean(), means.LinearMean(D), means.LinearMean(D, bias=False)]
)
def test_values_of_prior_means_equal_brute_force(mean):
    check(fitted(mean, scaled(ard(kernels.RBFKernel))), torch.float64)


def test_values_with_given_noise_equal_brute_force():
    noise = torch.linspace(0.01, 0.1, 30, dtype=torch.float64)
    likelihood = FixedNoiseGaussianLikelihood(noise)
    covar = scaled(ard(kernels.RBFKernel))
    check(fitted(means.ConstantMean(), covar, likelihood=likelihood), torch.float64)


def test_values_equal_brute_force_where_the_model_solves_by_conjugate_gradients():
    model = fitted(means.ConstantMean(), scaled(ard(kernels.RBFKernel)))
    with gpytorch.settings.max_cholesky_size(1):
        model(model.train_inputs[0] + 0.1)  # from now on it keeps that solution
        check(model, torch.float64)


# --- several outputs ---


def several(dtype, mean, covar, *, outputs=None, of_own_points=False):
    x, y = data(dtype)
    tasks = torch.stack([y + i * x[:, i] for i in range(3)], dim=-1 if outputs else 0)
    if of_own_points:
        x = torch.stack([x, x + 0.1, x - 0.1])
    together = MultitaskGaussianLikelihood(num_tasks=3)
    likelihood = together if outputs else GaussianLikelihood(batch_shape=THREE)
    return moved(Exact(x, tasks, mean, covar, likelihood, outputs).to(dtype)).eval()


def batch(kernel, *args):
    return scaled(ard(kernel, *args, batch_shape=THREE), batch_shape=THREE)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("of_own_points", [False, True])
def test_values_of_a_batch_of_outputs_equal_brute_force(of_own_points, dtype):
    mean, covar = means.LinearMean(D, batch_shape=THREE), batch(kernels.RBFKernel)
    model = several(dtype, mean, covar, of_own_points=of_own_points)
    check(model, dtype, batch_first=True)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_values_of_independent_tasks_equal_brute_force(dtype):
    mean, covar = means.ConstantMean(batch_shape=THREE), batch(kernels.MaternKernel, 2.5)
    check(several(dtype, mean, covar, outputs="tasks"), dtype)


def coregionalised():
    first = kernels.MultitaskKernel(ard(kernels.RBFKernel), num_tasks=3, rank=2)
    return scaled(first) + kernels.MultitaskKernel(kernels.LinearKernel(), num_tasks=3)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize(
    "covar",
    [
        lambda: kernels.MultitaskKernel(ard(kernels.RBFKernel), num_tasks=3, rank=2),
        lambda: kernels.LCMKernel([ard(kernels.RBFKernel), kernels.MaternKernel(1.5)], num_tasks=3),
        coregionalised,
    ],
    ids=["MultitaskKernel", "LCMKernel", "sum"],
)
def test_values_of_tasks_that_share_kernels_equal_brute_force(covar, dtype):
    own = [means.ConstantMean(), means.LinearMean(D), means.ZeroMean()]
    mean = means.MultitaskMean(own, num_tasks=3)
    check(several(dtype, mean, covar(), outputs="coupled"), dtype)


# --- what an explanation leaves behind, and what may be given ---


def test_the_model_stays_as_it_is():
    model = fitted(means.ConstantMean(), scaled(ard(kernels.RBFKernel)))
    model.train()
    before = copy.deepcopy(model.state_dict())
    assert pkex.Explainer(model)
    assert model.training
    assert model.likelihood.training
    assert model.prediction_strategy is None
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    model.likelihood.eval()
    assert pkex.Explainer(model)
    assert model.training
    assert not model.likelihood.training
    model.eval()
    assert pkex.Explainer(model)
    assert model.prediction_strategy is None
    # Its predictions can be differentiated as before.
    prediction = model(model.train_inputs[0] + 0.1).mean.sum()
    (slope,) = torch.autograd.grad(prediction, model.covar_module.raw_outputscale)
    assert slope != 0.0


def test_rows_may_be_tensors():
    model = fitted(means.ConstantMean(), scaled(ard(kernels.RBFKernel)))
    rows, background = rows_near(model.train_inputs[0])
    values = pkex.Explainer(model, torch.as_tensor(background)).shap_values(torch.as_tensor(rows))
    assert np.array_equal(values, pkex.Explainer(model, background).shap_values(rows))


def test_an_explainer_keeps_nothing_of_torch_and_pickles():
    model = fitted(means.LinearMean(D), scaled(ard(kernels.MaternKernel, 2.5)))
    rows, _ = rows_near(model.train_inputs[0])
    explainer = pkex.Explainer(model)
    kept = pickle.dumps(explainer)
    assert b"torch" not in kept
    assert np.array_equal(pickle.loads(kept).shap_values(rows), explainer.shap_values(rows))


def test_the_mean_after_new_observations_is_explained():
    model = fitted(means.ConstantMean(), scaled(ard(kernels.RBFKernel)))
    x, y = data(torch.float64, seed=1)
    with torch.no_grad():
        model(x[:1])
        updated = model.get_fantasy_model(x[:3], y[:3])
    check(updated, torch.float64)
