//! Kernel expansions f(x) = Σᵢ αᵢ k(x, xᵢ), and their explanations in the neutral game.
//!
//! The neutral game of a row x (the PKeX-Shapley paper's, its definition 2) sets the kernel's
//! factors of absent features to 1: v(S) = Σᵢ αᵢ ∏_{j∈S} kⱼ(xⱼ, xᵢⱼ), term by term for a kernel that
//! is a sum of products. Each pair of a point and a term is one evaluation of the engine.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::expansion::absent::{Background, ValueFunction};
use crate::expansion::background_means::{LastMeans, MeansOfPoints};
use crate::expansion::interventional::InterventionalGames;
use crate::expansion::marginal::MarginalGames;
use crate::game::block::Block;
use crate::game::coalitions::{Coalitions, binomial};
use crate::game::quantity::{Nodes, Quantity};
use crate::game::spread::Spread;
use crate::kernel::players::Players;
use crate::kernel::term::{CompiledTerm, Term};
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, RESULT, product};
use crate::quadrature::measure::Measure;
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::{Method, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, map};
use crate::threads::{self, Monitor, Parallelism};
use crate::walk::items;
use crate::walk::source::Source;
use crate::walk::weights::Weights;

/// A kernel expansion, packed for the engine.
#[derive(Debug)]
pub struct Expansion {
    players: Players,
    /// Number of points.
    count: usize,
    /// Block by block, column by column: sixteen points side by side.
    points: Vec<Lanes>,
    weights: Weights,
    terms: Vec<CompiledTerm>,
    nodes: NodeTable,
    means: LastMeans,
    means_of_points: MeansOfPoints,
}

impl Expansion {
    /// Packs `points` (n × columns), `coefficients` (n × outputs) and the kernel's terms.
    ///
    /// # Errors
    /// If the numbers of points or of columns differ, a term's factors are not valid, or there is
    /// too little memory.
    pub fn new(
        points: Matrix<'_>,
        coefficients: Matrix<'_>,
        terms: &[Term],
        players: Players,
    ) -> Result<Self, Error> {
        if coefficients.rows() != points.rows() {
            return Err(Error::Shape {
                argument: "coefficients",
                expected: format!("{} rows, one for each point", points.rows()),
                got: format!("{} rows", coefficients.rows()),
            });
        }
        if points.columns() != players.column_count() {
            return Err(Error::Shape {
                argument: "points",
                expected: format!("{} columns", players.column_count()),
                got: format!("{} columns", points.columns()),
            });
        }
        let compile = |term| CompiledTerm::new(term, &players);
        let terms = terms.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let blocks = points.rows().div_ceil(LANES);
        let mut packed = Vec::new();
        let length = product([blocks, points.columns()]);
        Memory::default().reserve(&mut packed, length, INPUT)?;
        packed.extend((0..blocks).flat_map(|block| points.block_by_column(block)));
        Ok(Self {
            players,
            count: points.rows(),
            points: packed,
            weights: Weights::new(coefficients)?,
            nodes: NodeTable::new(most_players(&terms)),
            means: LastMeans::default(),
            means_of_points: MeansOfPoints::default(),
            terms,
        })
    }

    /// Who the values belong to.
    #[must_use]
    pub fn players(&self) -> &Players {
        &self.players
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.weights.outputs()
    }

    /// Shapley values: row by row of `x`, player by player, output by output.
    ///
    /// # Errors
    /// If `x` or the background has another number of columns, a value overflows, there is too little
    /// memory, or the monitor stops the call.
    pub fn explain(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let quantity = match method {
            Method::Quadrature => Quantity::Values(Nodes::Table(&self.nodes)),
            Method::Recursion => Quantity::ShapleyByRecursion,
        };
        self.compute(x, value_function, settings, Values(quantity, monitor))
    }

    /// c_T ∫ ∏_{l∉T} Fₗ dμ of every coalition T of `size` players: row by row of `x`, coalition by
    /// coalition in lexicographic order, output by output.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn interactions(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        (size, measure): (usize, &Measure),
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let players = self.players.count();
        let count = binomial(players, size).unwrap_or(usize::MAX);
        let width = product([count, self.outputs()]);
        let result = Memory::default().filled(product([x.rows(), width]), 0.0, RESULT)?;
        // Parts too are many: made only if there is room for their results.
        let parts = if result.is_empty() {
            None
        } else {
            Coalitions::parts(players, size, MOST_COALITIONS)
        };
        let parts = parts.unwrap_or_default();
        match measure {
            Measure::Point(t) => {
                let nodes = Nodes::Rule(&Rule::point(*t));
                let computation = InParts { result, width, parts, nodes, monitor };
                self.compute(x, value_function, settings, computation)
            }
            Measure::Density(density) => {
                // As many factors are left as in the Shapley values of this number of players.
                let players = (most_players(&self.terms) + 1).saturating_sub(size);
                let nodes = Nodes::Table(&NodeTable::weighted(players, density));
                let computation = InParts { result, width, parts, nodes, monitor };
                self.compute(x, value_function, settings, computation)
            }
        }
    }

    /// The expansion itself, f(x): row by row of `x`, output by output.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn predict(
        &self,
        x: Matrix<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let values = Values(Quantity::GrandCoalition, monitor);
        self.compute(x, ValueFunction::Neutral, settings, values)
    }

    /// The worth of the empty coalition, which is the same for all rows: output by output. What the
    /// monitor is told is the preparation of means over the points, if they are needed.
    ///
    /// # Errors
    /// As [`Expansion::explain`].
    pub fn base(
        &self,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let columns = self.players.column_count();
        let zeros = vec![0.0; columns];
        let any_row = Matrix::of_shape(&zeros, [1, columns]);
        if matches!(value_function, ValueFunction::MarginalOfPoints) && self.count > 0 {
            self.means_of_points.of(self, settings, monitor)?;
        }
        self.compute(any_row, value_function, settings, Values(Quantity::EmptyCoalition, monitor))
    }

    /// Computes something of the games of rows.
    fn compute(
        &self,
        rows: Matrix<'_>,
        value_function: ValueFunction<'_>,
        settings: &Settings,
        mut computation: impl Computation,
    ) -> Result<Vec<f64>, Error> {
        self.check_columns("X", rows)?;
        if let Some(background) = value_function.background() {
            self.check_background(background)?;
        }
        match value_function {
            ValueFunction::Neutral => {
                computation.of(&NeutralGames { expansion: self, rows }, settings)
            }
            ValueFunction::Interventional(background) => {
                computation.of(&InterventionalGames { expansion: self, rows, background }, settings)
            }
            ValueFunction::Marginal(background) => {
                let means = self.means.of(self, background, settings, computation.monitor())?;
                let games = MarginalGames::new(self, rows, background, means);
                computation.of(&games, settings)
            }
            // Without points there is no game whose factors would matter.
            ValueFunction::MarginalOfPoints if self.count == 0 => {
                computation.of(&NeutralGames { expansion: self, rows }, settings)
            }
            ValueFunction::MarginalOfPoints => {
                // The computation has then done nothing of its own.
                let preparation = &mut |_, total| computation.monitor()(0, total);
                let means = self.means_of_points.of(self, settings, preparation)?;
                let kept = Some(Arc::clone(&means));
                let games = MarginalGames::new(self, rows, means.background(), kept);
                computation.of(&games, settings)
            }
        }
    }

    fn check_columns(&self, argument: &'static str, rows: Matrix<'_>) -> Result<(), Error> {
        let columns = self.players.column_count();
        if rows.columns() == columns {
            return Ok(());
        }
        Err(Error::Shape {
            argument,
            expected: format!("{columns} columns"),
            got: format!("{} columns", rows.columns()),
        })
    }

    fn check_background(&self, background: Background<'_>) -> Result<(), Error> {
        self.check_columns("background", background.rows)?;
        let (rows, weights) = (background.rows.rows(), background.weights.len());
        if rows > 0 && rows == weights {
            return Ok(());
        }
        Err(Error::Shape {
            argument: "background",
            expected: "rows, and as many weights".to_owned(),
            got: format!("{rows} rows, {weights} weights"),
        })
    }

    /// Pairs of a term and a block of points.
    pub(crate) fn evaluation_blocks(&self) -> usize {
        self.terms.len() * self.weights.blocks()
    }

    /// The term and the points, column by column, of an evaluation block.
    pub(crate) fn term_and_points(&self, index: usize) -> (&CompiledTerm, &[Lanes]) {
        let columns = self.players.column_count();
        let points = &self.points[index % self.weights.blocks() * columns..][..columns];
        (&self.terms[index / self.weights.blocks()], points)
    }

    /// The kernel's terms.
    pub(crate) fn terms(&self) -> &[CompiledTerm] {
        &self.terms
    }

    /// The points row by row, and their shape.
    pub(crate) fn unpacked_points(&self) -> Result<(Vec<f64>, [usize; 2]), Error> {
        let shape = [self.count, self.players.column_count()];
        let mut rows = Vec::new();
        Memory::default().reserve(&mut rows, product(shape), INPUT)?;
        for row in 0..self.count {
            let points = &self.points[row / LANES * shape[1]..][..shape[1]];
            rows.extend(points.iter().map(|column| column.0[row % LANES]));
        }
        Ok((rows, shape))
    }

    /// The outputs with a weight in an evaluation block, and the weights.
    pub(crate) fn block_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let coefficient = self.terms[index / self.weights.blocks()].coefficient;
        let scaled = move |weights: &Lanes| Lanes(map(&weights.0, |weight| weight * coefficient));
        let weights = self.weights.of_block(index % self.weights.blocks());
        weights.map(move |(output, weights)| (output, scaled(weights)))
    }
}

fn most_players(terms: &[CompiledTerm]) -> usize {
    terms.iter().map(|term| term.players.len()).max().unwrap_or(0)
}

/// What is computed of the games of rows, whatever their value function.
trait Computation {
    /// Who may stop it.
    fn monitor(&mut self) -> Monitor<'_>;
    fn of<S: Source>(self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error>;
}

/// One quantity.
struct Values<'a>(Quantity<'a>, Monitor<'a>);

impl Computation for Values<'_> {
    fn monitor(&mut self) -> Monitor<'_> {
        self.1
    }

    fn of<S: Source>(self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error> {
        items::run(games, self.0, settings, self.1)
    }
}

/// Coalitions of one pass: half a kilobyte each, which together stay in the second-level cache (at
/// 100 players twice as fast as all pairs at once, although every pass fills the factors again).
const MOST_COALITIONS: usize = 1 << 11;

/// The interactions of coalitions, part by part: many parts share the threads, of a few each has all.
struct InParts<'a> {
    /// Room for all.
    result: Vec<f64>,
    /// Numbers of a row.
    width: usize,
    parts: Vec<Coalitions>,
    nodes: Nodes<'a>,
    monitor: Monitor<'a>,
}

impl Computation for InParts<'_> {
    fn monitor(&mut self) -> Monitor<'_> {
        self.monitor
    }

    fn of<S: Source>(self, games: &S, settings: &Settings) -> Result<Vec<f64>, Error> {
        let Self { mut result, width, parts, nodes, monitor } = self;
        let starts = parts.iter().scan(0, |start, part| {
            *start += part.count() * games.outputs();
            Some(*start - part.count() * games.outputs())
        });
        let place = |result: &mut [f64], start: usize, values: &[f64]| {
            let part_width = values.len() / games.items().max(1);
            for (row, values) in values.chunks(part_width.max(1)).enumerate() {
                result[row * width + start..][..part_width].copy_from_slice(values);
            }
        };
        let quantity = |part| Quantity::Interactions(part, nodes);
        if parts.len() < 2 * settings.threads {
            for (number, (part, start)) in parts.iter().zip(starts).enumerate() {
                let values = items::run(games, quantity(part), settings, &mut |done, total| {
                    monitor(number * total + done, parts.len() * total)
                })?;
                place(&mut result, start, &values);
                if monitor(number + 1, parts.len()).is_break() {
                    return Err(Error::Interrupted);
                }
            }
            return Ok(result);
        }
        // The values, and the first part that failed, whichever thread comes first.
        let outcome = Mutex::new((&mut result, None));
        threads::for_each(
            parts.iter().zip(starts.collect::<Vec<_>>()),
            Parallelism::Threads(settings.threads),
            || Ok(()),
            |(), (part, start), stop| {
                let values = items::run_within(games, quantity(part), settings, stop);
                let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
                match values {
                    Ok(values) => place(outcome.0, start, &values),
                    Err(error) => match &outcome.1 {
                        Some((first, _)) if *first < start => {}
                        _ => outcome.1 = Some((start, error)),
                    },
                }
            },
            monitor,
        )?;
        match outcome.into_inner().unwrap_or_else(PoisonError::into_inner).1 {
            Some((_, error)) => Err(error),
            None => Ok(result),
        }
    }
}

/// The neutral games between some rows and an expansion's points.
struct NeutralGames<'a> {
    expansion: &'a Expansion,
    rows: Matrix<'a>,
}

impl Source for NeutralGames<'_> {
    type Cache = ();

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players.count()
    }

    fn outputs(&self) -> usize {
        self.expansion.outputs()
    }

    fn blocks(&self) -> usize {
        self.expansion.evaluation_blocks()
    }

    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        (): &mut (),
    ) -> Spread {
        let (term, points) = self.expansion.term_and_points(index);
        term.fill::<A, W>(self.rows.row(item), points, block)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.expansion.term_and_points(index).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        self.expansion.block_weights(index)
    }
}
