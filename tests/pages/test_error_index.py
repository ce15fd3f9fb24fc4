"""Each error on the page of errors is raised as the page says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

import pkex
from pkex.models import InterventionalRegressor, PreferenceLogistic

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^### ([^\n]+)\n\n```text\n(.*?)^```\n\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL
)
ENTRIES = {title: (message, advice) for title, message, advice in ENTRY.findall(PAGE)}
# In place of what differs from case to case, or is left out.
GAP = "…"

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
Y = X + 0.5
TEXTS = ["a good day", "a bad day"]
target = X["a"] - X["b"]
WIDE = np.random.default_rng(1).normal(size=(60, 21))


def regressor() -> SVR:
    return SVR().fit(X, target)


def classifier(n_classes: int = 2) -> SVC:
    return SVC().fit(X, np.digitize(target, [-0.5, 0.5][: n_classes - 1]))


def calibrated(rows: object = X) -> CalibratedClassifierCV:
    pipeline = make_pipeline(SVC())
    return CalibratedClassifierCV(pipeline, ensemble=False).fit(rows, np.array(target) > 0)


def with_closed_client() -> object:
    dask = pytest.importorskip("dask.distributed")
    with dask.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster:
        client = dask.Client(cluster)
        client.close()
    with joblib.parallel_config(backend="dask", client=client):
        return pkex.Explainer(regressor()).shap_values(X)


def with_missing() -> object:
    rows = X.copy()
    rows.iloc[4, 1] = np.nan
    return rows


def with_text() -> object:
    rows = X.astype(object)
    rows.iloc[4, 1] = "red"
    return rows


# By the titles on the page.
CASES: dict[str, Callable[[], object]] = {
    "The model is not fitted": lambda: pkex.Explainer(SVR()),
    "A class instead of a model": lambda: pkex.Explainer(SVR),
    "The model comes second": lambda: pkex.Explainer(X, regressor()),
    "The model is not supported": lambda: pkex.Explainer(
        RandomForestRegressor(n_estimators=2).fit(X, target)
    ),
    "A function instead of a model": lambda: pkex.Explainer(lambda rows: rows),
    "The kernel is not supported": lambda: pkex.Explainer(SVR(kernel="sigmoid").fit(X, target)),
    "A step mixes the columns of a vectorizer": lambda: pkex.Explainer(
        make_pipeline(TfidfVectorizer(), TruncatedSVD(2), SVC()).fit(TEXTS, [0, 1])
    ),
    "A single document": lambda: pkex.Explainer(
        make_pipeline(TfidfVectorizer(), SVC()).fit(TEXTS, [0, 1])
    )(TEXTS[0]),
    "Documents for a model of columns": lambda: pkex.Explainer(regressor())(TEXTS),
    "A step of the pipeline is not supported": lambda: pkex.Explainer(
        make_pipeline(PCA(2), SVR()).fit(X, target)
    ),
    "Class labels": lambda: pkex.Explainer(classifier().predict),
    "decision_function of several classes": lambda: pkex.Explainer(classifier(3).decision_function),
    "Unknown output": lambda: pkex.Explainer(classifier(3), outputs="0"),
    "Wrong number of columns": lambda: pkex.Explainer(regressor())(X[["a", "b"]].to_numpy()),
    "Other column names": lambda: pkex.Explainer(regressor())(X[["b", "a", "c"]]),
    "Missing values in rows": lambda: pkex.Explainer(regressor())(with_missing()),
    "Rows in memory for a file": lambda: pkex.Explainer(regressor()).write_parquet(X, "values"),
    "Sparse rows that are too large": lambda: pkex.mmd(
        sparse.csr_array((2000, 100_000)), sparse.csr_array((2000, 100_000))
    ),
    "Text in rows": lambda: pkex.Explainer(regressor())(with_text()),
    "A single row": lambda: pkex.Explainer(regressor())(X.iloc[0]),
    "Unknown column in groups": lambda: pkex.Explainer(regressor(), groups={"g": ["a", "z"]}),
    "Background required by the model": lambda: pkex.Explainer(Ridge().fit(X, target)),
    "Background required by the value function": lambda: pkex.Explainer(
        regressor(), value_function="interventional"
    ),
    "Background not used": lambda: pkex.Explainer(regressor(), X, value_function="neutral"),
    "Unknown value function": lambda: pkex.Explainer(regressor(), value_function="conditional"),
    "Unknown embedding": lambda: pkex.Observational(embedding="kernel"),
    "More than 20 features": lambda: pkex.Explainer(calibrated(WIDE).predict_proba, WIDE)(WIDE),
    "Too many background rows for 17 to 20 features": lambda: pkex.Explainer(
        calibrated(WIDE).predict_proba, np.tile(WIDE, (4, 1)), groups={"pair": [0, 1]}
    )(WIDE),
    "Estimates of exact values": lambda: pkex.Explainer(regressor()).estimate(X, n_coalitions=100),
    "Means of other values": lambda: pkex.Explainer(regressor())(X).sage(),
    "Targets with another index": lambda: pkex.Explainer(regressor()).loss(X, target[::-1]),
    "More than 20 features of a loss": lambda: pkex.Explainer(SVR().fit(WIDE, target), WIDE).loss(
        WIDE, target
    ),
    "No class labels for a decision value": lambda: pkex.Explainer(classifier()).loss(X, target),
    "No probabilities": lambda: pkex.Explainer(classifier(), X, target="probability"),
    "No log-odds": lambda: pkex.Explainer(
        CalibratedClassifierCV(SVC(), ensemble=False).fit(X, np.digitize(target, [-0.5, 0.5])),
        X,
        target="log-odds",
    ),
    "No logarithm of the mean": lambda: pkex.Explainer(regressor(), target="log-mean"),
    "No hazard ratio": lambda: pkex.Explainer(Ridge().fit(X, target), X, target="hazard-ratio"),
    "No variance": lambda: pkex.Explainer(regressor(), target="variance"),
    "No uncertainty": lambda: pkex.Explainer(regressor())(X, uncertainty=True),
    "Uncertainty of neutral values": lambda: pkex.Explainer(
        GaussianProcessRegressor(alpha=0.1).fit(X, target), value_function="neutral"
    )(X, uncertainty=True),
    "Too many covariances between rows": lambda: pkex.Explainer(
        GaussianProcessRegressor(alpha=0.1).fit(WIDE[:, :10], WIDE[:, 0]), WIDE[:3, :10]
    )(np.zeros((1000, 10)), uncertainty="joint"),
    "Unknown interaction index": lambda: pkex.Explainer(regressor()).interactions(X, index="SV"),
    "Index of selected features": lambda: pkex.Explainer(regressor()).interactions(
        X, features=[0], index="STII"
    ),
    "Order too high": lambda: pkex.Explainer(regressor()).interactions(X, order=5),
    "Samples with different columns": lambda: pkex.mmd(X, Y[["a", "b"]]),
    "Missing values in samples": lambda: pkex.mmd(X, with_missing()),
    "Constant samples": lambda: pkex.mmd(0 * X, 0 * Y),
    "Too few rows for an estimate": lambda: pkex.mmd(X, Y, estimator="incomplete"),
    "Rows of X and y": lambda: pkex.hsic(X, target[:50]),
    "Wrong number of distributions": lambda: pkex.sensitivity(regressor(), [stats.norm()] * 2),
    "Coefficients and points": lambda: pkex.KernelExpansion(
        np.ones((3, 2)), np.ones(4), pkex.kernels.RBF()
    ),
    "Noise below rounding errors": lambda: InterventionalRegressor(noise=1e-12).fit(
        X, X["a"], X["a"] * 0.2**0.5 / X["a"].std(ddof=0), X["a"]
    ),
    "Constant column of the target mediator": lambda: InterventionalRegressor().fit(
        X, X[["a", "b"]], target, X[["a", "b"]].assign(b=1.0)
    ),
    "Front-door adjustment without variables": lambda: InterventionalRegressor(
        adjustment="front-door"
    ).fit(X, X["a"], target, X["a"]),
    "Targets in place of right items": lambda: PreferenceLogistic().fit(
        X.to_numpy(), np.array(target) > 0
    ),
    "Text in adjustment variables": lambda: InterventionalRegressor().fit(
        X, X["a"], target, X["a"], adjustment_variables=with_text()
    ),
    "Mediator kernel that is not Gaussian": lambda: InterventionalRegressor(
        mediator_kernel=pkex.kernels.Laplacian()
    ).fit(X, X["a"], target, X["a"]),
    "Infinite factor": lambda: pkex.ProductExpansion([{0: np.log}], [1.0]).predict([[0.0]]),
    "Infinite variance": lambda: pkex.sensitivity(
        pkex.ProductExpansion([{0: np.exp}], [1.0]), [stats.lognorm(0.3)]
    ),
    "Length-scale of 0": lambda: pkex.kernels.RBF(0.0),
    "Number of length-scales": lambda: pkex.KernelExpansion(
        np.ones((3, 2)), np.ones(3), pkex.kernels.RBF([1.0, 2.0, 3.0])
    ),
    "A closed Dask client": with_closed_client,
}

# Commands, which run in a folder of these files.
COMMANDS = {
    "No such file": "drift before.csv other.csv",
    "No such column": "hsic before.csv --target z",
    "Tables with different columns": "drift before.csv fewer.csv",
    "Text among numbers": "drift before.csv text.csv",
    "Missing values in files": "drift before.csv missing.csv",
    "Models of pickle and joblib": "explain model.pkl before.csv",
    "The table comes first": "explain before.csv model.pkl",
    "Unknown format": "drift before.csv after.csv --output drift.xyz",
}
WITHOUT_LIBRARY = "A library is missing"


def assert_is_as_on_the_page(title: str, message: str) -> None:
    expected = " ".join(ENTRIES[title][0].split())
    pattern = ".*".join(map(re.escape, expected.split(GAP)))
    assert re.fullmatch(pattern, " ".join(message.split())), (
        f"docs/errors.md, {title!r} should say:\n{message}"
    )


def test_the_page_has_the_errors_that_are_tested():
    assert len(ENTRIES) == PAGE.count("\n### ")
    assert ENTRIES.keys() == {*CASES, *COMMANDS, WITHOUT_LIBRARY}


@pytest.mark.parametrize("title", ENTRIES)
def test_an_entry_says_what_to_do(title):
    assert "**Fix**" in ENTRIES[title][1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", CASES)
def test_an_error_is_raised_with_the_message_on_the_page(title):
    with pytest.raises((ValueError, TypeError)) as raised:
        CASES[title]()
    assert_is_as_on_the_page(title, str(raised.value))


@pytest.mark.parametrize("title", COMMANDS)
def test_a_command_fails_with_the_message_on_the_page(title, tmp_path, monkeypatch, capsys):
    from pkex.cli.main import main

    monkeypatch.chdir(tmp_path)
    X.to_csv("before.csv", index=False)
    Y.to_csv("after.csv", index=False)
    Y[["a", "b"]].to_csv("fewer.csv", index=False)
    with_text().to_csv("text.csv", index=False)
    with_missing().to_csv("missing.csv", index=False)
    Path("model.pkl").write_bytes(b"\x80\x04.")
    assert main(COMMANDS[title].split()) == 2
    assert_is_as_on_the_page(title, capsys.readouterr().err)


def test_a_missing_library_is_named_as_on_the_page(monkeypatch):
    explanation = pkex.Explainer(regressor())(X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError) as raised:
        explanation.plot()
    assert_is_as_on_the_page(WITHOUT_LIBRARY, str(raised.value))
