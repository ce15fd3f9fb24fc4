//! Players by twos: the product of two factors, and memory for numbers of each two players.

use crate::error::Error;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::quadrature::rule::Node;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, each_lane, multiply_add_lanes, multiply_lanes};

/// Maximum nodes that are computed together, seen from one end or from each of both: as many
/// products as registers hold, and code that compiles in seconds.
pub(crate) const MAX_FROM_ONE_END: usize = 8;
pub(crate) const MAX_FROM_EACH_END: usize = 5;

/// Numbers in a cache line.
const LINE: usize = 8;

/// Memory for a number of each two players at each node, kept between blocks.
#[derive(Clone, Debug, Default)]
pub struct PerTwo(Vec<f64>);

impl PerTwo {
    /// The count of numbers for games of a number of players: at most sixteen lanes for each node
    /// and two players.
    fn length(players: usize) -> usize {
        let nodes = MAX_FROM_ONE_END.max(2 * MAX_FROM_EACH_END);
        saturating_product([players / 2, nodes * LANES]).saturating_add(LINE)
    }

    /// Reserves memory for games of a number of players.
    pub(crate) fn reserve(&mut self, players: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.0, Self::length(players), FACTORS)
    }

    /// Sets the number of players.
    pub(crate) fn resize(&mut self, players: usize) {
        self.0.resize(Self::length(players), 0.0);
    }

    /// `N` registers of `W` lanes for each two players, from the start of a cache line.
    #[inline(always)]
    pub(crate) fn registers<const W: usize, const N: usize>(&mut self) -> &mut [[[f64; W]; N]] {
        let start = self.0.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        self.0[start..].as_chunks_mut::<W>().0.as_chunks_mut::<N>().0
    }
}

/// Cuts the nodes of both ends into equally many groups of at most `max_nodes` nodes and nearly
/// equal size, the larger ones first; at least one group.
pub(crate) fn in_groups<'a>(
    (near, far): (&'a [Node], &'a [Node]),
    max_nodes: usize,
) -> impl Iterator<Item = (&'a [Node], &'a [Node])> {
    let count = near.len().max(far.len()).div_ceil(max_nodes).max(1);
    let group = move |nodes: &'a [Node], number: usize| {
        let start =
            |number: usize| number * (nodes.len() / count) + number.min(nodes.len() % count);
        &nodes[start(number)..start(number + 1)]
    };
    (0..count).map(move |number| (group(near, number), group(far, number)))
}

/// The product of two players' factors as a polynomial of the step from an end.
pub(crate) struct TwoPlayers<const W: usize> {
    constant: [f64; W],
    linear: [f64; W],
    square: [f64; W],
}

impl<const W: usize> TwoPlayers<W> {
    /// The product of two factors, from their values at that end, and their c.
    #[inline(always)]
    pub fn new<A: Arithmetic>(ends: [&[f64; W]; 2], c: [&[f64; W]; 2]) -> Self {
        let cross_term = multiply_lanes(ends[0], c[1]);
        Self {
            constant: multiply_lanes(ends[0], ends[1]),
            linear: multiply_add_lanes::<A, W>(&cross_term, ends[1], c[0]),
            square: multiply_lanes(c[0], c[1]),
        }
    }

    /// The product at a step from the end.
    #[inline(always)]
    pub fn at<A: Arithmetic>(&self, step: f64) -> [f64; W] {
        let Self { constant, linear, square } = self;
        each_lane(|i| A::mul_add(A::mul_add(square[i], step, linear[i]), step, constant[i]))
    }
}
