"""BoTorch's model of preferences: its utility, and what speaks for one of two rows."""

import numpy as np
import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import PairwiseGP
from botorch.models.pairwise_gp import PairwiseLaplaceMarginalLogLikelihood
from botorch.models.transforms.input import ChainedInputTransform, Log10, Normalize
from brute_force import interventional
from gpytorch import kernels
from sklearn.exceptions import NotFittedError
from torch_models import TOLERANCES, assert_explained, posterior_mean_of, rows_near

import pkex

D = 3

# Of single precision, which users have.
pytestmark = pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")


def data(dtype=torch.float64, batch=()):
    generator = torch.Generator().manual_seed(0)
    points = 1.0 + 4.0 * torch.rand(*batch, 20, D, generator=generator)
    utility = points[..., 0] + torch.sin(points[..., 1]) * points[..., 2]
    pairs = torch.combinations(torch.arange(20))[::4]
    better = utility[..., pairs[:, 0]] > utility[..., pairs[:, 1]]
    return points.to(dtype), torch.where(better[..., None], pairs, pairs.flip(-1))


OPTIONS = {
    "default": dict,
    "normalized": lambda: {"input_transform": Normalize(D)},
    "of logarithms": lambda: {
        "input_transform": ChainedInputTransform(log=Log10([1]), unit=Normalize(D))
    },
    "of Matern's kernel": lambda: {
        "input_transform": Normalize(D),
        "covar_module": kernels.ScaleKernel(kernels.MaternKernel(2.5, ard_num_dims=D)),
    },
}


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", OPTIONS)
def test_values_of_utilities_equal_brute_force_through_the_posterior(name, dtype):
    points, comparisons = data(dtype)
    model = PairwiseGP(points, comparisons, **OPTIONS[name]()).eval()
    rows, background = rows_near(points)
    assert_explained(model, posterior_mean_of(model, dtype), rows, background, TOLERANCES[dtype])


def test_values_of_a_preference_are_the_difference_of_two_explanations():
    points, comparisons = data()
    model = PairwiseGP(points, comparisons, input_transform=Normalize(D))
    fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
    (left, right), background = rows_near(points)
    explainer, own = pkex.Explainer(model, background), posterior_mean_of(model, torch.float64)
    found = explainer.shap_values(left[None]) - explainer.shap_values(right[None])

    def preference(rows):
        return own(rows[:, :D]) - own(rows[:, D:])

    # Of pairs of background rows; each feature of both items is known, or not, at a time.
    pairs = np.hstack([np.repeat(background, 4, axis=0), np.tile(background, (4, 1))])
    groups = [[j, D + j] for j in range(D)]
    both = np.concatenate([left, right])
    expected, empty = interventional(preference, both, pairs, groups=groups)
    np.testing.assert_allclose(found[0], expected.values, rtol=0, atol=1e-9)
    assert abs(empty) <= 1e-12
    np.testing.assert_allclose(found.sum(), preference(both[None])[0], rtol=0, atol=1e-9)


def test_without_a_background_features_are_drawn_from_the_points():
    points, comparisons = data()
    model = PairwiseGP(points, comparisons)
    explanation = pkex.Explainer(model)(points[:3])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(
        total, posterior_mean_of(model, torch.float64)(points[:3]), rtol=1e-9
    )


def test_what_is_no_single_utility_of_columns_is_refused():
    with pytest.raises(NotFittedError, match="PairwiseGP has no comparisons yet: call set_train"):
        pkex.Explainer(PairwiseGP(None, None))
    with pytest.raises(pkex.UnsupportedModelError, match="PairwiseGP of a batch is not supported"):
        pkex.Explainer(PairwiseGP(*data(batch=(2,))))
    kernel = kernels.ScaleKernel(kernels.PiecewisePolynomialKernel())
    with pytest.raises(pkex.UnsupportedModelError, match="PairwiseGP with PiecewisePolynomialK"):
        pkex.Explainer(PairwiseGP(*data(), covar_module=kernel))
    with pytest.raises(pkex.UnsupportedModelError, match="variance"):
        pkex.Explainer(PairwiseGP(*data()), target="variance")
