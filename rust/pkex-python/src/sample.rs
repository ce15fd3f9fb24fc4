//! Pairs of rows: means of factors, pairs of a row with itself, sums after permutations.

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pkex_core::Monitor;
use pyo3::prelude::*;

use crate::arguments::{self, Array, TermArgument, settings};
use crate::call;

/// The mean of each player's factor over all pairs of rows, of shape (terms, players); for power
/// series (terms, players · (1 + orders)): coefficients of s⁰ of all players, of s, and so on.
#[pyfunction]
#[pyo3(signature = (points, terms, players, *, n_threads, progress = None))]
pub fn mean_factors<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    terms: Vec<TermArgument<'py>>,
    players: PyReadonlyArray1<'py, i64>,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let points = Array::copied("points", &points)?;
    let terms = arguments::terms(&terms)?;
    let players = arguments::players(&players)?;
    let settings = settings("compensated", n_threads)?;
    let means = call::run(py, progress, |monitor: Monitor<'_>| {
        pkex_core::mean_factors(points.matrix(), &terms, &players, &settings, monitor)
    })?;
    let shape = [terms.len(), means.len() / terms.len().max(1)];
    call::array(py, means, shape)
}

/// γ of the players in the pair of each row with itself, then their univariate values in it, of
/// shape (rows, 2 · players), for terms whose k(x, x) depends on x.
#[pyfunction]
pub fn self_pairs<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    terms: Vec<TermArgument<'py>>,
    players: PyReadonlyArray1<'py, i64>,
    absent: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let points = Array::copied("points", &points)?;
    let terms = arguments::terms(&terms)?;
    let players = arguments::players(&players)?;
    let absent = absent.as_ref().map(|absent| Array::copied("absent", absent)).transpose()?;
    let settings = settings("compensated", 1)?;
    let values = call::run(py, None, |_| {
        let absent = absent.as_ref().map(Array::matrix);
        pkex_core::self_pairs(points.matrix(), &terms, &players, absent, &settings)
    })?;
    call::array(py, values, [points.rows(), 2 * players.count()])
}

/// Σ_{a<b} w(order_a, order_b) γ(a, b) for each order of the rows, of shape (orders, values).
/// `orders` has shape (orders, rows), and `values` a row for each pair a ≤ b, row by row of the
/// triangle.
#[pyfunction]
#[pyo3(signature = (weights, values, orders, *, n_threads))]
pub fn permuted_sums<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray2<'py, f64>,
    values: PyReadonlyArray2<'py, f64>,
    orders: PyReadonlyArray2<'py, i64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (weights, values) =
        (Array::copied("weights", &weights)?, Array::copied("values", &values)?);
    let shape = [orders.as_array().nrows(), values.columns()];
    let orders = arguments::indices("orders", &orders)?;
    let settings = settings("plain", n_threads)?;
    let sums = call::run(py, None, |monitor: Monitor<'_>| {
        pkex_core::permuted_sums(weights.matrix(), values.matrix(), &orders, &settings, monitor)
    })?;
    call::array(py, sums, shape)
}
