//! Marginal games: the features outside a coalition are drawn from the background independently.
//!
//! b is the mean of k(z, point) over background rows z, and each pair of a point and a term is one
//! evaluation.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Contrast, fill_against, fill_block_against};
use crate::expansion::background::Background;
use crate::expansion::background_means::{BackgroundMeans, MeanSums};
use crate::expansion::games::{Absent, Evaluation};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::doubling::Rung;
use crate::kernel::joint::Compared;
use crate::kernel::term::{ContrastOfPlayer, ContrastOfSeries, FillTerm, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::sum::{Accumulator, AddWeighted};

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
            fill_against(own, absent, block, contrast, context)
        } else if !term.has_own_pairs() {
            fill_against(at, absent, block, contrast, context)
        } else {
            context.run(FillTerm { term, row: x, points, block: present });
            fill_block_against(present, absent, block, contrast, context)
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
    fn loss(&self) -> f64 {
        LOSS_OF_MEANS
    }

    fn of_player(&self, player: usize, found: &Lanes, context: Context<'_>) -> Lanes {
        if self.is_only(player) {
            return Lanes::ZERO;
        }
        let term = self.term;
        mean_contrast(found, self.absent.background, context, |lane, first| {
            let compared = self.compared(lane, first);
            context.run(ContrastOfPlayer { term, player, compared })
        })
    }

    fn of_series(
        &self,
        player: usize,
        wanted: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    ) {
        let (term, weights) = (self.term, self.absent.background.weights);
        let mut sums = vec![Accumulator::ZERO; term.orders()];
        let mut means = vec![Lanes::ZERO; term.orders()];
        for lane in (0..LANES).filter(|&lane| wanted[lane] && !self.is_only(player)) {
            sums.fill(Accumulator::ZERO);
            for first in (0..weights.len()).step_by(LANES) {
                let (compared, weights) = (self.compared(lane, first), in_lanes(weights, first));
                context.run(ContrastOfSeries { term, player, compared, higher: &mut *higher });
                context.run(AddWeighted { weights, values: higher, sums: &mut sums });
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

    /// The row and background rows from number `first`, beside a single point.
    fn compared(&self, lane: usize, first: usize) -> Compared<'_> {
        let z = (self.absent.background.rows, first);
        Compared::Rows { x: self.x, z, point: (self.points, lane) }
    }
}

/// [`Contrast::loss`] of contrasts that each take a walk through the background.
pub(crate) const LOSS_OF_MEANS: f64 = 1.0 / 65_536.0;

/// The mean over background rows of the contrasts with sixteen of them at a time, from a lane and
/// the first row's number, for the lanes where `found` is NaN.
pub(crate) fn mean_contrast(
    found: &Lanes,
    background: Background<'_>,
    context: Context<'_>,
    contrast: impl Fn(usize, usize) -> [Lanes; 2],
) -> Lanes {
    let mut means = Lanes::ZERO;
    for lane in (0..LANES).filter(|&lane| found.0[lane].is_nan()) {
        let mut sums = [Accumulator::ZERO];
        for first in (0..background.weights.len()).step_by(LANES) {
            let weights = in_lanes(background.weights, first);
            for value in contrast(lane, first) {
                context.run(AddWeighted { weights, values: &[value], sums: &mut sums });
            }
        }
        means.0[lane] = sums[0].total().value();
    }
    means
}

/// The weights of sixteen background rows, 0 beyond the last.
fn in_lanes(weights: &[f64], first: usize) -> Lanes {
    Lanes(each_lane(|lane| weights.get(first + lane).copied().unwrap_or(0.0)))
}
