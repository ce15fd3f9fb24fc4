//! The values of all coalitions, or of those that agree in some players, as products of two matrices.
//!
//! A product over players is a product over the first half of them times a product over the second
//! half. With L[i, S] the products of the coalitions S of the second half at evaluation i, times
//! its weight, and R[i, T] those of the first half, the value of S ∪ T is Σᵢ L[i, S] R[i, T]: one
//! multiplication for each evaluation and coalition, compared with two for a walk over the
//! coalitions as a tree. Players that are in all of the coalitions, or in none, multiply the weights.

use crate::coalitions::factors::{Factors, Rows};
use crate::coalitions::tables::multiply_out;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::memory::{FACTORS, Memory, SUMS, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::{Arithmetic, two_sum};
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::simd::sum::Summation;

/// Blocks of evaluations whose tables are multiplied at a time.
const BLOCKS: usize = 4;
const EVALUATIONS: usize = BLOCKS * LANES;
/// Rows of the product that are kept in registers, with two registers each.
const ROWS: usize = 4;
/// Columns of R that are next to each other in memory, evaluation by evaluation.
const COLUMNS: usize = LANES;

/// The split of the players in halves, and the sizes of the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    /// Players of the first half: at least as many as fill the lanes, if there are enough.
    first: usize,
    /// The players that only some of the coalitions have: the first ones.
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
        [self.columns().next_multiple_of(COLUMNS), self.rows().next_multiple_of(ROWS)]
    }
}

/// The workspace of a thread.
#[derive(Debug)]
pub(crate) struct RangeWorkspace {
    halves: Halves,
    factors: Factors,
    /// R and L, a few columns after another, and for these evaluation by evaluation: they are read
    /// in this order.
    tables: [Vec<f64>; 2],
    /// R or L of one evaluation.
    evaluation_table: Vec<f64>,
    /// Lᵀ R, row by row: sums, and their rounding errors.
    totals: [Vec<f64>; 2],
}

impl RangeWorkspace {
    /// A workspace for the coalitions of the first `free` players, with fixed other ones.
    pub fn new(expansion: &PackedExpansion, free: usize, memory: &Memory) -> Result<Self, Error> {
        let halves = Halves::new(free, expansion.outputs());
        let [columns, rows] = halves.widths();
        let zeros = |sizes, purpose| memory.filled(saturating_product(sizes), 0.0, purpose);
        let table = |width| zeros([width, EVALUATIONS], FACTORS);
        let total = || zeros([columns, rows], SUMS);
        Ok(Self {
            halves,
            factors: Factors::new(expansion.players(), memory)?,
            tables: [table(columns)?, table(rows)?],
            evaluation_table: zeros([columns.max(rows), 1], FACTORS)?,
            totals: [total()?, total()?],
        })
    }

    /// Computes the values of the coalitions from the number `start` on, whose bits are the
    /// players: output by output, by this number.
    pub fn compute(
        &mut self,
        expansion: &PackedExpansion,
        rows: Rows<'_>,
        start: usize,
        context: Context<'_>,
        values: &mut [f64],
    ) {
        for totals in &mut self.totals {
            totals.fill(0.0);
        }
        let blocks = expansion.evaluation_blocks();
        for first in (0..blocks).step_by(BLOCKS) {
            if context.is_stopped() {
                return;
            }
            let block_range = first..(first + BLOCKS).min(blocks);
            let evaluations = block_range.len() * LANES;
            for (place, index) in block_range.enumerate() {
                self.factors.fill(expansion, index, rows, context);
                self.fill_tables(expansion, start, place, index);
            }
            let Self { tables: [right, left], totals: [sums, errors], .. } = self;
            let summation = context.settings.summation;
            context.run_in_registers(Multiply {
                evaluations,
                left,
                right,
                summation,
                sums,
                errors,
            });
        }
        let Self { halves, totals: [sums, errors], .. } = self;
        let (width, padded_width) = (halves.columns(), halves.widths()[0]);
        let totals = sums.chunks(padded_width).zip(errors.chunks(padded_width));
        for (values, (sums, errors)) in values.chunks_mut(width).zip(totals) {
            for (value, (sum, error)) in values.iter_mut().zip(sums.iter().zip(errors)) {
                *value = sum + error;
            }
        }
    }

    /// Fills the tables of a block of evaluations.
    fn fill_tables(
        &mut self,
        expansion: &PackedExpansion,
        start: usize,
        place: usize,
        index: usize,
    ) {
        let Self { halves, factors, tables: [right, left], evaluation_table, .. } = self;
        let [columns, rows] = halves.widths();
        let (free_players, fixed_players) = factors.players.split_at(halves.players);
        let (first, second) = free_players.split_at(halves.first);
        let output_rows = halves.rows() / halves.outputs;
        for lane in 0..LANES {
            let evaluation = place * LANES + lane;
            let at = |(a, b): &(Lanes, Lanes)| (a.0[lane], b.0[lane]);
            let fixed_product = fixed_players
                .iter()
                .map(at)
                .zip(halves.players..)
                .fold(1.0, |product, ((a, b), player)| {
                    product * if start >> player & 1 == 1 { a } else { b }
                });
            let table = &mut evaluation_table[..columns];
            table[0] = 1.0;
            multiply_out(table, first.iter().map(at), |x, y| x * y);
            distribute::<COLUMNS>(table, evaluation, right);
            let table = &mut evaluation_table[..rows];
            table.fill(0.0);
            for (output, weights) in expansion.block_weights(index) {
                let table = &mut table[output * output_rows..][..output_rows];
                table[0] = weights.0[lane] * fixed_product;
                multiply_out(table, second.iter().map(at), |x, y| x * y);
            }
            distribute::<ROWS>(table, evaluation, left);
        }
    }
}

/// Writes the numbers of an evaluation, `N` at a time, to their places in a table.
fn distribute<const N: usize>(numbers: &[f64], evaluation: usize, table: &mut [f64]) {
    let places = table.as_chunks_mut::<N>().0.iter_mut().skip(evaluation).step_by(EVALUATIONS);
    for (place, numbers) in places.zip(numbers.as_chunks::<N>().0) {
        *place = *numbers;
    }
}

/// Adds Lᵀ R of some evaluations to the totals.
struct Multiply<'a> {
    evaluations: usize,
    left: &'a [f64],
    right: &'a [f64],
    summation: Summation,
    sums: &'a mut [f64],
    errors: &'a mut [f64],
}

impl Body for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { evaluations, left, right, summation, sums, errors } = self;
        let columns = right.len() / EVALUATIONS;
        for (panel, right) in right.chunks_exact(EVALUATIONS * COLUMNS).enumerate() {
            let right = &right.as_chunks().0[..evaluations];
            for (quartet, left) in left.chunks_exact(EVALUATIONS * ROWS).enumerate() {
                let left = &left.as_chunks().0[..evaluations];
                for part in 0..COLUMNS / (2 * W) {
                    let products = products::<A, W>(left, right, part);
                    for (row, products) in products.iter().enumerate() {
                        let start = (quartet * ROWS + row) * columns + panel * COLUMNS;
                        let place = start + part * 2 * W;
                        add::<W>(&mut sums[place..], &mut errors[place..], products, summation);
                    }
                }
            }
        }
    }
}

/// Adds two registers to totals. (The places of arrays are counted, here and below: zipped iterators
/// would be calls.)
#[inline(always)]
fn add<const W: usize>(
    sums: &mut [f64],
    errors: &mut [f64],
    values: &[[f64; W]; 2],
    summation: Summation,
) {
    let (sums, errors) = (sums.as_chunks_mut::<W>().0, errors.as_chunks_mut::<W>().0);
    for half in 0..2 {
        let (sums, errors, values) = (&mut sums[half], &mut errors[half], &values[half]);
        for i in 0..W {
            match summation {
                Summation::Plain => sums[i] += values[i],
                Summation::Compensated => {
                    let (sum, error) = two_sum(sums[i], values[i]);
                    sums[i] = sum;
                    errors[i] += error;
                }
            }
        }
    }
}

/// The products of a few rows of Lᵀ and the `part`-th two registers of R, which stay in registers.
#[inline(always)]
fn products<A: Arithmetic, const W: usize>(
    left: &[[f64; ROWS]],
    right: &[[f64; COLUMNS]],
    part: usize,
) -> [[[f64; W]; 2]; ROWS] {
    let mut sums = [[[0.0; W]; 2]; ROWS];
    let right = &right[..left.len()];
    for evaluation in 0..left.len() {
        let (left, right) = (&left[evaluation], right[evaluation].as_chunks::<W>().0);
        for half in 0..2 {
            let right = right[2 * part + half];
            for row in 0..ROWS {
                let sum = &mut sums[row][half];
                *sum = each_lane(|i| A::mul_add(left[row], right[i], sum[i]));
            }
        }
    }
    sums
}
