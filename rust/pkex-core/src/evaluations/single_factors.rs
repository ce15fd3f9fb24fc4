//! The factors of single evaluations, from which those of products are computed.

use crate::error::Error;
use crate::game::block::Block;
use crate::memory::{FACTORS, Memory};
use crate::walk::triangle::Partners;

/// A row, and an alternative for absent players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowAlternative {
    pub item: usize,
    pub alternative: usize,
}

/// The factors of the evaluation blocks of a row, as far as they were needed.
#[derive(Debug, Default)]
pub(crate) struct SingleFactors {
    /// The row, and the alternative for absent players, whose factors are kept.
    row: Option<RowAlternative>,
    is_filled: Vec<bool>,
    blocks: Vec<Block>,
}

impl SingleFactors {
    /// Reserves memory for a number of blocks and players.
    pub fn reserve(&mut self, blocks: usize, players: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.is_filled, blocks, FACTORS)?;
        memory.reserve(&mut self.blocks, blocks, FACTORS)?;
        self.is_filled.resize(blocks, false);
        self.blocks.resize_with(blocks, Block::default);
        self.blocks.iter_mut().try_for_each(|block| block.reserve(players, 0, memory))
    }

    /// The numbers of the evaluation blocks that are still to be filled for an evaluation and its
    /// partners.
    #[inline(always)]
    pub fn missing(&mut self, row: RowAlternative, partners: Partners) -> [Option<usize>; 2] {
        if self.row != Some(row) {
            self.is_filled.fill(false);
            self.row = Some(row);
        }
        [partners.one.block, partners.block].map(|number| {
            let is_missing = !self.is_filled[number];
            self.is_filled[number] = true;
            is_missing.then_some(number)
        })
    }

    /// A block, to be filled.
    #[inline(always)]
    pub fn block_mut(&mut self, number: usize) -> &mut Block {
        &mut self.blocks[number]
    }

    /// The factors of an evaluation, and of its partners.
    #[inline(always)]
    pub fn of_partners(&self, partners: Partners) -> [&Block; 2] {
        [&self.blocks[partners.one.block], &self.blocks[partners.block]]
    }
}
