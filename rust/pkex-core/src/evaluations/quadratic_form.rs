//! The evaluations of a quadratic form, in blocks: products of one evaluation of a point and
//! sixteen others.
//!
//! An evaluation of a point is a term of the kernel between a row and the point.

use std::ops::Range;

use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::kernel::term::PackedTerm;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory};
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::walk::triangle::{EvaluationPlace, Partners, Triangle};

/// The players of two terms.
#[derive(Debug)]
pub(crate) struct Union {
    /// The players that at least one of the terms compares, ascending.
    pub players: Vec<usize>,
    /// The places of each player among those of the first and of the second term.
    pub places: Vec<[Option<usize>; 2]>,
}

impl Union {
    fn new(first: &PackedTerm, second: &PackedTerm) -> Self {
        let mut players = [first.players.as_slice(), &second.players].concat();
        players.sort_unstable();
        players.dedup();
        let terms = [first, second];
        let places = |player| terms.map(|term| term.players.binary_search(player).ok());
        Self { places: players.iter().map(places).collect(), players }
    }
}

/// The weights of the products of points p and q.
#[derive(Debug)]
pub(crate) enum PairWeights {
    /// One output, with the weights of a symmetric matrix.
    Matrix(Vec<f64>),
    /// A number of outputs, each with a coefficient of every point: the weight is c_p c_q.
    Squares(usize, Vec<f64>),
}

impl PairWeights {
    /// The weights of a symmetric matrix, a row and a column for each point.
    pub fn of_matrix(count: usize, weights: Matrix<'_>) -> Result<Self, Error> {
        if (weights.rows(), weights.columns()) != (count, count) {
            return Err(Error::Shape {
                argument: "weights",
                expected: format!("a row and a column for each of {count} points"),
                got: format!("{} × {}", weights.rows(), weights.columns()),
            });
        }
        Ok(Self::Matrix(copy_values(weights)?))
    }

    /// The weights of the squares of expansions with `coefficients` (n × outputs).
    pub fn of_squares(coefficients: Matrix<'_>) -> Result<Self, Error> {
        Ok(Self::Squares(coefficients.columns(), copy_values(coefficients)?))
    }

    fn outputs(&self) -> usize {
        match self {
            Self::Matrix(_) => 1,
            Self::Squares(outputs, _) => *outputs,
        }
    }

    /// The weight of the product of two of `count` points, the second of which may be a lane after
    /// the last.
    fn of_pair(&self, count: usize, output: usize, one: usize, other: usize) -> f64 {
        if other >= count {
            return 0.0;
        }
        match self {
            Self::Matrix(weights) => weights[one * count + other],
            Self::Squares(outputs, coefficients) => {
                let [first, second] =
                    [one, other].map(|point| coefficients[point * outputs + output]);
                first * second
            }
        }
    }
}

fn copy_values(matrix: Matrix<'_>) -> Result<Vec<f64>, Error> {
    let mut values = Vec::new();
    Memory::default().reserve(&mut values, matrix.data().len(), INPUT)?;
    values.extend_from_slice(matrix.data());
    Ok(values)
}

/// The products of two of an expansion's evaluations, and their weights.
#[derive(Debug)]
pub(crate) struct QuadraticForm {
    triangle: Triangle,
    /// The players of each two terms.
    unions: Vec<Union>,
    coefficients: Vec<f64>,
    /// The number of evaluation blocks of a term.
    blocks_of_term: usize,
    /// The number of points.
    count: usize,
    weights: PairWeights,
}

impl QuadraticForm {
    /// A form of the points of an expansion.
    pub fn new(expansion: &PackedExpansion, weights: PairWeights) -> Result<Self, Error> {
        let (count, terms) = (expansion.count, &expansion.kernel.terms);
        if expansion.kernel.has_series() {
            let message = "quadratic forms of kernels that are power series are not supported";
            return Err(Error::Unsupported(message.to_owned()));
        }
        if expansion.kernel.is_signed() {
            let message = "quadratic forms of centered kernels are not supported";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let blocks_of_term = count.div_ceil(LANES);
        let lanes = |block: usize| LANES.min(count - block % blocks_of_term * LANES);
        let triangle = Triangle::new((0..expansion.evaluation_blocks()).map(lanes))?;
        let unions = |first| terms.iter().map(move |second| Union::new(first, second));
        Ok(Self {
            triangle,
            unions: terms.iter().flat_map(unions).collect(),
            coefficients: terms.iter().map(|term| term.coefficient).collect(),
            blocks_of_term,
            count,
            weights,
        })
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.weights.outputs()
    }

    /// Whether it is the square of a sum over points.
    pub fn is_square(&self) -> bool {
        matches!(self.weights, PairWeights::Squares(..))
    }

    /// Number of blocks of products.
    pub fn blocks(&self) -> usize {
        self.triangle.blocks()
    }

    /// The largest number of players that two terms compare.
    pub fn max_players(&self) -> usize {
        self.unions.iter().map(|union| union.players.len()).max().unwrap_or(0)
    }

    /// The evaluations of a block of products.
    pub fn locate(&self, index: usize) -> Partners {
        self.triangle.locate(index)
    }

    /// How many of some blocks, from the first, are products of the same two evaluation blocks.
    #[inline(always)]
    pub fn blocks_together(&self, blocks: Range<usize>) -> usize {
        let blocks_of = |index: usize| {
            let Partners { one, block } = self.locate(index);
            (one.block, block)
        };
        let first = blocks_of(blocks.start);
        blocks.take_while(|&index| blocks_of(index) == first).count()
    }

    /// Each two terms whose evaluations are multiplied.
    pub fn pairs_of_terms(&self) -> impl Iterator<Item = [usize; 2]> {
        let terms = self.coefficients.len();
        (0..terms).flat_map(move |second| (0..=second).map(move |first| [first, second]))
    }

    /// The players of two terms.
    #[inline(always)]
    pub fn union_of(&self, [first, second]: [usize; 2]) -> &Union {
        &self.unions[first * self.coefficients.len() + second]
    }

    /// The players of a block's terms.
    #[inline(always)]
    pub fn union(&self, partners: Partners) -> &Union {
        self.union_of(self.terms(partners))
    }

    /// The weights of a block's products in an output, times a share; 0 if another product stands for
    /// a product.
    pub fn weights(&self, partners: Partners, output: usize, share: f64) -> Lanes {
        let [first, second] = self.terms(partners).map(|term| self.coefficients[term]);
        let EvaluationPlace { block, lane } = partners.one;
        let row = block % self.blocks_of_term * LANES + lane;
        let start = partners.block % self.blocks_of_term * LANES;
        let times = partners.times();
        let weight = |other: usize| self.weights.of_pair(self.count, output, row, start + other);
        Lanes(each_lane(|other| weight(other) * (times.0[other] * share * first * second)))
    }

    fn terms(&self, partners: Partners) -> [usize; 2] {
        [partners.one.block, partners.block].map(|block| block / self.blocks_of_term)
    }
}
