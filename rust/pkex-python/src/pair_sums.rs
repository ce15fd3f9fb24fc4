//! Sums over the pairs of rows of samples, from which MMD and HSIC are computed: at once, or from
//! tiles that are computed in several processes.

use std::ops::Range;

use numpy::{PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pkex_core::{Classes, Error, Monitor, OCTET, TargetWeights, Term, Weighting};
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::arguments::{self, Array, Sample, SampleArgument, TermArgument, finite, finite_number};
use crate::call;

/// The weights of pairs: the number of rows of the first class, rows' weights, whether pairs within
/// the second class are left out, and whether halves of γ(a, a) are subtracted; or targets, their
/// terms, offsets, the constant, whether targets are exchanged, and whether halves are subtracted
/// for each of both kernels.
#[derive(FromPyObject)]
pub enum WeightingArgument<'py> {
    Classes((usize, Option<PyReadonlyArray1<'py, f64>>, bool, bool)),
    Target(TargetArgument<'py>),
}

type TargetArgument<'py> = (
    PyReadonlyArray2<'py, f64>,
    Vec<TermArgument<'py>>,
    PyReadonlyArray1<'py, f64>,
    f64,
    bool,
    [bool; 2],
);

/// A copy of the weights of pairs.
enum OwnedWeighting {
    Classes {
        first: usize,
        weights: Option<Vec<f64>>,
        skips_second: bool,
        takes_halves: bool,
    },
    Target {
        targets: Array,
        terms: Vec<Term>,
        offsets: Vec<f64>,
        constant: f64,
        exchanges: bool,
        takes_halves: [bool; 2],
    },
}

impl OwnedWeighting {
    fn copied(argument: &WeightingArgument<'_>) -> PyResult<Self> {
        Ok(match argument {
            WeightingArgument::Classes((first, weights, skips_second, takes_halves)) => {
                Self::Classes {
                    first: *first,
                    weights: weights.as_ref().map(|w| finite("weights", w)).transpose()?,
                    skips_second: *skips_second,
                    takes_halves: *takes_halves,
                }
            }
            WeightingArgument::Target((
                targets,
                terms,
                offsets,
                constant,
                exchanges,
                takes_halves,
            )) => Self::Target {
                targets: Array::copied("targets", targets)?,
                terms: arguments::terms(terms)?,
                offsets: finite("offsets", offsets)?,
                constant: finite_number("constant", *constant)?,
                exchanges: *exchanges,
                takes_halves: *takes_halves,
            },
        })
    }

    fn weighting(&self) -> Weighting<'_> {
        match self {
            Self::Classes { first, weights, skips_second, takes_halves } => {
                Weighting::Classes(Classes {
                    first: *first,
                    weights: weights.as_deref(),
                    skips_second: *skips_second,
                    takes_halves: *takes_halves,
                })
            }
            Self::Target { targets, terms, offsets, constant, exchanges, takes_halves } => {
                Weighting::Target(TargetWeights {
                    targets: targets.matrix(),
                    terms,
                    offsets,
                    constant: *constant,
                    exchanges: *exchanges,
                    takes_halves: *takes_halves,
                })
            }
        }
    }
}

/// A copy of a problem.
struct Problem {
    sample: Sample,
    weighting: OwnedWeighting,
    univariate_in_groups: bool,
}

impl Problem {
    fn copied(
        sample: &SampleArgument<'_>,
        weighting: &WeightingArgument<'_>,
        univariate_in_groups: bool,
    ) -> PyResult<Self> {
        Ok(Self {
            sample: Sample::copied(sample)?,
            weighting: OwnedWeighting::copied(weighting)?,
            univariate_in_groups,
        })
    }

    fn run<R: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        compute: impl FnOnce(pkex_core::PairProblem<'_>, Monitor<'_>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        call::run(py, progress, |monitor: Monitor<'_>| {
            compute(
                self.sample.problem(self.weighting.weighting(), self.univariate_in_groups),
                monitor,
            )
        })
    }
}

impl Problem {
    /// The sums in the shapes that [`pair_sums`] returns.
    fn arrays<'py>(&self, py: Python<'py>, sums: pkex_core::PairSums) -> PyResult<PairSums<'py>> {
        let (rows, players) = (self.sample.rows(), self.sample.players.count());
        let (weights, classes) = match self.weighting {
            OwnedWeighting::Target { exchanges: true, .. } => (OCTET.pow(2), 1),
            OwnedWeighting::Target { exchanges: false, .. } => (1, 1),
            OwnedWeighting::Classes { .. } => (1, 3),
        };
        let group_width = if self.univariate_in_groups { 2 * players } else { players };
        let squares = sums.squares.len() / players.max(1);
        Ok((
            call::array(py, sums.rows, [rows, 2, players])?,
            call::array(py, sums.groups, [self.sample.group_pairs(), weights, group_width])?,
            call::array(py, sums.univariate, [classes, players])?,
            call::array(py, sums.squares, [squares, players])?,
        ))
    }
}

/// Sums over the pairs of a sample. For each row two sums of γ, of shape (rows, 2, players): Σwγ
/// over each class, or with a target Σwγ and Σγ. For each pair of groups (and the exchanges of
/// targets within octets of both) Σwγ, followed by Σw v({j}) if requested. Then Σw v({j}) and Σγ²
/// for each pair of classes; with a target Σw v({j}) of all pairs, and no Σγ².
#[pyfunction]
#[pyo3(signature = (sample, weighting, *, univariate_in_groups, summation, n_threads, progress = None))]
pub fn pair_sums<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    weighting: WeightingArgument<'py>,
    univariate_in_groups: bool,
    summation: &str,
    n_threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PairSums<'py>> {
    let problem = Problem::copied(&sample, &weighting, univariate_in_groups)?;
    let settings = arguments::settings(summation, n_threads)?;
    let sums = problem.run(py, progress, |problem, monitor| problem.sums(&settings, monitor))?;
    problem.arrays(py, sums)
}

/// The sums of the rectangles of tiles from one number to another, in one array.
#[pyfunction]
#[pyo3(signature = (sample, weighting, *, univariate_in_groups, summation, rectangles))]
pub fn rectangle_sums<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    weighting: WeightingArgument<'py>,
    univariate_in_groups: bool,
    summation: &str,
    rectangles: (usize, usize),
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let problem = Problem::copied(&sample, &weighting, univariate_in_groups)?;
    let settings = arguments::settings(summation, 1)?;
    let rectangles: Range<usize> = rectangles.0..rectangles.1;
    let sums = problem
        .run(py, None, |problem, monitor| problem.rectangle_sums(rectangles, &settings, monitor))?;
    Ok(PyArray1::from_vec(py, sums))
}

/// The sums over all rectangles of tiles. `parts` takes the number of rectangles and returns an iterable
/// over the results of `rectangle_sums` for the first rectangles, for those after them, and so on.
#[pyfunction]
#[pyo3(signature = (sample, weighting, parts, *, univariate_in_groups, summation))]
pub fn sums_of_parts<'py>(
    py: Python<'py>,
    sample: SampleArgument<'py>,
    weighting: WeightingArgument<'py>,
    parts: Bound<'py, PyAny>,
    univariate_in_groups: bool,
    summation: &str,
) -> PyResult<PairSums<'py>> {
    let problem = Problem::copied(&sample, &weighting, univariate_in_groups)?;
    let settings = arguments::settings(summation, 1)?;
    let pairs = problem.sample.problem(problem.weighting.weighting(), univariate_in_groups);
    let count = pairs.rectangle_count(&settings).map_err(call::to_python)?;
    let mut parts: Bound<'py, PyIterator> = parts.call1((count,))?.try_iter()?;
    let mut exception = None;
    let next_part = || match next_part(&mut parts) {
        Ok(part) => Ok(part),
        Err(error) => {
            exception = Some(error);
            Err(Error::Interrupted)
        }
    };
    let sums = pairs.sums_of_parts(next_part, &settings);
    if let Some(error) = exception {
        return Err(error);
    }
    let sums = sums.map_err(call::to_python)?;
    problem.arrays(py, sums)
}

type PairSums<'py> = (
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray3<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
);

fn next_part(parts: &mut Bound<'_, PyIterator>) -> PyResult<Option<Vec<f64>>> {
    let Some(part) = parts.next() else { return Ok(None) };
    finite("a part's sums", &part?.extract::<PyReadonlyArray1<'_, f64>>()?).map(Some)
}
