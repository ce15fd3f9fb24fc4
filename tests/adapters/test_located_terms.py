"""Where the terms of vectorizers occur in texts, compared with the counts of the vectorizers."""

import unicodedata

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from pkex.adapters.sklearn.located_terms import LocatedTerms

TEXTS = [
    "The food was good, really good!  Was it the\tfood?",
    "Crème brûlée déjà vu; naïve façade, e\u0301t\u00e9",
    "İstanbul ΟΔΟΣ ſtand ﬁne",
    "  two  spaces\n\nand a\u00a0break ",
    "a",
    "",
]


def folded(text):
    """The letters of a text, without case and accents; a letter may be half of another."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in parts if not unicodedata.combining(c)).split())


def by_spaces(text):
    return text.split()


VECTORIZERS = {
    "words": {},
    "case": {"lowercase": False},
    "bigrams without stop words": {"ngram_range": (1, 2), "stop_words": ["was", "the"]},
    "trigrams": {"ngram_range": (2, 3)},
    "ascii": {"strip_accents": "ascii"},
    "unicode": {"strip_accents": "unicode", "ngram_range": (1, 2)},
    "group": {"token_pattern": r"(\w)\w+"},
    "tokenizer": {"tokenizer": by_spaces, "token_pattern": None},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "characters in words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "characters, unicode": {"analyzer": "char", "strip_accents": "unicode", "ngram_range": (2, 2)},
}


@pytest.mark.parametrize("name", VECTORIZERS)
def test_all_terms_are_found_as_often_as_the_vectorizer_counts_them(name):
    vectorizer = CountVectorizer(**VECTORIZERS[name]).fit(TEXTS)
    counts = vectorizer.transform(TEXTS).toarray()
    terms = vectorizer.get_feature_names_out()
    is_of_words = vectorizer.analyzer == "word"
    sizes = np.array([len(term.split()) if is_of_words else 1 for term in terms])
    if vectorizer.tokenizer is not None:
        sizes[:] = 1
    locate = LocatedTerms(vectorizer)
    for text, expected in zip(TEXTS, counts, strict=True):
        found = locate(text)
        own = np.bincount(found[:, 2], minlength=len(terms))
        np.testing.assert_array_equal(own, expected * sizes)
        for start, end, column in found:
            part, term = folded(text[start:end]), folded(terms[column])
            assert part in term or term in part, text[start:end]


def test_hashed_terms_are_in_the_columns_of_the_vectorizer():
    vectorizer = HashingVectorizer(n_features=2**18, norm=None, alternate_sign=False)
    counts = vectorizer.transform(TEXTS)
    for row, text in enumerate(TEXTS):
        columns, times = np.unique(LocatedTerms(vectorizer)(text)[:, 2], return_counts=True)
        np.testing.assert_array_equal(columns, np.sort(counts[[row]].indices))
        np.testing.assert_array_equal(counts[[row]].toarray()[0, columns], times)


@pytest.mark.parametrize(
    "options",
    [
        {"preprocessor": lambda text: text.replace("good", "excellent")},
        {"analyzer": lambda text: text.split()},
    ],
    ids=["preprocessor", "analyzer"],
)
def test_terms_of_functions_of_the_whole_text_are_not_located(options):
    vectorizer = CountVectorizer(**options).fit(TEXTS)
    assert len(LocatedTerms(vectorizer)(TEXTS[0])) == 0


def test_stems_are_located_only_where_they_are_whole_words():
    vectorizer = CountVectorizer(
        tokenizer=lambda text: [word.removesuffix("ing") for word in text.split()],
        token_pattern=None,
    ).fit(["run running run"])
    assert LocatedTerms(vectorizer)("running a run").tolist() == [[10, 13, 0]]
