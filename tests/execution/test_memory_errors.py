"""Libraries that have too little memory end in a MemoryError, whatever they raise themselves."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVR

import pkex
from pkex.execution.memory import is_of_memory, memory_errors

X = np.random.default_rng(0).normal(size=(20, 5))
Y = X[:, 0] + X[:, 1]
MACHINE = SVR().fit(X, Y)
PROCESS = GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None).fit(X, Y)
LANDMARKS = pkex.Observational(n_landmarks=5)

# What numpy, LAPACK's wrappers, SciPy and torch raise.
ERRORS = {
    "array": MemoryError("Unable to allocate 6.18 GiB for an array"),
    "numpy": ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than"),
    "shape": ValueError("Maximum allowed dimension exceeded"),
    "LAPACK": np.linalg.LinAlgError("Memory allocation error in dsyevd"),
    "torch": RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes"),
}
# The function of a library that fails, and a call that needs it.
CALLS = {
    "observational": (
        (scipy.linalg, "cho_factor"),
        lambda: pkex.Explainer(MACHINE, X, value_function="observational")(X[:2]),
    ),
    "landmarks": (
        (scipy.linalg, "solve_triangular"),
        lambda: pkex.Explainer(MACHINE, X, value_function=LANDMARKS)(X[:2]),
    ),
    "sampled coalitions": (
        (scipy.linalg, "cho_factor"),
        lambda: pkex.Explainer(MACHINE, X, value_function="observational").estimate(
            X[:2], n_coalitions=20
        ),
    ),
    "uncertainty": (
        (np.linalg, "eigh"),
        lambda: pkex.Explainer(PROCESS)(X[:2], uncertainty=True),
    ),
    "draws": (
        (scipy.linalg, "solve_triangular"),
        lambda: pkex.Explainer(PROCESS, X)(X, uncertainty=True).importance(samples=10),
    ),
}


def failing(monkeypatch, module, name, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr(module, name, fail)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("call", CALLS)
def test_a_failure_for_lack_of_memory_is_a_memory_error(monkeypatch, call, error):
    (module, name), compute = CALLS[call]
    failing(monkeypatch, module, name, error)
    with pytest.raises(MemoryError, match=str(error).split(";")[0]) as raised:
        compute()
    assert raised.value is error or "compute fewer rows at a time" in str(raised.value)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_a_model_that_lacks_memory_is_not_unsupported(monkeypatch, error):
    failing(monkeypatch, SVR, "predict", error)
    with pytest.raises(MemoryError):
        pkex.Explainer(MACHINE)


def test_other_failures_stay_what_they_are(monkeypatch):
    failing(monkeypatch, scipy.linalg, "cho_factor", np.linalg.LinAlgError("not positive"))
    with pytest.raises(ValueError, match="is not positive definite on the background"):
        CALLS["observational"][1]()
    for error in (KeyError("memory"), pkex.UnsupportedModelError("not enough memory")):
        with pytest.raises(type(error)), memory_errors():
            raise error


def test_an_error_that_follows_from_a_lack_of_memory_is_one():
    error = ValueError("solving failed")
    assert not is_of_memory(error)
    error.__cause__ = MemoryError()
    assert is_of_memory(error)
