"""All results are tabulated, drawn, reported and kept by the same calls."""

import inspect

import matplotlib as mpl
import numpy as np
import pytest
from pages import check_page

import pkex

mpl.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 60, 3))
EXPANSION = pkex.KernelExpansion(X[:9], X[:9, 0], pkex.kernels.RBF())
EXPLAINER = pkex.Explainer(EXPANSION)
DRIFT = pkex.MMDDrift(X, n_permutations=39, random_state=0)
RESULTS = {
    "explanation": EXPLAINER(X),
    "estimate": pkex.Explainer(EXPANSION, Y).estimate(X[:3], n_permutations=20, random_state=0),
    "interactions": EXPLAINER.interactions(X),
    "mmd": pkex.mmd(X, Y),
    "hsic": pkex.hsic(X, Y[:, 0]),
    "drift": DRIFT.predict(Y),
    "timeline": DRIFT.timeline([X[:30], Y]),
    "sensitivity": pkex.sensitivity(EXPANSION, X),
}
PAIRED = {"mmd", "hsic", "drift"}


@pytest.mark.parametrize("method", ["to_dict", "to_frame", "to_html", "to_text", "plot"])
def test_a_method_has_one_signature_and_one_docstring(method):
    found = {getattr(type(result), method) for result in RESULTS.values()}
    assert len({str(inspect.signature(own)) for own in found}) == 1
    assert len({own.__doc__ for own in found}) == 1


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_tabulated_drawn_and_reported(name, tmp_path):
    result = RESULTS[name]
    assert len(result.to_frame()) > 0
    given = plt.figure().add_subplot()
    assert result.plot(given) is given
    plt.close("all")
    called = ("before", "after") if name in PAIRED else "my model"
    text = result.to_html(tmp_path / "r.html", name=called)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    (title,) = check_page(text).text("h1")
    assert ("after" if name in PAIRED else "my model") in title


@pytest.mark.parametrize("name", RESULTS)
def test_options_that_a_result_does_not_support_are_refused(name):
    result = RESULTS[name]
    if name in PAIRED:
        with pytest.raises(TypeError, match=r"must be a pair .*, the names of both tables"):
            result.to_html(name="my model")
        return
    with pytest.raises(TypeError, match="must be a string for the title"):
        result.to_html(name=("a", "b"))
    with pytest.raises(ValueError, match=r"does not support alpha=0\.1"):
        result.to_html(alpha=0.1)
    with pytest.raises(ValueError, match="does not support samples="):
        result.to_html(samples=(X, Y))


@pytest.mark.parametrize("name", ["explanation", "interactions", "timeline", "sensitivity"])
def test_errors_that_there_are_not_are_refused(name):
    with pytest.raises(ValueError, match=r"to_frame\(errors=True\)"):
        RESULTS[name].to_frame(errors=True)


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_shares_mean_the_same_of_all_results(estimator):
    shifted = Y + np.array([1.0, 0.0, 0.0])
    options = {"estimator": estimator, "n_permutations": 39, "random_state": 0}
    for result in (
        pkex.mmd(X, shifted, **options),
        pkex.hsic(X, X[:, 0], **options),
        pkex.MMDDrift(X, **options).predict(shifted),
    ):
        noise = result.permuted_values.mean(axis=0) if estimator == "biased" else 0.0
        values = result.values - noise
        np.testing.assert_allclose(result.shares, values / values.sum(), rtol=1e-12)
        assert result.to_dict()["shares"] == result.shares.tolist()
