"""The result of explaining rows: Shapley values and names, sliced by row, feature and output."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Never, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pkex.options import as_names, counted, with_known_keywords
from pkex.validation import read_only

if TYPE_CHECKING:
    import pandas as pd
    import shap

__all__ = ["Explanation"]

_Float = NDArray[np.float64]
# What an axis may be indexed with once names are resolved.
_Resolved: TypeAlias = int | slice | NDArray[np.intp]

_ROW, _FEATURE, _OUTPUT = "row", "feature", "output"


class Explanation:
    """Shapley values of some rows, and what is needed to read them.

    For every row the values and the base value add up to the explained function, for each output:
    ``explanation.values.sum(axis=1) + explanation.base_values``.

    Parameters
    ----------
    values : array_like of float, shape (n, d) or (n, d, outputs)
        The Shapley value of each feature in each row, in units of the explained function. A single
        row may be given without the row axis, as (d,) or (d, outputs).
    base_values : array_like of float, shape (n,) or (n, outputs)
        The value of the empty coalition: what the function is worth before any feature is known.
    data : array_like, shape (n, d)
        The explained rows.
    feature_names : sequence of str, length d
    output_names : sequence of str, optional
        One name per output exactly if `values` has an output axis.
    output_name : str, optional
        Without an output axis, what the single output is.
    index : pandas.Index of length n, optional
        The labels of the rows, for `to_frame`; numbers from 0 if not given.

    Raises
    ------
    ValueError
        If the shapes of the arguments do not fit together.
    TypeError
        If a name is not a string.

    Notes
    -----
    An explanation is indexed as its `values` are, ``explanation[rows, features, outputs]``: by
    number, slice, or list or array of numbers or booleans on every axis; by name or list of names
    for features and outputs too; and by ``...``. An integer or a single name removes the axis, a
    list keeps it. Lists on several axes select every combination (a block of the table), where
    NumPy would pair them up.

    The arrays are read-only, and slices share them with the whole; ``.copy()`` of an array is your
    own. Where slicing has removed every axis, a plain number takes the array's place. To NumPy an
    explanation is its values. `to_shap` makes the object that shap's plots take.

    Examples
    --------
    >>> import pkex
    >>> explanation = pkex.Explanation(
    ...     values=[[1.5, -0.5], [0.25, 2.0]],
    ...     base_values=[10.0, 10.0],
    ...     data=[[36.6, 80.0], [38.2, 95.0]],
    ...     feature_names=["temperature", "pulse"],
    ... )
    >>> explanation
    Explanation(2 rows × 2 features)
    >>> explanation.values.sum(axis=1) + explanation.base_values
    array([11.  , 12.25])
    >>> explanation[:, "pulse"].values
    array([-0.5,  2. ])
    >>> explanation[1]
    Explanation(2 features)
    >>> explanation.importance()
    array([0.875, 1.25 ])
    """

    __slots__ = (
        "_axes",
        "_base_values",
        "_data",
        "_feature_names",
        "_index",
        "_output_names",
        "_values",
    )

    _values: _Float
    _base_values: _Float
    _data: NDArray[Any]
    _feature_names: tuple[str, ...]
    # One name also without an output axis, if the single output has a name.
    _output_names: tuple[str, ...] | None
    # The labels of the rows; of the one row that slicing has singled out, too.
    _index: pd.Index | None
    # The axes that `values` still has, in order.
    _axes: tuple[str, ...]

    @with_known_keywords
    def __init__(
        self,
        values: ArrayLike,
        base_values: ArrayLike,
        data: ArrayLike,
        feature_names: Sequence[str],
        output_names: Sequence[str] | None = None,
        *,
        output_name: str | None = None,
        index: pd.Index | None = None,
    ) -> None:
        if output_names is not None and output_name is not None:
            raise ValueError(
                "output_name is of an explanation without an output axis, and so "
                "without output_names; give one of them"
            )
        self._feature_names = as_names("feature_names", feature_names)
        self._output_names = (
            None if output_names is None else as_names("output_names", output_names)
        )
        self._values = read_only(_floats("values", values))
        self._base_values = read_only(_floats("base_values", base_values))
        self._data = read_only(np.asarray(data))
        self._index = index
        rows = (_ROW,) if self._data.ndim != 1 else ()
        outputs = () if output_names is None else (_OUTPUT,)
        self._axes = (*rows, _FEATURE, *outputs)
        self._check_shapes()
        if output_name is not None:
            self._output_names = as_names("output_name", [output_name])

    def _check_shapes(self) -> None:
        layout = "(d,) of a single row" if _ROW not in self._axes else "(n, d)"
        if self._values.ndim != len(self._axes):
            with_or_without = "without" if self._output_names is None else "with"
            expected = f"({', '.join(_SYMBOL[axis] for axis in self._axes)})"
            if len(self._axes) == 1:
                expected = "(d,)"
            raise ValueError(
                f"values has shape {self._values.shape}, but {expected} is expected for data of "
                f"shape {layout} {with_or_without} output_names; output_names must be given "
                "exactly if values has an output axis"
            )
        size = dict(zip(self._axes, self._values.shape, strict=True))
        expected_shapes = {
            "base_values": tuple(size[axis] for axis in self._axes if axis != _FEATURE),
            "data": tuple(size[axis] for axis in self._axes if axis != _OUTPUT),
        }
        for name, expected_shape in expected_shapes.items():
            shape = getattr(self, name).shape
            if shape != expected_shape:
                raise ValueError(
                    f"{name} has shape {shape}, but {expected_shape} is expected for values of "
                    f"shape {self._values.shape}"
                )
        for axis, names in ((_FEATURE, self._feature_names), (_OUTPUT, self._output_names)):
            if names is not None and len(names) != size[axis]:
                raise ValueError(
                    f"{axis}_names has {len(names)} names, but values has {size[axis]} {axis}s "
                    f"(shape {self._values.shape})"
                )
        if self._index is not None and len(self._index) != size.get(_ROW, 1):
            raise ValueError(
                f"index has length {len(self._index)}, but values has {size.get(_ROW, 1)} rows "
                f"(shape {self._values.shape})"
            )

    @classmethod
    def _from_parts(
        cls,
        axes: tuple[str, ...],
        values: _Float,
        base_values: _Float,
        data: NDArray[Any],
        feature_names: tuple[str, ...],
        output_names: tuple[str, ...] | None,
        index: pd.Index | None,
    ) -> Explanation:
        """Assemble an explanation from parts known to fit: slicing and unpickling."""
        self = cls.__new__(cls)
        self._axes = axes
        # Picking by list makes a new array, unpickling a writable one; numbers have no flag to set.
        for array in (values, base_values, data):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)
        self._values, self._base_values, self._data = values, base_values, data
        self._feature_names, self._output_names = feature_names, output_names
        self._index = index
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts, so that the arrays are read-only again afterwards."""
        parts = (self._values, self._base_values, self._data)
        return Explanation._from_parts, (
            self._axes,
            *parts,
            self._feature_names,
            self._output_names,
            self._index,
        )

    @property
    def values(self) -> NDArray[np.float64]:
        """Shapley values, shape (n, d) or (n, d, outputs) as far as slicing has left the axes."""
        return self._values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Values of the empty coalition, shape (n,) or (n, outputs)."""
        return self._base_values

    @property
    def data(self) -> NDArray[Any]:
        """The explained rows, shape (n, d)."""
        return self._data

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, a list even where slicing has left one feature without an axis."""
        return list(self._feature_names)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        if self._output_names is None or _OUTPUT not in self._axes:
            return None
        return list(self._output_names)

    @property
    def output_name(self) -> str | None:
        """Name of the single output where there is no output axis, None if it has none.

        Of a classifier of two classes it is "b vs a", where positive values speak for b; after
        ``explanation[..., "a vs b"]`` the name of the output that was singled out.
        """
        if self._output_names is None or _OUTPUT in self._axes:
            return None
        return self._output_names[0]

    @property
    def index(self) -> pd.Index | None:
        """Labels of the rows, those of the explained DataFrame; None if it was none of pandas."""
        return self._index

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `values`."""
        return self._values.shape

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values, for NumPy: ``np.abs(explanation)`` is that of its `values`."""
        array = np.asarray(self._values, dtype=dtype)
        if copy is False and array is not self._values:
            raise ValueError("the values cannot be had as they are, without a copy")
        return array.copy() if copy else array

    def __getattr__(self, name: str) -> Never:
        """Say where the methods of `shap.Explanation` are."""
        hint = ""
        if name in _OF_SHAP:
            hint = f"; shap's explanations have it: explanation.to_shap().{name}"
        message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=self)

    def __len__(self) -> int:
        """Return the length of the first axis: the number of rows, if there is a row axis."""
        if not self._axes:
            raise TypeError("an explanation of one feature of one row has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Explanation]:
        """Iterate over the first axis: over rows, if there is a row axis."""
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        """Return the sizes of the axes, and the names of what has been singled out."""
        sizes = [counted(size, axis) for axis, size in zip(self._axes, self.shape, strict=True)]
        parts = [" × ".join(sizes)] if sizes else []
        if _FEATURE not in self._axes:
            parts.append(f"feature {self._feature_names[0]!r}")
        if self.output_name is not None:
            parts.append(f"output {self.output_name!r}")
        return f"Explanation({', '.join(parts)})"

    def __getitem__(self, key: Any) -> Explanation:
        """Return the part at ``[rows, features, outputs]``, by number or by name."""
        keys = self._expand(key)
        resolved = {
            axis: self._resolve(axis, size, key)
            for axis, size, key in zip(self._axes, self.shape, keys, strict=True)
        }
        feature_names, output_names, index = self._feature_names, self._output_names, self._index
        if index is not None and _ROW in resolved:
            row = resolved[_ROW]
            index = index[[row] if isinstance(row, int) else row]
        if _FEATURE in resolved:
            feature_names = _pick_names(feature_names, resolved[_FEATURE])
        if _OUTPUT in resolved and output_names is not None:
            output_names = _pick_names(output_names, resolved[_OUTPUT])
        return self._from_parts(
            tuple(axis for axis in self._axes if not isinstance(resolved[axis], int)),
            self._pick(self._values, resolved, without=None),
            self._pick(self._base_values, resolved, without=_FEATURE),
            self._pick(self._data, resolved, without=_OUTPUT),
            feature_names,
            output_names,
            index,
        )

    def _expand(self, key: Any) -> list[Any]:
        """One index per axis: fill ``...`` and the axes left out with full slices."""
        keys = list(key) if isinstance(key, tuple) else [key]
        dots = [position for position, k in enumerate(keys) if isinstance(k, EllipsisType)]
        if len(dots) > 1:
            raise IndexError("an index may contain '...' only once")
        missing = len(self._axes) - (len(keys) - len(dots))
        if missing < 0:
            axes = ", ".join(f"{axis}s" for axis in self._axes) or "none"
            hint = "" if _OUTPUT in self._axes else "; it has a single output, so no output axis"
            raise IndexError(
                f"{len(keys) - len(dots)} indices for an explanation with "
                f"{len(self._axes)} axes ({axes}){hint}"
            )
        at = dots[0] if dots else len(keys)
        return [*keys[:at], *[slice(None)] * missing, *keys[at + len(dots) :]]

    def _resolve(self, axis: str, size: int, key: Any) -> _Resolved:
        """Turn one index of one axis into a number, a slice, or an array of numbers."""
        if isinstance(key, slice):
            if any(isinstance(bound, str) for bound in (key.start, key.stop, key.step)):
                raise TypeError(
                    f"slices go by number, not by name: give a list of {axis} names instead of "
                    f"{key.start!r}:{key.stop!r}"
                )
            return key
        listed = np.asarray(key, dtype=None if isinstance(key, np.ndarray) else object)
        if listed.ndim == 0:
            return self._position(axis, size, key)
        if listed.ndim != 1:
            raise IndexError(f"{axis}s are chosen by a list or 1-d array, not {listed.ndim}-d")
        if listed.dtype == object and listed.size and all(map(_is_boolean, listed)):
            listed = listed.astype(np.bool_)
        if listed.dtype == np.bool_:
            if listed.size != size:
                raise IndexError(
                    f"the boolean index for {axis}s has length {listed.size}, not {size}"
                )
            return np.flatnonzero(listed)
        positions = [self._position(axis, size, item) for item in listed]
        return np.array(positions, dtype=np.intp)

    def _position(self, axis: str, size: int, key: Any) -> int:
        """Return the position on an axis that a number or a name stands for."""
        if isinstance(key, str):
            return self._position_of_name(axis, key)
        try:
            if _is_boolean(key):
                raise TypeError
            position = operator.index(key)
        except TypeError:
            kinds = "a number" if axis == _ROW else "a number or a name"
            raise TypeError(
                f"cannot choose {axis}s by {key!r} of type {type(key).__name__}; "
                f"give {kinds}, a list of these, or a slice"
            ) from None
        if not -size <= position < size:
            raise IndexError(f"{axis} {position} is out of range: there are {size} {axis}s")
        return position % size

    def _position_of_name(self, axis: str, name: str) -> int:
        if axis == _ROW:
            where = ":, " if name in self._feature_names else "..., "
            raise KeyError(f"rows have no names; did you mean [{where}{name!r}]?")
        mine, other = self._feature_names, self._output_names or ()
        if axis == _OUTPUT:
            mine, other = other, mine
        found = [position for position, known in enumerate(mine) if known == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise KeyError(f"{len(found)} {axis}s are named {name!r} (at {found}); use a number")
        message = f"no {axis} is named {name!r}"
        close = difflib.get_close_matches(name, mine, n=3)
        if close:
            message += f" (did you mean {' or '.join(map(repr, close))}?)"
        elif name in other:
            message += f" (but {'a feature' if axis == _OUTPUT else 'an output'} is)"
        raise KeyError(f"{message}; {axis}_names: {_listed(mine)}")

    def _pick(self, array: Any, resolved: dict[str, _Resolved], *, without: str | None) -> Any:
        """Index one array axis by axis, from the last, so that removed axes shift none."""
        axes = [axis for axis in self._axes if axis != without]
        for position in reversed(range(len(axes))):
            array = array[(slice(None),) * position + (resolved[axes[position]],)]
        return array

    def importance(self) -> NDArray[np.float64]:
        """Mean absolute Shapley value of each feature over the rows.

        Returns
        -------
        ndarray, shape (d,) or (d, outputs)
            In the order of `feature_names`, in units of the explained function. A single row gives
            its absolute values.

        Raises
        ------
        ValueError
            If there are no rows to average over.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> explanation = pkex.Explanation(
        ...     [[3.0, -1.0], [1.0, -4.0]], [0.0, 0.0], np.zeros((2, 2)), ["age", "bmi"]
        ... )
        >>> for j in np.argsort(-explanation.importance()):
        ...     print(explanation.feature_names[j], explanation.importance()[j])
        bmi 2.5
        age 2.0
        """
        magnitudes = np.abs(self._values)
        if _ROW not in self._axes:
            return magnitudes
        if len(self) == 0:
            raise ValueError("there are no rows to average over")
        mean: _Float = magnitudes.mean(axis=0)
        return mean

    def to_frame(self) -> pd.DataFrame:
        """Return the values as a pandas DataFrame, a line per row and a column per feature.

        Returns
        -------
        pandas.DataFrame
            With the index of the DataFrame that was explained. With an output axis the columns have
            two levels, output and feature, so that ``frame["a vs b"]`` is the table of one output.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import pkex
        >>> pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"]).to_frame()
        feature  age  bmi
        0        3.0 -1.0
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "Explanation.to_frame needs pandas: pip install 'pkex[pandas]'"
            ) from error
        values, _, _ = self._with_every_axis()
        rows = len(values)
        columns: pd.Index = pd.Index(self._feature_names, name=_FEATURE)
        if self._output_names is not None and _OUTPUT in self._axes:
            columns = pd.MultiIndex.from_product(
                [self._output_names, self._feature_names], names=[_OUTPUT, _FEATURE]
            )
            values = values.transpose(0, 2, 1)  # the columns of an output stand together
        table = values.reshape(rows, len(columns)).copy()
        return pd.DataFrame(table, index=self._index, columns=columns)

    def to_shap(self) -> shap.Explanation:
        """Return a copy as a `shap.Explanation`, for shap's plots.

        Returns
        -------
        shap.Explanation
            Of the same shape, with the same names. Of several outputs, choose one before plotting,
            here or there: ``explanation[..., "a vs b"].to_shap()`` is the same as
            ``explanation.to_shap()[:, :, "a vs b"]``.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("Explanation.to_shap needs shap: pip install 'pkex[shap]'") from error
        # shap guesses from the sizes which axis a list of names belongs to. With every axis in
        # place it cannot go wrong; then its own indexing removes those that we have not.
        values, base_values, data = self._with_every_axis()
        whole = shap.Explanation(
            values=values.copy(),
            base_values=base_values.copy(),
            data=data.copy(),
            feature_names=self.feature_names,
            output_names=None if self._output_names is None else list(self._output_names),
        )
        axes = (_ROW, _FEATURE, _OUTPUT)[: values.ndim]
        index = tuple(slice(None) if axis in self._axes else 0 for axis in axes)
        return whole if len(self._axes) == values.ndim else whole[index]

    def _with_every_axis(self) -> tuple[_Float, _Float, NDArray[Any]]:
        """Return values, base values and data with the axes that slicing removed put back."""
        values, base_values, data = self._values, self._base_values, self._data
        rows = len(values) if _ROW in self._axes else 1
        features = len(self._feature_names)
        outputs = () if self._output_names is None else (len(self._output_names),)
        return (
            np.reshape(values, (rows, features, *outputs)),
            np.reshape(base_values, (rows, *outputs)),
            np.reshape(data, (rows, features)),
        )


# What `shap.Explanation` has and users of it look for; `__getattr__` tells them where it is.
_OF_SHAP = {"abs", "argsort", "cohorts", "display_data", "flip", "hclust", "hstack", "max", "mean"}
_OF_SHAP |= {"min", "percentile", "sample", "sum"}

_SYMBOL = {_ROW: "n", _FEATURE: "d", _OUTPUT: "outputs"}


def _floats(argument: str, numbers: ArrayLike) -> NDArray[np.float64]:
    if np.iscomplexobj(numbers):
        raise TypeError(f"{argument} must be real numbers; got complex ones")
    return np.asarray(numbers, dtype=np.float64)


def _is_boolean(item: object) -> bool:
    return isinstance(item, bool | np.bool_)


def _pick_names(names: tuple[str, ...], index: _Resolved) -> tuple[str, ...]:
    if isinstance(index, slice):
        return names[index]
    positions = [index] if isinstance(index, int) else index
    return tuple(names[position] for position in positions)


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
