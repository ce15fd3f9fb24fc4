"""Pipelines that begin with a vectorizer: values in the columns that reach the last step."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import interventional
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC

import pkex

TEXTS = [
    "The food was good, really good",
    "the FOOD was bad",
    "good service and good mood",
    "bad bad service",
    "a mood of its own",
    "not good at all",
    "good food, bad service",
    "really bad mood",
]
GOOD = np.array([1, 0, 1, 0, 1, 0, 1, 0])
DICTS = [{"tone": text[:3], "words": float(len(text.split()))} for text in TEXTS]
EIGHT = CountVectorizer(max_features=8)


class Dense(BaseEstimator, TransformerMixin):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.toarray()

    def __sklearn_is_fitted__(self):
        return True


class Failing(Dense):
    def transform(self, X):
        if X.shape[0] == 2:
            raise RuntimeError("only counts")
        return X


def fitted(*steps, documents=TEXTS):
    return make_pipeline(*steps).fit(documents, GOOD)


PIPELINES = {
    "TfidfVectorizer, SVC": fitted(TfidfVectorizer(max_features=8), SVC()),
    "HashingVectorizer, SVR": fitted(HashingVectorizer(n_features=8), SVR()),
    "DictVectorizer, KernelRidge": fitted(
        DictVectorizer(), MaxAbsScaler(), KernelRidge(kernel="rbf"), documents=DICTS
    ),
    "FeatureHasher, LinearSVC": fitted(FeatureHasher(8), LinearSVC(), documents=DICTS),
    "steps that keep columns": fitted(
        CountVectorizer(ngram_range=(1, 2)),
        TfidfTransformer(),
        VarianceThreshold(0.001),
        make_pipeline(SelectKBest(f_classif, k=7), "passthrough"),
        Normalizer(),
        MaxAbsScaler(),
        SGDClassifier(random_state=0),
    ),
    "steps of others": fitted(EIGHT, Binarizer(), Dense(), LogisticRegression()),
    "a scaler that moves zeros": fitted(EIGHT, Dense(), StandardScaler(), SVC()),
    "union": fitted(
        make_union(
            TfidfVectorizer(max_features=4),
            CountVectorizer(analyzer="char", ngram_range=(2, 2), max_features=4),
        ),
        SVC(),
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_values_are_those_of_the_last_step_in_the_columns_that_reach_it(name):
    pipeline = PIPELINES[name]
    documents = DICTS if name.startswith(("Dict", "FeatureH")) else TEXTS
    before, model = pipeline[:-1], pipeline[-1]
    rows = before.transform(documents)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    output = model.decision_function if hasattr(model, "decision_function") else model.predict
    explainer = pkex.Explainer(pipeline, background=documents[2:])
    explanation = explainer(documents[:2])
    for row, values in zip(rows, explanation.values, strict=False):
        reference, _ = interventional(output, row, rows[2:])
        reference.assert_close(values)
    np.testing.assert_array_equal(explanation.data, rows[:2])
    hashes = any("hash" in name.lower() for name in pipeline.named_steps)
    naming = pipeline[0] if "dense" in pipeline.named_steps else before
    expected = [f"x{j}" for j in range(8)] if hashes else [*naming.get_feature_names_out()]
    assert explanation.feature_names == expected
    kind = "numbered columns" if hashes else "columns"
    title = f"of {type(model).__name__}, by {kind} of {type(pipeline[0]).__name__}"
    assert title in repr(explainer)


TEXT_MODEL = PIPELINES["TfidfVectorizer, SVC"]
CLASSIFIER = fitted(TfidfVectorizer(max_features=8), LogisticRegression())
CALIBRATED = CalibratedClassifierCV(TEXT_MODEL, ensemble=False, cv=2).fit(TEXTS, GOOD)
SEARCH = GridSearchCV(TEXT_MODEL, {"svc__C": [1.0, 2.0]}, cv=2).fit(TEXTS, GOOD)


@pytest.mark.parametrize(
    ("model", "target", "output"),
    [
        (SEARCH, None, SEARCH.decision_function),
        (TEXT_MODEL.decision_function, None, TEXT_MODEL.decision_function),
        (CLASSIFIER.predict_proba, None, CLASSIFIER.predict_proba),
        (CLASSIFIER, "log-odds", CLASSIFIER.decision_function),
        (CALIBRATED, None, CALIBRATED.calibrated_classifiers_[0].estimator.decision_function),
        (CALIBRATED, "probability", CALIBRATED.predict_proba),
    ],
    ids=[
        "search",
        "decision_function",
        "predict_proba",
        "log-odds",
        "before calibration",
        "calibrated",
    ],
)
def test_pipelines_in_other_estimators_and_their_methods_are_explained(model, target, output):
    explanation = pkex.Explainer(model, TEXTS[:3], target=target)(TEXTS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, output(TEXTS), atol=1e-12)


def test_calibrated_pipelines_that_are_frozen_are_explained():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator(TEXT_MODEL)
    model = CalibratedClassifierCV(frozen, cv=2).fit(TEXTS, GOOD)
    explanation = pkex.Explainer(model.predict_proba, TEXTS[:3])(TEXTS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(TEXTS), atol=1e-12)


def test_documents_are_any_list_of_texts_and_rows_are_accepted():
    explainer = pkex.Explainer(TEXT_MODEL)
    expected = explainer(TEXTS).values
    rows = TEXT_MODEL[:-1].transform(TEXTS)
    series = pd.Series(TEXTS, index=list("abcdefgh"))
    given = [tuple(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), series, rows]
    for documents in [*given, rows.toarray(), [text.encode() for text in TEXTS]]:
        np.testing.assert_array_equal(explainer(documents).values, expected)
    assert explainer(series)[:, "good"].to_frame().index.tolist() == list("abcdefgh")
    np.testing.assert_array_equal(explainer.shap_values(series), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(explainer))(TEXTS).values, expected)


def test_an_empty_document_is_a_row_of_zeros():
    explanation = pkex.Explainer(TEXT_MODEL, TEXTS)([""])
    output = TEXT_MODEL.decision_function([""])[0]
    assert explanation.values.sum() + explanation.base_values[0] == pytest.approx(output)
    assert not explanation.data.any()


def test_columns_are_grouped_and_chosen_by_words():
    explainer = pkex.Explainer(TEXT_MODEL, TEXTS, groups={"tone": ["good", "bad"]})
    explanation = explainer(TEXTS)
    assert explanation.feature_names[0] == "tone"
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, TEXT_MODEL.decision_function(TEXTS), atol=1e-12)
    with pytest.raises(ValueError, match="'goood', which is not a column"):
        pkex.Explainer(TEXT_MODEL, groups={"tone": ["goood"]})


def test_tokens_are_documents_of_a_callable_analyzer():
    tokens = [text.split() for text in TEXTS]
    model = fitted(CountVectorizer(analyzer=list), SVC(), documents=tokens)
    explanation = pkex.Explainer(model, tokens)(tokens)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(tokens), atol=1e-12)


def test_the_explainer_does_not_change_with_the_vectorizer():
    vectorizer = CountVectorizer(stop_words=["it's"])  # whose token "it" is not a stop word
    with pytest.warns(UserWarning, match="stop_words"):
        model = fitted(vectorizer, SVC())
    explainer = pkex.Explainer(model, TEXTS)
    expected = explainer(TEXTS).values
    vectorizer.fit(["other words"])
    np.testing.assert_array_equal(explainer(TEXTS).values, expected)


WRONG = {
    r"X is a single document\. Pass a list of documents: \[X\]": "good",
    r"X has a missing value as document 1\. Pass a list of strings": ["good", None],
    r"X has 2\.0 \(float\) as document 1": ["good", 2.0],
    r"X has 1 \(int\) as document 0": [1, 2],
    r"X has array\(\['good'\], dtype='<U4'\) \(ndarray\) as document 0": [np.array(["good"])],
    r"X has a missing value as document 0": [pd.NA],
    r"X is a NoneType\. Pass a list of strings": None,
    r"X is a set\. Pass a list of strings": {"good"},
    r"X is a ndarray\. Pass a list of strings": np.array("good"),
    "X has no documents": [],
    r"X is a table with a column of documents\. Pass the column, such as X\[name\]": pd.DataFrame(
        {"text": TEXTS}
    ),
    r"such as X\[:, 0\]": np.array(TEXTS)[:, None],
    "expected 8, got 3": np.zeros((2, 3)),
}


@pytest.mark.parametrize("message", WRONG)
def test_other_data_than_documents_raise_an_error(message):
    explainer = pkex.Explainer(TEXT_MODEL)
    for explain in (explainer, explainer.shap_values):
        with pytest.raises((TypeError, ValueError), match=message):
            explain(WRONG[message])


def test_dicts_are_documents_of_a_dict_vectorizer():
    explainer = pkex.Explainer(PIPELINES["DictVectorizer, KernelRidge"])
    np.testing.assert_array_equal(explainer(DICTS[0]).values, explainer(DICTS[:1]).values)
    with pytest.raises(TypeError, match=r"'red' \(str\) as document 0. Pass a list of dicts"):
        explainer(["red"])


def test_documents_for_a_model_of_columns_raise_an_error():
    model = SVR().fit(np.eye(3), [0.0, 1.0, 2.0])
    with pytest.raises(TypeError, match=r"X has documents .* make_pipeline\(vectorizer, model\)"):
        pkex.Explainer(model)(TEXTS)
    with pytest.raises(TypeError, match="background has documents"):
        pkex.Explainer(model, TEXTS)


NOT_SUPPORTED = {
    "step TruncatedSVD is not supported: it mixes the columns of the vectorizer": (
        lambda: fitted(TfidfVectorizer(), TruncatedSVD(2), SVC())
    ),
    "step FunctionTransformer with the function <lambda>": (
        lambda: fitted(EIGHT, FunctionTransformer(lambda X: X[:, ::-1], accept_sparse=True), SVC())
    ),
    r"step Failing is not supported: it fails for rows of zeros and ones \(only counts\)": (
        lambda: fitted(EIGHT, Failing(), SVC())
    ),
    "CountVectorizer with input='filename'.*input='content'": (
        lambda: fitted(CountVectorizer(), SVC()).set_params(countvectorizer__input="filename")
    ),
    "FeatureHasher with input_type='string'": (
        lambda: fitted(
            FeatureHasher(8, input_type="string"), SVC(), documents=[[text] for text in TEXTS]
        )
    ),
    r"VotingRegressor of a Pipeline .* make_pipeline\(vectorizer, VotingRegressor\(...\)\)": (
        lambda: VotingRegressor([("a", make_pipeline(EIGHT, Ridge()))]).fit(TEXTS, GOOD)
    ),
    "makes? 3 columns, but it was fitted on 8": lambda: _with_other_vocabulary(),
}


def _with_other_vocabulary():
    vectorizer = CountVectorizer(max_features=8)
    model = fitted(vectorizer, SVC())
    vectorizer.set_params(max_features=3).fit(TEXTS)
    return model


@pytest.mark.parametrize("message", NOT_SUPPORTED)
def test_other_pipelines_raise_an_error_with_an_alternative(message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(NOT_SUPPORTED[message]())


def test_probabilities_of_pipelines_for_each_class_raise_an_error_as_well():
    model = OneVsRestClassifier(make_pipeline(EIGHT, LogisticRegression())).fit(TEXTS, GOOD)
    with pytest.raises(pkex.UnsupportedModelError, match="OneVsRestClassifier of a Pipeline with"):
        pkex.Explainer(model, target="probability")


def test_calibrated_pipelines_of_several_folds_have_no_common_columns():
    model = CalibratedClassifierCV(TEXT_MODEL, cv=2).fit(TEXTS, GOOD)
    with pytest.raises(pkex.UnsupportedModelError, match=r"columns of its own.*ensemble=False"):
        pkex.Explainer(model, target="probability")


def test_a_vectorizer_that_is_not_fitted_is_reported():
    model = fitted(CountVectorizer(), SVC())
    model.steps[0] = ("countvectorizer", TfidfVectorizer())
    with pytest.raises(NotFittedError, match="TfidfVectorizer"):
        pkex.Explainer(model)


def test_a_table_with_a_column_of_documents_is_explained_by_the_lines_of_the_message():
    table = pd.DataFrame({"text": TEXTS, "length": [float(len(text)) for text in TEXTS]})
    before = make_column_transformer((TfidfVectorizer(), "text"), (MaxAbsScaler(), ["length"]))
    unchanged = FunctionTransformer(feature_names_out="one-to-one")
    model = make_pipeline(unchanged, before, SVC()).fit(table, GOOD)
    with pytest.raises(pkex.UnsupportedModelError, match="it is not the first step") as raised:
        pkex.Explainer(model)
    assert "Supported steps" not in str(raised.value)
    rows, explained = str(raised.value).split("rows = ")[1].split("; ")
    names = {"pkex": pkex, "model": model, "X": table}
    names["rows"] = eval(rows, names)
    explanation = eval(explained, names)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(table), atol=1e-12)
    assert explanation.feature_names == list(before.get_feature_names_out())
