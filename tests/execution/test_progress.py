"""Progress of a call: in order, shown where asked for, and without influence on values."""

import sys

import numpy as np
import pytest
from sklearn.svm import SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.kernels import RBF


@pytest.fixture
def explainer():
    return pkex.Explainer(SVR().fit(X, Y))


@pytest.fixture(scope="module")
def long_call():
    """An explainer and rows that keep it busy for some tenths of a second."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 20))
    expansion = pkex.KernelExpansion(points, rng.normal(size=4000), RBF(3.0))
    return pkex.Explainer(expansion, n_jobs=1), rng.normal(size=(1500, 20))


def test_progress_is_reported_in_order(long_call):
    explainer, rows = long_call
    reports = []
    explainer(rows, progress=lambda done, total: reports.append((done, total)))
    assert len(reports) > 2
    assert reports == sorted(reports)
    assert {total for _, total in reports} == {reports[0][1]}
    assert 0 <= reports[0][0] < reports[-1][0] <= reports[-1][1]


@pytest.mark.parametrize("rows", [ROWS, np.tile(ROWS, (20_000, 1))], ids=["short", "long"])
def test_progress_can_be_shown_and_changes_nothing(explainer, rows, capsys):
    values = explainer.shap_values(rows, progress=True)
    np.testing.assert_array_equal(values, explainer.shap_values(rows))
    assert "100%" in capsys.readouterr().err


def test_progress_without_tqdm_names_the_extra(explainer, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"pip install 'pkex\[progress\]'"):
        explainer(ROWS, progress=True)


def test_an_exception_in_progress_reaches_the_caller(long_call):
    explainer, rows = long_call

    def fail(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        explainer(rows, progress=fail)


def test_the_ends_of_parts_within_parts_are_reported_once():
    reports = []
    explainer = pkex.Explainer(SVR().fit(X, Y), X[:5], transform=np.tanh)
    explainer(ROWS, progress=lambda done, total: reports.append(done / total))
    assert len(reports) == len(ROWS)
    assert reports == sorted(set(reports))
    assert reports[-1] == 1.0


def test_blocks_have_equal_parts_of_the_progress_whose_ends_are_reported():
    reports, blocks = [], []
    computation = Computation(progress=lambda done, total: reports.append(done / total))
    for block, of_block in computation.over(blocks_of(5, 2)):
        blocks.append(list(range(5))[block])
        of_block.report(1, 2)
    assert blocks == [[0, 1], [2, 3], [4]]
    np.testing.assert_allclose(reports, np.arange(1, 7) / 6, atol=1e-6)
    assert blocks_of(2, 0) == blocks_of(2, 1)
