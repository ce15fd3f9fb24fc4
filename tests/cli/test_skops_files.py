"""Models in skops files run no code: whatever kinds of nodes a file is made of."""

from __future__ import annotations

import argparse
import io
import json
import zipfile

import numpy as np
import pytest
import skops.io as skops
from csv_tables import csv_table
from scipy.sparse import csc_matrix, csr_matrix, save_npz
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, kernels
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from skops.io._audit import NODE_TYPE_MAPPING
from skops.io._protocol import PROTOCOL

from pkex.cli.models import read_model

KERNELS = "sklearn.gaussian_process.kernels"
MARKER = "code-has-run"
FUNCTION, KERNEL = f"{KERNELS}._approx_fprime", f"{KERNELS}.RBF"
SPARSE = "scipy.sparse._csr.csr_matrix"


def node(kind, name, **parts):
    """Return a node of a schema, as it stands in a skops file."""
    module, _, own = name.rpartition(".")
    return {"__loader__": kind, "__module__": module, "__class__": own, **parts}


def plain(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def several(kind, name, *nodes):
    return node(kind, name, content=list(nodes))


def attribute(owner, name, of=f"{KERNELS}.np"):
    return node("MethodNode", of, content={"func": name, "obj": owner})


# os.system, by attributes of what the module of kernels imports.
SYSTEM = node("TypeNode", f"{KERNELS}.np")
for step in ("f2py", "os", "system"):
    SYSTEM = attribute(SYSTEM, step)
COMMAND = f"echo x> {MARKER}"
# _approx_fprime(argument, function, step) calls the function.
ARGUMENTS = several("TupleNode", "builtins.tuple", plain(COMMAND), SYSTEM, plain(1.0))
CALL = node("ConstructorFromReduceNode", FUNCTION, content=ARGUMENTS)


def every_kind(name, child, function, arguments):
    """Return a node of each kind: one of that name, or one that holds a node of that name."""
    types = several("ListNode", "builtins.list", function)
    array = node("NdArrayNode", "numpy.ndarray", type="numpy", file="array")
    reduced = {"__reduce__": {"args": arguments}, "content": plain({})}
    named = several("TupleNode", name, child)
    none = several("TupleNode", "builtins.tuple")
    contents = {
        "BytearrayNode": {"file": "array"},
        "BytesNode": {"file": "array"},
        "ConstructorFromReduceNode": {"content": arguments},
        "DTypeNode": {"content": child},
        "DefaultDictNode": {"content": {"main": child, "default_factory": function}},
        "DictNode": {"content": {COMMAND: child}, "key_types": types},
        "FunctionNode": {},
        "ListNode": {"content": [child]},
        "LossNode": reduced,
        "MaskedArrayNode": {"content": {"data": child, "mask": array}},
        "NdArrayNode": {"type": "json", "content": [child], "shape": plain([1])},
        "ObjectNode": {"content": child},
        "PartialNode": {
            "content": {"func": function, "args": none, "kwds": child, "namespace": child}
        },
        "QuantileForestNode": reduced,
        "RandomGeneratorNode": {
            "content": {
                "bit_generator": {
                    **several("DictNode", "builtins.dict"),
                    "content": {"bit_generator": plain("PCG64")},
                    "key_types": types,
                },
                "seed_seq": child,
            }
        },
        "RandomStateNode": {"content": child},
        "SetNode": {"content": [child]},
        "SliceNode": {"content": dict.fromkeys(("start", "stop", "step"))},
        "SparseMatrixNode": {"type": "scipy", "file": "array"},
        "TreeNode": reduced,
        "TupleNode": {"content": [child]},
        "TypeNode": {},
    }
    return {kind: node(kind, name, **parts) for kind, parts in contents.items()} | {
        "CachedNode": several(
            "ListNode", "builtins.list", {**named, "__id__": 1}, node("CachedNode", name, __id__=1)
        ),
        "JsonNode": attribute(node("JsonNode", name, content="1"), "real", of=name),
        "MethodNode": attribute(node("TypeNode", name), "mro", of=name),
        "OperatorFuncNode": node("OperatorFuncNode", "operator.attrgetter", attrs=named),
    }


HOSTILE = every_kind(FUNCTION, CALL, SYSTEM, ARGUMENTS)
MISUSED = every_kind(
    KERNEL, plain({}), node("TypeNode", "builtins.str"), several("TupleNode", "builtins.tuple")
)
# They hold plain numbers whatever they are called, or need a library of their own.
NEVER_LISTED = {"SliceNode", "QuantileForestNode"}


@pytest.fixture
def explained(run, files, tmp_path, monkeypatch):
    """Return how `pkex explain` ends for a model file, which must not run code."""
    monkeypatch.chdir(tmp_path)

    array = io.BytesIO()
    np.save(array, np.zeros(1))
    zeros = array.getvalue()

    def explained(schema, content=zeros):
        with zipfile.ZipFile("m.skops", "w") as archive:
            archive.writestr("array", content)
            archive.writestr("schema.json", json.dumps({"protocol": PROTOCOL, **schema}))
        done = run("explain", "m.skops", files / "labelled.csv")
        assert not (tmp_path / MARKER).exists()
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
        return done.err

    return explained


def test_every_kind_of_node_is_tried():
    kinds = {kind for kind, _ in NODE_TYPE_MAPPING}
    # That of scikit-learn before 1.2.
    assert kinds - {"_DictWithDeprecatedKeysNode"} <= set(HOSTILE)


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_kind_of_node_runs_code(explained, kind):
    said = explained(HOSTILE[kind])
    assert kind in NEVER_LISTED or f"--trust {FUNCTION}" in said


@pytest.mark.parametrize("kind", sorted(set(MISUSED) - NEVER_LISTED - {"ObjectNode"}))
def test_kernels_are_safe_as_instances_alone(explained, kind):
    assert f"--trust {KERNEL}" in explained(MISUSED[kind])


@pytest.mark.parametrize("kind", sorted(set(MISUSED) - NEVER_LISTED - {"TypeNode"}))
def test_dtypes_are_safe_from_arrays_only(explained, kind):
    misused = every_kind(
        "numpy.dtype",
        plain("float64"),
        node("TypeNode", "builtins.str"),
        several("TupleNode", "builtins.tuple", plain("float64")),
    )
    assert "--trust numpy.dtype" in explained(misused[kind])


@pytest.mark.parametrize("kind", sorted(set(MISUSED) - NEVER_LISTED - {"SparseMatrixNode"}))
def test_sparse_matrices_are_safe_as_arrays_only(explained, kind):
    misused = every_kind(
        SPARSE,
        plain({}),
        node("TypeNode", "builtins.str"),
        several("TupleNode", "builtins.tuple"),
    )
    assert f"--trust {SPARSE}" in explained(misused[kind])


# skops trusts the base class.
@pytest.mark.parametrize("name", [SPARSE, "scipy.sparse._matrix.spmatrix"])
def test_sparse_matrices_with_wrong_indices_are_not_loaded(explained, name):
    matrix = csr_matrix(np.eye(3))
    matrix.indices[0] = 1_000_000
    content = io.BytesIO()
    save_npz(content, matrix)
    said = explained(node("SparseMatrixNode", name, type="scipy", file="array"), content.getvalue())
    # SciPy's message, which has other words in old versions.
    assert "m.skops cannot be loaded: ValueError: " in said
    assert "must be < 3" in said


# In SciPy's own check, none of them is wrong: the last is 0 or negative, or differences overflow.
@pytest.mark.parametrize(
    "starts", [[0, 10**6, 0], [0, 10**6, -1], [0, 2**62, -(2**63), -(2**62), 0, 1]], ids=str
)
def test_sparse_matrices_with_wrong_starts_of_rows_are_not_loaded(explained, starts):
    content = io.BytesIO()
    parts = {"indptr": np.array(starts), "indices": np.zeros(1, dtype=int), "data": np.ones(1)}
    np.savez(content, format=b"csr", shape=np.array([len(starts) - 1, 3]), **parts)
    said = explained(
        node("SparseMatrixNode", SPARSE, type="scipy", file="array"), content.getvalue()
    )
    assert "m.skops cannot be loaded: ValueError: indptr must be a non-decreasing" in said


@pytest.mark.parametrize("name", [KERNEL, SPARSE, "numpy.dtype"])
def test_functions_of_old_files_are_not_safe(explained, name):
    path, _, own = name.rpartition(".")
    function = node("FunctionNode", "builtins.str", content={"module_path": path, "function": own})
    # Loading a dictionary calls the types of its keys.
    types = several("ListNode", "builtins.list", function)
    called = node("DictNode", "builtins.dict", content={"float64": plain(1.0)}, key_types=types)
    assert f"--trust {name}" in explained({**called, "protocol": 0})


def test_a_kernel_has_no_safe_attributes(explained):
    kernel = node("ObjectNode", KERNEL, content=plain({}))
    for name in ("theta", "__class__", "__init__"):
        assert f"--trust {KERNEL}.{name}" in explained(attribute(kernel, name, of=KERNEL))


def test_a_name_of_a_kernel_that_is_none_is_not_safe(explained, monkeypatch):
    monkeypatch.setattr(kernels, "RBF", np.ndarray)
    assert f"--trust {KERNEL}" in explained(node("ObjectNode", KERNEL, content=plain({})))


@pytest.mark.parametrize("name", ["x.y;echo", "x.$(echo)", "x.\x1b[2K"])
def test_names_that_are_none_are_not_proposed(explained, name):
    said = explained(node("ObjectNode", name, content=plain({})))
    assert f"{name!r} is not a name that can be imported" in said
    assert "--trust" not in said


def test_versions_of_skops_that_run_code_of_files_are_not_used(explained, monkeypatch):
    monkeypatch.setattr("skops.__version__", "0.11.0")
    monkeypatch.setattr(skops, "load", lambda *_, **__: pytest.fail("loaded"))
    said = explained(node("ObjectNode", KERNEL, content=plain({})))
    assert "skops 0.11.0 executes code in the file. Update it by: pip install 'skops>=0.12'" in said


def test_models_of_scikit_learn_load_without_trust(files, tmp_path):
    frame = csv_table(files / "labelled.csv")[:20]
    X, y = frame[["a", "b"]], frame["c"]
    every_kernel = kernels.ConstantKernel() * kernels.RBF() + kernels.Exponentiation(
        kernels.DotProduct() + kernels.PairwiseKernel(), 2.0
    )
    for own in (kernels.Matern, kernels.RationalQuadratic, kernels.ExpSineSquared):
        every_kernel += own() + kernels.WhiteKernel()
    models = (
        GaussianProcessRegressor(every_kernel, optimizer=None).fit(X, y),
        GaussianProcessClassifier(kernels.RBF()).fit(X, y > 0),
        GaussianProcessClassifier(kernels.RBF()).fit(X, np.digitize(y, [-0.5, 0.5])),
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")).fit(X, y),
        make_pipeline(StandardScaler(), SVC()).fit(X, y > 0),
        make_pipeline(SimpleImputer(), StandardScaler(), SVC()).fit(X.mask(X > 1.0), y > 0),
        make_pipeline(
            SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False), SVC()
        ).fit(frame[["b"]].round().astype(str).astype(object), y > 0),
    )
    path = tmp_path / "m.skops"
    options = argparse.Namespace(model=str(path), trust=[], trust_pickle=False)
    for model in models:
        skops.dump(model, path)
        loaded = read_model(options, "rows.csv")
        rows = X if model.n_features_in_ == 2 else frame[["b"]].round().astype(str).astype(object)
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_models_of_sparse_rows_load_without_trust(tmp_path):
    rows = np.random.default_rng(0).poisson(0.5, size=(30, 4)).astype(float)
    path = tmp_path / "m.skops"
    options = argparse.Namespace(model=str(path), trust=[], trust_pickle=False)
    for model, X in ((SVC(), csr_matrix(rows)), (KernelRidge(), csc_matrix(rows))):
        skops.dump(model.fit(X, rows[:, 0] > 0), path)
        loaded = read_model(options, "rows.csv")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
