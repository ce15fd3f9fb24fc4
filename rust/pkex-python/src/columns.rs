//! Computations on single columns: the median distance between entries, and means of a Gaussian
//! kernel.

use numpy::{PyArray1, PyReadonlyArray1};
use pkex_core::GaussMean;
use pyo3::prelude::*;

use crate::call;

type Parts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The median distance between entries, or between those that differ if that is 0.
#[pyfunction]
pub fn median_distance(entries: PyReadonlyArray1<'_, f64>) -> PyResult<f64> {
    pkex_core::median_distance(entries.as_slice()?).map_err(call::to_python)
}

/// The centers (boxes,) and the moments (boxes · terms,) of the mean of exp(−((x − u)/ℓ)²/2) over
/// the entries u of a column.
#[pyfunction]
pub fn gauss_mean<'py>(
    py: Python<'py>,
    entries: PyReadonlyArray1<'py, f64>,
    length_scale: f64,
) -> PyResult<Parts<'py>> {
    let mean = GaussMean::new(entries.as_slice()?, length_scale).map_err(call::to_python)?;
    let (centers, moments) = mean.into_parts();
    Ok((PyArray1::from_vec(py, centers), PyArray1::from_vec(py, moments)))
}

/// The mean with these centers and moments, at some numbers.
#[pyfunction]
pub fn gauss_mean_at<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, f64>,
    length_scale: f64,
    centers: PyReadonlyArray1<'py, f64>,
    moments: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mean = GaussMean::of_parts(length_scale, centers.as_slice()?, moments.as_slice()?);
    let numbers = numbers.as_slice()?;
    let means = mean.and_then(|mean| mean.evaluate(numbers));
    Ok(PyArray1::from_vec(py, means.map_err(call::to_python)?))
}
