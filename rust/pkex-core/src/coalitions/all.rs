//! The values of all coalitions, as products of two matrices.
//!
//! A product over players is a product over the first half of them times a product over the second
//! half. With L[i, S] the products of the coalitions S of the second half at evaluation i, times
//! its weight, and R[i, T] those of the first half, the value of S ∪ T is Σᵢ L[i, S] R[i, T]: one
//! multiplication for each evaluation and coalition, compared with two for a walk over the
//! coalitions as a tree.

use crate::coalitions::factors::{Factors, Rows};
use crate::coalitions::tables::multiply_out;
use crate::error::Error;
use crate::evaluations::packed::PackedExpansion;
use crate::memory::{FACTORS, Memory, SUMS, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::simd::sum::{Sum, Summation};

/// Blocks of evaluations whose tables are multiplied at a time.
const BLOCKS: usize = 4;
const EVALUATIONS: usize = BLOCKS * LANES;
/// Rows of the product that are kept in registers, with two registers each.
const ROWS: usize = 4;

/// The split of the players in halves, and the sizes of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    /// Players of the first half: at least as many as fill the lanes, if there are enough.
    first: usize,
    players: usize,
    outputs: usize,
}

impl Halves {
    pub fn new(players: usize, outputs: usize) -> Self {
        let fill_lanes = LANES.ilog2() as usize;
        Self { first: players.div_ceil(2).max(fill_lanes).min(players), players, outputs }
    }

    /// Coalitions of the first half.
    fn columns(self) -> usize {
        1 << self.first
    }

    /// Coalitions of the second half, of each output.
    fn rows(self) -> usize {
        self.outputs << (self.players - self.first)
    }

    /// Numbers of an evaluation in the first table and in the second.
    fn widths(self) -> [usize; 2] {
        [self.columns().next_multiple_of(LANES), self.rows().next_multiple_of(ROWS)]
    }
}

/// The workspace of a thread.
#[derive(Debug)]
pub(crate) struct AllWorkspace {
    halves: Halves,
    factors: Factors,
    /// Evaluation by evaluation: R and L.
    tables: [Vec<f64>; 2],
    /// Output by output, coalition by coalition.
    totals: Vec<Sum>,
}

impl AllWorkspace {
    pub fn new(expansion: &PackedExpansion, memory: &Memory) -> Result<Self, Error> {
        let (players, outputs) = (expansion.players(), expansion.outputs());
        let halves = Halves::new(players, outputs);
        let [columns, rows] = halves.widths();
        let table = |width| memory.filled(saturating_product([width, EVALUATIONS]), 0.0, FACTORS);
        let mut totals = Vec::new();
        memory.reserve(&mut totals, saturating_product([outputs, 1 << players]), SUMS)?;
        let factors = Factors::new(players, memory)?;
        Ok(Self { halves, factors, tables: [table(columns)?, table(rows)?], totals })
    }

    /// Computes the values of all coalitions: output by output, by the number whose bits are the
    /// players.
    pub fn compute(
        &mut self,
        expansion: &PackedExpansion,
        rows: Rows<'_>,
        context: Context<'_>,
        values: &mut [f64],
    ) {
        self.totals.clear();
        self.totals.resize(values.len(), Sum::default());
        let blocks = expansion.evaluation_blocks();
        for first in (0..blocks).step_by(BLOCKS) {
            if context.is_stopped() {
                return;
            }
            let some = first..(first + BLOCKS).min(blocks);
            let evaluations = some.len() * LANES;
            for (place, index) in some.enumerate() {
                self.factors.fill(expansion, index, rows, context);
                self.fill_tables(expansion, place, index);
            }
            let Self { halves, tables: [right, left], totals, .. } = self;
            let summation = context.settings.summation;
            let halves = *halves;
            context.run_in_registers(Multiply {
                halves,
                evaluations,
                left,
                right,
                summation,
                totals,
            });
        }
        for (value, total) in values.iter_mut().zip(&self.totals) {
            *value = total.value();
        }
    }

    /// Fills the tables of a block of evaluations.
    fn fill_tables(&mut self, expansion: &PackedExpansion, place: usize, index: usize) {
        let Self { halves, factors, tables: [right, left], .. } = self;
        let [columns, rows] = halves.widths();
        let (first, second) = factors.of_players.split_at(halves.first);
        let of_output = halves.rows() / halves.outputs;
        for lane in 0..LANES {
            let evaluation = place * LANES + lane;
            let at = |(a, b): &(Lanes, Lanes)| (a.0[lane], b.0[lane]);
            let table = &mut right[evaluation * columns..][..columns];
            table[0] = 1.0;
            multiply_out(table, first.iter().map(at), |x, y| x * y);
            let table = &mut left[evaluation * rows..][..rows];
            table.fill(0.0);
            for (output, weights) in expansion.block_weights(index) {
                let table = &mut table[output * of_output..][..of_output];
                table[0] = weights.0[lane];
                multiply_out(table, second.iter().map(at), |x, y| x * y);
            }
        }
    }
}

/// Adds Lᵀ R of some evaluations to the totals.
struct Multiply<'a> {
    halves: Halves,
    evaluations: usize,
    left: &'a [f64],
    right: &'a [f64],
    summation: Summation,
    totals: &'a mut [Sum],
}

impl Body for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { halves, evaluations, left, right, summation, totals } = self;
        let ([columns, rows], width) = (halves.widths(), halves.columns());
        for column in (0..columns).step_by(2 * W) {
            for row in (0..rows).step_by(ROWS) {
                let sums = products::<A, W>(
                    left.chunks_exact(rows).map(|table| &table[row..]),
                    right.chunks_exact(columns).map(|table| &table[column..]),
                    evaluations,
                );
                for (row, sums) in (row..halves.rows()).zip(&sums) {
                    for (column, sum) in (column..width).zip(sums.as_flattened()) {
                        totals[row * width + column].add(Sum::from(*sum), summation);
                    }
                }
            }
        }
    }
}

/// The products of a few rows of Lᵀ and two registers of R, which stay in registers.
#[inline(always)]
fn products<'a, A: Arithmetic, const W: usize>(
    left: impl Iterator<Item = &'a [f64]>,
    right: impl Iterator<Item = &'a [f64]>,
    evaluations: usize,
) -> [[[f64; W]; 2]; ROWS] {
    let mut sums = [[[0.0; W]; 2]; ROWS];
    for (left, right) in left.zip(right).take(evaluations) {
        let left = &left.as_chunks::<ROWS>().0[0];
        let right = right.as_chunks::<W>().0;
        let right = [right[0], right[1]];
        for (sums, &weight) in sums.iter_mut().zip(left) {
            for (sums, right) in sums.iter_mut().zip(&right) {
                *sums = each_lane(|i| A::mul_add(weight, right[i], sums[i]));
            }
        }
    }
    sums
}
