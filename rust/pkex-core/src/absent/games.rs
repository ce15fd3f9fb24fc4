//! The games of some rows, for all kinds of evaluations and of absent factors.

use std::ops::Range;

use crate::absent::factors::AbsentFactors;
use crate::error::Error;
use crate::evaluations::kind::{BlockAlternative, Evaluations};
use crate::evaluations::packed_expansion::RowPlace;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::narrowing::NarrowerTerms;
use crate::matrix::Matrix;
use crate::memory::{Memory, saturating_product};
use crate::settings::Context;
use crate::simd::lanes::Lanes;
use crate::walk::source::{Costs, Runs, Size, Source};

/// The alternatives for absent players, each in games of its own.
pub(crate) trait Alternatives {
    /// The number of games of each evaluation.
    fn alternatives(&self) -> usize {
        1
    }
    /// The factor of the weights of an alternative.
    fn share(&self, _alternative: usize) -> f64 {
        1.0
    }
}

/// The absent factors of a kind of evaluations.
pub(crate) trait Absent<E: Evaluations>: Alternatives + Sync {
    /// Factors that a thread keeps between fills of blocks.
    type Cache: Default;

    /// The cost of preparing a block, in fills; 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Bytes that are prepared for each player of a block.
    fn prepared_bytes(&self, evaluations: &E) -> usize {
        AbsentFactors::bytes(evaluations.orders())
    }
    /// Bytes of absent factors for each player of a block; all rows share them.
    fn factor_bytes(&self, evaluations: &E) -> usize {
        self.prepared_bytes(evaluations)
    }
    /// Reserves memory for the factors of a number of blocks.
    fn reserve(&self, _: &E, _blocks: usize, _: &mut Self::Cache, _: &Memory) -> Result<(), Error> {
        Ok(())
    }
    /// Prepares factors that all rows share in some blocks.
    fn prepare(&self, _: &E, _blocks: Range<usize>, _: Context<'_>, _: &mut Self::Cache) {}
    /// Fills a block with present and absent factors.
    fn fill(
        &self,
        evaluations: &E,
        at: RowPlace<'_>,
        block: &mut Block,
        caches: (&mut E::Cache, &mut Self::Cache),
        context: Context<'_>,
    ) -> Spread;
}

/// The games of some rows.
pub(crate) struct Games<'a, E, B> {
    pub evaluations: E,
    pub rows: Matrix<'a>,
    pub absent: B,
}

impl<E: Evaluations, B: Absent<E>> Games<'_, E, B> {
    /// The block and the alternative at a place of the walk.
    fn locate(&self, index: usize) -> BlockAlternative {
        self.evaluations.locate(index, self.absent.alternatives())
    }
}

impl<E: Evaluations, B: Absent<E>> Source for Games<'_, E, B> {
    type Cache = (E::Cache, B::Cache);

    fn size(&self) -> Size {
        Size {
            items: self.rows.rows(),
            players: self.evaluations.expansion().players(),
            outputs: self.evaluations.outputs(),
            blocks: saturating_product([self.evaluations.blocks(), self.absent.alternatives()]),
            orders: self.evaluations.orders(),
        }
    }

    fn runs(&self) -> Runs {
        match self.absent.alternatives() {
            // Tiles with prepared factors are also cut between terms.
            1 if self.absent.preparation() == 0 => Runs::of_terms(self.evaluations.terms()),
            2.. if self.evaluations.alternatives_adjoin() => {
                Runs::of_alternatives(self.absent.alternatives())
            }
            _ => Runs::NONE,
        }
    }

    fn costs(&self) -> Costs {
        let players = self.evaluations.expansion().players();
        let absent = saturating_product([players, self.absent.factor_bytes(&self.evaluations)]);
        Costs {
            preparation: self.absent.preparation(),
            prepared_bytes: self.absent.prepared_bytes(&self.evaluations),
            block_bytes: self.evaluations.block_bytes(absent),
        }
    }

    fn reserve(
        &self,
        blocks: usize,
        (evaluation_cache, absent): &mut Self::Cache,
        memory: &Memory,
    ) -> Result<(), Error> {
        self.evaluations.reserve(evaluation_cache, memory)?;
        self.absent.reserve(&self.evaluations, blocks, absent, memory)
    }

    fn prepare(&self, blocks: Range<usize>, context: Context<'_>, cache: &mut Self::Cache) {
        self.absent.prepare(&self.evaluations, blocks, context, &mut cache.1);
    }

    fn start(&self, cache: &mut Self::Cache) {
        self.evaluations.start(&mut cache.0);
    }

    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        (evaluation_cache, absent): &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread {
        let BlockAlternative { block: number, alternative } = self.locate(index);
        let at = RowPlace { item, x: self.rows.row(item), block: number, alternative, index };
        self.absent.fill(&self.evaluations, at, block, (evaluation_cache, absent), context)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        self.evaluations.players(self.locate(index).block)
    }

    fn coefficient(&self, index: usize) -> f64 {
        let BlockAlternative { block, alternative } = self.locate(index);
        self.evaluations.coefficient(block, self.absent.share(alternative))
    }

    fn narrower_terms(&self, index: usize) -> NarrowerTerms {
        match self.absent.alternatives() {
            1 => self.evaluations.narrower_terms(self.locate(index).block),
            _ => NarrowerTerms::default(),
        }
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let BlockAlternative { block, alternative } = self.locate(index);
        self.evaluations.weights(block, self.absent.share(alternative))
    }
}
