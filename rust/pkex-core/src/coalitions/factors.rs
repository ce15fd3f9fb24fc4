//! Present and absent factors of all players in blocks of evaluations.

use crate::absent::background_means::BackgroundMeans;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::game::block::Block;
use crate::kernel::term::FillTerm;
use crate::memory::{FACTORS, Memory};
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// An explained row, and the values of absent players.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub x: &'a [f64],
    pub absent: AbsentValues<'a>,
}

/// The values of absent players.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AbsentValues<'a> {
    /// Absent factors are 1.
    One,
    /// Those of a background row.
    Row(&'a [f64]),
    /// Absent factors are means over background rows.
    Means(&'a BackgroundMeans),
}

/// The factors (a, b) of each player in a block; 1 for players that the term does not compare.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    pub players: Vec<(Lanes, Lanes)>,
    block: Block,
}

impl Factors {
    /// Factors with memory for a number of players.
    pub fn new(players: usize, memory: &Memory) -> Result<Self, Error> {
        let mut factors = Self::default();
        memory.reserve(&mut factors.players, players, FACTORS)?;
        factors.block.reserve(players, 0, memory)?;
        Ok(factors)
    }

    /// Computes the factors of a block of evaluations.
    pub fn fill(
        &mut self,
        expansion: &PackedExpansion,
        index: usize,
        rows: Rows<'_>,
        context: Context<'_>,
    ) {
        let Self { players, block } = self;
        players.clear();
        players.resize(expansion.players(), (Lanes::ONE, Lanes::ONE));
        let (term, points) = expansion.term_and_points(index);
        context.run(FillTerm { term, row: rows.x, points, block: &mut *block });
        debug_assert_eq!(block.present.len(), term.players.len());
        for (&player, factor) in term.players.iter().zip(&block.present) {
            players[player].0 = *factor;
        }
        let absent = match rows.absent {
            AbsentValues::One => return,
            AbsentValues::Row(row) => {
                context.run(FillTerm { term, row, points, block: &mut *block });
                &block.present
            }
            AbsentValues::Means(means) => &means.of_block(index).factor,
        };
        for (&player, factor) in term.players.iter().zip(absent) {
            players[player].1 = *factor;
        }
    }
}
