//! Kernel expansions f(x) = Σᵢ αᵢ k(x, xᵢ), and their explanations in the neutral game.
//!
//! The neutral game of a row x (the PKeX-Shapley paper's, its definition 2) sets the kernel's
//! factors of absent features to 1: v(S) = Σᵢ αᵢ ∏_{j∈S} kⱼ(xⱼ, xᵢⱼ), term by term for a kernel that
//! is a sum of products. Each pair of a point and a term is one evaluation of the engine.

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::background::{Background, InterventionalGames, MarginalGames};
use crate::block::{Block, Spread};
use crate::driver::{self, Method, Settings, Source};
use crate::kernel::{CompiledTerm, Players, Term};
use crate::lanes::{LANES, Lanes, map};
use crate::matrix::Matrix;
use crate::nodes::NodeTable;
use crate::pool::Monitor;
use crate::quantity::Quantity;
use crate::weights::Weights;

/// A kernel expansion, packed for the engine.
#[derive(Clone, Debug)]
pub struct Expansion {
    players: Players,
    /// Block by block, column by column: sixteen points side by side.
    points: Vec<Lanes>,
    weights: Weights,
    terms: Vec<CompiledTerm>,
    nodes: NodeTable,
}

impl Expansion {
    /// Packs `points` (n × columns), `coefficients` (n × outputs) and the kernel's terms.
    ///
    /// # Errors
    /// If the numbers of points or of columns differ, or a term's factors are not valid.
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
        Ok(Self {
            players,
            points: (0..blocks).flat_map(|block| points.block_by_column(block)).collect(),
            weights: Weights::new(coefficients),
            nodes: NodeTable::new(terms.iter().map(|term| term.players.len()).max().unwrap_or(0)),
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

    /// Shapley values of the neutral game: row by row of `x`, player by player, output by output.
    ///
    /// # Errors
    /// If `x` has another number of columns, a value overflows, or the monitor stops the call.
    pub fn explain(
        &self,
        x: Matrix<'_>,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        driver::run(&self.at(x)?, self.shapley(method), settings, monitor)
    }

    /// Shapley values of the interventional game: absent features take the background's values.
    ///
    /// # Errors
    /// As [`Expansion::explain`]; or if the background does not fit.
    pub fn explain_interventional(
        &self,
        x: Matrix<'_>,
        background: Background<'_>,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_background(background)?;
        let rows = self.at(x)?.rows;
        let games = InterventionalGames::new(self, rows, background, settings.level);
        driver::run(&games, self.shapley(method), settings, monitor)
    }

    /// Shapley values of the marginal game: absent features take the background's values
    /// independently of each other.
    ///
    /// # Errors
    /// As [`Expansion::explain_interventional`].
    pub fn explain_marginal(
        &self,
        x: Matrix<'_>,
        background: Background<'_>,
        method: Method,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check_background(background)?;
        let games = MarginalGames::new(self, self.at(x)?.rows, background, settings.level);
        driver::run(&games, self.shapley(method), settings, monitor)
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
        driver::run(&self.at(x)?, Quantity::GrandCoalition, settings, monitor)
    }

    fn shapley(&self, method: Method) -> Quantity<'_> {
        match method {
            Method::Quadrature => Quantity::ShapleyByQuadrature(&self.nodes),
            Method::Recursion => Quantity::ShapleyByRecursion,
        }
    }

    fn check_background(&self, background: Background<'_>) -> Result<(), Error> {
        let (rows, columns) = (background.rows.rows(), background.rows.columns());
        let fits =
            columns == self.players.column_count() && rows > 0 && rows == background.weights.len();
        if fits {
            return Ok(());
        }
        Err(Error::Shape {
            argument: "background",
            expected: format!(
                "rows of {} columns, and as many weights",
                self.players.column_count()
            ),
            got: format!("{rows} rows of {columns} columns, {} weights", background.weights.len()),
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

    /// The outputs with a weight in an evaluation block, and the weights.
    pub(crate) fn block_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let coefficient = self.terms[index / self.weights.blocks()].coefficient;
        let scaled = move |weights: &Lanes| Lanes(map(&weights.0, |weight| weight * coefficient));
        let weights = self.weights.of_block(index % self.weights.blocks());
        weights.map(move |(output, weights)| (output, scaled(weights)))
    }

    fn at<'a>(&'a self, rows: Matrix<'a>) -> Result<NeutralGames<'a>, Error> {
        if rows.columns() != self.players.column_count() {
            return Err(Error::Shape {
                argument: "X",
                expected: format!("{} columns", self.players.column_count()),
                got: format!("{} columns", rows.columns()),
            });
        }
        Ok(NeutralGames { expansion: self, rows })
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
