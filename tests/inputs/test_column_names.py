"""Names of columns are compared whatever library a table is of."""

import numpy as np
import pytest
from sklearn.svm import SVR

import pkex
from pkex.errors import InputError

pd = pytest.importorskip("pandas")


def _arrow(frame):
    return pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)


def _arrow_batch(frame):
    return pytest.importorskip("pyarrow").RecordBatch.from_pandas(frame, preserve_index=False)


def _polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


def _dask(frame):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


TABLES = pytest.mark.parametrize("table", [pd.DataFrame, _polars, _arrow, _arrow_batch, _dask])


@pytest.fixture
def rows(rng):
    return pd.DataFrame(rng.normal(size=(40, 3)) * [1.0, 5.0, 9.0], columns=list("abc"))


@pytest.fixture
def explainer(rows):
    return pkex.Explainer(SVR().fit(rows, rows["a"] * rows["b"]), rows[:5])


@TABLES
def test_columns_in_another_order_are_an_error_of_every_kind_of_table(table, rows, explainer):
    reordered = table(rows[["b", "a", "c"]])
    calls = [
        lambda: explainer(reordered),
        lambda: pkex.mmd(rows, reordered),
        lambda: pkex.witness(rows, rows + 1.0).predict(reordered),
        lambda: pkex.MMDDrift(rows).predict(reordered),
    ]
    for call in calls:
        with pytest.raises(InputError, match="in another order"):
            call()


@TABLES
def test_names_of_every_kind_of_table_are_those_of_the_result(table, rows, explainer):
    explained = explainer(table(rows))
    assert explained.feature_names == list("abc")
    np.testing.assert_array_equal(explained.values, explainer(rows).values)
    assert pkex.hsic(table(rows), rows["a"]).feature_names == list("abc")
