"""Pipelines that begin with a ColumnTransformer with vectorizers: tables with columns of texts."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from pkex.adapters.sklearn.estimators import check_fitted, feature_names
from pkex.adapters.sklearn.located_terms import LocatedTerms
from pkex.adapters.sklearn.step_maps import column_map
from pkex.adapters.sklearn.vectorizers import (
    HASHING,
    OF_TEXTS,
    Vectorization,
    check_vectorizer,
    describe_object,
    flat_steps,
    is_union_of_texts,
    kept_columns,
    parts_of_union,
    reads_objects,
    width,
)
from pkex.errors import InputError, InputTypeError, UnsupportedModelError
from pkex.tables.documents import Documents, Occurrences
from pkex.tables.kinds import Kind, columns_of, kind_of, labels_of, values_of
from pkex.tables.labels import check_column_names


def table_vectorization(steps: Sequence[Any], model: Any) -> TableVectorization | None:
    """Return the encoder of steps that begin with a ColumnTransformer of texts; None for others.

    Parameters
    ----------
    steps : sequence of estimators
    model : Pipeline
        The fitted steps after them, whose columns are explained.

    Raises
    ------
    UnsupportedModelError
        If a step mixes columns.
    sklearn.exceptions.NotFittedError
    """
    first, *other_steps = [*flat_steps(steps), None]
    has_texts = isinstance(first, ColumnTransformer) and any(
        _vectorizer(transformer) is not None for _, transformer, _ in first.transformers
    )
    return TableVectorization(first, other_steps[:-1], model) if has_texts else None


@dataclass(frozen=True, eq=False)
class _TextColumn:
    """A column of texts, and the columns that a vectorizer in a ColumnTransformer makes of it.

    Parameters
    ----------
    number : int
        The number of the column in the table.
    vectorizer : estimator
    places : ndarray of int, shape (columns of the vectorizer,)
        The number of each of them among the columns that are made, -1 for dropped ones.
    """

    number: int
    vectorizer: Any
    places: NDArray[np.intp]


class TableVectorization(Vectorization):
    """A ColumnTransformer with vectorizers, and the steps after it that keep its columns.

    Results show the texts if there is one column of texts.

    Parameters
    ----------
    transformer : ColumnTransformer
    steps : sequence of estimators
        Each keeps some of the columns.
    model : Pipeline
        The fitted steps after them.
    """

    def __init__(self, transformer: ColumnTransformer, steps: Sequence[Any], model: Any) -> None:
        check_fitted(transformer)
        transformer, n_columns = _copy_transformer(transformer), 0
        keeps_zeros, are_hashed = True, False
        self._texts: list[_TextColumn] = []
        for name, branch, _ in transformer.transformers_:
            columns = transformer._transformer_to_input_indices[name]
            output = transformer.output_indices_[name]
            n_columns = max(n_columns, output.stop)
            vectorizer = _vectorizer(branch)
            if vectorizer is None:
                if output.stop > output.start:
                    column_map(branch)  # checks that it does not mix columns
                continue
            parts = parts_of_union(vectorizer)
            for part in parts:
                check_vectorizer(part)
            ends = np.cumsum([0, *map(width, parts)])
            _, *later_steps = flat_steps([branch])
            kept_places, keeps_branch_zeros = kept_columns(later_steps, int(ends[-1]))
            places = np.full(ends[-1], -1)
            places[kept_places] = output.start + np.arange(len(kept_places))
            self._texts += [
                _TextColumn(int(columns[0]), part, part_places)
                for part, part_places in zip(parts, np.split(places, ends[1:-1]), strict=True)
            ]
            keeps_zeros &= keeps_branch_zeros
            are_hashed |= any(isinstance(part, HASHING) for part in parts)
        if not are_hashed:
            _check_names(transformer)
        self._read_steps(transformer, n_columns, steps, model, are_hashed=are_hashed)
        self._keeps_zeros &= keeps_zeros
        self._n_inputs = int(transformer.n_features_in_)
        self.columns = feature_names(transformer)
        self.expected = "a table with the columns that the model was fitted on"
        self.noun = "column"

    def read(self, data: Any, argument: str) -> tuple[Any, Documents | None] | None:
        """Return the rows of a table with the texts that results show; None for encoded rows.

        Raises
        ------
        InputError, InputTypeError
            If the table has other columns, no rows, or missing texts.
        """
        if not self._has_texts(data, argument):
            return None
        if not len(data):
            raise InputError(argument, "has no rows", "pass at least one")
        texts = [self._texts_of_column(data, column, argument) for column in self._texts]
        try:
            rows = self.encode(data)
        except ValueError as error:
            raise InputError(
                argument,
                f"cannot be transformed by the model's ColumnTransformer ({error})",
                "leave out rows with these categories, or fit the encoder with "
                "handle_unknown='ignore'"
                if "unknown categories" in str(error)
                else "",
            ) from error
        has_documents = len({column.number for column in self._texts}) == 1 and self._keeps_zeros
        return rows, Documents.of(self, texts[0], rows) if has_documents else None

    def _has_texts(self, data: Any, argument: str) -> bool:
        """Return whether data are a table with columns of texts, rather than encoded rows."""
        kind = kind_of(data)
        if kind is Kind.SPARSE:
            return False
        if kind in (Kind.PANDAS, Kind.POLARS):
            names = tuple(map(str, labels_of(data) or ()))
            if names == self.names:
                return False
            if self.columns is not None:
                check_column_names(names, self.columns, argument, "the model")
            return True
        is_list = isinstance(data, list | tuple)
        has_rows = is_list and not any(isinstance(row, str | Mapping) for row in data)
        if isinstance(data, Mapping) or not (has_rows or (not is_list and np.ndim(data) == 2)):
            raise InputTypeError(argument, f"is a {type(data).__name__}", f"pass {self.expected}")
        if has_rows and len({np.size(row) for row in data}) > 1:
            raise InputError(argument, "has rows of different lengths", f"pass {self.expected}")
        rows = np.asarray(data)
        is_encoded = rows.dtype.kind in "fiub" or rows.shape[-1] != self._n_inputs
        if not is_encoded and self.columns is not None:
            raise InputTypeError(
                argument,
                "has no column names, but the model was fitted on a DataFrame",
                "pass a DataFrame",
            )
        return not is_encoded

    def _texts_of_column(self, data: Any, column: _TextColumn, argument: str) -> list[Any]:
        """Return the values of a column of texts."""
        columns = columns_of(data)
        entries = values_of(
            np.asarray(data)[:, column.number] if columns is None else columns[column.number]
        )
        for place, entry in enumerate(entries):
            if not isinstance(entry, str | bytes) and not reads_objects(column.vectorizer):
                name = repr(self.columns[column.number]) if self.columns else column.number
                raise InputTypeError(
                    argument,
                    f"has {describe_object(entry)} in row {place} of the column of texts {name}",
                    "pass a text, such as '' if there is none",
                )
        return entries

    def encode(self, documents: Any) -> Any:
        """Return the rows of a table, computed by the steps themselves."""
        rows = documents
        for step in self._steps:
            rows = step.transform(rows)
        return rows

    def invalid(self, document: Any) -> str:
        """Return the reason why a text is not valid, "" if it is valid."""
        return "" if isinstance(document, str | bytes) else describe_object(document)

    def text(self, document: Any) -> str | None:
        """Return a text, decoded as the vectorizer does."""
        if not isinstance(document, str | bytes):
            return None
        text: str = self._texts[0].vectorizer.decode(document)
        return text

    def locate(self, text: str) -> Occurrences:
        """Return where the terms of columns occur in a text."""
        occurrences = []
        for column in self._texts:
            term_occurrences = LocatedTerms(column.vectorizer)(text)
            places = column.places[term_occurrences[:, 2]]
            term_occurrences[:, 2] = np.where(places < 0, -1, self._places[places])
            occurrences.append(term_occurrences[term_occurrences[:, 2] >= 0])
        return np.concatenate(occurrences)


def _vectorizer(transformer: Any) -> Any:
    """Return the vectorizer, or union of vectorizers, of texts that a transformer begins with.

    None if it begins with another step.
    """
    first = next(flat_steps([transformer]), None)
    return first if isinstance(first, OF_TEXTS) or is_union_of_texts(first) else None


def _check_names(transformer: ColumnTransformer) -> None:
    """Raise UnsupportedModelError if the columns that a transformer makes have no names."""
    try:
        transformer.get_feature_names_out()
    except (AttributeError, ValueError) as error:
        raise UnsupportedModelError(
            "the columns that the ColumnTransformer makes have no names, or not different ones "
            f"({error}). Use verbose_feature_names_out=True, and FunctionTransformer with "
            "feature_names_out='one-to-one'"
        ) from error


def _copy_transformer(transformer: ColumnTransformer) -> ColumnTransformer:
    """Return a copy that returns arrays; later changes of the transformer do not change it."""
    transformer_copy = copy.deepcopy(transformer)
    vars(transformer_copy).pop("_sklearn_output_config", None)
    pairs = zip(transformer_copy.transformers_, transformer.transformers_, strict=True)
    for (_, branch_copy, _), (_, branch, _) in pairs:
        for step_copy, step in zip(flat_steps([branch_copy]), flat_steps([branch]), strict=True):
            attributes = getattr(step, "__dict__", {})
            if "stop_words" in attributes:
                # The same object: another one would be checked, with a warning, a second time.
                step_copy.stop_words = step.stop_words
    return transformer_copy
