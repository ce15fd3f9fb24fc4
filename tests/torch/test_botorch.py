"""Models of BoTorch: their means in a user's units, by brute force through their own posterior."""

import pickle

import numpy as np
import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import (
    AdditiveMapSaasSingleTaskGP,
    EnsembleMapSaasSingleTaskGP,
    KroneckerMultiTaskGP,
    MixedSingleTaskGP,
    ModelListGP,
    SingleTaskGP,
    SingleTaskVariationalGP,
)
from botorch.models.fully_bayesian import (
    FullyBayesianLinearSingleTaskGP,
    SaasFullyBayesianSingleTaskGP,
)
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.input import (
    ChainedInputTransform,
    InputStandardize,
    Log10,
    Normalize,
    Round,
    Warp,
)
from botorch.models.transforms.outcome import ChainedOutcomeTransform, Standardize
from gpytorch import kernels, means
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch_models import (
    TOLERANCES,
    D,
    Exact,
    assert_explained,
    moved,
    posterior_mean_of,
    rows_near,
)

import pkex

LOWEST, HIGHEST = torch.tensor([1.0, 100.0, -3.0, 0.1]), torch.tensor([5.0, 300.0, 3.0, 10.0])
BOUNDS = torch.stack([LOWEST, HIGHEST])

# Data that are not scaled, as users have them, and roots of singular matrices.
pytestmark = [
    pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning"),
    pytest.mark.filterwarnings("ignore:Using an (input|outcome) transform with"),
    pytest.mark.filterwarnings("ignore:A not p.d., added jitter"),
]


def data(dtype, n_outputs=1):
    generator = torch.Generator().manual_seed(0)
    unit = torch.rand(25, D, generator=generator)
    curve = 50.0 + 10.0 * torch.sin(3.0 * unit.sum(dim=1))
    outputs = torch.stack([curve + 5.0 * i * unit[:, i] for i in range(n_outputs)], dim=-1)
    return (LOWEST + (HIGHEST - LOWEST) * unit).to(dtype), outputs.to(dtype)


def single(n_outputs=1, **options):
    def build(dtype):
        own = {name: make(dtype) for name, make in options.items()}
        return SingleTaskGP(*data(dtype, n_outputs), **own)

    return build


def normalized(dtype):
    return Normalize(D)


def matern(dtype):
    return kernels.ScaleKernel(kernels.MaternKernel(2.5, ard_num_dims=D))


def chained(*makers):
    return lambda dtype: ChainedInputTransform(
        **{f"step{i}": make(dtype) for i, make in enumerate(makers)}
    )


def warp(dtype):
    transform = Warp(d=D, indices=[1, -1], bounds=BOUNDS.to(dtype))
    transform._set_concentration(0, torch.tensor([1.5, 0.7]))
    transform._set_concentration(1, torch.tensor([0.6, 2.0]))
    return transform


def scaled_twice(dtype):
    chain = ChainedOutcomeTransform(first=Standardize(1), second=Standardize(1))
    model = SingleTaskGP(*data(dtype), input_transform=Normalize(D), outcome_transform=chain)
    # By itself it has nothing left to do.
    chain["second"].means += 0.5
    chain["second"].stdvs *= 2.0
    return model


def unwarp(dtype):
    """What undoes another one."""
    transform = Warp(d=D, indices=[1], bounds=BOUNDS.to(dtype), reverse=True)
    transform._set_concentration(0, torch.tensor([1.2]))
    return transform


def mixed(dtype):
    x, y = data(dtype)
    x[:, [0, 2]] = x[:, [0, 2]].round()
    some = Normalize(D, indices=[1, 3])
    return MixedSingleTaskGP(x, y, cat_dims=[0, 2], input_transform=some)


def categories_alone(dtype):
    x, y = data(dtype)
    return MixedSingleTaskGP((x / 50.0).round(), y, cat_dims=list(range(D)))


def listed(dtype):
    x, y = data(dtype, 2)
    first = SingleTaskGP(x[:20], y[:20, :1], input_transform=Normalize(D))
    second = SingleTaskGP(x, y[:, 1:], input_transform=Normalize(D), covar_module=matern(dtype))
    return ModelListGP(first, second)


def sampled(kind, names, **options):
    """A fully Bayesian model with three samples of its parameters."""

    def build(dtype):
        x, y = data(dtype)
        model = kind(x, y, input_transform=Normalize(D), **options)
        generator = torch.Generator().manual_seed(0)
        shapes = {"mean": (3,), "noise": (3,), "outputscale": (3,)}
        samples = {
            name: 0.4 + torch.rand(shapes.get(name, (3, D)), generator=generator) for name in names
        }
        model.load_mcmc_samples({name: own.to(dtype) for name, own in samples.items()})
        return model

    return build


def variational(n_outputs):
    def build(dtype):
        torch.manual_seed(0)
        x, y = data(dtype, n_outputs)
        options = {"num_outputs": n_outputs, "inducing_points": 10}
        model = SingleTaskVariationalGP(
            x, y, **options, input_transform=Normalize(D), outcome_transform=Standardize(n_outputs)
        )
        model.model((x / HIGHEST).to(dtype))  # as the first step of training
        return model

    return build


def kronecker(dtype):
    x, y = data(dtype, 3)
    units = {"input_transform": Normalize(D), "outcome_transform": Standardize(3)}
    return KroneckerMultiTaskGP(x, y, **units)


def ensemble(kind):
    return lambda dtype: kind(*data(dtype), num_taus=3, input_transform=Normalize(D))


class Own(Exact, GPyTorchModel):
    """As BoTorch's guide has it, GPyTorch's class first."""

    _num_outputs = 1


def own(dtype):
    x, y = data(dtype)
    kernel = kernels.RBFKernel(ard_num_dims=D)
    kernel.lengthscale = HIGHEST - LOWEST
    model = Own(x, Standardize(1)(y)[0][:, 0], means.ConstantMean(), kernel)
    model.outcome_transform = Standardize(1)
    model.outcome_transform(y)
    return model.to(x)


SAAS = ["mean", "noise", "lengthscale", "outputscale"]
MODELS = {
    "SingleTaskGP": single(input_transform=normalized),
    "of several outputs": single(3, input_transform=normalized),
    "of Matern's kernel": single(
        input_transform=lambda dtype: InputStandardize(D), covar_module=matern
    ),
    "of a linear mean": single(
        input_transform=normalized, mean_module=lambda dtype: means.LinearMean(D)
    ),
    "without outcome transform": single(
        input_transform=normalized, outcome_transform=lambda dtype: None
    ),
    "outcomes scaled twice": scaled_twice,
    "Round, Log10": single(
        input_transform=chained(lambda dtype: Round([0]), lambda dtype: Log10([3]), normalized)
    ),
    "Round of normalized columns": single(
        input_transform=chained(
            normalized,
            lambda dtype: Normalize(D, bounds=BOUNDS.to(dtype), reverse=True),
            lambda dtype: Round([1]),
            normalized,
        )
    ),
    "Warp": single(input_transform=chained(warp, normalized)),
    "Warp, undone": single(input_transform=chained(warp, unwarp, normalized)),
    "MixedSingleTaskGP": mixed,
    "MixedSingleTaskGP of categories": categories_alone,
    "ModelListGP": listed,
    "SaasFullyBayesianSingleTaskGP": sampled(SaasFullyBayesianSingleTaskGP, SAAS),
    "SaasFullyBayesianSingleTaskGP, warped": sampled(
        SaasFullyBayesianSingleTaskGP, [*SAAS, "c0", "c1"], use_input_warping=True
    ),
    "FullyBayesianLinearSingleTaskGP": sampled(
        FullyBayesianLinearSingleTaskGP, ["mean", "noise", "weight_variance"]
    ),
    "SingleTaskVariationalGP": variational(1),
    "SingleTaskVariationalGP of several outputs": variational(2),
    "KroneckerMultiTaskGP": kronecker,
    "EnsembleMapSaasSingleTaskGP": ensemble(EnsembleMapSaasSingleTaskGP),
    "AdditiveMapSaasSingleTaskGP": ensemble(AdditiveMapSaasSingleTaskGP),
    "a model of a user": own,
}


def check(model, dtype):
    rows, background = rows_near(data(dtype)[0])
    assert_explained(model, posterior_mean_of(model, dtype), rows, background, TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_the_posterior(name, dtype):
    model = MODELS[name](dtype).eval()
    if "FullyBayesian" not in name and "Warp" not in name:
        moved(model)
    check(model, dtype)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("covar", [None, matern])
def test_values_of_fitted_models_equal_brute_force(covar, dtype):
    options = {"covar_module": covar} if covar else {}
    model = single(input_transform=normalized, **options)(dtype)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    check(model, dtype)


def test_several_outputs_have_an_axis_and_one_has_none():
    rows = data(torch.float64)[0][:2]
    for name, shape in (("SingleTaskGP", (2, D)), ("of several outputs", (2, D, 3))):
        assert pkex.Explainer(MODELS[name](torch.float64)).shap_values(rows).shape == shape
    one = ModelListGP(MODELS["SingleTaskGP"](torch.float64))
    assert pkex.Explainer(one).shap_values(rows).shape == (2, D, 1)


def test_without_a_background_absent_columns_are_drawn_from_the_training_points():
    model = MODELS["Round, Log10"](torch.float64)
    x = data(torch.float64)[0]
    explanation = pkex.Explainer(model)(x[:3])
    own = posterior_mean_of(model, torch.float64)(x[:3])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, own, rtol=1e-9)
    expected = pkex.Explainer(model, x, value_function="marginal").shap_values(x[:3])
    np.testing.assert_allclose(explanation.values, expected, rtol=1e-9, atol=1e-9)


def test_categories_are_no_numbers():
    """Of a column of categories it counts alone which are equal."""
    model = mixed(torch.float64)
    x = data(torch.float64)[0]
    x[:, [0, 2]] = x[:, [0, 2]].round()
    rows = x[:2].clone()
    rows[:, 0] = torch.tensor([77.0, -3.0])  # unknown ones, which are alike
    values = pkex.Explainer(model, x[:4]).shap_values(rows)
    rows[:, 0] = 0.5
    np.testing.assert_allclose(
        pkex.Explainer(model, x[:4]).shap_values(rows), values, rtol=0, atol=1e-9
    )


def test_an_explainer_keeps_nothing_of_torch_and_pickles():
    for name in ("Round, Log10", "Warp", "SaasFullyBayesianSingleTaskGP, warped"):
        explainer = pkex.Explainer(MODELS[name](torch.float64))
        kept = pickle.dumps(explainer)
        assert b"torch" not in kept
        rows = data(torch.float64)[0][:2]
        assert np.array_equal(pickle.loads(kept).shap_values(rows), explainer.shap_values(rows))


def test_the_training_of_a_model_can_go_on():
    model = single(input_transform=normalized)(torch.float64)
    assert pkex.Explainer(model)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    check(model, torch.float64)


def test_candidates_can_be_differentiated_as_before():
    model = single(input_transform=normalized)(torch.float64)
    assert pkex.Explainer(model)
    x = data(torch.float64)[0][:2].requires_grad_()
    (slope,) = torch.autograd.grad(model.posterior(x).mean.sum(), x)
    assert torch.all(slope != 0.0)
