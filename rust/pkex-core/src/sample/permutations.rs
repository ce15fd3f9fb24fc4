//! Sums over the pairs of a small sample, with their weights after permutations of the rows.

use crate::error::Error;
use crate::matrix::Matrix;
use crate::memory::{Memory, PAIRS, RESULT, saturating_product};
use crate::sample::problem::triangle_index;
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;
use crate::threads::{self, Monitor, Parallelism};

/// Computes Σ_{a<b} w(π_a, π_b) γ(a, b) for every permutation π, a row of `orders`, and every
/// value.
///
/// `weights` are symmetric; `values` has a row for each pair of rows a ≤ b, row by row of the
/// triangle. Pairs of a row with itself are ignored. The result has a row for each permutation.
///
/// # Errors
/// If shapes do not fit, orders contain rows that do not exist, there is too little memory, or the
/// monitor stops the call.
pub fn permuted_sums(
    weights: Matrix<'_>,
    values: Matrix<'_>,
    orders: &[usize],
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let (rows, width) = (weights.rows(), values.columns());
    check(weights, values, orders)?;
    let memory = Memory::default();
    let mut sums =
        memory.filled(saturating_product([orders.len() / rows.max(1), width]), 0.0, RESULT)?;
    if sums.is_empty() {
        return Ok(sums);
    }
    let packed = PackedValues::new(values, rows, &memory)?;
    threads::for_each(
        sums.chunks_mut(TOGETHER * width).zip(orders.chunks(TOGETHER * rows)),
        Parallelism::of(
            saturating_product([orders.len(), rows, width + 1]) / LANES,
            settings.threads,
        ),
        || {
            let mut pair_weights = Vec::new();
            let blocks = saturating_product([TOGETHER / ABREAST, rows.div_ceil(LANES)]);
            memory.reserve(&mut pair_weights, blocks, PAIRS)?;
            Ok(pair_weights)
        },
        |pair_weights, (sums, orders), stop| {
            let context = Context { settings, stop };
            for row in 0..rows {
                if context.is_stopped() {
                    return;
                }
                context.run(AddPermutedRow {
                    weights,
                    packed: &packed,
                    row,
                    orders,
                    pair_weights,
                    sums,
                });
            }
        },
        monitor,
    )?;
    Ok(sums)
}

/// Permutations for which the values of a row are read at a time.
const TOGETHER: usize = 32;
/// Permutations whose sums are computed together.
const ABREAST: usize = 4;

fn check(weights: Matrix<'_>, values: Matrix<'_>, orders: &[usize]) -> Result<(), Error> {
    let rows = weights.rows();
    let shape = |argument, expected, got: usize| {
        Err(Error::Shape { argument, expected, got: got.to_string() })
    };
    if rows == 0 {
        return shape("weights", "at least one row".to_owned(), rows);
    }
    if weights.columns() != rows {
        return shape("weights", format!("{rows} columns"), weights.columns());
    }
    if values.rows() != rows * (rows + 1) / 2 {
        return shape("values", format!("the pairs of {rows} rows"), values.rows());
    }
    if !orders.len().is_multiple_of(rows) {
        return shape("orders", format!("{rows} columns"), orders.len());
    }
    match orders.iter().find(|&&row| row >= rows) {
        None => Ok(()),
        Some(row) => Err(Error::Domain {
            argument: "orders",
            requirement: "numbers of rows of the sample",
            got: row.to_string(),
        }),
    }
}

/// For each row a and each value, the pairs with the rows b > a as lanes, in blocks that start with
/// the block of a; 0 if a lane holds no such pair.
struct PackedValues {
    lanes: Vec<Lanes>,
    /// The start of each row's lanes.
    starts: Vec<usize>,
}

impl PackedValues {
    fn new(values: Matrix<'_>, rows: usize, memory: &Memory) -> Result<Self, Error> {
        let (mut lanes, mut starts) = (Vec::new(), Vec::new());
        let blocks = (0..rows).map(|row| rows.div_ceil(LANES) - row / LANES).sum();
        memory.reserve(&mut lanes, saturating_product([blocks, values.columns()]), PAIRS)?;
        memory.reserve(&mut starts, rows + 1, PAIRS)?;
        for row in 0..rows {
            starts.push(lanes.len());
            for value in 0..values.columns() {
                lanes.extend((row / LANES..rows.div_ceil(LANES)).map(|block| {
                    Lanes(std::array::from_fn(|lane| {
                        let later_row = block * LANES + lane;
                        if !(row + 1..rows).contains(&later_row) {
                            return 0.0;
                        }
                        values.row(triangle_index(row, later_row, rows))[value]
                    }))
                }));
            }
        }
        starts.push(lanes.len());
        Ok(Self { lanes, starts })
    }

    fn row_lanes(&self, row: usize) -> &[Lanes] {
        &self.lanes[self.starts[row]..self.starts[row + 1]]
    }
}

/// Adds the pairs of one row with the rows after it to the sums of some permutations.
struct AddPermutedRow<'a> {
    weights: Matrix<'a>,
    packed: &'a PackedValues,
    row: usize,
    orders: &'a [usize],
    /// The weights of the pairs, for each [`ABREAST`] permutations and each block.
    pair_weights: &'a mut Vec<[Lanes; ABREAST]>,
    sums: &'a mut [f64],
}

impl Body for AddPermutedRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let (rows, first) = (self.weights.rows(), self.row / LANES);
        let blocks = rows.div_ceil(LANES) - first;
        let permutations = self.orders.len() / rows;
        self.pair_weights.clear();
        self.pair_weights.resize(permutations.div_ceil(ABREAST) * blocks, [Lanes::ZERO; ABREAST]);
        for (number, order) in self.orders.chunks(rows).enumerate() {
            let weights = self.weights.row(order[self.row]);
            for (block, partners) in order[first * LANES..].chunks(LANES).enumerate() {
                let block_weights = &mut self.pair_weights[number / ABREAST * blocks + block];
                for (lane, &partner) in block_weights[number % ABREAST].0.iter_mut().zip(partners) {
                    *lane = weights[partner];
                }
            }
        }
        let width = self.sums.len() / permutations;
        for (value, values) in self.packed.row_lanes(self.row).chunks(blocks).enumerate() {
            let sums = self.sums.chunks_mut(ABREAST * width);
            for (sums, weights) in sums.zip(self.pair_weights.chunks(blocks)) {
                let mut totals = [Lanes::ZERO; ABREAST];
                for (value, weights) in values.iter().zip(weights) {
                    for (total, weight) in totals.iter_mut().zip(weights) {
                        total.add_product::<A, W>(value, weight);
                    }
                }
                for (sum, total) in sums[value..].iter_mut().step_by(width).zip(totals) {
                    *sum += total.total();
                }
            }
        }
    }
}
