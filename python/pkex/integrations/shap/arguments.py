"""Checks of the arguments of shap's explainers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import shap
from shap.utils._exceptions import DimensionError
from shap.utils._legacy import IdentityLink, LogitLink

from pkex.explain.model_columns import ModelColumns
from pkex.functions.linked import LINKS
from pkex.integrations import as_rows, dimensions
from pkex.integrations.arguments import Check, check_flag, check_random_state, count, one_of

Link: TypeAlias = Literal["identity"] | Callable[..., Any]
Algorithm: TypeAlias = Literal["auto", "exact", "permutation"]
Budget: TypeAlias = int | Literal["auto"] | None
L1Reg: TypeAlias = str | float | bool | None


class RowsError(DimensionError, ValueError):  # type: ignore[misc]  # shap has no types
    """Data that are neither rows nor one row: shap's error, also a ValueError."""


def rows_of(X: Any, columns: ModelColumns | None = None) -> tuple[Any, bool]:
    """Return rows as a table or documents, and whether they were a single row."""
    rows, is_row = as_rows(X, columns)
    if dimensions(rows) not in (1, 2):
        raise RowsError(
            "X must have 1 or 2 dimensions: one row of shape (d,), or rows of shape (n, d); "
            f"got {np.ndim(X)}"
        )
    return rows, is_row


def check_masker(masker: Any) -> None:
    """Raise NotImplementedError for maskers that stand for other values than Shapley's."""
    for name in ("clustering", "partition"):
        structure = getattr(masker, name, None)
        is_masker = isinstance(masker, shap.maskers.Masker)
        # For maskers of text it is a method.
        if is_masker and structure is not None and not callable(structure):
            raise NotImplementedError(
                f"a masker with a {name} stands for Owen values, which are not supported. Pass "
                "shap.maskers.Independent(data) or the data, and groups={'name': [columns]} for "
                "columns that belong together"
            )


def selects_features(l1_reg: L1Reg, n_features: int) -> bool:
    """Return whether a valid `l1_reg` would set the values of some features to 0 in shap."""
    if isinstance(l1_reg, str):
        number = _number_of(l1_reg)
        # The user has not chosen shap's defaults.
        is_default = l1_reg in ("auto", "num_features(10)")
        return not is_default and (number is None or number < n_features)
    return bool(l1_reg)


def are_of_pairs(interactions: Any) -> bool:
    """Return whether interactions of pairs are requested; shap distinguishes True from 1."""
    if isinstance(interactions, bool | np.bool_):
        return bool(interactions)
    return bool(interactions == 2)


def _check_interactions(name: str, interactions: Any) -> None:
    is_number = isinstance(interactions, int | np.integer | np.bool_)
    is_flag = isinstance(interactions, bool | np.bool_)
    if not is_number or not (is_flag or interactions in (1, 2)):
        raise NotImplementedError(
            f"{name} must be True or 2 for pairs, or False or 1 for none; got {interactions!r}. "
            "For other orders, use "
            "pkex.Explainer(model, background).interactions(X, index=..., order=...)"
        )


def link_name(link: object) -> Literal["identity", "logit"] | None:
    """Return the name of a link of shap in pkex; None if pkex has no such link."""
    if link is shap.links.identity or isinstance(link, IdentityLink):
        return "identity"
    if link is shap.links.logit or isinstance(link, LogitLink):
        return "logit"
    return next((name for name in LINKS if isinstance(link, str) and link == name), None)


def _check_link(name: str, link: object) -> None:
    if link_name(link) is None:
        hint = (
            "For another function of the model's output, before the mean over the background, "
            "use pkex.Explainer(model, background, transform=...)"
            if callable(link)
            else "Positional arguments are those of shap.Explainer, where link is the third"
        )
        raise ValueError(
            f"{name} must be 'identity', 'logit' or one of shap.links; got {link!r}. {hint}"
        )


def _check_l1_reg(name: str, l1_reg: Any) -> None:
    is_number = isinstance(l1_reg, int | float | np.number) and l1_reg >= 0
    is_word = isinstance(l1_reg, str) and (
        l1_reg in ("auto", "aic", "bic") or _number_of(l1_reg) is not None
    )
    if l1_reg is True or not (l1_reg is None or is_number or is_word):
        raise ValueError(
            f"{name} has no effect, because all values are exact, but must be as in shap: "
            f"'num_features(k)', 'aic', 'bic', False or a non-negative number; got {l1_reg!r}"
        )


def _number_of(l1_reg: str) -> int | None:
    """Return the number in "num_features(10)", or in "rank(3)" as in shap's examples."""
    match = re.fullmatch(r"(?:num_features|rank)\((\d+)\)", l1_reg)
    return int(match[1]) if match else None


def _check_error_bounds(name: str, error_bounds: Any) -> None:
    if error_bounds is not False:
        raise NotImplementedError(f"{name}: exact values have no error bounds. Leave it out")


def _check_outputs(name: str, outputs: Any) -> None:
    if outputs is not None:
        raise NotImplementedError(
            f"{name} cannot be selected in a call. Select them from the explanation, as in "
            "explanation[:, :, 'name'], or use pkex.Explainer(model, outputs=...)"
        )


def _check_rows(_: str, X: Any) -> None:
    rows_of(X)


# Checks of the arguments of calls and of the constructor, by their names.
CALL: dict[str, Check] = {
    "X": _check_rows,
    "row": _check_rows,
    "nsamples": count("auto", None),
    "max_evals": count("auto", None),
    "batch_size": count("auto", None),
    "l1_reg": _check_l1_reg,
    "silent": check_flag,
    "gc_collect": check_flag,
    "main_effects": check_flag,
    "error_bounds": _check_error_bounds,
    "outputs": _check_outputs,
    "interactions": _check_interactions,
}
CONSTRUCTOR: dict[str, Check] = {
    **CALL,
    "link": _check_link,
    "algorithm": one_of("auto", "exact", "permutation"),
    "linearize_link": check_flag,
    "keep_index": check_flag,
    "keep_index_ordered": check_flag,
    "random_state": check_random_state,
    "seed": count(None, least=0),
}
