"""Values of rows and their base values, sliced together by row, feature and output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.results.axes_documents import read_axes, read_value_function
from pkex.results.indexing import pick
from pkex.results.result import Result
from pkex.results.value_draws import ValueDraws
from pkex.typing import Float

__all__ = ["Sliced"]

# The arrays of an explanation, and the axis that each does not have.
_ARRAYS = {
    "_values": None,
    "_base_values": FEATURE,
    "_data": OUTPUT,
    "_roots": None,
    "_errors": None,
    "_places": None,
}


class Sliced(Result):
    """What an explanation is made of, which never changes: arrays, and the names of their axes."""

    __slots__ = (
        "_axes",
        "_base_values",
        "_data",
        "_errors",
        "_is_centered",
        "_joint",
        "_places",
        "_roots",
        "_value_function",
        "_values",
    )

    _base_values: Float
    # Whether the mean over some rows has been subtracted.
    _is_centered: bool
    # Standard errors of estimated values; None of exact ones.
    _errors: Float | None
    # Draws of the values of all rows that were explained together, and the places of these values
    # among them; None where there are none.
    _joint: ValueDraws | None
    _places: NDArray[np.int64] | None
    # Of the covariances of values: R of R Rᵀ, with an axis more; None where they are not known.
    _roots: Float | None

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        """Assemble an explanation from attributes known to fit."""
        self = cls.__new__(cls)
        self._assemble(parts)
        return self

    def _assemble(self, parts: dict[str, Any]) -> None:
        for name, part in parts.items():
            # Picking by list makes a new array, unpickling a writable one; numbers have no flag.
            if name in _ARRAYS and isinstance(part, np.ndarray):
                part.setflags(write=False)
            setattr(self, name, part)

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Sliced.__slots__}

    def to_dict(self) -> dict[str, Any]:
        """Return the values, and all that is needed to read them, as plain data for JSON.

        ``json.dump(result.to_dict(), file)`` writes a file that lasts, and `from_dict` reads it:
        with equal bits of values, base values, data, standard errors and standard deviations, and
        with names, labels of rows and value function. What draws functions from the model,
        ``importance(samples=...)``, is left out, as in a pickle.

        Returns
        -------
        dict
            With the keys "type", "format" and "pkex" (the version that has written it), the names
            of the attributes, "axes" (those of `values`) and, of rows that were explained with
            ``uncertainty=True``, "covariance_roots": R of the covariances R Rᵀ of values. Arrays
            are lists, with None for NaN.

        Raises
        ------
        TypeError
            If the data or the labels of rows hold objects that are not numbers, texts or dates.
        ValueError
            If a value is infinite.
        """
        errors, roots = self._errors, self._roots
        return {
            **self._plain(),
            "axes": list(self._axes.present),
            "base_values": plain_numbers("base_values", self._base_values),
            "is_centered": self._is_centered,
            "standard_errors": None if errors is None else plain_numbers("standard_errors", errors),
            "covariance_roots": None if roots is None else plain_numbers("covariance_roots", roots),
        }

    @classmethod
    def _from_document(cls, document: Document) -> Self:
        axes = read_axes(document, document.read("axes", tuple))
        present, by_row = axes.present, axes.without(FEATURE)
        has = document.has
        roots = (*present, "rank")
        parts = {
            "_axes": axes,
            "_values": document.numbers("values", *present),
            "_base_values": document.numbers("base_values", *by_row),
            "_data": document.entries("data", *axes.without(OUTPUT)),
            "_value_function": read_value_function(document),
            "_is_centered": document.flag("is_centered"),
            "_errors": document.numbers("standard_errors", *present)
            if has("standard_errors")
            else None,
            "_roots": document.numbers("covariance_roots", *roots)
            if has("covariance_roots")
            else None,
            "_joint": None,
            "_places": None,
        }
        # Where slicing has removed every axis, a plain number takes the place of an array.
        return cls._from_parts(
            {
                name: part[()] if isinstance(part, np.ndarray) and part.ndim == 0 else part
                for name, part in parts.items()
            }
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts, without joint draws, which hold on to the model."""
        return {**self._parts(), "_axes": self._axes.parts(), "_joint": None, "_places": None}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Take over parts, whose arrays come writable out of a file."""
        self._assemble({**parts, "_axes": Axes(**parts["_axes"])})

    @property
    def values(self) -> NDArray[np.float64]:
        """Shapley values, shape (n, d) or (n, d, outputs) as far as slicing has left the axes."""
        return self._values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Values of the empty coalition, shape (n,) or (n, outputs)."""
        return self._base_values

    @property
    def is_centered(self) -> bool:
        """Whether the mean over some rows has been subtracted, by `centered`."""
        return self._is_centered

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values, for NumPy: ``np.abs(explanation)`` is that of its `values`."""
        array = np.asarray(self._values, dtype=dtype)
        if copy is False and array is not self._values:
            raise ValueError("the values cannot be had as they are, without a copy")
        return array.copy() if copy else array

    def __len__(self) -> int:
        """Return the length of the first axis: the number of rows, if there is a row axis."""
        if not self._axes.present:
            raise TypeError("an explanation of one feature of one row has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the first axis: over rows, if there is a row axis."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        """Return the part at ``[rows, features, outputs]``, by number or by name."""
        chosen = self._axes.resolved(key, self.shape)
        parts = self._parts() | {"_axes": self._axes.picked(chosen)}
        for name, without in _ARRAYS.items():
            if parts[name] is not None:
                parts[name] = pick(parts[name], self._axes.without(without), chosen)
        return self._from_parts(parts)

    def _with_every_axis(self) -> tuple[Float, Float, NDArray[Any]]:
        """Return values, base values and data with the axes that slicing removed put back."""
        values, base_values, data = self._values, self._base_values, self._data
        rows = len(values) if ROW in self._axes.present else 1
        features, named = len(self._axes.features), self._axes.outputs
        outputs = () if named is None else (len(named),)
        return (
            np.reshape(values, (rows, features, *outputs)),
            np.reshape(base_values, (rows, *outputs)),
            np.reshape(data, (rows, features)),
        )
