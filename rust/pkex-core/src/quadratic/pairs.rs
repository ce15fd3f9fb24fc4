//! The pairs of evaluations of a quadratic form, in blocks: one evaluation beside sixteen.
//!
//! An evaluation is a pair of a term of the kernel and a point. As (p, q) is worth what (q, p) is,
//! each pair is computed once, with p up to q, and counts twice if they differ.

use crate::error::Error;
use crate::expansion::packed::PackedExpansion;
use crate::kernel::term::PackedTerm;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::simd::lanes::{LANES, Lanes};

/// One evaluation, and a block of evaluations of which those from it on are its partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The evaluation block of the one, and its lane.
    pub one: (usize, usize),
    /// The evaluation block of the others.
    pub others: usize,
}

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
    /// The evaluations in order: their block and lane.
    evaluations: Vec<(usize, usize)>,
    /// For each evaluation block the number of pair blocks before it, then that of all.
    starts: Vec<usize>,
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
        let memory = Memory::default();
        let blocks_of_term = count.div_ceil(LANES);
        let mut evaluations = Vec::new();
        memory.reserve(&mut evaluations, saturating_product([terms.len(), count]), INPUT)?;
        let mut starts = vec![0];
        for block in 0..expansion.evaluation_blocks() {
            let first = block % blocks_of_term * LANES;
            evaluations.extend((0..LANES.min(count - first)).map(|lane| (block, lane)));
            starts.push(starts[block] + evaluations.len());
        }
        let mut own = Vec::new();
        memory.reserve(&mut own, weights.data().len(), INPUT)?;
        own.extend_from_slice(weights.data());
        let unions = |first| terms.iter().map(move |second| Union::new(first, second));
        Ok(Self {
            evaluations,
            starts,
            unions: terms.iter().flat_map(unions).collect(),
            coefficients: terms.iter().map(|term| term.coefficient).collect(),
            blocks_of_term,
            count,
            weights: own,
        })
    }

    /// Number of blocks of pairs.
    pub fn blocks(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The number of players of the two terms that compare most of them.
    pub fn most_players(&self) -> usize {
        self.unions.iter().map(|union| union.players.len()).max().unwrap_or(0)
    }

    /// The pairs of a block.
    pub fn locate(&self, index: usize) -> Pair {
        let others = self.starts.partition_point(|&start| start <= index) - 1;
        Pair { one: self.evaluations[index - self.starts[others]], others }
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
        Lanes(std::array::from_fn(|other| {
            let times = match (pair.others, other).cmp(&pair.one) {
                std::cmp::Ordering::Less => return 0.0,
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => 2.0,
            };
            own.get(start + other).map_or(0.0, |weight| weight * (times * share * first * second))
        }))
    }

    fn terms(&self, pair: Pair) -> [usize; 2] {
        [pair.one.0, pair.others].map(|block| block / self.blocks_of_term)
    }
}
