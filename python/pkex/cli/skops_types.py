"""Types in skops files that are safe to load but not known to skops."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import IO, Any

# Classes whose instances contain numbers and each other. Other names in these modules, such as
# functions and imported modules, are not safe.
_KERNELS = (
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "PairwiseKernel",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
)
_SAFE = {
    **{f"sklearn.gaussian_process.kernels.{name}": "Kernel" for name in _KERNELS},
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace": "BaseEstimator",
}
# The kind of node that creates an instance without calling its class, and sets its attributes.
_INSTANCE = "ObjectNode"
# Types of arrays, which imputers store: the type of an empty array in the file.
_DTYPE, _ARRAY = "numpy.dtype", "numpy.ndarray"
# Types of sparse matrices, and the kind of node that reads one from arrays, for any type.
_SPARSE = {
    f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("matrix", "array")
}
_SPARSE_MATRIX = "SparseMatrixNode"


def safe_types(file: IO[bytes], unknown: Iterable[str]) -> set[str]:
    """Return the types that are safe classes and have only plain instances in the file.

    Nodes of other kinds call a type or read its attributes. A class that such a node names is not
    safe in this file, nor is one that the file names as a function. A dtype is safe if it is read
    from an array, and a type of sparse matrices if only such matrices have it.

    Parameters
    ----------
    file : binary file
        A skops file.
    unknown : iterable of str
        Full names of types in the file that are not known to skops.
    """
    unknown = set(unknown)
    safe = {name for name in unknown if name in _SAFE and _is_subclass(name, _SAFE[name])}
    safe |= unknown & {_DTYPE, *_SPARSE}
    with zipfile.ZipFile(file) as archive:
        for node in _nodes(archive):
            if not _is_plain(node):
                safe.discard(_name_in(node))
            # Functions in files of protocol 0, whose names are in their content.
            safe.discard(f"{node.get('module_path')}.{node.get('function')}")
    return safe


def check_sparse_matrices(file: IO[bytes]) -> None:
    """Raise ValueError if an index of a sparse matrix in a skops file is out of range.

    SciPy uses such an index as an address, and does not check it when it reads a matrix.
    """
    with zipfile.ZipFile(file) as archive:
        for node in _nodes(archive):
            if node.get("__loader__") == _SPARSE_MATRIX:
                from scipy.sparse import load_npz

                matrix = load_npz(io.BytesIO(archive.read(node["file"])))
                # Others have been checked.
                if hasattr(matrix, "check_format"):
                    matrix.check_format(full_check=True)
                    # SciPy omits this if the last is 0, and its differences may overflow.
                    if (matrix.indptr[1:] < matrix.indptr[:-1]).any():
                        raise ValueError("indptr must be a non-decreasing sequence")


def _nodes(archive: zipfile.ZipFile) -> Iterator[dict[str, Any]]:
    stack = [json.loads(archive.read("schema.json"))]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            stack += node.values()
            yield node


def _name_in(node: dict[str, Any]) -> str:
    return f"{node.get('__module__')}.{node.get('__class__')}"


def _is_plain(node: dict[str, Any]) -> bool:
    """Return whether a node creates an instance without calling its class, or reads arrays."""
    name = _name_in(node)
    if name == _DTYPE:
        return _is_dtype_of_array(node)
    return bool(node.get("__loader__") == (_SPARSE_MATRIX if name in _SPARSE else _INSTANCE))


def _is_dtype_of_array(node: dict[str, Any]) -> bool:
    """Return whether a node reads the dtype of an array."""
    array = node.get("content")
    return (
        (node.get("__loader__"), _name_in(node)) == ("DTypeNode", _DTYPE)
        and isinstance(array, dict)
        and (array.get("__loader__"), _name_in(array)) == ("NdArrayNode", _ARRAY)
    )


def _is_subclass(full_name: str, base: str) -> bool:
    """Return whether a name in scikit-learn is a subclass of a class in its module."""
    module_name, _, name = full_name.rpartition(".")
    module = import_module(module_name)
    attribute = getattr(module, name, None)
    return isinstance(attribute, type) and issubclass(attribute, getattr(module, base))
