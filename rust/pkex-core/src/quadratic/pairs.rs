//! The pairs of evaluations of a quadratic form, in blocks: one evaluation beside sixteen.
//!
//! An evaluation is a pair of a term of the kernel and a point.

use crate::error::Error;
use crate::expansion::packed::PackedExpansion;
use crate::kernel::term::PackedTerm;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory};
use crate::quadratic::triangle::{Pair, Triangle};
use crate::simd::lanes::{LANES, Lanes, each_lane};

/// The players of a pair of terms.
#[derive(Debug)]
pub(crate) struct Union {
    /// Those that one of the terms compares, ascending.
    pub players: Vec<usize>,
    /// Their places among those of the first and of the second term.
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

/// The pairs of an expansion's evaluations, and their weights.
#[derive(Debug)]
pub(crate) struct Pairs {
    triangle: Triangle,
    /// Of each pair of terms.
    unions: Vec<Union>,
    coefficients: Vec<f64>,
    /// Evaluation blocks of a term.
    blocks_of_term: usize,
    /// Number of points; and a weight for each two of them.
    count: usize,
    weights: Vec<f64>,
}

impl Pairs {
    /// With the weights of a symmetric matrix, a row and a column for each point.
    pub fn new(expansion: &PackedExpansion, weights: Matrix<'_>) -> Result<Self, Error> {
        let (count, terms) = (expansion.count, &expansion.kernel.terms);
        if (weights.rows(), weights.columns()) != (count, count) {
            return Err(Error::Shape {
                argument: "weights",
                expected: format!("a row and a column for each of {count} points"),
                got: format!("{} × {}", weights.rows(), weights.columns()),
            });
        }
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
        let mut own = Vec::new();
        Memory::default().reserve(&mut own, weights.data().len(), INPUT)?;
        own.extend_from_slice(weights.data());
        let unions = |first| terms.iter().map(move |second| Union::new(first, second));
        Ok(Self {
            triangle,
            unions: terms.iter().flat_map(unions).collect(),
            coefficients: terms.iter().map(|term| term.coefficient).collect(),
            blocks_of_term,
            count,
            weights: own,
        })
    }

    /// Number of blocks of pairs.
    pub fn blocks(&self) -> usize {
        self.triangle.blocks()
    }

    /// The number of players of the two terms that compare most of them.
    pub fn most_players(&self) -> usize {
        self.unions.iter().map(|union| union.players.len()).max().unwrap_or(0)
    }

    /// The pairs of a block.
    pub fn locate(&self, index: usize) -> Pair {
        self.triangle.locate(index)
    }

    /// The players of a block's terms.
    #[inline(always)]
    pub fn union(&self, pair: Pair) -> &Union {
        let [first, second] = self.terms(pair);
        &self.unions[first * self.coefficients.len() + second]
    }

    /// The weights of a block's pairs, times a share; 0 of those that others stand for.
    pub fn weights(&self, pair: Pair, share: f64) -> Lanes {
        let [first, second] = self.terms(pair).map(|term| self.coefficients[term]);
        let (block, lane) = pair.one;
        let row = block % self.blocks_of_term * LANES + lane;
        let start = pair.others % self.blocks_of_term * LANES;
        let own = &self.weights[row * self.count..][..self.count];
        let times = pair.times();
        let weight = |other: usize| own.get(start + other).copied().unwrap_or(0.0);
        Lanes(each_lane(|other| weight(other) * (times.0[other] * share * first * second)))
    }

    fn terms(&self, pair: Pair) -> [usize; 2] {
        [pair.one.0, pair.others].map(|block| block / self.blocks_of_term)
    }
}
