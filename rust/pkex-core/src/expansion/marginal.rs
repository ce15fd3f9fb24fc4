//! Marginal games: the features outside a coalition are drawn from the background independently.
//!
//! b is the mean of k(z, point) over background rows z, and each pair of a point and a term is one
//! evaluation.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Background, Contrast, fill_from};
use crate::expansion::background_means::{Means, Scratch};
use crate::expansion::explain::Expansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::Entries;
use crate::kernel::term::CompiledTerm;
use crate::matrix::Matrix;
use crate::memory::Memory;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each};
use crate::simd::level::Level;
use crate::simd::sum::{Accumulator, Summation};
use crate::threads::Stop;
use crate::walk::source::Source;

/// The games between some rows and an expansion's points with independent absent features.
pub(crate) struct MarginalGames<'a> {
    expansion: &'a Expansion,
    rows: Matrix<'a>,
    background: Background<'a>,
    means: Option<Arc<Means>>,
    /// For each column its only entry in the background, if there are no others.
    only_entry: Vec<Option<f64>>,
}

impl<'a> MarginalGames<'a> {
    pub fn new(
        expansion: &'a Expansion,
        rows: Matrix<'a>,
        background: Background<'a>,
        means: Option<Arc<Means>>,
    ) -> Self {
        let z = background.rows;
        let only_entry = |column: usize| {
            let first = z.row(0)[column];
            (1..z.rows()).all(|row| z.row(row)[column] - first == 0.0).then_some(first)
        };
        let only_entry = (0..z.columns()).map(only_entry).collect();
        Self { expansion, rows, background, means, only_entry }
    }
}

/// The means of a tile, where they are not kept; and the present factors of a block.
#[derive(Debug, Default)]
pub(crate) struct Factors {
    first: usize,
    means: Vec<AbsentFactors>,
    scratch: Scratch,
    present: Block,
}

impl Source for MarginalGames<'_> {
    type Cache = Factors;

    fn items(&self) -> usize {
        self.rows.rows()
    }

    fn players(&self) -> usize {
        self.expansion.players().count()
    }

    fn outputs(&self) -> usize {
        self.expansion.outputs()
    }

    fn blocks(&self) -> usize {
        self.expansion.evaluation_blocks()
    }

    fn preparation(&self) -> usize {
        if self.means.is_some() { 0 } else { self.background.rows.rows() }
    }

    fn prepared_bytes(&self) -> usize {
        AbsentFactors::BYTES
    }

    fn reserve(&self, blocks: usize, cache: &mut Factors, memory: &Memory) -> Result<(), Error> {
        cache.present.reserve(self.players(), 0, memory)?;
        if self.means.is_some() {
            return Ok(());
        }
        cache.scratch.reserve(self.players(), memory)?;
        AbsentFactors::reserve_all(&mut cache.means, (blocks, self.players()), memory)
    }

    fn prepare(&self, blocks: Range<usize>, level: Level, stop: &Stop, cache: &mut Factors) {
        let Factors { first, means, scratch, .. } = cache;
        *first = blocks.start;
        for (index, mean) in blocks.zip(means) {
            scratch.mean(self.expansion, self.background, index, (level, stop), mean);
        }
    }

    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Factors,
    ) -> Spread {
        let (term, points) = self.expansion.term_and_points(index);
        let x = self.rows.row(item);
        let Factors { first, means, present, .. } = cache;
        let kept = self.means.as_ref().map(|means| means.of_block(index));
        let absent = kept.unwrap_or_else(|| &means[index - *first]);
        term.fill::<A, W>(x, points, present);
        fill_from::<A, _, W>(present, absent, block, &FromMean { games: self, term, x, points })
    }

    fn block_players(&self, index: usize) -> &[usize] {
        &self.expansion.term_and_points(index).0.players
    }

    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)> {
        self.expansion.block_weights(index)
    }
}

/// The mean of k(x, point) − k(z, point) over background rows z.
struct FromMean<'a> {
    games: &'a MarginalGames<'a>,
    term: &'a CompiledTerm,
    x: &'a [f64],
    points: &'a [Lanes],
}

impl Contrast for FromMean<'_> {
    // Each takes a walk through the background.
    const LOSS: f64 = 1.0 / 65_536.0;

    #[inline(always)]
    fn contrast<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        kept: &[f64; W],
    ) -> [f64; W] {
        let mut c = [0.0; W];
        let is_only = |column: usize| self.games.only_entry[column] == Some(self.x[column]);
        if !self.term.columns_of(player).all(is_only) {
            for i in (0..W).filter(|&i| kept[i] < 0.0) {
                c[i] = self.of_lane::<A, W>(player, part * W + i);
            }
        }
        c
    }
}

impl FromMean<'_> {
    /// That of a single point, with background rows side by side.
    #[inline(always)]
    fn of_lane<A: Arithmetic, const W: usize>(&self, player: usize, lane: usize) -> f64 {
        let Background { rows, weights } = self.games.background;
        let mut sum = Accumulator::ZERO;
        for (first, weights) in (0..).step_by(LANES).zip(weights.chunks(LANES)) {
            let (mut values, mut low) = (Lanes::ZERO, Lanes::ZERO);
            for part in 0..LANES / W {
                let z = |i: usize| rows.row((first + part * W + i).min(rows.rows() - 1));
                let entries = |column: usize| {
                    let (x, point) = (self.x[column], self.points[column].0[lane]);
                    Entries { x: [x; W], z: each(|i| z(i)[column]), y: [point; W] }
                };
                let contrast = self.term.contrast::<A, W>(player, entries);
                *values.part_mut(part) = contrast.high;
                *low.part_mut(part) = contrast.low;
            }
            let weights = Lanes(each(|lane| weights.get(lane).copied().unwrap_or(0.0)));
            sum.add_product::<A, W>(&weights, &values, Summation::Compensated);
            sum.add_product::<A, W>(&weights, &low, Summation::Compensated);
        }
        sum.total(Summation::Compensated).value()
    }
}
