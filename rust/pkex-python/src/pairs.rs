//! Sums over the pairs of rows of samples: what MMD and HSIC consist of.

use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pkex_core::{Classes, Monitor, OCTET, Players, TargetWeights, Weighting};
use pyo3::prelude::*;

use crate::arguments::{self, Array, Sample, TermArgument, settings};
use crate::call;

/// The mean of each player's factor over all pairs of rows, of shape (terms, players); of power
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
    let points = Array::copied(&points)?;
    let terms = arguments::terms(&terms)?;
    let players = Players::grouped(arguments::indices("players", &players)?);
    let settings = settings("compensated", n_threads)?;
    let means = call::run(py, progress, |monitor: Monitor<'_>| {
        pkex_core::mean_factors(points.matrix(), &terms, &players, &settings, monitor)
    })?;
    let shape = [terms.len(), means.len() / terms.len().max(1)];
    call::array(py, means, shape)
}

/// What players have in the pair of each row with itself, then what they are worth alone in it,
/// of shape (rows, 2 · players): of terms that are power series.
#[pyfunction]
pub fn self_pairs<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    terms: Vec<TermArgument<'py>>,
    players: PyReadonlyArray1<'py, i64>,
    absent: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let points = Array::copied(&points)?;
    let terms = arguments::terms(&terms)?;
    let players = Players::grouped(arguments::indices("players", &players)?);
    let absent = absent.as_ref().map(Array::copied).transpose()?;
    let settings = settings("compensated", 1)?;
    let values = call::run(py, None, |_| {
        let absent = absent.as_ref().map(Array::matrix);
        pkex_core::self_pairs(points.matrix(), &terms, &players, absent, &settings)
    })?;
    call::array(py, values, [points.rows(), 2 * players.count()])
}

/// Sums over the pairs of two pooled samples, the first of `n_first` rows, weighted by products
/// of rows' weights if there are some: for each row Σwγ over each sample, for each pair of
/// groups Σwγ (followed by Σw v({j}) if asked for), and for the pairs of samples Σw v({j}) and
/// Σγ². Pairs within the second sample may be left out. Where γ(a, a) depends on a, halves of it are
/// taken away from the other pairs if that is asked for.
#[pyfunction]
#[pyo3(signature = (points, n_first, terms, players, absent, groups, weights, *, skips_second, takes_halves, alone_in_groups, summation, n_threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
pub fn mmd_sums<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    n_first: usize,
    terms: Vec<TermArgument<'py>>,
    players: PyReadonlyArray1<'py, i64>,
    absent: Option<PyReadonlyArray2<'py, f64>>,
    groups: PyReadonlyArray1<'py, i64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    skips_second: bool,
    takes_halves: bool,
    alone_in_groups: bool,
    summation: &str,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<MmdSums<'py>> {
    let sample = Sample::new(&points, &terms, &players, absent.as_ref(), &groups)?;
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let weights = weights.as_deref();
    let classes = Classes { first: n_first, weights, skips_second, takes_halves };
    let weighting = Weighting::Classes(classes);
    let problem = sample.problem(weighting, alone_in_groups);
    let settings = settings(summation, n_threads)?;
    let sums = call::run(py, progress, |monitor: Monitor<'_>| problem.sums(&settings, monitor))?;
    let (rows, players) = (sample.rows(), sample.players.count());
    let in_group = if alone_in_groups { 2 * players } else { players };
    Ok((
        call::array(py, sums.rows, [rows, 2, players])?,
        call::array(py, sums.groups, [sample.group_pairs(), in_group])?,
        call::array(py, sums.alone, [3, players])?,
        call::array(py, sums.squares, [3, players])?,
    ))
}

pub type MmdSums<'py> = (
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

/// Sums over the pairs of a sample weighted by a target's kernel less its value at distance 0
/// and `offsets` of both rows plus `constant`: for each row Σwγ and Σγ, for each pair of groups
/// (and the exchanges of targets within octets of both) Σwγ, followed by Σw v({j}) if asked
/// for, and Σw v({j}) of all.
#[pyfunction]
#[pyo3(signature = (points, terms, players, targets, target_terms, offsets, constant, absent, groups, *, exchanges, takes_halves, alone_in_groups, summation, n_threads, progress = None))]
#[expect(clippy::too_many_arguments, reason = "the parts of the problem")]
pub fn hsic_sums<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    terms: Vec<TermArgument<'py>>,
    players: PyReadonlyArray1<'py, i64>,
    targets: PyReadonlyArray2<'py, f64>,
    target_terms: Vec<TermArgument<'py>>,
    offsets: PyReadonlyArray1<'py, f64>,
    constant: f64,
    absent: Option<PyReadonlyArray2<'py, f64>>,
    groups: PyReadonlyArray1<'py, i64>,
    exchanges: bool,
    takes_halves: [bool; 2],
    alone_in_groups: bool,
    summation: &str,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<HsicSums<'py>> {
    let sample = Sample::new(&points, &terms, &players, absent.as_ref(), &groups)?;
    let targets = Array::copied(&targets)?;
    let target_terms = arguments::terms(&target_terms)?;
    let offsets: Vec<f64> = offsets.as_array().to_vec();
    let weighting = Weighting::Target(TargetWeights {
        targets: targets.matrix(),
        terms: &target_terms,
        offsets: &offsets,
        constant,
        exchanges,
        takes_halves,
    });
    let problem = sample.problem(weighting, alone_in_groups);
    let settings = settings(summation, n_threads)?;
    let sums = call::run(py, progress, |monitor: Monitor<'_>| problem.sums(&settings, monitor))?;
    let (rows, players) = (sample.rows(), sample.players.count());
    let weights = if exchanges { OCTET.pow(2) } else { 1 };
    let in_group = if alone_in_groups { 2 * players } else { players };
    Ok((
        call::array(py, sums.rows, [rows, 2, players])?,
        call::array(py, sums.groups, [sample.group_pairs(), weights, in_group])?,
        call::array(py, sums.alone, [players])?,
    ))
}

pub type HsicSums<'py> =
    (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<f64>>);

/// For each order of the rows, of shape (orders, rows), Σ_{a<b} w(order_a, order_b) γ(a, b), of
/// shape (orders, values): `values` has a row for each pair a ≤ b, row by row of the triangle.
#[pyfunction]
#[pyo3(signature = (weights, values, orders, *, n_threads))]
pub fn permuted_sums<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray2<'py, f64>,
    values: PyReadonlyArray2<'py, f64>,
    orders: PyReadonlyArray2<'py, i64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (weights, values) = (Array::copied(&weights)?, Array::copied(&values)?);
    let shape = [orders.as_array().nrows(), values.columns()];
    let orders = arguments::indices("orders", &orders)?;
    let settings = settings("plain", n_threads)?;
    let sums = call::run(py, None, |monitor: Monitor<'_>| {
        pkex_core::permuted_sums(weights.matrix(), values.matrix(), &orders, &settings, monitor)
    })?;
    call::array(py, sums, shape)
}
