"""``pkex explain`` in the observational game, of estimates, and with how sure values are."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
import skops.io as skops
from csv_tables import csv_table
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVR

import pkex


@pytest.fixture(scope="module")
def tables(files, tmp_path_factory):
    """A folder with a background of 60 rows, 20 others of which 10 are in it, and models."""
    folder = tmp_path_factory.mktemp("observational")
    frame = csv_table(files / "labelled.csv")
    frame[:60].to_csv(folder / "background.csv", index=False)
    frame[50:70].to_csv(folder / "rows.csv", index=False)
    X, y = frame[["a", "b", "c"]], frame["y"]
    skops.dump(SVR().fit(X, y), folder / "svr.skops")
    process = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None)
    skops.dump(process.fit(X[:40], y[:40]), folder / "process.skops")
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 15)))
    wide = wide.set_axis([f"x{number}" for number in range(15)], axis=1)
    wide.to_csv(folder / "wide.csv", index=False)
    skops.dump(SVR().fit(wide, wide["x0"]), folder / "wide.skops")
    return folder


@pytest.fixture
def explain(run, tables):
    """Run the command on a model, with the background."""

    def explain(
        *options, model="svr.skops", rows="rows.csv", background="background.csv", kind="json"
    ):
        arguments = [tables / model, tables / rows, "--background", tables / background]
        game = ["--value-function", "observational"]
        return run("explain", *arguments, *game, *options, "--format", kind)

    return explain


def by_pkex(tables, model, **settings):
    columns = ["a", "b", "c"]
    path = tables / model
    fitted = skops.load(path, trusted=skops.get_untrusted_types(file=path))
    background = csv_table(tables / "background.csv")[columns]
    game = pkex.Observational(**settings)
    explainer = pkex.Explainer(fitted, background, value_function=game)
    return explainer, csv_table(tables / "rows.csv")[columns]


def test_settings_of_the_game_are_options(tables, explain):
    settings = {"regularization": 0.05, "n_landmarks": 40, "leave_one_out": True}
    settings |= {"normalize": False, "embedding": "rows"}
    explainer, rows = by_pkex(tables, "svr.skops", **settings)
    options = "--regularization", 0.05, "--landmarks", 40, "--leave-one-out"
    options = *options, "--no-normalize", "--embedding", "rows"
    record = explain(*options).record
    assert [row["values"] for row in record["rows"]] == explainer.shap_values(rows).tolist()
    assert record["value_function"] == "observational"
    conditioning = record["conditioning"]
    assert conditioning.pop("landmark_error") == explainer.landmark_error
    assert conditioning.pop("kernel") == repr(explainer.conditioning.kernel)
    assert conditioning == settings
    said = explain(*options, kind="table").out
    assert "regularization=0.05, n_landmarks=40, leave_one_out=True" in " ".join(said.split())
    assert f"{explainer.landmark_error:.1%} of their spread" in " ".join(said.split())


def test_estimates_have_standard_errors(tables, explain):
    explainer, rows = by_pkex(tables, "svr.skops")
    expected = explainer.estimate(rows, n_coalitions=30, random_state=3)
    options = "--coalitions", 30, "--seed", 3
    record = explain(*options).record
    assert (record["coalitions"], record["seed"]) == (30, 3)
    errors = [row["standard_errors"] for row in record["rows"]]
    assert errors == expected.standard_errors.tolist()
    lines = list(csv.DictReader(io.StringIO(explain(*options, kind="csv").out)))
    assert [float(line["b"]) for line in lines] == expected.values[:, 1].tolist()
    found = [float(line["b standard error"]) for line in lines]
    assert found == expected.standard_errors[:, 1].tolist()
    said = explain(*options, kind="table").out
    assert "mean std err" in said
    assert "Estimated: from 30 coalitions, seed 3" in said


def test_gaussian_processes_say_how_sure_they_are(tables, explain):
    explainer, rows = by_pkex(tables, "process.skops")
    expected = explainer(rows, uncertainty=True).standard_deviations
    record = explain("--uncertainty", model="process.skops").record
    found = [row["standard_deviations"] for row in record["rows"]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert "mean std dev" in explain("--uncertainty", model="process.skops", kind="table").out


WIDE = {"model": "wide.skops", "rows": "wide.csv", "background": "wide.csv"}


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        ([], WIDE, "has 15 features, .* by --coalitions 1000"),
        (["--coalitions", "31"], WIDE, "--coalitions must be an even integer of at least 60"),
        (["--regularization", "0"], {}, "--regularization must be at least 1e-08"),
        (["--uncertainty"], {}, "uncertainty is for the mean of a Gaussian process"),
        (["--link", "logit"], {}, "--link logit is applied to the mean over the background"),
        (["--landmarks", "0"], {}, "--landmarks must be a positive integer"),
    ],
)
def test_errors_name_options(explain, options, given, said):
    done = explain(*options, **given)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert re.search(said, done.err), done.err
    assert not re.search(r"pkex\.\w|=['{]|X_train", done.err), done.err


def test_options_of_another_game_are_refused(run, tables):
    done = run("explain", tables / "svr.skops", tables / "rows.csv", "--landmarks", 5)
    assert (done.status, done.out) == (2, "")
    assert "--landmarks, --leave-one-out, --no-normalize and --embedding require" in done.err


def test_a_background_that_is_needed_is_asked_for(run, tables):
    game = "--value-function", "observational"
    done = run("explain", tables / "svr.skops", tables / "rows.csv", *game)
    assert "Pass these by --background FILE, for instance" in done.err
    assert "--value-function marginal (the default)" in done.err


def test_warnings_name_options(explain):
    err = explain("--landmarks", 2).err
    assert "--landmarks 2 changes the values of coalitions by" in err
