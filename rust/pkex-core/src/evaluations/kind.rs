//! The interface of a kind of evaluations between rows and an expansion, for all absent factors.

use crate::error::Error;
use crate::evaluations::packed_expansion::{PackedExpansion, RowPlace};
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::narrowing::NarrowerTerms;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// A block of evaluations, and an alternative for absent players.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockAlternative {
    pub block: usize,
    pub alternative: usize,
}

/// A kind of evaluations of an expansion, in blocks; each block may have several alternatives for
/// absent players.
pub(crate) trait Evaluations: Sync {
    /// The factors that a thread keeps between fills of blocks.
    type Cache: Default;

    /// The points and the kernel.
    fn expansion(&self) -> &PackedExpansion;
    /// The highest power of s in factors that are power series; 0 if factors are numbers.
    fn orders(&self) -> usize {
        0
    }
    /// Number of outputs.
    fn outputs(&self) -> usize;
    /// Number of blocks, without alternatives.
    fn blocks(&self) -> usize;
    /// Whether the alternatives of a block are neighbors in a walk; else the blocks of an
    /// alternative are.
    fn alternatives_adjoin(&self) -> bool;
    /// The block and the alternative at a place of the walk.
    fn locate(&self, index: usize, alternatives: usize) -> BlockAlternative;
    /// The number of neighboring blocks that are the terms of a sum.
    fn terms(&self) -> usize {
        1
    }
    /// Bytes that all rows read to fill a block, including the prepared ones; 0 if tiles are cut
    /// without regard to them.
    fn block_bytes(&self, _prepared_bytes: usize) -> usize {
        0
    }
    /// Reserves memory for factors.
    fn reserve(&self, cache: &mut Self::Cache, memory: &Memory) -> Result<(), Error>;
    /// Makes a cache independent of earlier fills.
    fn start(&self, _: &mut Self::Cache) {}
    /// Fills a block with present factors; absent factors are 1.
    fn fill(
        &self,
        at: RowPlace<'_>,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;
    /// The players of a block.
    fn players(&self, block: usize) -> &[usize];
    /// The factor of the weights of a block, for an alternative with a share.
    fn coefficient(&self, _block: usize, _share: f64) -> f64 {
        1.0
    }
    /// The narrower terms after that of a block, if terms are neighbors.
    fn narrower_terms(&self, _block: usize) -> NarrowerTerms {
        NarrowerTerms::default()
    }
    /// The outputs with a weight in a block, and the weights before multiplication.
    fn weights(&self, block: usize, share: f64) -> impl Iterator<Item = (usize, Lanes)>;
}
