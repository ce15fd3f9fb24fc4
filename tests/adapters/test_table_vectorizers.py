"""Tables with a column of texts, for pipelines that begin with a ColumnTransformer."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.functions.sparse_kernel_sum import SparseKernelSum

GOOD = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TABLE = pd.DataFrame(
    {
        "city": list("ababbabb"),
        "text": [
            "The food was good, really good",
            "the FOOD was bad",
            "good service and good mood",
            "bad bad service",
            "a mood of its own",
            "not good at all",
            "good food, bad service",
            "really bad mood",
        ],
        "price": [3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 9.0, 7.0],
        "unused": None,
    },
    index=list("stuvwxyz"),
)
NUMBERS = (StandardScaler(), ["price"])
CATEGORIES = (OneHotEncoder(), ["city"])


MODEL = SVC()


def fitted(*transformers, steps=(MODEL,), table=TABLE, **options):
    before = make_column_transformer(*transformers, **options)
    return clone(make_pipeline(before, *steps)).fit(table, GOOD)


AS_ARRAYS = FunctionTransformer(
    lambda rows: rows.toarray() if sparse.issparse(rows) else rows, feature_names_out="one-to-one"
)
WORDS = fitted((TfidfVectorizer(), "text"), NUMBERS, CATEGORIES)
PIPELINES = {
    "SVC": WORDS,
    "sparse": fitted(
        NUMBERS, (TfidfVectorizer(), "text"), steps=[SVR()], sparse_threshold=1.0
    ),
    "hashed": fitted((HashingVectorizer(n_features=8), "text"), NUMBERS, steps=[SVR()]),
    "steps that keep columns": fitted(
        CATEGORIES,
        (make_pipeline(CountVectorizer(ngram_range=(1, 2)), SelectKBest(f_classif, k=7)), "text"),
        ("passthrough", ["price"]),
        steps=[SelectKBest(f_classif, k=6), SVC()],
    ),
    "two columns of texts": fitted((TfidfVectorizer(), "text"), (CountVectorizer(analyzer="char"),
                                                                 "city"), NUMBERS),
    "weights": clone(WORDS).set_params(
        columntransformer__transformer_weights={"tfidfvectorizer": 3.0, "standardscaler": 0.5}
    ).fit(TABLE, GOOD),
    "several vectorizers of a column": fitted(
        CATEGORIES,
        (make_union(TfidfVectorizer(max_features=9), CountVectorizer(analyzer="char")), "text"),
        (CountVectorizer(ngram_range=(2, 2)), "text"),
    ),
    "grid search": GridSearchCV(WORDS, {"svc__C": [1.0]}, cv=2).fit(TABLE, GOOD),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINES)
def test_values_are_those_of_the_last_step_in_the_columns_that_reach_it(name):
    model = PIPELINES[name]
    pipeline = getattr(model, "best_estimator_", model)
    rows = pipeline[:-1].transform(TABLE)
    for background in ([], [TABLE[:3]]):
        own = pkex.Explainer(pipeline[-1], *[rows[:3] for _ in background])(rows)
        explainer = pkex.Explainer(model, *background)
        explanation = explainer(TABLE)
        np.testing.assert_array_equal(explanation.values, own.values)
        np.testing.assert_array_equal(explanation.row_index, TABLE.index)
        np.testing.assert_array_equal(explainer(rows).values, own.values)
        output = pipeline[-1].decision_function if hasattr(model, "classes_") else model.predict
        total = explanation.values.sum(axis=1) + explanation.base_values
        given = rows if hasattr(model, "classes_") else TABLE
        np.testing.assert_allclose(total, output(given), atol=1e-12)
    if name != "hashed":
        assert explanation.feature_names == list(pipeline[:-1].get_feature_names_out())


def test_sparse_columns_remain_sparse():
    function = pkex.Explainer(PIPELINES["sparse"])._problem.function
    assert isinstance(function, SparseKernelSum)
    assert sparse.issparse(function.points)


def test_results_show_the_text_and_its_words():
    explanation = pkex.Explainer(WORDS)(TABLE)
    text = explanation[0].to_text()
    assert "by columns of ColumnTransformer" in text
    assert "onehotencoder__city_a" in text
    assert "absent columns (11)" in text
    assert 'title="tfidfvectorizer__really: ' in explanation[0].to_html()


def test_dask_tables_have_the_same_values():
    frame = pytest.importorskip("dask.dataframe").from_pandas(TABLE, npartitions=2)
    explainer = pkex.Explainer(WORDS)
    values = explainer.shap_values(frame).compute()
    np.testing.assert_array_equal(values, explainer.shap_values(TABLE))


def test_words_are_located_after_selection_and_other_columns():
    encoder = pkex.Explainer(PIPELINES["steps that keep columns"])._problem.schema.columns.encoder
    text = TABLE["text"].iloc[6]
    found = {(text[start:end], encoder.names[place]) for start, end, place in encoder.locate(text)}
    assert found
    assert all(word in name.split("__")[1].split() for word, name in found)


def test_terms_of_several_vectorizers_of_a_column_are_located():
    explainer = pkex.Explainer(PIPELINES["several vectorizers of a column"])
    encoder = explainer._problem.schema.columns.encoder
    text = "good food"
    found = {(text[start:end], encoder.names[place]) for start, end, place in encoder.locate(text)}
    assert ("good", "featureunion__tfidfvectorizer__good") in found
    assert ("f", "featureunion__countvectorizer__f") in found
    assert ("food", "countvectorizer__good food") in found
    assert "absent columns" in explainer(TABLE)[0].to_text()


WITHOUT_TEXT = {
    "two columns of texts": PIPELINES["two columns of texts"],
    "zeros that move": fitted(
        (make_pipeline(TfidfVectorizer(), AS_ARRAYS, StandardScaler()), "text"), NUMBERS
    ),
    "zeros that move after all columns": fitted(
        (TfidfVectorizer(), "text"), NUMBERS, steps=[AS_ARRAYS, StandardScaler(), SVC()]
    ),
}


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_texts_of_several_columns_or_with_zeros_that_move_are_not_shown(name):
    text = pkex.Explainer(WITHOUT_TEXT[name])(TABLE)[0].to_text()
    assert "by columns of" not in text


def test_tables_of_the_columns_that_reach_the_model_are_explained():
    rows = WORDS[:-1].transform(TABLE)
    table = pd.DataFrame(rows, columns=WORDS[:-1].get_feature_names_out())
    explainer = pkex.Explainer(WORDS)
    np.testing.assert_array_equal(explainer.shap_values(table), explainer.shap_values(TABLE))


def test_lists_of_words_are_explained_by_an_analyzer_that_takes_them():
    table = TABLE.assign(text=[text.split() for text in TABLE["text"]])
    model = fitted((CountVectorizer(analyzer=set), "text"), NUMBERS, table=table)
    explanation = pkex.Explainer(model)(table)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(table), atol=1e-12)


def test_arrays_have_columns_by_number():
    table = TABLE.drop(columns="unused").to_numpy()
    model = fitted((TfidfVectorizer(), 1), (StandardScaler(), [2]), table=table)
    explanation = pkex.Explainer(model)(table)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(table), atol=1e-12)
    np.testing.assert_array_equal(pkex.Explainer(model)(table.tolist()).values, explanation.values)


def test_probabilities_groups_and_pickles():
    model = fitted((TfidfVectorizer(), "text"), NUMBERS, steps=[LogisticRegression()])
    groups = {"price": ["standardscaler__price"], "text": list(range(17 - 2))}
    explainer = pkex.Explainer(model, TABLE, target="probability", groups=groups)
    explanation = pickle.loads(pickle.dumps(explainer))(TABLE[:2])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(TABLE[:2]), atol=1e-12)
    assert explanation.feature_names == ["text", "price"]


def test_later_changes_of_the_model_do_not_change_the_explainer():
    model = fitted((TfidfVectorizer(), "text"), NUMBERS)
    explainer = pkex.Explainer(model)
    expected = explainer(TABLE).values
    model[0].named_transformers_["standardscaler"].mean_[:] = 0.0
    np.testing.assert_array_equal(explainer(TABLE).values, expected)


WRONG = {
    r"X has other columns than the model: missing \['text'\]": TABLE.drop(columns="text"),
    "X has its columns in another order": TABLE[["text", "city", "price", "unused"]],
    r"X has a missing value in row 1 of the column of texts 'text'\. Pass a text, such as ''": (
        TABLE.assign(text=["good", None] * 4)
    ),
    "X cannot be transformed by .*unknown categories.*Leave out rows with these": (
        TABLE.assign(city="c")
    ),
    "X has no rows": TABLE[:0],
    "X is a list.* pass a table with the columns that the model": ["good"],
    "X is a dict": {"text": "good"},
    r"X is a list\. Pass a table": TABLE.to_dict("records")[:4],
    "X has rows of different lengths": [["a", "good", 1.0, None], ["a"]],
    "X has no column names": TABLE.to_numpy(),
    "missing value .*standardscaler__price": TABLE.assign(price=np.nan),
}


@pytest.mark.parametrize("message", WRONG)
def test_other_tables_raise_an_error(message):
    explainer = pkex.Explainer(WORDS)
    for explain in (explainer, explainer.shap_values):
        with pytest.raises((TypeError, ValueError), match=f"(?i){message}"):
            explain(WRONG[message])


def with_input(kind):
    model = fitted((TfidfVectorizer(), "text"), NUMBERS)
    model[0].named_transformers_["tfidfvectorizer"].set_params(input=kind)
    return model


NOT_SUPPORTED = {
    "step PCA is not supported": lambda: fitted((TfidfVectorizer(), "text"), (PCA(1), ["price"])),
    "step TruncatedSVD is not supported: it mixes the columns of the vectorizer": lambda: fitted(
        (make_pipeline(TfidfVectorizer(), TruncatedSVD(2)), "text"), NUMBERS
    ),
    r"have no names, .*FunctionTransformer.*\. Use .*feature_names_out='one-to-one'": (
        lambda: fitted((TfidfVectorizer(), "text"), (FunctionTransformer(np.log1p), ["price"]))
    ),
    "have no names, or not different ones .*Use verbose_feature_names_out=True": lambda: fitted(
        (TfidfVectorizer(), "text"), (CountVectorizer(), "text"), verbose_feature_names_out=False
    ),
    "with input='file' is not supported": lambda: with_input("file"),
    "it is not the first step": lambda: make_pipeline(
        FunctionTransformer(), make_column_transformer((TfidfVectorizer(), "text"), NUMBERS), SVR()
    ).fit(TABLE, GOOD),
}


@pytest.mark.parametrize("message", NOT_SUPPORTED)
def test_other_pipelines_raise_an_error(message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(NOT_SUPPORTED[message]())
