//! Kernel expansions and their games: `pkex._core.Expansion`.

use numpy::{PyArray1, PyArray2, PyArray3, PyArray4, PyReadonlyArray1, PyReadonlyArray2};
use pkex_core::{Matrix, Monitor, Players, Term};
use pyo3::prelude::*;

use crate::arguments::{
    self, Array, CoalitionsArgument, Game, GameArgument, MeasureArgument, SelectedCoalitions,
    TermArgument, settings,
};
use crate::call;

/// A kernel expansion, packed for the engine; immutable.
#[pyclass(frozen, module = "pkex._core")]
pub struct Expansion(pkex_core::Expansion);

/// A constructor of a packed expansion.
type Pack = for<'a> fn(
    Matrix<'a>,
    Matrix<'a>,
    &[Term],
    Players,
) -> Result<pkex_core::Expansion, pkex_core::Error>;

impl Expansion {
    fn from_arrays(
        points: PyReadonlyArray2<'_, f64>,
        weights: PyReadonlyArray2<'_, f64>,
        terms: Vec<TermArgument<'_>>,
        players: Option<PyReadonlyArray1<'_, i64>>,
        pack: Pack,
    ) -> PyResult<Self> {
        let (points, weights) =
            (Array::copied("points", &points)?, Array::copied("weights", &weights)?);
        let terms = arguments::terms(&terms)?;
        let players = match players {
            Some(players) => arguments::players(&players)?,
            None => Players::columns(points.columns()),
        };
        pack(points.matrix(), weights.matrix(), &terms, players).map(Self).map_err(call::to_python)
    }
}

#[pymethods]
impl Expansion {
    #[new]
    #[pyo3(signature = (points, coefficients, terms, players = None))]
    fn new(
        points: PyReadonlyArray2<'_, f64>,
        coefficients: PyReadonlyArray2<'_, f64>,
        terms: Vec<TermArgument<'_>>,
        players: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Self> {
        Self::from_arrays(points, coefficients, terms, players, pkex_core::Expansion::new)
    }

    /// The quadratic form Σ C_pq k(x, x_p) k(x, x_q) of points, with a symmetric matrix C.
    #[staticmethod]
    #[pyo3(signature = (points, weights, terms, players = None))]
    fn quadratic(
        points: PyReadonlyArray2<'_, f64>,
        weights: PyReadonlyArray2<'_, f64>,
        terms: Vec<TermArgument<'_>>,
        players: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Self> {
        Self::from_arrays(points, weights, terms, players, pkex_core::Expansion::quadratic)
    }

    /// The squares (Σ c_p k(x, x_p))² of expansions, one for each column of the coefficients.
    #[staticmethod]
    #[pyo3(signature = (points, coefficients, terms, players = None))]
    fn squares(
        points: PyReadonlyArray2<'_, f64>,
        coefficients: PyReadonlyArray2<'_, f64>,
        terms: Vec<TermArgument<'_>>,
        players: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Self> {
        Self::from_arrays(points, coefficients, terms, players, pkex_core::Expansion::squares)
    }

    /// Shapley values of shape (rows, players, outputs), for the game "neutral" or "marginal of
    /// points", or for ("interventional" or "marginal", background rows, their weights).
    #[pyo3(signature = (X, *, game, method, summation, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    #[expect(clippy::too_many_arguments, reason = "the public class's options")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        X: PyReadonlyArray2<'py, f64>,
        game: GameArgument<'py>,
        method: &str,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let x = Array::copied("X", &X)?;
        let game = Game::copied(game)?;
        let method = arguments::method(method)?;
        let settings = settings(summation, n_threads)?;
        let shape = [x.rows(), self.0.players().count(), self.0.outputs()];
        let explain = |monitor: Monitor<'_>| {
            self.0.explain(x.matrix(), game.value_function(), method, &settings, monitor)
        };
        call::array(py, call::run(py, progress, explain)?, shape)
    }

    /// Interactions of coalitions of `size` players, of shape (rows, coalitions, outputs), for the
    /// point measure or the density `measure`.
    #[pyo3(signature = (X, *, game, size, measure, summation, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    #[expect(clippy::too_many_arguments, reason = "the public class's options")]
    fn interactions<'py>(
        &self,
        py: Python<'py>,
        X: PyReadonlyArray2<'py, f64>,
        game: GameArgument<'py>,
        size: usize,
        measure: MeasureArgument,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let x = Array::copied("X", &X)?;
        let game = Game::copied(game)?;
        let measure = measure.validate()?;
        let settings = settings(summation, n_threads)?;
        let interactions = |monitor: Monitor<'_>| {
            let game = game.value_function();
            self.0.interactions(x.matrix(), game, (size, &measure), &settings, monitor)
        };
        let values = call::run(py, progress, interactions)?;
        let coalitions = values.len() / (x.rows() * self.0.outputs()).max(1);
        call::array(py, values, [x.rows(), coalitions, self.0.outputs()])
    }

    /// The value of the empty coalition, of shape (outputs,).
    #[pyo3(signature = (*, game, n_threads, progress = None))]
    fn base<'py>(
        &self,
        py: Python<'py>,
        game: GameArgument<'py>,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let game = Game::copied(game)?;
        let settings = settings("compensated", n_threads)?;
        let base = |monitor: Monitor<'_>| self.0.base(game.value_function(), &settings, monitor);
        call::array(py, call::run(py, progress, base)?, [self.0.outputs()])
    }

    /// The values of coalitions, of shape (rows, background rows or 1, outputs, coalitions): those
    /// that are rows of booleans, a range (start, stop) of the numbers whose bits are players, or those
    /// of the first 1, …, p − 1 and of the last 1, …, p − 1 players of orders.
    #[pyo3(signature = (X, game, coalitions, *, summation, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    #[expect(clippy::too_many_arguments, reason = "the game and how it is computed")]
    fn coalition_values<'py>(
        &self,
        py: Python<'py>,
        X: PyReadonlyArray2<'py, f64>,
        game: GameArgument<'py>,
        coalitions: CoalitionsArgument<'py>,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let x = Array::copied("X", &X)?;
        let game = Game::copied(game)?;
        let selected_coalitions = SelectedCoalitions::copied(coalitions)?;
        let settings = settings(summation, n_threads)?;
        let values = call::run(py, progress, |monitor: Monitor<'_>| {
            let game = game.value_function();
            self.0.coalition_values(
                x.matrix(),
                game,
                &selected_coalitions.coalitions(),
                &settings,
                monitor,
            )
        })?;
        let alternatives = game.alternatives();
        let [rows, outputs] = [x.rows(), self.0.outputs()];
        let coalitions = values.len() / (rows * alternatives * outputs).max(1);
        call::array(py, values, [rows, alternatives, outputs, coalitions])
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
        let x = Array::copied("X", &X)?;
        let settings = settings(summation, n_threads)?;
        let shape = [x.rows(), self.0.outputs()];
        let predict = |monitor: Monitor<'_>| self.0.predict(x.matrix(), &settings, monitor);
        call::array(py, call::run(py, progress, predict)?, shape)
    }
}
