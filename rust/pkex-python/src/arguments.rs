//! Arguments from Python, converted for the core.

use std::ops::Range;

use numpy::ndarray::Dimension;
use numpy::{PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pkex_core::{
    Background, Coalitions, Density, Error, Factor, Family, Form, Index, Matrix, Measure, Method,
    PairProblem, Players, Series, Settings, Summation, Term, ValueFunction, VarianceGames,
    Weighting,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call;

/// A copy of a NumPy array: other threads may write to the original while the interpreter lock is
/// released.
pub struct Array {
    data: Vec<f64>,
    shape: [usize; 2],
}

impl Array {
    /// Copies finite numbers, row by row.
    pub fn copied(argument: &str, array: &PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let shape = [array.shape()[0], array.shape()[1]];
        Ok(Self { data: finite(argument, array)?, shape })
    }

    pub fn rows(&self) -> usize {
        self.shape[0]
    }

    pub fn columns(&self) -> usize {
        self.shape[1]
    }

    pub fn matrix(&self) -> Matrix<'_> {
        Matrix::of_shape(&self.data, self.shape)
    }
}

/// A copy of numbers, or an error if memory is missing.
pub fn copy_numbers(numbers: &[f64]) -> PyResult<Vec<f64>> {
    let mut copy = Vec::new();
    reserve(&mut copy, numbers.len())?;
    copy.extend_from_slice(numbers);
    Ok(copy)
}

/// A copy of finite numbers, row by row.
pub fn finite<D: Dimension>(
    argument: &str,
    array: &PyReadonlyArray<'_, f64, D>,
) -> PyResult<Vec<f64>> {
    let error =
        |requirement: &str| PyValueError::new_err(format!("{argument} must be {requirement}"));
    // Slices of arrays in Fortran's order would be column by column.
    let numbers = match array.as_slice() {
        Ok(numbers) if array.is_c_contiguous() => numbers,
        _ => return Err(error("a C-contiguous array")),
    };
    // All numbers are tested, several at a time.
    if !numbers.iter().fold(true, |are_finite, x| are_finite & x.is_finite()) {
        return Err(error("finite: it contains NaN or infinity"));
    }
    copy_numbers(numbers)
}

/// A finite number.
pub fn finite_number(argument: &str, number: f64) -> PyResult<f64> {
    if number.is_finite() {
        return Ok(number);
    }
    Err(PyValueError::new_err(format!("{argument} must be finite, got {number}")))
}

/// Reserves memory for more entries.
fn reserve<T>(vector: &mut Vec<T>, additional: usize) -> PyResult<()> {
    vector.try_reserve_exact(additional).map_err(|_| {
        let of = "a copy of the input; pass fewer rows, columns or outputs at a time";
        let bytes = additional.saturating_mul(size_of::<T>());
        call::to_python(Error::Memory { bytes, beside: 0, of })
    })
}

/// A value function's name, with background rows and their weights if it takes a background.
#[derive(FromPyObject)]
pub enum GameArgument<'py> {
    Name(String),
    WithBackground((String, PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>)),
}

/// The numbers of coalitions as (start, stop), booleans of listed ones, or orders of players.
#[derive(FromPyObject)]
pub enum CoalitionsArgument<'py> {
    Range((usize, usize)),
    Listed(PyReadonlyArray2<'py, bool>),
    Orders(PyReadonlyArray2<'py, i64>),
}

/// Copies of coalitions.
pub enum SelectedCoalitions {
    Range(Range<usize>),
    Listed(Vec<bool>),
    Orders(Vec<usize>),
}

impl SelectedCoalitions {
    pub fn copied(argument: CoalitionsArgument<'_>) -> PyResult<Self> {
        Ok(match argument {
            CoalitionsArgument::Range((start, stop)) => Self::Range(start..stop),
            CoalitionsArgument::Listed(members) => {
                Self::Listed(members.as_array().iter().copied().collect())
            }
            CoalitionsArgument::Orders(orders) => Self::Orders(indices("orders", &orders)?),
        })
    }

    pub fn coalitions(&self) -> Coalitions<'_> {
        match self {
            Self::Range(range) => Coalitions::Range(range.clone()),
            Self::Listed(members) => Coalitions::Listed(members),
            Self::Orders(orders) => Coalitions::Orders(orders),
        }
    }
}

/// Creates a game against background rows and their weights.
type GameConstructor = fn(Array, Vec<f64>) -> Game;

/// A value function, with copies of its background rows and their weights.
pub enum Game {
    Neutral,
    MarginalOfPoints,
    Interventional(Array, Vec<f64>),
    Marginal(Array, Vec<f64>),
}

impl Game {
    pub fn copied(argument: GameArgument<'_>) -> PyResult<Self> {
        match argument {
            GameArgument::Name(name) => {
                let games: [(_, fn() -> Self); 2] = [
                    ("neutral", || Self::Neutral),
                    ("marginal of points", || Self::MarginalOfPoints),
                ];
                Ok(choice("game", &name, &games)?())
            }
            GameArgument::WithBackground((name, rows, weights)) => {
                let games: [(_, GameConstructor); 2] =
                    [("interventional", Self::Interventional), ("marginal", Self::Marginal)];
                let game = choice("game", &name, &games)?;
                Ok(game(
                    Array::copied("background", &rows)?,
                    finite("background weights", &weights)?,
                ))
            }
        }
    }

    /// The number of games of each row: background rows that are drawn as they are.
    pub fn alternatives(&self) -> usize {
        match self {
            Self::Interventional(rows, _) => rows.rows(),
            _ => 1,
        }
    }

    pub fn value_function(&self) -> ValueFunction<'_> {
        match self {
            Self::Neutral => ValueFunction::Neutral,
            Self::MarginalOfPoints => ValueFunction::MarginalOfPoints,
            Self::Interventional(rows, weights) => {
                ValueFunction::Interventional(Background { rows: rows.matrix(), weights })
            }
            Self::Marginal(rows, weights) => {
                ValueFunction::Marginal(Background { rows: rows.matrix(), weights })
            }
        }
    }
}

/// A point of [0, 1]; or a density's scale, powers of t and 1 − t, and degree of Jacobi's
/// polynomial.
#[derive(FromPyObject)]
pub enum MeasureArgument {
    Point(f64),
    Density((f64, u32, u32, u32)),
}

/// The largest power or degree of a density: its nodes are then computed in a second.
const MAX_DEGREE: u32 = 4096;

/// The maximum number of threads of a call.
const MAX_THREADS: usize = 4096;

impl MeasureArgument {
    pub fn validate(self) -> PyResult<Measure> {
        match self {
            Self::Point(t) if (0.0..=1.0).contains(&t) => Ok(Measure::Point(t)),
            Self::Point(t) => {
                Err(PyValueError::new_err(format!("a point must be in [0, 1], got {t}")))
            }
            Self::Density((scale, t_power, complement_power, degree)) => {
                let scale = finite_number("a density's scale", scale)?;
                let degrees = [t_power, complement_power, degree];
                if degrees.iter().any(|degree| *degree > MAX_DEGREE) {
                    return Err(PyValueError::new_err(format!(
                        "a density's powers and degree must be at most {MAX_DEGREE}, got {degrees:?}"
                    )));
                }
                Ok(Measure::Density(Density { scale, powers: (t_power, complement_power), degree }))
            }
        }
    }
}

/// (family, columns, parameters) of factors, with k columns and k × 1 parameters, or k × 2 if the
/// family has a second one.
type FactorArgument<'py> = (String, PyReadonlyArray1<'py, i64>, PyReadonlyArray2<'py, f64>);

/// A truncated power series: its weights, its form's name, columns and the rates of their products,
/// and factors.
type SeriesArgument<'py> = (
    PyReadonlyArray1<'py, f64>,
    String,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
    Vec<FactorArgument<'py>>,
);

/// A term: its coefficient, its factors, and its power series, if it has one.
pub type TermArgument<'py> = (f64, Vec<FactorArgument<'py>>, Option<SeriesArgument<'py>>);

pub fn terms(terms: &[TermArgument<'_>]) -> PyResult<Vec<Term>> {
    terms.iter().map(term).collect()
}

fn term((coefficient, parts, series): &TermArgument<'_>) -> PyResult<Term> {
    Ok(Term {
        coefficient: *coefficient,
        factors: factors(parts)?,
        series: series.as_ref().map(self::series).transpose()?,
    })
}

fn series((weights, form, columns, rates, parts): &SeriesArgument<'_>) -> PyResult<Series> {
    let forms = [("exponential", Form::Exponential), ("linear", Form::Linear)];
    let (columns, rates) = (indices("columns", columns)?, finite("rates", rates)?);
    if rates.len() != columns.len() {
        return Err(PyValueError::new_err("rates must have as many values as columns"));
    }
    Ok(Series {
        weights: finite("a series' weights", weights)?,
        form: choice("form", form, &forms)?,
        dots: columns.into_iter().zip(rates).collect(),
        factors: factors(parts)?,
    })
}

fn factors(parts: &[FactorArgument<'_>]) -> PyResult<Vec<Factor>> {
    let mut factors = Vec::new();
    for (family, columns, parameters) in parts {
        let family = self::family(family)?;
        let (columns, parameters) = (indices("columns", columns)?, parameters.as_array());
        let error = || {
            PyValueError::new_err(
                "parameters must have a row for each column, with as many values as the family has parameters",
            )
        };
        if parameters.nrows() != columns.len() {
            return Err(error());
        }
        reserve(&mut factors, columns.len())?;
        for (column, values) in columns.into_iter().zip(parameters.rows()) {
            factors.push(family.factor(column, &values.to_vec()).ok_or_else(error)?);
        }
    }
    Ok(factors)
}

/// Indices from 0, row by row.
pub fn indices<D: Dimension>(
    argument: &str,
    array: &PyReadonlyArray<'_, i64, D>,
) -> PyResult<Vec<usize>> {
    let negative = |_| PyValueError::new_err(format!("{argument} must not be negative"));
    let mut indices = Vec::new();
    reserve(&mut indices, array.len())?;
    for &index in array.as_array() {
        indices.push(usize::try_from(index).map_err(negative)?);
    }
    Ok(indices)
}

/// The players of columns: numbered from 0 without gaps.
pub fn players(array: &PyReadonlyArray1<'_, i64>) -> PyResult<Players> {
    let column_players = indices("players", array)?;
    let mut has_column = vec![false; column_players.len()];
    for &player in &column_players {
        let count = has_column.len();
        *has_column.get_mut(player).ok_or_else(|| {
            PyValueError::new_err(format!(
                "players must be below the number of columns, {count}, got {player}"
            ))
        })? = true;
    }
    let count = column_players.iter().max().map_or(0, |last| last + 1);
    if has_column[..count].contains(&false) {
        return Err(PyValueError::new_err("players must be numbered from 0 without gaps"));
    }
    Ok(Players::new(column_players))
}

/// The points, terms, players, absent factors and groups of a sample.
pub type SampleArgument<'py> = (
    PyReadonlyArray2<'py, f64>,
    Vec<TermArgument<'py>>,
    PyReadonlyArray1<'py, i64>,
    Option<PyReadonlyArray2<'py, f64>>,
    PyReadonlyArray1<'py, i64>,
);

/// A sample whose pairs are summed.
pub struct Sample {
    points: Array,
    terms: Vec<Term>,
    pub players: Players,
    absent: Option<Array>,
    groups: Vec<usize>,
}

impl Sample {
    pub fn copied((points, terms, players, absent, groups): &SampleArgument<'_>) -> PyResult<Self> {
        Ok(Self {
            points: Array::copied("points", points)?,
            terms: self::terms(terms)?,
            players: self::players(players)?,
            absent: absent.as_ref().map(|absent| Array::copied("absent", absent)).transpose()?,
            groups: indices("groups", groups)?,
        })
    }

    pub fn rows(&self) -> usize {
        self.points.rows()
    }

    /// Pairs of groups I ≤ J.
    pub fn group_pairs(&self) -> usize {
        let groups = self.groups.last().map_or(0, |last| last + 1);
        groups * (groups + 1) / 2
    }

    pub fn problem<'a>(
        &'a self,
        weighting: Weighting<'a>,
        univariate_in_groups: bool,
    ) -> PairProblem<'a> {
        PairProblem {
            rows: self.points.matrix(),
            terms: &self.terms,
            players: &self.players,
            absent: self.absent.as_ref().map(Array::matrix),
            groups: &self.groups,
            weighting,
            univariate_in_groups,
        }
    }
}

/// Sums of products of functions of single columns.
pub struct Sums {
    means: Array,
    deviations: Array,
    starts: Vec<usize>,
    weights: Array,
    players: Players,
}

impl Sums {
    pub fn copied(
        means: &PyReadonlyArray2<'_, f64>,
        deviations: &PyReadonlyArray2<'_, f64>,
        starts: &PyReadonlyArray1<'_, i64>,
        weights: &PyReadonlyArray2<'_, f64>,
        players: &PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Self> {
        Ok(Self {
            means: Array::copied("means", means)?,
            deviations: Array::copied("deviations", deviations)?,
            starts: indices("starts", starts)?,
            weights: Array::copied("weights", weights)?,
            players: self::players(players)?,
        })
    }

    pub fn outputs(&self) -> usize {
        self.weights.columns()
    }

    pub fn games(&self) -> PyResult<VarianceGames<'_>> {
        let deviations = (self.deviations.matrix(), self.starts.as_slice());
        let (means, weights) = (self.means.matrix(), self.weights.matrix());
        VarianceGames::new(means, deviations, weights, &self.players).map_err(call::to_python)
    }
}

fn family(name: &str) -> PyResult<Family> {
    let options: Vec<_> = Family::ALL.iter().map(|family| (family.name(), *family)).collect();
    choice("family", name, &options)
}

pub fn method(name: &str) -> PyResult<Method> {
    choice("method", name, &[("quadrature", Method::Quadrature), ("recursion", Method::Recursion)])
}

pub fn summation(name: &str) -> PyResult<Summation> {
    let options = [("compensated", Summation::Compensated), ("plain", Summation::Plain)];
    choice("summation", name, &options)
}

/// The settings of a call, with the level of this process.
pub fn settings(summation: &str, threads: usize) -> PyResult<Settings> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(PyValueError::new_err(format!(
            "n_threads must be from 1 to {MAX_THREADS}, got {threads}"
        )));
    }
    Ok(Settings { summation: self::summation(summation)?, threads, level: call::level() })
}

pub fn index(name: &str) -> PyResult<Index> {
    choice("index", name, &[("SV", Index::Shapley), ("BV", Index::Banzhaf)])
}

/// The value of the option with that name.
fn choice<T: Copy>(argument: &str, name: &str, options: &[(&str, T)]) -> PyResult<T> {
    let option = options.iter().find(|(option, _)| *option == name);
    option.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<_> = options.iter().map(|(option, _)| format!("'{option}'")).collect();
        PyValueError::new_err(format!(
            "{argument} must be one of {}, got '{name}'",
            names.join(", ")
        ))
    })
}
