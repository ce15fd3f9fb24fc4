//! The games between some rows and an expansion's points, whatever stands in for absent players.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, OwnFactors};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::term::{PackedTerm, Sink};
use crate::matrix::Matrix;
use crate::memory::{Memory, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, map_lanes};
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
    /// Fills a block with the factors of present and of absent players.
    fn fill(
        &self,
        at: &Evaluation<'_>,
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

impl OwnFactors for Evaluation<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(&self, sink: &mut S) {
        self.term.factors_into::<A, S, W>(self.x, self.points, sink);
    }
}

/// The games between some rows and an expansion's points.
pub(crate) struct Games<'a, B> {
    pub expansion: &'a PackedExpansion,
    pub rows: Matrix<'a>,
    pub absent: B,
}

/// The pair of a term and a block of points, and the alternative, of an evaluation block.
#[inline(always)]
pub(crate) fn locate(index: usize, alternatives: usize) -> (usize, usize) {
    (index / alternatives, index % alternatives)
}

impl<B: Absent> Source for Games<'_, B> {
    type Cache = B::Cache;

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

    fn reserve(&self, blocks: usize, cache: &mut B::Cache, memory: &Memory) -> Result<(), Error> {
        self.absent.reserve(blocks, (self.players(), self.orders()), cache, memory)
    }

    fn prepare(&self, blocks: Range<usize>, context: Context<'_>, cache: &mut B::Cache) {
        self.absent.prepare(self.expansion, blocks, context, cache);
    }

    fn fill(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut B::Cache,
        context: Context<'_>,
    ) -> Spread {
        let (pair, alternative) = locate(index, self.absent.alternatives());
        let (term, points) = self.expansion.term_and_points(pair);
        let x = self.rows.row(item);
        let at = Evaluation { item, x, term, points, pair, alternative, index };
        self.absent.fill(&at, block, cache, context)
    }

    fn block_players(&self, index: usize) -> &[usize] {
        let (pair, _) = locate(index, self.absent.alternatives());
        &self.expansion.term_and_points(pair).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        let (pair, alternative) = locate(index, self.absent.alternatives());
        let share = self.absent.share(alternative);
        let scaled = move |weights: Lanes| Lanes(map_lanes(&weights.0, |weight| weight * share));
        self.expansion.block_weights(pair).map(move |(output, weights)| (output, scaled(weights)))
    }
}
