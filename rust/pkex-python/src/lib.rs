//! The extension module `pkex._core`: parses arguments, releases the interpreter, converts results.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod arguments;
mod call;

use pyo3::prelude::*;

/// The engine of pkex. Arrays are two-dimensional, C-contiguous and finite float64.
#[pymodule]
mod _core {
    use numpy::{PyArray2, PyArray3, PyReadonlyArray2};
    use pkex_core::{Players, ProductGames, Settings};
    use pyo3::prelude::*;

    use crate::arguments::{self, Array, TermArgument};
    use crate::call::{self, call};

    #[pymodule_init]
    fn initialise(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        call::choose_level()
    }

    /// The instruction set in use: "avx512", "avx2", "neon" or "portable".
    #[pyfunction]
    fn simd_level() -> &'static str {
        call::level().name()
    }

    /// The number of threads that this process may run at once, by its affinity and its quota.
    #[pyfunction]
    fn available_threads() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    /// A kernel expansion, packed for the engine; immutable.
    #[pyclass(frozen, module = "pkex._core")]
    struct Expansion(pkex_core::Expansion);

    #[pymethods]
    impl Expansion {
        #[new]
        fn new(
            points: PyReadonlyArray2<'_, f64>,
            coefficients: PyReadonlyArray2<'_, f64>,
            terms: Vec<TermArgument<'_>>,
        ) -> PyResult<Self> {
            let points = Array::copied(&points)?;
            let coefficients = Array::copied(&coefficients)?;
            let terms = terms.iter().map(arguments::term).collect::<PyResult<Vec<_>>>()?;
            let players = Players::columns(points.columns());
            pkex_core::Expansion::new(points.matrix(), coefficients.matrix(), &terms, players)
                .map(Self)
                .map_err(call::to_python)
        }

        /// Shapley values of the neutral game, of shape (rows, features, outputs).
        #[pyo3(signature = (X, *, method, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        fn explain<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            method: &str,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray3<f64>>> {
            let x = Array::copied(&X)?;
            let method = arguments::method(method)?;
            let settings = settings(summation, n_threads)?;
            let shape = [x.rows(), self.0.players().count(), self.0.outputs()];
            let explain = |monitor: pkex_core::Monitor<'_>| {
                self.0.explain(x.matrix(), method, &settings, monitor)
            };
            call(py, progress, explain)?.reshape(shape)
        }

        /// The expansion's values, of shape (rows, outputs).
        #[pyo3(signature = (X, *, summation, n_threads, progress = None))]
        #[expect(non_snake_case, reason = "X is what Python's users call it")]
        fn predict<'py>(
            &self,
            py: Python<'py>,
            X: PyReadonlyArray2<'py, f64>,
            summation: &str,
            n_threads: usize,
            progress: Option<Py<PyAny>>,
        ) -> PyResult<Bound<'py, PyArray2<f64>>> {
            let x = Array::copied(&X)?;
            let settings = settings(summation, n_threads)?;
            let shape = [x.rows(), self.0.outputs()];
            let predict =
                |monitor: pkex_core::Monitor<'_>| self.0.predict(x.matrix(), &settings, monitor);
            call(py, progress, predict)?.reshape(shape)
        }
    }

    /// An index of a weighted sum of product games, of shape (players, outputs).
    #[pyfunction]
    #[pyo3(signature = (present, absent, difference, weights, *, index, method, summation, n_threads))]
    #[expect(clippy::too_many_arguments, reason = "the public function's arguments")]
    fn product_game<'py>(
        py: Python<'py>,
        present: PyReadonlyArray2<'py, f64>,
        absent: Option<PyReadonlyArray2<'py, f64>>,
        difference: Option<PyReadonlyArray2<'py, f64>>,
        weights: PyReadonlyArray2<'py, f64>,
        index: &str,
        method: &str,
        summation: &str,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let present = Array::copied(&present)?;
        let absent = absent.map(|absent| Array::copied(&absent)).transpose()?;
        let difference = difference.map(|difference| Array::copied(&difference)).transpose()?;
        let weights = Array::copied(&weights)?;
        let games = ProductGames {
            present: present.matrix(),
            absent: absent.as_ref().map(Array::matrix),
            difference: difference.as_ref().map(Array::matrix),
            weights: weights.matrix(),
        };
        let (index, method) = (arguments::index(index)?, arguments::method(method)?);
        let settings = settings(summation, n_threads)?;
        let values =
            |monitor: pkex_core::Monitor<'_>| games.values(index, method, &settings, monitor);
        call(py, None, values)?.reshape([present.columns(), weights.columns()])
    }

    fn settings(summation: &str, threads: usize) -> PyResult<Settings> {
        Ok(Settings { summation: arguments::summation(summation)?, threads, level: call::level() })
    }
}
