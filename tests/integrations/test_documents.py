"""Documents in the interfaces of shap and shapiq, and in Dask collections."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import pkex

TEXTS = ["good food", "bad food", "good service and good mood", "bad service", "a mood"]
MODEL = make_pipeline(TfidfVectorizer(), SVC()).fit(TEXTS, [1, 0, 1, 0, 1])
EXPECTED = pkex.Explainer(MODEL, TEXTS)(TEXTS).values


@pytest.mark.parametrize("documents", [TEXTS, np.array(TEXTS), pd.Series(TEXTS)], ids=type)
def test_shaps_explainer_takes_documents(documents):
    pytest.importorskip("shap")
    from pkex.integrations.shap import KernelMachineExplainer

    explainer = KernelMachineExplainer(MODEL, documents)
    np.testing.assert_array_equal(explainer(documents).values, EXPECTED)
    np.testing.assert_array_equal(explainer.shap_values(documents), EXPECTED)
    np.testing.assert_array_equal(explainer.explain(documents[:1]), EXPECTED[0])
    row = MODEL[:-1].transform(TEXTS).toarray()[1]
    np.testing.assert_array_equal(explainer.shap_values(row), EXPECTED[1])


def test_shapiqs_explainer_takes_documents():
    pytest.importorskip("shapiq")
    from pkex.integrations.shapiq import KernelGame, ProductKernelExplainer

    explainer = ProductKernelExplainer(MODEL, TEXTS)
    for document in (TEXTS[0], TEXTS[:1]):
        values = explainer.explain(document).get_n_order_values(1)
        np.testing.assert_allclose(values, EXPECTED[0], atol=1e-15)
    assert len(explainer.explain_X(TEXTS)) == len(TEXTS)
    everything = np.ones((1, EXPECTED.shape[1]), dtype=bool)
    game = KernelGame(MODEL, TEXTS[0], TEXTS, normalize=False)
    assert game(everything)[0] == pytest.approx(MODEL.decision_function(TEXTS[:1])[0])


def test_a_dask_series_of_documents_is_explained_lazily():
    dd = pytest.importorskip("dask.dataframe")
    series = dd.from_pandas(pd.Series(TEXTS), npartitions=2)
    values = pkex.Explainer(MODEL, TEXTS).shap_values(series)
    np.testing.assert_array_equal(values.compute(), EXPECTED)
