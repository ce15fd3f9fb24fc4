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


@pytest.mark.parametrize(
    "options",
    [
        {"transform": np.tanh},
        {"transform": lambda outputs: 1.0 / (1.0 + np.exp(-outputs)), "link": "logit"},
    ],
)
def test_a_transform_of_the_witness_of_tables(rng, options):
    n = 30
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.random(n) * 9.0, "D")
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "category": pd.Categorical(rng.choice(["u", "v"], n)),
            "boolean": rng.random(n) > 0.5,
            "text": rng.choice(["x", "y", None], n),
            "date": dates,
            "duration": pd.to_timedelta(rng.random(n), "D"),
            "days": pd.Categorical(dates.floor("D")),
        }
    )
    witness = pkex.witness(table[: n // 2], table[n // 2 :])
    explainer = pkex.Explainer(witness, table[6:], **options)
    outputs = options["transform"](witness.predict(table[:3]))
    if "link" in options:
        outputs = np.log(outputs / (1.0 - outputs))
    drawn = explainer.estimate(table[:3], n_permutations=20, random_state=0)
    for explanation in (explainer(table[:3]), drawn):
        sums = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(sums, outputs, atol=1e-12)


def test_missing_values_are_returned_to_the_form_of_the_table(rng):
    table = pd.DataFrame({"x": [0.5, np.nan, 2.0, 3.0], "y": [1.0, 2.0, 4.0, 3.0]})
    witness = pkex.witness(table, table + 1.0, missing="indicator")
    explainer = pkex.Explainer(witness, table, transform=np.tanh)
    np.testing.assert_allclose(
        explainer(table).values.sum(axis=1) + explainer.expected_value,
        np.tanh(witness.predict(table)),
        atol=1e-12,
    )
