//! Marginal games: absent features are drawn from the background independently of each other.
//!
//! In a sum over points, b is the mean of k(z, point) over background rows z.

use std::ops::Range;
use std::sync::Arc;

use crate::absent::background::{Background, ConstantColumns};
use crate::absent::background_means::{BackgroundMeans, MeanSums};
use crate::absent::blocks::{TermFactors, fill_block, fill_from_block};
use crate::absent::contrast::{Contrast, LOSS_OF_MEANS, Sample, mean_contrast};
use crate::absent::factors::AbsentFactors;
use crate::absent::games::{Absent, Alternatives};
use crate::error::Error;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed_expansion::RowPlace;
use crate::evaluations::points::Points;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::ContrastOperands;
use crate::kernel::linked_terms::FactorCache;
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
        let counts = expansion.factor_count();
        cache.present.reserve(counts.players, 0, memory)?;
        cache.present.reserve_series(counts, memory)?;
        if self.means.is_some() {
            return Ok(());
        }
        cache.sums.reserve(counts, memory)?;
        AbsentFactors::reserve_all(&mut cache.means, blocks, counts, memory)
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
        (factor_cache, cache): (&mut FactorCache, &mut Self::Cache),
        context: Context<'_>,
    ) -> Spread {
        let ((term, points), x) = (expansion.term_and_points(at.block), at.x);
        let TileMeans { first, means, present, .. } = cache;
        let background_means = self.means.as_ref().map(|means| means.of_block(at.block));
        let absent = background_means.unwrap_or_else(|| &means[at.index - *first]);
        let contrast = &FromMean { absent: self, term, x, points };
        if let Some(factors) = expansion.linked_factors(factor_cache, at) {
            fill_block(factors, absent, block, contrast, context)
        } else if !term.diagonal_varies() {
            fill_block(TermFactors { term, x, points }, absent, block, contrast, context)
        } else {
            context.run(FillTerm { term, row: x, points, block: present });
            fill_from_block(present, absent, block, contrast, context)
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

    fn of_player(&self, player: usize, mask: &[bool; LANES], context: Context<'_>) -> Lanes {
        if self.is_only(player) {
            return Lanes::ZERO;
        }
        let term = self.term;
        mean_contrast(mask, self.sample(), context, |lane, first| {
            let operands = self.operands(lane, first);
            context.run(ContrastOfPlayer { term, player, operands })
        })
    }

    fn of_series(
        &self,
        player: usize,
        mask: &[bool; LANES],
        higher: &mut [Lanes],
        context: Context<'_>,
    ) {
        let (term, sample) = (self.term, self.sample());
        let mut sums = vec![Accumulator::ZERO; term.orders()];
        let mut means = vec![Lanes::ZERO; term.orders()];
        for lane in (0..LANES).filter(|&lane| mask[lane] && !self.is_only(player)) {
            sums.fill(Accumulator::ZERO);
            for first in (0..sample.size()).step_by(LANES) {
                let (operands, weights) = (self.operands(lane, first), sample.weights(first));
                context.run(ContrastOfSeries { term, player, operands, higher: &mut *higher });
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
    fn operands(&self, lane: usize, first: usize) -> ContrastOperands<'_> {
        self.sample().operands(self.x, first, (self.points, lane))
    }
}
