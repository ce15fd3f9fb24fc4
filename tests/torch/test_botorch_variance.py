"""Variances of BoTorch's models in a user's units, by brute force through their own posterior."""

import numpy as np
import pytest
import torch
from botorch.models import (
    EnsembleMapSaasSingleTaskGP,
    KroneckerMultiTaskGP,
    MixedSingleTaskGP,
    ModelListGP,
    SingleTaskGP,
    SingleTaskVariationalGP,
)
from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
from botorch.models.transforms.input import Normalize
from botorch.models.transforms.outcome import Standardize
from torch_models import D, assert_explained, assert_sure, moved, rows_near

import pkex

LOWEST, HIGHEST = torch.tensor([1.0, 100.0, -3.0, 0.1]), torch.tensor([5.0, 300.0, 3.0, 10.0])
pytestmark = [
    pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning"),
    pytest.mark.filterwarnings("ignore:Using an (input|outcome) transform with"),
    pytest.mark.filterwarnings("ignore:A not p.d., added jitter"),
]


def data(n_outputs=1, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(25, D, generator=generator)
    curve = 50.0 + 10.0 * torch.sin(3.0 * unit.sum(dim=1))
    outputs = torch.stack([curve + 5.0 * i * unit[:, i] for i in range(n_outputs)], dim=-1)
    return (LOWEST + (HIGHEST - LOWEST) * unit).to(dtype), outputs.to(dtype)


def single(n_outputs=1, dtype=torch.float64):
    return SingleTaskGP(*data(n_outputs, dtype), input_transform=Normalize(D))


def mixed():
    x, y = data()
    x[:, [0, 2]] = x[:, [0, 2]].round()
    some = Normalize(D, indices=[1, 3])
    return MixedSingleTaskGP(x, y, cat_dims=[0, 2], input_transform=some)


def variational():
    x, y = data()
    model = SingleTaskVariationalGP(
        x,
        y,
        inducing_points=x[:10].clone(),
        input_transform=Normalize(D),
        outcome_transform=Standardize(1),
    )
    model.model(x[:3])
    return model


def given_noise():
    x, y = data()
    return SingleTaskGP(x, y, torch.full_like(y, 0.1), input_transform=Normalize(D))


MODELS = {
    "SingleTaskGP": single,
    "single precision": lambda: single(dtype=torch.float32),
    "two outputs": lambda: single(2),
    "MixedSingleTaskGP": mixed,
    "ModelListGP": lambda: ModelListGP(single(), mixed()),
    "SingleTaskVariationalGP": variational,
    "given noise": given_noise,
}
WITHOUT_NOISE = {"SingleTaskVariationalGP", "given noise"}


def variance_of(model, dtype, predictive=False):
    def own(rows):
        with torch.no_grad():
            tensor = torch.as_tensor(rows, dtype=dtype)
            variance = model.posterior(tensor, observation_noise=predictive).variance
        variance = variance.double().numpy()
        is_list = isinstance(model, ModelListGP)
        return variance if variance.shape[1] > 1 or is_list else variance[:, 0]

    return own


@pytest.mark.parametrize("name", MODELS)
def test_variances_equal_brute_force_through_the_posterior(name):
    model = moved(MODELS[name]())
    dtype = torch.float32 if name == "single precision" else torch.float64
    rows, background = rows_near(data()[0])
    tolerance = 1e-3 if dtype == torch.float32 else 1e-8
    assert_explained(model, variance_of(model, dtype), rows, background, tolerance, "variance")
    if name not in WITHOUT_NOISE:
        own = variance_of(model, dtype, predictive=True)
        assert_explained(model, own, rows, background, tolerance, "predictive_variance")


def test_values_are_as_sure_as_the_covariance_of_the_function_says():
    model = moved(single())
    rows, background = rows_near(data()[0])

    def covariance(rows):
        with torch.no_grad():
            return model.posterior(torch.as_tensor(rows)).distribution.covariance_matrix.numpy()

    assert_sure(model, covariance, rows, background, 1e-6)


@pytest.mark.parametrize("name", ["two outputs", "ModelListGP", "SingleTaskVariationalGP"])
def test_each_output_has_its_standard_deviations(name):
    model = moved(MODELS[name]())
    rows, background = rows_near(data()[0])
    explanation = pkex.Explainer(model, background)(rows, uncertainty=True)
    assert explanation.standard_deviations.shape == explanation.shape
    assert np.all(explanation.standard_deviations >= 0.0)
    assert explanation.standard_deviations.max() > 0.0


def sampled():
    x, y = data()
    model = SaasFullyBayesianSingleTaskGP(x, y, input_transform=Normalize(D))
    model.load_mcmc_samples(
        {
            "lengthscale": torch.tensor([[[0.5] * D], [[1.0] * D]], dtype=torch.float64),
            "outputscale": torch.tensor([1.0, 2.0], dtype=torch.float64),
            "mean": torch.tensor([0.0, 1.0], dtype=torch.float64),
            "noise": torch.tensor([[0.1], [0.2]], dtype=torch.float64),
        }
    )
    return model


def ensemble():
    return EnsembleMapSaasSingleTaskGP(*data(), num_taus=2, input_transform=Normalize(D))


@pytest.mark.parametrize(
    ("build", "target"),
    [
        (sampled, "variance"),
        (sampled, "predictive_variance"),
        (sampled, "std"),
        (ensemble, "variance"),
    ],
)
def test_the_variance_of_a_mixture_equals_brute_force(build, target):
    model = build().eval()
    rows, background = rows_near(data()[0])

    def own(rows):
        with torch.no_grad():
            noise = target == "predictive_variance"
            found = model.posterior(torch.as_tensor(rows), observation_noise=noise)
        variance = found.mixture_variance[:, 0].numpy()
        return np.sqrt(variance) if target == "std" else variance

    assert_explained(model, own, rows, background, 1e-9, target)
    with pytest.raises(pkex.UnsupportedModelError, match="a mixture of Gaussian process"):
        pkex.Explainer(model, background)(rows, uncertainty=True)


def test_tasks_that_are_solved_for_together_are_refused():
    model = KroneckerMultiTaskGP(*data(3), rank=2)
    with pytest.raises(pkex.UnsupportedModelError, match=r"^the variance of KroneckerMultiTaskGP"):
        pkex.Explainer(model, target="variance")


def test_the_noise_of_new_rows_is_refused_where_it_is_not_known():
    for name in sorted(WITHOUT_NOISE):
        with pytest.raises(pkex.UnsupportedModelError, match="target='predictive_variance' of"):
            pkex.Explainer(MODELS[name](), target="predictive_variance")
