//! Where evaluations come from, as the walk over items sees it.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// The evaluations of some items, block by block, and their weights.
pub(crate) trait Source: Sync {
    /// What a thread keeps between fills.
    type Cache: Default;

    /// Number of items.
    fn items(&self) -> usize;
    /// Players of the games.
    fn players(&self) -> usize;
    /// The highest power of s in factors that are power series.
    fn orders(&self) -> usize {
        0
    }
    /// Outputs: sums with weights of their own.
    fn outputs(&self) -> usize;
    /// Blocks of evaluations of an item.
    fn blocks(&self) -> usize;
    /// How many blocks follow each other that a tile does not part: the terms of a sum.
    fn terms(&self) -> usize {
        1
    }
    /// Whether blocks follow each other in runs: they weigh the same but for their coefficients, so
    /// that their values are added up first.
    fn has_runs(&self) -> bool {
        self.terms() > 1
    }
    /// Whether a run ends with a block.
    fn ends_run(&self, index: usize) -> bool {
        (index + 1).is_multiple_of(self.terms())
    }
    /// What it costs to prepare a block, in fills: 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Bytes of what is prepared for each player of a block.
    fn prepared_bytes(&self) -> usize {
        0
    }
    /// Bytes that all items read to fill a block.
    fn block_bytes(&self) -> usize {
        0
    }
    /// Makes room in a cache for the factors of so many blocks at a time.
    fn reserve(&self, _: usize, _: &mut Self::Cache, _: &Memory) -> Result<(), Error> {
        Ok(())
    }
    /// Makes ready what the items have in common in some blocks, before these are filled.
    fn prepare(&self, _: Range<usize>, _: Context<'_>, _: &mut Self::Cache) {}
    /// Makes a cache independent of what was filled before: the first blocks of a cell follow.
    fn start(&self, _: &mut Self::Cache) {}
    /// Fills a block's factors; lanes beyond the last evaluation repeat one.
    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;
    /// The result's player for each player of the block.
    fn block_players(&self, index: usize) -> &[usize];
    /// What the weights of the block are multiplied by.
    fn coefficient(&self, _index: usize) -> f64 {
        1.0
    }
    /// For each output with a weight in the block: the output, and its weights (0 in unused lanes)
    /// before they are multiplied.
    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)>;
}
