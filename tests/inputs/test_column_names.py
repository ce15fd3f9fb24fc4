"""Names of columns are compared whatever library a table is of."""

import pickle

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


def test_a_frame_of_pandas_may_have_columns_named_like_attributes_of_other_tables(rng):
    names = ["column_names", "toarray"]
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=names)
    explainer = pkex.Explainer(SVR().fit(frame.to_numpy(), frame["toarray"]), frame[:5])
    assert explainer(frame).feature_names == names
    assert pkex.mmd(frame, frame + 1.0).feature_names == names
    with pytest.raises(InputError, match="in another order"):
        explainer(frame[names[::-1]])


@pytest.mark.parametrize("label", ["columns", "column_names", "to_pylist"])
def test_a_series_may_have_a_row_named_like_an_attribute_of_a_table(rng, label):
    x = rng.normal(size=(20, 2))
    y = pd.Series(x[:, 0], index=[label, *range(1, 20)])
    assert pkex.hsic(x, y).statistic == pkex.hsic(x, x[:, 0]).statistic
    weights = (y.abs(), None)
    expected = pkex.mmd(x, x + 1.0, weights=(y.abs().to_numpy(), None)).values
    np.testing.assert_array_equal(pkex.mmd(x, x + 1.0, weights=weights).values, expected)


@pytest.mark.parametrize("table", [pd.DataFrame, _dask])
def test_integers_that_label_columns_are_compared_with_those_of_the_background(table, rows):
    numbered = rows.set_axis(range(3), axis=1)
    explainer = pkex.Explainer(SVR().fit(numbered, rows["a"]), numbered[:5])
    expected = explainer(numbered).values
    for same in (numbered, rows):
        np.testing.assert_array_equal(explainer(table(same)).values, expected)
    np.testing.assert_array_equal(explainer(rows.to_numpy()).values, expected)
    for other, message in (([2, 1, 0], "another order than the background"), ([1, 2, 3], "other")):
        labeled = table(numbered.set_axis(other, axis=1))
        with pytest.raises(InputError, match=message):
            explainer(labeled)
        with pytest.raises(InputError, match=message):
            explainer.interactions(labeled)


def test_a_dict_is_not_a_row_of_columns_with_equal_names(rows):
    names = ["a", "a", "c"]
    model = pkex.KernelExpansion(rows, rows["a"], pkex.kernels.RBF(), feature_names=names)
    with pytest.raises(InputError, match="several columns of the model are named 'a'"):
        pkex.Explainer(model)({"a": 1.0, "c": 2.0})


def test_errors_give_the_number_of_a_column_whose_name_others_have(rows):
    equal = rows.set_axis(["a", "a", "c"], axis=1)
    equal.iloc[2, 1] = np.nan
    model = pkex.KernelExpansion(np.eye(3), np.ones(3), pkex.kernels.RBF())
    for call in (pkex.Explainer(model), lambda table: pkex.mmd(rows.to_numpy(), table)):
        with pytest.raises(InputError, match="in row 2, column 1") as caught:
            call(equal)
        assert caught.value.column == 1
    text = equal.astype(object)
    text.iloc[3, 0] = "x"
    with pytest.raises(InputError, match="row 3, column 0"):
        pkex.Explainer(model)(text)


def test_integers_that_label_columns_are_compared_with_those_of_a_witness_function(rows):
    numbered = rows.set_axis(range(3), axis=1)
    witness = pkex.witness(numbered, numbered + 1.0, kernel=pkex.kernels.RBF([1.0, 5.0, 9.0]))
    witness = pickle.loads(pickle.dumps(witness))
    calls = [witness.predict, pkex.Explainer(witness), lambda X: pkex.sensitivity(witness, X)]
    for call in calls:
        for same in (numbered, rows, rows.to_numpy()):
            call(same)
        with pytest.raises(InputError, match=r"in another order than the (expansion|model)"):
            call(numbered[[2, 1, 0]])
    with pytest.raises(InputError, match="background has its columns in another order"):
        pkex.Explainer(witness, numbered[[2, 1, 0]])
