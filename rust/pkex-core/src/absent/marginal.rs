//! Marginal games: absent features are drawn from the background independently of each other.
//!
//! In a sum over points, b is the mean of k(z, point) over background rows z.

use std::ops::Range;
use std::sync::Arc;

use crate::absent::against::{TermFactors, fill_against, fill_block_against};
use crate::absent::background::{Background, ConstantColumns};
use crate::absent::background_means::{BackgroundMeans, MeanSums};
use crate::absent::contrast::{Contrast, LOSS_OF_MEANS, Sample, mean_contrast};
use crate::absent::factors::AbsentFactors;
use crate::absent::games::{Absent, Alternatives};
use crate::error::Error;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed::RowPlace;
use crate::evaluations::points::Points;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::Compared;
use crate::kernel::linked_terms::KeptFactors;
use crate::kernel::term::{ContrastOfPlayer, ContrastOfSeries, FillTerm, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::sum::{Accumulator, AddWeighted};

/// The values of background rows, each feature drawn independently.
pub(crate) struct Marginal<'a> {
    background: Background<'a>,
    means: Option<Arc<BackgroundMeans>>,
    constant: ConstantColumns,
}

impl<'a> Marginal<'a> {
    /// Absent factors over a background, with its means if they are kept.
    pub fn new(background: Background<'a>, means: Option<Arc<BackgroundMeans>>) -> Self {
        Self { background, means, constant: ConstantColumns::of(background) }
    }
}

impl Alternatives for Marginal<'_> {}

/// The means of a tile, unless they are kept, and the present factors of a block.
#[derive(Debug, Default)]
pub(crate) struct TileMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    sums: MeanSums,
    present: Block,
}

impl<'a> Absent<Points<'a>> for Marginal<'_> {
    type Cache = TileMeans;

    fn preparation(&self) -> usize {
        if self.means.is_some() { 0 } else { self.background.rows.rows() }
    }

    fn reserve(
        &self,
        &Points(expansion): &Points<'a>,
        blocks: usize,
        cache: &mut Self::Cache,
        memory: &Memory,
    ) -> Result<(), Error> {
        let of_block = expansion.factor_count();
        cache.present.reserve(of_block.players, 0, memory)?;
        cache.present.reserve_series(of_block, memory)?;
        if self.means.is_some() {
            return Ok(());
        }
        cache.sums.reserve(of_block, memory)?;
        AbsentFactors::reserve_all(&mut cache.means, blocks, of_block, memory)
    }

    fn prepare(
        &self,
        points: &Points<'a>,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut Self::Cache,
    ) {
        let TileMeans { first, means, sums, .. } = cache;
        *first = blocks.start;
        for (index, mean) in blocks.zip(means) {
            let block = points.locate(index, 1).block;
            sums.mean(points.0.term_and_points(block), self.background, context, mean);
        }
    }

    fn fill(
        &self,
        &Points(expansion): &Points<'a>,
        at: RowPlace<'_>,
        block: &mut Block,
        (kept, cache): (&mut KeptFactors, &mut Self::Cache),
        context: Context<'_>,
    ) -> Spread {
        let ((term, points), x) = (expansion.term_and_points(at.block), at.x);
        let TileMeans { first, means, present, .. } = cache;
        let of_block = self.means.as_ref().map(|means| means.of_block(at.block));
        let absent = of_block.unwrap_or_else(|| &means[at.index - *first]);
        let contrast = &FromMean { absent: self, term, x, points };
        if let Some(own) = expansion.linked(kept, at) {
            fill_against(own, absent, block, contrast, context)
        } else if !term.diagonal_varies() {
            fill_against(TermFactors { term, x, points }, absent, block, contrast, context)
        } else {
            context.run(FillTerm { term, row: x, points, block: present });
            fill_block_against(present, absent, block, contrast, context)
        }
    }
}

/// The contrast that is the mean of k(x, point) − k(z, point) over background rows z.
pub(crate) struct FromMean<'a> {
    pub absent: &'a Marginal<'a>,
    pub term: &'a PackedTerm,
    pub x: &'a [f64],
    pub points: &'a [Lanes],
}

impl Contrast for FromMean<'_> {
    fn loss(&self) -> f64 {
        LOSS_OF_MEANS
    }

    fn of_player(&self, player: usize, wanted: &[bool; LANES], context: Context<'_>) -> Lanes {
        if self.is_only(player) {
            return Lanes::ZERO;
        }
        let term = self.term;
        mean_contrast(wanted, self.sample(), context, |lane, first| {
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
        let (term, sample) = (self.term, self.sample());
        let mut sums = vec![Accumulator::ZERO; term.orders()];
        let mut means = vec![Lanes::ZERO; term.orders()];
        for lane in (0..LANES).filter(|&lane| wanted[lane] && !self.is_only(player)) {
            sums.fill(Accumulator::ZERO);
            for first in (0..sample.size()).step_by(LANES) {
                let (compared, weights) = (self.compared(lane, first), sample.weights(first));
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
    /// Whether the background contains only the row's entries in all columns of a player.
    fn is_only(&self, player: usize) -> bool {
        self.absent.constant.are_of(self.x, self.term.columns_of(player))
    }

    fn sample(&self) -> Sample<'_> {
        Sample::Rows(self.absent.background)
    }

    /// The row and the background rows from number `first` on, with a single point.
    fn compared(&self, lane: usize, first: usize) -> Compared<'_> {
        self.sample().compared(self.x, first, (self.points, lane))
    }
}
