"""Documents of results: their header, and checked reading of their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import check_choice
from pkex.inputs.integers import as_integer
from pkex.inputs.plain_data import read_entries, read_numbers
from pkex.typing import Float

# The number is increased when older versions of pkex cannot read documents.
_FORMAT = 1

_Value = TypeVar("_Value")
_Word = TypeVar("_Word", bound=str)


def envelope(kind: str) -> dict[str, Any]:
    """Return the fields with the type, format and version of a document."""
    # Imported only if needed: the import is slow.
    from importlib.metadata import version

    return {"type": kind, "format": _FORMAT, "pkex": version("pkex")}


class Document:
    """A document that is being read; every field is checked, and errors name it.

    Parameters
    ----------
    plain : dict
        The document, as returned by `json.load`.
    kind : str
        The name of the class of results that it must contain.

    Raises
    ------
    TypeError
        If the document is not a dict.
    ValueError
        If it contains another kind of result, or was written by a newer version.
    """

    def __init__(self, plain: object, kind: str) -> None:
        if not isinstance(plain, Mapping):
            raise TypeError(
                f"{kind}.from_dict takes the dict that to_dict returns; got "
                f"{type(plain).__name__}. A JSON text is read by json.loads first"
            )
        self._plain, self._name = plain, kind
        # The lengths of axes by their names.
        self._sizes: dict[str, int] = {}
        if "type" not in plain or "format" not in plain:
            raise self.error("it has no 'type' and 'format', which to_dict of pkex writes")
        if plain["type"] != kind:
            raise self.error(
                f"its type is {plain['type']!r}; it is read by from_dict of the class of that name"
            )
        if type(plain["format"]) is not int or plain["format"] != _FORMAT:
            raise self.error(
                f"it has format {plain['format']!r}, and this version of pkex reads {_FORMAT}: "
                f"update pkex (pkex {plain.get('pkex')} has written it)"
            )

    def error(self, message: str) -> ValueError:
        """Return an error that names the kind of document."""
        return ValueError(f"invalid {self._name} document: {message}")

    def __contains__(self, name: str) -> bool:
        """Whether there is a field, perhaps None."""
        return name in self._plain

    def has(self, name: str) -> bool:
        """Whether there is a field, and it is not None."""
        return self._plain.get(name) is not None

    def read(self, name: str, reader: Callable[[Any], _Value]) -> _Value:
        """Return a field read by a function, whose errors become errors of the field."""
        if name not in self._plain:
            raise self.error(f"the field {name!r} is missing")
        try:
            return reader(self._plain[name])
        except (
            ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
        ) as error:  # fmt: skip
            raise self.error(f"the field {name!r} is wrong ({error})") from None

    def numbers(self, name: str, *axes: str | int, missing: bool = False) -> Float:
        """Return finite numbers with the given axes.

        Parameters
        ----------
        name : str
        *axes : str or int
            Names of axes, which have the same length in all fields; or lengths.
        missing : bool, default False
            Whether numbers may be NaN, which is None in the document.
        """
        array = self.read(name, read_numbers)
        array = self._check_axes(name, array, axes)
        present = array[~np.isnan(array)] if missing else array
        if not np.isfinite(present).all():
            raise self.error(f"the field {name!r} has a value that is not a finite number")
        return array

    def entries(self, name: str, *axes: str | int) -> NDArray[Any]:
        """Return data that `plain_entries` has written, with the given axes."""
        return self._check_axes(
            name, self.read(name, lambda plain: read_entries(plain, len(axes))), axes
        )

    def texts(self, name: str, axis: str | int) -> tuple[str, ...]:
        """Return texts along an axis."""
        texts = self.read(name, _texts)
        self.check_length(name, len(texts), axis)
        return texts

    def text(self, name: str) -> str:
        """Return a text."""
        return self.read(name, _text)

    def choice(self, name: str, valid: Sequence[_Word]) -> _Word:
        """Return one of the valid words."""
        return self.read(name, lambda plain: check_choice(name, plain, valid))

    def integer(self, name: str, least: int) -> int:
        """Return an integer of at least `least`."""
        return self.read(name, lambda plain: as_integer(name, plain, "an integer", least=least))

    def number(self, name: str) -> float:
        """Return a finite number."""
        return float(self.numbers(name))

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        return self.read(name, _flag)

    def part(self, name: str) -> Document:
        """Return a field that is a document itself, whose axes have the same lengths."""
        part = object.__new__(Document)
        part._plain, part._sizes = self.read(name, _mapping), self._sizes
        part._name = f"{self._name}.{name}"
        return part

    def check_length(self, name: str, length: int, axis: str | int) -> None:
        """Raise an error unless a field has the length of its axis."""
        self._check_axes(name, np.empty(length), (axis,))

    def _check_axes(
        self, name: str, array: NDArray[Any], axes: Sequence[str | int]
    ) -> NDArray[Any]:
        """Return an array if it has the axes, and remember their lengths."""
        sizes = [axis if isinstance(axis, int) else self._sizes.get(axis) for axis in axes]
        if array.size == 0:
            # Empty lists do not determine the lengths of inner axes.
            n_outer = array.shape.index(0) + 1
            array = array.reshape(*array.shape[:n_outer], *(size or 0 for size in sizes[n_outer:]))
        fits = array.ndim == len(axes) and all(
            size is None or size == length for size, length in zip(sizes, array.shape, strict=True)
        )
        if not fits:
            shape = ", ".join(
                str(axis if size is None else size) for axis, size in zip(axes, sizes, strict=True)
            )
            raise self.error(
                f"the field {name!r} has shape {array.shape}, but ({shape}) is expected"
            )
        self._sizes |= {
            axis: length
            for axis, length in zip(axes, array.shape, strict=True)
            if isinstance(axis, str)
        }
        return array


def _texts(plain: Any) -> tuple[str, ...]:
    if not isinstance(plain, list):
        raise ValueError("it is not a list")
    return tuple(map(_text, plain))


def _text(plain: Any) -> str:
    if not isinstance(plain, str):
        raise ValueError(f"{plain!r} is not a text")
    return plain


def _flag(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise ValueError(f"{plain!r} is neither true nor false")
    return plain


def _mapping(plain: Any) -> Mapping[str, Any]:
    if not isinstance(plain, Mapping):
        raise ValueError(f"{plain!r} has no fields")
    return plain
