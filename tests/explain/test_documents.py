"""Explanations of documents: tables, reports, documents of JSON, and shap's plots."""

import json
import pickle
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from pages import Page, check_page
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC

import pkex

TEXTS = [
    "The food was <b>good</b>, really good & cheap.",
    "The food was bad",
    "Good service and good mood",
    "bad bad service",
    "a mood of its own",
    "not good at all",
]
GOOD = np.array([1, 0, 1, 0, 1, 0])
MODEL = make_pipeline(TfidfVectorizer(), SVC()).fit(TEXTS, GOOD)
EXPLANATION = pkex.Explainer(MODEL)(TEXTS)
OUTPUTS = MODEL.decision_function(TEXTS)
BIGRAMS = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), stop_words=["was"]), LinearSVC(random_state=0)
).fit(TEXTS, [0, 1, 2, 0, 1, 2])
OF_CLASSES = pkex.Explainer(BIGRAMS, TEXTS)(TEXTS)


def last_numbers(text, column):
    return [float(line.split("  ")[column]) for line in text]


@pytest.mark.parametrize("n_lines", [2, 8])
def test_the_lines_of_a_document_are_present_words_and_sums_that_add_up(n_lines):
    for place, text in enumerate(TEXTS):
        head, titles, *lines = EXPLANATION[place].to_text(n_lines).splitlines()
        assert "decision_function of SVC, by columns of TfidfVectorizer" in head
        assert titles.split() == ["word", "value", "data"]
        cells = [re.split(r" {2,}", line) for line in lines]
        words = [name for name, *_ in cells if not name.endswith(")")]
        assert len(words) <= n_lines
        assert all(word in text.lower() for word in words)
        sizes = [abs(float(value)) for (name, value, *_) in cells if not name.endswith(")")]
        assert sizes == sorted(sizes, reverse=True)
        total = sum(float(value) for _, value, *_ in cells)
        assert total + EXPLANATION.base_values[place] == pytest.approx(OUTPUTS[place], abs=1e-3)
        n_absent = int((EXPLANATION.data[place] == 0).sum())
        assert cells[-1][0] == f"absent words ({n_absent})"
    assert "other present words (4)  " in EXPLANATION[0].to_text(2)


def test_lines_of_several_outputs_and_other_documents():
    lines = OF_CLASSES[0].to_text(3).splitlines()
    assert lines[1].split() == ["value", "of", "0", "1", "2", "data"]
    assert lines[-1].startswith("absent terms (")
    assert lines[-2].startswith("other present terms (")
    hashing = make_pipeline(HashingVectorizer(n_features=2**16), SVC()).fit(TEXTS, GOOD)
    table = repr(pkex.Explainer(hashing)(TEXTS)[1])
    assert re.search(r"^hashed word .*^x\d+ \(bad\) ", table, re.MULTILINE | re.DOTALL)
    assert "absent hashed words (65,532)" in table
    dicts = [{"a": 1.0, "b": "x"}, {"a": 2.0}, {"b": "y"}]
    model = make_pipeline(DictVectorizer(sparse=False), SVR()).fit(dicts, [1.0, 2.0, 3.0])
    assert "absent columns (2)" in repr(pkex.Explainer(model)(dicts[1]))
    groups = {"tone": ["good", "bad"], "food": ["the", "food", "was"]}
    tone = pkex.Explainer(MODEL, groups=groups)(TEXTS[1:2])
    assert re.search(r"^tone +[-\d.]+ .*^absent features", repr(tone), re.MULTILINE | re.DOTALL)
    page = check_page(tone.to_html())
    notes = [e["attributes"].get("title", "") for e in page.all("span")]
    assert sum(note.startswith("food: ") for note in notes) == 3
    assert sum(note.startswith("tone: ") for note in notes) == 1


def test_the_text_is_shown_with_a_note_for_each_word_and_its_sign():
    page = check_page(EXPLANATION[0].to_html())
    (paragraph,) = [p for p in page.all("p") if p["attributes"].get("class") == "text"]
    assert "its words colored" in paragraph["attributes"]["aria-label"]
    words = [s for s in page.all("span") if "title" in s["attributes"]]
    shown = [word["text"].split(" (")[0] for word in words]
    assert shown == ["The", "food", "was", "good", "really", "good", "cheap"]
    row = EXPLANATION[0]
    for word in words:
        name, _, value = word["attributes"]["title"].partition(": ")
        assert name == word["text"].split(" (")[0].lower()
        number = float(value.replace("−", "-"))
        assert number == pytest.approx(row[name].values, abs=1e-4)
        kind = word["attributes"].get("class")
        assert kind in (None, "raises" if number > 0 else "lowers")
        # Screen readers and plain text have the number of colored words.
        assert (f"({value})" in word["text"]) == (kind is not None)
    strongest = max(words, key=lambda word: abs(row[word["text"].split(" (")[0].lower()].values))
    assert strongest["attributes"]["style"] == "--share:1.00"
    plain = re.sub(r'<span class="unseen">.*?</span>', "", page.source)
    plain = unescape(re.sub("<[^>]+>", "", plain[plain.index('class="text"') :]).split(">", 1)[1])
    assert plain.startswith(TEXTS[0])
    (caption,) = [text for text in page.text("figcaption") if text.startswith("Output")]
    assert "(present words)" in caption
    assert page.text("h1") == [
        "Explanation of decision_function of SVC, by columns of TfidfVectorizer"
    ]
    heads, *lines = page.cells()
    assert heads == ["word", "value", "data"]
    total = sum(float(value) for _, value, _ in lines)
    assert total + row.base_values == pytest.approx(OUTPUTS[0], abs=1e-3)
    absent = np.flatnonzero(row.data == 0)
    strongest_absent = row.feature_names[absent[np.argmax(np.abs(row.values[absent]))]]
    assert any(f"absent {strongest_absent} " in text for text in page.text("p")[0:1])


def test_notebooks_show_the_text_above_the_table():
    for row in (EXPLANATION[0], EXPLANATION[:1]):
        page = Page(row._repr_html_())
        text = next(p for p in page.all("p") if "pre-wrap" in p["attributes"]["style"])
        assert text["text"] == TEXTS[0]
        styles = {s["text"]: s["attributes"].get("style", "") for s in page.all("span")}
        assert "2px solid" in styles["good"]
        assert page.cells()[-1][0] == "absent words (10)"
    assert "2px dotted" in EXPLANATION[1]._repr_html_()
    for other in (EXPLANATION, EXPLANATION[0, "good"], OF_CLASSES[0]):
        assert "pre-wrap" not in other._repr_html_()


def test_words_of_several_terms_have_the_sum_of_their_values():
    row = OF_CLASSES[0, :, 1]
    page = check_page(row.to_html())
    notes = {s["text"].split(" (")[0]: s["attributes"].get("title") for s in page.all("span")}
    terms = ["food good", "food", "the food"]  # "was" is a stop word
    parts = dict(part.split(": ") for part in notes["food"].split("; "))
    assert {*terms, "sum"} == parts.keys()
    expected = sum(row[term].values for term in terms)
    assert float(parts["sum"].replace("−", "-")) == pytest.approx(expected, abs=1e-4)
    assert any("has the color of their sum" in text for text in page.text("figcaption"))


def test_words_of_a_group_are_said_to_have_its_value():
    groups = {"quality": ["good", "bad", "cheap"]}
    explanation = pkex.Explainer(MODEL, groups=groups)(TEXTS)
    page = explanation[0].to_html()
    assert page.count("A group has one value for all its words, present and absent") == 2
    assert "(features with a present word)" in page
    assert "present features)" not in page
    assert "A group" not in EXPLANATION[0].to_html()


def test_linear_models_of_texts_require_a_sample_of_texts():
    with pytest.raises(ValueError, match=r"background is required.*Pass background=texts\[:100\]"):
        pkex.Explainer(BIGRAMS)


def test_several_documents_and_outputs_are_shown_one_after_the_other():
    titles = check_page(EXPLANATION.to_html()).text("h3")
    assert titles[:2] == ["Document 1, output 1 vs 0", "Document 2, output 1 vs 0"]
    titles = check_page(OF_CLASSES[:2].to_html()).text("h3")
    assert titles[:6] == [f"Document {d}, output {o}" for d in (1, 2) for o in range(3)]
    many = pkex.Explainer(MODEL)(TEXTS * 6)
    assert "6 more texts not shown" in check_page(many.to_html()).text("li")[0]


def test_parts_of_words_are_quoted_and_documents_have_the_labels_of_their_rows():
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 2))
    model = make_pipeline(vectorizer, SVC()).fit(TEXTS, GOOD)
    texts = pd.Series(TEXTS[:2], index=["first <review>", "second"])
    explanation = pkex.Explainer(model)(texts)
    page = check_page(explanation.to_html())
    assert page.text("h3")[0] == "Document first <review>, output 1 vs 0"
    notes = [s["attributes"].get("title", "") for s in page.all("span")]
    assert any("“ f”: " in note for note in notes)
    assert "“ f”" in explanation[0].to_text(100)


def test_words_that_are_not_located_are_listed_only():
    model = make_pipeline(
        CountVectorizer(preprocessor=lambda text: text.lower().replace("good", "excellent")), SVC()
    ).fit(TEXTS, GOOD)
    row = pkex.Explainer(model)(TEXTS)[0]
    page = check_page(row.to_html())
    assert "excellent" in [line[0] for line in page.cells()]
    assert "6 present words not found in the text" in page.source
    parts = row.to_shap(tokens=True)
    assert list(parts.data) == [TEXTS[0], " [6 other present words]", " [10 absent words]"]
    assert parts.values.sum() == pytest.approx(row.values.sum())


def test_importance_and_tables_of_many_columns_are_limited_to_the_strongest():
    texts = [f"word{k:03} word{k + 1:03}" for k in range(150)]
    model = make_pipeline(CountVectorizer(), SVR()).fit(texts, np.arange(150.0))
    explanation = pkex.Explainer(model)(texts[:3])
    page = check_page(explanation.to_html())
    assert len(page.cells()) == 101
    assert any("(51 smaller features not shown)" in text for text in page.text("caption"))
    assert explanation.importance().shape == (151,)


def test_slices_and_documents_of_json_keep_the_texts():
    part = EXPLANATION[[4, 0], ["mood", "good"]]
    assert "absent words (1)" in repr(part[1])
    for explanation in (EXPLANATION, part, part[0], OF_CLASSES, EXPLANATION[2, "good"]):
        document = json.loads(json.dumps(explanation.to_dict()))
        read = pkex.Explanation.from_dict(document)
        assert read.to_dict() == document
        for copy in (read, pickle.loads(pickle.dumps(explanation))):
            assert repr(copy) == repr(explanation)
            assert copy.to_html() == explanation.to_html()
    centered = EXPLANATION.centered()[0]
    assert "absent words" in repr(centered)
    assert "documents" not in pkex.Explanation([[1.0]], [0.0], [[2.0]], ["a"]).to_dict()


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("texts", [1, *TEXTS[1:]]),
        ("texts", TEXTS[:2]),
        ("present", [[99], *[[]] * 5]),
        ("located", [[[0, 999, 0]], *[[]] * 5]),
        ("located", 3),
    ],
    ids=range(5),
)
def test_wrong_documents_of_json_are_errors_of_the_field(field, wrong):
    document = EXPLANATION.to_dict()
    document["documents"] = {**document["documents"], field: wrong}
    with pytest.raises(ValueError, match=r"Explanation.documents document: .*texts|located"):
        pkex.Explanation.from_dict(document)


def test_shap_draws_the_parts_of_a_text():
    shap = pytest.importorskip("shap")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    one = EXPLANATION[0].to_shap(tokens=True)
    assert "".join(one.data).startswith(TEXTS[0])
    assert list(one.data[3:6]) == ["good</b>, ", "really ", "good & "]
    assert one.values[3] == pytest.approx(EXPLANATION[0, "good"].values / 2)
    assert one.values.sum() + one.base_values == pytest.approx(OUTPUTS[0])
    several = EXPLANATION.to_shap(tokens=True)
    classes = OF_CLASSES.to_shap(tokens=True)
    decisions = BIGRAMS.decision_function(TEXTS)
    for row in range(len(TEXTS)):
        total = several[row].values.sum() + several[row].base_values
        assert total == pytest.approx(OUTPUTS[row])
        total = classes[row].values.sum(axis=0) + classes[row].base_values
        np.testing.assert_allclose(total, decisions[row], atol=1e-12)
    for explained in (one, several, classes, classes[0]):
        assert "food" in shap.plots.text(explained, display=False)
    for explained in (one, EXPLANATION.to_shap(), EXPLANATION[0].to_shap()):
        shap.plots.bar(explained, show=False)
    matplotlib.pyplot.close("all")


def test_only_texts_have_tokens():
    pytest.importorskip("shap")
    with pytest.raises(ValueError, match=r"to_shap\(tokens=True\) requires explained texts"):
        pkex.Explanation([[1.0]], [0.0], [[2.0]], ["a"]).to_shap(tokens=True)
