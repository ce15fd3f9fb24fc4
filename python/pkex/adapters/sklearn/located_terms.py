"""Where the terms of a vectorizer's columns occur in a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from pkex.tables.documents import Occurrences

# A term, and the starts and ends of its words or characters in the preprocessed text.
_Term = tuple[str, list[tuple[int, int]]]
_SPACES = re.compile(r"\s\s+")


class LocatedTerms:
    """Locates terms by the analysis of a vectorizer of texts.

    The positions are those of the vectorizer's own terms: if this analysis finds other
    terms than the vectorizer's analyzer, no term is located.

    Parameters
    ----------
    vectorizer : CountVectorizer, TfidfVectorizer or HashingVectorizer
    """

    def __init__(self, vectorizer: Any) -> None:
        self._vectorizer = vectorizer

    def __call__(self, text: str) -> Occurrences:
        """Return start, end and column of each word or sequence of characters of a term."""
        vectorizer = self._vectorizer
        processed_text, origins = _preprocess(vectorizer, text)
        if processed_text is None or callable(vectorizer.analyzer):
            return np.empty((0, 3), dtype=np.intp)
        if vectorizer.analyzer == "word":
            terms = _word_terms(vectorizer, processed_text)
        else:
            processed_text, origins = _collapse_spaces(processed_text, origins)
            find_terms = _char_terms if vectorizer.analyzer == "char" else _char_terms_of_words
            terms = list(find_terms(processed_text, *vectorizer.ngram_range))
        if Counter(term for term, _ in terms) != Counter(vectorizer.build_analyzer()(text)):
            return np.empty((0, 3), dtype=np.intp)
        columns = _columns(vectorizer, [term for term, _ in terms])
        occurrences = [
            (origins[start], origins[end - 1] + 1, column)
            for (_, places), column in zip(terms, columns, strict=True)
            for start, end in places
            if column >= 0 and start < end
        ]
        return np.array(occurrences, dtype=np.intp).reshape(-1, 3)


def _preprocess(vectorizer: Any, text: str) -> tuple[str | None, list[int]]:
    """Return the preprocessed text and the place in the text of each of its characters.

    None if a preprocessor changes more than single characters.
    """
    preprocess = vectorizer.build_preprocessor()
    processed_text = preprocess(text)
    is_custom = vectorizer.preprocessor is not None or callable(vectorizer.strip_accents)
    # Lower case has at least as many characters.
    if not (is_custom or vectorizer.strip_accents) and len(processed_text) == len(text):
        return processed_text, list(range(len(text)))
    pieces = [preprocess(character) for character in text]
    concatenation = "".join(pieces)
    # The lower case of Σ depends on its neighbors.
    if processed_text != concatenation and (is_custom or len(processed_text) != len(concatenation)):
        return None, []
    return processed_text, [place for place, piece in enumerate(pieces) for _ in piece]


def _collapse_spaces(text: str, origins: list[int]) -> tuple[str, list[int]]:
    """Return a text with one space for several, and the origins of its characters."""
    new_origins: list[int] = []
    pieces, end = [], 0
    for match in _SPACES.finditer(text):
        pieces += [text[end : match.start()], " "]
        new_origins += [*origins[end : match.start()], origins[match.start()]]
        end = match.end()
    return "".join([*pieces, text[end:]]), [*new_origins, *origins[end:]]


def _word_terms(vectorizer: Any, text: str) -> list[_Term]:
    """Return the n-grams of words, without stop words."""
    tokens = list(_tokens(vectorizer, text))
    stop_words = vectorizer.get_stop_words()
    if stop_words is not None:
        tokens = [token for token in tokens if token[0] not in stop_words]
    low, high = vectorizer.ngram_range
    terms = []
    for n in range(low, min(high, len(tokens)) + 1):
        for first in range(len(tokens) - n + 1):
            words = tokens[first : first + n]
            places = [place for _, place in words if place is not None]
            is_located = len(places) == n
            term = words[0][0] if n == 1 else " ".join(word for word, _ in words)
            terms.append((term, places if is_located else []))
    return terms


def _tokens(vectorizer: Any, text: str) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield the words of a text with their places, None for words that are not in the text."""
    if vectorizer.tokenizer is None:
        pattern = re.compile(vectorizer.token_pattern)
        for match in pattern.finditer(text):
            yield match.group(pattern.groups), match.span(pattern.groups)
        return
    end = 0
    for token in vectorizer.tokenizer(text):
        occurrence = (
            _word_pattern(token).search(text, end) if isinstance(token, str) and token else None
        )
        yield token, None if occurrence is None else occurrence.span()
        end = end if occurrence is None else occurrence.end()


def _word_pattern(token: str) -> re.Pattern[str]:
    """Return a pattern of a token that is not a part of a longer word."""
    start, end = (r"\b" if edge.isalnum() else "" for edge in (token[0], token[-1]))
    return re.compile(start + re.escape(token) + end)


def _char_terms(text: str, low: int, high: int) -> Iterator[_Term]:
    """Yield the n-grams of characters."""
    for n in range(low, min(high, len(text)) + 1):
        for start in range(len(text) - n + 1):
            yield text[start : start + n], [(start, start + n)]


def _char_terms_of_words(text: str, low: int, high: int) -> Iterator[_Term]:
    """Yield the n-grams of characters in words, which have a space on both sides."""
    for match in re.finditer(r"\S+", text):
        word = f" {match[0]} "
        for n in range(low, high + 1):
            for first in range(max(1, len(word) - n + 1)):
                start = match.start() + first - 1
                place = (max(start, match.start()), min(start + n, match.end()))
                yield word[first : first + n], [place]
            if n >= len(word):  # short words are counted once
                break


def _columns(vectorizer: Any, terms: list[str]) -> list[int]:
    """Return the columns of terms, -1 for terms that have none."""
    if not terms:
        return []
    if hasattr(vectorizer, "vocabulary_"):
        return [vectorizer.vocabulary_.get(term, -1) for term in terms]
    hasher = FeatureHasher(vectorizer.n_features, input_type="string")
    columns: list[int] = hasher.transform([[term] for term in terms]).indices.tolist()
    return columns
