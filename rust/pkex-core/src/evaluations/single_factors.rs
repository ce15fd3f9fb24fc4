//! The factors of single evaluations, which those of products are made from.

use crate::error::Error;
use crate::game::block::Block;
use crate::memory::{FACTORS, Memory};
use crate::walk::triangle::Partners;

/// The factors of the evaluation blocks of a row, as far as they have been needed.
#[derive(Debug, Default)]
pub(crate) struct SingleFactors {
    /// What they are of.
    of: Option<[usize; 2]>,
    is_filled: Vec<bool>,
    blocks: Vec<Block>,
}

impl SingleFactors {
    /// Makes room for so many blocks of so many players.
    pub fn reserve(&mut self, blocks: usize, players: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.is_filled, blocks, FACTORS)?;
        memory.reserve(&mut self.blocks, blocks, FACTORS)?;
        self.is_filled.resize(blocks, false);
        self.blocks.resize_with(blocks, Block::default);
        self.blocks.iter_mut().try_for_each(|block| block.reserve(players, 0, memory))
    }

    /// The blocks that are to be filled for an evaluation and its partners: not known yet of what two
    /// numbers name.
    #[inline(always)]
    pub fn missing(&mut self, of: [usize; 2], partners: Partners) -> [Option<usize>; 2] {
        if self.of != Some(of) {
            self.is_filled.fill(false);
            self.of = Some(of);
        }
        [partners.one.0, partners.others].map(|number| {
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
        [&self.blocks[partners.one.0], &self.blocks[partners.others]]
    }
}
