//! Marginal games: the features outside a coalition are drawn from the background independently.
//!
//! b is the mean of k(z, point) over background rows z, and each pair of a point and a term is one
//! evaluation.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Contrast, FillAgainst, fill_against};
use crate::expansion::background::Background;
use crate::expansion::background_means::{BackgroundMeans, MeanSums};
use crate::expansion::games::{Absent, Evaluation};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::doubling::Rung;
use crate::kernel::joint::Entries;
use crate::kernel::series::PackedSeries;
use crate::kernel::term::{FillTerm, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::sum::Accumulator;

/// Values of background rows, each feature's of a row of its own.
pub(crate) struct Marginal<'a> {
    background: Background<'a>,
    means: Option<Arc<BackgroundMeans>>,
    /// For each column its only entry in the background, if there are no others.
    only_entry: Vec<Option<f64>>,
}

impl<'a> Marginal<'a> {
    /// With the means of the background, if they are kept.
    pub fn new(background: Background<'a>, means: Option<Arc<BackgroundMeans>>) -> Self {
        let z = background.rows;
        let only_entry = |column: usize| {
            let first = z.row(0)[column];
            (1..z.rows()).all(|row| z.row(row)[column] - first == 0.0).then_some(first)
        };
        let only_entry = (0..z.columns()).map(only_entry).collect();
        Self { background, means, only_entry }
    }
}

/// The means of a tile, where they are not kept; and the present factors of a block.
#[derive(Debug, Default)]
pub(crate) struct TileMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    sums: MeanSums,
    present: Block,
}

impl Absent for Marginal<'_> {
    type Cache = TileMeans;

    fn preparation(&self) -> usize {
        if self.means.is_some() { 0 } else { self.background.rows.rows() }
    }

    fn reserve(
        &self,
        blocks: usize,
        of_block: (usize, usize),
        cache: &mut TileMeans,
        memory: &Memory,
    ) -> Result<(), Error> {
        cache.present.reserve(of_block.0, 0, memory)?;
        cache.present.reserve_series(of_block, memory)?;
        if self.means.is_some() {
            return Ok(());
        }
        cache.sums.reserve(of_block, memory)?;
        AbsentFactors::reserve_all(&mut cache.means, blocks, of_block, memory)
    }

    fn prepare(
        &self,
        expansion: &PackedExpansion,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut TileMeans,
    ) {
        let TileMeans { first, means, sums, .. } = cache;
        *first = blocks.start;
        for (place, mean) in blocks.zip(means) {
            let pair = expansion.at_place(place);
            sums.mean(expansion.term_and_points(pair), self.background, context, mean);
        }
    }

    fn fill(
        &self,
        at: &Evaluation<'_>,
        rung: Option<Rung<'_>>,
        block: &mut Block,
        cache: &mut TileMeans,
        context: Context<'_>,
    ) -> Spread {
        let &Evaluation { x, term, points, .. } = at;
        let TileMeans { first, means, present, .. } = cache;
        let kept = self.means.as_ref().map(|means| means.of_block(at.pair));
        let absent = kept.unwrap_or_else(|| &means[at.index - *first]);
        let contrast = &FromMean { absent: self, term, x, points };
        if let Some(own) = rung {
            context.run(FillAgainst { own, absent, block, contrast })
        } else if !term.has_own_pairs() {
            context.run(FillAgainst { own: at, absent, block, contrast })
        } else {
            context.run(FillTerm { term, row: x, points, block: present });
            fill_against(present, absent, block, contrast, context)
        }
    }
}

/// The mean of k(x, point) − k(z, point) over background rows z.
struct FromMean<'a> {
    absent: &'a Marginal<'a>,
    term: &'a PackedTerm,
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
        found: &[f64; W],
    ) -> [f64; W] {
        let mut c = [0.0; W];
        if !self.is_only(player) {
            for i in (0..W).filter(|&i| found[i].is_nan()) {
                c[i] = self.of_lane::<A, W>(player, part * W + i);
            }
        }
        c
    }

    #[inline(always)]
    fn contrast_of_series<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        part: usize,
        found: &[f64; W],
        higher: &mut [Lanes],
    ) {
        let Some(series) = &self.term.series else { return };
        let mut sums = vec![Accumulator::ZERO; series.orders()];
        let mut means = vec![Lanes::ZERO; series.orders()];
        for lane in (0..W).filter(|&i| found[i].is_nan()).map(|i| part * W + i) {
            sums.fill(Accumulator::ZERO);
            if !self.is_only(player) {
                self.of_lane_of_series::<A, W>(series, (player, lane), higher, &mut sums);
            }
            for (mean, sum) in means.iter_mut().zip(&sums) {
                mean.0[lane] = sum.total().value();
            }
        }
        higher[..means.len()].copy_from_slice(&means);
    }
}

impl FromMean<'_> {
    /// Whether the background has only the row's entries in all columns of a player.
    fn is_only(&self, player: usize) -> bool {
        let is_only = |column: usize| self.absent.only_entry[column] == Some(self.x[column]);
        self.term.columns_of(player).all(is_only)
    }

    /// The entries of a column: of a single point, with background rows from number `first` side by
    /// side.
    #[inline(always)]
    fn entries<const W: usize>(&self, (lane, first): (usize, usize), column: usize) -> Entries<W> {
        let rows = self.absent.background.rows;
        let z = |i: usize| rows.row((first + i).min(rows.rows() - 1));
        let (x, point) = (self.x[column], self.points[column].0[lane]);
        Entries { x: [x; W], z: each_lane(|i| z(i)[column]), y: [point; W] }
    }

    /// The weights of sixteen background rows, 0 beyond the last.
    fn weights(weights: &[f64]) -> Lanes {
        Lanes(each_lane(|lane| weights.get(lane).copied().unwrap_or(0.0)))
    }

    /// That of a single point, with background rows side by side.
    #[inline(always)]
    fn of_lane<A: Arithmetic, const W: usize>(&self, player: usize, lane: usize) -> f64 {
        let mut sum = Accumulator::ZERO;
        let weights = self.absent.background.weights;
        for (first, weights) in (0..).step_by(LANES).zip(weights.chunks(LANES)) {
            let (mut values, mut low) = (Lanes::ZERO, Lanes::ZERO);
            for part in 0..LANES / W {
                let entries = |column: usize| self.entries((lane, first + part * W), column);
                let contrast = self.term.contrast::<A, W>(player, entries);
                *values.part_mut(part) = contrast.high;
                *low.part_mut(part) = contrast.low;
            }
            let weights = Self::weights(weights);
            sum.add_product::<A, W>(&weights, &values);
            sum.add_product::<A, W>(&weights, &low);
        }
        sum.total().value()
    }

    /// Adds those of the higher orders of a single point to sums. `room` holds others afterwards.
    #[inline(always)]
    fn of_lane_of_series<A: Arithmetic, const W: usize>(
        &self,
        series: &PackedSeries,
        (player, lane): (usize, usize),
        room: &mut [Lanes],
        sums: &mut [Accumulator],
    ) {
        let weights = self.absent.background.weights;
        for (first, weights) in (0..).step_by(LANES).zip(weights.chunks(LANES)) {
            for part in 0..LANES / W {
                let entries = |column: usize| self.entries((lane, first + part * W), column);
                self.term.contrast_of_series::<A, W>(series, (player, part), entries, room);
            }
            let weights = Self::weights(weights);
            for (sum, values) in sums.iter_mut().zip(&*room) {
                sum.add_product::<A, W>(&weights, values);
            }
        }
    }
}
