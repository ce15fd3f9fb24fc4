"""What of GPyTorch's models is refused, by name, with a remedy."""

import pytest
import torch
from gpytorch import distributions, kernels, likelihoods, means, models
from sklearn.exceptions import NotFittedError
from torch_models import Exact, moved

import pkex

X = torch.linspace(0.0, 1.0, 36, dtype=torch.float64).reshape(12, 3).sin()
Y = X.sum(dim=1)


def of(covar, mean=None, model=Exact):
    return moved(model(X, Y, mean or means.ZeroMean(), covar).double()).eval()


def refuses(model, message, error=pkex.UnsupportedModelError):
    with pytest.raises(error, match=message):
        pkex.Explainer(model)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.CosineKernel(),
        kernels.SpectralMixtureKernel(num_mixtures=2, ard_num_dims=3),
        kernels.PiecewisePolynomialKernel(),
        kernels.RFFKernel(num_samples=5),
        kernels.ScaleKernel(kernels.CosineKernel()),
        kernels.RBFKernel() + kernels.CosineKernel(),
        kernels.RBFKernel(active_dims=[0]) * kernels.CosineKernel(active_dims=[1]),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_other_kernels_are_refused_by_name(kernel):
    names = [type(part).__name__ for part in kernel.modules()]
    unknown = next(n for n in names if n.startswith(("Cosine", "Spectral", "Piecewise", "RFF")))
    refuses(
        of(kernel), f"^Exact with {unknown} in its kernel is not supported.*supported are ScaleKer"
    )


def test_an_approximated_kernel_is_refused_with_what_to_fit_instead():
    likelihood = likelihoods.GaussianLikelihood()
    sparse = kernels.InducingPointKernel(kernels.RBFKernel(), X[:4], likelihood)
    refuses(of(sparse), "InducingPointKernel in its kernel.*VariationalStrategy of the same points")


def test_a_subclass_of_a_kernel_is_another_kernel():
    class Halved(kernels.RBFKernel):
        def forward(self, x1, x2, **options):
            return super().forward(x1, x2, **options) * 0.5

    refuses(of(Halved()), "^Exact with Halved in its kernel is not supported")


def test_other_means_are_refused_by_name():
    class Squared(means.Mean):
        def forward(self, x):
            return x.square().sum(dim=-1)

    refuses(of(kernels.RBFKernel(), Squared()), "^Exact with the mean Squared is not supported: ")


def test_columns_made_of_others_are_refused():
    class Deep(Exact):
        def forward(self, x):
            return super().forward(x @ torch.ones(3, 3, dtype=torch.float64))

    refuses(of(kernels.RBFKernel(), model=Deep), "^Deep with the kernel of Deep.forward is not sup")


def test_a_mean_that_is_added_in_forward_is_refused():
    class Shifted(Exact):
        def forward(self, x):
            prior = super().forward(x)
            shifted = prior.mean + 0.1 * x[:, 0].square()
            return distributions.MultivariateNormal(shifted, prior.lazy_covariance_matrix)

    refuses(of(kernels.RBFKernel(), model=Shifted), "^Shifted.posterior mean returns .* for a row")


def test_several_inputs_are_refused():
    class Hadamard(models.ExactGP):
        def forward(self, x, task):
            prior = kernels.RBFKernel()(x)
            return distributions.MultivariateNormal(x[:, 0], prior)

    tasks = torch.zeros(12, 1, dtype=torch.long)
    model = Hadamard((X, tasks), Y, likelihoods.GaussianLikelihood())
    refuses(model, "^Hadamard with 2 inputs is not supported.*MultitaskKernel")


def test_batches_of_two_axes_are_refused():
    inputs, targets = X.expand(2, 3, 12, 3), Y.expand(2, 3, 12)
    model = Exact(inputs, targets, means.ZeroMean(), kernels.RBFKernel()).double()
    refuses(model, r"^Exact with the batch shape \(2, 3\) is not supported: a batch of one")


def test_models_without_data_are_refused():
    model = Exact(None, None, means.ZeroMean(), kernels.RBFKernel())
    refuses(model, "^Exact has no training data yet: call set_train_data", NotFittedError)


def test_single_precision_that_is_too_coarse_for_the_length_scales_is_refused_with_a_remedy():
    kernel = kernels.RBFKernel()
    kernel.lengthscale = 0.5
    model = Exact(100.0 * X.float(), Y.float(), means.ZeroMean(), kernel).eval()
    refuses(model, "^Exact has length-scales that are so short.*torch.float64, or scale")


def test_a_bound_method_says_to_pass_the_model():
    model = of(kernels.RBFKernel())
    refuses(model.forward, "^Exact.forward cannot be explained. Pass the model itself, whose")


def test_models_whose_parts_have_other_names_are_refused_with_a_remedy():
    class Renamed(models.ExactGP):
        def __init__(self):
            super().__init__(X, Y, likelihoods.GaussianLikelihood())
            self.mean, self.kernel = means.ZeroMean(), kernels.RBFKernel()

        def forward(self, x):
            return distributions.MultivariateNormal(self.mean(x), self.kernel(x))

    refuses(Renamed().double(), r"^Renamed without mean_module is not supported: name the modules")


def test_an_unknown_kernel_is_named_also_where_the_model_predicts_otherwise():
    refuses(of(kernels.ScaleKernel(kernels.RFFKernel(num_samples=5))), r"^Exact with RFFKernel in")
