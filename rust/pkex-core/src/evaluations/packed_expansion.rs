//! The points, coefficients and kernel of an expansion, packed for the engine.

use crate::error::Error;
use crate::game::block::FactorCount;
use crate::kernel::linked_terms::{FactorCache, FactorNumbers, LinkedFactors};
use crate::kernel::narrowing::NarrowerTerms;
use crate::kernel::packed_kernel::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::{PackedTerm, Term};
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::quadrature::table::NodeTable;
use crate::simd::lanes::{LANES, Lanes, map_lanes};
use crate::walk::weights::Weights;

/// A row, and the place of the walk over its evaluations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlace<'a> {
    /// The row's number, and the row.
    pub item: usize,
    pub x: &'a [f64],
    /// The block of evaluations.
    pub block: usize,
    /// The number of the alternative for absent players.
    pub alternative: usize,
    /// The number of the block and alternative among those of a row, in the order of the walk.
    pub index: usize,
}

/// An expansion's points side by side, their weights, and its kernel.
#[derive(Debug)]
pub(crate) struct PackedExpansion {
    pub kernel: PackedKernel,
    /// Number of points.
    pub count: usize,
    /// Block by block, column by column: sixteen points side by side.
    points: Vec<Lanes>,
    weights: Weights,
    pub nodes: NodeTable,
}

impl PackedExpansion {
    /// Packs `points` (n × columns), `coefficients` (n × outputs) and the kernel's terms.
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
        let kernel = PackedKernel::new(terms, players)?;
        let blocks = points.rows().div_ceil(LANES);
        let mut lanes = Vec::new();
        let length = saturating_product([blocks, points.columns()]);
        Memory::default().reserve(&mut lanes, length, INPUT)?;
        lanes.extend((0..blocks).flat_map(|block| points.block_by_column(block)));
        Ok(Self {
            nodes: NodeTable::new(kernel.max_players()),
            kernel,
            count: points.rows(),
            points: lanes,
            weights: Weights::new(coefficients)?,
        })
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.kernel.players.count()
    }

    /// The factors of a block that has all players.
    pub fn factor_count(&self) -> FactorCount {
        FactorCount { players: self.players(), orders: self.kernel.max_orders() }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.kernel.players.column_count()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.weights.outputs()
    }

    /// Checks that rows have as many columns as the points.
    pub fn check_columns(&self, argument: &'static str, rows: Matrix<'_>) -> Result<(), Error> {
        let columns = self.columns();
        if rows.columns() == columns {
            return Ok(());
        }
        Err(Error::Shape {
            argument,
            expected: format!("{columns} columns"),
            got: format!("{} columns", rows.columns()),
        })
    }

    /// The number of evaluation blocks: one for each term and block of points.
    pub fn evaluation_blocks(&self) -> usize {
        self.kernel.terms.len() * self.weights.blocks()
    }

    /// The number of the evaluation block at a place of the walk: the terms of a block of points
    /// are neighbors.
    pub fn block_at(&self, place: usize) -> usize {
        let terms = self.kernel.terms.len();
        place % terms * self.weights.blocks() + place / terms
    }

    /// The factors of an evaluation block, if they are computed from those of another term.
    pub fn linked_factors<'a>(
        &'a self,
        cache: &'a mut FactorCache,
        at: RowPlace<'a>,
    ) -> Option<LinkedFactors<'a>> {
        let (term, points) = self.term_and_points(at.block);
        let blocks = self.weights.blocks();
        let numbers =
            FactorNumbers { row: at.item, block: at.block % blocks, term: at.block / blocks };
        cache.linked_factors(&self.kernel.links, numbers, (term, at.x, points))
    }

    /// The term and the points, column by column, of an evaluation block.
    pub fn term_and_points(&self, index: usize) -> (&PackedTerm, &[Lanes]) {
        let columns = self.columns();
        let points = &self.points[index % self.weights.blocks() * columns..][..columns];
        (&self.kernel.terms[index / self.weights.blocks()], points)
    }

    /// The points row by row, and their shape.
    pub fn unpacked_points(&self) -> Result<(Vec<f64>, [usize; 2]), Error> {
        let shape = [self.count, self.columns()];
        let mut rows = Vec::new();
        Memory::default().reserve(&mut rows, saturating_product(shape), INPUT)?;
        for row in 0..self.count {
            let points = &self.points[row / LANES * shape[1]..][..shape[1]];
            rows.extend(points.iter().map(|column| column.0[row % LANES]));
        }
        Ok((rows, shape))
    }

    /// The factor of the weights of an evaluation block.
    pub fn coefficient(&self, index: usize) -> f64 {
        self.kernel.terms[index / self.weights.blocks()].coefficient
    }

    /// The narrower terms after that of an evaluation block.
    pub fn narrower_terms(&self, index: usize) -> NarrowerTerms {
        self.kernel.narrower_terms[index / self.weights.blocks()]
    }

    /// The outputs with a weight in an evaluation block, and the weights before multiplication.
    pub fn unscaled_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let weights = self.weights.of_block(index % self.weights.blocks());
        weights.map(|(output, weights)| (output, *weights))
    }

    /// The outputs with a weight in an evaluation block, and the weights.
    pub fn block_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let coefficient = self.coefficient(index);
        let scale = move |weights: Lanes| Lanes(map_lanes(&weights.0, |w| w * coefficient));
        self.unscaled_weights(index).map(move |(output, weights)| (output, scale(weights)))
    }
}
