//! The factors of single evaluations, which those of pairs are products of.

use crate::error::Error;
use crate::game::block::Block;
use crate::memory::{FACTORS, Memory};
use crate::quadratic::triangle::Pair;

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

    /// The blocks of a pair that are to be filled: not known yet of what two numbers name.
    #[inline(always)]
    pub fn missing(&mut self, of: [usize; 2], pair: Pair) -> [Option<usize>; 2] {
        if self.of != Some(of) {
            self.is_filled.fill(false);
            self.of = Some(of);
        }
        [pair.one.0, pair.others].map(|number| {
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

    /// Those of a pair: of the one, and of the others.
    #[inline(always)]
    pub fn of_pair(&self, pair: Pair) -> [&Block; 2] {
        [&self.blocks[pair.one.0], &self.blocks[pair.others]]
    }
}
