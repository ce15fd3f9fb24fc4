//! The evaluations between rows and an expansion, whatever stands in for absent players.

use crate::error::Error;
use crate::evaluations::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// A row, and where a walk is beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowPlace<'a> {
    /// The row's number, and the row.
    pub item: usize,
    pub x: &'a [f64],
    /// The block of evaluations, and which of the alternatives for absent players.
    pub block: usize,
    pub alternative: usize,
    /// The number of both among those of a row, in the order of the walk.
    pub index: usize,
}

/// A kind of evaluations of an expansion, in blocks; each may come with several alternatives for
/// absent players.
pub(crate) trait Evaluations: Sync {
    /// What a thread keeps of factors between fills.
    type Cache: Default;

    /// The points and the kernel.
    fn expansion(&self) -> &PackedExpansion;
    /// The highest power of s in factors that are power series.
    fn orders(&self) -> usize {
        0
    }
    /// Number of outputs.
    fn outputs(&self) -> usize;
    /// Number of blocks, without alternatives.
    fn blocks(&self) -> usize;
    /// Whether the alternatives of a block follow each other in a walk; else those of all blocks do.
    fn alternatives_adjoin(&self) -> bool;
    /// The block and the alternative that a walk comes to.
    fn locate(&self, index: usize, alternatives: usize) -> (usize, usize);
    /// How many blocks follow each other that are the terms of a sum.
    fn terms(&self) -> usize {
        1
    }
    /// Bytes that all rows read to fill a block, with what is prepared for it; 0 if tiles are not cut
    /// by them.
    fn block_bytes(&self, _prepared: usize) -> usize {
        0
    }
    /// Makes room for factors.
    fn reserve(&self, cache: &mut Self::Cache, memory: &Memory) -> Result<(), Error>;
    /// Makes a cache independent of what was filled before.
    fn start(&self, _: &mut Self::Cache) {}
    /// Fills a block with the factors of present players; absent ones are 1.
    fn fill(
        &self,
        at: RowPlace<'_>,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;
    /// The players of a block.
    fn players(&self, block: usize) -> &[usize];
    /// What the weights of a block are multiplied by, of an alternative with a share.
    fn coefficient(&self, _block: usize, _share: f64) -> f64 {
        1.0
    }
    /// The outputs with a weight in a block, and the weights before they are multiplied.
    fn weights(&self, block: usize, share: f64) -> impl Iterator<Item = (usize, Lanes)>;
}
