"""What interactions hold: layouts of shap, shares of orders, coalitions by name, rows, pickles."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from brute_force_interactions import interventional_worths
from interaction_models import ROWS, SINGLE, SVR_MODEL, THREE, D, X, Y, Z
from sklearn.svm import SVC, SVR

import pkex
from pkex.results.interactions import Interactions


def test_lines_of_shaps_layout_add_up_to_shapley_values():
    explainer = pkex.Explainer(SVR_MODEL, Z)
    values = explainer.shap_values(ROWS)
    for index in ("SII", "k-SII"):
        matrices = explainer.interactions(ROWS, index=index).to_shap().values
        assert matrices.shape == (3, D, D)
        np.testing.assert_array_equal(matrices, matrices.transpose(0, 2, 1))
        np.testing.assert_allclose(matrices.sum(axis=2), values, atol=1e-14)
    whole = pkex.Explainer(THREE).interactions(ROWS).to_shap()
    assert whole.values.shape == (3, D, D, 3)
    np.testing.assert_allclose(
        whole.values.sum(axis=2), pkex.Explainer(THREE).shap_values(ROWS), atol=1e-14
    )


@pytest.mark.slow
def test_shapley_taylor_interactions_are_those_of_shaps_exact_explainer():
    shap = pytest.importorskip("shap")
    theirs = shap.ExactExplainer(SVR_MODEL.predict, shap.maskers.Independent(Z))
    expected = theirs(ROWS, interactions=True)
    found = pkex.Explainer(SVR_MODEL, Z).interactions(ROWS, index="STII").to_shap()
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)


def test_shap_draws_interactions():
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    names = ["a", "b", "c", "d", "e", "f"]
    found = pkex.Explainer(SVR_MODEL, feature_names=names).interactions(X).to_shap()
    shap.dependence_plot(("a", "b"), found.values, X, feature_names=names, show=False)
    drawn = plt.gcf().axes[0].collections[0].get_offsets()
    # Twice the half, in some order: shap shows the whole pair.
    np.testing.assert_allclose(
        np.sort(np.asarray(drawn)[:, 1]), np.sort(2 * found.values[:, 0, 1]), atol=1e-12
    )
    plt.close("all")
    shap.plots.scatter(found[:, 0, 1], show=False)
    np.testing.assert_allclose(
        np.sort(np.asarray(plt.gcf().axes[0].collections[0].get_offsets())[:, 1]),
        np.sort(found.values[:, 0, 1]),
    )
    plt.close("all")


@pytest.mark.parametrize("index", ["BII", "FBII", "Moebius", "Co-Moebius", "CHII"])
def test_what_does_not_add_up_to_the_output_has_no_layout_of_shap(index):
    with pytest.raises(ValueError, match="add up to the output"):
        pkex.Explainer(SVR_MODEL).interactions(ROWS, index=index).to_shap()


@pytest.mark.parametrize("order", [1, 3])
def test_shaps_layout_is_of_order_two(order):
    with pytest.raises(ValueError, match=f"order={order}"):
        pkex.Explainer(SVR_MODEL).interactions(ROWS, order=order).to_shap()


def test_order_shares_add_up_to_shapley_values():
    explainer = pkex.Explainer(SVR_MODEL, Z)
    shares = explainer.interactions(ROWS, index="Moebius", order=D).order_shares()
    assert shares.shape == (3, D, D)
    np.testing.assert_allclose(shares.sum(axis=2), explainer.shap_values(ROWS), atol=1e-13)
    # The first is what the feature does alone, v({j}) − v(∅).
    worths = interventional_worths(SVR_MODEL.predict, ROWS[0], Z, SINGLE)
    np.testing.assert_allclose(shares[0, :, 0], worths[2 ** np.arange(D)] - worths[0], atol=1e-13)
    outputs = pkex.Explainer(THREE).interactions(ROWS, index="Moebius", order=D).order_shares()
    assert outputs.shape == (3, D, D, 3)
    np.testing.assert_allclose(
        outputs.sum(axis=2), pkex.Explainer(THREE).shap_values(ROWS), atol=1e-13
    )


@pytest.mark.parametrize(("d", "order"), [(15, 4), (20, 2), (6, 3)])
def test_order_shares_warn_if_the_last_are_not_small(d, order):
    f = pkex.KernelExpansion(np.zeros((1, d)), [1.0], pkex.kernels.RBF(0.3))
    found = pkex.Explainer(f).interactions(np.ones((1, d)), index="Moebius", order=order)
    with pytest.warns(UserWarning, match=rf"order {order} are not small.*alternate in sign"):
        found.order_shares()


@pytest.mark.parametrize("d", [6, 15, 30])
def test_order_shares_that_decay_do_not_warn(d):
    f = pkex.KernelExpansion(np.zeros((1, d)), [1.0], pkex.kernels.RBF(20.0))
    explainer, x = pkex.Explainer(f), np.ones((1, d))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = explainer.interactions(x, index="Moebius", order=3).order_shares()
        explainer.interactions(x, index="Moebius")[:0].order_shares()
    np.testing.assert_allclose(shares.sum(axis=2), explainer.shap_values(x), rtol=1e-3)


def test_order_shares_warn_of_one_output_beside_a_larger_one():
    points, x = np.array([[0.0] * 15, [9.0] * 15]), np.full((1, 15), 0.5)
    kernel = pkex.kernels.RBF(20.0)
    for coefficients, warns in [([[1e9, 0.0], [0.0, 0.0]], 0), ([[1e9, 0.0], [0.0, 1.0]], 1)]:
        f = pkex.KernelExpansion(points, coefficients, kernel)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pkex.Explainer(f, value_function="neutral").interactions(
                x, index="Moebius"
            ).order_shares()
        assert len(caught) == warns


def test_order_shares_are_of_moebius_coefficients_only():
    with pytest.raises(ValueError, match="index='Moebius'"):
        pkex.Explainer(SVR_MODEL).interactions(ROWS).order_shares()


def test_coalitions_are_found_by_number_and_by_name():
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(100, 160))
    found = pkex.Explainer(SVR().fit(frame, Y)).interactions(frame, order=3)
    assert found.coalition_names[:3] == ["a", "b", "c"]
    place = found.coalitions.index((0, 2, 4))
    assert found.coalition_names[place] == "a × c × e"
    np.testing.assert_array_equal(found.of("e", "a", "c"), found.values[:, place])
    np.testing.assert_array_equal(found.of(4, 0, 2), found.values[:, place])
    np.testing.assert_array_equal(found.of(found.coalitions[place]), found.values[:, place])
    np.testing.assert_array_equal(found.of(), found.empty_values)
    with pytest.raises(KeyError, match=r"separate arguments: \.of"):
        found.of("a × c")
    with pytest.raises(
        TypeError, match=r"features cannot be selected by .*\. Pass a number or a name$"
    ):
        found.of(["a", "c"])
    with pytest.raises(IndexError, match=r"Select a coalition by \.of"):
        found["a"]
    assert [tuple(pair) for pair in combinations(range(D), 2)] == found.coalitions[D : D + 15]
    assert found.of_size(2).shape == (60, 15)
    table = found.to_frame()
    np.testing.assert_array_equal(table["a × c × e"], found.values[:, place])
    assert table.index.equals(frame.index)
    np.testing.assert_allclose(found.importance(), np.abs(found.values).mean(axis=0))
    by_name = found.importance_frame()["importance"]
    assert by_name["a × c × e"] == found.importance()[place]
    assert by_name.is_monotonic_decreasing
    for key, error in [(("a", "a"), ValueError), (("z",), KeyError), ((9,), IndexError)]:
        with pytest.raises(error):
            found.of(*key)
    with pytest.raises(ValueError, match="at most order=3 features; got 4"):
        found.of(0, 1, 2, 3)
    outputs = pkex.Explainer(THREE).interactions(ROWS).to_frame()
    assert outputs["0 vs 2"].shape == (3, 21)


def test_rows_are_chosen_by_number_slice_list_and_mask():
    found = pkex.Explainer(SVR_MODEL, Z).interactions(ROWS)
    assert len(found) == 3
    for rows, chosen in [(1, [1]), (slice(1, None), [1, 2]), ([2, 0], [2, 0]), (-1, [2])]:
        np.testing.assert_array_equal(found[rows].values, found.values[chosen])
        np.testing.assert_array_equal(found[rows].data, ROWS[chosen])
        assert found[rows].base_values.shape == (len(chosen),)
    np.testing.assert_array_equal(found[ROWS[:, 0] > 0].values, found.values[ROWS[:, 0] > 0])
    with pytest.raises(IndexError, match="out of range"):
        found[3]
    with pytest.raises(IndexError, match=r"\.of\('age', 'bmi'\)"):
        found[:, 0]
    for rows in ([[0, 1]], ROWS > 0):
        with pytest.raises(IndexError, match="1-d array; got a 2-d array"):
            found[rows]


def test_interactions_pickle_and_their_arrays_are_read_only():
    found = pkex.Explainer(SVR_MODEL, Z).interactions(ROWS)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.values, found.values)
    assert repr(again) == repr(found)
    for some in (found, again, found[1:], again[[0, 2]]):
        for array in (some.values, some.base_values, some.empty_values, some.data):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0


def test_a_pickle_is_of_the_same_size_after_the_coalitions_were_listed():
    found = pkex.Explainer(SVR_MODEL).interactions(ROWS, order=4)
    before = pickle.dumps(found)
    assert len(found.coalitions) == found.shape[1]
    assert pickle.dumps(found) == before


def test_arrays_are_taken_over_without_a_copy():
    parts = np.zeros((1, 3)), np.zeros(1), np.zeros((1, 2))
    found = Interactions(
        parts[0], parts[1], 0.0, parts[2], ["a", "b"], None, index="k-SII", order=2
    )
    for array, part in zip((found.values, found.empty_values, found.data), parts, strict=True):
        assert array is part
        assert not part.flags.writeable
    assert np.shares_memory(found[:1].values, parts[0])


TWO = SVC().fit(X, np.where(Y > 0.0, "yes", "no"))


@pytest.mark.parametrize(
    ("explainer", "name"),
    [
        (pkex.Explainer(SVR_MODEL), None),
        (pkex.Explainer(TWO), "yes vs no"),
        (pkex.Explainer(THREE, outputs=1), "0 vs 2"),
        (pkex.Explainer(THREE, outputs=[1]), None),
    ],
)
def test_the_name_of_a_single_output_is_kept(explainer, name):
    pytest.importorskip("shap")
    found = explainer.interactions(ROWS)
    for some in (found, found[1:], pickle.loads(pickle.dumps(found))):
        assert some.output_name == explainer(ROWS).output_name == name
        assert some.to_shap().output_names == explainer(ROWS).to_shap().output_names
        assert (f"output {name!r}" in repr(some)) == (name is not None)


def test_an_output_that_is_chosen_later_is_named_as_one_chosen_before():
    found = pkex.Explainer(THREE).interactions(ROWS)
    assert found.output_name is None
    for output in ("0 vs 2", 1, -2):
        chosen = found.output(output)
        assert repr(chosen) == repr(pkex.Explainer(THREE, outputs=1).interactions(ROWS))
        assert chosen.output_name == "0 vs 2"
