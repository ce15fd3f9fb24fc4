"""What `pkex.sensitivity` returns: shapes, tables, pictures, SALib's names."""

import json
import math
import pickle

import numpy as np
import pytest
from pages import check_page

import pkex
from pkex.kernels import RBF

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 3))
POINTS = RNG.normal(size=(8, 3))
MODEL = pkex.KernelExpansion(POINTS, RNG.normal(size=8), RBF([1.0, 2.0, 4.0]))
TWO = pkex.KernelExpansion(POINTS, RNG.normal(size=(8, 2)), RBF([1.0, 2.0, 4.0]))


@pytest.fixture(scope="module")
def result():
    return pkex.sensitivity(MODEL, ROWS, order=2)


def test_shapley_effects_add_up_to_1_and_lie_between_the_indices(result):
    assert math.isclose(result.shapley_effects.sum(), 1.0, rel_tol=1e-14)
    assert np.all(result.first_order <= result.shapley_effects)
    assert np.all(result.shapley_effects <= result.total)


def test_indices_of_pairs_are_symmetric_and_there_if_asked_for(result):
    pairs = result.second_order
    assert np.isnan(np.diag(pairs)).all()
    assert np.array_equal(pairs, pairs.T, equal_nan=True)
    assert pkex.sensitivity(MODEL, ROWS).second_order is None


def test_several_outputs_are_those_of_each_alone():
    both = pkex.sensitivity(TWO, ROWS, order=2)
    assert both.variance.shape == (2,)
    assert both.shapley_effects.shape == both.first_order.shape == both.total.shape == (3, 2)
    assert both.second_order.shape == (3, 3, 2)
    assert both.output_names == ["y0", "y1"]
    for place in range(2):
        chosen = TWO._function.select([place])
        alone = pkex.sensitivity(pkex.KernelExpansion._of(chosen), ROWS, order=2)
        assert np.allclose(alone.total[:, 0], both.total[:, place], rtol=0.0, atol=1e-14)


def test_dictionaries_have_the_names_of_salib(result):
    found = result.to_dict()
    assert {"S1", "ST", "S2", "names", "shapley_effects", "variance"} < found.keys()
    assert not [key for key in found if key.endswith("_conf")]
    assert found["names"] == ["x0", "x1", "x2"]
    assert np.array_equal(np.equal(found["S2"], None), np.tri(3, dtype=bool))
    assert found["S2"][0][1] == result.second_order[0, 1]
    assert json.loads(json.dumps(found))["S1"] == result.first_order.tolist()
    assert "S2" not in pkex.sensitivity(MODEL, ROWS).to_dict()


def test_frames_have_a_line_per_input(result):
    frame = result.to_frame()
    assert list(frame.columns) == ["Shapley effect", "first order", "total"]
    assert frame["Shapley effect"].is_monotonic_decreasing
    both = pkex.sensitivity(TWO, ROWS)
    frame = both.to_frame()
    assert frame.loc[("y1", "x2"), "total"] == both.total[2, 1]


def test_results_say_what_they_are_of(result):
    text = repr(result)
    assert text.startswith("SensitivityResult: predict of KernelExpansion, inputs: 30 rows")
    assert "note: the columns of inputs are taken as independent of each other" in text
    assert repr(pkex.sensitivity(TWO, ROWS)).count("variance") == 2
    weighted = pkex.sensitivity(MODEL, ROWS, weights=[1.0] * 20 + [0.0] * 10)
    assert "inputs: 20 rows" in repr(weighted)


def test_results_cannot_be_changed_and_can_be_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    assert repr(again) == repr(result)
    for found in (result, again):
        with pytest.raises(ValueError, match="read-only"):
            found.total[0] = 1.0


def test_pictures_show_the_largest_effects(result):
    ax = result.plot(max_features=2)
    assert len(ax.patches) == 2
    assert "1 smaller feature is not shown" in ax.get_title()
    both = pkex.sensitivity(TWO, ROWS)
    assert len(both.plot(output="y1").patches) == len(both.plot(output=1).patches) == 3
    with pytest.raises(ValueError, match=r"output must be one of \['y0', 'y1'\]"):
        both.plot()
    with pytest.raises(ValueError, match="there is a single output"):
        result.plot(output=0)


@pytest.mark.parametrize("model", [MODEL, TWO], ids=["one output", "two outputs"])
def test_the_report_has_the_indices_of_every_output(model, tmp_path):
    result = pkex.sensitivity(model, ROWS, order=2)
    text = result.to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    outputs = result.output_names or [None]
    assert page.text("h1") == ["Sensitivity of predict of KernelExpansion"]
    # Indices of inputs, and of pairs, for each output.
    assert len(page.all("table")) == 2 * len(outputs)
    for place in range(len(outputs)):
        effects = result.shapley_effects.reshape(3, -1)[:, place]
        head, *lines = page.cells(2 * place)
        assert head == ["input", "Shapley effect", "first order", "total"]
        assert [line[0] for line in lines] == [f"x{j}" for j in np.argsort(-effects)]
        np.testing.assert_allclose(
            [float(line[1]) for line in lines], -np.sort(-effects), atol=1e-4
        )
    computed = dict(zip(page.text("dt"), page.text("dd"), strict=True))
    assert computed["Inputs"] == "30 rows"
    assert check_page(result.to_html(name="my model")).text("h1") == ["Sensitivity of my model"]
