//! The games between some rows and an expansion, whatever its evaluations are and whatever stands in
//! for absent players.

use std::ops::Range;

use crate::absent::factors::AbsentFactors;
use crate::error::Error;
use crate::evaluations::beside_row::{Evaluations, RowPlace};
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::matrix::Matrix;
use crate::memory::{Memory, saturating_product};
use crate::settings::Context;
use crate::simd::lanes::Lanes;
use crate::walk::source::Source;

/// How many rows may stand in for absent players, each in games of its own.
pub(crate) trait Alternatives {
    /// Games of each evaluation.
    fn alternatives(&self) -> usize {
        1
    }
    /// What the weights of one of them are multiplied by.
    fn share(&self, _alternative: usize) -> f64 {
        1.0
    }
}

/// What stands in for absent players, in evaluations of a kind.
pub(crate) trait Absent<E: Evaluations>: Alternatives + Sync {
    /// What a thread keeps between fills.
    type Cache: Default;

    /// What it costs to prepare a block, in fills: 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Bytes of what is prepared for each player of a block.
    fn prepared_bytes(&self, evaluations: &E) -> usize {
        AbsentFactors::bytes(evaluations.orders())
    }
    /// Bytes of absent factors, common to all rows, of each player of a block.
    fn factor_bytes(&self, evaluations: &E) -> usize {
        self.prepared_bytes(evaluations)
    }
    /// Makes room for the factors of so many blocks.
    fn reserve(&self, _: &E, _blocks: usize, _: &mut Self::Cache, _: &Memory) -> Result<(), Error> {
        Ok(())
    }
    /// Makes ready what all rows have in common in some blocks.
    fn prepare(&self, _: &E, _blocks: Range<usize>, _: Context<'_>, _: &mut Self::Cache) {}
    /// Fills a block with the factors of present and of absent players.
    fn fill(
        &self,
        evaluations: &E,
        at: RowPlace<'_>,
        block: &mut Block,
        caches: (&mut E::Cache, &mut Self::Cache),
        context: Context<'_>,
    ) -> Spread;
}

/// Alternatives whose values are added up before they are weighed. These sums are plain, and err by
/// at most as many roundings.
const LONGEST_RUN: usize = 16;

/// The games between some rows and an expansion.
pub(crate) struct Games<'a, E, B> {
    pub evaluations: E,
    pub rows: Matrix<'a>,
    pub absent: B,
}

impl<E: Evaluations, B: Absent<E>> Games<'_, E, B> {
    /// The block and the alternative that a walk comes to.
    fn locate(&self, index: usize) -> (usize, usize) {
        self.evaluations.locate(index, self.absent.alternatives())
    }
}

impl<E: Evaluations, B: Absent<E>> Source for Games<'_, E, B> {
    type Cache = (E::Cache, B::Cache);

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.evaluations.expansion().players()
    }

    fn orders(&self) -> usize {
        self.evaluations.orders()
    }

    fn outputs(&self) -> usize {
        self.evaluations.outputs()
    }

    fn blocks(&self) -> usize {
        saturating_product([self.evaluations.blocks(), self.absent.alternatives()])
    }

    fn preparation(&self) -> usize {
        self.absent.preparation()
    }

    fn prepared_bytes(&self) -> usize {
        self.absent.prepared_bytes(&self.evaluations)
    }

    fn block_bytes(&self) -> usize {
        let absent = self.absent.factor_bytes(&self.evaluations);
        self.evaluations.block_bytes(saturating_product([self.players(), absent]))
    }

    fn terms(&self) -> usize {
        // Tiles of what is prepared are cut between terms, too.
        let is_whole = self.absent.alternatives() == 1 && self.absent.preparation() == 0;
        if is_whole { self.evaluations.terms() } else { 1 }
    }

    fn has_runs(&self) -> bool {
        let adjoin = self.evaluations.alternatives_adjoin();
        self.terms() > 1 || adjoin && self.absent.alternatives() > 1
    }

    fn ends_run(&self, index: usize) -> bool {
        let alternatives = self.absent.alternatives();
        if alternatives == 1 {
            return (index + 1).is_multiple_of(self.terms());
        }
        let alternative = index % alternatives;
        alternative + 1 == alternatives || (alternative + 1).is_multiple_of(LONGEST_RUN)
    }

    fn reserve(
        &self,
        blocks: usize,
        (own, absent): &mut Self::Cache,
        memory: &Memory,
    ) -> Result<(), Error> {
        self.evaluations.reserve(own, memory)?;
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
        (own, absent): &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread {
        let (number, alternative) = self.locate(index);
        let at = RowPlace { item, x: self.rows.row(item), block: number, alternative, index };
        self.absent.fill(&self.evaluations, at, block, (own, absent), context)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        self.evaluations.players(self.locate(index).0)
    }

    fn coefficient(&self, index: usize) -> f64 {
        let (block, alternative) = self.locate(index);
        self.evaluations.coefficient(block, self.absent.share(alternative))
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let (block, alternative) = self.locate(index);
        self.evaluations.weights(block, self.absent.share(alternative))
    }
}
