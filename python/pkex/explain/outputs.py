"""The explained outputs of a model, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pkex.adapters import AdaptedModel
from pkex.errors import InputError, Option
from pkex.functions.base import Function
from pkex.inputs.choices import check_names, places_of
from pkex.inputs.wording import shown


@dataclass(frozen=True)
class Outputs:
    """The outputs that are explained.

    Parameters
    ----------
    names : tuple of str, optional
        Names along the output axis of the explained function; None without such an axis.
    single : str, optional
        Name of the output of a function without an output axis.
    drops_axis : bool
        Whether a single output was chosen, which removes the axis from results.
    places : tuple of int, optional
        The numbers of the chosen outputs; None for all.
    """

    names: tuple[str, ...] | None
    single: str | None
    drops_axis: bool
    places: tuple[int, ...] | None = None

    @classmethod
    def chosen(
        cls,
        adapted_model: AdaptedModel,
        outputs: int | str | Sequence[int | str] | None,
        given_names: Sequence[str] | None,
    ) -> tuple[Outputs, Function]:
        """Return the chosen outputs of a model, and the function with these outputs."""
        function = adapted_model.function
        names = _all_names(adapted_model, given_names)
        # A function without an output axis may have a name all the same.
        single = adapted_model.output_names[0] if adapted_model.output_names and not names else None
        if outputs is None:
            return cls(names, single, drops_axis=False), function
        places = _places(outputs, names)
        if names is not None:
            names = tuple(names[place] for place in places)
        selection = cls(names, single, drops_axis=_is_single(outputs), places=tuple(places))
        return selection, function.select(places)

    @property
    def axis_names(self) -> list[str] | None:
        """The names along the output axis of results; None if they have no such axis."""
        return None if self.names is None or self.drops_axis else list(self.names)

    @property
    def name(self) -> str | None:
        """The name of the single output where results have no output axis, if it has one."""
        return self.names[0] if self.drops_axis and self.names is not None else self.single


def _all_names(
    adapted_model: AdaptedModel, output_names: Sequence[str] | None
) -> tuple[str, ...] | None:
    """Return the names along the model's output axis, None if there is no such axis."""
    function = adapted_model.function
    if not function.has_output_axis:
        if output_names is not None:
            raise ValueError(
                "output_names was given, but the model has a single output and no output axis"
            )
        return None
    if output_names is not None:
        return check_names("output_names", output_names, function.n_outputs)
    return adapted_model.output_names or tuple(f"y{k}" for k in range(function.n_outputs))


def _is_single(outputs: object) -> bool:
    return isinstance(outputs, str) or not isinstance(outputs, Iterable)


def _places(outputs: Any, names: tuple[str, ...] | None) -> list[int]:
    """Return the numbers of the chosen outputs."""
    if names is None:
        what = "was given, but the model has a single output and no output axis"
        raise InputError(Option("outputs", outputs), what)
    keys = [outputs] if _is_single(outputs) else list(outputs)
    if not keys:
        raise ValueError(f"outputs is empty; choose among {shown(names)}")
    places = [_place(output, names) for output in keys]
    if len(set(places)) < len(places):
        duplicate = next(place for place in places if places.count(place) > 1)
        raise ValueError(f"outputs has {names[duplicate]!r} twice; choose every output once")
    return places


def _place(output: Any, names: tuple[str, ...]) -> int:
    places = places_of(output, names)
    if places:
        return places[0]
    hint = ""
    if places is not None and (places_from_end := places_of(output, names, from_end=True)):
        hint = f" (numbers do not count from the end; did you mean {places_from_end[0]}?)"
    elif isinstance(output, str) and (opposite := " vs ".join(output.split(" vs ")[::-1])) in names:
        hint = f" (did you mean {opposite!r}, whose values have the opposite sign?)"
    raise ValueError(
        f"outputs: there is no output {output!r}{hint}; choose by number from 0 to "
        f"{len(names) - 1} or by name from {shown(names)}"
    )
