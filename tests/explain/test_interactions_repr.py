"""What interactions say of themselves: sizes, game and index, and the strongest pairs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pkex
from pkex.games.coalitions import coalition_at, coalitions
from pkex.results.tables import number

NAMES = ["age", "bmi", "pulse"]


def _interactions(n_outputs: int | None = None, order: int = 2, rows: int = 2):
    outputs = () if n_outputs is None else (n_outputs,)
    model = pkex.KernelExpansion(np.eye(3), np.ones((3, *outputs)), pkex.kernels.RBF())
    explainer = pkex.Explainer(model, np.zeros((1, 3)), feature_names=NAMES)
    X = np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 0.25]])[:rows]
    return explainer.interactions(X, order=order)


def test_the_strongest_pairs_are_shown_largest_first():
    interactions = _interactions()
    head, labels, *lines = repr(interactions).splitlines()
    assert head == (
        "Interactions(2 rows × 6 coalitions of up to 2 of 3 features, interventional, "
        "index='k-SII')"
    )
    assert labels.split("  ")[0] == "pair"
    assert labels.endswith("mean |coefficient|")
    sizes = np.abs(interactions.of_size(2)).mean(axis=0)
    pairs = np.array(["age × bmi", "age × pulse", "bmi × pulse"])
    order = np.argsort(-sizes)
    assert [" ".join(line.split()) for line in lines] == [
        f"{pairs[place]} {sizes[place]:.5f}" for place in order
    ]


def test_of_one_row_the_coefficients_are_shown():
    interactions = _interactions()[1]
    lines = repr(interactions).splitlines()
    assert lines[1].split() == ["pair", "coefficient"]
    shown = {line.rsplit("  ", 1)[0].strip(): float(line.split()[-1]) for line in lines[2:]}
    for pair, value in shown.items():
        assert value == pytest.approx(interactions.of(*pair.split(" × "))[0], abs=1e-5)


def test_several_outputs_are_columns():
    lines = repr(_interactions(n_outputs=2)).splitlines()
    assert lines[0].startswith("Interactions(2 rows × 6 coalitions of up to 2 of 3 features × 2 ou")
    assert lines[1].split() == ["mean", "|coefficient|", "of", "y0", "y1"]
    assert len(lines) == 5


def test_of_order_1_the_features_are_shown():
    lines = repr(_interactions(order=1)).splitlines()
    assert lines[1].split()[0] == "feature"
    assert {line.split()[0] for line in lines[2:]} == set(NAMES)


def test_of_higher_orders_all_coalitions_of_several_features_are_shown():
    interactions = _interactions(order=3)
    _, labels, *lines = repr(interactions).splitlines()
    assert labels.split()[0] == "coalition"
    shown = dict(line.rsplit("  ", 1) for line in lines)
    sizes = {
        name: np.abs(interactions.of(*name.split(" × "))).mean() for name in map(str.strip, shown)
    }
    assert set(sizes) == set(interactions.coalition_names[3:])
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    for name, text in shown.items():
        assert float(text) == pytest.approx(sizes[name.strip()], abs=1e-5)


def test_coalitions_that_are_left_out_of_the_table_are_counted():
    model = pkex.KernelExpansion(np.eye(6), np.ones(6), pkex.kernels.RBF())
    interactions = pkex.Explainer(model).interactions(np.eye(6), order=3)
    assert repr(interactions).splitlines()[-1] == "(27 smaller coalitions not shown)"


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_coalition_is_found_by_its_place(size):
    listed = [tuple(members) for members in coalitions(5, size).tolist()]
    assert [coalition_at(place, 5, size) for place in range(len(listed))] == listed


def test_importance_of_neutral_coefficients_is_their_mean_absolute_deviation():
    rows = np.random.default_rng(0).normal(size=(5, 3))
    model = pkex.KernelExpansion(np.eye(3), np.ones(3), pkex.kernels.RBF())
    for game, label in (("neutral", "mean |coefficient − its mean|"), ("marginal", "mean |coef")):
        found = pkex.Explainer(model, value_function=game).interactions(rows)
        values = found.values
        sizes = np.abs(values - values.mean(axis=0)) if game == "neutral" else np.abs(values)
        np.testing.assert_allclose(found.importance(), sizes.mean(axis=0), rtol=1e-14)
        assert label in repr(found)
        assert number(found.importance()[3:].max()) in repr(found).splitlines()[2]
        np.testing.assert_array_equal(found[0].importance(), np.abs(values[0]))


def test_of_no_rows_there_is_no_table():
    assert "\n" not in repr(_interactions()[[]])


def test_parts_and_pickles_keep_game_and_labels_of_rows():
    pd = pytest.importorskip("pandas")
    model = pkex.KernelExpansion(np.eye(3), np.ones((3, 2)), pkex.kernels.RBF())
    rows = pd.DataFrame(np.eye(3), index=list("uvw"))
    whole = pkex.Explainer(model, value_function="neutral").interactions(rows)
    for part in (whole, whole[1:], whole.output(0), pickle.loads(pickle.dumps(whole))):
        assert part.value_function == "neutral"
        assert list(part.row_index) == list("uvw")[-len(part) :]
