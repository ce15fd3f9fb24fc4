//! The games between some rows and an expansion's points, whatever stands in for absent players.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, OwnFactors};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::doubling::{FillRung, Ladder, Rung};
use crate::kernel::term::{FillTerm, PackedTerm, Sink};
use crate::matrix::Matrix;
use crate::memory::{Memory, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;
use crate::walk::source::Source;

/// What stands in for absent players.
pub(crate) trait Absent: Sync {
    /// What a thread keeps between fills.
    type Cache: Default;

    /// Evaluations of each pair of a term and a block of points.
    fn alternatives(&self) -> usize {
        1
    }
    /// Whether each block has factors of absent players, common to all rows.
    fn has_factors(&self) -> bool {
        true
    }
    /// What the weights of one of them are multiplied by.
    fn share(&self, _alternative: usize) -> f64 {
        1.0
    }
    /// What it costs to prepare a block, in fills: 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Makes room for the factors of so many blocks of that many players, with so many higher orders.
    fn reserve(
        &self,
        _blocks: usize,
        _: (usize, usize),
        _: &mut Self::Cache,
        _: &Memory,
    ) -> Result<(), Error> {
        Ok(())
    }
    /// Makes ready what all rows have in common in some blocks.
    fn prepare(&self, _: &PackedExpansion, _: Range<usize>, _: Context<'_>, _: &mut Self::Cache) {}
    /// Fills a block with the factors of present and of absent players; present ones may follow from
    /// those of another term.
    fn fill(
        &self,
        at: &Evaluation<'_>,
        rung: Option<Rung<'_>>,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread;
}

/// A block of evaluations: a row, a term and a block of points, and one of what may be absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evaluation<'a> {
    /// The row's number, and the row.
    pub item: usize,
    pub x: &'a [f64],
    pub term: &'a PackedTerm,
    pub points: &'a [Lanes],
    /// The number of the pair of the term and the points.
    pub pair: usize,
    pub alternative: usize,
    /// The number of the block among all of a row.
    pub index: usize,
}

impl Evaluation<'_> {
    /// Fills a block with factors against 1, which may follow from those of another term.
    pub fn fill_own(
        &self,
        rung: Option<Rung<'_>>,
        block: &mut Block,
        context: Context<'_>,
    ) -> Spread {
        let &Self { term, x: row, points, .. } = self;
        match rung {
            Some(rung) => context.run(FillRung { rung, block }),
            None => context.run(FillTerm { term, row, points, block }),
        }
    }
}

impl OwnFactors for &Evaluation<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        self.term.factors_into::<A, S, W>(self.x, self.points, sink);
    }
}

/// Alternatives whose values are added up before they are weighed. These sums are plain, and err by
/// at most as many roundings.
const LONGEST_RUN: usize = 16;

/// The games between some rows and an expansion's points.
pub(crate) struct Games<'a, B> {
    pub expansion: &'a PackedExpansion,
    pub rows: Matrix<'a>,
    pub absent: B,
}

/// What a thread keeps between fills.
#[derive(Debug, Default)]
pub(crate) struct Kept<C> {
    ladder: Ladder,
    of_absent: C,
}

/// The place of the pair of a term and a block of points, and the alternative, of a walk's block.
#[inline(always)]
pub(crate) fn locate(index: usize, alternatives: usize) -> (usize, usize) {
    (index / alternatives, index % alternatives)
}

impl<B: Absent> Source for Games<'_, B> {
    type Cache = Kept<B::Cache>;

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players()
    }

    fn orders(&self) -> usize {
        self.expansion.kernel.most_orders()
    }

    fn outputs(&self) -> usize {
        self.expansion.outputs()
    }

    fn blocks(&self) -> usize {
        saturating_product([self.expansion.evaluation_blocks(), self.absent.alternatives()])
    }

    fn preparation(&self) -> usize {
        self.absent.preparation()
    }

    fn prepared_bytes(&self) -> usize {
        AbsentFactors::bytes(self.orders())
    }

    fn block_bytes(&self) -> usize {
        let points = saturating_product([self.expansion.columns(), size_of::<Lanes>()]);
        let absent = if self.absent.has_factors() { self.prepared_bytes() } else { 0 };
        points.saturating_add(saturating_product([self.players(), absent]))
    }

    fn terms(&self) -> usize {
        // Tiles of what is prepared are cut between terms, too.
        let is_whole = self.absent.alternatives() == 1 && self.absent.preparation() == 0;
        let kernel = &self.expansion.kernel;
        if is_whole && kernel.shares_players() { kernel.terms.len() } else { 1 }
    }

    fn has_runs(&self) -> bool {
        self.terms().max(self.absent.alternatives()) > 1
    }

    fn ends_run(&self, index: usize) -> bool {
        let alternatives = self.absent.alternatives();
        if alternatives == 1 {
            return (index + 1).is_multiple_of(self.terms());
        }
        let (_, alternative) = locate(index, alternatives);
        alternative + 1 == alternatives || (alternative + 1).is_multiple_of(LONGEST_RUN)
    }

    fn reserve(
        &self,
        blocks: usize,
        cache: &mut Self::Cache,
        memory: &Memory,
    ) -> Result<(), Error> {
        let Kept { ladder, of_absent } = cache;
        ladder.reserve(self.expansion.kernel.links.slots, self.players(), memory)?;
        self.absent.reserve(blocks, (self.players(), self.orders()), of_absent, memory)
    }

    fn prepare(&self, blocks: Range<usize>, context: Context<'_>, cache: &mut Self::Cache) {
        self.absent.prepare(self.expansion, blocks, context, &mut cache.of_absent);
    }

    fn start(&self, cache: &mut Self::Cache) {
        cache.ladder.clear();
    }

    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Self::Cache,
        context: Context<'_>,
    ) -> Spread {
        let (expansion, x, (pair, alternative)) =
            (self.expansion, self.rows.row(item), self.locate(index));
        let (term, points) = expansion.term_and_points(pair);
        let at = Evaluation { item, x, term, points, pair, alternative, index };
        let Kept { ladder, of_absent } = cache;
        let rung = expansion.rung(ladder, pair, (item, x));
        self.absent.fill(&at, rung, block, of_absent, context)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.expansion.term_and_points(self.locate(index).0).0.players
    }

    fn coefficient(&self, index: usize) -> f64 {
        let (pair, alternative) = self.locate(index);
        self.expansion.coefficient(pair) * self.absent.share(alternative)
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        self.expansion.unscaled_weights(self.locate(index).0)
    }
}

impl<B: Absent> Games<'_, B> {
    /// The number of the pair of a term and a block of points, and the alternative.
    fn locate(&self, index: usize) -> (usize, usize) {
        let (place, alternative) = locate(index, self.absent.alternatives());
        (self.expansion.at_place(place), alternative)
    }
}
