"""Every kernel and estimator class of scikit-learn is supported, or refused by its name.

What is supported is what docs/supported-models.md says; the tables there are read and tried.
"""

import inspect
import re
import tomllib
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as gp_kernels
from sklearn.base import is_classifier
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils import all_estimators

import pkex
from pkex.adapters.registry import reads_probabilities

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "supported-models.md").read_text(encoding="utf-8")

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(30, 3)))
Y = X[:, 0] + np.sin(X[:, 1])
FITTED = SVR().fit(X, Y)


def table(title):
    """The rows of the table in a section, each a list of its cells."""
    section = re.search(rf"^## {title}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    rows = [line.strip()[1:-1].split("|") for line in section.splitlines() if line[:1] == "|"]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


def names_of(title, column=0):
    return {name for row in table(title) for name in names_in(row[column])}


def described_models():
    """Return what the table says of each model below each bold line: its row, by title and name."""
    rows = {}
    for row in table("Models"):
        if row[0].startswith("**"):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", row[0]).split("**")[1]
        else:
            rows.setdefault(title, {}).update(dict.fromkeys(names_in(row[0]), row))
    return rows


def supported_models():
    """Return the names of the models in the table, by library."""
    names = {}
    for title, rows in described_models().items():
        names.setdefault(title.partition(":")[0], set()).update(rows)
    return names


MODELS = supported_models()["scikit-learn"]
NOT_EXPLAINED = names_of("Estimators with a kernel that are not explained")
STEPS = {
    name
    for cell, said in table("Steps of a Pipeline")
    if said.startswith("supported")
    for name in names_in(cell)
} - {"None"}

# What estimators need that have no defaults.
ARGUMENTS = {
    "base_estimator": SVR(),
    "dictionary": np.eye(3),
    "estimator": SVR(),
    "estimators": [("model", SVR())],
    "n_components": 2,
    "param_distributions": {"C": [1.0]},
    "param_grid": {"C": [1.0]},
    "regressor": SVR(),
    "steps": [("model", SVR())],
    "transformer_list": [("step", PCA())],
    "transformers": [("step", PCA(), [0])],
}


def parameters(estimator_class):
    return inspect.signature(estimator_class.__init__).parameters


def unfitted(estimator_class):
    needed = [
        name
        for name, parameter in parameters(estimator_class).items()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and name != "self"
    ]
    estimator = estimator_class(**{name: ARGUMENTS[name] for name in needed})
    return (
        estimator.set_params(encode="ordinal")
        if isinstance(estimator, KBinsDiscretizer)
        else (estimator)
    )


ESTIMATORS = dict(all_estimators())
TRANSFORMERS = {name: found for name, found in ESTIMATORS.items() if hasattr(found, "transform")}


@pytest.mark.filterwarnings("ignore:Class .* is deprecated:FutureWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_is_in_the_tables_or_refused_by_name(name):
    model = unfitted(ESTIMATORS[name])
    if name in MODELS:
        with pytest.raises(NotFittedError):
            pkex.Explainer(model)
    else:
        with pytest.raises(pkex.UnsupportedModelError, match=f"^{name} is not supported"):
            pkex.Explainer(model)


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_every_step_of_a_pipeline_is_in_the_table_or_refused_by_name(name):
    pipeline = Pipeline([("step", unfitted(TRANSFORMERS[name])), ("model", FITTED)])
    if name == "FunctionTransformer":  # learns nothing
        assert pkex.Explainer(pipeline)
    elif name in ("FeatureHasher", "HashingVectorizer"):  # learn nothing, either
        with pytest.raises(pkex.UnsupportedModelError, match="make 1048576 columns"):
            pkex.Explainer(pipeline)
    elif name in STEPS - {"ColumnTransformer", "Pipeline", "FrozenEstimator"}:
        with pytest.raises(NotFittedError):
            pkex.Explainer(pipeline)
    elif name in ("ColumnTransformer", "Pipeline", "FrozenEstimator"):
        with pytest.raises((NotFittedError, pkex.UnsupportedModelError)):
            pkex.Explainer(pipeline)
    else:
        message = f"with the step {name} |{name} followed by SVR is not supported"
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(pipeline)


def test_every_estimator_with_a_kernel_is_in_the_tables():
    with_kernel = {
        name
        for name, found in ESTIMATORS.items()
        if {"kernel", "gamma", "affinity"} & set(parameters(found))
        or found.__module__ == "sklearn.kernel_approximation"
    }
    assert with_kernel <= MODELS | NOT_EXPLAINED
    assert not MODELS & NOT_EXPLAINED


def test_the_table_names_models_of_every_library_with_an_adapter():
    adapters = {path.stem for path in (ROOT / "python/pkex/adapters").rglob("*")}
    with_adapters = {
        **{library: library.lower() for library in ("BoTorch", "SMT", "SciPy")},
        **{library: library for library in ("GPy", "bayes_opt", "interpret")},
        **{library: library for library in ("chaospy", "lifelines", "statsmodels")},
        "OpenTURNS": "openturns",
        "scikit-learn": "sklearn",
        "scikit-optimize": "skopt",
        "scikit-survival": "scikit_survival",
        "pyGAM": "pygam",
        "GPyTorch": "torch",
    }
    named = supported_models()
    assert named.keys() == {*with_adapters, "pkex"}
    assert set(with_adapters.values()) <= adapters
    assert all(named.values())


# Models that are not made of others, with what is said of each.
DESCRIBED = {
    name: row
    for title in ("scikit-learn: kernel models", "scikit-learn: linear models")
    for name, row in described_models()[title].items()
    if name in ESTIMATORS.keys() - {"Pipeline"}
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DESCRIBED)
def test_what_the_table_says_of_a_model_is_true(name):
    _, explained, _, notes = DESCRIBED[name]
    model = unfitted(ESTIMATORS[name])
    if name in ("SVC", "NuSVC"):
        model.set_params(probability=True)
    if name in ("CCA", "PLSCanonical"):
        model.set_params(n_components=1)
    target = np.stack([Y, -Y], axis=1) if name.startswith("MultiTask") else Y
    model.fit(X, np.digitize(Y, [np.median(Y)]) if is_classifier(model) else target)

    adapted = pkex.adapters.adapt(model)
    if explained.startswith("`"):
        assert adapted.method == names_in(explained)[0]
    assert (adapted.variance is not None) == notes.startswith("variance")
    if "probabilities](" not in notes:  # of some of the models in the row
        assert reads_probabilities(type(model)) == ("probabilities" in notes)
    requires_background = notes.startswith("background")
    with (
        pytest.raises(ValueError, match="background is required")
        if requires_background
        else (nullcontext())
    ):
        pkex.Explainer(model)
    assert pkex.Explainer(model, value_function="neutral")


def test_the_tables_name_nothing_that_does_not_exist():
    newer = {"FixedThresholdClassifier", "FrozenEstimator", "TunedThresholdClassifierCV"}
    older = {"PassiveAggressiveClassifier", "PassiveAggressiveRegressor"}
    named = MODELS | NOT_EXPLAINED | STEPS
    assert named <= set(ESTIMATORS) | newer | older


def test_the_errors_in_the_table_are_those_that_are_raised():
    for cell, error, _ in table("Estimators with a kernel that are not explained"):
        with pytest.raises(pkex.UnsupportedModelError) as raised:
            pkex.Explainer(unfitted(ESTIMATORS[names_in(cell)[0]]))
        assert str(raised.value).startswith(error.strip("`"))


# --- kernels ---

SUPPORTED_KERNELS = {
    "ConstantKernel": gp_kernels.ConstantKernel(),
    "RBF": gp_kernels.RBF(),
    "WhiteKernel": gp_kernels.WhiteKernel() + gp_kernels.RBF(),
    "Sum": gp_kernels.RBF() + gp_kernels.ConstantKernel(),
    "Product": gp_kernels.ConstantKernel(2.0) * gp_kernels.RBF(),
    "Exponentiation": gp_kernels.RBF() ** 2,
    "Matern": gp_kernels.Matern(),
    "RationalQuadratic": gp_kernels.RationalQuadratic(),
    "ExpSineSquared": gp_kernels.ExpSineSquared(),
    "DotProduct": gp_kernels.DotProduct(),
    "PairwiseKernel": gp_kernels.PairwiseKernel(metric="poly"),
}
REFUSED_KERNELS = {
    "ExpSineSquared": gp_kernels.ExpSineSquared(),
    "PairwiseKernel": gp_kernels.PairwiseKernel(metric="cosine"),
}


def kernel_classes():
    found = vars(gp_kernels).items()
    return {
        name
        for name, item in found
        if inspect.isclass(item)
        and issubclass(item, gp_kernels.Kernel)
        and not inspect.isabstract(item)
    }


def test_every_kernel_of_gaussian_processes_is_in_the_table():
    said = {
        name: row[1]
        for row in table("Kernels of scikit-learn's Gaussian processes")
        for name in names_in(row[0])
    }
    assert set(said) == kernel_classes()
    assert {name for name in said if said[name].startswith("supported")} == set(SUPPORTED_KERNELS)
    assert set(said) - set(SUPPORTED_KERNELS) - set(REFUSED_KERNELS) == {"CompoundKernel"}
    assert "planned" not in PAGE


@pytest.mark.parametrize("name", SUPPORTED_KERNELS)
def test_supported_kernels_of_gaussian_processes_are_explained(name):
    rows = X[:, :1] if name == "ExpSineSquared" else X
    model = GaussianProcessRegressor(SUPPORTED_KERNELS[name], alpha=1e-6, optimizer=None)
    explanation = pkex.Explainer(model.fit(rows, Y))(rows)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(rows), atol=1e-4)


@pytest.mark.parametrize("name", REFUSED_KERNELS)
def test_other_kernels_of_gaussian_processes_are_refused_as_the_table_says(name):
    model = GaussianProcessRegressor(
        gp_kernels.RBF() + REFUSED_KERNELS[name], optimizer=None, alpha=10.0
    ).fit(X, Y)
    (said,) = [
        row[1] for row in table("Kernels of scikit-learn's Gaussian processes") if name in row[0]
    ]
    error = re.search(r": `(.*)`", said)[1]
    with pytest.raises(pkex.UnsupportedModelError, match=re.escape(error)):
        pkex.Explainer(model)


@pytest.mark.filterwarnings("ignore:Singular matrix in solving dual problem:UserWarning")
def test_every_pairwise_kernel_is_supported_or_refused_by_name():
    for kernel in PAIRWISE_KERNEL_FUNCTIONS:
        model = KernelRidge(kernel=kernel, gamma=0.5).fit(X, Y)
        if kernel in ("rbf", "laplacian", "chi2", "linear", "poly", "polynomial"):
            assert pkex.Explainer(model)
        else:
            assert f"`{kernel}`" in PAGE
            with pytest.raises(pkex.UnsupportedModelError, match=f"with kernel '{kernel}'"):
                pkex.Explainer(model)


@pytest.mark.parametrize("machine", [SVC, SVR, NuSVC, NuSVR, OneClassSVM])
def test_every_kernel_of_support_vector_machines_is_supported_or_refused_by_name(machine):
    (named, *_) = machine._parameter_constraints["kernel"]
    target = Y if "SVR" in machine.__name__ else np.digitize(Y, [np.median(Y)])
    for kernel in sorted(named.options):
        rows = X @ X.T if kernel == "precomputed" else X
        model = machine(kernel=kernel).fit(rows, target)
        if kernel in ("rbf", "poly", "linear"):
            assert pkex.Explainer(model)
        else:
            assert f"`{kernel}`" in PAGE
            with pytest.raises(pkex.UnsupportedModelError, match=f"with kernel '{kernel}'"):
                pkex.Explainer(model)


# --- versions ---


def test_the_oldest_versions_are_those_of_the_table_and_of_the_package():
    oldest = dict(
        re.findall(r"^([\w-]+)==(\d+\.\d+)", (ROOT / "tools/oldest.txt").read_text(), re.MULTILINE)
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = dict(
        requirement.split(">=")
        for requirement in (*project["dependencies"], *(one for extra in extras for one in extra))
    )
    # Those of torch are tested in an environment of their own, and of Dask the newest alone.
    dask = "dask[array,dataframe,distributed]"
    for library in declared.keys() - {"botorch", "gpytorch", dask}:
        assert oldest[library] == declared[library], library
    pinned = {library.lower(): version for library, version in oldest.items()}
    said = {library.lower(): version for library, version, _ in table("Versions")}
    assert len(said) == 13
    for library, version in said.items():
        assert version == {**pinned, **declared}[library], library
