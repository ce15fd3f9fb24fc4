"""Large computations, each in a separate process: `python large.py mmd 20000`.

Prints the seconds it took, the processor time of all threads and the peak memory of the process in
megabytes, as JSON. This is VmHWM, because a child inherits the peak of resource.getrusage from its
parent. `data_megabytes` is the memory before the computation, when the data exist.
"""

import json
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pkex

ESTIMATE = {"estimator": "incomplete", "n_permutations": 199, "random_state": 0}


def mmd(n):
    """Attribute the difference of two samples of n rows to 20 features."""
    x, y = np.random.default_rng(0).standard_normal((2, n, 20))
    y[:, :10] += 0.1
    return lambda: pkex.mmd(x, y)


def estimated_mmd(n):
    """Attribute the difference of two arrays of n rows, by 100 pairs of rows per row."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((n, 20)), rng.standard_normal((n, 20))
    y[:, :10] += 0.01
    return lambda: pkex.mmd(x, y, **ESTIMATE)


def estimated_mmd_of_files(n):
    """Attribute the difference of two Parquet files of n rows, which are read in chunks."""
    directory = TemporaryDirectory()
    paths = [Path(directory.name) / f"{name}.parquet" for name in "xy"]
    for path, shift in zip(paths, (0.0, 0.01), strict=True):
        write_rows(path, n, shift)

    def call():
        with directory:
            pkex.mmd(*paths, **ESTIMATE)

    return call


def explained_file(n):
    """Explain n rows of a Parquet file by 500 points, and write the values to another."""
    rng = np.random.default_rng(0)
    points, coefficients = rng.standard_normal((500, 20)), rng.standard_normal(500)
    kernel = pkex.kernels.RBF(20**0.5)
    explainer = pkex.Explainer(pkex.KernelExpansion(points, coefficients, kernel))
    directory = TemporaryDirectory()
    rows, values = (Path(directory.name) / f"{name}.parquet" for name in ("rows", "values"))
    write_rows(rows, n, 0.0)

    def call():
        with directory:
            explainer.write_parquet(rows, values, progress=sys.stderr.isatty())

    return call


def write_rows(path, n, shift):
    """Write n rows of 20 columns to a Parquet file, of which ten columns have another mean."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng([0, shift > 0.0])
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(20)])
    with parquet.ParquetWriter(path, schema) as file:
        for start in range(0, n, 100_000):
            rows = rng.standard_normal((min(100_000, n - start), 20))
            rows[:, :10] += shift
            file.write_table(pa.table(list(rows.T), schema=schema))


def interventional(n):
    """Explain n rows by 1000 points against 100 background rows, d = 20."""
    rng = np.random.default_rng(0)
    points, coefficients = rng.standard_normal((1000, 20)), rng.standard_normal(1000)
    background, rows = rng.standard_normal((100, 20)), rng.standard_normal((n, 20))
    expansion = pkex.KernelExpansion(points, coefficients, pkex.kernels.RBF(20**0.5))
    return lambda: pkex.Explainer(expansion, background).shap_values(rows)


def gaussian_process(n, **options):
    """Explain rows by a Gaussian process of 500 rows against 50 background rows, d = 10."""
    # Imported here, because scikit-learn takes more memory than the other computations.
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    rng = np.random.default_rng(0)
    X, background, rows = (rng.standard_normal((size, 10)) for size in (500, 50, n))
    kernel = RBF(10**0.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, np.sin(X).sum(axis=1))
    return lambda **how: pkex.Explainer(model, background, **options)(rows, **how)


def variance(n):
    return gaussian_process(n, target="variance")


def uncertainty(n):
    explain = gaussian_process(n)
    return lambda: explain(uncertainty=True)


def memory(of):
    """Return the peak ("VmHWM") or the current ("VmRSS") memory in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(rf"{of}:\s+(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    name, size = sys.argv[1:]
    tasks = (
        mmd,
        estimated_mmd,
        estimated_mmd_of_files,
        explained_file,
        interventional,
        variance,
        uncertainty,
    )
    call = {task.__name__: task for task in tasks}[name](int(size))
    data_megabytes = memory("VmRSS")
    start = time.perf_counter(), time.process_time()
    call()
    found = {
        "seconds": time.perf_counter() - start[0],
        "processor_seconds": time.process_time() - start[1],
        "megabytes": memory("VmHWM"),
        "data_megabytes": data_megabytes,
    }
    print(json.dumps(found))
