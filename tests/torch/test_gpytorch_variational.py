"""Variational Gaussian processes of GPyTorch: their means, by brute force through themselves."""

import pytest
import torch
from gpytorch import kernels, means, variational
from sklearn.exceptions import NotFittedError
from torch_models import TOLERANCES, Approximate, D, assert_explained, mean_of, moved, rows_near

import pkex

ONE, THREE = torch.Size([]), torch.Size([3])


def of_tasks(base):
    return variational.IndependentMultitaskVariationalStrategy(base, num_tasks=3)


def mixed(base):
    return variational.LMCVariationalStrategy(base, num_tasks=5, num_latents=3)


def built(kind, batch_shape=ONE, wrap=None, kernel_shape=None, distribution=None):
    kernel_shape = batch_shape if kernel_shape is None else kernel_shape
    generator = torch.Generator().manual_seed(0)
    points = 2.0 * torch.rand(*batch_shape, 12, D, generator=generator)
    distribution = distribution or variational.CholeskyVariationalDistribution

    def strategy(model):
        base = kind(model, points, distribution(12, batch_shape=batch_shape))
        return wrap(base) if wrap else base

    base = kernels.RBFKernel(ard_num_dims=D, batch_shape=kernel_shape)
    covar = kernels.ScaleKernel(base, batch_shape=kernel_shape)
    return Approximate(strategy, means.LinearMean(D, batch_shape=kernel_shape), covar)


def trained(dtype, *args, **options):
    torch.manual_seed(0)
    model = built(*args, **options).to(dtype)
    model(torch.ones(3, D, dtype=dtype))  # as the first step of training, gives it a distribution
    return moved(model).eval()


WHITENED, PLAIN = variational.VariationalStrategy, variational.UnwhitenedVariationalStrategy
MODELS = {
    "whitened": (WHITENED,),
    "not whitened": (PLAIN,),
    "batch": (WHITENED, THREE),
    "batch, not whitened": (PLAIN, THREE),
    "tasks": (WHITENED, THREE, of_tasks),
    "tasks of one process": (WHITENED, ONE, of_tasks),
    "tasks of one kernel": (WHITENED, THREE, of_tasks, ONE),
    "mixed": (WHITENED, THREE, mixed),
    "mixed, of one kernel": (WHITENED, THREE, mixed, ONE),
    "a distribution without width": (
        WHITENED,
        ONE,
        None,
        ONE,
        variational.DeltaVariationalDistribution,
    ),
}


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_the_model(name, dtype):
    model = trained(dtype, *MODELS[name])
    rows, background = rows_near(2.0 * torch.rand(12, D))
    own = mean_of(model, dtype, batch_first="batch" in name)
    assert_explained(model, own, rows, background, TOLERANCES[dtype])


def test_the_model_stays_as_it_is():
    model = trained(torch.float64, WHITENED).train()
    assert pkex.Explainer(model)
    assert model.training
    # Its objective can be differentiated as before.
    mean = model.variational_strategy._variational_distribution.variational_mean
    (slope,) = torch.autograd.grad(model.variational_strategy.kl_divergence(), mean)
    assert torch.any(slope != 0.0)


def test_models_that_were_never_called_are_refused():
    with pytest.raises(NotFittedError, match=r"^Approximate is not trained: its variational"):
        pkex.Explainer(built(WHITENED))


def test_other_strategies_are_refused_by_name():
    model = trained(
        torch.float64,
        variational.CiqVariationalStrategy,
        distribution=variational.NaturalVariationalDistribution,
    )
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"^Approximate with CiqVariationalStrategy"
    ):
        pkex.Explainer(model)
