"""Classes against the mean of all others, from the pairs that a machine has."""

import numpy as np
import pytest
from sklearn.svm import SVC

import pkex
from pkex.results.class_pairs import classes_of_pairs

RNG = np.random.default_rng(8)
X = RNG.normal(size=(80, 3))
FOUR = np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.0, 0.5])
MODEL = SVC(decision_function_shape="ovo").fit(X, FOUR)
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("label", range(4))
def test_a_class_is_the_mean_of_its_pairs_signed_for_it(label):
    explanation = pkex.Explainer(MODEL, X[:10])(X[:5])
    of_classes = explanation.by_class()
    name = f"{label} vs others"
    expected, total = np.zeros((5, 3)), np.zeros(5)
    for place, pair in enumerate(PAIRS):
        if label in pair:
            sign = 1.0 if label == pair[0] else -1.0
            expected += sign * explanation.values[..., place] / 3.0
            total += sign * MODEL.decision_function(X[:5])[:, place] / 3.0
    found = of_classes[..., name]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-14)
    added = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(added, total, rtol=0, atol=1e-12)


def test_classes_of_sliced_explanations_are_the_slices_of_classes():
    explanation = pkex.Explainer(MODEL, X[:10])(X[:5])
    whole = explanation.by_class()
    assert isinstance(whole, pkex.Explanation)
    assert whole.output_names == [f"{label} vs others" for label in range(4)]
    for key in (2, (slice(1, 3), "x1"), (0, [0, 2])):
        np.testing.assert_array_equal(explanation[key].by_class().values, whole[key].values)
    np.testing.assert_allclose(whole.values.sum(axis=-1), 0.0, rtol=0, atol=1e-15)


def test_classes_are_told_apart_whatever_their_names():
    assert classes_of_pairs(["'a vs b' vs 'a'", "'a vs b' vs 'b'", "'a' vs 'b'"]) == [
        "'a vs b'",
        "'a'",
        "'b'",
    ]
    assert classes_of_pairs(["a vs b", "a vs c", "c vs b"]) is None
    assert classes_of_pairs(["a", "b", "c"]) is None
    assert classes_of_pairs([]) is None


def test_outputs_that_are_no_pairs_are_refused():
    two = SVC().fit(X, FOUR > 1)
    with pytest.raises(ValueError, match=r"pairs of three or more classes.*a single output"):
        pkex.Explainer(two)(X[:2]).by_class()
    with pytest.raises(ValueError, match=r"pairs of three or more classes.*the outputs"):
        pkex.Explainer(MODEL, outputs=[0, 5])(X[:2]).by_class()
