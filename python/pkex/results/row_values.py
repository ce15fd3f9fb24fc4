"""Arrays, axes and uncertainty of an attribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.arrays import owned
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.results.axes_documents import read_axes, read_value_function
from pkex.results.indexing import AxisIndex, pick
from pkex.results.row_arrays import RowArrays
from pkex.results.sizes import mean_size
from pkex.results.uncertainty import Uncertainty
from pkex.tables.documents import Documents
from pkex.typing import Float

Reduction: TypeAlias = Literal["mean", "share"]


@dataclass(frozen=True, eq=False)
class RowValues(RowArrays):
    """Values, base values and data of rows, with their axes and uncertainty, sliced together.

    The shapes of arrays match. Slicing that removes every axis of an array replaces it by a number.

    Parameters
    ----------
    values : ndarray with all axes that are present
    base_values : ndarray without the axis of features
    data : ndarray without the axis of outputs
    axes : Axes
    uncertainty : Uncertainty, optional
        The uncertainty of the values; None if they are exact values of a certain function.
    value_function : str, optional
        The value function; None if it is not known.
    is_centered : bool, default False
        Whether the mean over the rows of a reference has been subtracted.
    loss : str, optional
        The loss whose values these are; None for values of an output.
    sample_weight : ndarray, optional
        The weights of rows in means of losses, without the axes of features and outputs; equal by
        default.
    reduction : {"mean", "share"}, optional
        For means over rows: the reduction of the mean loss by the features, or its share of the
        mean loss of the base value.
    documents : Documents, optional
        The documents that were encoded into the rows.
    """

    values: Float
    base_values: Float
    data: NDArray[Any]
    axes: Axes
    uncertainty: Uncertainty | None = None
    value_function: ValueFunction | None = None
    is_centered: bool = False
    loss: str | None = None
    sample_weight: Float | None = None
    reduction: Reduction | None = None
    documents: Documents | None = None

    @classmethod
    def with_base(
        cls,
        values: Float,
        base: float | Float,
        data: NDArray[Any],
        axes: Axes,
        value_function: ValueFunction | None,
        uncertainty: Uncertainty | None = None,
    ) -> RowValues:
        """Return the values of rows that have the same base value.

        Parameters
        ----------
        values : ndarray of shape (n, d) or (n, d, outputs)
        base : float or ndarray of shape (outputs,)
        data : ndarray of shape (n, d)
        axes : Axes
        value_function : str or None
        uncertainty : Uncertainty, optional
        """
        bases = same_for_all(base, len(values))
        return cls(values, bases, data, axes, uncertainty, value_function)

    def __len__(self) -> int:
        """Return the length of the first axis."""
        return len(self.values)

    @property
    def has_offsets(self) -> bool:
        """Whether values contain constants that do not depend on the data, as neutral values do."""
        return self.value_function == "neutral" and not self.is_centered

    @property
    def loss_label(self) -> str | None:
        """What the values are of, and the meaning of their sign; None for values of an output."""
        if self.loss is None:
            return None
        label = {
            None: "loss {}, positive values add to the error",
            "mean": "SAGE: reduction of the mean {}",
            "share": "share of the mean {} of the base value",
        }[self.reduction]
        is_r2 = self.reduction == "share" and self.loss == "squared_error"
        return label.format(self.loss) + (" (R²)" if is_r2 else "")

    @property
    def caution(self) -> str | None:
        """A warning against misreading the values, for tables and reports; None if there is none.

        Neutral losses compare with a prediction in which absent features have factor 1.
        """
        if self.loss is None or self.value_function != "neutral":
            return None
        return (
            "Neutral losses start from a prediction in which all features have factor 1, which may "
            "be far from every target. Use value_function='marginal' to compare features by error"
        )

    @property
    def has_data(self) -> bool:
        """Whether values belong to rows, instead of their mean."""
        return self.reduction is None

    @property
    def importance_label(self) -> str:
        """The label of `importance` of several rows, for tables and plots."""
        return "mean |value − its mean|" if self.has_offsets else "mean |value|"

    def importance(self) -> Float:
        """Return the importance of each feature; see `Attribution.importance`."""
        if ROW not in self.axes.present:
            return np.abs(self.values)
        if len(self) == 0:
            raise ValueError("there are no rows to average over. Explain at least one row")
        return mean_size(self.values, self.value_function if self.has_offsets else None)

    @property
    def spreads(self) -> dict[str, Float]:
        """Standard errors and posterior standard deviations that are known, by their name."""
        return {} if self.uncertainty is None else self.uncertainty.spreads

    def select(self, key: Any) -> RowValues:
        """Return the part at ``[rows, features, outputs]``, by number or by name."""
        axes, uncertainty, documents = self.axes, self.uncertainty, self.documents
        indices = axes.resolve(key, self.values.shape)
        return replace(
            self,
            values=pick(self.values, axes.present, indices),
            base_values=pick(self.base_values, axes.without(FEATURE), indices),
            data=pick(self.data, axes.without(OUTPUT), indices),
            axes=axes.select(indices),
            uncertainty=None if uncertainty is None else uncertainty.select(axes.present, indices),
            sample_weight=self._select_weights(indices),
            documents=None if documents is None else _select_documents(documents, axes, indices),
        )

    def _select_weights(self, indices: dict[str, AxisIndex]) -> Float | None:
        """Return the weights of the selected rows."""
        if self.sample_weight is None or ROW not in self.axes.present:
            return self.sample_weight
        weights: Float = pick(self.sample_weight, (ROW,), indices)
        return weights

    def with_every_axis(self) -> tuple[Float, Float, NDArray[Any]]:
        """Return values, base values and data, with the axes restored that slicing has removed."""
        rows = len(self.values) if ROW in self.axes.present else 1
        features, names = len(self.axes.features), self.axes.outputs
        outputs = () if names is None else (len(names),)
        return (
            np.reshape(self.values, (rows, features, *outputs)),
            np.reshape(self.base_values, (rows, *outputs)),
            np.reshape(self.data, (rows, features)),
        )

    def in_rows(self) -> RowValues:
        """Return the values with the axes of rows and features restored, without draws."""
        values, base_values, data = self.with_every_axis()
        outputs = () if self.axes.output_names is None else (OUTPUT,)
        shape = values.shape if outputs else data.shape
        return replace(
            self,
            values=np.reshape(values, shape),
            base_values=base_values if outputs else np.reshape(base_values, len(data)),
            data=data,
            axes=replace(self.axes, present=(ROW, FEATURE, *outputs)),
            uncertainty=None if self.uncertainty is None else self.uncertainty.reshape(shape),
            sample_weight=None if self.sample_weight is None else np.ravel(self.sample_weight),
        )

    def parts(self) -> dict[str, Any]:
        """Return the fields as plain data for a pickle, without draws, which contain the model."""
        uncertainty, documents = self.uncertainty, self.documents
        return super().parts() | {
            "documents": None if documents is None else documents.plain(),
            "uncertainty": None
            if uncertainty is None
            else {
                "standard_errors": uncertainty.standard_errors,
                "roots": uncertainty.roots,
                "joint": uncertainty.joint,
            },
        }

    @classmethod
    def of_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the values from the fields of a pickle, whose arrays are writable."""
        uncertainty = parts["uncertainty"]
        if uncertainty is not None:
            parts = parts | {"uncertainty": Uncertainty(**uncertainty)}
        if parts.get("documents") is not None:
            parts = parts | {"documents": Documents.of_plain(parts["documents"])}
        return super().of_parts(parts)

    def plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        return {
            **super().plain(),
            "axes": list(self.axes.present),
            "base_values": plain_numbers("base_values", self.base_values),
            "is_centered": self.is_centered,
            **self._plain_loss(),
            **(self.uncertainty or Uncertainty()).plain(),
            **({} if self.documents is None else {"documents": self.documents.plain()}),
        }

    def _plain_loss(self) -> dict[str, Any]:
        """Return the fields of values of a loss; none for values of an output."""
        if self.loss is None:
            return {}
        weights = self.sample_weight
        plain = None if weights is None else plain_numbers("sample_weight", weights)
        return {"loss": self.loss, "sample_weight": plain, "reduction": self.reduction}

    @classmethod
    def of_document(cls, document: Document) -> RowValues:
        """Return the values that `plain` has written."""
        axes = read_axes(document, document.read("axes", tuple))
        return cls(
            document.numbers("values", *axes.present)[()],
            document.numbers("base_values", *axes.without(FEATURE))[()],
            document.entries("data", *axes.without(OUTPUT))[()],
            axes,
            Uncertainty.of_document(document, axes.present),
            read_value_function(document),
            document.flag("is_centered"),
            documents=_documents(document, axes),
            **_read_loss(document, [axis for axis in axes.present if axis == ROW]),
        )


def _read_loss(document: Document, axes: Sequence[str]) -> dict[str, Any]:
    """Return the fields that `_plain_loss` has written."""
    if not document.has("loss"):
        return {}
    fields: dict[str, Any] = {"loss": document.text("loss")}
    if document.has("sample_weight"):
        fields["sample_weight"] = document.numbers("sample_weight", *axes)[()]
    if document.has("reduction"):
        fields["reduction"] = document.choice("reduction", get_args(Reduction))
    return fields


def _select_documents(
    documents: Documents, axes: Axes, indices: Mapping[str, AxisIndex]
) -> Documents:
    """Return the documents of the selected rows, by the selected features."""
    if ROW in indices:
        documents = documents.of_rows(indices[ROW])
    if FEATURE in indices:
        features = np.full(len(axes.features), -1)
        places = np.atleast_1d(np.arange(len(features))[indices[FEATURE]])
        features[places] = np.arange(len(places))
        documents = documents.by_feature(features)
    return documents


def _documents(document: Document, axes: Axes) -> Documents | None:
    """Return the documents that `plain` has written, if there are some."""
    if not document.has("documents"):
        return None
    rows = ROW if ROW in axes.present else 1
    return Documents.of_document(document.part("documents"), rows, len(axes.features))


def same_for_all(base: float | Float, n_rows: int) -> Float:
    """Return base values broadcast to all rows, without a copy for each."""
    array = np.array(base, dtype=np.float64)
    return np.broadcast_to(owned(array), (n_rows, *array.shape))
