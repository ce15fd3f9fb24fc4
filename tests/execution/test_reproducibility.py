"""Equal numbers in, equal bits out: for any threads, chunks, memory layout and SIMD level."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simd_levels import only_native, run_at, simd_levels

import pkex
from pkex.kernels import RBF, Cauchy, Laplacian

RNG = np.random.default_rng(0)
# 12,000 evaluations a row for the last kernel: many tiles, and more work than stays on one thread.
POINTS = RNG.normal(size=(3000, 6))
COEFFICIENTS = RNG.normal(size=(3000, 2)) * 10.0 ** RNG.integers(-6, 7, size=(3000, 2))
ROWS = RNG.normal(size=(23, 6))
KERNELS = {
    "RBF": RBF(0.7),
    "Laplacian": Laplacian([0.5, 1.0, 2.0, 4.0, 8.0, 16.0]),
    "Cauchy": Cauchy(3.0),
    "products": (RBF() + 0.5 * Laplacian(2.0)) * (Cauchy() + RBF(9.0).on([5, 0])),
}
OPTIONS = {
    f"{method}, {summation}": {"method": method, "summation": summation}
    for method in ("quadrature", "recursion")
    for summation in ("compensated", "plain")
}


def assert_equal_bits(found, expected):
    assert found.dtype == expected.dtype == np.float64
    assert found.shape == expected.shape
    bits = (np.ascontiguousarray(array).view(np.int64) for array in (found, expected))
    np.testing.assert_array_equal(*bits)


def expansion(kernel="products"):
    return pkex.KernelExpansion(POINTS, COEFFICIENTS, KERNELS[kernel], [0.5, -1e6])


def random_games(p=4000, d=7):
    """Factors of both signs and all sizes, and weights of two outputs."""
    rng = np.random.default_rng(1)
    present, absent = rng.normal(size=(2, p, d)) * 10.0 ** rng.integers(-5, 6, size=(2, p, d))
    return present, absent, rng.normal(size=(p, 2))


# --- threads ---


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_explanations_do_not_depend_on_the_number_of_threads(kernel, options):
    one, two, seven = (
        pkex.Explainer(expansion(kernel), n_jobs=n_jobs, **options).shap_values(ROWS)
        for n_jobs in (1, 2, 7)
    )
    assert_equal_bits(two, one)
    assert_equal_bits(seven, one)


@pytest.mark.parametrize("index", ["SV", "BV"])
@pytest.mark.parametrize("summation", ["compensated", "plain"])
def test_values_of_games_do_not_depend_on_the_number_of_threads(index, summation):
    one, two, seven = (
        pkex.product_game(*random_games(), index=index, summation=summation, n_jobs=n_jobs)
        for n_jobs in (1, 2, 7)
    )
    assert_equal_bits(two, one)
    assert_equal_bits(seven, one)


def test_predictions_do_not_depend_on_the_number_of_cores(monkeypatch):
    predictions = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("pkex.execution.threads._usable_cores", lambda cores=cores: cores)
        predictions.append(expansion().predict(np.tile(ROWS, (10, 1))))
    assert_equal_bits(predictions[1], predictions[0])
    assert_equal_bits(predictions[2], predictions[0])


# --- chunks ---


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_explanations_do_not_depend_on_how_the_rows_are_split(options):
    explainer = pkex.Explainer(expansion(), **options)
    whole = explainer.shap_values(ROWS)
    for size in (1, 2, 7, 22):
        parts = [explainer.shap_values(ROWS[i : i + size]) for i in range(0, len(ROWS), size)]
        assert_equal_bits(np.concatenate(parts), whole)


@pytest.mark.parametrize("order", [2, 3])
def test_interactions_of_many_coalitions_do_not_depend_on_the_number_of_threads(order):
    # Many parts share the threads, of few parts each has all of them.
    d = {2: 180, 3: 45}[order]
    rng = np.random.default_rng(7)
    wide = pkex.KernelExpansion(rng.normal(size=(40, d)), rng.normal(size=40), RBF(10.0))
    rows = rng.normal(size=(3, d))
    one, two, nine = (
        pkex.Explainer(wide, n_jobs=n).interactions(rows, order=order).values for n in (1, 2, 9)
    )
    assert_equal_bits(one, two)
    assert_equal_bits(one, nine)


def test_explanations_of_more_rows_than_are_in_memory_at_a_time_are_those_of_each_row():
    # Sums of about 16 MB are kept at a time: here those of ten thousand rows.
    wide = pkex.KernelExpansion(POINTS[:40, :2], COEFFICIENTS[:40].repeat(50, axis=1), RBF())
    rows = np.random.default_rng(2).normal(size=(20_000, 2))
    explainer = pkex.Explainer(wide)
    whole = explainer.shap_values(rows)
    for i in (0, 9_999, 12_345, 19_999):
        assert_equal_bits(explainer.shap_values(rows[[i]])[0], whole[i])


def test_explanations_do_not_depend_on_the_rows_beside():
    explainer = pkex.Explainer(expansion())
    whole = explainer.shap_values(ROWS)
    order = np.random.default_rng(3).permutation(len(ROWS))
    assert_equal_bits(explainer.shap_values(ROWS[order]), whole[order])
    far = np.where(np.arange(len(ROWS))[:, None] % 2, ROWS, 1e6)
    assert_equal_bits(explainer.shap_values(far)[1::2], whole[1::2])


def test_predictions_do_not_depend_on_how_the_rows_are_split():
    whole = expansion().predict(ROWS)
    assert_equal_bits(np.concatenate([expansion().predict(row[None]) for row in ROWS]), whole)


def test_outputs_do_not_depend_on_the_outputs_beside():
    both = pkex.Explainer(expansion()).shap_values(ROWS)
    for k in (0, 1):
        alone = pkex.KernelExpansion(POINTS, COEFFICIENTS[:, k], KERNELS["products"])
        assert_equal_bits(pkex.Explainer(alone).shap_values(ROWS), both[..., k].copy())


# --- memory layout and dtype ---

LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "every other row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every other column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "not aligned": lambda a: (
        np.frombuffer(b"." + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)
    ),
    "read-only": lambda a: np.broadcast_to(a, (1, *a.shape))[0],
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "float32": lambda a: a.astype(np.float32),
    "int16": lambda a: a.astype(np.int16),
    "long double": lambda a: a.astype(np.longdouble),
    "objects": lambda a: a.astype(object),
    "list": np.ndarray.tolist,
}

each_layout = pytest.mark.parametrize("convert", LAYOUTS.values(), ids=LAYOUTS.keys())


@each_layout
def test_expansions_do_not_depend_on_memory_layout_or_dtype(convert):
    # Small integers are the same numbers in every dtype.
    points, coefficients, rows = (
        np.random.default_rng(4).integers(-9, 10, size=shape).astype(np.float64)
        for shape in ((50, 6), (50, 2), (9, 6))
    )
    expected = pkex.KernelExpansion(points, coefficients, KERNELS["products"])
    found = pkex.KernelExpansion(convert(points), convert(coefficients), KERNELS["products"])
    assert_equal_bits(found.predict(convert(rows)), expected.predict(rows))
    values = pkex.Explainer(expected).shap_values(rows)
    assert_equal_bits(pkex.Explainer(found).shap_values(convert(rows)), values)


@each_layout
def test_games_do_not_depend_on_memory_layout_or_dtype(convert):
    present, absent, weights = (
        np.random.default_rng(5).integers(-4, 5, size=shape).astype(np.float64)
        for shape in ((40, 5), (40, 5), (40, 3))
    )
    expected = pkex.product_game(present, absent, weights, difference=present - absent)
    arrays = map(convert, (present, absent, weights))
    found = pkex.product_game(*arrays, difference=convert(present - absent))
    assert_equal_bits(found, expected)


# --- SIMD levels ---

LEVELS = ("avx512", "avx2", "neon", "portable")

# Computes results of every kind, in a process of its own.
SCRIPT = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1] / "shared")]!r}
from test_reproducibility import results_of_every_kind
import numpy as np
import pkex
np.savez(sys.argv[1], level=pkex._core.simd_level(), **results_of_every_kind())
"""


def results_of_every_kind():
    results = {}
    for kernel in KERNELS:
        for name, options in OPTIONS.items():
            explainer = pkex.Explainer(expansion(kernel), **options)
            results[f"{kernel}, {name}"] = explainer.shap_values(ROWS[:5])
        results[f"{kernel}, predictions"] = expansion(kernel).predict(ROWS)
        triples = pkex.Explainer(expansion(kernel)).interactions(ROWS[:2], index="FSII", order=3)
        results[f"{kernel}, interactions"] = triples.values
    for name, options in OPTIONS.items():
        results[f"games, {name}"] = pkex.product_game(*random_games(), **options)
    results["games, Banzhaf"] = pkex.product_game(*random_games(), index="BV")
    # Distances from 0 to 1e6 length-scales, 300 features: all of the exponentials, many nodes.
    rng = np.random.default_rng(6)
    points = rng.normal(size=(33, 300)) * 10.0 ** rng.uniform(-12.0, 6.0, size=(33, 300))
    for kernel in (RBF(), Laplacian(), Cauchy()):
        wide = pkex.KernelExpansion(points, np.resize([1.0, -1.0], 33), kernel)
        results[f"all distances, {kernel!r}"] = pkex.Explainer(wide).shap_values(points[:2])
    return results


@pytest.fixture(scope="module")
def results_at(tmp_path_factory):
    """The results of every kind at a level; skips if this machine does not have it."""
    folder = tmp_path_factory.mktemp("levels")
    available = simd_levels()

    def results(level):
        if level not in available:
            pytest.skip(f"this machine has no {level}; it has {', '.join(available)}")
        file = folder / f"{level}.npz"
        if not file.exists():
            ran = run_at(level, "-c", SCRIPT, str(file))
            assert ran.returncode == 0, ran.stderr
        with np.load(file) as saved:
            assert saved["level"] == level
            return {name: saved[name] for name in saved.files if name != "level"}

    return results


@pytest.mark.parametrize("levels", [("avx512", "avx2")], ids=" and ".join)
def test_levels_with_fused_multiply_add_give_equal_bits(results_at, levels):
    first, second = map(results_at, levels)
    assert first.keys() == second.keys()
    for name in first:
        assert_equal_bits(first[name], second[name])


@pytest.mark.slow
def test_a_process_chooses_the_widest_level_and_it_gives_equal_bits_to_that_level_by_name(
    results_at,
):
    widest = simd_levels()[0]
    expected = results_at(widest)
    environment = {name: value for name, value in os.environ.items() if name != "PKEX_SIMD"}
    script = "import pkex; print(pkex._core.simd_level())"
    chosen = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert chosen.stdout.strip() == widest
    if pkex._core.simd_level() == widest:
        found = results_of_every_kind()
        for name in expected:
            assert_equal_bits(found[name], expected[name])


@pytest.mark.slow
@pytest.mark.parametrize("level", [level for level in LEVELS if level != "portable"])
def test_the_portable_level_agrees_to_rounding(results_at, level):
    fused, portable = results_at(level), results_at("portable")
    differing = 0
    for name, expected in fused.items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(portable[name], expected, rtol=0, atol=1e-12 * scale)
        differing += not np.array_equal(portable[name], expected)
    # Without the instruction some bits differ: it was another level that ran.
    assert differing > 0


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="reads the processor's flags")
@pytest.mark.skipif(only_native(), reason="the extension is a quick build")
def test_the_levels_are_those_that_the_processor_has():
    flags = set(Path("/proc/cpuinfo").read_text().split())
    expected = ["portable"]
    if flags >= {"avx2", "fma"}:
        expected.insert(0, "avx2")
        if flags >= {"avx512f", "avx512dq", "avx512vl"}:
            expected.insert(0, "avx512")
    assert simd_levels() == (["neon", *expected] if "asimd" in flags else expected)


@pytest.mark.parametrize("level", ["abacus", "AVX2", "", *LEVELS])
def test_a_level_that_is_not_there_is_an_import_error_that_lists_those_there_are(level):
    available = simd_levels()
    ran = run_at(level, "-c", "import pkex; print(pkex._core.simd_level())")
    if level in available:
        assert ran.stdout.strip() == level
    else:
        assert ran.returncode == 1
        expected = (
            f"ImportError: PKEX_SIMD={level} is not supported by this machine. "
            f"Set it to one of: {', '.join(available)}"
        )
        assert ran.stderr.strip().splitlines()[-1] == expected
