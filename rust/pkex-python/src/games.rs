//! Product games of arrays of factors, games of variances, and sums over coalitions.

use numpy::{PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pkex_core::{Monitor, PairSigmoids, ProductGames, Supersets};
use pyo3::prelude::*;

use crate::arguments::{self, Array, Sums, settings};
use crate::call;

/// For coalitions of `smaller` players, the sums of `values`, of shape (rows, coalitions, outputs),
/// over the coalitions of `larger` players that contain them.
#[pyfunction]
#[pyo3(signature = (values, n_players, larger, smaller, *, n_threads, progress = None))]
pub fn superset_sums<'py>(
    py: Python<'py>,
    values: PyReadonlyArray3<'py, f64>,
    n_players: usize,
    larger: usize,
    smaller: usize,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let shape = values.as_array().dim();
    let values = arguments::finite("values", &values)?;
    let settings = settings("compensated", n_threads)?;
    let (players, rows, outputs) = (n_players, shape.0, shape.2);
    let supersets = Supersets { players, smaller, larger, rows, outputs };
    let sums = call::run(py, progress, |monitor: Monitor<'_>| {
        supersets.sums(&values, &settings, monitor)
    })?;
    let coalitions = sums.len() / (shape.0 * shape.2).max(1);
    call::array(py, sums, [shape.0, coalitions, shape.2])
}

/// The probabilities of k classes, of shape (rows, k), coupled from the sigmoids of decision values
/// of their pairs, of shape (rows, k (k − 1) / 2).
#[pyfunction]
#[pyo3(signature = (values, slopes, offsets, *, n_threads))]
pub fn coupled_probabilities<'py>(
    py: Python<'py>,
    values: PyReadonlyArray2<'py, f64>,
    slopes: PyReadonlyArray1<'py, f64>,
    offsets: PyReadonlyArray1<'py, f64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let values = Array::copied("values", &values)?;
    let slopes = arguments::finite("slopes", &slopes)?;
    let offsets = arguments::finite("offsets", &offsets)?;
    let sigmoids = PairSigmoids { slopes: &slopes, offsets: &offsets };
    let classes = sigmoids.classes().map_err(call::to_python)?;
    let settings = settings("compensated", n_threads)?;
    let couple = |monitor: Monitor<'_>| sigmoids.couple(values.matrix(), &settings, monitor);
    call::array(py, call::run(py, None, couple)?, [values.rows(), classes])
}

/// An index of a weighted sum of product games, of shape (players, outputs).
#[pyfunction]
#[pyo3(signature = (present, absent, difference, weights, *, index, method, summation, n_threads))]
#[expect(clippy::too_many_arguments, reason = "the public function's arguments")]
pub fn product_game<'py>(
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
    let present = Array::copied("present", &present)?;
    let absent = absent.map(|absent| Array::copied("absent", &absent)).transpose()?;
    let difference =
        difference.map(|difference| Array::copied("difference", &difference)).transpose()?;
    let weights = Array::copied("weights", &weights)?;
    let games = ProductGames {
        present: present.matrix(),
        absent: absent.as_ref().map(Array::matrix),
        difference: difference.as_ref().map(Array::matrix),
        weights: weights.matrix(),
    };
    let (index, method) = (arguments::index(index)?, arguments::method(method)?);
    let settings = settings(summation, n_threads)?;
    let values = |monitor: Monitor<'_>| games.values(index, method, &settings, monitor);
    call::array(py, call::run(py, None, values)?, [present.columns(), weights.columns()])
}

/// The Shapley values of the games of a sum of products, whose factors have these means and
/// deviations, then v({j}) − v(∅) and v(D) − v(D∖j), and with `with_interactions` the interactions
/// of coalitions of two at the point 0, of shape (numbers, outputs).
#[pyfunction]
#[pyo3(signature = (means, deviations, starts, weights, players, *, with_interactions, twice_the_precision, summation, n_threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
pub fn variance_games<'py>(
    py: Python<'py>,
    means: PyReadonlyArray2<'py, f64>,
    deviations: PyReadonlyArray2<'py, f64>,
    starts: PyReadonlyArray1<'py, i64>,
    weights: PyReadonlyArray2<'py, f64>,
    players: PyReadonlyArray1<'py, i64>,
    with_interactions: bool,
    twice_the_precision: bool,
    summation: &str,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let sums = Sums::copied(&means, &deviations, &starts, &weights, &players)?;
    let (games, settings) = (sums.games()?, settings(summation, n_threads)?);
    let values = call::run(py, progress, |monitor: Monitor<'_>| {
        if twice_the_precision {
            games.in_twice_the_precision(with_interactions, &settings, monitor)
        } else {
            games.values(with_interactions, &settings, monitor)
        }
    })?;
    let numbers = values.len() / sums.outputs().max(1);
    call::array(py, values, [numbers, sums.outputs()])
}
