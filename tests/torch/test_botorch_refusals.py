"""What of BoTorch's models is refused, by name, with a remedy."""

import pytest
import torch
from botorch.models import MultiTaskGP, SingleTaskGP
from botorch.models.fully_bayesian import SaasFullyBayesianSingleTaskGP
from botorch.models.transforms.input import (
    AppendFeatures,
    ChainedInputTransform,
    InputPerturbation,
    Log10,
    Normalize,
    Round,
)
from botorch.models.transforms.outcome import (
    Bilog,
    ChainedOutcomeTransform,
    Log,
    Power,
    Standardize,
)
from gpytorch.kernels import RBFKernel
from sklearn.exceptions import NotFittedError

import pkex

pytestmark = pytest.mark.filterwarnings("ignore::botorch.exceptions.InputDataWarning")

X = torch.rand(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
Y = 1.0 + X.sum(dim=1, keepdim=True)


def refuses(model, message, error=pkex.UnsupportedModelError):
    with pytest.raises(error, match=message):
        pkex.Explainer(model)


@pytest.mark.parametrize("transform", [Log(), Power(0.5), Bilog()], ids=lambda t: type(t).__name__)
def test_outcomes_that_are_not_linear_are_refused_by_name(transform):
    name = type(transform).__name__
    chained = ChainedOutcomeTransform(first=transform, second=Standardize(1))
    for own in (transform, chained):
        model = SingleTaskGP(X, Y, outcome_transform=own)
        refuses(
            model,
            rf"^SingleTaskGP with the outcome transform {name} is not supported: supported is Sta.*"
            "Fit the model to transformed outcomes",
        )


@pytest.mark.parametrize(
    "transform",
    [
        AppendFeatures(torch.zeros(1, 1, dtype=torch.float64)),
        InputPerturbation(torch.zeros(2, 3, dtype=torch.float64)),
    ],
    ids=lambda t: type(t).__name__,
)
def test_inputs_that_are_put_together_are_refused_by_name(transform):
    model = SingleTaskGP(X, Y, input_transform=transform, covar_module=RBFKernel())
    name = type(transform).__name__
    refuses(model, f"^SingleTaskGP with the input transform {name} is not supported: supported ar")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categorical_features": {1: 2}}, "Round with categorical_features is.*MixedSingleTaskGP"),
        ({"integer_indices": [0], "approximate": True}, "Round with approximate=True is not"),
    ],
)
def test_rounding_that_is_no_rounding_of_columns_is_refused(options, message):
    steps = ChainedInputTransform(a=Round(**options), b=Normalize(3))
    refuses(SingleTaskGP(X, Y, input_transform=steps), message)


def test_an_entry_that_a_transform_has_no_value_for_is_refused_by_row_and_column():
    model = SingleTaskGP(X + 1.0, Y, input_transform=Log10([1]))
    with pytest.raises(ValueError, match=r"^X has the value 0\.0 in row 0, column 1, which"):
        pkex.Explainer(model).shap_values([[1.0, 0.0, 1.0]])


def test_a_batch_of_training_data_is_refused():
    model = SingleTaskGP(X.expand(2, 12, 3), Y.expand(2, 12, 1))
    refuses(model, "^SingleTaskGP of a batch of training data is not supported: use a ModelListGP")


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_tasks_as_a_column_are_refused():
    tasks = torch.arange(12, dtype=torch.float64).remainder(2).unsqueeze(-1)
    model = MultiTaskGP(torch.cat([X, tasks], dim=1), Y, task_feature=-1)
    refuses(
        model,
        "^MultiTaskGP with PositiveIndexKernel in.*use a.*KroneckerMultiTaskGP",
    )


def test_models_that_are_not_fitted_are_refused():
    model = SaasFullyBayesianSingleTaskGP(X, Y)
    refuses(model, "^SaasFullyBayesianSingleTaskGP is not fitted: call fit_f", NotFittedError)


def test_single_precision_that_is_too_coarse_for_the_columns_is_refused_with_a_remedy():
    model = SingleTaskGP(10000.0 + X.float(), Y.float(), input_transform=Normalize(3))
    model.covar_module.lengthscale = 0.3
    refuses(model, "far from the origin.*Center and scale the features, and fit it")
