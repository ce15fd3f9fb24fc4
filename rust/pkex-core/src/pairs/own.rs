//! What rows have in pairs with themselves, of terms that are power series or centered.
//!
//! For other terms k(x, x) is the same for all x. Where it is not, MMD²
//! and HSIC, biased and unbiased, are still for every coalition what they are with
//!
//!   k(x, y) − k(x, x)/2 − k(y, y)/2
//!
//! in the place of k, as its sums over rows and columns are weighted by 0 (of rows with unequal
//! weights the unbiased MMD² changes): so their Shapley values are those of
//! γ(x, y) − γ(x, x)/2 − γ(y, y)/2, which is 0 for a row with itself. That is what pairs are taken to
//! have of such terms if halves are asked for ([`Classes::takes_halves`](crate::Classes)).

use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::kernel::packed::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::pairs::absent::{AbsentPlayers, FirstAlone, check_absent, fill_pairs};
use crate::quadrature::table::NodeTable;
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::walk::chunks::{Chunk, Chunks, PackedRows};

/// γ of the players in the pair of each row with itself, and what they are worth alone in it.
#[derive(Debug)]
pub(crate) struct OwnPairs {
    /// Row by row: γ, then what players are worth alone.
    values: Vec<f64>,
    lanes: PackedRows,
    width: usize,
}

impl OwnPairs {
    pub fn new(values: Vec<f64>, rows: usize, chunks: &Chunks) -> Result<Self, Error> {
        let width = values.len() / rows.max(1);
        let lanes = PackedRows::new(Matrix::of_shape(&values, [rows, width]), chunks, |row| row)?;
        Ok(Self { values, lanes, width })
    }
}

/// What the rows of the pairs of a row and a block have in pairs with themselves, if it counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnOfPairs<'a> {
    pub own: Option<&'a OwnPairs>,
    pub at: (&'a Chunk, usize),
    pub row: usize,
}

impl OwnOfPairs<'_> {
    /// Takes half of both rows' numbers in a column away from those of pairs.
    #[inline(always)]
    pub fn take_halves<A: Arithmetic, const W: usize>(self, column: usize, pairs: &mut Lanes) {
        let Self { own: Some(own), at: (chunk, block), row } = self else { return };
        let minus_half = Lanes([-0.5; LANES]);
        let of_row = Lanes([own.values[row * own.width + column]; LANES]);
        pairs.add_product::<A, W>(&minus_half, &of_row);
        pairs.add_product::<A, W>(&minus_half, &own.lanes.block(chunk, block)[column]);
    }
}

/// For each row γ of the players in its pair with itself, then what they are worth alone in it, of
/// the terms whose k(x, x) depends on x. `absent` are factors as those of a
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
    own_values(rows, &kernel, &absent, settings)
}

/// γ of the players in the pair of each row with itself, then what they are worth alone in it, of
/// the terms whose k(x, x) depends on x: row by row.
pub(crate) fn own_values(
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
                    context.run(FirstAlone { absent, orders, place, block: &block });
            }
            quantity.evaluate(&spread, (&mut block, &term.players), &mut scratch, context);
            let games = block.omega.iter().zip(&block.difference);
            for ((omega, difference), &player) in games.zip(&term.players) {
                values[player] += term.coefficient * (omega.0[0] * difference.0[0]);
            }
        }
    }
    Ok(values)
}
