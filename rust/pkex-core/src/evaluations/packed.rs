//! The points, coefficients and kernel of an expansion, packed for the engine.

use crate::error::Error;
use crate::kernel::doubling::{Ladder, Rung};
use crate::kernel::packed::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::{PackedTerm, Term};
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::quadrature::table::NodeTable;
use crate::simd::lanes::{LANES, Lanes, map_lanes};
use crate::walk::weights::Weights;

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
        let mut packed = Vec::new();
        let length = saturating_product([blocks, points.columns()]);
        Memory::default().reserve(&mut packed, length, INPUT)?;
        packed.extend((0..blocks).flat_map(|block| points.block_by_column(block)));
        Ok(Self {
            nodes: NodeTable::new(kernel.most_players()),
            kernel,
            count: points.rows(),
            points: packed,
            weights: Weights::new(coefficients)?,
        })
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.kernel.players.count()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.kernel.players.column_count()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.weights.outputs()
    }

    /// Whether rows have as many columns as the points.
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

    /// Blocks of evaluations: each of a term and a block of points.
    pub fn evaluation_blocks(&self) -> usize {
        self.kernel.terms.len() * self.weights.blocks()
    }

    /// The number of the evaluation block that a walk comes to at some place: the terms of a block
    /// of points follow each other.
    pub fn at_place(&self, place: usize) -> usize {
        let terms = self.kernel.terms.len();
        place % terms * self.weights.blocks() + place / terms
    }

    /// The factors of an evaluation block, if they follow from those of another term.
    pub fn rung<'a>(
        &'a self,
        ladder: &'a mut Ladder,
        index: usize,
        row: (usize, &'a [f64]),
    ) -> Option<Rung<'a>> {
        let (term, points) = self.term_and_points(index);
        let blocks = self.weights.blocks();
        let term = (index / blocks, term);
        ladder.rung(&self.kernel.links, term, row, (index % blocks, points))
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

    /// What the weights of an evaluation block are multiplied by.
    pub fn coefficient(&self, index: usize) -> f64 {
        self.kernel.terms[index / self.weights.blocks()].coefficient
    }

    /// The outputs with a weight in an evaluation block, and the weights before they are multiplied.
    pub fn unscaled_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let weights = self.weights.of_block(index % self.weights.blocks());
        weights.map(|(output, weights)| (output, *weights))
    }

    /// The outputs with a weight in an evaluation block, and the weights.
    pub fn block_weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let coefficient = self.coefficient(index);
        let scaled = move |weights: Lanes| Lanes(map_lanes(&weights.0, |w| w * coefficient));
        self.unscaled_weights(index).map(move |(output, weights)| (output, scaled(weights)))
    }
}
