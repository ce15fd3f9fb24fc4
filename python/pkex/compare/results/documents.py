"""What documents of MMD and HSIC results hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pkex.compare.drift.file_checks import checked_columns
from pkex.compare.permutation.significance import Significance
from pkex.inputs.choices import ESTIMATORS, SAMPLED_ESTIMATORS, SIDES, STATISTICS_CONVENTIONS
from pkex.inputs.documents import Document
from pkex.inputs.integers import as_integer
from pkex.kernels import Kernel
from pkex.kernels.plain import kernel_of, plain_kernel
from pkex.results.axes import FEATURE, Axes

__all__ = ["attribution_fields", "hsic_fields", "kernel_parameters", "read_sizes"]


def kernel_parameters(kernel: Kernel) -> dict[str, Any] | None:
    """Return the class and the parameters of a kernel; None if pkex does not define its class."""
    try:
        return plain_kernel(kernel)
    except TypeError:
        return None


def attribution_fields(document: Document) -> dict[str, Any]:
    """Return what MMD and HSIC results share, by the names of the fields of the classes."""
    names = document.texts("feature_names", FEATURE)
    errors = "standard_errors"
    return {
        "values": document.numbers("values", FEATURE),
        errors: document.numbers(errors, FEATURE, missing=True) if document.has(errors) else None,
        "alone": document.numbers("alone", FEATURE),
        "_axes": Axes(names, present=(FEATURE,)),
        "kernel": document.read("kernel_parameters", kernel_of),
        "bandwidth": document.text("bandwidth") if document.has("bandwidth") else None,
        "estimator": document.choice("estimator", (*ESTIMATORS, *SAMPLED_ESTIMATORS)),
        "value_function": document.choice("value_function", STATISTICS_CONVENTIONS),
        "significance": _significance(document) if document.has("pvalue") else None,
        "columns": document.read("columns", checked_columns),
        "n_pairs": document.integer("n_pairs", least=1) if document.has("n_pairs") else None,
    }


def hsic_fields(document: Document) -> dict[str, Any]:
    """Return what only HSIC results have."""
    target = "target_bandwidth"
    return {
        "target_kernel": document.read("target_kernel_parameters", kernel_of),
        target: document.text(target) if document.has(target) else None,
        "attribute": document.choice("attribute", SIDES),
        "n_rows": document.integer("n_rows", least=1),
        "normaliser": None,
    }


def read_sizes(plain: Any) -> tuple[int, int]:
    """Return the numbers of rows of two samples."""
    first, second = (as_integer("n_rows", size, "positive integers", least=1) for size in plain)
    return first, second


def _significance(document: Document) -> Significance:
    of_result = ("pvalue", "statistic_pvalue", "univariate_pvalue")
    axes = {**dict.fromkeys(of_result, ()), "permuted_values": ("permutation", FEATURE)}
    arrays: dict[str, Any] = {
        item.name: document.numbers(item.name, *axes.get(item.name, (FEATURE,)))
        for item in fields(Significance)
    }
    for name, numbers in arrays.items():
        is_pvalue = name != "permuted_values"
        if not numbers.size or (is_pvalue and not ((numbers > 0.0) & (numbers <= 1.0)).all()):
            raise document.error(
                f"the field {name!r} must have {'p-values' if is_pvalue else 'permutations'}"
            )
    return Significance(**{**arrays, **{name: float(arrays[name]) for name in of_result}})
