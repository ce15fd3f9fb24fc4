"""Models of GPyTorch and BoTorch, and their values by brute force through their own posteriors."""

import gpytorch
import numpy as np
import torch
from brute_force import interventional
from gpytorch.distributions import MultitaskMultivariateNormal, MultivariateNormal

import pkex

D = 4
# Of values against brute force, relative to the largest prediction.
TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4}


class Exact(gpytorch.models.ExactGP):
    """As users write it; `outputs` says how several are put together."""

    def __init__(self, x, y, mean, covar, likelihood=None, outputs=None):
        super().__init__(x, y, likelihood or gpytorch.likelihoods.GaussianLikelihood())
        self.mean_module, self.covar_module, self.outputs = mean, covar, outputs

    def forward(self, x):
        mean, covar = self.mean_module(x), self.covar_module(x)
        if self.outputs == "coupled":
            return MultitaskMultivariateNormal(mean, covar)
        prior = MultivariateNormal(mean, covar)
        if self.outputs == "tasks":
            return MultitaskMultivariateNormal.from_batch_mvn(prior)
        return prior


class Approximate(gpytorch.models.ApproximateGP):
    def __init__(self, strategy, mean, covar):
        super().__init__(strategy(self))
        self.mean_module, self.covar_module = mean, covar

    def forward(self, x):
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


def moved(model, seed=0):
    """The model with all parameters that it learns changed a little, as fitting does."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            change = 0.3 * torch.rand(parameter.shape, generator=generator, dtype=torch.float64)
            parameter += change.to(parameter)
    return model


def rows_near(points, seed=0):
    """Two rows to explain, and four as a background, in the columns of points (n, d)."""
    points = points.detach().double().numpy()
    shuffled = np.random.default_rng(seed).permutation(points)
    # Numbers that are the same in single precision.
    between = 0.75 * shuffled[:2] + 0.25 * shuffled[2:4]
    return between.astype(np.float32).astype(np.float64), points[4:8]


def assert_explained(model, own, rows, background, tolerance, target=None):
    """Values equal brute force through `own`, a function from rows to (n,) or (n, outputs)."""
    explainer = pkex.Explainer(model, background, target=target)
    predicted = own(np.concatenate([rows, background]))
    scale = np.abs(predicted).max()
    values = explainer.shap_values(rows)
    assert values.shape == (*rows.shape, *predicted.shape[1:])
    for row, found in zip(rows, values, strict=True):
        reference, base = interventional(own, row, background)
        np.testing.assert_allclose(found, reference.values, rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(explainer.expected_value, base, rtol=0, atol=tolerance * scale)


def mean_of(model, dtype, *, batch_first=False):
    """A GPyTorch model's own mean, of NumPy's rows."""

    def own(rows):
        without_variances = gpytorch.settings.skip_posterior_variances()
        with torch.no_grad(), gpytorch.settings.debug(False), without_variances:
            mean = model(torch.as_tensor(rows, dtype=dtype)).mean
        mean = mean.double().numpy()
        return mean.T if batch_first else mean

    return own


def variance_of(model, dtype, *, predictive=False, batch_first=False):
    """A GPyTorch model's own variance, of NumPy's rows."""

    def own(rows):
        with torch.no_grad(), gpytorch.settings.debug(False):
            found = model(torch.as_tensor(rows, dtype=dtype))
            found = model.likelihood(found) if predictive else found
        variance = found.variance.detach().double().numpy()
        return variance.T if batch_first else variance

    return own


def assert_sure(model, covariance, rows, background, tolerance):
    """Covariances of values add up to that of the difference of a row and the background.

    Parameters
    ----------
    covariance : callable
        From rows to their covariances, (n, n) or (n, n, outputs).
    """
    explanation = pkex.Explainer(model, background)(rows, uncertainty=True)
    weights = np.array([1.0, *[-1.0 / len(background)] * len(background)])
    for number, row in enumerate(rows):
        of_rows = covariance(np.concatenate([row[None], background]))
        expected = np.einsum("i,ij...,j->...", weights, of_rows, weights)
        found = explanation.covariance(number).sum(axis=(0, 1))
        scale = np.abs(of_rows).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def posterior_mean_of(model, dtype):
    """A BoTorch model's own mean, of NumPy's rows; of several outputs with an axis of them."""

    def own(rows):
        with torch.no_grad():
            posterior = model.posterior(torch.as_tensor(rows, dtype=dtype))
            mean = getattr(posterior, "mixture_mean", posterior.mean).double().numpy()
        return mean if mean.shape[1] > 1 else mean[:, 0]

    return own
