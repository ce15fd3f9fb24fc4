"""The report: one file that needs nothing else, can be read by anyone, and says what was found."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
import skops.io as skops
from csv_tables import csv_table
from pages import check_page
from sklearn.svm import SVC, SVR

EVIL = "<script>alert('1')</script> & \"b\""


@pytest.fixture
def report(run, tmp_path):
    """Run a command, and return its report as a page."""

    def report(*arguments):
        path = tmp_path / "report.html"
        done = run(*arguments, "--output", path)
        assert (done.status, done.err) == (0, "")
        return check_page(path.read_text(encoding="utf-8"))

    return report


def test_the_report_of_drift_says_verdict_table_pictures_and_settings(report, files, run):
    paths = files / "reference.csv", files / "current.csv"
    page = report("drift", *paths, "--permutations", "199")
    record = run("drift", *paths, "--permutations", "199", "--format", "json").record
    verdict = next(e for e in page.all("p") if e["attributes"].get("class") == "conclusion")
    assert verdict["text"].replace("\xa0", " ") == record["conclusion"]
    head, *lines = page.cells()
    assert head[:3] == ["feature", "share", "value"]
    assert [line[0] for line in lines] == [line["feature"] for line in record["features"]]
    assert "At a glance" in page.text("h2")
    assert page.text("h3")[1:] == [line["feature"] for line in record["features"]]
    pictures = [e["attributes"]["aria-label"] for e in page.all("svg") if "role" in e["attributes"]]
    assert len(pictures) == 4
    assert pictures[1].startswith("b in reference.csv and current.csv. reference.csv: median")
    computed = dict(zip(page.text("dt"), page.text("dd"), strict=True))
    assert (computed["Seed"], computed["reference.csv"]) == ("0", "120 rows")
    assert computed["p-value"] == "0.005 of 199 permutations"
    assert "median distance" in computed["Kernel"]


def test_equal_inputs_give_equal_reports(report, files):
    arguments = "drift", files / "reference.csv", files / "current.csv", "--permutations", "99"
    assert report(*arguments).source == report(*arguments).source


def test_names_and_labels_from_files_are_escaped(report, files, tmp_path):
    for name in ("reference", "current"):
        frame = csv_table(files / f"{name}.csv").rename(columns={"b": EVIL})
        frame.to_csv(tmp_path / f"a&b {name}.csv", index=False)
    page = report("drift", tmp_path / "a&b reference.csv", tmp_path / "a&b current.csv")
    assert not page.all("script")
    assert not page.all("b")
    assert EVIL in [line[0] for line in page.cells()]
    assert "a&b reference.csv" in page.text("h1")[0]
    assert "<script" not in page.source
    assert "a&b" not in page.source


def test_the_report_of_a_dependence_shows_the_target(report, files):
    page = report("hsic", files / "labelled.csv", "--target", "y", "--permutations", "199")
    assert page.text("h1") == ["Dependence of y on the features"]
    assert "Leading features and y" in page.text("h2")
    labels = [e["attributes"].get("aria-label", "") for e in page.all("svg")]
    assert any(label.startswith("y by a. 120 points, rank correlation 1.00") for label in labels)


@pytest.mark.parametrize("name", ["svr", "svc"])
def test_the_report_of_a_model_says_how_features_move_it(report, files, tmp_path, name):
    frame = csv_table(files / "labelled.csv")
    X, y = frame[["a", "b", "c"]].assign(b=(frame["b"] > 0).astype(float)), frame["y"]
    model = SVR().fit(X, y) if name == "svr" else SVC().fit(X, np.digitize(y, [-1.0, 1.0]))
    skops.dump(model, tmp_path / "m.skops")
    X.to_csv(tmp_path / "rows.csv", index=False)
    page = report("explain", tmp_path / "m.skops", tmp_path / "rows.csv")
    assert len(page.all("table")) == (2 if name == "svr" else 6)
    assert page.cells()[0][:2] == ["feature", "mean |value|"]
    if name == "svr":
        page = report("sensitivity", tmp_path / "m.skops", tmp_path / "rows.csv", "--order", "2")
        assert page.cells()[0] == ["input", "Shapley effect", "first order", "total"]
        assert page.cells(1)[0] == ["pair", "second order"]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


# Frames of the widths of a desktop and a phone, and a script that says how wide what is in them is.
FRAMES = """<!DOCTYPE html><p id="widths"></p>
<iframe style="border:0;width:1280px"></iframe><iframe style="border:0;width:390px"></iframe>
<script>
const widths = [];
for (const frame of document.querySelectorAll("iframe")) {
  frame.contentDocument.write(PAGE);
  frame.contentDocument.close();
  widths.push(frame.contentDocument.documentElement.scrollWidth);
}
document.getElementById("widths").textContent = widths.join(" ");
</script>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_browser_fits_the_report_to_desktop_and_phone(report, files, tmp_path):
    page = report("drift", files / "reference.csv", files / "current.csv")
    frames = tmp_path / "frames.html"
    frames.write_text(FRAMES.replace("PAGE", json.dumps(page.source)), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", frames.as_uri()]
    done = subprocess.run([CHROMIUM, *options], capture_output=True, timeout=120, check=True)
    assert b'<p id="widths">1280 390</p>' in done.stdout
