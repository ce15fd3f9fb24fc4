//! Kernel expansions f(x) = Σᵢ αᵢ k(x, xᵢ), and their explanations in the neutral game.
//!
//! The neutral game of a row x (the PKeX-Shapley paper's, its definition 2) sets the kernel's
//! factors of absent features to 1: v(S) = Σᵢ αᵢ ∏_{j∈S} kⱼ(xⱼ, xᵢⱼ), term by term for a kernel that
//! is a sum of products. Each pair of a point and a term is one evaluation of the engine.

use crate::Error;
use crate::arithmetic::Arithmetic;
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
        let quantity = match method {
            Method::Quadrature => Quantity::ShapleyByQuadrature(&self.nodes),
            Method::Recursion => Quantity::ShapleyByRecursion,
        };
        driver::run(&self.at(x)?, quantity, settings, monitor)
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

impl NeutralGames<'_> {
    /// The term and the block of points of an item's block number `index`.
    fn locate(&self, index: usize) -> (&CompiledTerm, usize) {
        let blocks = self.expansion.weights.blocks();
        (&self.expansion.terms[index / blocks], index % blocks)
    }
}

impl Source for NeutralGames<'_> {
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
        self.expansion.terms.len() * self.expansion.weights.blocks()
    }

    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
    ) -> Spread {
        let (term, points_block) = self.locate(index);
        let columns = self.expansion.players.column_count();
        let points = &self.expansion.points[points_block * columns..][..columns];
        term.fill::<A, W>(self.rows.row(item), points, block)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.locate(index).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let (term, points_block) = self.locate(index);
        let scaled = |weights: &Lanes| Lanes(map(&weights.0, |w| w * term.coefficient));
        self.expansion.weights.of_block(points_block).map(move |(output, w)| (output, scaled(w)))
    }
}
