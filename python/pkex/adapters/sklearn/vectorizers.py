"""Pipelines that begin with a vectorizer: documents as rows in the columns of the last step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.adapted_model import AdaptedModel, derive_variance
from pkex.adapters.sklearn.estimators import FrozenEstimator, check_fitted, dense, frozen_estimator
from pkex.adapters.sklearn.located_terms import LocatedTerms
from pkex.adapters.sklearn.step_maps import column_map
from pkex.adapters.sklearn.steps import STEPS, copy_for_arrays, unsupported_step
from pkex.errors import UnsupportedModelError
from pkex.results.tables import shortened
from pkex.tables.documents import DocumentEncoder, Documents, Occurrences
from pkex.tables.missing import is_missing
from pkex.typing import Float

OF_TEXTS = (CountVectorizer, HashingVectorizer)  # TfidfVectorizer is a CountVectorizer
_OF_DICTS = (DictVectorizer, FeatureHasher)
HASHING = (HashingVectorizer, FeatureHasher)


def vectorization(steps: Sequence[Any], model: Any) -> Vectorization | None:
    """Return the encoder of steps that begin with a vectorizer; None for other steps.

    Parameters
    ----------
    steps : sequence of estimators
    model : Pipeline
        The fitted steps after them, whose columns are explained.

    Raises
    ------
    UnsupportedModelError
        If a step after the vectorizer mixes its columns.
    sklearn.exceptions.NotFittedError
    """
    first, *other_steps = [*flat_steps(steps), None]
    is_known = isinstance(first, OF_TEXTS + _OF_DICTS) or is_union_of_texts(first)
    return Vectorization(first, other_steps[:-1], model) if is_known else None


def describe_with_encoder(model: AdaptedModel, encoder: Vectorization) -> AdaptedModel:
    """Describe a model of documents in the columns that reach it."""
    n_fitted = model.function.n_features
    if encoder.n_columns != n_fitted:
        raise UnsupportedModelError(
            f"the steps before {encoder.owner} make {encoder.n_columns} columns, but it was fitted "
            f"on {n_fitted}: an attribute was changed after fitting. Fit the Pipeline as a whole"
        )
    variance = derive_variance(
        model, model.function, lambda part: describe_with_encoder(part, encoder)
    )
    names = encoder.names or model.feature_names
    return replace(model, encoder=encoder, feature_names=names, variance=variance)


def flat_steps(steps: Iterable[Any]) -> Iterator[Any]:
    """Yield steps one by one, without those that change nothing."""
    for step in steps:
        if isinstance(step, FrozenEstimator):
            yield from flat_steps([frozen_estimator(step)])
        elif isinstance(step, Pipeline):
            yield from flat_steps(inner for _, inner in step.steps)
        elif not (step is None or (isinstance(step, str) and step == "passthrough")):
            yield step


def is_union_of_texts(step: Any) -> bool:
    """Return whether a step is a FeatureUnion of vectorizers of texts."""
    return isinstance(step, FeatureUnion) and all(
        isinstance(transformer, OF_TEXTS) for _, transformer in step.transformer_list
    )


class Vectorization(DocumentEncoder):
    """A vectorizer and the steps after it that keep its columns.

    Parameters
    ----------
    vectorizer : estimator
        A vectorizer of texts or dicts, or a FeatureUnion of vectorizers of texts.
    steps : sequence of estimators
        Each keeps some of the columns.
    model : Pipeline
        The fitted steps after them.
    """

    def __init__(self, vectorizer: Any, steps: Sequence[Any], model: Any) -> None:
        parts = parts_of_union(vectorizer)
        for part in parts:
            check_vectorizer(part)
        ends = np.cumsum([0, *map(width, parts)])
        vectorizer_copy = _copy_step(vectorizer)
        are_hashed = any(isinstance(part, HASHING) for part in parts)
        self._read_steps(vectorizer_copy, int(ends[-1]), steps, model, are_hashed=are_hashed)
        self._are_texts = not isinstance(vectorizer, _OF_DICTS)
        self.expected = f"a list of {'strings' if self._are_texts else 'dicts'}"
        text_vectorizers = parts_of_union(vectorizer_copy) if self._are_texts else []
        starts: list[int] = ends[: len(text_vectorizers)].tolist()
        self._locators = [
            (start, LocatedTerms(part))
            for start, part in zip(starts, text_vectorizers, strict=True)
        ]
        self.noun = "column"
        if self._are_texts:
            noun = "word" if all(map(_has_words, parts)) else "term"
            self.noun = f"hashed {noun}" if are_hashed else noun

    def _read_steps(
        self, first: Any, n_columns: int, steps: Sequence[Any], model: Any, *, are_hashed: bool
    ) -> None:
        """Set the columns that reach the model, given a first step that makes `n_columns`."""
        self.model, self.owner = model, type(model.steps[-1][1]).__name__
        self._steps = [first, *map(_copy_step, steps)]
        columns, self._keeps_zeros = kept_columns(self._steps[1:], n_columns)
        self.n_columns = len(columns)
        # The number of each of the first step's columns in the rows, -1 for dropped columns.
        self._places = np.full(n_columns, -1)
        self._places[columns] = np.arange(len(columns))
        self.names: tuple[str, ...] | None = None
        if not are_hashed:
            names = first.get_feature_names_out()
            self.names = tuple(map(str, names[columns].tolist()))
        kind = "numbered columns" if are_hashed else "columns"
        self.source = f"{kind} of {type(first).__name__}"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without the model, which only adapters use."""
        return {**vars(self), "model": None}

    def encode(self, documents: list[Any]) -> Any:
        """Return the rows of documents, computed by the steps themselves."""
        rows: Any = documents
        for step in self._steps:
            rows = step.transform(rows)
        return rows

    def read(self, data: Any, argument: str) -> tuple[Any, Documents | None] | None:
        """Return the rows of documents; without documents if zeros do not remain 0."""
        result = super().read(data, argument)
        if result is None or self._keeps_zeros:
            return result
        return result[0], None

    def invalid(self, document: Any) -> str:
        """Return the reason why a document is not valid, "" if it is valid."""
        if not self._are_texts:
            return "" if isinstance(document, Mapping) else describe_object(document)
        if isinstance(document, str | bytes):
            return ""
        if any(map(reads_objects, parts_of_union(self._steps[0]))):
            return "" if isinstance(document, Iterable) else describe_object(document)
        return describe_object(document)

    def text(self, document: Any) -> str | None:
        """Return the text of a document, decoded as the vectorizer does."""
        if not isinstance(document, str | bytes):
            return None
        text: str = parts_of_union(self._steps[0])[0].decode(document)
        return text

    def locate(self, text: str) -> Occurrences:
        """Return where the terms of columns occur in a text."""
        part_occurrences = [
            locate_terms(text) + np.array([0, 0, start], dtype=np.intp)
            for start, locate_terms in self._locators
        ]
        occurrences = np.concatenate([np.empty((0, 3), dtype=np.intp), *part_occurrences])
        occurrences[:, 2] = self._places[occurrences[:, 2]]
        return occurrences[occurrences[:, 2] >= 0]


def parts_of_union(vectorizer: Any) -> list[Any]:
    """Return the vectorizers of a union, or the vectorizer itself."""
    if isinstance(vectorizer, FeatureUnion):
        return [transformer for _, transformer in vectorizer.transformer_list]
    return [vectorizer]


def check_vectorizer(vectorizer: Any) -> None:
    """Raise an error for a vectorizer that is not fitted, or has options without documents."""
    name = type(vectorizer).__name__
    # Hashing learns nothing, which check_is_fitted of scikit-learn < 1.6 does not know.
    if not isinstance(vectorizer, HASHING):
        check_is_fitted(vectorizer)
    if isinstance(vectorizer, FeatureHasher) and vectorizer.input_type != "dict":
        raise unsupported_step(
            f"{name} with input_type={vectorizer.input_type!r}", "", "input_type='dict'"
        )
    if isinstance(vectorizer, OF_TEXTS) and vectorizer.input != "content":
        raise unsupported_step(
            f"{name} with input={vectorizer.input!r}",
            "pkex explains the texts themselves",
            "model.set_params(...__input='content'), which needs no new fit",
        )


def _copy_step(step: Any) -> Any:
    """Return a copy for arrays; later changes of the step do not change it."""
    step_copy = copy_for_arrays(step)
    for part_copy, part in zip(parts_of_union(step_copy), parts_of_union(step), strict=True):
        if hasattr(part, "stop_words"):
            # The same object: another one would be checked, with a warning, a second time.
            part_copy.stop_words = part.stop_words
    return step_copy


def width(vectorizer: Any) -> int:
    """Return the number of columns that a fitted vectorizer makes."""
    if isinstance(vectorizer, HASHING):
        return int(vectorizer.n_features)
    columns = vectorizer.vocabulary_
    return len(columns)


def _has_words(vectorizer: Any) -> bool:
    """Return whether each column of a vectorizer is a single word."""
    return vectorizer.analyzer == "word" and tuple(vectorizer.ngram_range) == (1, 1)


def reads_objects(vectorizer: Any) -> bool:
    """Return whether documents may be other objects than texts, such as lists of tokens."""
    is_preprocessed = vectorizer.lowercase or vectorizer.strip_accents
    is_tokenized = vectorizer.tokenizer is not None and not is_preprocessed
    return callable(vectorizer.analyzer) or vectorizer.preprocessor is not None or is_tokenized


def describe_object(document: Any) -> str:
    """Return the text in messages for an object that is not a valid document."""
    if is_missing(document):
        return "a missing value"
    return f"{shortened(repr(document))} ({type(document).__name__})"


def kept_columns(steps: Sequence[Any], n_columns: int) -> tuple[NDArray[np.intp], bool]:
    """Return the numbers of the columns that steps keep, and whether zeros remain 0."""
    columns, keeps_zeros = np.arange(n_columns), True
    for step in steps:
        step_columns, keeps_step_zeros = _step_columns(step, len(columns))
        columns, keeps_zeros = columns[step_columns], keeps_zeros and keeps_step_zeros
    return columns, keeps_zeros


def _step_columns(step: Any, n_columns: int) -> tuple[NDArray[np.intp], bool]:
    """Return the numbers of the columns that a step keeps, and whether zeros remain 0.

    Raises
    ------
    UnsupportedModelError
        If it mixes columns.
    """
    if isinstance(step, SelectorMixin):
        check_fitted(step)
        return np.asarray(step.get_support(indices=True), dtype=np.intp), True
    if _is_columnwise(step, n_columns):
        return np.arange(n_columns), True
    if not isinstance(step, tuple(STEPS)):
        raise unsupported_step(type(step).__name__, _MIXED)
    columns = column_map(step)
    sources = np.arange(n_columns) if columns is None else columns.sources
    if len(set(sources.tolist())) < len(sources):
        raise unsupported_step(type(step).__name__, _MIXED)
    return sources, False


def _is_columnwise(step: Any, n_columns: int) -> bool:
    """Return whether each column that a step makes is 0 wherever its own source is 0.

    Row k of the pattern has 1 in the columns whose number has bit k set, and its complement in the
    others. Two columns differ in at least one of the rows.
    """
    numbers = np.arange(n_columns)
    for bit in range(max(1, (n_columns - 1).bit_length())):
        is_set = (numbers >> bit & 1).astype(bool)
        pattern = np.array([is_set, ~is_set])
        output = _transform_rows(step, pattern.astype(np.float64))
        if output.shape != pattern.shape or np.any(output[~pattern] != 0.0):
            return False
    return True


def _transform_rows(step: Any, rows: Float) -> Float:
    """Return rows transformed by a step that may accept sparse or dense rows only."""
    try:
        return dense(step.transform(csr_matrix(rows)))
    except Exception:
        try:
            return dense(step.transform(rows))
        except Exception as error:
            reason = f"it fails for rows of zeros and ones ({error})"
            raise unsupported_step(type(step).__name__, reason) from error


_MIXED = (
    "it mixes the columns of the vectorizer, or makes others. Transform the documents, and explain "
    "the last step: rows = model[:-1].transform(documents); "
    "pkex.Explainer(model[-1], rows, feature_names=model[:-1].get_feature_names_out())(rows)"
)
