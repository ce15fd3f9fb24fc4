//! The evaluations of a sum f(x) = Σᵢ αᵢ k(x, xᵢ): one for each term of the kernel and point.

use crate::error::Error;
use crate::evaluations::kind::{BlockAlternative, Evaluations};
use crate::evaluations::packed_expansion::{PackedExpansion, RowPlace};
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::linked_terms::{FactorCache, FillLinked};
use crate::kernel::narrowing::NarrowerTerms;
use crate::kernel::term::FillTerm;
use crate::memory::{Memory, saturating_product};
use crate::settings::Context;
use crate::simd::lanes::Lanes;

/// The points of an expansion.
#[derive(Clone, Copy)]
pub(crate) struct Points<'a>(pub &'a PackedExpansion);

impl Evaluations for Points<'_> {
    type Cache = FactorCache;

    fn expansion(&self) -> &PackedExpansion {
        self.0
    }

    fn orders(&self) -> usize {
        self.0.kernel.max_orders()
    }

    fn outputs(&self) -> usize {
        self.0.outputs()
    }

    fn blocks(&self) -> usize {
        self.0.evaluation_blocks()
    }

    fn alternatives_adjoin(&self) -> bool {
        true
    }

    fn locate(&self, index: usize, alternatives: usize) -> BlockAlternative {
        let block = self.0.block_at(index / alternatives);
        BlockAlternative { block, alternative: index % alternatives }
    }

    fn terms(&self) -> usize {
        let kernel = &self.0.kernel;
        if kernel.shares_players() { kernel.terms.len() } else { 1 }
    }

    fn block_bytes(&self, prepared_bytes: usize) -> usize {
        saturating_product([self.0.columns(), size_of::<Lanes>()]).saturating_add(prepared_bytes)
    }

    fn reserve(&self, cache: &mut FactorCache, memory: &Memory) -> Result<(), Error> {
        cache.reserve(self.0.kernel.links.slots, self.0.players(), memory)
    }

    fn start(&self, cache: &mut FactorCache) {
        cache.clear();
    }

    fn fill(
        &self,
        at: RowPlace<'_>,
        block: &mut Block,
        cache: &mut FactorCache,
        context: Context<'_>,
    ) -> Spread {
        // Factors may be computed from those of another term.
        if let Some(factors) = self.0.linked_factors(cache, at) {
            return context.run(FillLinked { factors, block });
        }
        let (term, points) = self.0.term_and_points(at.block);
        context.run(FillTerm { term, row: at.x, points, block })
    }

    fn players(&self, block: usize) -> &[usize] {
        &self.0.term_and_points(block).0.players
    }

    fn coefficient(&self, block: usize, share: f64) -> f64 {
        self.0.coefficient(block) * share
    }

    fn narrower_terms(&self, block: usize) -> NarrowerTerms {
        self.0.narrower_terms(block)
    }

    fn weights(&self, block: usize, _share: f64) -> impl Iterator<Item = (usize, Lanes)> {
        self.0.unscaled_weights(block)
    }
}
