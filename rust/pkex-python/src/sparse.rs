//! Kernel expansions of sparse rows: `pkex._core.SparseExpansion`.

use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pkex_core::{Monitor, SparseGame, SparseMatrix};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments::{self, Array, TermArgument, settings};
use crate::call;

/// The starts of the rows, the columns and the values of a sparse matrix, and its number of
/// columns.
type RowsArgument<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>, usize);

/// A copy of a sparse matrix: other threads may write to the original while the interpreter lock is
/// released.
struct Rows {
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
    columns: usize,
}

impl Rows {
    fn copied(argument: &str, rows: &RowsArgument<'_>) -> PyResult<Self> {
        let (starts, indices, values, columns) = rows;
        let copy = Self {
            starts: arguments::indices(argument, starts)?,
            indices: arguments::indices(argument, indices)?,
            values: arguments::finite(argument, values)?,
            columns: *columns,
        };
        SparseMatrix::new(copy.columns, &copy.starts, &copy.indices, &copy.values)
            .map_err(call::to_python)?;
        Ok(copy)
    }

    fn matrix(&self) -> PyResult<SparseMatrix<'_>> {
        SparseMatrix::new(self.columns, &self.starts, &self.indices, &self.values)
            .map_err(call::to_python)
    }
}

/// A value function's name, with background rows and their weights if it takes a background.
#[derive(FromPyObject)]
pub enum SparseGameArgument<'py> {
    Name(String),
    WithBackground((String, RowsArgument<'py>, PyReadonlyArray1<'py, f64>)),
}

/// A value function, with copies of its background rows and their weights.
enum Game {
    Neutral,
    MarginalOfPoints,
    Interventional(Rows, Vec<f64>),
    Marginal(Rows, Vec<f64>),
}

impl Game {
    fn copied(argument: &SparseGameArgument<'_>) -> PyResult<Self> {
        let error = |name| {
            Err(PyValueError::new_err(format!("game must be a value function, got '{name}'")))
        };
        match argument {
            SparseGameArgument::Name(name) => match name.as_str() {
                "neutral" => Ok(Self::Neutral),
                "marginal of points" => Ok(Self::MarginalOfPoints),
                _ => error(name),
            },
            SparseGameArgument::WithBackground((name, rows, weights)) => {
                let rows = Rows::copied("background", rows)?;
                let weights = arguments::finite("background weights", weights)?;
                match name.as_str() {
                    "interventional" => Ok(Self::Interventional(rows, weights)),
                    "marginal" => Ok(Self::Marginal(rows, weights)),
                    _ => error(name),
                }
            }
        }
    }

    fn game(&self) -> PyResult<SparseGame<'_>> {
        Ok(match self {
            Self::Neutral => SparseGame::Neutral,
            Self::MarginalOfPoints => SparseGame::MarginalOfPoints,
            Self::Interventional(rows, weights) => {
                SparseGame::Interventional(rows.matrix()?, weights)
            }
            Self::Marginal(rows, weights) => SparseGame::Marginal(rows.matrix()?, weights),
        })
    }
}

/// A kernel expansion with sparse points, packed for the engine; immutable.
#[pyclass(frozen, module = "pkex._core")]
pub struct SparseExpansion(pkex_core::SparseExpansion);

#[pymethods]
impl SparseExpansion {
    #[new]
    fn new(
        points: RowsArgument<'_>,
        coefficients: PyReadonlyArray2<'_, f64>,
        terms: Vec<TermArgument<'_>>,
    ) -> PyResult<Self> {
        let points = Rows::copied("points", &points)?;
        let coefficients = Array::copied("coefficients", &coefficients)?;
        let terms = arguments::terms(&terms)?;
        let settings = settings("compensated", 1)?;
        pkex_core::SparseExpansion::new(points.matrix()?, coefficients.matrix(), &terms, &settings)
            .map(Self)
            .map_err(call::to_python)
    }

    /// Shapley values of shape (rows, columns, outputs), for the game "neutral" or "marginal of
    /// points", or for ("interventional" or "marginal", background rows, their weights).
    #[pyo3(signature = (X, *, game, summation, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        X: RowsArgument<'py>,
        game: SparseGameArgument<'py>,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (x, game) = (Rows::copied("X", &X)?, Game::copied(&game)?);
        let settings = settings(summation, n_threads)?;
        let (x, game) = (x.matrix()?, game.game()?);
        let shape = [x.rows(), self.0.columns(), self.0.outputs()];
        let explain = |monitor: Monitor<'_>| self.0.explain(x, game, &settings, monitor);
        call::array(py, call::run(py, progress, explain)?, shape)
    }

    /// Shapley interaction indices of shape (rows, pairs, outputs), of the pairs of selected columns
    /// and one more player that stands for all others.
    #[pyo3(signature = (X, *, selected, game, summation, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn selected_pairs<'py>(
        &self,
        py: Python<'py>,
        X: RowsArgument<'py>,
        selected: PyReadonlyArray1<'py, i64>,
        game: SparseGameArgument<'py>,
        summation: &str,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (x, game) = (Rows::copied("X", &X)?, Game::copied(&game)?);
        let selected = arguments::indices("selected", &selected)?;
        let settings = settings(summation, n_threads)?;
        let (x, game) = (x.matrix()?, game.game()?);
        let count = selected.len() * (selected.len() + 1) / 2;
        let shape = [x.rows(), count, self.0.outputs()];
        let pairs =
            |monitor: Monitor<'_>| self.0.selected_pairs(x, &selected, game, &settings, monitor);
        call::array(py, call::run(py, progress, pairs)?, shape)
    }

    /// The value of the empty coalition in the game "neutral" or "marginal of points", or in
    /// ("marginal", background rows, their weights), of shape (outputs,).
    #[pyo3(signature = (*, game, n_threads, progress = None))]
    fn base<'py>(
        &self,
        py: Python<'py>,
        game: SparseGameArgument<'py>,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let game = Game::copied(&game)?;
        let settings = settings("compensated", n_threads)?;
        let game = game.game()?;
        let base = |monitor: Monitor<'_>| self.0.base(game, &settings, monitor);
        call::array(py, call::run(py, progress, base)?, [self.0.outputs()])
    }

    /// The expansion's values, of shape (rows, outputs).
    #[pyo3(signature = (X, *, n_threads, progress = None))]
    #[expect(non_snake_case, reason = "X is what Python's users call it")]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        X: RowsArgument<'py>,
        n_threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = Rows::copied("X", &X)?;
        let settings = settings("compensated", n_threads)?;
        let x = x.matrix()?;
        let predict = |monitor: Monitor<'_>| self.0.predict(x, &settings, monitor);
        call::array(py, call::run(py, progress, predict)?, [x.rows(), self.0.outputs()])
    }
}
