//! Pairs of rows with themselves, for terms that are power series or centered.
//!
//! For other terms, k(x, x) is equal for all x. If it is not, the biased and unbiased MMD² and HSIC
//! of every coalition do not change when k is replaced by
//!
//!   k(x, y) − k(x, x)/2 − k(y, y)/2
//!
//! because its sums over rows and columns have weight 0 (for rows with unequal weights, the
//! unbiased MMD² changes). So their Shapley values are those of γ(x, y) − γ(x, x)/2 − γ(y, y)/2,
//! which is 0 for a row with itself. This replaces γ(x, y) of such terms if halves are subtracted
//! ([`Classes::takes_halves`](crate::Classes)).

use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::kernel::packed_kernel::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::quadrature::table::NodeTable;
use crate::sample::absent::{AbsentPlayers, FirstUnivariate, check_absent, fill_pairs};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::walk::chunks::{ChunkBlock, Chunks, PackedRows};

/// γ and univariate values of the players in the pair of each row with itself.
#[derive(Debug)]
pub(crate) struct SelfPairs {
    /// Row by row: γ, then univariate values.
    values: Vec<f64>,
    lanes: PackedRows,
    width: usize,
}

impl SelfPairs {
    pub fn new(values: Vec<f64>, rows: usize, chunks: &Chunks) -> Result<Self, Error> {
        let width = values.len() / rows.max(1);
        let lanes = PackedRows::new(Matrix::of_shape(&values, [rows, width]), chunks, |row| row)?;
        Ok(Self { values, lanes, width })
    }
}

/// The self pairs of a row and of the rows of a block, if they count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelfPairsOfBlock<'a> {
    pub self_pairs: Option<&'a SelfPairs>,
    pub at: ChunkBlock<'a>,
    pub row: usize,
}

impl SelfPairsOfBlock<'_> {
    /// Subtracts half of both rows' numbers in a column from those of pairs, in some lanes.
    #[inline(always)]
    pub fn take_halves<A: Arithmetic, const W: usize>(
        self,
        (column, part): (usize, usize),
        pairs: &mut [f64; W],
    ) {
        let Self { self_pairs: Some(self_pairs), at, row } = self else { return };
        let row_value = self_pairs.values[row * self_pairs.width + column];
        let block_values: &[f64; W] = self_pairs.lanes.block(at)[column].part(part);
        *pairs =
            each_lane(|i| A::mul_add(-0.5, block_values[i], A::mul_add(-0.5, row_value, pairs[i])));
    }
}

/// For each row, γ of the players in its pair with itself, then their univariate values in it, for
/// the terms whose k(x, x) depends on x. `absent` has the factors of a
/// [`PairProblem`](crate::PairProblem).
///
/// # Errors
/// If shapes do not fit, or a factor is not valid.
pub fn self_pairs(
    rows: Matrix<'_>,
    terms: &[Term],
    players: &Players,
    absent: Option<Matrix<'_>>,
    settings: &Settings,
) -> Result<Vec<f64>, Error> {
    check_absent(absent, terms, players)?;
    let kernel = PackedKernel::new(terms, players.clone())?;
    let absent = AbsentPlayers::of_terms(&kernel, absent);
    self_pair_values(rows, &kernel, &absent, settings)
}

/// γ of the players in the pair of each row with itself, then their univariate values in it, for
/// the terms whose k(x, x) depends on x: row by row.
pub(crate) fn self_pair_values(
    rows: Matrix<'_>,
    kernel: &PackedKernel,
    absent: &[AbsentPlayers<'_>],
    settings: &Settings,
) -> Result<Vec<f64>, Error> {
    let (players, stop) = (kernel.players.count(), AtomicBool::new(false));
    let context = Context { settings, stop: &stop };
    let nodes = NodeTable::new(players);
    let quantity = Quantity::Values(Nodes::Table(&nodes));
    let memory = Memory::default();
    let width = 2 * players;
    let mut values = memory.filled(saturating_product([rows.rows(), width]), 0.0, PAIRS)?;
    let (mut block, mut scratch) = (Block::default(), Scratch::default());
    for (row, values) in values.chunks_mut(width.max(1)).enumerate() {
        let x = rows.row(row);
        let points: Vec<Lanes> = x.iter().map(|&entry| Lanes([entry; LANES])).collect();
        for (term, absent) in kernel.terms.iter().zip(absent) {
            if !term.diagonal_varies() {
                continue;
            }
            let spread = fill_pairs((term, absent), (x, &points), &mut block, context);
            for (place, &player) in term.players.iter().enumerate() {
                let orders = term.orders();
                values[players + player] +=
                    context.run(FirstUnivariate { absent, orders, place, block: &block });
            }
            quantity.evaluate(&spread, (&mut block, &term.players), &mut scratch, context);
            debug_assert_eq!(block.omega.len(), term.players.len());
            let games = block.omega.iter().zip(&block.difference);
            for ((omega, difference), &player) in games.zip(&term.players) {
                values[player] += term.coefficient * (omega.0[0] * difference.0[0]);
            }
        }
    }
    Ok(values)
}
