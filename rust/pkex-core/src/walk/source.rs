//! The interface between the walk over items and the evaluations that it sums.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::game::quantity::Quantity;
use crate::game::spread::Spread;
use crate::kernel::narrowing::NarrowerTerms;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// How many items, players, outputs and blocks of evaluations a source has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Items: each has a result of its own.
    pub items: usize,
    /// Players of the games.
    pub players: usize,
    /// Outputs: sums with weights of their own.
    pub outputs: usize,
    /// Blocks of evaluations of an item.
    pub blocks: usize,
    /// The highest power of s in factors that are power series; 0 where factors are numbers.
    pub orders: usize,
}

impl Size {
    /// The number of factors of a block that has all players.
    pub fn factors(self) -> FactorCount {
        FactorCount { players: self.players, orders: self.orders }
    }
}

/// Neighboring blocks whose weights differ only by their coefficients: their values are added up
/// before they are weighted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    /// Blocks from the start of one sequence of such blocks to the next.
    length: usize,
    /// Maximum blocks whose values are added up.
    max_blocks: usize,
    /// The number of neighboring blocks that a tile never separates.
    pub blocks_together: usize,
}

impl Runs {
    /// Every block has weights of its own.
    pub const NONE: Self = Self { length: 1, max_blocks: 1, blocks_together: 1 };

    /// Maximum alternatives whose values are added up: these sums are plain, with at most this
    /// number of roundings.
    const MAX_ALTERNATIVES: usize = 16;

    /// Every block has weights of its own; a tile never separates blocks of such a group.
    pub fn none_in_groups(blocks_together: usize) -> Self {
        Self { blocks_together, ..Self::NONE }
    }

    /// One block for each term of a sum; a tile holds all of them.
    pub fn of_terms(terms: usize) -> Self {
        Self { length: terms, max_blocks: usize::MAX, blocks_together: terms.max(1) }
    }

    /// One block for each alternative for absent players.
    pub fn of_alternatives(alternatives: usize) -> Self {
        Self { length: alternatives, max_blocks: Self::MAX_ALTERNATIVES, blocks_together: 1 }
    }

    /// Whether several blocks share their weights.
    pub fn exist(self) -> bool {
        self.length > 1
    }

    /// Whether a block is the last of those whose values are added up.
    pub fn ends_with(self, index: usize) -> bool {
        let end = index % self.length + 1;
        end == self.length || end.is_multiple_of(self.max_blocks)
    }
}

/// The costs of filling blocks, which determine the cut into tiles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// Cost of preparing a block, in fills; 0 if there is nothing to prepare.
    pub preparation: usize,
    /// Bytes that are prepared for each player of a block.
    pub prepared_bytes: usize,
    /// Bytes that all items read to fill a block; 0 if tiles are cut without regard to them.
    pub block_bytes: usize,
}

/// The evaluations of some items, block by block, and their weights.
pub(crate) trait Source: Sync {
    /// Factors that a thread keeps between fills of blocks.
    type Cache: Default;

    /// The numbers of items, players, outputs and blocks.
    fn size(&self) -> Size;
    /// Which neighboring blocks share their weights.
    fn runs(&self) -> Runs {
        Runs::NONE
    }
    /// The quantity of an item, where each item has its own instead of that of the call. All have
    /// the same number of results.
    fn quantity<'q>(&'q self, _item: usize, call_quantity: Quantity<'q>) -> Quantity<'q> {
        call_quantity
    }
    /// The costs of filling blocks.
    fn costs(&self) -> Costs {
        Costs::default()
    }

    /// Reserves memory in a cache for as many blocks as a tile has.
    fn reserve(&self, _blocks: usize, _: &mut Self::Cache, _: &Memory) -> Result<(), Error> {
        Ok(())
    }
    /// Prepares factors that all items share in some blocks, before these are filled.
    fn prepare(&self, _blocks: Range<usize>, _: Context<'_>, _: &mut Self::Cache) {}
    /// Makes a cache independent of earlier fills, before the first block of a cell.
    fn start(&self, _: &mut Self::Cache) {}
    /// Fills a block's factors. Lanes after the last evaluation repeat an evaluation.
    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;

    /// The result's player for each player of a block.
    fn block_players(&self, index: usize) -> &[usize];
    /// The number by which the weights of a block are multiplied.
    fn coefficient(&self, _index: usize) -> f64 {
        1.0
    }
    /// The narrower terms of a run that directly follow a block. No factor of theirs is larger than
    /// that of the block.
    fn narrower_terms(&self, _index: usize) -> NarrowerTerms {
        NarrowerTerms::default()
    }
    /// The outputs with a weight in a block, and their weights before multiplication; unused lanes
    /// have weight 0.
    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)>;
}
