//! Long calls: without the interpreter lock, with interrupts and progress.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use numpy::ndarray::IntoDimension;
use numpy::{PyArray, PyArray1, PyArrayMethods, ToNpyDims};
use pkex_core::{Error, Level, Monitor};
use pyo3::exceptions::{
    PyImportError, PyKeyboardInterrupt, PyMemoryError, PyOverflowError, PyValueError,
};
use pyo3::prelude::*;

/// Runs `compute` with the interpreter lock released. About twenty times a second, signals are
/// handled and `progress(done, total)` is called; an exception from either stops the computation.
pub fn run<R: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    compute: impl FnOnce(Monitor<'_>) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let mut exception = None;
    let result = py.detach(|| {
        compute(&mut |done, total| {
            let outcome = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |p| p.call1(py, (done, total)).map(drop))
            });
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    exception = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    });
    match exception {
        Some(error) => Err(error),
        None => result.map_err(to_python),
    }
}

/// Numbers as an array of that shape.
pub fn array<D: IntoDimension<Dim: ToNpyDims>>(
    py: Python<'_>,
    values: Vec<f64>,
    shape: D,
) -> PyResult<Bound<'_, PyArray<f64, D::Dim>>> {
    PyArray1::from_vec(py, values).reshape(shape)
}

/// The Python exception for an error of the core.
pub fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Overflow { .. } => PyOverflowError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

static LEVEL: OnceLock<Level> = OnceLock::new();

/// The instruction set in use.
pub fn level() -> Level {
    *LEVEL.get_or_init(Level::best)
}

/// Sets the instruction set that the environment variable `PKEX_SIMD` names, if it is set.
pub fn choose_level() -> PyResult<()> {
    let Some(name) = std::env::var_os("PKEX_SIMD") else {
        return Ok(());
    };
    let name = name.to_string_lossy();
    if let Some(level) = Level::from_name(&name).filter(|level| level.is_available()) {
        return LEVEL.set(level).or(Ok(()));
    }
    let available = Level::ALL.iter().filter(|level| level.is_available());
    let names: Vec<_> = available.map(|level| level.name()).collect();
    Err(PyImportError::new_err(format!(
        "PKEX_SIMD={name} is not supported by this machine. Set it to one of: {}",
        names.join(", ")
    )))
}
