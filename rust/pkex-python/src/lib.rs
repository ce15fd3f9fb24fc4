//! The extension module `pkex._core`: parses arguments, releases the interpreter, converts results.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

mod arguments;
mod call;
mod columns;
mod expansion;
mod games;
mod pair_sums;
mod sample;
mod sparse;

use pyo3::prelude::*;

/// The engine of pkex. Arrays are two-dimensional, C-contiguous and finite float64.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    use crate::call;
    #[pymodule_export]
    use crate::columns::{gauss_mean, gauss_mean_at, median_distance};
    #[pymodule_export]
    use crate::expansion::Expansion;
    #[pymodule_export]
    use crate::games::{coupled_probabilities, product_game, superset_sums, variance_games};
    #[pymodule_export]
    use crate::pair_sums::{pair_sums, rectangle_sums, sums_of_parts};
    #[pymodule_export]
    use crate::sample::{mean_factors, permuted_sums, self_pairs};
    #[pymodule_export]
    use crate::sparse::SparseExpansion;

    #[pymodule_init]
    fn initialize(_module: &Bound<'_, PyModule>) -> PyResult<()> {
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
}
