"""pkex.witness: what pkex.mmd attributes, as a function to explain."""

import pickle

import numpy as np
import pandas as pd
import pytest

import pkex
from pkex.kernels import RBF

N, M = 13, 17  # rows of `samples`


def explained(points, coefficients, rows):
    expansion = pkex.KernelExpansion(points, coefficients, RBF(2.0))
    return pkex.Explainer(expansion, value_function="neutral").shap_values(rows)


def test_biased_values_are_a_signed_sum_of_explanations_of_the_witness(samples):
    witness = pkex.witness(*samples, kernel=RBF(2.0))
    explanations = pkex.Explainer(witness, value_function="neutral").shap_values(
        np.concatenate(samples)
    )
    neutral = {"kernel": RBF(2.0), "value_function": "neutral"}
    result = pkex.mmd(*samples, estimator="biased", **neutral)
    np.testing.assert_allclose(
        witness.coefficients @ explanations, result.values, rtol=0, atol=1e-15
    )
    assert result.statistic == pytest.approx(
        witness.predict(samples[0]).mean() - witness.predict(samples[1]).mean(), abs=1e-14
    )


def test_unbiased_values_are_a_difference_of_mean_explanations(samples):
    x, y = samples
    pooled = np.concatenate(samples)
    # A row's own term explains nothing, so that it need not be left out.
    of_x = explained(pooled, np.repeat([1 / (N - 1), -1 / M], [N, M]), x).mean(axis=0)
    of_y = explained(pooled, np.repeat([1 / N, -1 / (M - 1)], [N, M]), y).mean(axis=0)
    result = pkex.mmd(x, y, kernel=RBF(2.0), value_function="neutral")
    np.testing.assert_allclose(of_x - of_y, result.values, rtol=0, atol=1e-15)


def test_the_default_kernel_of_the_witness_is_that_of_mmd(samples):
    assert pkex.witness(*samples).kernel == pkex.mmd(*samples).kernel


def test_the_witness_knows_the_names_of_its_columns(samples):
    names = list("abcdefg")
    x, y = (pd.DataFrame(sample, columns=names) for sample in samples)
    for witness in (pkex.witness(x, y), pkex.witness(x, samples[1]), pkex.witness(samples[0], y)):
        for known in (witness, pickle.loads(pickle.dumps(witness))):
            explainer = pkex.Explainer(known)
            assert list(known.feature_names) == explainer.feature_names == names
            assert explainer(samples[0]).feature_names == names
            np.testing.assert_array_equal(known.predict(x), known.predict(samples[0]))
            for call in (explainer, known.predict):
                with pytest.raises(ValueError, match="X has its columns in another order"):
                    call(x[names[::-1]])
    grouped = pkex.Explainer(witness, groups={"pair": ["a", "c"]})
    assert grouped(x).feature_names == ["pair", "b", "d", "e", "f", "g"]
    assert pkex.witness(*samples).feature_names is None
