"""Documents, such as texts, that a model encodes into rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputTypeError
from pkex.inputs.documents import Document
from pkex.tables.kinds import Kind, columns_of, kind_of, values_of

# The start and end of each occurrence of a term in a text, and its column: shape (k, 3).
Occurrences = NDArray[np.intp]


class DocumentEncoder(ABC):
    """Base class of encoders: from documents to rows in the columns of a model.

    Attributes
    ----------
    owner : str
        The class name of the model, for titles.
    source : str
        The columns in words, such as "columns of TfidfVectorizer".
    noun : str
        The word for one column: "word", "term", "hashed word", "hashed term" or "column".
    expected : str
        The documents in words, such as "a list of strings".
    columns : tuple of str, optional
        The names of the columns of a table with documents; None if documents are in a list.
    """

    owner: str
    source: str
    noun: str
    expected: str
    columns: tuple[str, ...] | None = None

    @abstractmethod
    def encode(self, documents: list[Any]) -> Any:
        """Return the rows of documents, an array or a sparse matrix of shape (n, d)."""

    @abstractmethod
    def invalid(self, document: Any) -> str:
        """Return the reason why a document is not valid, "" if it is valid."""

    @abstractmethod
    def text(self, document: Any) -> str | None:
        """Return the text of a document; None if it is not a text."""

    @abstractmethod
    def locate(self, text: str) -> Occurrences:
        """Return where the terms of columns occur in a text, in any order.

        Terms that cannot be located are omitted.
        """

    def read(self, data: Any, argument: str) -> tuple[Any, Documents | None] | None:
        """Return rows of documents, and their texts for results; None for a table of rows.

        Raises
        ------
        InputError, InputTypeError
            If there are no documents, or some are not valid.
        """
        if isinstance(data, str | bytes):
            raise InputTypeError(
                argument, "is a single document", f"pass a list of documents: [{argument}]"
            )
        is_dict = isinstance(data, Mapping) and kind_of(data) is not Kind.SPARSE
        if is_dict and not self.invalid(data):
            data = [data]
        if _are_rows(data):
            _check_not_one_column(data, argument)
            return None
        is_list = isinstance(data, Iterable) and not isinstance(data, Set)
        if not is_list or (isinstance(data, np.ndarray) and data.ndim == 0):
            raise InputTypeError(argument, f"is a {type(data).__name__}", f"pass {self.expected}")
        documents = values_of(data)
        if not documents:
            raise InputError(argument, "has no documents", "pass at least one")
        for place, document in enumerate(documents):
            if reason := self.invalid(document):
                raise InputTypeError(
                    argument, f"has {reason} as document {place}", f"pass {self.expected}"
                )
        rows = self.encode(documents)
        return rows, Documents.of(self, documents, rows)


def check_not_documents(data: Any, argument: str) -> None:
    """Raise InputTypeError for a list of strings, which has no columns."""
    is_array = isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind not in "fiub"
    is_list = isinstance(data, list | tuple) or kind_of(data) is Kind.SERIES
    if (is_array or is_list) and len(data) and all(isinstance(entry, str) for entry in data):
        raise InputTypeError(
            argument,
            "has documents (strings), but the model was fitted on columns",
            "explain make_pipeline(vectorizer, model), or transform the documents first",
            kind="documents",
        )


def _are_rows(data: Any) -> bool:
    """Return whether data are a table of rows, or a row by column name, rather than documents."""
    if kind_of(data) in (Kind.SPARSE, Kind.ARROW, Kind.PANDAS, Kind.POLARS):
        return True
    if isinstance(data, np.ndarray):
        return data.ndim == 2
    is_list = isinstance(data, list | tuple) and len(data) > 0
    return isinstance(data, Mapping) or (is_list and all(map(_is_row, data)))


def _check_not_one_column(data: Any, argument: str) -> None:
    """Raise InputTypeError if a table has a single column, of documents."""
    columns = columns_of(data)
    is_table = columns is not None or isinstance(data, np.ndarray)
    if not is_table or np.shape(data)[1] != 1:
        return
    column = data[:, 0] if columns is None else columns[0]
    if any(isinstance(entry, str) for entry in values_of(column)):
        raise InputTypeError(
            argument,
            "is a table with a column of documents",
            f"pass the column, such as {argument}{'[:, 0]' if columns is None else '[name]'}",
        )


def _is_row(item: Any) -> bool:
    """Return whether an item of a list is a row of numbers."""
    is_sequence = isinstance(item, list | tuple | np.ndarray)
    return is_sequence and not any(isinstance(entry, str) for entry in item)


@dataclass(frozen=True, eq=False)
class Documents:
    """The texts of encoded documents, and the features in them, for results.

    Parameters
    ----------
    title : str
        The explained function and its columns, such as "decision_function of SVC, by columns of
        TfidfVectorizer".
    noun : str
        The word for one feature, as in `DocumentEncoder`; "feature" for groups.
    texts : tuple of str or None
        The text of each document; None for a document that is not a text.
    present : tuple of ndarray
        For each document, the features whose numbers are not 0.
    encoder : DocumentEncoder, optional
        Locates terms when they are needed.
    located : tuple of ndarray, optional
        The occurrences in each document, without an encoder.
    features : ndarray of shape (columns,), optional
        The feature of each of the encoder's columns, -1 for columns that were left out; None if
        each column is a feature.
    """

    title: str
    noun: str
    texts: tuple[str | None, ...]
    present: tuple[NDArray[np.intp], ...]
    encoder: DocumentEncoder | None = None
    located: tuple[Occurrences, ...] | None = None
    features: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, encoder: DocumentEncoder, documents: list[Any], rows: Any) -> Documents:
        """Describe documents and their rows, an array or a sparse matrix."""
        texts = tuple(map(encoder.text, documents))
        return cls(encoder.source, encoder.noun, texts, _nonzero(rows), encoder)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def has_groups(self) -> bool:
        """Whether features may be groups of columns."""
        return self.noun == "feature"

    def occurrences(self, place: int) -> Occurrences:
        """Return where features occur in the text of a document."""
        if self.located is not None:
            occurrences = self.located[place]
        else:
            text = self.texts[place]
            occurrences = np.empty((0, 3), dtype=np.intp)
            if text is not None and self.encoder is not None:
                occurrences = self.encoder.locate(text)
        if self.features is None:
            return occurrences
        occurrences = np.column_stack([occurrences[:, :2], self.features[occurrences[:, 2]]])
        return occurrences[occurrences[:, 2] >= 0]

    def words(self, place: int) -> dict[int, set[str]]:
        """Return the words of a text by the features that they belong to."""
        text = self.texts[place] or ""
        words: dict[int, set[str]] = {}
        for start, end, feature in self.occurrences(place).tolist():
            words.setdefault(feature, set()).add(text[start:end])
        return words

    def by_feature(self, features: NDArray[np.int64]) -> Documents:
        """Return the documents by features, given the feature of each column, -1 for none."""
        present = tuple(np.unique(features[columns]) for columns in self.present)
        if self.features is not None:
            features = np.append(features, -1)[self.features]
        return replace(
            self,
            present=tuple(columns[columns >= 0].astype(np.intp) for columns in present),
            features=features.astype(np.intp),
        )

    def of_rows(self, rows: Any) -> Documents:
        """Return the documents of some rows, given an index of these."""
        places = np.atleast_1d(np.arange(len(self))[rows]).tolist()
        located = self.located
        return replace(
            self,
            texts=tuple(self.texts[place] for place in places),
            present=tuple(self.present[place] for place in places),
            located=None if located is None else tuple(located[place] for place in places),
        )

    # --- as plain data ---

    def plain(self) -> dict[str, Any]:
        """Return the fields as plain data, with the located terms in place of the encoder."""
        located = [self.occurrences(place).tolist() for place in range(len(self))]
        return {
            "title": self.title,
            "noun": self.noun,
            "texts": list(self.texts),
            "present": [features.tolist() for features in self.present],
            "located": located,
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the documents that `plain` has written."""
        return cls(
            plain["title"],
            plain["noun"],
            tuple(plain["texts"]),
            tuple(np.array(features, dtype=np.intp) for features in plain["present"]),
            None,
            tuple(
                np.array(occurrences, dtype=np.intp).reshape(-1, 3)
                for occurrences in plain["located"]
            ),
        )

    @classmethod
    def of_document(cls, document: Document, rows: str | int, n_features: int) -> Self:
        """Return the documents of a JSON document; see `Explanation.to_dict`.

        Parameters
        ----------
        document : Document
        rows : str or int
            The axis of rows, or their number.
        n_features : int
        """
        plain = {name: document.text(name) for name in ("title", "noun")}
        lists = {name: document.read(name, list) for name in ("texts", "present", "located")}
        documents = document.read("located", lambda _: cls.of_plain({**plain, **lists}))
        for name, entries in lists.items():
            document.check_length(name, len(entries), rows)
        document.read("texts", lambda _: documents._check(n_features))
        return documents

    def _check(self, n_features: int) -> None:
        """Raise ValueError if a text is not a string, or a feature or place does not exist."""
        for text, present, located in zip(
            self.texts, self.present, self.located or (), strict=True
        ):
            if text is not None and not isinstance(text, str):
                raise ValueError(f"{text!r} is not a text")
            features = np.concatenate([present, located[:, 2]])
            places = np.append(located[:, :2].ravel(), 0)
            if features.size and (features.min() < 0 or features.max() >= n_features):
                raise ValueError("it has a feature that does not exist")
            if places.min() < 0 or places.max() > len(text or ""):
                raise ValueError("it has a place outside of its text")


def _nonzero(rows: Any) -> tuple[NDArray[np.intp], ...]:
    """Return the columns of each row whose numbers are not 0."""
    if kind_of(rows) is not Kind.SPARSE:
        return tuple(np.flatnonzero(row) for row in np.asarray(rows))
    rows = rows.tocsr()
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    return tuple(
        np.sort(rows.indices[start:end][rows.data[start:end] != 0]).astype(np.intp)
        for start, end in ends
    )
