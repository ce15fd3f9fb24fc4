//! The games between some rows and pairs of an expansion's points, whatever is absent.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::AbsentFactors;
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::term::FillTerm;
use crate::matrix::Matrix;
use crate::memory::{Memory, saturating_product};
use crate::quadratic::factors::SingleFactors;
use crate::quadratic::pairs::{Pairs, Union};
use crate::quadratic::triangle::Pair;
use crate::settings::Context;
use crate::simd::lanes::Lanes;
use crate::simd::sum::Accumulator;
use crate::walk::source::Source;

/// What stands in for absent players.
pub(crate) trait AbsentFromPairs: Sync {
    /// What a thread keeps between fills.
    type Cache: Default;

    /// Games of each pair.
    fn alternatives(&self) -> usize {
        1
    }
    /// What the weights of one of them are multiplied by.
    fn share(&self, _alternative: usize) -> f64 {
        1.0
    }
    /// What it costs to prepare a block, in fills: 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Makes room for so many blocks of pairs at a time.
    fn reserve(
        &self,
        _: (&PackedExpansion, &Pairs),
        _blocks: usize,
        _: &mut Self::Cache,
        _: &Memory,
    ) -> Result<(), Error>;
    /// Makes ready what all rows have in common in some blocks.
    fn prepare(
        &self,
        _: (&PackedExpansion, &Pairs),
        _: Range<usize>,
        _: Context<'_>,
        _: &mut Self::Cache,
    ) {
    }
    /// Fills a block with the factors of present and of absent players.
    fn fill(
        &self,
        at: &PairsOfRow<'_>,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;
}

/// A block of pairs, beside a row and one of what may be absent.
#[derive(Clone, Copy)]
pub(crate) struct PairsOfRow<'a> {
    pub expansion: &'a PackedExpansion,
    /// The row's number, and the row.
    pub item: usize,
    pub x: &'a [f64],
    pub pair: Pair,
    pub union: &'a Union,
    pub alternative: usize,
    /// The number of the block among all of a row.
    pub index: usize,
}

/// The games between some rows and the pairs of an expansion's points.
pub(crate) struct PairGames<'a, B> {
    pub expansion: &'a PackedExpansion,
    pub pairs: &'a Pairs,
    pub rows: Matrix<'a>,
    pub absent: B,
}

impl<B> PairGames<'_, B> {
    /// The alternative and the pairs of a block. The pairs of an alternative follow each other:
    /// they are made of the same factors.
    fn locate(&self, index: usize) -> (usize, Pair) {
        let blocks = self.pairs.blocks();
        (index / blocks, self.pairs.locate(index % blocks))
    }
}

impl<B: AbsentFromPairs> Source for PairGames<'_, B> {
    type Cache = B::Cache;

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players()
    }

    fn outputs(&self) -> usize {
        1
    }

    fn blocks(&self) -> usize {
        saturating_product([self.pairs.blocks(), self.absent.alternatives()])
    }

    fn preparation(&self) -> usize {
        self.absent.preparation()
    }

    fn prepared_bytes(&self) -> usize {
        // And the sums that they are made from.
        AbsentFactors::bytes(0) + 2 * size_of::<Accumulator>()
    }

    fn reserve(&self, blocks: usize, cache: &mut B::Cache, memory: &Memory) -> Result<(), Error> {
        self.absent.reserve((self.expansion, self.pairs), blocks, cache, memory)
    }

    fn prepare(&self, blocks: Range<usize>, context: Context<'_>, cache: &mut B::Cache) {
        self.absent.prepare((self.expansion, self.pairs), blocks, context, cache);
    }

    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut B::Cache,
        context: Context<'_>,
    ) -> Spread {
        let (alternative, pair) = self.locate(index);
        let (expansion, union, x) = (self.expansion, self.pairs.union(pair), self.rows.row(item));
        let at = PairsOfRow { expansion, item, x, pair, union, alternative, index };
        self.absent.fill(&at, block, cache, context)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.pairs.union(self.locate(index).1).players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let (alternative, pair) = self.locate(index);
        std::iter::once((0, self.pairs.weights(pair, self.absent.share(alternative))))
    }
}

impl PairsOfRow<'_> {
    /// The factors between the row and the points of the pairs; absent ones are 1.
    pub fn singles<'a>(
        &self,
        factors: &'a mut SingleFactors,
        context: Context<'_>,
    ) -> [&'a Block; 2] {
        for number in factors.missing([self.item, 0], self.pair).into_iter().flatten() {
            let (term, points) = self.expansion.term_and_points(number);
            let block = factors.block_mut(number);
            context.run(FillTerm { term, row: self.x, points, block });
        }
        factors.of_pair(self.pair)
    }
}
